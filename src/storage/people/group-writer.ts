// The one writer of `groups` and their members. Membership changes are set-based and touch only what changes; the members of a
// group are never loaded to change it. A taken name throws ValueTaken. The caller owns the transaction.
import { sql } from 'kysely';
import { foldKey } from '../../domain/fold.ts';
import type { GroupId, IdentityProviderId, TenantId, UserId } from '../../domain/ids.ts';
import type { Directory } from '../../domain/organizations/directory.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { groupColumns } from '../../domain/people/group.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { idIn } from '../engine/rows/id-list.ts';
import type { RowOf } from '../engine/rows/row-codec.ts';
import { slicesOfRows } from '../engine/rows/row-slices.ts';
import { takenAs } from '../engine/unique-violation.ts';
import { forgetLocal } from '../records/directory-endings.ts';
import { groupTables } from './directories/directory.ts';
import { findDirectoriesOf, isFreeOfDirectories, ManagedByDirectory } from './directories/ldap-people.ts';
import { findGroup, type GroupRow, type OwnedGroupRow, ownerOfGroup, type ScimGroupRow } from './groups.ts';
import { reverseText } from './user-search.ts';

/** What callers write; search keys are made here. Without an identity provider a group is nobody's but its origin's. */
export type GroupColumns = Readonly<RowOf<typeof groupColumns>> & {
  readonly identity_provider_id?: string | null;
};
type NewGroup = GroupColumns & { readonly id: GroupId };

const nextVersion = { version: sql<number>`version + 1`, updated_at: databaseNowMs };

/** The columns with their search companions. A group of an identity provider is the console's with a row that names its provider. */
function withKeys({ identity_provider_id: _owner, ...columns }: Partial<GroupColumns>) {
  const { display_name: name, external_id: externalId, origin } = columns;
  return {
    ...columns,
    ...(origin === 'identity_provider' ? { origin: 'console' } : {}),
    ...(name === undefined ? {} : { display_name_key: foldKey(name), display_name_reversed: reverseText(foldKey(name)) }),
    ...(externalId === undefined ? {} : { external_id_reversed: externalId === null ? null : reverseText(externalId) }),
  };
}

const insertionOf = (queries: Queries, tenant: TenantId, groups: readonly NewGroup[]) => {
  const times = { version: 1, created_at: databaseNowMs, updated_at: databaseNowMs };
  const rows = groups.map((group) => ({ ...withKeys(group), tenant_id: tenant, ...times }));
  return queries
    .insertInto('groups')
    .values(rows as never) // every column has a value
    .returningAll();
};

/** Inserts groups; gives their rows. */
export async function insertGroups(queries: Queries, tenant: TenantId, groups: readonly NewGroup[]): Promise<readonly OwnedGroupRow[]> {
  if (groups.length === 0) return [];
  const inserted = await takenAs('display_name', () => insertionOf(queries, tenant, groups).execute());
  return insertOwners(queries, tenant, groups, inserted);
}

/** The same for those whose names are free. */
export async function insertFreeGroups(queries: Queries, tenant: TenantId, groups: readonly NewGroup[]): Promise<readonly OwnedGroupRow[]> {
  if (groups.length === 0) return [];
  const inserted = await insertionOf(queries, tenant, groups)
    .onConflict((on) => on.columns(['tenant_id', 'display_name_key']).doNothing())
    .execute();
  return insertOwners(queries, tenant, groups, inserted);
}

async function insertOwners(
  queries: Queries,
  tenant: TenantId,
  groups: readonly NewGroup[],
  inserted: readonly GroupRow[],
): Promise<readonly OwnedGroupRow[]> {
  const owners = new Map(groups.map(({ id, identity_provider_id: provider = null }) => [id, provider]));
  const rows = inserted.map((row) => ({ ...row, identity_provider_id: owners.get(row.id) ?? null }));
  const owned = rows.flatMap(({ id, identity_provider_id: provider }) => (provider === null ? [] : [ownerRow(tenant, id, provider)]));
  if (owned.length > 0) await queries.insertInto('identity_provider_groups').values(owned).execute();
  return rows;
}

