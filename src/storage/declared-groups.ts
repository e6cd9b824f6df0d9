// Groups as documents declare them: whoever manages them, found by id or name, and written whole.
import { sql } from 'kysely';
import { foldKey } from '../domain/fold.ts';
import type { GroupId, TenantId, UserId } from '../domain/ids.ts';
import type { Dialect, Queries } from './database.ts';
import type { GroupMemberTable, GroupTable } from './groups.ts';
import { idIn } from './id-list.ts';
import { databaseNowMs } from './instance.ts';
import { type GroupColumns, groupKeyColumns } from './provisioned-groups.ts';

export interface DeclaredGroup extends GroupColumns {
  readonly origin: 'console' | 'scim';
}

/** The groups with one of these ids or display names. */
export async function listGroupsByIdOrName(
  queries: Queries,
  tenant: TenantId,
  wanted: { readonly ids: readonly string[]; readonly names: readonly string[] },
): Promise<readonly GroupTable[]> {
  const keys = wanted.names.map(foldKey);
  return queries
    .selectFrom('groups')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where((eb) =>
      eb.or([
        ...(keys.length > 0 ? [eb('display_name_key', 'in', keys)] : []),
        ...(wanted.ids.length > 0 ? [eb('id', 'in', wanted.ids as readonly GroupId[])] : []), // look-up keys, not yet known to be ids
      ]),
    )
    .execute();
}

/** Inserts groups. Throws a unique violation for a taken name. */
export async function insertDeclaredGroups(
  queries: Queries,
  tenant: TenantId,
  groups: readonly (DeclaredGroup & { readonly id: GroupId })[],
): Promise<void> {
  if (groups.length === 0) return;
  const times = { version: 1, created_at: databaseNowMs, updated_at: databaseNowMs };
  const rows = groups.map(({ id, origin, ...columns }) => ({ ...groupKeyColumns(columns), tenant_id: tenant, id, origin, ...times }));
  await queries.insertInto('groups').values(rows).execute();
}

/** Writes every declared column of a group and raises its version. Throws a unique violation for a taken name. */
export async function updateDeclaredGroup(queries: Queries, tenant: TenantId, id: GroupId, group: DeclaredGroup): Promise<void> {
  const { origin, ...columns } = group;
  await queries
    .updateTable('groups')
    .set({ ...groupKeyColumns(columns), origin, version: sql`version + 1`, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .execute();
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

export interface MembershipChange {
  readonly user: UserId;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Adds users to groups and takes them out; each group that changed has one new version. */
export async function changeMemberships(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  changes: readonly MembershipChange[],
): Promise<void> {
  const rows = changes.flatMap(
    ({ user, added }) =>
      added.map((group) => ({ tenant_id: tenant, group_id: group as GroupId, user_id: user, created_at: databaseNowMs })), // ids of known groups
  );
  if (rows.length > 0)
    await queries
      .insertInto('group_members')
      .values(rows)
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
  await queries
    .updateTable('groups')
    .set({ version: sql`version + 1`, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where(idIn(dialect, 'id', touched))
    .execute();
}
