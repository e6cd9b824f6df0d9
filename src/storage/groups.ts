// Groups and their members (users only). `origin` tells who manages a group: the console's are invisible to SCIM.
import type { GroupId, TenantId, UserId } from '../domain/ids.ts';

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
