// Which databases the tests run on: the embedded one always, PostgreSQL when GATEHOUSE_TEST_POSTGRES_URL names a server.
// Each test's own is a copy of one that is migrated once for all runs, by whoever comes first, until the sources of its schema change:
// on PostgreSQL a template database with a movable clock in it, else a file beside Node's compile cache.
// GATEHOUSE_TEST_REQUIRE lists components whose absence must fail the run instead of narrowing it.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { openPostgres } from '../../src/storage/engine/dialects/postgres.ts';
import { openSqlite } from '../../src/storage/engine/dialects/sqlite.ts';
import { migrate } from '../../src/storage/engine/migrations/migrator.ts';
import { eventually } from './eventually.ts';
import { watchQueryPlans } from './query-plans.ts';

watchQueryPlans();
waitForNoDisk();

export type DatabaseName = 'sqlite' | 'postgres';

const postgresUrl = process.env['GATEHOUSE_TEST_POSTGRES_URL'];
const required = new Set((process.env['GATEHOUSE_TEST_REQUIRE'] ?? '').split(',').filter((name) => name !== ''));

/** True when the component must be there; tests that need an absent component are defined only without this. */
export const isRequired = (component: 'postgres' | 'redis' | 'chromium' | 'xmlsec1'): boolean => required.has(component);

if (isRequired('postgres') && postgresUrl === undefined)
  throw new Error('GATEHOUSE_TEST_REQUIRE names postgres: expected GATEHOUSE_TEST_POSTGRES_URL, found none');

const available: readonly DatabaseName[] = postgresUrl === undefined ? ['sqlite'] : ['sqlite', 'postgres'];
/** Those the tests of this process are to show: all there are, unless GATEHOUSE_TEST_DATABASES says which (scripts/shown-before.mjs). */
const wanted = process.env['GATEHOUSE_TEST_DATABASES']?.split(',');

export const databases = available.filter((name) => wanted?.includes(name) ?? true);

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
  const template = restore === undefined ? await migratedTemplate(url.href) : 'template0';
  // Copying files is quicker here than by the log, as the cluster of with-services waits for no disk.
  administration ??= staying(url.href);
  await administration.query(`CREATE DATABASE ${database} TEMPLATE ${template} STRATEGY file_copy`);
  url.pathname = `/${database}`;
  if (restore !== undefined) {
    await restore({ dataFolder, databaseUrl: url.href });
    await prepare(url.href);
  }
  let clock: pg.Pool | undefined;
  return {
    dataFolder,
    databaseUrl: url.href,
    setOffsetMs: async (offsetMs) => {
      clock ??= staying(url.href);
      await clock.query('UPDATE test_clock SET offset_ms = $1', [offsetMs]);
    },
    drop: async () => {
      removeFolder();
      await clock?.end();
      await administration?.query(`DROP DATABASE ${database} WITH (FORCE)`);
    },
  };
}

const root = join(import.meta.dirname, '../..');
const cacheFolder = join(root, 'node_modules/.cache/gatehouse');

/** All that decides what migrations leave behind: what the engine may import (docs/architecture.md), and this file. */
const sources = ['src/storage/engine/**/*.{ts,sql}', 'src/domain/**/*.ts', 'src/contract/limits.ts', 'test/support/databases.ts'];

let known: string | undefined;

/** Names a schema by its sources. */
function schemaName(): string {
  if (known !== undefined) return known;
  const hash = createHash('sha256');
  for (const file of globSync(sources, { cwd: root }).sort()) hash.update(file).update(readFileSync(join(root, file)));
  known = hash.digest('hex').slice(0, 32);
  return known;
}

/** The embedded database as migrations leave it. */
async function migratedFile(): Promise<Buffer> {
  const kept = join(cacheFolder, `schema-${schemaName()}.db`);
  if (existsSync(kept)) return readFileSync(kept);
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  const file = join(folder, 'gatehouse.db');
  const database = openSqlite({ file, clock: { nowMs: Date.now } });
  await migrate(database);
  await database.close();
  const bytes = readFileSync(file);
  rmSync(folder, { recursive: true });
  mkdirSync(cacheFolder, { recursive: true });
  const written = `${kept}.${randomUUID()}`;
  writeFileSync(written, bytes);
  renameSync(written, kept); // whole or not there, whoever reads meanwhile
  return bytes;
}

