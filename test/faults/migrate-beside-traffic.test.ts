// `gatehouse migrate` on PostgreSQL beside traffic and beside a transaction that reads `users` for a long time: no request fails.
// With nothing pending it takes no lock; with a new column it waits half a second at a time; blocked for good, it says by whom.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import type { Database } from '../../src/storage/engine/database.ts';
import { openPostgres } from '../../src/storage/engine/dialects/postgres.ts';
import type { Migration } from '../../src/storage/engine/migrations/migration.ts';
import { migrate } from '../../src/storage/engine/migrations/migrator.ts';
import { migrations } from '../../src/storage/engine/migrations/registry.ts';
import { addColumn } from '../../src/storage/engine/migrations/table.ts';
import { createTestDatabase, databases, onServer, type TestDatabase } from '../support/databases.ts';
import { createDataFolder, runGatehouse } from '../support/gatehouse-process.ts';
import { createTestTenant, createTestUser, type Managed } from '../support/management.ts';
import { startTestServer } from '../support/server.ts';

/** How long the reader stays; many times the half second a migration waits. */
const readerMs = 15_000;
const column: Migration = {
  number: 9001,
  name: 'later-column',
  apply: (context) => addColumn(context, 'users', 'later', 'integer=0'),
};
const index: Migration = { number: 9002, name: 'later-index', table: 'users', index: { columns: ['tenant_id', 'later'] } };

