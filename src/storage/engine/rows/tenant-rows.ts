// Everything a tenant owns, deleted table by table from what the catalog lists, so that a new table is never forgotten.
// People and audit records go in batches: a tenant with a million users must not need one long transaction.
import { sql } from 'kysely';
import type { TenantId } from '../../../domain/ids.ts';
import type { Database, Queries } from '../database.ts';

/** First the tables whose rows others hang on and whose triggers need the rest, then all others. */
const first: readonly string[] = ['users', 'groups'];
/** The tenant itself goes last, its epoch stays: it tells the other processes. */
const kept: readonly string[] = ['tenants', 'config_epochs'];
const batched: readonly string[] = ['users', 'groups', 'audit_events'];
const batchRows = 2000;

/** Asked at the beginning of each transaction; throws where somebody else is at it. */
type Permission = (queries: Queries) => Promise<void>;
type Write = <T>(work: (queries: Queries) => Promise<T>) => Promise<T>;

/** Deletes every row of a tenant but the tenant's own. Safe to repeat after a crash. */
export async function deleteTenantRows(database: Database, tenant: TenantId, permission?: Permission): Promise<void> {
  const write: Write = (work) =>
    database.writeClosed(tenant, async (queries) => {
      await permission?.(queries);
      return work(queries);
    });
  const found = await database.system((queries) => listTenantTables(queries, database));
  const tables = [...first, ...found.filter((table) => !first.includes(table) && !kept.includes(table))];
  for (const table of tables) {
    if (batched.includes(table)) await deleteInBatches(write, tenant, table);
    else await write((queries) => sql`DELETE FROM ${sql.table(table)} WHERE tenant_id = ${tenant}`.execute(queries));
  }
}

async function deleteInBatches(write: Write, tenant: TenantId, table: string): Promise<void> {
  let deleted = batchRows;
  while (deleted === batchRows) {
    deleted = await write(async (queries) => {
      const { rows } = await sql`DELETE FROM ${sql.table(table)} WHERE tenant_id = ${tenant} AND id IN
        (SELECT id FROM ${sql.table(table)} WHERE tenant_id = ${tenant} LIMIT ${batchRows}) RETURNING id`.execute(queries);
      return rows.length;
    });
  }
}

async function listTenantTables(queries: Queries, { dialect }: Database): Promise<readonly string[]> {
  const { rows } =
    dialect === 'postgres'
      ? await sql<{ name: string }>`SELECT c.table_name AS name FROM information_schema.columns c
          JOIN information_schema.tables t USING (table_schema, table_name)
          WHERE c.table_schema = 'public' AND c.column_name = 'tenant_id' AND t.table_type = 'BASE TABLE' ORDER BY 1`.execute(queries)
      : await sql<{ name: string }>`SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
          WHERE m.type = 'table' AND c.name = 'tenant_id' ORDER BY 1`.execute(queries);
  return rows.map((row) => row.name);
}