const ownerRow = (tenant: TenantId, group: GroupId, provider: string) => ({
  tenant_id: tenant,
  group_id: group,
  provider_id: provider as IdentityProviderId, // the key of the table checks it
});

/** Gives a group to an identity provider, or back to its origin. */
async function changeOwner(queries: Queries, tenant: TenantId, id: GroupId, provider: string | null): Promise<void> {
  await queries.deleteFrom('identity_provider_groups').where('tenant_id', '=', tenant).where('group_id', '=', id).execute();
  if (provider !== null)
    await queries
      .insertInto('identity_provider_groups')
      .values(ownerRow(tenant, id, provider))
      .execute();
}

interface GroupWriting {
  /** A directory of LDAP writes what it says of its own. */
  readonly writer?: 'directory';
  /** Its members are others, too. */
  readonly members?: boolean;
}

/** Writes columns of a group and raises its version; undefined when there is no such group. @throws ManagedByDirectory */
export async function changeGroup(
  queries: Queries,
  tenant: TenantId,
  id: string,
  columns: Partial<GroupColumns>,
  { writer, members = false }: GroupWriting = {},
): Promise<OwnedGroupRow | undefined> {
  const { identity_provider_id: provider } = columns;
  let row = await updateGroup(queries, tenant, id, columns, writer !== 'directory');
  if (row === undefined && writer !== 'directory') {
    await requireOwnGroup(queries, tenant, id, columns, members);
    row = await updateGroup(queries, tenant, id, columns, false);
  }
  if (row === undefined || provider === undefined || provider === row.identity_provider_id) return row;
  await changeOwner(queries, tenant, row.id, provider);
  return { ...row, identity_provider_id: provider };
}

/** Writes the row of a group; with `isFree` of one only that no directory of LDAP speaks of. */
async function updateGroup(
  queries: Queries,
  tenant: TenantId,
  id: string,
  columns: Partial<GroupColumns>,
  isFree: boolean,
): Promise<OwnedGroupRow | undefined> {
  return takenAs('display_name', () =>
    queries
      .updateTable('groups')
      .set({ ...withKeys(columns), ...nextVersion })
      .where('tenant_id', '=', tenant)
      .where('id', '=', id as GroupId) // a look-up key, not yet known to be an id
      .$if(isFree, (update) => update.where(isFreeOfDirectories('groups')))
      .returningAll()
      .returning(ownerOfGroup)
      .executeTakeFirst(),
  );
}

/** The name a group has already is no change. @throws ManagedByDirectory */
async function requireOwnGroup(
  queries: Queries,
  tenant: TenantId,
  id: string,
  { display_name: name, identity_provider_id: provider }: Partial<GroupColumns>,
  members: boolean,
): Promise<void> {
  if (!(await findDirectoriesOf(queries, tenant, [id])).has(id)) return;
  if (members) throw new ManagedByDirectory(['members']);
  const before = await findGroup(queries, tenant, id);
  if (name !== undefined && name !== before?.display_name) throw new ManagedByDirectory(['display_name']);
  if (provider !== undefined && provider !== before?.identity_provider_id) throw new ManagedByDirectory(['identity_provider_id']);
}

type ScimNames = Pick<GroupColumns, 'display_name' | 'external_id'>;

