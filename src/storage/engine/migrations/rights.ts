// Roles, rights and row-level security of the tables on PostgreSQL (R5), put right where they differ and nowhere else: each
// statement here would hold everybody up for a moment. row-security.ts is the check that a start makes of it.
import { sql } from 'kysely';
import type { Queries } from '../database.ts';
import { crossTenantTables, listTables, type TableSecurity } from '../row-security.ts';
import { serviceRole } from '../service-role.ts';
import { ledgers } from './ledger.ts';

/** Makes the service role and lets the current login switch to it; says what an administrator must type when it may not. */
export async function prepareServiceRole(queries: Queries): Promise<void> {
  const { rows } = await sql<{ login: string; exists: boolean; member: boolean; uses: boolean }>`
    SELECT current_user AS login, r.oid IS NOT NULL AS exists, r.oid IS NOT NULL AND pg_has_role(current_user, r.oid, 'MEMBER') AS member,
      r.oid IS NOT NULL AND has_schema_privilege(r.oid, 'public', 'USAGE') AS uses
    FROM (SELECT) one LEFT JOIN pg_roles r ON r.rolname = ${serviceRole}`.execute(queries);
  const { login, exists, member, uses } = rows[0]!;
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
  if (!uses) await sql.raw(`GRANT USAGE ON SCHEMA public TO ${serviceRole}`).execute(queries);
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
  for (const statement of await listRepairs(queries)) await sql.raw(statement).execute(queries);
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

const ownRows = `tenant_id = current_setting('gatehouse.tenant', true)`;

function securityOf({ table, ofTenants, enabled, forced, named, right }: TableSecurity): readonly string[] {
  if (!ofTenants || crossTenantTables.includes(table)) return [];
  return [
    ...(enabled ? [] : [`ALTER TABLE "${table}" ENABLE ROW LEVEL SECURITY`]),
    ...(forced ? [] : [`ALTER TABLE "${table}" FORCE ROW LEVEL SECURITY`]),
    ...(right || !named ? [] : [`DROP POLICY tenant_rows ON "${table}"`]),
    ...(right ? [] : [`CREATE POLICY tenant_rows ON "${table}" USING (${ownRows}) WITH CHECK (${ownRows})`]),
  ];
}
