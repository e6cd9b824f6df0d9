// What SCIM of an organisation reads and writes of its members, beside what everybody does (organization-members.ts). The caller holds the
// person's row wherever one is written.
import { sql } from 'kysely';
import { membersPerOrganizationMax } from '../../../contract/limits.ts';
import type { TenantId, UserId } from '../../../domain/ids.ts';
import type { OrganizationDirectory } from '../../../domain/organizations/directory.ts';
import type { Queries } from '../../engine/database.ts';
import { databaseNowMs } from '../../engine/instance.ts';
import { idAmong } from '../../engine/rows/id-list.ts';
import { forgetSuspending } from '../../records/directory-endings.ts';
import { isTenantFull } from '../memberships-bound.ts';
import { holdKnownRoles, type Suspension } from '../organization-members.ts';

/** Makes people who were just made members, those its SCIM made; undefined when the organisation or the tenant has no room for them, or it is gone. */
export async function insertMadeMembers(
  queries: Queries,
  { tenant, organization }: OrganizationDirectory,
  users: readonly UserId[],
  wanted: readonly string[],
): Promise<readonly string[] | undefined> {
  if (await isTenantFull(queries, tenant, users.length)) return undefined;
  const roles = await holdKnownRoles(queries, tenant, wanted);
  const counted = await queries
    .updateTable('organizations')
    .set((eb) => ({ members: eb('members', '+', users.length) }))
    .where('tenant_id', '=', tenant)
    .where('id', '=', organization)
    .where('members', '<=', membersPerOrganizationMax - users.length)
    .executeTakeFirst();
  if (counted.numUpdatedRows !== 1n) return undefined;
  const row = {
    tenant_id: tenant,
    organization_id: organization,
    roles: JSON.stringify(roles),
    created_at: databaseNowMs,
    made_by_scim: 1,
  };
  await queries
    .insertInto('organization_members')
    .values(users.map((user) => ({ ...row, user_id: user })))
    .execute();
  return roles;
}

/** What SCIM of an organisation knows of a member, whose row the caller holds; undefined for who is none. */
export async function findMemberOf(
  queries: Queries,
  { tenant, organization }: OrganizationDirectory,
  user: UserId,
): Promise<{ readonly isMadeHere: boolean; readonly suspended: Suspension; readonly isElsewhere: boolean } | undefined> {
  const row = await queries
    .selectFrom('organization_members as m')
    .select(['m.made_by_scim', 'm.suspended'])
    .select(
      sql<number>`(SELECT count(*) FROM organization_members o
        WHERE o.tenant_id = ${tenant} AND o.user_id = ${user} AND o.organization_id <> ${organization})`.as('others'),
    )
    .where('m.tenant_id', '=', tenant)
    .where('m.organization_id', '=', organization)
    .where('m.user_id', '=', user)
    .executeTakeFirst();
  return row && { isMadeHere: row.made_by_scim === 1, suspended: row.suspended, isElsewhere: Number(row.others) > 0 };
}

/** Those of these people who are in an organisation, and whether its directory suspended them there. */
export async function listMembersAmong(
  queries: Queries,
  { tenant, organization }: OrganizationDirectory,
  ids: readonly string[],
): Promise<ReadonlyMap<string, { readonly isSuspended: boolean }>> {
  const rows = await queries
    .selectFrom('organization_members')
    .select(['user_id', 'suspended'])
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization)
    .where(idAmong(queries, 'user_id', ids))
    .execute();
  return new Map(rows.map((row) => [row.user_id, { isSuspended: row.suspended > 0 }]));
}

export async function setMemberSuspension(
  queries: Queries,
  { tenant, organization }: OrganizationDirectory,
  user: UserId,
  suspended: Suspension,
): Promise<void> {
  await queries
    .updateTable('organization_members')
    .set({ suspended })
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization)
    .where('user_id', '=', user)
    .execute();
}

/** Makes the suspension of a person whose row is held the tenant's own: no directory that suspended them lifts it, as an organisation's does with the membership's. */
export async function keepFromDirectories(queries: Queries, tenant: TenantId, user: UserId): Promise<void> {
  await forgetSuspending(queries, tenant, user);
  await queries
    .updateTable('organization_members')
    .set({ suspended: 1 })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('suspended', '=', 2)
    .execute();
}

/** How many members an organisation has. */
export async function loadMemberCount(queries: Queries, { tenant, organization }: OrganizationDirectory): Promise<number> {
  const query = queries.selectFrom('organizations').select('members').where('tenant_id', '=', tenant).where('id', '=', organization);
  return Number((await query.executeTakeFirst())?.members ?? 0);
}
