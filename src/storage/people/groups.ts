// Groups and their members (users only). `origin` tells who manages a group: the console's are invisible to SCIM. Those of an identity
// provider are the console's with a row that names their provider: invisible to SCIM too, and the console's when it is gone.
import { type Generated, sql } from 'kysely';
import { foldKey } from '../../domain/fold.ts';
import type { GroupId, IdentityProviderId, TenantId, UserId } from '../../domain/ids.ts';
import type { Directory } from '../../domain/organizations/directory.ts';
import { type Group, type groupColumns, groupFields } from '../../domain/people/group.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { idIn } from '../engine/rows/id-list.ts';
import type { Page, SearchedPage } from '../engine/rows/matching-rows.ts';
import { fromRow, type RowOf } from '../engine/rows/row-codec.ts';
import { groupTables, isShownGroup } from './directories/directory.ts';

export interface GroupTable extends RowOf<typeof groupColumns> {
  tenant_id: TenantId;
  id: GroupId;
  display_name_key: string;
  display_name_reversed: string | null;
  external_id_reversed: string | null;
  version: number;
  created_at: number;
  updated_at: number;
}
export type GroupRow = Readonly<GroupTable>;

/** A group with the identity provider whose rules say who is in it. */
export type OwnedGroupRow = GroupRow & { readonly identity_provider_id: string | null };

export interface ProviderGroupTable {
  tenant_id: TenantId;
  group_id: GroupId;
  provider_id: IdentityProviderId;
}

/** Of a row of `groups`: the identity provider it is of. */
export const ownerOfGroup = sql<string | null>`(SELECT provider_id FROM identity_provider_groups owner
  WHERE owner.tenant_id = groups.tenant_id AND owner.group_id = groups.id)`.as('identity_provider_id');

export const groupFromRow = (row: OwnedGroupRow): Group => ({
  id: row.id,
  ...fromRow(groupFields, { ...row, origin: row.identity_provider_id === null ? row.origin : 'identity_provider' }),
  version: row.version,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
});

export interface GroupMemberTable {
  tenant_id: TenantId;
  group_id: GroupId;
  user_id: UserId;
  created_at: number;
  /** Of the user, which never changes: with its id the order of a group's members. */
  user_created_at: Generated<number>;
}

/** The groups a user is in, in no order. */
export async function listGroupsOfUser(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
): Promise<readonly Pick<GroupRow, 'id' | 'display_name'>[]> {
  return queries
    .selectFrom('group_members as m')
    .innerJoin('groups as g', (join) => join.onRef('g.tenant_id', '=', 'm.tenant_id').onRef('g.id', '=', 'm.group_id'))
    .select(['g.id', 'g.display_name'])
    .where('m.tenant_id', '=', tenant)
    .where('m.user_id', '=', user)
    .execute();
}

export async function findGroup(queries: Queries, tenant: TenantId, id: string): Promise<OwnedGroupRow | undefined> {
  return queries
    .selectFrom('groups')
    .selectAll()
    .select(ownerOfGroup)
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as GroupId) // a look-up key, not yet known to be an id
    .executeTakeFirst();
}

/** A group of a directory as SCIM shows it. */
export type ScimGroupRow = Omit<GroupRow, 'origin'>;

/** A SCIM-managed group. */
export async function findProvisionedGroup(queries: Queries, directory: Directory, id: string): Promise<ScimGroupRow | undefined> {
  return scimGroup(queries, directory, id).executeTakeFirst();
}

/** A SCIM-managed group, its row locked until the transaction ends. */
export async function lockGroup(queries: Queries, dialect: Dialect, directory: Directory, id: string): Promise<ScimGroupRow | undefined> {
  const query = scimGroup(queries, directory, id);
  return (dialect === 'postgres' ? query.forUpdate() : query).executeTakeFirst();
}

function scimGroup(queries: Queries, directory: Directory, id: string) {
  const { groups } = groupTables(directory);
  return queries
    .selectFrom(groups)
    .selectAll()
    .where('tenant_id', '=', directory.tenant)
    .where('id', '=', id as GroupId) // a look-up key, not yet known to be an id
    .where(isShownGroup(directory, groups));
}