if (databases.includes('postgres'))
  describe('gatehouse migrate beside traffic', () => {
    it('nothing pending, and a new column with its index: no request fails', { timeout: 120_000 }, async () => {
      const own = await createTestDatabase('postgres');
      const server = await startTestServer('postgres', { database: own });
      const owner = ownerOf(own);
      try {
        const tenant = await createTestTenant(server);
        const reader = await beginReading(own);
        const traffic = ask(tenant);
        assert.deepEqual(await command(own), { code: 0, stdout: 'applied: nothing\n', stderr: '' });
        const migrated = migrate(owner, [...migrations, column, index]);
        await wait(readerMs);
        await reader.end();
        assert.deepEqual(await migrated, [9001, 9002]);
        assert.deepEqual(await command(own), { code: 0, stdout: 'applied: nothing\n', stderr: '' });
        const { failed, asked, slowestMs } = await traffic.stop();
        assert.deepEqual(failed, []);
        assert.ok(asked > 50, `${asked} requests`);
        // Behind a waiting migration for half a second, and what a busy machine adds.
        assert.ok(slowestMs < readerMs, `${slowestMs} ms`);
      } finally {
        await owner.close();
        await server.close();
        await own.drop();
      }
    });
    it('a new column of clients: statements prepared before it are prepared anew, and no request fails', async () => {
      const own = await createTestDatabase('postgres');
      const server = await startTestServer('postgres', { database: own });
      const owner = ownerOf(own);
      try {
        const tenant = await createTestTenant(server);
        const { client_id } = await createClientByHttp(tenant);
        const rename = (turn: number): Promise<Response> => tenant.call('PATCH', `/clients/${client_id}`, { name: `M ${turn}` });
        const renameMany = async (): Promise<readonly number[]> => {
          const answers = await Promise.all(Array.from({ length: 30 }, (_, turn) => rename(turn)));
          await Promise.all(answers.map((answer) => answer.body?.cancel()));
          return [...new Set(answers.map(({ status }) => status))];
        };
        assert.deepEqual(await renameMany(), [200]);
        await migrate(owner, [...migrations, { ...column, apply: (context) => addColumn(context, 'clients', 'later', 'integer=0') }]);
        assert.deepEqual(await renameMany(), [200]);
      } finally {
        await owner.close();
        await server.close();
        await own.drop();
      }
    });
    it('blocked for good: says which session, and what to type', async () => {
      const own = await createTestDatabase('postgres');
      const owner = ownerOf(own);
      const reader = await beginReading(own);
      try {
        const pid = String((await reader.query('SELECT pg_backend_pid() AS pid')).rows[0].pid);
        await assert.rejects(
          migrate(owner, [...migrations, column], { retryMs: 1000 }),
          new RegExp(
            `^Error: migration 9001 \\(later-column\\): expected its locks within 1 s, found session ${pid} \\(user postgres, application "a report", idle in transaction, .*\\) in the way\\. End it with SELECT pg_terminate_backend\\(${pid}\\), or wait for its end; then again: gatehouse migrate$`,
          ),
        );
      } finally {
        await reader.end();
        await owner.close();
        await own.drop();
      }
    });
    it('values are filled in although a writer beside them waits for rows of theirs, and they for its', async () => {
      const own = await createTestDatabase('postgres');
      const owner = ownerOf(own);
      const server = await startTestServer('postgres', { database: own });
      try {
        const tenant = await createTestTenant(server);
        const [first, second] = [await createTestUser(tenant, 'a@example.com'), await createTestUser(tenant, 'b@example.com')];
        await onServer(own.databaseUrl!, async (writer) => {
          await writer.query("SET deadlock_timeout = '1min'"); // so that PostgreSQL ends the other one
          await writer.query('BEGIN');
          const lock = (id: string): Promise<unknown> => writer.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [id]);
          await lock(second.id);
          let turns = 0;
          let crossed: Promise<unknown> = Promise.resolve();
          const backfill: Migration = {
            number: 9003,
            name: 'fill',
            backfill: async (queries, tenantId) => {
              const fill = (id: string): Promise<unknown> =>
                sql`UPDATE users SET title = 'filled' WHERE tenant_id = ${tenantId} AND id = ${id}`.execute(queries);
              if (tenantId !== tenant.id) return 0;
              turns += 1;
              await fill(first.id);
              if (turns === 1) crossed = lock(first.id).then(() => writer.query('COMMIT'));
              await fill(second.id);
              return 1;
            },
          };
          assert.deepEqual(await migrate(owner, [...migrations, backfill]), [9003]);
          await crossed;
          assert.ok(turns >= 2, `${turns}`); // who begins again may have the row before who waited for it, and be ended again
        });
        for (const { id } of [first, second]) assert.equal((await tenant.make('GET', `/users/${id}`))['title'], 'filled');
      } finally {
        await server.close();
        await owner.close();
        await own.drop();
      }
    });
    it('an index that was cut off is built anew; several migrators at once apply each step once', async () => {
      const own = await createTestDatabase('postgres');
      const owners = [ownerOf(own), ownerOf(own), ownerOf(own)];
      try {
        await migrate(owners[0]!, [...migrations, column]);
        // What a killed CREATE INDEX CONCURRENTLY leaves: an index that is there and not valid.
        await onServer(own.databaseUrl!, async (client) => {
          await client.query('CREATE INDEX users_by_later ON users (tenant_id, later)');
          await client.query("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'users_by_later'::regclass");
        });
        const applied = await Promise.all(owners.map((owner) => migrate(owner, [...migrations, column, index])));
        assert.deepEqual(applied.flat(), [9002]);
        await onServer(own.databaseUrl!, async (client) => {
          const { rows } = await client.query("SELECT indisvalid FROM pg_index WHERE indexrelid = 'users_by_later'::regclass");
          assert.deepEqual(rows, [{ indisvalid: true }]);
        });
      } finally {
        for (const owner of owners) await owner.close();
        await own.drop();
      }
    });
  });

