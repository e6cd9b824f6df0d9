// People in documents , as many and as much of them as there may be.
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`people in documents on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server?.close());

    const person = (name: string, ...more: readonly string[]): readonly string[] => [
      `  - user_name: ${name}`,
      `    emails: [{ value: ${name}, primary: true }]`,
      ...more.map((line) => `    ${line}`),
    ];
    it('a hundred people come into fifty groups each, leave them, and come again', async () => {
      const { slug } = await createTestTenant(server);
      const names = Array.from({ length: 50 }, (_, at) => `Group ${at}`);
      const document = (groups: readonly string[]): readonly string[] => [
        ...['gatehouse: 1', 'groups:', ...names.map((name) => `  - display_name: ${name}`), 'users:'],
        ...Array.from({ length: 100 }, (_, at) => person(`p${at}@example.com`, `groups: [${groups.join(', ')}]`)).flat(),
      ];
      for (const groups of [names, [], names]) await applyDocument(server.gatehouse.services, slug, document(groups));
    });
  });
