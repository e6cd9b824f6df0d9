// What each kind of registered thing answers is what it has answered, byte for byte: Management API, its description, events, documents
// and the console. `node scripts/golden/kinds.ts` writes the files anew for a change that is meant. A file of tests for each database: both
// in one would be more than its budget.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type DatabaseName, databases } from './databases.ts';
import { kindStories } from './kind-stories.ts';
import { readGoldenKind, tellKind } from './kind-story.ts';
import { startTestServer, type TestServer } from './server.ts';

/** Defines the tests, where this run has the database. */
export function testKindAnswers(database: DatabaseName): void {
  if (!databases.includes(database)) return;
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
}
