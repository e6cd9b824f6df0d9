// Substring search on PostgreSQL under row-level security. LIKE is not leakproof, so the planner must not run it before the
// policy and never uses a trigram index for the service role. The look-up is therefore a function of a role that passes the policy
// and reads two tables only; it takes the tenant from the transaction's own setting, as the policy does, and nothing else names a tenant.
// Made by the migrator: a superuser makes the role with BYPASSRLS, and who is none gives it a policy search_rows on the two tables. Not
// both, as release 0.1.0 does not start beside a second policy. Without the functions substring filters scan the tenant.
import { sql } from 'kysely';
import type { Queries } from './database.ts';
import { serviceRole } from './service-role.ts';

/** Owns the look-up functions. Nobody logs in as it and nobody is its member. */
export const searchRole = 'gatehouse_search';

type SearchedTable = 'users' | 'user_emails';

/** The tables with a policy search_rows beside tenant_rows. */
const searchedTables: readonly SearchedTable[] = ['users', 'user_emails'];

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

/** True when the functions and policies are those this release makes, or cannot be made by the current role. */
export async function isTrigramSearchPrepared(queries: Queries): Promise<boolean> {
  const { able, made, bypasses } = await lookAtRole(queries);
  if (!able) return true;
  if (!made) return false;
  const { rows } = await sql<{ name: string; body: string }>`
    SELECT p.proname AS name, p.prosrc AS body FROM pg_proc p
    JOIN pg_roles owner ON owner.oid = p.proowner AND owner.rolname = ${searchRole}
    JOIN pg_roles service ON service.rolname = ${serviceRole} AND has_function_privilege(service.oid, p.oid, 'EXECUTE')
    WHERE p.pronamespace = 'public'::regnamespace AND has_table_privilege(owner.oid, 'public.users', 'SELECT')
      AND has_table_privilege(owner.oid, 'public.user_emails', 'SELECT')`.execute(queries);
  const bodies = new Map(rows.map(({ name, body }) => [name, body]));
  return (
    lookups.every(({ table, column }) => bodies.get(lookupFunction(table, column)) === bodyOf(table, column)) &&
    (bypasses || (await listSearchPolicies(queries)).filter(({ right }) => right).length === searchedTables.length)
  );
}

interface SearchRole {
  /** The tables are there, with the extension, and the current role may make what is to be made. */
  readonly able: boolean;
  readonly made: boolean;
  /** It passes row-level security without a policy. */
  readonly bypasses: boolean;
  /** The current role may let that one make functions in the schema. */
  readonly grants: boolean;
  /** The current role may give functions to it as it is; else it lets itself, for a moment. */
  readonly member: boolean;
  /** What an administrator types for a login that may not. */
  readonly login: string;
  readonly isInstalled: boolean;
}

async function lookAtRole(queries: Queries): Promise<SearchRole> {
  const { rows } = await sql<SearchRole>`
    WITH facts AS (
      SELECT me.rolname AS login, me.rolsuper AS super, me.rolcreaterole AS makes, r.oid AS search, coalesce(r.rolbypassrls, me.rolsuper) AS bypasses, current_setting('server_version_num')::int >= 160000 AS sets,
        has_schema_privilege('public', 'CREATE WITH GRANT OPTION') AS grants, to_regclass('public.user_emails') IS NOT NULL AND EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') AS installed
      FROM pg_roles me LEFT JOIN pg_roles r ON r.rolname = ${searchRole} WHERE me.rolname = current_user)
    SELECT login, search IS NOT NULL AS made, bypasses, grants, installed AS "isInstalled",
      super OR (search IS NOT NULL AND pg_has_role(search, CASE WHEN sets THEN 'SET' ELSE 'MEMBER' END)) AS member,
      installed AND (super OR grants AND CASE WHEN search IS NULL THEN makes
        ELSE pg_has_role(search, CASE WHEN sets THEN 'SET' ELSE 'MEMBER' END) OR (makes AND NOT sets) OR pg_has_role(search, 'MEMBER WITH ADMIN OPTION') END) AS able
    FROM facts`.execute(queries);
  return rows[0]!;
}

/** The policies search_rows there are, and whether each is the one the migrator makes. */
async function listSearchPolicies(queries: Queries): Promise<readonly { readonly table: string; readonly right: boolean }[]> {
  const { rows } = await sql<{ table: string; right: boolean }>`
    SELECT tablename AS table, ${sql.raw(searchPolicyIsRight)} AS right FROM pg_policies
    WHERE schemaname = 'public' AND policyname = 'search_rows'`.execute(queries);
  return rows;
}

/** Of a row of pg_policies: the policy search_rows as it is made below. */
export const searchPolicyIsRight = `(tablename IN (${searchedTables.map((table) => `'${table}'`).join(', ')}) AND policyname = 'search_rows'
  AND permissive = 'PERMISSIVE' AND cmd = 'SELECT' AND roles = '{${searchRole}}' AND qual = 'true')`;

