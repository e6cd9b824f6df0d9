// Which migrations a database has, and of which level its schema is. Those of release 0.1.0 stay in `schema_migrations`, later ones
// go into `schema_steps`: 0.1.0 serves only where the first table has nothing it does not know, and it must be able to come back.
import { sql } from 'kysely';
import type { Database, Dialect, Queries } from '../database.ts';
import { findInstanceValue, replaceInstanceValue } from '../instance.ts';
import type { Migration } from './migration.ts';
import { migrations } from './registry.ts';
import { findLevelFault, schemaLevel, schemaLevelKey } from './schema-level.ts';

const firstLedger = 'schema_migrations';
const ledger = 'schema_steps';
/** Tables of the migrator's own: the service may read them only. */
export const ledgers: readonly string[] = [firstLedger, ledger];
/** The last migration of release 0.1.0. */
const firstLedgerEnd = 60;

export interface Ledger {
  readonly applied: ReadonlySet<number>;
  /** 0: nothing was ever migrated. */
  readonly level: number;
}

/** Reads without a lock; a database that was never migrated has an empty ledger. */
export async function readLedger(queries: Queries, dialect: Dialect): Promise<Ledger> {
  const applied = new Set<number>();
  for (const table of ledgers) {
    if (!(await tableExists(queries, dialect, table))) continue;
    const { rows } = await sql<{ number: number }>`SELECT number FROM ${sql.table(table)}`.execute(queries);
    for (const { number } of rows) applied.add(number);
  }
  const stored = applied.has(1) ? await findInstanceValue(queries, schemaLevelKey) : undefined; // the first migration makes `instance`
  return { applied, level: stored === undefined ? Math.min(applied.size, 1) : Number(stored) };
}

/** Numbers of the migrations a database lacks, of those this release does not know, and the level of its schema. */
interface MigrationState {
  readonly pending: readonly number[];
  readonly unknown: readonly number[];
}

export function compareHistory({ applied }: Ledger, history: readonly Migration[] = migrations): MigrationState {
  const known = new Set(history.map(({ number }) => number));
  return {
    pending: [...known].filter((number) => !applied.has(number)),
    unknown: [...applied].filter((number) => !known.has(number)),
  };
}

export async function migrationState(database: Database): Promise<MigrationState> {
  return compareHistory(await database.systemRead((queries) => readLedger(queries, database.dialect)));
}

/** What keeps this release from serving on the schema as it is, with what to type; undefined when nothing does. */
export async function findSchemaFault(database: Database): Promise<string | undefined> {
  const ledger = await database.systemRead((queries) => readLedger(queries, database.dialect));
  const { pending } = compareHistory(ledger);
  const fault = findLevelFault(ledger.level);
  if (fault !== undefined || pending.length === 0) return fault;
  return `expected this release's schema, found migrations ${pending.join(', ')} missing. Run: gatehouse migrate`;
}

export async function createLedgers(queries: Queries, dialect: Dialect): Promise<void> {
  const type = dialect === 'postgres' ? 'BIGINT' : 'INTEGER';
  for (const table of ledgers)
    await sql
      .raw(`CREATE TABLE IF NOT EXISTS ${table} (number ${type} PRIMARY KEY, name TEXT NOT NULL, applied_at ${type} NOT NULL)`)
      .execute(queries);
}

/** Gives false when it was recorded before. */
export async function recordMigration(queries: Queries, { number, name }: Migration): Promise<boolean> {
  const { rows } = await sql`INSERT INTO ${tableOf(number)} (number, name, applied_at) VALUES (${number}, ${name}, gatehouse_now_ms())
    ON CONFLICT (number) DO NOTHING RETURNING number`.execute(queries);
  return rows.length === 1;
}

export async function isApplied(queries: Queries, { number }: Migration): Promise<boolean> {
  return (await sql`SELECT 1 FROM ${tableOf(number)} WHERE number = ${number}`.execute(queries)).rows.length > 0;
}

const tableOf = (number: number) => sql.table(number <= firstLedgerEnd ? firstLedger : ledger);

/** Says that migrations of this release begin or began: nodes of the release before the last are not ready from here on. */
export async function raiseLevel(queries: Queries): Promise<void> {
  const stored = Number((await findInstanceValue(queries, schemaLevelKey)) ?? 0);
  if (stored < schemaLevel) await replaceInstanceValue(queries, schemaLevelKey, String(schemaLevel));
}

async function tableExists(queries: Queries, dialect: Dialect, table: string): Promise<boolean> {
  const { rows } =
    dialect === 'postgres'
      ? await sql<{ found: unknown }>`SELECT to_regclass(${table}) AS found`.execute(queries)
      : await sql<{ found: unknown }>`SELECT max(name) AS found FROM sqlite_master WHERE name = ${table}`.execute(queries);
  return rows[0]?.found !== null && rows[0]?.found !== undefined;
}
