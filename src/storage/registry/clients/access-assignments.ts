// Who passes the access gate of a client, service provider or resource whose policy is `assigned`: users directly, through a
// group, or by an organisation they are in (design 19).
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

export interface OrganizationAssignmentTable {
  tenant_id: TenantId;
  id: string;
  target_kind: string;
  target_id: string;
  organization_id: string;
  created_at: number;
}

/** One of user, group and organisation is there. */
export type AccessAssignment = Readonly<AccessAssignmentTable> & { readonly organization_id: string | null };

export interface AccessTarget {
  readonly kind: 'client' | 'service_provider' | 'resource';
  readonly id: string;
}

/**
 * True when the user is assigned to the target, directly, through a group or by an organisation they are in: by the one they sign in for,
 * where they sign in for one.
 */
export async function isAssigned(
  queries: Queries,
  tenant: TenantId,
  target: AccessTarget,
  user: UserId,
  organization?: string,
): Promise<boolean> {
  const row = await queries
    .selectNoFrom((eb) => {
      const own = eb
        .selectFrom('access_assignments as a')
        .leftJoin('group_members as m', (join) =>
          join.onRef('m.tenant_id', '=', 'a.tenant_id').onRef('m.group_id', '=', 'a.group_id').on('m.user_id', '=', user),
        )
        .select('a.id')
        .where('a.tenant_id', '=', tenant)
        .where('a.target_kind', '=', target.kind)
        .where('a.target_id', '=', target.id)
        .where((of) => of.or([of('a.user_id', '=', user), of('m.user_id', '=', user)]));
      const theirs = eb
        .selectFrom('organization_assignments as a')
        .innerJoin('organization_members as m', (join) =>
          join.onRef('m.tenant_id', '=', 'a.tenant_id').onRef('m.organization_id', '=', 'a.organization_id').on('m.user_id', '=', user),
        )
        .innerJoin('organizations as o', (join) => join.onRef('o.tenant_id', '=', 'a.tenant_id').onRef('o.id', '=', 'a.organization_id'))
        .select('a.id')
        .where('a.tenant_id', '=', tenant)
        .where('a.target_kind', '=', target.kind)
        .where('a.target_id', '=', target.id)
        .where('m.suspended', '=', 0)
        .where('o.enabled', '=', 1);
      const meant = organization === undefined ? theirs : theirs.where('a.organization_id', '=', organization);
      return eb.or([eb.exists(own), eb.exists(meant)]).as('is_assigned');
    })
    .executeTakeFirstOrThrow();
  return Boolean(row.is_assigned);
}

/** Whether the user may reach a resource by clients that nobody registered. None at all is for everybody. */
export async function mayReach(
  queries: Queries,
  tenant: TenantId,
  identifier: string | undefined,
  user: UserId,
  organization?: string,
): Promise<boolean> {
  if (identifier === undefined) return true;
  const resource = await queries
    .selectFrom('resources')
    .select(['id', 'clients', 'unknown_access_policy'])
    .where('tenant_id', '=', tenant)
    .where('identifier', 'in', spellingsOf(identifier))
    .executeTakeFirst();
  if (resource?.clients !== 'any') return false;
  const target = { kind: 'resource', id: resource.id } as const;
  return resource.unknown_access_policy === 'everyone' || isAssigned(queries, tenant, target, user, organization);
}

interface NewAssignment {
  readonly id: string;
  readonly user: UserId | null;
  readonly group: GroupId | null;
  readonly organization: string | null;
}

/** Assigns a user, a group or an organisation to a target; undefined when it is assigned already. */
export async function insertAssignment(
  queries: Queries,
  tenant: TenantId,
  target: AccessTarget,
  { id, user, group, organization }: NewAssignment,
): Promise<AccessAssignment | undefined> {
  const row = { tenant_id: tenant, id, target_kind: target.kind, target_id: target.id, created_at: databaseNowMs };
  if (organization !== null) {
    const added = await queries
      .insertInto('organization_assignments')
      .values({ ...row, organization_id: organization })
      .onConflict((on) => on.doNothing())
      .returningAll()
      .executeTakeFirst();
    return added && ofOrganization(added);
  }
  const added = await queries
    .insertInto('access_assignments')
    .values({ ...row, user_id: user, group_id: group })
    .onConflict((on) => on.doNothing())
    .returningAll()
    .executeTakeFirst();
  return added && { ...added, organization_id: null };
}

const ofOrganization = (row: OrganizationAssignmentTable): AccessAssignment => ({ ...row, user_id: null, group_id: null });

/** A page of the assignments of a target, or of all, in order of their ids. */
export async function listAssignments(
  queries: Queries,
  tenant: TenantId,
  target: AccessTarget | undefined,
  { after, limit }: Page,
): Promise<readonly AccessAssignment[]> {
  const own = queries.selectFrom('access_assignments').selectAll().where('tenant_id', '=', tenant);
  const theirs = queries.selectFrom('organization_assignments').selectAll().where('tenant_id', '=', tenant);
  const rows = await (target === undefined ? own : own.where('target_kind', '=', target.kind).where('target_id', '=', target.id))
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  const others = await (target === undefined ? theirs : theirs.where('target_kind', '=', target.kind).where('target_id', '=', target.id))
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  const all = [...rows.map((row): AccessAssignment => ({ ...row, organization_id: null })), ...others.map(ofOrganization)];
  return all.toSorted((one, other) => (one.id < other.id ? -1 : 1)).slice(0, limit);
}

/** The assignment of somebody, where there is one. */
export async function findAssignment(
  queries: Queries,
  tenant: TenantId,
  target: AccessTarget,
  { user, group, organization }: Omit<NewAssignment, 'id'>,
): Promise<AccessAssignment | undefined> {
  if (organization !== null) {
    const found = await queries
      .selectFrom('organization_assignments')
      .selectAll()
      .where('tenant_id', '=', tenant)
      .where('target_kind', '=', target.kind)
      .where('target_id', '=', target.id)
      .where('organization_id', '=', organization)
      .executeTakeFirst();
    return found && ofOrganization(found);
  }
  const found = await queries
    .selectFrom('access_assignments')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('target_kind', '=', target.kind)
    .where('target_id', '=', target.id)
    .where((eb) => (user === null ? eb('group_id', '=', group) : eb('user_id', '=', user)))
    .executeTakeFirst();
  return found && { ...found, organization_id: null };
}

const tables = ['access_assignments', 'organization_assignments'] as const;

export async function deleteAssignment(queries: Queries, tenant: TenantId, target: AccessTarget, id: string): Promise<boolean> {
  for (const table of tables) {
    const rows = await queries
      .deleteFrom(table)
      .where('tenant_id', '=', tenant)
      .where('target_kind', '=', target.kind)
      .where('target_id', '=', target.id)
      .where('id', '=', id)
      .returning('id')
      .execute();
    if (rows.length === 1) return true;
  }
  return false;
}

/** Deletes every assignment of a target that goes away. */
export async function deleteAssignmentsOf(queries: Queries, tenant: TenantId, target: AccessTarget): Promise<void> {
  for (const table of tables)
    await queries
      .deleteFrom(table)
      .where('tenant_id', '=', tenant)
      .where('target_kind', '=', target.kind)
      .where('target_id', '=', target.id)
      .execute();
}
