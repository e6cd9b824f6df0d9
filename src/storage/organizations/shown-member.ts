// One member of an organisation, as whoever manages it sees them.
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';

export interface ShownMember {
  readonly userId: UserId;
  readonly userName: string | null;
  readonly displayName: string | null;
  readonly roles: readonly string[];
}

export async function findShownMember(
  queries: Queries,
  tenant: TenantId,
  organization: string,
  user: string,
): Promise<ShownMember | undefined> {
  const row = await queries
    .selectFrom('organization_members as m')
    .innerJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'm.tenant_id').onRef('u.id', '=', 'm.user_id'))
    .select(['m.user_id', 'm.roles', 'u.user_name', 'u.display_name'])
    .where('m.tenant_id', '=', tenant)
    .where('m.organization_id', '=', organization)
    .where('m.user_id', '=', user as UserId) // a look-up key, not yet known to be an id
    .executeTakeFirst();
  return row && { userId: row.user_id, userName: row.user_name, displayName: row.display_name, roles: JSON.parse(row.roles) };
}
