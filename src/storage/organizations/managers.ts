// Who manages an organisation (design 19): members who hold a role with `manage`. What a member may not do is take the last of them
// away, which the statement that takes one decides.
import { type RawBuilder, sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { idAmong } from '../engine/rows/id-list.ts';

/** Whether a membership with these roles manages; `roles` is a column or a value of JSON text. */
const manages = (tenant: TenantId, roles: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`EXISTS (SELECT 1 FROM organization_roles WHERE tenant_id = ${tenant} AND manage = 1 AND ${roles} LIKE '%"' || name || '"%')`; // a name has no character that a pattern knows

/** In a statement about `organization_members`: whether somebody manages the organisation when this row is gone, or has these roles. */
export function leavesManager(tenant: TenantId, organization: string, roles = '[]'): RawBuilder<boolean> {
  const row = sql.ref('organization_members.roles');
  const another = sql`SELECT 1 FROM organization_members AS o JOIN users AS u ON u.tenant_id = o.tenant_id AND u.id = o.user_id AND u.state = 'active'
    WHERE o.tenant_id = ${tenant} AND o.organization_id = ${organization} AND o.suspended = 0 AND o.user_id <> ${sql.ref('organization_members.user_id')} AND ${manages(tenant, sql.ref('o.roles'))}`;
  return sql<boolean>`(NOT ${manages(tenant, row)} OR ${manages(tenant, sql`CAST(${roles} AS text)`)} OR EXISTS (${another}))`;
}

/** Whether an active person manages an organisation, by the columns that name both. */
export const isManagedBy = (tenant: TenantId, organization: RawBuilder<unknown>, user: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`EXISTS (SELECT 1 FROM organization_members AS o JOIN users AS u ON u.tenant_id = o.tenant_id AND u.id = o.user_id AND u.state = 'active'
    WHERE o.tenant_id = ${tenant} AND o.organization_id = ${organization} AND o.suspended = 0 AND o.user_id = ${user} AND ${manages(tenant, sql.ref('o.roles'))})`;

/** Whether somebody manages an organisation, suspended there or not. */
export const managesAny = (tenant: TenantId, user: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`EXISTS (SELECT 1 FROM organization_members AS m WHERE m.tenant_id = ${tenant} AND m.user_id = ${user} AND ${manages(tenant, sql.ref('m.roles'))})`;

/** Those of these people who manage an organisation, suspended there or not. */
export async function listManagersAmong(queries: Queries, tenant: TenantId, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await queries
    .selectFrom('organization_members as m')
    .select('m.user_id')
    .distinct()
    .where('m.tenant_id', '=', tenant)
    .where(idAmong(queries, 'm.user_id', ids))
    .where(manages(tenant, sql.ref('m.roles')))
    .execute();
  return new Set(rows.map((row) => row.user_id));
}

/** An organisation that is enabled, as who manages it sees it. */
export interface ManagedOrganization {
  readonly id: string;
  readonly name: string;
  readonly displayName: string | undefined;
  readonly members: number;
}

/** The organisation of an id, for a person who manages it now; undefined for everybody else, and while it is disabled. */
export async function findManaged(
  queries: Queries,
  tenant: TenantId,
  organization: string,
  user: string,
): Promise<ManagedOrganization | undefined> {
  const row = await queries
    .selectFrom('organization_members as m')
    .innerJoin('organizations as o', (join) => join.onRef('o.tenant_id', '=', 'm.tenant_id').onRef('o.id', '=', 'm.organization_id'))
    .select(['o.id', 'o.name', 'o.display_name', 'o.members'])
    .where('m.tenant_id', '=', tenant)
    .where('m.organization_id', '=', organization)
    .where(sql<boolean>`m.user_id = ${user}`)
    .where('o.enabled', '=', 1)
    .where('m.suspended', '=', 0)
    .where(manages(tenant, sql.ref('m.roles')))
    .executeTakeFirst();
  return row && { id: row.id, name: row.name, displayName: row.display_name ?? undefined, members: row.members };
}

/** The roles of the tenant that let whoever holds them manage. */
export async function listManagingRoles(queries: Queries, tenant: TenantId): Promise<ReadonlySet<string>> {
  const rows = await queries
    .selectFrom('organization_roles')
    .select('name')
    .where('tenant_id', '=', tenant)
    .where('manage', '=', 1)
    .execute();
  return new Set(rows.map(({ name }) => name));
}

/** A role as whoever gives it chooses it. */
export interface GivenRole {
  readonly name: string;
  readonly description: string | undefined;
  readonly manages: boolean;
}

/** The roles of the tenant, by name. */
export async function listGivenRoles(queries: Queries, tenant: TenantId, limit: number): Promise<readonly GivenRole[]> {
  const rows = await queries
    .selectFrom('organization_roles')
    .select(['name', 'description', 'manage'])
    .where('tenant_id', '=', tenant)
    .orderBy('name')
    .limit(limit)
    .execute();
  return rows.map(({ name, description, manage }) => ({ name, description: description ?? undefined, manages: manage === 1 }));
}