/** A page of groups, whoever manages them, in order of their ids. */
export async function listGroups(queries: Queries, tenant: TenantId, page: SearchedPage): Promise<readonly OwnedGroupRow[]> {
  const query = queries
    .selectFrom('groups')
    .selectAll()
    .select(ownerOfGroup)
    .where('tenant_id', '=', tenant)
    .where('id', '>', page.after as GroupId)
    .orderBy('id')
    .limit(page.limit);
  if (page.search === undefined) return query.execute();
  const from = foldKey(page.search);
  return query.where('display_name_key', '>=', from).where('display_name_key', '<', `${from}\u{10ffff}`).execute();
}

/** The rows of these groups of a directory, in no order. */
export async function listGroupsById(
  queries: Queries,
  dialect: Dialect,
  directory: Directory,
  ids: readonly string[],
): Promise<readonly ScimGroupRow[]> {
  return queries
    .selectFrom(groupTables(directory).groups)
    .selectAll()
    .where('tenant_id', '=', directory.tenant)
    .where(idIn(dialect, 'id', ids))
    .execute();
}

/** The groups with one of these ids or display names. */
export async function listGroupsByIdOrName(
  queries: Queries,
  tenant: TenantId,
  wanted: { readonly ids: readonly string[]; readonly names: readonly string[] },
): Promise<readonly OwnedGroupRow[]> {
  const keys = wanted.names.map(foldKey);
  return queries
    .selectFrom('groups')
    .selectAll()
    .select(ownerOfGroup)
    .where('tenant_id', '=', tenant)
    .where((eb) =>
      eb.or([
        ...(keys.length > 0 ? [eb('display_name_key', 'in', keys)] : []),
        ...(wanted.ids.length > 0 ? [eb('id', 'in', wanted.ids as readonly GroupId[])] : []), // look-up keys, not yet known to be ids
      ]),
    )
    .execute();
}

export interface GroupMember {
  readonly user_id: UserId;
  readonly user_name: string | null;
  readonly display_name: string | null;
  readonly created_at: number;
}

/** A page of the members of a group in order of their ids. */
export async function listGroupMembers(queries: Queries, tenant: TenantId, group: GroupId, page: Page): Promise<readonly GroupMember[]> {
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

export interface MemberRow {
  readonly user_id: UserId;
  readonly display: string | null;
}

/** A page of members in id order, after the given id. */
export async function listMembers(queries: Queries, directory: Directory, group: string, page: Page): Promise<readonly MemberRow[]> {
  const { tenant } = directory;
  const { rows } = await sql<MemberRow>`SELECT m.user_id, coalesce(u.display_name, u.user_name) AS display
    FROM ${sql.table(groupTables(directory).members)} m
    JOIN users u ON u.tenant_id = m.tenant_id AND u.id = m.user_id
    WHERE m.tenant_id = ${tenant} AND m.group_id = ${group} AND m.user_id > ${page.after} ORDER BY m.user_id LIMIT ${page.limit}`.execute(
    queries,
  );
  return rows;
}

/** The groups of an identity provider that a user is in. */
export async function listProviderGroupsOfUser(
  queries: Queries,
  tenant: TenantId,
  provider: IdentityProviderId,
  user: UserId,
): Promise<readonly GroupId[]> {
  const rows = await queries
    .selectFrom('group_members as m')
    .innerJoin('identity_provider_groups as o', (join) =>
      join.onRef('o.tenant_id', '=', 'm.tenant_id').onRef('o.group_id', '=', 'm.group_id'),
    )
    .select('m.group_id')
    .where('m.tenant_id', '=', tenant)
    .where('m.user_id', '=', user)
    .where('o.provider_id', '=', provider)
    .execute();
  return rows.map((row) => row.group_id);
}

export async function countProviderGroups(queries: Queries, tenant: TenantId, provider: IdentityProviderId): Promise<number> {
  const row = await queries
    .selectFrom('identity_provider_groups')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('tenant_id', '=', tenant)
    .where('provider_id', '=', provider)
    .executeTakeFirstOrThrow();
  return Number(row.n);
}

/** The memberships of these users. */
export async function listMembershipsOfUsers(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  ids: readonly string[],
): Promise<readonly Pick<GroupMemberTable, 'user_id' | 'group_id'>[]> {
  return queries
    .selectFrom('group_members')
    .select(['user_id', 'group_id'])
    .where('tenant_id', '=', tenant)
    .where(idIn(dialect, 'user_id', ids))
    .execute();
}
