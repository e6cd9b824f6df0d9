// The deletion of a role of organisations, which waits for nobody who holds it, and for no organisation that gives it to who joins. The rest is of every kind (kind-rows.ts).
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import { organizationRoleKind } from '../../domain/organizations/organization-role.ts';
import type { Queries } from '../engine/database.ts';
import { rowsOf } from './kind-rows.ts';

const rows = rowsOf(organizationRoleKind);

/** Deletes a role that no member holds, and whoever joins gets nowhere: `held` when that is not so. */
export async function deleteOrganizationRole(queries: Queries, tenant: TenantId, name: string): Promise<'deleted' | 'held' | 'unknown'> {
  // The row is written first: whoever gives the role at this moment is waited for, and seen by the statement below.
  if ((await rows.hold(queries, tenant, name)) === undefined) return 'unknown';
  // A name has no character that a pattern knows.
  const names = (column: string) => sql<boolean>`${sql.ref(column)} LIKE ${`%"${name}"%`}`;
  const held = await queries
    .selectFrom('organization_members')
    .select('user_id')
    .where('tenant_id', '=', tenant)
    .where(names('roles'))
    .limit(1)
    .executeTakeFirst();
  if (held !== undefined) return 'held';
  const gives = queries.selectFrom('organizations').select('id').where('tenant_id', '=', tenant).where(names('default_roles')).limit(1);
  if ((await gives.executeTakeFirst()) !== undefined) return 'held';
  await rows.remove(queries, tenant, name);
  return 'deleted';
}
