// The start-up check that PostgreSQL keeps tenants apart even when a query of ours forgets to (R5), read from its catalog.
// Called before serving; the migrator is what sets all of it up.
import { sql } from 'kysely';
import type { Database, Queries } from './database.ts';
import { serviceRole } from './service-role.ts';
import { searchPolicyIsRight, searchRole } from './trigram-search.ts';

const serverVersionMin = 150_000;

/** What is wrong with the role or the tables as "expected …, found …", or undefined when row-level security holds. */
export async function findRowSecurityFault(database: Database): Promise<string | undefined> {
  return database.systemRead(async (queries) => (await findRoleFault(queries)) ?? (await findTableFault(queries)));
}

async function findRoleFault(queries: Queries): Promise<string | undefined> {
  const { rows } = await sql<{
    version: number;
    role: string;
    superuser: boolean;
    bypass: boolean;
    searches: boolean;
    owned: string | null;
  }>`
    SELECT current_setting('server_version_num')::int AS version, rolname AS role, rolsuper AS superuser, rolbypassrls AS bypass,
      EXISTS (SELECT FROM pg_roles search WHERE search.rolname = ${searchRole} AND pg_has_role(search.oid, 'MEMBER')) AS searches,
      (SELECT min(c.relname) FROM pg_class c
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND pg_has_role(current_user, c.relowner, 'MEMBER')) AS owned
    FROM pg_roles WHERE rolname = current_user`.execute(queries);
  const { version, role, superuser, bypass, searches, owned } = rows[0]!;
  if (version < serverVersionMin) return `expected PostgreSQL 15 or newer, found ${Math.floor(version / 10_000)}`;
  if (superuser) return `expected a role without SUPERUSER, found ${role}`;
  if (bypass) return `expected a role without BYPASSRLS, found ${role}`;
  if (searches) return `expected a role that is no member of ${searchRole}, found ${role}`;
  if (owned !== null) return `expected a role that owns no table, found ${role} as an owner of ${owned}`;
  return undefined;
}

/** Tables that have a tenant_id column and are read before a tenant is known. */
export const crossTenantTables: readonly string[] = ['tenants', 'config_epochs'];

/** The queues of deliveries, and the column that names a tenant. Who has set no tenant sees all of them: it claims what is due of everybody. */
export const queueTables: Readonly<Record<string, string>> = {
  outbox_messages: 'tenant_id',
  push_messages: 'tenant_id',
  ciba_deliveries: 'tenant_id',
  logout_notices: 'tenant_id',
  webhook_queue: 'tenant',
  ssf_queue: 'tenant',
};

export interface TableSecurity {
  readonly table: string;
  /** The current role may change it. */
  readonly isOurs: boolean;
  /** It has a tenant_id column, or is a queue. */
  readonly ofTenants: boolean;
  readonly enabled: boolean;
  readonly forced: boolean;
  /** How many policies there are beside tenant_rows and the search_rows of two tables. */
  readonly others: number;
  /** There is a policy tenant_rows, and it is the one the migrator makes. */
  readonly named: boolean;
  readonly right: boolean;
  /** What the service role may do. `some` when it has one of the rights to write and not the others. */
  readonly mayRead: boolean;
  readonly mayWrite: 'all' | 'some' | 'none';
}

/** As PostgreSQL prints the conditions the migrator wrote. */
const ownRows = "(tenant_id = current_setting('gatehouse.tenant'::text, true))";
const queueRows = (tenant: string): string =>
  `CASE WHEN (COALESCE(current_setting('gatehouse.tenant'::text, true), ''::text) = ''::text) THEN true ELSE (${tenant} = current_setting('gatehouse.tenant'::text, true)) END`;

/** What the catalog says of every table, in one statement that waits for nobody. */
export async function listTables(queries: Queries): Promise<readonly TableSecurity[]> {
  const { rows } = await sql<Omit<TableSecurity, 'right'> & { readonly condition: string | null }>`
    SELECT c.relname AS table, pg_has_role(current_user, c.relowner, 'MEMBER') AS "isOurs", c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced,
      EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped) AS "ofTenants",
      (SELECT count(*) FROM pg_policies WHERE schemaname = 'public' AND tablename = c.relname AND policyname <> 'tenant_rows' AND NOT ${sql.raw(searchPolicyIsRight)})::int AS others,
      EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'tenant_rows') AS named,
      (SELECT p.qual FROM pg_policies p WHERE p.schemaname = 'public' AND p.tablename = c.relname AND p.policyname = 'tenant_rows'
       AND p.permissive = 'PERMISSIVE' AND p.cmd = 'ALL' AND p.roles = '{public}' AND p.qual = p.with_check) AS condition,
      coalesce(has_table_privilege(r.oid, c.oid, 'SELECT'), false) AS "mayRead",
      CASE WHEN has_table_privilege(r.oid, c.oid, 'INSERT') AND has_table_privilege(r.oid, c.oid, 'UPDATE') AND has_table_privilege(r.oid, c.oid, 'DELETE')
       THEN 'all' WHEN has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE') THEN 'some' ELSE 'none' END AS "mayWrite"
    FROM pg_class c LEFT JOIN pg_roles r ON r.rolname = ${serviceRole}
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
    ORDER BY c.relname`.execute(queries);
  return rows.map(({ condition, ofTenants, ...row }) => {
    const column = queueTables[row.table];
    return {
      ...row,
      ofTenants: ofTenants || column !== undefined,
      right: condition?.replaceAll(/\s+/g, ' ').trim() === (column === undefined ? ownRows : queueRows(column)),
    };
  });
}

async function findTableFault(queries: Queries): Promise<string | undefined> {
  const guarded = (await listTables(queries)).filter(({ table, ofTenants }) => ofTenants && !crossTenantTables.includes(table));
  if (guarded.length === 0) return 'expected tables of tenants, found none';
  const open = guarded.find((row) => !row.enabled || !row.forced);
  if (open !== undefined) return `expected FORCE ROW LEVEL SECURITY on every table of tenants, found none on ${open.table}`;
  const loose = guarded.find((row) => row.others > 0 || !row.right);
  return loose === undefined
    ? undefined
    : `expected the policy tenant_rows alone on every table of tenants, found other policies on ${loose.table}`;
}
