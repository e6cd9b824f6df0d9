// Applies migrations in order, each in one transaction with its history row, and on PostgreSQL sets up row-level security
// for every table that has a tenant. Called by `gatehouse migrate`, and by serve on the embedded database.
import { sql } from 'kysely';
import type { Database, Queries } from '../database.ts';
import { serviceRole } from '../service-role.ts';
import { prepareTableStatistics } from '../table-statistics.ts';
import { prepareTrigramSearch } from '../trigram-search.ts';
import { type Migration, migrations } from './registry.ts';
import { migrationContext } from './table.ts';
import { describeTables } from './table-figures.ts';

/** Tables that have a tenant_id column and are still read across tenants. */
export const crossTenantTables: readonly string[] = [
  'tenants',
  'config_epochs',
  'outbox_messages',
  'push_messages',
  'ciba_deliveries',
  'logout_notices',
];

/** Numbers of the migrations this database still lacks, and of those newer than this build knows. */
export async function migrationState(
  database: Database,
): Promise<{ readonly pending: readonly number[]; readonly unknown: readonly number[] }> {
  const applied = await database.system(async (queries) => {
    const exists = await historyExists(queries, database);
    if (!exists) return new Set<number>();
    const { rows } = await sql<{ number: number }>`SELECT number FROM schema_migrations`.execute(queries);
    return new Set(rows.map((row) => row.number));
  });
  const known = new Set(migrations.map((migration) => migration.number));
  return {
    pending: migrations.filter((migration) => !applied.has(migration.number)).map((migration) => migration.number),
    unknown: [...applied].filter((number) => !known.has(number)),
  };
}

/**
 * Applies what is pending of the history and gives the numbers applied. Safe to run from several processes at once.
 * `onStep` hears how many of the history are there after each.
 */
export async function migrate(
  database: Database,
  history: readonly Migration[] = migrations,
  onStep: (done: number, whole: number) => void = () => undefined,
): Promise<readonly number[]> {
  if (database.dialect === 'postgres') await preparePostgres(database);
  await database.system(async (queries) => {
    const type = database.dialect === 'postgres' ? 'BIGINT' : 'INTEGER';
    await sql
      .raw(`CREATE TABLE IF NOT EXISTS schema_migrations (number ${type} PRIMARY KEY, name TEXT NOT NULL, applied_at ${type} NOT NULL)`)
      .execute(queries);
  });
  const applied: number[] = [];
  for (const [index, migration] of history.entries()) {
    const done = await database.system(async (queries) => {
      if (database.dialect === 'postgres') await sql`SELECT pg_advisory_xact_lock(718293645)`.execute(queries);
      const before = await sql`SELECT 1 FROM schema_migrations WHERE number = ${migration.number}`.execute(queries);
      if (before.rows.length > 0) return false;
      // Migrations define tables the typed schema describes only afterwards.
      await migration.apply(migrationContext(queries.withTables<never>() as never, database.dialect));
      await sql`INSERT INTO schema_migrations (number, name, applied_at) VALUES (${migration.number}, ${migration.name}, gatehouse_now_ms())`.execute(
        queries,
      );
      return true;
    });
    if (done) applied.push(migration.number);
    onStep(index + 1, history.length);
  }
  if (database.dialect === 'postgres') {
    await secureRows(database);
    await database.system(prepareTrigramSearch);
    await database.system(prepareTableStatistics);
  } else if (applied.length > 0) await database.system(describeTables);
  return applied;
}

async function historyExists(queries: Queries, database: Database): Promise<boolean> {
  const { rows } =
    database.dialect === 'postgres'
      ? await sql<{ found: unknown }>`SELECT to_regclass('schema_migrations') AS found`.execute(queries)
      : await sql<{ found: unknown }>`SELECT max(name) AS found FROM sqlite_master WHERE name = 'schema_migrations'`.execute(queries);
  return rows[0]?.found !== null && rows[0]?.found !== undefined;
}

async function preparePostgres(database: Database): Promise<void> {
  await database.system(async (queries) => {
    await sql`SELECT pg_advisory_xact_lock(718293645)`.execute(queries);
    await prepareServiceRole(queries);
    await sql
      .raw(
        `CREATE OR REPLACE FUNCTION gatehouse_now_ms() RETURNS BIGINT LANGUAGE sql STABLE AS 'SELECT (extract(epoch from statement_timestamp()) * 1000)::bigint'`,
      )
      .execute(queries);
  });
}

/** Makes the service role and lets the current login switch to it; says what an administrator must type when it may not. */
async function prepareServiceRole(queries: Queries): Promise<void> {
  const { rows } = await sql<{ login: string; exists: boolean; member: boolean }>`
    SELECT current_user AS login, r.oid IS NOT NULL AS exists, r.oid IS NOT NULL AND pg_has_role(current_user, r.oid, 'MEMBER') AS member
    FROM (SELECT) one LEFT JOIN pg_roles r ON r.rolname = ${serviceRole}`.execute(queries);
  const { login, exists, member } = rows[0]!;
  try {
    if (!exists) await sql.raw(`CREATE ROLE ${serviceRole} NOLOGIN`).execute(queries);
    if (!member) await sql.raw(`GRANT ${serviceRole} TO CURRENT_USER`).execute(queries);
  } catch (error) {
    const statements = `${exists ? '' : `CREATE ROLE ${serviceRole} NOLOGIN; `}GRANT ${serviceRole} TO "${login}";`;
    throw new Error(
      `database_url: expected a login that may ${exists ? 'be granted' : 'create'} the role ${serviceRole}, found ${login}. Run as a superuser: ${statements} Then again: gatehouse migrate`,
      { cause: error },
    );
  }
}

/** Row-level security on every tenant table, and the service role's rights (R5). Repeats safely. */
async function secureRows(database: Database): Promise<void> {
  await database.system(async (queries) => {
    await sql.raw(`GRANT USAGE ON SCHEMA public TO ${serviceRole}`).execute(queries);
    await sql.raw(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${serviceRole}`).execute(queries);
    await sql.raw(`REVOKE INSERT, UPDATE, DELETE ON schema_migrations FROM ${serviceRole}`).execute(queries);
    const { rows } = await sql<{ table_name: string }>`
      SELECT c.table_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
      WHERE c.table_schema = 'public' AND c.column_name = 'tenant_id' AND t.table_type = 'BASE TABLE'`.execute(queries);
    for (const { table_name: table } of rows) {
      if (crossTenantTables.includes(table)) continue;
      await sql.raw(`ALTER TABLE "${table}" ENABLE ROW LEVEL SECURITY`).execute(queries);
      await sql.raw(`ALTER TABLE "${table}" FORCE ROW LEVEL SECURITY`).execute(queries);
      await sql.raw(`DROP POLICY IF EXISTS tenant_rows ON "${table}"`).execute(queries);
      await sql
        .raw(
          `CREATE POLICY tenant_rows ON "${table}" USING (tenant_id = current_setting('gatehouse.tenant', true)) WITH CHECK (tenant_id = current_setting('gatehouse.tenant', true))`,
        )
        .execute(queries);
    }
  });
}
