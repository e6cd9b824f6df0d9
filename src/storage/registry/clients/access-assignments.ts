// Who passes the access gate of a client, service provider or resource whose policy is `assigned`: users directly or through a group.
import { sql } from 'kysely';
import { spellingsOf } from '../../../domain/client/resource.ts';
import type { GroupId, TenantId, UserId } from '../../../domain/ids.ts';
import type { Queries } from '../../engine/database.ts';
import { databaseNowMs } from '../../engine/instance.ts';
import type { Page } from '../../engine/rows/matching-rows.ts';

export interface AccessAssignmentTable {
  tenant_id: TenantId;
  id: string;
  /** client | service_provider | resource */
  target_kind: string;
  target_id: string;
  user_id: UserId | null;
  group_id: GroupId | null;
  created_at: number;
}

export type AccessAssignment = Readonly<AccessAssignmentTable>;

export interface AccessTarget {
  readonly kind: 'client' | 'service_provider' | 'resource';
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

/** Whether the user may reach a resource by clients that nobody registered. None at all is for everybody. */
export async function mayReach(queries: Queries, tenant: TenantId, identifier: string | undefined, user: UserId): Promise<boolean> {
  if (identifier === undefined) return true;
  const resource = await queries
    .selectFrom('resources')
    .select(['id', 'clients', 'unknown_access_policy'])
    .where('tenant_id', '=', tenant)
    .where('identifier', 'in', spellingsOf(identifier))
    .executeTakeFirst();
  if (resource?.clients !== 'any') return false;
  return resource.unknown_access_policy === 'everyone' || isAssigned(queries, tenant, { kind: 'resource', id: resource.id }, user);
}

/** Assigns a user or a group to a target; undefined when it is assigned already. */
export async function insertAssignment(
  queries: Queries,
  tenant: TenantId,
  target: AccessTarget,
  assignment: { readonly id: string; readonly user: UserId | null; readonly group: GroupId | null },
): Promise<AccessAssignment | undefined> {
  return queries
    .insertInto('access_assignments')
    .values({
      tenant_id: tenant,
      id: assignment.id,
      target_kind: target.kind,
      target_id: target.id,
      user_id: assignment.user,
      group_id: assignment.group,
      created_at: databaseNowMs,
    })
    .onConflict((on) => on.doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** A page of the assignments of a target in order of their ids. */
export async function listAssignments(
  queries: Queries,
  tenant: TenantId,
  target: AccessTarget,
  page: Page,
): Promise<readonly AccessAssignment[]> {
  return queries
    .selectFrom('access_assignments')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('target_kind', '=', target.kind)
    .where('target_id', '=', target.id)
    .where('id', '>', page.after)
    .orderBy('id')
    .limit(page.limit)
    .execute();
}

export async function deleteAssignment(queries: Queries, tenant: TenantId, target: AccessTarget, id: string): Promise<boolean> {
  const rows = await queries
    .deleteFrom('access_assignments')
    .where('tenant_id', '=', tenant)
    .where('target_kind', '=', target.kind)
    .where('target_id', '=', target.id)
    .where('id', '=', id)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Deletes every assignment of a target that goes away. */
export async function deleteAssignmentsOf(queries: Queries, tenant: TenantId, target: AccessTarget): Promise<void> {
  await queries
    .deleteFrom('access_assignments')
    .where('tenant_id', '=', tenant)
    .where('target_kind', '=', target.kind)
    .where('target_id', '=', target.id)
    .execute();
}
