// The service has PostgreSQL look at tables it does not own, and nothing more than that.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { analyzedTables, analyzeTables } from '../../src/storage/engine/planner-statistics.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const name of databases) {
  describe(`statistics of tables on ${name}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(name);
      const tenant = await createTestTenant(server);
      for (let index = 0; index < 3; index += 1) await createTestUser(tenant, `person-${index}@example.com`);
    });
    after(() => server.close());

    it('are made when the service asks', async () => {
      const { database } = server.gatehouse.services;
      if (name === 'sqlite') return assert.doesNotReject(analyzeTables(database));
      const client = new pg.Client({ connectionString: server.database.databaseUrl });
      await client.connect();
      try {
        const rowsOf = async (table: string): Promise<number> =>
          (await client.query<{ n: number }>('SELECT reltuples AS n FROM pg_class WHERE relname = $1', [table])).rows[0]!.n;
        assert.equal(await rowsOf('users'), -1);
        await analyzeTables(database);
        for (const table of ['users', 'user_emails']) assert.equal(await rowsOf(table), 3, table);
        for (const table of analyzedTables) assert.notEqual(await rowsOf(table), -1, table);
        const { rows } = await client.query(
          "SELECT has_function_privilege('public', oid, 'EXECUTE') AS everyone, has_function_privilege('gatehouse_service', oid, 'EXECUTE') AS service FROM pg_proc WHERE proname = 'gatehouse_learn_tables'",
        );
        assert.deepEqual(rows, [{ everyone: false, service: true }]);
      } finally {
        await client.end();
      }
    });
  });
}
