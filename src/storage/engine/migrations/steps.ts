// How one migration is applied: a change of tables in one transaction, an index beside traffic, or values filled in a thousand
// rows at a time. Each is recorded when it is whole, and may be begun again after a crash. Called by the migrator.
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import type { TenantId } from '../../../domain/ids.ts';
import type { Database, Queries } from '../database.ts';
import { isApplied, recordMigration } from './ledger.ts';
import { isContended, isLockFault, retryOnLockTimeout } from './lock-timeout.ts';
import type { BackfillMigration, IndexMigration, Migration, TableMigration } from './migration.ts';
import { repairTables } from './rights.ts';
import { createIndex, indexName, indexSql, migrationContext } from './table.ts';

/** Applies a migration that is pending; gives false when another migrator came first. */
export async function applyMigration(database: Database, migration: Migration, retryMs: number): Promise<boolean> {
  if ('apply' in migration) return changeTables(database, migration, retryMs);
  if ('backfill' in migration) await fillValues(database, migration, retryMs);
  else if (database.dialect === 'postgres') await buildIndex(database, migration);
  else return changeTables(database, { ...migration, apply: (context) => createIndex(context, migration.table, migration.index) }, retryMs);
  return retryOnLockTimeout(database, describe(migration), (queries) => recordMigration(queries, migration), retryMs);
}

const describe = ({ number, name }: Migration): string => `migration ${number} (${name})`;

function changeTables(database: Database, migration: TableMigration, retryMs: number): Promise<boolean> {
  return retryOnLockTimeout(
    database,
    describe(migration),
    async (queries) => {
      if (database.dialect === 'postgres') await takeTurn(queries);
      if (await isApplied(queries, migration)) return false;
      // Migrations define tables the typed schema describes only afterwards.
      await migration.apply(migrationContext(queries.withTables<never>() as never, database.dialect));
      if (database.dialect === 'postgres') await repairTables(queries); // a table comes with its policy
      return recordMigration(queries, migration);
    },
    retryMs,
  );
}

/** Migrators take turns, a transaction each. */
export async function takeTurn(queries: Queries): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(718293645)`.execute(queries);
}

const buildLookEveryMs = 500;

/** CREATE INDEX CONCURRENTLY: nobody waits for it. One that was cut off leaves an invalid index, which is dropped first. */
async function buildIndex(database: Database, { table, index }: IndexMigration): Promise<void> {
  const name = indexName(table, index);
  for (;;) {
    const { rows } = await database.systemRead((queries) =>
      sql<{
        valid: boolean;
        building: boolean;
      }>`SELECT indisvalid AS valid, EXISTS (SELECT FROM pg_stat_progress_create_index WHERE index_relid = indexrelid) AS building
        FROM pg_index WHERE indexrelid = to_regclass(${name})`.execute(queries),
    );
    const found = rows[0];
    if (found?.valid === true) return;
    if (found?.building === true) await wait(buildLookEveryMs);
    else await tryAlone(database, found === undefined ? indexSql('CONCURRENTLY IF NOT EXISTS', table, index) : dropSql(name));
  }
}

const dropSql = (name: string): string => `DROP INDEX CONCURRENTLY IF EXISTS "${name}"`;

/** Runs a statement on an index; one that another migrator met at the same index gave way, and whoever asked looks again. */
async function tryAlone(database: Database, statement: string): Promise<void> {
  try {
    await database.alone(statement);
  } catch (error) {
    if (!isContended(error)) throw error;
    await wait(Math.random() * buildLookEveryMs); // not both at once again
  }
}

const rowsPerStep = 1000;
const tenantsPerPage = 200;

/** Tenant by tenant, because row-level security holds for the owner too. */
async function fillValues(database: Database, { backfill }: BackfillMigration, retryMs: number): Promise<void> {
  for (let after = '' as TenantId; ; ) {
    const tenants = await database.systemRead((queries) =>
      queries.selectFrom('tenants').select('tenant_id').where('tenant_id', '>', after).orderBy('tenant_id').limit(tenantsPerPage).execute(),
    );
    for (const { tenant_id: tenant } of tenants)
      while ((await giveWay(() => database.write(tenant, (queries) => backfill(queries, tenant, rowsPerStep)), retryMs)) === rowsPerStep);
    const last = tenants.at(-1);
    if (last === undefined) return;
    after = last.tenant_id;
  }
}

/** Runs a step again when writers beside it held its rows too long, or each waited for rows of the other and the server ended one. */
async function giveWay<T>(step: () => Promise<T>, retryMs: number): Promise<T> {
  for (const startedAt = performance.now(); ; ) {
    try {
      return await step();
    } catch (error) {
      if (!isLockFault(error) || performance.now() - startedAt > retryMs) throw error;
    }
    await wait(Math.random() * buildLookEveryMs); // not both at once again
  }
}
