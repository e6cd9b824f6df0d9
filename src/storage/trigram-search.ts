// Substring search on PostgreSQL under row-level security. LIKE is not leakproof, so the planner must not run it before the
// policy and never uses a trigram index for the service role. The look-up is therefore a function of a role that bypasses the
// policy and reads two tables only; it takes the tenant from the transaction's own setting, as the policy does, and nothing
// else names a tenant. Made by the migrator when a superuser runs it; without it substring filters walk the tenant.
import { sql } from 'kysely';
import type { Queries } from './database.ts';
import { serviceRole } from './service-role.ts';

/** Owns the look-up functions. Nobody logs in as it and nobody is its member. */
const searchRole = 'gatehouse_search';

const lookups = [
  ...['user_name_key', 'display_name_key', 'given_name_key', 'family_name_key'].map((column) => ({
    table: 'users',
    column,
    key: 'id, 0::bigint',
  })),
  { table: 'user_emails', column: 'value_key', key: 'user_id, position' },
];

/** Finds `user_id` and `position` of rows of the transaction's tenant: parameters are a LIKE pattern and how many at most. */
export function lookupFunction(table: 'users' | 'user_emails', column: string): string {
  return `gatehouse_${table}_with_${column}`;
}

/** The query inside a look-up function: $1 the tenant, $2 the pattern, $3 how many at most. */
export function lookupQuery(table: 'users' | 'user_emails', column: string): string {
  const { key } = lookups.find((lookup) => lookup.table === table && lookup.column === column)!;
  return `SELECT ${key} FROM public.${table} WHERE tenant_id = $1 AND ${column} LIKE $2 LIMIT $3`;
}

/** The LIKE pattern of "contains this text". */
export function containsPattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
}

/** Makes the role and the functions when a superuser migrates; repeats safely. */
export async function prepareTrigramSearch(queries: Queries): Promise<void> {
  const { rows } = await sql<{ able: boolean }>`
    SELECT rolsuper AND to_regclass('public.user_emails') IS NOT NULL AND EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') AS able
    FROM pg_roles WHERE rolname = current_user`.execute(queries);
  if (rows[0]?.able !== true) return;
  const run = async (statement: string): Promise<void> => void (await sql.raw(statement).execute(queries));
  // Roles belong to the server, not to the database: another migrator may make it at this moment.
  await run(`DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${searchRole}') THEN CREATE ROLE ${searchRole} NOLOGIN BYPASSRLS; END IF;
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
  END $$`);
  await run(`GRANT USAGE ON SCHEMA public TO ${searchRole}`);
  await run(`GRANT SELECT ON public.users, public.user_emails TO ${searchRole}`);
  for (const { table, column } of lookups as readonly { table: 'users' | 'user_emails'; column: string }[]) {
    const name = `public.${lookupFunction(table, column)}(pattern text, most integer)`;
    // EXECUTE plans with the pattern at hand, so that a common one is not looked up by index.
    await run(`CREATE OR REPLACE FUNCTION ${name} RETURNS TABLE (user_id text, "position" bigint)
      LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 200 SET search_path = pg_catalog, pg_temp AS $$
      BEGIN
        RETURN QUERY EXECUTE '${lookupQuery(table, column)}' USING current_setting('gatehouse.tenant', true), pattern, most;
      END $$`);
    await run(`ALTER FUNCTION ${name} OWNER TO ${searchRole}`);
    await run(`REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`);
    await run(`GRANT EXECUTE ON FUNCTION ${name} TO ${serviceRole}`);
  }
}

/** Whether the look-up functions are there. Asked again each time: a superuser may migrate while we serve. */
export async function hasTrigramSearch(queries: Queries): Promise<boolean> {
  const last = lookups.at(-1)!;
  const name = `public.${lookupFunction('user_emails', last.column)}(text,integer)`;
  const { rows } = await sql<{ found: boolean }>`SELECT to_regprocedure(${name}) IS NOT NULL AS found`.execute(queries);
  return rows[0]?.found === true;
}

/** Whether more than this many rows of the tenant contain a text; stops counting there. */
export async function containedInMoreThan(
  queries: Queries,
  table: 'users' | 'user_emails',
  column: string,
  text: string,
  most: number,
): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM ${sql.ref(lookupFunction(table, column))}(${containsPattern(text)}, ${sql.lit(most + 1)})`.execute(queries);
  return (rows[0]?.n ?? 0) > most;
}
