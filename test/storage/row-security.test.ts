// PostgreSQL keeps tenants apart by itself (R5), a start proves it from the catalog, and messages name what to type.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type pg from 'pg';
import { ConfigError } from '../../src/config.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { openPostgres } from '../../src/storage/engine/dialects/postgres.ts';
import { migrate } from '../../src/storage/engine/migrations/migrator.ts';
import { crossTenantTables, findRowSecurityFault, queueTables } from '../../src/storage/engine/row-security.ts';
import { insertAuditEvent } from '../../src/storage/records/audit-events.ts';
import { createTestDatabase, databases, onServer, type TestDatabase } from '../support/databases.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const postgres = databases.filter((name) => name === 'postgres');

for (const name of postgres) {
  describe('E13 row-level security without any filter of ours', () => {
    let server: TestServer;
    let database: Database;
    const [a, b] = [randomUUID() as TenantId, randomUUID() as TenantId];
    before(async () => {
      server = await startTestServer(name);
      database = server.gatehouse.services.database;
      for (const tenant of [a, b])
        await database.write(tenant, (queries) =>
          insertAuditEvent(queries, tenant, server.clock.nowMs(), { type: 'user.updated', target: tenant }),
        );
    });
    after(() => server.close());

    it('a tenant sees its own rows only', async () => {
      const rows = await database.read(a, (queries) => queries.selectFrom('audit_events').select(['tenant_id', 'target']).execute());
      assert.deepEqual(rows, [{ tenant_id: a, target: a }]);
      const joined = await database.write(b, (queries) => queries.selectFrom('audit_events').select('tenant_id').execute());
      assert.deepEqual(joined, [{ tenant_id: b }]);
    });
    it('no tenant set: every table of tenants is empty, though some have rows', async () => {
      const tables = await tablesOfTenants(server.database);
      assert.ok(tables.length >= 12, `${tables.length} tables`);
      const counts = new Map<string, number>();
      await onServer(server.database.databaseUrl!, async (client) => {
        for (const table of tables) counts.set(table, await countRows(client, table));
      });
      assert.ok((counts.get('clients') ?? 0) > 0 && (counts.get('signing_keys') ?? 0) > 0 && (counts.get('audit_events') ?? 0) > 0);
      for (const table of tables) {
        const count = (work: Database['system']): Promise<number> =>
          work(async (queries) => (await sql<{ n: number }>`SELECT count(*) AS n FROM ${sql.table(table)}`.execute(queries)).rows[0]!.n);
        assert.equal(await count(database.system), 0, table);
        assert.equal(await count(database.systemRead), 0, table);
      }
    });
    it('a row of another tenant can be neither written, changed nor deleted', async () => {
      const foreign = database.write(a, (queries) => insertAuditEvent(queries, b, server.clock.nowMs(), { type: 'user.updated' }));
      await assert.rejects(foreign, /row-level security/);
      await database
        .write(a, async (queries) => {
          const changed = await queries.updateTable('audit_events').set({ type: 'changed' }).executeTakeFirst();
          assert.equal(changed.numUpdatedRows, 1n);
          const moved = queries.updateTable('audit_events').set({ tenant_id: b }).execute();
          await assert.rejects(moved, /row-level security/);
          throw new Error('rollback');
        })
        .catch((error: Error) => assert.match(error.message, /rollback/));
      await database.write(a, async (queries) => {
        assert.equal((await queries.deleteFrom('audit_events').where('tenant_id', '=', b).executeTakeFirst()).numDeletedRows, 0n);
      });
      const rows = await database.read(b, (queries) => queries.selectFrom('audit_events').select('type').execute());
      assert.deepEqual(rows, [{ type: 'user.updated' }]);
    });
    it('a tenant has its own deliveries of every queue and no others; who has set none has all', async () => {
      assert.equal(Object.keys(queued).length, 6);
      await onServer(server.database.databaseUrl!, async (client) => {
        await client.query('SET session_replication_role = replica'); // what they deliver is not there
        for (const [table, row] of Object.entries(queued))
          for (const tenant of [a, b]) await insertRow(client, table, { [queueTables[table]!]: tenant, [row.key]: tenant, ...row.values });
      });
      for (const [table, { key, values }] of Object.entries(queued)) {
        const of = sql.ref(queueTables[table]!);
        const seen = (work: Database['system']): Promise<readonly string[]> =>
          work(async (queries) => {
            const { rows } = await sql<{ of: string }>`SELECT ${of} AS of FROM ${sql.table(table)} ORDER BY 1`.execute(queries);
            return rows.map((row) => row.of);
          });
        assert.deepEqual(await seen((work) => database.read(a, work)), [a], table);
        assert.deepEqual(await seen((work) => database.write(b, work)), [b], table);
        assert.deepEqual(await seen((work) => database.readEach([a], work).then(([found]) => found!)), [a], table);
        for (const work of [database.system, database.systemRead, database.watch])
          assert.deepEqual(await seen(work), [a, b].toSorted(), table);
        const added = { [queueTables[table]!]: b, [key]: randomUUID(), ...values };
        const [names, given] = [Object.keys(added).map((name) => sql.ref(name)), Object.values(added).map((value) => sql`${value}`)];
        const foreign = database.write(a, (queries) =>
          sql`INSERT INTO ${sql.table(table)} (${sql.join(names)}) VALUES (${sql.join(given)})`.execute(queries),
        );
        await assert.rejects(foreign, /row-level security/, table);
        await database.write(a, async (queries) => {
          const moved = await sql`UPDATE ${sql.table(table)} SET attempts = 9 WHERE ${of} = ${b}`.execute(queries);
          const gone = await sql`DELETE FROM ${sql.table(table)} WHERE ${of} = ${b}`.execute(queries);
          assert.deepEqual([moved.numAffectedRows, gone.numAffectedRows], [0n, 0n], table);
        });
      }
    });
    it('a claim of what is due of all tenants walks an index and sorts nothing', async () => {
      await onServer(server.database.databaseUrl!, async (client) => {
        await client.query('SET session_replication_role = replica');
        await client.query(
          `INSERT INTO webhook_queue (tenant, id, lane, due_at) SELECT 't' || n % 50, 'id' || n, 'lane' || n % 20, ${later - 50_000} + n FROM generate_series(1, 50000) n`,
        );
        await client.query('ANALYZE webhook_queue');
      });
      const { rows } = await database.system((queries) =>
        sql<{ 'QUERY PLAN': string }>`EXPLAIN SELECT tenant, id FROM webhook_queue WHERE due_at <= ${later} AND lane = 'lane3'
          ORDER BY due_at LIMIT 50 FOR UPDATE SKIP LOCKED`.execute(queries),
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      assert.match(plan, /Index Scan using webhook_queue_by_lane_due_at/);
      assert.match(plan, /gatehouse\.tenant/); // the policy is in it
      assert.doesNotMatch(plan, /Sort/);
    });
    it('the setting of one transaction is gone in the next', async () => {
      await database.read(a, async (queries) => queries.selectFrom('audit_events').select('id').execute());
      const { rows } = await database.system((queries) =>
        sql<{ tenant: string }>`SELECT current_setting('gatehouse.tenant', true) AS tenant`.execute(queries),
      );
      assert.ok(rows[0]!.tenant === '' || rows[0]!.tenant === null, String(rows[0]!.tenant));
    });
    it('a read cannot write', async () => {
      await assert.rejects(
        database.read(a, (queries) => insertAuditEvent(queries, a, 1, { type: 'user.updated' })),
        (error: Error) => /read-only/.test(`${error.message} ${(error.cause as Error | undefined)?.message}`),
      );
    });
    it('a transaction whose failed statement was swallowed is not reported as committed', async () => {
      const work = database.write(a, async (queries) => {
        await insertAuditEvent(queries, a, 1, { type: 'user.updated' });
        await sql`SELECT 1 / 0`.execute(queries).catch(() => undefined);
      });
      await assert.rejects(work, /swallowed/);
    });
  });

  describe('the start on PostgreSQL', () => {
    let database: TestDatabase;
    before(async () => {
      database = await createTestDatabase(name);
    });
    after(() => database.drop());
    const as = (client: pg.Client, ...statements: readonly string[]): Promise<void> =>
      statements.reduce((before, text) => before.then(() => client.query(text).then(() => undefined)), Promise.resolve());
    const alter = (...statements: readonly string[]): Promise<void> =>
      onServer(database.databaseUrl!, (client) => as(client, ...statements));
    const startFails = async (message: RegExp): Promise<void> => {
      await assert.rejects(
        startTestServer(name, { database }),
        (error: Error) => (error instanceof ConfigError && message.test(error.message)) || assert.fail(error.message),
      );
    };

    it('a table without FORCE is refused by name, and gatehouse migrate repairs it', async () => {
      await alter('ALTER TABLE clients NO FORCE ROW LEVEL SECURITY');
      await startFails(/expected FORCE ROW LEVEL SECURITY on every table of tenants, found none on clients\. Run: gatehouse migrate$/);
      await migrateAsOwner(database.databaseUrl!);
      await (await startTestServer(name, { database })).close();
    });
    it('row-level security switched off on a table', async () => {
      await alter('ALTER TABLE users DISABLE ROW LEVEL SECURITY');
      await startFails(/found none on users\./);
      await migrateAsOwner(database.databaseUrl!);
    });
    it('a second, looser policy', async () => {
      await alter('CREATE POLICY everybody ON grants USING (true)');
      await startFails(/expected the policy tenant_rows alone .* found other policies on grants/);
      await alter('DROP POLICY everybody ON grants');
    });
    it('a policy with another condition', async () => {
      await alter('ALTER POLICY tenant_rows ON grants USING (true)');
      await startFails(/found other policies on grants/);
      await migrateAsOwner(database.databaseUrl!);
    });
    it('a queue of deliveries whose policy says less', async () => {
      for (const table of ['outbox_messages', 'ssf_queue']) {
        await alter(`ALTER POLICY tenant_rows ON ${table} USING (true)`);
        await startFails(new RegExp(`found other policies on ${table}`));
        await migrateAsOwner(database.databaseUrl!);
        await alter(`ALTER TABLE ${table} NO FORCE ROW LEVEL SECURITY`);
        await startFails(new RegExp(`found none on ${table}\\.`));
        await migrateAsOwner(database.databaseUrl!);
      }
    });
    it('the service role owns a table', async () => {
      await alter('ALTER TABLE resources OWNER TO gatehouse_service');
      await startFails(/expected a role that owns no table, found gatehouse_service as an owner of resources/);
      await alter('ALTER TABLE resources OWNER TO CURRENT_USER');
    });
    it('a superuser is refused', async () => {
      const owner = openPostgres({ url: database.databaseUrl!, poolMax: 1, timeoutMs: 5000, asService: false });
      assert.match((await findRowSecurityFault(owner)) ?? '', /^expected a role without SUPERUSER, found /);
      await owner.close();
    });
    it('an older schema names the command', async () => {
      await alter('CREATE TABLE kept AS SELECT * FROM schema_migrations', 'DELETE FROM schema_migrations WHERE number = 1');
      await startFails(/found migrations 1 missing\. Run: gatehouse migrate$/);
      await alter('INSERT INTO schema_migrations SELECT * FROM kept WHERE number = 1', 'DROP TABLE kept');
    });
    it('a database that was never prepared, and one that is away', async () => {
      const away = { ...database, databaseUrl: 'postgres://postgres@127.0.0.1:1/nothing' };
      await assert.rejects(
        startTestServer(name, { database: away }),
        /found: .*ECONNREFUSED.*\. Check database_url, and that PostgreSQL runs$/,
      );
      const fresh = `gatehouse_test_${randomUUID().replaceAll('-', '')}`;
      await alter(`CREATE DATABASE ${fresh} TEMPLATE template0`);
      const url = new URL(database.databaseUrl!);
      url.pathname = `/${fresh}`;
      await assert.rejects(
        startTestServer(name, { database: { ...database, databaseUrl: url.href } }),
        /missing\. Run: gatehouse migrate$/,
      );
      await alter(`DROP DATABASE ${fresh} WITH (FORCE)`);
    });
    it('migrate by a login that may not use the service role says what a superuser must type', async () => {
      const login = `gatehouse_test_${randomUUID().slice(0, 8)}`;
      const fresh = `${login}_database`;
      await alter(`CREATE ROLE ${login} LOGIN`, `CREATE DATABASE ${fresh} OWNER ${login} TEMPLATE template0`);
      const url = new URL(database.databaseUrl!);
      url.pathname = `/${fresh}`;
      url.username = login;
      try {
        await assert.rejects(
          migrateAsOwner(url.href),
          new RegExp(`found ${login}\\. Run as a superuser: GRANT gatehouse_service TO "${login}"; Then again: gatehouse migrate$`),
        );
        await alter(`GRANT gatehouse_service TO ${login}`);
        await migrateAsOwner(url.href);
        const server = await startTestServer(name, { database: { ...database, databaseUrl: url.href } });
        await server.close();
      } finally {
        await alter(`DROP DATABASE ${fresh} WITH (FORCE)`, `DROP ROLE ${login}`);
      }
    });
  });
}

const later = 9e15; // nobody claims it meanwhile
/** What a row of each queue has beside its tenant, and what it is named by. */
const queued: Readonly<Record<string, { readonly key: string; readonly values: Readonly<Record<string, string | number>> }>> = {
  outbox_messages: {
    key: 'id',
    values: {
      recipient: 'a@b.example',
      recipient_key: 'a@b.example',
      subject: '',
      text: '',
      html: '',
      next_attempt_at: later,
      created_at: 0,
      expires_at: later,
    },
  },
  push_messages: { key: 'id', values: { device_id: 'phone', provider: 'fcm', next_attempt_at: later, expires_at: later } },
  ciba_deliveries: { key: 'request_id', values: { due_at: later } },
  logout_notices: { key: 'grant_id', values: { due_at: later } },
  webhook_queue: { key: 'id', values: { lane: 'webhook', due_at: later } },
  ssf_queue: { key: 'id', values: { due_at: later } },
};

async function insertRow(client: pg.Client, table: string, row: Readonly<Record<string, string | number>>): Promise<void> {
  const [names, values] = [Object.keys(row), Object.values(row)];
  await client.query(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${values.map((_value, at) => `$${at + 1}`).join(', ')})`, values);
}

async function migrateAsOwner(url: string): Promise<void> {
  const owner = openPostgres({ url, poolMax: 1, timeoutMs: 20_000, asService: false });
  try {
    await migrate(owner);
  } finally {
    await owner.close();
  }
}

async function tablesOfTenants(database: TestDatabase): Promise<readonly string[]> {
  let tables: readonly string[] = [];
  await onServer(database.databaseUrl!, async (client) => {
    const { rows } = await client.query(
      "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'tenant_id' ORDER BY 1",
    );
    tables = rows.map((row) => row.table_name).filter((table) => !crossTenantTables.includes(table) && queueTables[table] === undefined);
  });
  return tables;
}

async function countRows(client: pg.Client, table: string): Promise<number> {
  const { rows } = await client.query(`SELECT count(*)::int AS n FROM "${table}"`);
  return rows[0].n;
}
