// The roles a tenant adds: rows to and from the domain's Role. Who holds them is in people/user-roles.ts.
import type { TenantId } from '../../domain/ids.ts';
import { type Role, type RoleValues, roleFields } from '../../domain/people/role.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import type { Page } from '../engine/matching-rows.ts';
import { fromRow, type RowOf, toCells, toRow } from '../engine/row-codec.ts';

export interface RoleTable extends RowOf<typeof roleFields> {
  tenant_id: TenantId;
  created_at: number;
  updated_at: number;
}

/** Inserts a role; undefined when the name is taken. */
export async function insertRole(queries: Queries, tenant: TenantId, values: RoleValues): Promise<Role | undefined> {
  const row = await queries
    .insertInto('roles')
    .values({ ...toRow(roleFields, values), tenant_id: tenant, created_at: databaseNowMs, updated_at: databaseNowMs })
    .onConflict((on) => on.doNothing())
    .returningAll()
    .executeTakeFirst();
  return row && roleFromRow(row);
}

export async function findRole(queries: Queries, tenant: TenantId, name: string): Promise<Role | undefined> {
  const row = await queries.selectFrom('roles').selectAll().where('tenant_id', '=', tenant).where('name', '=', name).executeTakeFirst();
  return row && roleFromRow(row);
}

/** Those of these names that the tenant added. */
export async function listRolesByName(queries: Queries, tenant: TenantId, names: readonly string[]): Promise<readonly Role[]> {
  if (names.length === 0) return [];
  const rows = await queries.selectFrom('roles').selectAll().where('tenant_id', '=', tenant).where('name', 'in', names).execute();
  return rows.map(roleFromRow);
}

/** A page of roles in order of their names. */
export async function listRoles(queries: Queries, tenant: TenantId, page: Page): Promise<readonly Role[]> {
  const rows = await queries
    .selectFrom('roles')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('name', '>', page.after)
    .orderBy('name')
    .limit(page.limit)
    .execute();
  return rows.map(roleFromRow);
}

/** Writes the values a change names. */
export async function updateRole(queries: Queries, tenant: TenantId, name: string, change: Partial<RoleValues>): Promise<Role | undefined> {
  const row = await queries
    .updateTable('roles')
    .set({ ...toCells(roleFields, change), updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('name', '=', name)
    .returningAll()
    .executeTakeFirst();
  return row && roleFromRow(row);
}

/** Deletes a role that nobody holds: `held` when somebody does. */
export async function deleteRole(queries: Queries, tenant: TenantId, name: string): Promise<'deleted' | 'held' | 'unknown'> {
  // The row is written first: whoever gives the role at this moment is waited for, and seen by the statement below.
  if ((await updateRole(queries, tenant, name, {})) === undefined) return 'unknown';
  const rows = await queries
    .deleteFrom('roles')
    .where('tenant_id', '=', tenant)
    .where('name', '=', name)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('user_roles').select('user_id').where('tenant_id', '=', tenant).where('custom_role', '=', name))),
    )
    .returning('name')
    .execute();
  return rows.length === 1 ? 'deleted' : 'held';
}

const roleFromRow = (row: RoleTable): Role => ({
  ...fromRow(roleFields, row),
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
});
