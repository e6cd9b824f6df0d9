// Every answer of a past release is given by today's code on that release's database, byte for byte, headers included. What
// has changed since is listed with its reason (support/golden-differences.ts); nothing else may.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { askGolden, goldenReleases, readGoldenAnswers, readGoldenSecrets } from '../support/golden.ts';
import { compared } from '../support/golden-differences.ts';
import { type GoldenServer, startGoldenServer } from '../support/golden-server.ts';

for (const release of goldenReleases)
  for (const database of databases)
    describe(`answers of release ${release} on ${database}`, () => {
      let golden: GoldenServer;
      before(async () => {
        golden = await startGoldenServer(release, database);
      });
      after(() => golden.close());

      for (const recorded of readGoldenAnswers(release, database))
        it(`${recorded.method} ${recorded.path}`, async () => {
          const now = await askGolden(golden.origin, recorded, readGoldenSecrets(release, database));
          assert.deepEqual(compared(now), compared(recorded));
        });
    });
