// The directory of scim-directory.ts on PostgreSQL, in a database of its own: made, migrated, filled, dropped. Needs a superuser.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { uuidV7 } from '../src/platform/random.ts';
import { root } from './process.ts';
import { emailValues, groupValues, type LoadOptions, userValues, type Values } from './scim-directory.ts';

export interface BenchDatabase {
  readonly url: string;
  readonly mebibytes: () => Promise<number>;
  readonly drop: () => Promise<void>;
}

/** A new, migrated database on the server. */
export async function createDatabase(server: string): Promise<BenchDatabase> {
  const name = `gatehouse_bench_${process.pid}`;
  await onServer(server, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE template0`));
  const address = new URL(server);
  address.pathname = `/${name}`;
  const url = address.href;
  const migrated = spawnSync(join(root, 'bin', 'gatehouse'), ['migrate'], { env: { ...process.env, GATEHOUSE_DATABASE_URL: url } });
  if (migrated.status !== 0) throw new Error(`gatehouse migrate: ${migrated.stderr.toString()}`);
  return {
    url,
    mebibytes: () =>
      onServer(
        url,
        async (client) => Number((await client.query('SELECT pg_database_size(current_database()) AS n')).rows[0].n) / 1_048_576,
      ),
    drop: async () => void (await onServer(server, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`))),
  };
}

const rowsAtOnce = 10_000;

/** Fills an empty tenant with users and a group of the first of them; gives the group's id. Plain indexes are built afterwards. */
export async function loadPostgres(url: string, { tenant, users, groupMembers, progress }: Omit<LoadOptions, 'file'>): Promise<string> {
  return onServer(url, async (client) => {
    await client.query("SET synchronous_commit = off; SET maintenance_work_mem = '512MB'");
    const { rows: indexes } = await client.query(
      `SELECT i.indexname AS name, i.indexdef AS sql FROM pg_indexes i WHERE i.schemaname = 'public' AND i.tablename IN ('users', 'user_emails')
       AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conname = i.indexname)`,
    );
    for (const { name } of indexes) await client.query(`DROP INDEX "${name}"`);
    const startMs = Date.now() - users;
    const ids: string[] = [];
    for (let from = 0; from < users; from += rowsAtOnce) {
      const numbers = Array.from({ length: Math.min(rowsAtOnce, users - from) }, (_, at) => from + at);
      const batch = numbers.map((number) => ({ number, id: uuidV7(startMs + number) }));
      await insert(
        client,
        'users',
        batch.map(({ number, id }) => userValues(tenant, id, number, startMs + number)),
      );
      await insert(
        client,
        'user_emails',
        batch.map(({ number, id }) => emailValues(tenant, id, number)),
      );
      ids.push(...batch.slice(0, groupMembers - ids.length).map(({ id }) => id));
      progress(from + batch.length);
    }
    const group = uuidV7(Date.now());
    await insert(client, 'groups', [groupValues(tenant, group)]);
    await insert(
      client,
      'group_members',
      ids.map((user_id, number) => ({
        tenant_id: tenant,
        group_id: group,
        user_id,
        created_at: Date.now(),
        user_created_at: startMs + number,
      })),
    );
    for (const { sql } of indexes) await client.query(sql);
    await client.query('VACUUM ANALYZE users, user_emails, groups, group_members');
    return group;
  });
}

export async function insert(client: pg.Client, table: string, rows: readonly Values[]): Promise<void> {
  const columns = Object.keys(rows[0]!)
    .map((column) => `"${column}"`)
    .join(', ');
  await client.query(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1)`, [
    JSON.stringify(rows),
  ]);
}

export async function onServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
