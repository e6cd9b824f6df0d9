// Which databases the tests run on: the embedded one always, PostgreSQL when GATEHOUSE_TEST_POSTGRES_URL names a server.
// GATEHOUSE_TEST_REQUIRE lists components whose absence must fail the run instead of narrowing it.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openPostgres } from '../../src/storage/engine/dialects/postgres.ts';
import { openSqlite } from '../../src/storage/engine/dialects/sqlite.ts';
import { migrate } from '../../src/storage/engine/migrations/migrator.ts';
import { watchQueryPlans } from './query-plans.ts';

watchQueryPlans();

export type DatabaseName = 'sqlite' | 'postgres';

const postgresUrl = process.env['GATEHOUSE_TEST_POSTGRES_URL'];
const required = new Set((process.env['GATEHOUSE_TEST_REQUIRE'] ?? '').split(',').filter((name) => name !== ''));

/** True when the component must be there; tests that need an absent component are defined only without this. */
export const isRequired = (component: 'postgres' | 'redis' | 'chromium' | 'xmlsec1'): boolean => required.has(component);

if (isRequired('postgres') && postgresUrl === undefined)
  throw new Error('GATEHOUSE_TEST_REQUIRE names postgres: expected GATEHOUSE_TEST_POSTGRES_URL, found none');

export const databases: readonly DatabaseName[] = postgresUrl === undefined ? ['sqlite'] : ['sqlite', 'postgres'];

export interface TestDatabase {
  /** What goes into the configuration. */
  readonly dataFolder: string;
  readonly databaseUrl: string | undefined;
  /** Moves the database's idea of now (R3), in milliseconds from real time. */
  readonly setOffsetMs: (offsetMs: number) => Promise<void>;
  readonly drop: () => Promise<void>;
}

export type TestPlace = Pick<TestDatabase, 'dataFolder' | 'databaseUrl'>;

/** A fresh, migrated database and data folder, or what `restore` puts into the empty ones; drop() leaves nothing behind. */
export async function createTestDatabase(name: DatabaseName, restore?: (place: TestPlace) => void | Promise<void>): Promise<TestDatabase> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  const removeFolder = (): void => rmSync(dataFolder, { recursive: true, force: true });
  if (name === 'sqlite') {
    if (restore === undefined) writeFileSync(join(dataFolder, 'gatehouse.db'), await migratedFile());
    else await restore({ dataFolder, databaseUrl: undefined });
    return { dataFolder, databaseUrl: undefined, setOffsetMs: async () => undefined, drop: async () => removeFolder() };
  }
  const url = new URL(postgresUrl!);
  const database = `gatehouse_test_${randomUUID().replaceAll('-', '')}`;
  await onServer(url.href, (client) => client.query(`CREATE DATABASE ${database} TEMPLATE template0`));
  url.pathname = `/${database}`;
  await restore?.({ dataFolder, databaseUrl: url.href });
  await prepare(url.href);
  return {
    dataFolder,
    databaseUrl: url.href,
    setOffsetMs: (offsetMs) => onServer(url.href, (client) => client.query('UPDATE test_clock SET offset_ms = $1', [offsetMs])),
    drop: async () => {
      removeFolder();
      await onServer(postgresUrl!, (client) => client.query(`DROP DATABASE ${database} WITH (FORCE)`));
    },
  };
}

/** The embedded database as migrations leave it, made once for all servers of this process. */
function migratedFile(): Promise<Buffer> {
  migrated ??= migrateOnce();
  return migrated;
}

let migrated: Promise<Buffer> | undefined;

async function migrateOnce(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  const file = join(folder, 'gatehouse.db');
  const database = openSqlite({ file, clock: { nowMs: Date.now } });
  await migrate(database);
  await database.close();
  const bytes = readFileSync(file);
  rmSync(folder, { recursive: true });
  return bytes;
}

/** Migrates and puts a movable clock behind gatehouse_now_ms(). */
async function prepare(url: string): Promise<void> {
  const owner = openPostgres({ url, poolMax: 1, timeoutMs: 20_000, asService: false });
  await migrate(owner);
  await owner.close();
  await onServer(url, async (client) => {
    await client.query('CREATE TABLE test_clock (offset_ms BIGINT NOT NULL)');
    await client.query('INSERT INTO test_clock VALUES (0)');
    await client.query('GRANT SELECT ON test_clock TO gatehouse_service');
    await client.query(
      `CREATE OR REPLACE FUNCTION gatehouse_now_ms() RETURNS BIGINT LANGUAGE sql STABLE AS
       'SELECT (extract(epoch from statement_timestamp()) * 1000)::bigint + offset_ms FROM test_clock'`,
    );
  });
}

/** One query or a few on a connection of the database's superuser. */
export async function onServer(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
