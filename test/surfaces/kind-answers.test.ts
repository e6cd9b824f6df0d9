// What each kind of registered thing answers is what it has answered, byte for byte: Management API, its description, events, documents
// and the console. `node scripts/golden/kinds.ts` writes the files anew for a change that is meant.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { kindStories } from '../support/kind-stories.ts';
import { readGoldenKind, tellKind } from '../support/kind-story.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`answers of kinds on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());
    for (const story of kindStories)
      it(story.noun, async () => {
        const told = (await tellKind(server, story)).split('\n## ');
        const golden = readGoldenKind(story.noun).split('\n## ');
        for (const [at, part] of golden.entries()) assert.equal(told[at], part);
        assert.equal(told.length, golden.length);
      });
  });
