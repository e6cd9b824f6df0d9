// The roles a tenant adds: which of some names there are, and their deletion. The rest is of every kind (kind-rows.ts); who holds them
// is in people/user-roles.ts.
import type { TenantId } from '../../domain/ids.ts';
import { type Role, type roleFields, roleKind } from '../../domain/people/role.ts';
import type { Queries } from '../engine/database.ts';
import { type KindTable, rowsOf } from './kind-rows.ts';

export type RoleTable = Omit<KindTable<typeof roleFields>, 'id'>;

export const roles = rowsOf(roleKind);

/** Those of these names that the tenant added. */
export const listRolesByName = (queries: Queries, tenant: TenantId, names: readonly string[]): Promise<readonly Role[]> =>
  names.length === 0 ? Promise.resolve([]) : roles.findAny(queries, tenant, { ids: names, key: 'name', values: [] });

/** Deletes a role that nobody holds: `held` when somebody does. */
export async function deleteRole(queries: Queries, tenant: TenantId, name: string): Promise<'deleted' | 'held' | 'unknown'> {
  // The row is written first: whoever gives the role at this moment is waited for, and seen by the statement below.
  if ((await roles.hold(queries, tenant, name)) === undefined) return 'unknown';
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
