// Statistics of PostgreSQL's planner while very many rows arrive at once. Until the server has looked at a table by itself, a
// minute later, it takes it for nearly empty and finds one user by reading the tenant; an import that long is quadratic. Only
// the owner of a table may have it looked at, so the migrator makes a function of the owner's that the service may call.
import { sql } from 'kysely';
import type { Database, Queries } from './database.ts';
import type { Schema } from './schema.ts';
import { serviceRole } from './service-role.ts';

const name = 'public.gatehouse_learn_tables()';
/** Tables that grow with imported people. */
export const learnedTables: readonly (keyof Schema)[] = [
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
  const found = await sql<{ name: string }>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename IN (${sql.join(learnedTables)})`.execute(queries);
  const statements = found.rows.map((table) => `ANALYZE public.${table.name};`).sort();
  await run(`CREATE OR REPLACE FUNCTION ${name} RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    BEGIN ${statements.join(' ')} END $$`);
  await run(`REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`);
  await run(`GRANT EXECUTE ON FUNCTION ${name} TO ${serviceRole}`);
}

/** Has PostgreSQL look at the tables now; does nothing on the embedded database, and on one an older release migrated. */
export async function learnTables(database: Database): Promise<void> {
  if (database.dialect !== 'postgres') return;
  await database.system(async (queries) => {
    const { rows } = await sql<{ found: boolean }>`SELECT to_regprocedure(${name}) IS NOT NULL AS found`.execute(queries);
    if (rows[0]?.found === true) await sql.raw(`SELECT ${name}`).execute(queries);
  });
}

/** Rows after which tables are looked at, and again whenever they are four times as many. */
const firstLearnedAt = 500;

/** To be told how many rows a run has written so far: has the tables looked at now and then. */
export function learnAsTablesGrow(database: Database): (rows: number) => Promise<void> {
  let learnAt = firstLearnedAt;
  return async (rows) => {
    if (rows < learnAt) return;
    learnAt = rows * 4;
    await learnTables(database);
  };
}
