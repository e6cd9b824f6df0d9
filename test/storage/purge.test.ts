// R8: every table with an end of life is in the purge registry, and the job deletes exactly what is over.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { holdLease } from '../../src/storage/engine/lease.ts';
import { type Expiring, expiring } from '../../src/storage/purge.ts';
import { findTenantBySlug } from '../../src/storage/registry/tenants.ts';
import { databases, onServer } from '../support/databases.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** Columns named like an end of life whose rows are bounded otherwise. */
const notPurged = new Set([
  'outbox_messages.expires_at', // across tenants; purged by its own function
  'push_messages.expires_at', // the same
  'device_rotations.expires_at', // one row per device, replaced by its next rotation
  'device_registrations.expires_at', // its end is purge_at
]);
const endOfLife = new Set(['expires_at', 'purge_at']);

/** Values that a CHECK wants; everything else takes any text or number. */
const checked: Readonly<Record<string, string | number>> = {
  'ciba_requests.delivery_mode': 'poll',
  'approvals.kind': 'ciba',
  'approvals.state': 'pending',
  'login_transactions.kind': 'oidc',
  'login_transactions.step': 'pin',
  'device_registrations.kind': 'signup',
  'device_registrations.state': 'verified',
  'saml_sessions.state': 'ready',
  'first_steps.proven_at': 0,
  'audit_events.type': 'refusal',
  'device_authorizations.state': 'pending',
  'clients.type': 'public',
  'clients.access_policy': 'everyone',
  'clients.authorize_error_delivery': 'direct',
  'clients.origin': 'open',
};

interface Column {
  readonly name: string;
  readonly text: boolean;
}

interface Raw {
  readonly columnsOf: (table: string) => Promise<readonly Column[]>;
  readonly tables: () => Promise<readonly string[]>;
  /** Columns of each index, in order. */
  readonly indexes: (table: string) => Promise<readonly string[]>;
  readonly insert: (table: string, row: Readonly<Record<string, string | number>>) => Promise<void>;
  readonly ids: (entry: Expiring) => Promise<readonly string[]>;
}

for (const name of databases) {
  describe(`purge on ${name}`, () => {
    let server: TestServer;
    let tenant: string;
    let raw: Raw;
    before(async () => {
      server = await startTestServer(name);
      const root = await server.gatehouse.services.database.systemRead((queries) => findTenantBySlug(queries, 'main'));
      tenant = root!.tenant_id;
      raw = name === 'sqlite' ? rawSqlite(server.database.dataFolder) : rawPostgres(server.database.databaseUrl!);
    });
    after(() => server.close());

    it('every table with an end of life is in the registry, with an index for it', async () => {
      const registered = new Set(expiring.map((entry) => `${entry.table}.${entry.column}`));
      const missing: string[] = [];
      let seen = 0;
      for (const table of await raw.tables()) {
        for (const { name: column } of await raw.columnsOf(table)) {
          if (!endOfLife.has(column)) continue;
          seen += 1;
          if (!registered.has(`${table}.${column}`) && !notPurged.has(`${table}.${column}`)) missing.push(`${table}.${column}`);
        }
      }
      assert.ok(seen > 12, `${seen} columns`);
      assert.deepEqual(missing, [], 'add a line to src/storage/purge.ts');
      for (const { table, column } of expiring)
        assert.ok((await raw.indexes(table)).includes(`tenant_id,${column}`), `${table} by ${column}`);
    });

    it('deletes more than a batch of what is over and nothing else', async () => {
      const nowMs = server.clock.nowMs();
      for (const [index, entry] of expiring.entries()) {
        const columns = await raw.columnsOf(entry.table);
        const row = (id: string, at: number): Promise<void> => raw.insert(entry.table, rowOf(entry, columns, tenant, id, at));
        await row(`over-${index}`, nowMs - entry.keptMs - 60_000);
        await row(`kept-${index}`, nowMs - entry.keptMs + 600_000);
      }
      const many = expiring.findIndex((entry) => entry.table === 'revoked_tokens');
      const columns = await raw.columnsOf('revoked_tokens');
      for (let turn = 0; turn < 600; turn += 1)
        await raw.insert('revoked_tokens', rowOf(expiring[many]!, columns, tenant, `over-${many}-${turn}`, 1000));
      await server.gatehouse.services.jobs.runNow('purge');
      for (const [index, entry] of expiring.entries()) {
        const ids = await raw.ids(entry);
        assert.ok(!ids.some((id) => id.startsWith(`over-${index}`)), `${entry.table} keeps what is over`);
        assert.ok(ids.includes(`kept-${index}`), `${entry.table} lost a row that is not over`);
      }
    });
    it('one node of all purges; another takes over when its lease has ended', async () => {
      const { database } = server.gatehouse.services;
      const holds = (holder: string): Promise<boolean> => database.system((queries) => holdLease(queries, 'test', holder, 30_000));
      assert.deepEqual([await holds('one'), await holds('two'), await holds('one')], [true, false, true]);
      await server.clock.advance(25_000);
      assert.equal(await holds('two'), false);
      await server.clock.advance(6_000);
      assert.deepEqual([await holds('two'), await holds('one')], [true, false]);
    });
  });
}

