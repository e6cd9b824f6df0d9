// Substring search on PostgreSQL under row-level security. LIKE is not leakproof, so the planner must not run it before the
// policy and never uses a trigram index for the service role. The look-up is therefore a function of a role that bypasses the
// policy and reads two tables only; it takes the tenant from the transaction's own setting, as the policy does, and nothing
// else names a tenant. Made by the migrator when a superuser runs it; without it substring filters scan the tenant.
import { sql } from 'kysely';
import type { Queries } from './database.ts';
import { serviceRole } from './service-role.ts';

/** Owns the look-up functions. Nobody logs in as it and nobody is its member. */
const searchRole = 'gatehouse_search';

type SearchedTable = 'users' | 'user_emails';

const lookups: readonly { readonly table: SearchedTable; readonly column: string; readonly key: string }[] = [
  ...['user_name_key', 'display_name_key', 'given_name_key', 'family_name_key'].map((column) => ({
    table: 'users' as const,
    column,
    key: 'id, 0::bigint',
  })),
  { table: 'user_emails', column: 'value_key', key: 'user_id, position' },
];

/** Finds `user_id` and `position` of rows of the transaction's tenant: parameters are a LIKE pattern and how many at most. */
export function lookupFunction(table: SearchedTable, column: string): string {
  return `gatehouse_${table}_with_${column}`;
}

/** The query inside a look-up function: $1 the tenant, $2 the pattern, $3 how many at most. */
export function lookupQuery(table: SearchedTable, column: string): string {
  const { key } = lookups.find((lookup) => lookup.table === table && lookup.column === column)!;
  return `SELECT ${key} FROM public.${table} WHERE tenant_id = $1 AND ${column} LIKE $2 LIMIT $3`;
}

/** The LIKE pattern of "contains this text". */
export function containsPattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
}

/** True when the functions are those this release makes, or cannot be made by the current role. */
export async function isTrigramSearchPrepared(queries: Queries): Promise<boolean> {
  if (!(await canPrepare(queries))) return true;
  const { rows } = await sql<{ name: string; body: string }>`
    SELECT p.proname AS name, p.prosrc AS body FROM pg_proc p
    JOIN pg_roles owner ON owner.oid = p.proowner AND owner.rolname = ${searchRole}
    JOIN pg_roles service ON service.rolname = ${serviceRole} AND has_function_privilege(service.oid, p.oid, 'EXECUTE')
    WHERE p.pronamespace = 'public'::regnamespace AND has_table_privilege(owner.oid, 'public.users', 'SELECT')`.execute(queries);
  const bodies = new Map(rows.map(({ name, body }) => [name, body]));
  return lookups.every(({ table, column }) => bodies.get(lookupFunction(table, column)) === bodyOf(table, column));
}

async function canPrepare(queries: Queries): Promise<boolean> {
  const { rows } = await sql<{ able: boolean }>`
    SELECT rolsuper AND to_regclass('public.user_emails') IS NOT NULL AND EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') AS able
    FROM pg_roles WHERE rolname = current_user`.execute(queries);
  return rows[0]?.able === true;
}

/** EXECUTE plans with the pattern at hand, so that a common one is not looked up by index. */
const bodyOf = (table: SearchedTable, column: string): string =>
  ` BEGIN RETURN QUERY EXECUTE '${lookupQuery(table, column)}' USING current_setting('gatehouse.tenant', true), pattern, most; END `;

/** Makes the role and the functions when a superuser migrates; repeats safely. */
export async function prepareTrigramSearch(queries: Queries): Promise<void> {
  if (!(await canPrepare(queries))) return;
  const run = async (statement: string): Promise<void> => void (await sql.raw(statement).execute(queries));
  // Roles belong to the server, not to the database: another migrator may make it at this moment.
  await run(`DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${searchRole}') THEN CREATE ROLE ${searchRole} NOLOGIN BYPASSRLS; END IF;
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
  END $$`);
  await run(`GRANT USAGE ON SCHEMA public TO ${searchRole}`).catch((cause: unknown) => {
    // Made so lately that this transaction does not know it: the next one does.
    throw new Error(`expected the role ${searchRole}, found none`, { cause });
  });
  await run(`GRANT SELECT ON public.users, public.user_emails TO ${searchRole}`);
  for (const { table, column } of lookups) {
    const name = `public.${lookupFunction(table, column)}(pattern text, most integer)`;
    await run(`CREATE OR REPLACE FUNCTION ${name} RETURNS TABLE (user_id text, "position" bigint)
      LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 200 SET search_path = pg_catalog, pg_temp AS $$${bodyOf(table, column)}$$`);
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
  table: SearchedTable,
  column: string,
  text: string,
  most: number,
): Promise<boolean> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM ${sql.ref(lookupFunction(table, column))}(${containsPattern(text)}, ${sql.lit(most + 1)})`.execute(queries);
  return (rows[0]?.n ?? 0) > most;
}
