// Brings a database to this release's schema: a new one at once (snapshot.ts), another by what is pending, step by step (steps.ts);
// then roles, rights and policies where they differ (rights.ts). With nothing to do it reads once and takes no lock. Called by `gatehouse migrate`, and by serve on the
// embedded database.
import { sql } from 'kysely';
import type { Database, Queries } from '../database.ts';
import { findEngineFault } from '../foreign-engines.ts';
import { areStatisticsPrepared, prepareTableStatistics } from '../planner-statistics.ts';
import { isTrigramSearchPrepared, prepareTrigramSearch } from '../trigram-search.ts';
import { endFirstReleaseSessions, firstReleaseLevel } from './first-release.ts';
import { compareHistory, createLedgers, type Ledger, raiseLevel, readLedger } from './ledger.ts';
import { retryOnLockTimeout, stepRetryMs } from './lock-timeout.ts';
import type { Migration } from './migration.ts';
import { migrations } from './registry.ts';
import { areRightsInPlace, findOwnerFault, prepareServiceRole, repairTables } from './rights.ts';
import { schemaLevel } from './schema-level.ts';
import { applySnapshot } from './snapshot.ts';
import { applyMigration, takeTurn } from './steps.ts';
import { describeTables } from './table-statistics.ts';

interface MigrateOptions {
  /** Hears how many of the history are there after each. */
  readonly onStep?: (done: number, whole: number) => void;
  /** How long each step waits for its locks, in milliseconds. */
  readonly retryMs?: number;
  /** Makes a new database by the migrations too: what the snapshot is written of and compared with. */
  readonly isStepwise?: boolean;
}

/** Applies what is pending of the history and gives the numbers applied. Safe to run from several processes at once. */
export async function migrate(
  database: Database,
  history: readonly Migration[] = migrations,
  { onStep, retryMs = stepRetryMs, isStepwise = false }: MigrateOptions = {},
): Promise<readonly number[]> {
  const { ledger, isPrepared } = await database.systemRead((queries) => lookAt(queries, database));
  if (compareHistory(ledger, history).pending.length === 0 && isPrepared && ledger.level >= schemaLevel) return [];
  const step = <T>(what: string, work: (queries: Queries) => Promise<T>): Promise<T> => retryOnLockTimeout(database, what, work, retryMs);
  await step('preparing', (queries) => prepare(queries, database));
  if (ledger.applied.has(1)) await step('the schema level', raiseLevel);
  const applied: number[] = [];
  if (ledger.applied.size === 0 && !isStepwise) applied.push(...(await step('the schema', (queries) => create(queries, database))));
  const { pending } = compareHistory(await database.systemRead((queries) => readLedger(queries, database.dialect)), history);
  for (const [index, migration] of history.entries()) {
    if (pending.includes(migration.number) && (await applyMigration(database, migration, retryMs))) applied.push(migration.number);
    onStep?.(index + 1, history.length);
  }
  await step('the schema level', raiseLevel);
  if (database.dialect === 'postgres') {
    await step('rights and policies', (queries) => repair(queries, ledger.level === firstReleaseLevel));
    if (ledger.level === firstReleaseLevel) await endFirstReleaseSessions(database);
  } else if (applied.length > 0) await database.system(describeTables);
  return applied;
}

/** Everything that says whether there is anything to do. */
async function lookAt(queries: Queries, { dialect }: Database): Promise<{ readonly ledger: Ledger; readonly isPrepared: boolean }> {
  const fault = dialect === 'postgres' ? ((await findEngineFault(queries)) ?? (await findOwnerFault(queries))) : undefined;
  if (fault !== undefined) throw new Error(`database_url: ${fault}`);
  const ledger = await readLedger(queries, dialect);
  const isPrepared =
    dialect === 'sqlite' ||
    ((await areRightsInPlace(queries)) && (await areStatisticsPrepared(queries)) && (await isTrigramSearchPrepared(queries)));
  return { ledger, isPrepared };
}

async function prepare(queries: Queries, { dialect }: Database): Promise<void> {
  if (dialect === 'postgres') {
    await takeTurn(queries);
    await prepareServiceRole(queries);
    const { rows } = await sql<{ exists: boolean }>`SELECT to_regprocedure('gatehouse_now_ms()') IS NOT NULL AS exists`.execute(queries);
    if (rows[0]?.exists !== true)
      await sql
        .raw(
          `CREATE FUNCTION gatehouse_now_ms() RETURNS BIGINT LANGUAGE sql STABLE AS 'SELECT (extract(epoch from statement_timestamp()) * 1000)::bigint'`,
        )
        .execute(queries);
  }
  await createLedgers(queries, dialect);
}

async function create(queries: Queries, { dialect }: Database): Promise<readonly number[]> {
  if (dialect === 'postgres') await takeTurn(queries);
  const applied = await applySnapshot(queries, dialect);
  await raiseLevel(queries); // a schema without its level would be taken for one of the first release
  if (dialect === 'postgres') await repairTables(queries); // a table comes with its policy
  return applied;
}

async function repair(queries: Queries, isBesideFirstRelease: boolean): Promise<void> {
  await takeTurn(queries);
  await repairTables(queries);
  if (!(await isTrigramSearchPrepared(queries))) await prepareTrigramSearch(queries, isBesideFirstRelease);
  if (!(await areStatisticsPrepared(queries))) await prepareTableStatistics(queries);
}