/** EXECUTE plans with the pattern at hand, so that a common one is not looked up by index. */
const bodyOf = (table: SearchedTable, column: string): string =>
  ` BEGIN RETURN QUERY EXECUTE '${lookupQuery(table, column)}' USING current_setting('gatehouse.tenant', true), pattern, most; END `;

/** Makes role, policies and functions, where the current role may and nodes of 0.1.0 that run beside could still start; repeats safely. */
export async function prepareTrigramSearch(queries: Queries, isBesideFirstRelease: boolean): Promise<void> {
  const { able, member, bypasses } = await lookAtRole(queries);
  if (!able || (isBesideFirstRelease && !bypasses)) return;
  const run = async (statement: string): Promise<void> => void (await sql.raw(statement).execute(queries));
  // Roles belong to the server, not to the database: another migrator may make it at this moment.
  await run(`DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${searchRole}') THEN CREATE ROLE ${searchRole} NOLOGIN ${bypasses ? 'BYPASSRLS' : ''}; END IF;
  EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
  END $$`);
  await run(`GRANT USAGE ON SCHEMA public TO ${searchRole}`).catch((cause: unknown) => {
    // Made so lately that this transaction does not know it: the next one does.
    throw new Error(`expected the role ${searchRole}, found none`, { cause });
  });
  await run(`GRANT SELECT ON public.users, public.user_emails TO ${searchRole}`);
  const policies = await listSearchPolicies(queries);
  for (const { table, right } of policies) if (!right) await run(`DROP POLICY search_rows ON public.${table}`);
  for (const table of bypasses ? [] : searchedTables)
    if (!policies.some((policy) => policy.table === table && policy.right))
      await run(`CREATE POLICY search_rows ON public.${table} FOR SELECT TO ${searchRole} USING (true)`);
  // Whoever gives a function away is a member of who gets it, and that one may create in the schema; neither stays.
  if (!member) await run(`GRANT ${searchRole} TO CURRENT_USER`);
  await run(`GRANT CREATE ON SCHEMA public TO ${searchRole}`);
  for (const { table, column } of lookups) {
    const name = `public.${lookupFunction(table, column)}(pattern text, most integer)`;
    await run(`DROP FUNCTION IF EXISTS ${name}`);
    await run(`CREATE FUNCTION ${name} RETURNS TABLE (user_id text, "position" bigint)
      LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 200 SET search_path = pg_catalog, pg_temp AS $$${bodyOf(table, column)}$$`);
    await run(`REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`);
    await run(`GRANT EXECUTE ON FUNCTION ${name} TO ${serviceRole}`);
    await run(`ALTER FUNCTION ${name} OWNER TO ${searchRole}`);
  }
  await run(`REVOKE CREATE ON SCHEMA public FROM ${searchRole}`);
  if (!member) await run(`REVOKE ${searchRole} FROM CURRENT_USER`);
}

const countLookups = sql<number>`(SELECT count(*) FROM unnest(${sql.lit(
  `{${lookups.map(({ table, column }) => lookupFunction(table, column)).join(',')}}`,
)}::text[]) AS name WHERE to_regprocedure('public.' || name || '(text,integer)') IS NOT NULL)::int`;

/** Whether the look-up functions are there. Asked again each time: somebody may migrate while we serve. */
export async function hasTrigramSearch(queries: Queries): Promise<boolean> {
  const { rows } = await sql<{ found: number }>`SELECT ${countLookups} AS found`.execute(queries);
  return rows[0]?.found === lookups.length;
}

export interface MissingLookups {
  readonly names: readonly string[];
  /** Without the extension there is no index to look anything up in. */
  readonly isInstalled: boolean;
}

/** The look-up functions that are not there, on PostgreSQL. */
export async function listMissingLookups(queries: Queries): Promise<MissingLookups> {
  const { isInstalled } = await lookAtRole(queries);
  const names: string[] = [];
  for (const { table, column } of lookups) {
    const name = lookupFunction(table, column);
    const { rows } = await sql<{ found: boolean }>`SELECT to_regprocedure(${`public.${name}(text,integer)`}) IS NOT NULL AS found`.execute(
      queries,
    );
    if (rows[0]?.found !== true) names.push(name);
  }
  return { names, isInstalled };
}

/** What is to be done for the look-up functions, when they could not be made yet. */
export async function searchAdvice(queries: Queries): Promise<string | undefined> {
  const { able, made, grants, isInstalled, login } = await lookAtRole(queries);
  if (!isInstalled || (await listMissingLookups(queries)).names.length === 0) return undefined;
  const slow = 'searching by a part of a name reads the whole tenant';
  if (able) return `${slow}, until gatehouse migrate runs again, when no node of 0.1.0 runs any more`;
  const schema = grants ? '' : ` GRANT CREATE, USAGE ON SCHEMA public TO "${login}" WITH GRANT OPTION;`;
  const statements = `${made ? '' : `CREATE ROLE ${searchRole} NOLOGIN; `}GRANT ${searchRole} TO "${login}";${schema}`;
  return `${slow}: expected a login that may ${made ? 'be granted' : 'create'} the role ${searchRole}, found ${login}. Run as a superuser: ${statements} Then again: gatehouse migrate`;
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
