// Roles, rights and row-level security of the tables on PostgreSQL (R5), put right where they differ and nowhere else: each
// statement here would hold everybody up for a moment. row-security.ts is the check that a start makes of it.
import { sql } from 'kysely';
import type { Queries } from '../database.ts';
import { crossTenantTables, listTables, queueTables, type TableSecurity } from '../row-security.ts';
import { serviceRole } from '../service-role.ts';
import { searchRole } from '../trigram-search.ts';
import { ledgers } from './ledger.ts';

/** Makes the service role and lets the current login switch to it; says what an administrator must type when it may not. */
export async function prepareServiceRole(queries: Queries): Promise<void> {
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
  // Asked of the role once it is there: the schema of a new database is everybody's to use, in the first one of a server too.
  const uses = await sql<{ uses: boolean }>`SELECT has_schema_privilege(${serviceRole}, 'public', 'USAGE') AS uses`.execute(queries);
  if (uses.rows[0]?.uses !== true) await sql.raw(`GRANT USAGE ON SCHEMA public TO ${serviceRole}`).execute(queries);
}

const namesShownMax = 5;

/** The tables and functions of ours that the current role does not own, in words, and so can neither change nor repair. */
export async function findOwnerFault(queries: Queries): Promise<string | undefined> {
  const tables = (await listTables(queries)).filter(
    ({ table, isOurs, ofTenants, mayWrite }) => !isOurs && (ofTenants || mayWrite !== 'none' || ledgers.includes(table)),
  );
  const { rows } = await sql<{ login: string; functions: readonly string[] }>`
    SELECT current_user AS login, ARRAY(SELECT p.proname::text FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.proname LIKE 'gatehouse\\_%'
      AND NOT pg_has_role(p.proowner, 'MEMBER') AND pg_get_userbyid(p.proowner) <> ${searchRole} ORDER BY 1) AS functions`.execute(queries);
  const { login, functions } = rows[0]!;
  const names = [...tables.map(({ table }) => table), ...functions];
  if (names.length === 0) return undefined;
  const more = names.length > namesShownMax ? ` and ${names.length - namesShownMax} more` : '';
  return `expected every table to be ${login}'s, found ${names.length} of another owner: ${names.slice(0, namesShownMax).join(', ')}${more}`;
}

/** True when the role is there, may use the schema, and no table of ours lacks a right or its policy. */
export async function areRightsInPlace(queries: Queries): Promise<boolean> {
  const { rows } = await sql<{ ready: boolean }>`
    SELECT pg_has_role(current_user, oid, 'MEMBER') AND has_schema_privilege(oid, 'public', 'USAGE')
      AND to_regprocedure('gatehouse_now_ms()') IS NOT NULL AS ready
    FROM pg_roles WHERE rolname = ${serviceRole}`.execute(queries);
  return rows[0]?.ready === true && (await listRepairs(queries)).length === 0;
}

/** Row-level security on every table of tenants, and the service role's rights. */
export async function repairTables(queries: Queries): Promise<void> {
  const repairs = await listRepairs(queries);
  if (repairs.length > 0) await sql.raw(repairs.join(';\n')).execute(queries); // in one message
}

async function listRepairs(queries: Queries): Promise<readonly string[]> {
  return (await listTables(queries)).filter(({ isOurs }) => isOurs).flatMap((table) => [...grantsOf(table), ...securityOf(table)]);
}

function grantsOf({ table, mayRead, mayWrite }: TableSecurity): readonly string[] {
  const readOnly = ledgers.includes(table);
  if (readOnly && mayWrite !== 'none') return [`REVOKE INSERT, UPDATE, DELETE ON "${table}" FROM ${serviceRole}`];
  if (readOnly) return mayRead ? [] : [`GRANT SELECT ON "${table}" TO ${serviceRole}`];
  return mayRead && mayWrite === 'all' ? [] : [`GRANT SELECT, INSERT, UPDATE, DELETE ON "${table}" TO ${serviceRole}`];
}

const currentTenant = `current_setting('gatehouse.tenant', true)`;

/**
 * Of whose rows a transaction has a table: its tenant's; a queue also of everybody's where it has set no tenant. A CASE, of which the planner
 * takes half of the rows to come through: of an OR it takes next to none, and then a claim sorts all that is due instead of walking an index.
 */
function rowsOf(table: string): string {
  const column = queueTables[table];
  return column === undefined
    ? `tenant_id = ${currentTenant}`
    : `CASE WHEN coalesce(${currentTenant}, '') = '' THEN true ELSE ${column} = ${currentTenant} END`;
}

function securityOf({ table, ofTenants, enabled, forced, named, right }: TableSecurity): readonly string[] {
  if (!ofTenants || crossTenantTables.includes(table)) return [];
  return [
    ...(enabled ? [] : [`ALTER TABLE "${table}" ENABLE ROW LEVEL SECURITY`]),
    ...(forced ? [] : [`ALTER TABLE "${table}" FORCE ROW LEVEL SECURITY`]),
    ...(right || !named ? [] : [`DROP POLICY tenant_rows ON "${table}"`]),
    ...(right ? [] : [`CREATE POLICY tenant_rows ON "${table}" USING (${rowsOf(table)}) WITH CHECK (${rowsOf(table)})`]),
  ];
}
