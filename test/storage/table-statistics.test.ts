// The service has PostgreSQL look at tables it does not own, and nothing more than that, while what arrives waits for no wrong plan.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { databases } from '../support/databases.ts';
import { type ScimCaller, startScim, userBody } from '../support/scim.ts';

for (const name of databases) {
  describe(`statistics of tables on ${name}`, () => {
    let scim: ScimCaller;
    let client: pg.Client | undefined;
    before(async () => {
      scim = await startScim(name);
      await scim.server.gatehouse.services.jobs.stop(); // they look each second, and would in the middle of what a test writes
      if (name === 'sqlite') return;
      client = new pg.Client({ connectionString: scim.server.database.databaseUrl });
      await client.connect();
    });
    after(async () => {
      await client?.end();
      await scim?.server.close();
    });
    const create = async (count: number, from: string): Promise<void> => {
      const Operations = Array.from({ length: count }, (_, at) => ({
        method: 'POST',
        path: '/Users',
        bulkId: `${at}`,
        data: userBody(`${from}-${at}`),
      }));
      const { status } = await scim.call('POST', '/Bulk', { schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'], Operations });
      assert.equal(status, 200);
    };
    const learn = (): Promise<void> => scim.server.gatehouse.services.jobs.runNow('planner-statistics');
    const rowsKnown = async (): Promise<number | undefined> =>
      (await client?.query<{ n: number }>("SELECT reltuples AS n FROM pg_class WHERE relname = 'users'"))?.rows[0]?.n;
    const isPostgres = name === 'postgres';

    it('wait for autovacuum as long as a table is small', async () => {
      await create(3, 'few');
      await learn();
      assert.equal(await rowsKnown(), isPostgres ? -1 : undefined);
    });

    it('are made when a table has grown, so that a foreign key is checked by its key', async () => {
      await create(400, 'many');
      await learn();
      if (client === undefined) return;
      assert.equal(await rowsKnown(), 403);
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        "EXPLAIN SELECT 1 FROM ONLY users x WHERE tenant_id = (SELECT min(tenant_id) FROM tenants) AND id = 'x' FOR KEY SHARE OF x",
      );
      assert.match(rows.map((row) => row['QUERY PLAN']).join('\n'), /users_pkey/);
    });

    it('are not made again before the table is four times as large', async () => {
      await create(100, 'more');
      await learn();
      assert.equal(await rowsKnown(), isPostgres ? 403 : undefined);
    });

    it('are asked for by a function that only the service may call', async () => {
      const { rows } = (await client?.query(
        "SELECT has_function_privilege('public', oid, 'EXECUTE') AS everyone, has_function_privilege('gatehouse_service', oid, 'EXECUTE') AS service FROM pg_proc WHERE proname = 'gatehouse_learn_tables'",
      )) ?? { rows: [] };
      assert.deepEqual(rows, isPostgres ? [{ everyone: false, service: true }] : []);
    });
  });
}