for (const name of databases) {
  describe(`values filled in beside traffic on ${name}`, () => {
    it('a thousand rows a transaction, every tenant, and begun again after a crash', async () => {
      const own = await createTestDatabase(name);
      const server = await startTestServer(name, { database: own });
      const { database } = server.gatehouse.services;
      const owner = own.databaseUrl === undefined ? database : ownerOf(own);
      try {
        const tenants = [await createTestTenant(server), await createTestTenant(server)];
        for (const tenant of tenants) await insertMany(database, tenant, 1500);
        const changes: number[] = [];
        let crashes = 1;
        const backfill: Migration = {
          number: 9003,
          name: 'fill',
          backfill: async (queries, tenant, rows) => {
            const { rows: changed } = await sql`UPDATE audit_events SET type = 'filled' WHERE tenant_id = ${tenant} AND id IN
              (SELECT id FROM audit_events WHERE tenant_id = ${tenant} AND type = 'before' LIMIT ${rows}) RETURNING id`.execute(queries);
            changes.push(changed.length);
            if (changes.length === 3 && crashes-- > 0) throw new Error('the process ends');
            return changed.length;
          },
        };
        await assert.rejects(migrate(owner, [...migrations, backfill]), /the process ends/);
        assert.deepEqual(await migrate(owner, [...migrations, backfill]), [9003]);
        assert.ok(Math.max(...changes) === 1000, changes.join());
        for (const tenant of tenants) assert.equal(await countBefore(database, tenant), 0);
      } finally {
        if (owner !== database) await owner.close();
        await server.close();
        await own.drop();
      }
    });
  });
}

const ownerOf = ({ databaseUrl }: TestDatabase): Database =>
  openPostgres({ url: databaseUrl!, poolMax: 1, timeoutMs: 20_000, asService: false });

async function command({
  databaseUrl,
}: TestDatabase): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const folder = createDataFolder();
  const { code, stdout, stderr } = await runGatehouse(folder.path, {
    args: ['migrate'],
    environment: { GATEHOUSE_DATABASE_URL: databaseUrl! },
  }).ended;
  folder.remove();
  return { code, stdout, stderr };
}

/** A transaction that reads `users` and stays open. */
async function beginReading({ databaseUrl }: TestDatabase): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl!, application_name: 'a report' });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT count(*) FROM users');
  return client;
}

interface Traffic {
  readonly stop: () => Promise<{ readonly failed: readonly string[]; readonly asked: number; readonly slowestMs: number }>;
}

/** Reads and writes of `users` by the Management API, four at a time. */
function ask(tenant: Managed): Traffic {
  const failed: string[] = [];
  let asked = 0;
  let slowestMs = 0;
  let going = true;
  const worker = async (number: number): Promise<void> => {
    for (let made = 0; going; made += 1) {
      const startedAt = performance.now();
      const body = { user_name: `u${number}-${made}`, emails: [{ value: `u${number}-${made}@people.example` }] };
      const response = made % 2 === 0 ? await tenant.call('POST', '/users', body) : await tenant.call('GET', '/users?limit=5');
      const text = await response.text();
      if (!response.ok) failed.push(`${response.status} ${text}`);
      asked += 1;
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    }
  };
  const workers = Promise.all(Array.from({ length: 4 }, (_, number) => worker(number)));
  return {
    stop: async () => {
      going = false;
      await workers;
      return { failed, asked, slowestMs };
    },
  };
}

async function createClientByHttp(tenant: Managed): Promise<{ readonly client_id: string }> {
  const body = { name: 'M', token_endpoint_auth_method: 'client_secret_post', grant_types: ['client_credentials'], redirect_uris: [] };
  const response = await tenant.call('POST', '/clients', body);
  assert.equal(response.status, 201);
  return (await response.json()) as { readonly client_id: string };
}

async function insertMany(database: Database, tenant: Managed, count: number): Promise<void> {
  await database.write(tenant.id as never, async (queries) => {
    for (let made = 0; made < count; made += 1)
      await sql`INSERT INTO audit_events (tenant_id, id, type, created_at) VALUES (${tenant.id}, ${String(made).padStart(22, '0')}, 'before', 0)`.execute(
        queries,
      );
  });
}

async function countBefore(database: Database, tenant: Managed): Promise<number> {
  return database.read(tenant.id as never, async (queries) => {
    const { rows } = await sql<{
      n: number;
    }>`SELECT count(*) AS n FROM audit_events WHERE tenant_id = ${tenant.id} AND type = 'before'`.execute(queries);
    return Number(rows[0]!.n);
  });
}
