// Who passes the access gate of a client or service provider whose policy is `assigned`: users directly or through a group.
import { sql } from 'kysely';
import type { GroupId, TenantId, UserId } from '../domain/ids.ts';
import type { Queries } from './database.ts';

export interface AccessAssignmentTable {
  tenant_id: TenantId;
  id: string;
  /** client | service_provider */
  target_kind: string;
  target_id: string;
  user_id: UserId | null;
  group_id: GroupId | null;
  created_at: number;
}

export interface AccessTarget {
  readonly kind: 'client' | 'service_provider';
  readonly id: string;
}

/** True when the user is assigned to the target, directly or through a group. */
export async function isAssigned(queries: Queries, tenant: TenantId, target: AccessTarget, user: UserId): Promise<boolean> {
  const row = await queries
    .selectFrom('access_assignments as a')
    .leftJoin('group_members as m', (join) =>
      join.onRef('m.tenant_id', '=', 'a.tenant_id').onRef('m.group_id', '=', 'a.group_id').on('m.user_id', '=', user),
    )
    .select(sql<number>`1`.as('one'))
    .where('a.tenant_id', '=', tenant)
    .where('a.target_kind', '=', target.kind)
    .where('a.target_id', '=', target.id)
    .where((eb) => eb.or([eb('a.user_id', '=', user), eb('m.user_id', '=', user)]))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