/** Inserts a group that SCIM manages; gives its row. */
export async function insertScimGroup(
  queries: Queries,
  { tenant, organization }: Directory,
  group: ScimNames & { readonly id: GroupId },
): Promise<ScimGroupRow> {
  if (organization === undefined) return (await insertGroups(queries, tenant, [{ ...group, origin: 'scim' }]))[0]!;
  const times = { version: 1, created_at: databaseNowMs, updated_at: databaseNowMs };
  return takenAs('display_name', () =>
    queries
      .insertInto('organization_groups')
      .values({ ...withKeys(group), tenant_id: tenant, organization_id: organization, ...times } as never) // every column has a value
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
}

/** Writes the names of a group that SCIM manages and raises its version; undefined when there is no such group. */
export async function changeScimGroup(
  queries: Queries,
  directory: Directory,
  id: GroupId,
  { members, ...names }: ScimNames & { readonly members: boolean },
): Promise<ScimGroupRow | undefined> {
  if (directory.organization === undefined) return changeGroup(queries, directory.tenant, id, names, { members });
  return takenAs('display_name', () =>
    queries
      .updateTable('organization_groups')
      .set({ ...withKeys(names), ...nextVersion })
      .where('tenant_id', '=', directory.tenant)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst(),
  );
}

/** Deletes a group of a directory with its memberships and assignments. */
export async function deleteGroup(queries: Queries, directory: Directory, id: string): Promise<boolean> {
  const rows = await queries
    .deleteFrom(groupTables(directory).groups)
    .where('tenant_id', '=', directory.tenant)
    .where('id', '=', id as GroupId) // a look-up key, not yet known to be an id
    .returning('id')
    .execute();
  if (directory.organization === undefined && rows.length === 1) await forgetLocal(queries, directory.tenant, id);
  return rows.length === 1;
}

const memberRow = (tenant: TenantId, group: GroupId, user: UserId) => ({
  tenant_id: tenant,
  group_id: group,
  user_id: user,
  created_at: databaseNowMs,
  user_created_at: sql<number>`(SELECT created_at FROM users WHERE tenant_id = ${tenant} AND id = ${user})`,
});

/** Adds a live user to a group and raises the group's version. @throws ManagedByDirectory */
export async function insertGroupMember(
  queries: Queries,
  tenant: TenantId,
  group: GroupId,
  user: UserId,
): Promise<Outcome<{ readonly createdAt: number }, 'member_already'>> {
  const row = await queries
    .insertInto('group_members')
    .values(memberRow(tenant, group, user))
    .onConflict((on) => on.doNothing())
    .returning('created_at')
    .executeTakeFirst();
  if (row === undefined) return fail('member_already');
  await changeGroup(queries, tenant, group, {}, { members: true });
  return { ok: true, createdAt: row.created_at };
}

/** Takes a user out of a group; false when they were not in it. @throws ManagedByDirectory */
export async function deleteGroupMember(queries: Queries, tenant: TenantId, group: GroupId, user: string): Promise<boolean> {
  const rows = await queries
    .deleteFrom('group_members')
    .where('tenant_id', '=', tenant)
    .where('group_id', '=', group)
    .where('user_id', '=', user as UserId) // a look-up key, not yet known to be an id
    .returning('user_id')
    .execute();
  if (rows.length === 0) return false;
  await changeGroup(queries, tenant, group, {}, { members: true });
  return true;
}

/** Gives the groups of a directory that a user is in a new version: the user is about to leave them all. */
export async function touchGroupsOfUser(queries: Queries, directory: Directory, user: UserId): Promise<void> {
  const { tenant, organization } = directory;
  const { groups, members } = groupTables(directory);
  await queries
    .updateTable(groups)
    .set(nextVersion)
    .where('tenant_id', '=', tenant)
    .where('id', 'in', (eb) => {
      const own = eb.selectFrom(members).select('group_id').where('tenant_id', '=', tenant).where('user_id', '=', user);
      return organization === undefined ? own : own.where(sql.ref('organization_id'), '=', organization);
    })
    .execute();
}

/** How many of these distinct ids are people of the directory; on PostgreSQL they stay so until the transaction ends. */
async function countPeople(
  queries: Queries,
  dialect: Dialect,
  { tenant, organization }: Directory,
  ids: readonly string[],
): Promise<number> {
  const lock = dialect === 'postgres' ? sql` FOR KEY SHARE` : sql``;
  const people =
    organization === undefined
      ? sql`SELECT id FROM users WHERE tenant_id = ${tenant} AND ${idIn(dialect, 'id', ids)} AND state <> 'deleted'${lock}`
      : sql`SELECT user_id FROM organization_members
          WHERE tenant_id = ${tenant} AND organization_id = ${organization} AND ${idIn(dialect, 'user_id', ids)}${lock}`;
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM (${people}) live`.execute(queries);
  return Number(rows[0]?.n ?? 0);
}

export type MemberChange = { readonly ok: true; readonly changed: number } | { readonly ok: false; readonly reason: 'unknown_member' };

/** Adds distinct users to a group; those already in it do not count as changed. */
export async function addMembers(
  queries: Queries,
  dialect: Dialect,
  directory: Directory,
  group: GroupId,
  ids: readonly string[],
): Promise<MemberChange> {
  if (ids.length === 0) return { ok: true, changed: 0 };
  if ((await countPeople(queries, dialect, directory, ids)) < ids.length) return fail('unknown_member');
  const { tenant, organization } = directory;
  const [column, value] = organization === undefined ? [sql``, sql``] : [sql`, organization_id`, sql`, ${organization}`];
  const { rows } =
    await sql`INSERT INTO ${sql.table(groupTables(directory).members)} (tenant_id, group_id, user_id, created_at, user_created_at${column})
    SELECT ${tenant}, ${group}, id, gatehouse_now_ms(), created_at${value} FROM users WHERE tenant_id = ${tenant} AND ${idIn(dialect, 'id', ids)} AND state <> 'deleted'
    ON CONFLICT DO NOTHING RETURNING user_id`.execute(queries);
  return { ok: true, changed: rows.length };
}

/** Removes users from a group and gives how many were in it. */
export async function removeMembers(
  queries: Queries,
  dialect: Dialect,
  directory: Directory,
  group: GroupId,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const members = sql.table(groupTables(directory).members);
  const { rows } =
    await sql`DELETE FROM ${members} WHERE tenant_id = ${directory.tenant} AND group_id = ${group} AND ${idIn(dialect, 'user_id', ids)}
    RETURNING user_id`.execute(queries);
  return rows.length;
}

/** Makes exactly these distinct users the members. */
export async function replaceMembers(
  queries: Queries,
  dialect: Dialect,
  directory: Directory,
  group: GroupId,
  ids: readonly string[],
): Promise<MemberChange> {
  const members = sql.table(groupTables(directory).members);
  const removed =
    await sql`DELETE FROM ${members} WHERE tenant_id = ${directory.tenant} AND group_id = ${group} AND NOT (${idIn(dialect, 'user_id', ids)})
    RETURNING user_id`.execute(queries);
  const added = await addMembers(queries, dialect, directory, group, ids);
  return added.ok ? { ok: true, changed: added.changed + removed.rows.length } : added;
}

/** Those of these groups that are there; on PostgreSQL they stay so until the transaction ends. */
export async function holdGroups(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  ids: readonly GroupId[],
): Promise<readonly GroupId[]> {
  if (ids.length === 0) return [];
  const query = queries
    .selectFrom('groups')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where(idIn(dialect, 'id', ids))
    .orderBy('id');
  const rows = await (dialect === 'postgres' ? query.forKeyShare() : query).execute();
  return rows.map(({ id }) => id);
}

interface MembershipChange {
  readonly user: UserId;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Adds users to groups and takes them out; each group that changed has one new version. @throws ManagedByDirectory */
export async function changeMemberships(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  changes: readonly MembershipChange[],
  { writer }: Pick<GroupWriting, 'writer'> = {},
): Promise<void> {
  const rows = changes.flatMap(
    ({ user, added }) => added.map((group) => memberRow(tenant, group as GroupId, user)), // ids of known groups
  );
  for (const some of slicesOfRows(rows))
    await queries
      .insertInto('group_members')
      .values(some)
      .onConflict((on) => on.doNothing())
      .execute();
  for (const { user, removed } of changes) {
    if (removed.length === 0) continue;
    await queries
      .deleteFrom('group_members')
      .where('tenant_id', '=', tenant)
      .where('user_id', '=', user)
      .where(idIn(dialect, 'group_id', removed))
      .execute();
  }
  const touched = [...new Set(changes.flatMap(({ added, removed }) => [...added, ...removed]))].sort();
  if (touched.length === 0) return;
  const changed = await queries
    .updateTable('groups')
    .set(nextVersion)
    .where('tenant_id', '=', tenant)
    .where(idIn(dialect, 'id', touched))
    .$if(writer !== 'directory', (update) => update.where(isFreeOfDirectories('groups')))
    .returning('id')
    .execute();
  // Others may be deleted meanwhile.
  if (changed.length < touched.length && writer !== 'directory' && (await findDirectoriesOf(queries, tenant, touched)).size > 0)
    throw new ManagedByDirectory(['members']);
}
