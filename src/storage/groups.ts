// Groups and their members (users only). `origin` tells who manages a group: the console's are invisible to SCIM.
import type { GroupId, TenantId, UserId } from '../domain/ids.ts';
import type { Queries } from './database.ts';

export interface GroupTable {
  tenant_id: TenantId;
  id: GroupId;
  display_name: string;
  display_name_key: string;
  /** console | scim */
  origin: string;
  external_id: string | null;
  version: number;
  created_at: number;
  updated_at: number;
}

export interface GroupMemberTable {
  tenant_id: TenantId;
  group_id: GroupId;
  user_id: UserId;
  created_at: number;
}

/** Display names of the groups a user is in. */
export async function listGroupNamesOfUser(queries: Queries, tenant: TenantId, user: UserId): Promise<readonly string[]> {
  const rows = await queries
    .selectFrom('group_members as m')
    .innerJoin('groups as g', (join) => join.onRef('g.tenant_id', '=', 'm.tenant_id').onRef('g.id', '=', 'm.group_id'))
    .select('g.display_name')
    .where('m.tenant_id', '=', tenant)
    .where('m.user_id', '=', user)
    .execute();
  return rows.map((row) => row.display_name);
}
