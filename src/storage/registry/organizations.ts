// The organisations of a tenant as requests name them, and what its sign-ins and tokens must know of all of them.
import { sql } from 'kysely';
import { organizationRolesMax } from '../../contract/limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import { type Organization, organizationKind } from '../../domain/organizations/organization.ts';
import { organizationReference, type TenantOrganizations } from '../../domain/organizations/tenant-organizations.ts';
import type { Queries } from '../engine/database.ts';
import { rowsOf } from './kind-rows.ts';

const rows = rowsOf(organizationKind);

/** The id of an enabled organisation that a request names by its id or name. */
export async function findOrganizationId(queries: Queries, tenant: TenantId, asked: string): Promise<string | undefined> {
  const named = organizationReference(asked);
  if (named === undefined) return undefined;
  const [column, value] = 'id' in named ? (['id', named.id] as const) : (['name', named.name] as const);
  const row = await queries
    .selectFrom('organizations')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where(column, '=', value)
    .where('enabled', '=', 1)
    .executeTakeFirst();
  return row?.id;
}

export const findOrganization = rows.find;

/** The one of that id or name. */
export const findNamedOrganization = async (queries: Queries, tenant: TenantId, named: string): Promise<Organization | undefined> =>
  (await rows.find(queries, tenant, named)) ?? rows.findBy(queries, tenant, 'name', named);

/** An enabled organisation, as sign-ins for it know it. */
export async function findSignInOrganization(queries: Queries, tenant: TenantId, id: string): Promise<Organization | undefined> {
  const found = await rows.find(queries, tenant, id);
  return found?.enabled === true ? found : undefined;
}

/** In one statement, for whoever loads a tenant. */
export async function readTenantOrganizations(queries: Queries, tenant: TenantId): Promise<TenantOrganizations> {
  const { rows } = await sql<{ name: string | null; scopes: string | null }>`
    SELECT NULL AS name, NULL AS scopes FROM tenants WHERE tenant_id = ${tenant} AND EXISTS (SELECT 1 FROM organizations WHERE tenant_id = ${tenant})
    UNION ALL SELECT name, scopes FROM organization_roles WHERE tenant_id = ${tenant} LIMIT ${organizationRolesMax + 1}`.execute(queries);
  const roles = rows.flatMap(({ name, scopes }) =>
    name === null ? [] : [[name, JSON.parse(scopes ?? '[]') as readonly string[]] as const],
  ); // stored so
  return { exist: rows.length > roles.length, scopesOfRoles: new Map(roles) };
}

/** Whether the pages of some organisation show a picture, by its name, which has no character that a pattern knows. */
export async function showsInOrganization(queries: Queries, tenant: TenantId, sha256: string): Promise<boolean> {
  const row = await queries
    .selectFrom('organizations')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('branding', 'like', `%"${sha256}"%`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