/** The advisory lock of whoever makes a template: 'gate' in ASCII. */
const templateLock = 0x67617465;

/** This process has seen it, and nobody drops it. */
let knownTemplate: string | undefined;

/** The name of a migrated database on this server, for CREATE DATABASE .. TEMPLATE. Nobody connects to it. */
async function migratedTemplate(serverUrl: string): Promise<string> {
  if (knownTemplate !== undefined) return knownTemplate;
  const template = `gatehouse_template_${schemaName()}`;
  await onServer(serverUrl, async (client) => {
    if (await isThere(client, template)) return;
    await client.query('SELECT pg_advisory_lock($1)', [templateLock]); // until the connection ends
    if (await isThere(client, template)) return;
    const making = `${template}_made`;
    await client.query(`DROP DATABASE IF EXISTS ${making} WITH (FORCE)`); // of one that was killed
    await client.query(`CREATE DATABASE ${making} TEMPLATE template0`);
    const url = new URL(serverUrl);
    url.pathname = `/${making}`;
    await prepare(url.href);
    await client.query(`ALTER DATABASE ${making} ALLOW_CONNECTIONS false`);
    await client.query(`ALTER DATABASE ${making} RENAME TO ${template}`);
  });
  knownTemplate = template;
  return template;
}

const isThere = async (client: pg.Client, database: string): Promise<boolean> =>
  (await client.query('SELECT FROM pg_database WHERE datname = $1', [database])).rowCount === 1;

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

/**
 * The embedded database of this process does not wait for the disk, as the cluster of with-services does not: nothing here outlives the
 * machine's power. Tests that kill a server start it as a program, which waits.
 */
function waitForNoDisk(): void {
  const exec = DatabaseSync.prototype.exec;
  DatabaseSync.prototype.exec = function (this: DatabaseSync, sql) {
    exec.call(this, sql.replace('PRAGMA synchronous=FULL', 'PRAGMA synchronous=OFF'));
  };
}

/** The connection of this process that makes and drops databases. */
let administration: pg.Pool | undefined;

/** One connection that stays, as a server needs milliseconds to begin one; it holds up no process that is done. */
function staying(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
  pool.on('error', () => undefined); // ended by a test, or with its server: the next query begins another
  return pool;
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

/**
 * Waits until another connection waits for a lock that this one's transaction has, or so many do, some of them for one that waits
 * itself; where `isOver` says so, no longer. Not by pg_stat_activity, which stays in a transaction as it was when first asked: who
 * connects later is never seen there.
 */
export async function someoneWaitsFor(client: pg.Client, connections = 1, isOver = (): boolean => false): Promise<void> {
  await eventually(async () => {
    if (isOver()) return true;
    const { rows } = await client.query(
      `WITH RECURSIVE waiting(pid) AS (
         SELECT pg_backend_pid()
         UNION SELECT l.pid FROM pg_locks l JOIN waiting w ON w.pid = ANY (pg_blocking_pids(l.pid)) WHERE NOT l.granted)
       SELECT FROM waiting`,
    );
    return rows.length > connections;
  }, `connections that wait for this one: ${connections}`);
}

/**
 * Asks while a transaction beside the server has done something; it goes on by `then` and commits once the request waits for it, or is
 * answered without.
 */
export async function overtaken<T>(
  { databaseUrl }: TestPlace,
  meanwhile: (session: pg.Client) => Promise<unknown>,
  ask: () => Promise<T>,
  then: (session: pg.Client) => Promise<unknown> = async () => undefined,
): Promise<T> {
  let answer: Promise<T> | undefined;
  await onServer(databaseUrl!, async (session) => {
    await session.query('BEGIN');
    await meanwhile(session);
    let isAnswered = false;
    answer = ask().finally(() => {
      isAnswered = true;
    });
    await someoneWaitsFor(session, 1, () => isAnswered);
    await then(session);
    await session.query('COMMIT');
  });
  return answer!;
}