function rowOf(
  entry: Expiring,
  columns: readonly Column[],
  tenant: string,
  id: string,
  at: number,
): Readonly<Record<string, string | number>> {
  const given = columns.filter(({ name }) => name !== 'seq' || entry.table !== 'audit_events'); // unique; a record without one was read by nobody
  const values = given.map(({ name, text }): readonly [string, string | number] => {
    if (name === 'tenant_id') return [name, tenant];
    if (name === entry.key) return [name, id];
    if (name === entry.column) return [name, at];
    if (name === 'type' && entry.table === 'audit_events') return [name, entry.where === undefined ? 'user.suspended' : 'refusal'];
    return [name, checked[`${entry.table}.${name}`] ?? (text ? id : 9_000_000_000_000)];
  });
  return Object.fromEntries(values);
}

function rawSqlite(folder: string): Raw {
  const use = <T>(work: (database: DatabaseSync) => T): Promise<T> => {
    const database = new DatabaseSync(join(folder, 'gatehouse.db'), { enableForeignKeyConstraints: false, timeout: 5000 });
    try {
      return Promise.resolve(work(database));
    } finally {
      database.close();
    }
  };
  const all = (sql: string): Promise<readonly Record<string, string>[]> =>
    use((database) => database.prepare(sql).all() as Record<string, string>[]);
  return {
    tables: async () => (await all("SELECT name FROM sqlite_master WHERE type = 'table'")).map((row) => row['name']!),
    columnsOf: async (table) =>
      (await all(`PRAGMA table_info("${table}")`)).map((row) => ({ name: row['name']!, text: row['type'] === 'TEXT' })),
    indexes: async (table) =>
      (
        await all(
          `SELECT group_concat(c.name) AS columns FROM pragma_index_list('${table}') i, pragma_index_info(i.name) c GROUP BY i.name`,
        )
      ).map((row) => row['columns']!),
    insert: (table, row) =>
      use(
        (database) =>
          void database
            .prepare(`INSERT INTO "${table}" ("${Object.keys(row).join('","')}") VALUES (${Object.keys(row).map(() => '?')})`)
            .run(...Object.values(row)),
      ),
    ids: async ({ table, key }) => (await all(`SELECT "${key}" AS id FROM "${table}"`)).map((row) => row['id']!),
  };
}

function rawPostgres(url: string): Raw {
  const all = async (sql: string, values: readonly unknown[] = []): Promise<readonly Record<string, string>[]> => {
    let rows: Record<string, string>[] = [];
    await onServer(url, async (client) => {
      await client.query('SET session_replication_role = replica'); // without foreign keys
      rows = (await client.query(sql, [...values])).rows;
    });
    return rows;
  };
  return {
    tables: async () => (await all("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")).map((row) => row['name']!),
    columnsOf: async (table) =>
      (await all('SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $1', [table])).map((row) => ({
        name: row['column_name']!,
        text: row['data_type'] === 'text',
      })),
    indexes: async (table) =>
      (await all("SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename = $1", [table])).map((row) =>
        /\(([^)]*)\)/.exec(row['indexdef']!)![1]!.replaceAll(' ', ''),
      ),
    insert: async (table, row) => {
      await all(
        `INSERT INTO "${table}" ("${Object.keys(row).join('","')}") VALUES (${Object.keys(row).map((_name, index) => `$${index + 1}`)})`,
        Object.values(row),
      );
    },
    ids: async ({ table, key }) => (await all(`SELECT "${key}" AS id FROM "${table}"`)).map((row) => row['id']!),
  };
}
