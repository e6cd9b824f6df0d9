// Statistics of PostgreSQL's planner while very many rows arrive at once. Until autovacuum runs ANALYZE on a table, a
// minute later, the planner takes it for nearly empty and finds one user by reading the tenant; an import that long is quadratic. Only
// the owner of a table may ANALYZE it, so the migrator makes a function of the owner that the service may call.
import { sql } from 'kysely';
import type { Schema } from '../schema.ts';
import type { Database, Queries } from './database.ts';
import { serviceRole } from './service-role.ts';

const name = 'public.gatehouse_learn_tables()';
/** Tables that grow with imported people. */
export const analyzedTables: readonly (keyof Schema)[] = [
  'users',
  'user_emails',
  'user_values',
  'user_addresses',
  'groups',
  'group_members',
  'access_assignments',
  'audit_events',
];

/** Makes the function, over those of the tables that are there; repeats safely. Called by the migrator on PostgreSQL. */
export async function prepareTableStatistics(queries: Queries): Promise<void> {
  const run = async (statement: string): Promise<void> => void (await sql.raw(statement).execute(queries));
  await run(
    `CREATE OR REPLACE FUNCTION ${name} RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$${await bodyOf(queries)}$$`,
  );
  await run(`REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`);
  await run(`GRANT EXECUTE ON FUNCTION ${name} TO ${serviceRole}`);
}

/** True when the function is the one this release makes. */
export async function areStatisticsPrepared(queries: Queries): Promise<boolean> {
  const { rows } = await sql<{ body: string; granted: boolean }>`
    SELECT prosrc AS body, has_function_privilege(r.oid, p.oid, 'EXECUTE') AS granted
    FROM pg_proc p, pg_roles r WHERE p.oid = to_regprocedure(${name}) AND r.rolname = ${serviceRole}`.execute(queries);
  return rows[0]?.granted === true && rows[0].body === (await bodyOf(queries));
}

async function bodyOf(queries: Queries): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename IN (${sql.join(analyzedTables)})`.execute(queries);
  const statements = rows.map((table) => `ANALYZE public.${table.name};`).sort();
  return ` BEGIN ${statements.join(' ')} END `;
}

/** Runs ANALYZE on the tables now; does nothing on the embedded database, and on one an older release migrated. */
export async function analyzeTables(database: Database): Promise<void> {
  if (database.dialect !== 'postgres') return;
  await database.system(async (queries) => {
    const { rows } = await sql<{ found: boolean }>`SELECT to_regprocedure(${name}) IS NOT NULL AS found`.execute(queries);
    if (rows[0]?.found === true) await sql.raw(`SELECT ${name}`).execute(queries);
  });
}

/** Rows after which tables are analyzed, and again whenever they are four times as many. */
const firstAnalyzedAt = 500;

/** To be told how many rows a run has written so far: analyzes the tables now and then. */
export function analyzeAsTablesGrow(database: Database): (rows: number) => Promise<void> {
  let analyzeAt = firstAnalyzedAt;
  return async (rows) => {
    if (rows < analyzeAt) return;
    analyzeAt = rows * 4;
    await analyzeTables(database);
  };
}
