// Groups and their members (users only). `origin` tells who manages a group: the console's are invisible to SCIM.
import { sql } from 'kysely';
import { foldKey } from '../domain/fold.ts';
import type { GroupId, TenantId, UserId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';
import { reverseText } from './user-search.ts';

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

/** Folded key of a display name; it is unique over all groups of a tenant. */
const keysOf = (displayName: string): { display_name: string; display_name_key: string; display_name_reversed: string } => ({
  display_name: displayName,
  display_name_key: foldKey(displayName),
  display_name_reversed: reverseText(foldKey(displayName)),
});

/** Inserts a console-managed group; `taken` when any group of the tenant has the folded name. */
export async function insertGroup(
  queries: Queries,
  tenant: TenantId,
  group: { readonly id: GroupId; readonly displayName: string },
): Promise<Outcome<{ readonly row: GroupTable }, 'taken'>> {
  const row = await queries
    .insertInto('groups')
    .values({
      ...keysOf(group.displayName),
      tenant_id: tenant,
      id: group.id,
      origin: 'console',
      external_id: null,
      version: 1,
      created_at: databaseNowMs,
      updated_at: databaseNowMs,
    })
    .onConflict((on) => on.doNothing())
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? fail('taken') : { ok: true, row };
}

export async function findGroup(queries: Queries, tenant: TenantId, id: string): Promise<GroupTable | undefined> {
  return queries
    .selectFrom('groups')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as GroupId) // a look-up key, not yet known to be an id
    .executeTakeFirst();
}

/** Renames a group. Throws a unique violation for a taken name. */
export async function renameGroup(queries: Queries, tenant: TenantId, id: string, displayName: string): Promise<GroupTable | undefined> {
  return queries
    .updateTable('groups')
    .set({ ...keysOf(displayName), version: sql`version + 1`, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as GroupId) // a look-up key, not yet known to be an id
    .returningAll()
    .executeTakeFirst();
}

/** Deletes a group with its memberships and assignments. */
export async function deleteGroup(queries: Queries, tenant: TenantId, id: string): Promise<boolean> {
  const rows = await queries
    .deleteFrom('groups')
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as GroupId) // a look-up key, not yet known to be an id
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** A page of groups, console-managed and SCIM-managed, in order of their ids. */
export async function listGroups(
  queries: Queries,
  tenant: TenantId,
  page: { readonly after: string; readonly limit: number; readonly search?: string | undefined },
): Promise<readonly GroupTable[]> {
  const query = queries
    .selectFrom('groups')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '>', page.after as GroupId)
    .orderBy('id')
    .limit(page.limit);
  if (page.search === undefined) return query.execute();
  const from = foldKey(page.search);
  return query.where('display_name_key', '>=', from).where('display_name_key', '<', `${from}\u{10ffff}`).execute();
}

export interface GroupMember {
  readonly user_id: UserId;
  readonly user_name: string | null;
  readonly display_name: string | null;
  readonly created_at: number;
}

/** A page of the members of a group in order of their ids. */
export async function listGroupMembers(
  queries: Queries,
  tenant: TenantId,
  group: GroupId,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly GroupMember[]> {
  return queries
    .selectFrom('group_members as m')
    .innerJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'm.tenant_id').onRef('u.id', '=', 'm.user_id'))
    .select(['m.user_id', 'u.user_name', 'u.display_name', 'm.created_at'])
    .where('m.tenant_id', '=', tenant)
    .where('m.group_id', '=', group)
    .where('m.user_id', '>', page.after as UserId)
    .orderBy('m.user_id')
    .limit(page.limit)
    .execute();
}

/** Adds a live user to a group and raises the group's version. */
export async function insertGroupMember(
  queries: Queries,
  tenant: TenantId,
  group: GroupId,
  user: UserId,
): Promise<Outcome<{ readonly createdAt: number }, 'member_already'>> {
  const row = await queries
    .insertInto('group_members')
    .values({ tenant_id: tenant, group_id: group, user_id: user, created_at: databaseNowMs })
    .onConflict((on) => on.doNothing())
    .returning('created_at')
    .executeTakeFirst();
  if (row === undefined) return fail('member_already');
  await touchGroup(queries, tenant, group);
  return { ok: true, createdAt: row.created_at };
}

/** Takes a user out of a group; false when they were not in it. */
export async function deleteGroupMember(queries: Queries, tenant: TenantId, group: GroupId, user: string): Promise<boolean> {
  const rows = await queries
    .deleteFrom('group_members')
    .where('tenant_id', '=', tenant)
    .where('group_id', '=', group)
    .where('user_id', '=', user as UserId) // a look-up key, not yet known to be an id
    .returning('user_id')
    .execute();
  if (rows.length === 0) return false;
  await touchGroup(queries, tenant, group);
  return true;
}

async function touchGroup(queries: Queries, tenant: TenantId, group: GroupId): Promise<void> {
  await queries
    .updateTable('groups')
    .set({ version: sql`version + 1`, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', group)
    .execute();
}
