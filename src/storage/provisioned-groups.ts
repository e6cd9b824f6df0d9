// SCIM-managed groups and their members. Membership changes are set-based and touch only what changes; the members of a
// group are never loaded to change it. Console-managed groups do not exist for these functions.
import { sql } from 'kysely';
import { foldKey } from '../domain/fold.ts';
import type { GroupId, TenantId, UserId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Dialect, Queries } from './database.ts';
import type { GroupTable } from './groups.ts';
import { idIn } from './id-list.ts';
import { databaseNowMs } from './instance.ts';
import { reverseText } from './user-search.ts';

export interface GroupSearchTable {
  display_name_reversed: string | null;
  external_id_reversed: string | null;
}

export type GroupRow = GroupTable & GroupSearchTable;

export interface GroupColumns {
  readonly display_name: string;
  readonly external_id: string | null;
}

export interface MemberRow {
  readonly user_id: UserId;
  readonly display: string | null;
}

/** The columns with their search companions. */
export const groupKeyColumns = (columns: GroupColumns) => ({
  ...columns,
  display_name_key: foldKey(columns.display_name),
  display_name_reversed: reverseText(foldKey(columns.display_name)),
  external_id_reversed: columns.external_id === null ? null : reverseText(columns.external_id),
});

/** Inserts a SCIM-managed group; `taken` when any group of the tenant has the folded name. */
export async function insertProvisionedGroup(
  queries: Queries,
  tenant: TenantId,
  id: GroupId,
  columns: GroupColumns,
): Promise<Outcome<{ readonly row: GroupRow }, 'taken'>> {
  const row = await queries
    .insertInto('groups')
    .values({
      ...groupKeyColumns(columns),
      tenant_id: tenant,
      id,
      origin: 'scim',
      version: 1,
      created_at: databaseNowMs,
      updated_at: databaseNowMs,
    })
    .onConflict((on) => on.doNothing())
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? fail('taken') : { ok: true, row };
}

/** A SCIM-managed group. */
export async function findProvisionedGroup(queries: Queries, tenant: TenantId, id: string): Promise<GroupRow | undefined> {
  return scimGroup(queries, tenant, id).executeTakeFirst();
}

/** A SCIM-managed group, its row locked until the transaction ends. */
export async function lockGroup(queries: Queries, dialect: Dialect, tenant: TenantId, id: string): Promise<GroupRow | undefined> {
  const query = scimGroup(queries, tenant, id);
  return (dialect === 'postgres' ? query.forUpdate() : query).executeTakeFirst();
}

function scimGroup(queries: Queries, tenant: TenantId, id: string) {
  return queries
    .selectFrom('groups')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as GroupId) // a look-up key, not yet known to be an id
    .where('origin', '=', 'scim');
}

/** Writes a group's columns, a new version and time of change. Throws a unique violation for a taken name. */
export async function updateProvisionedGroup(queries: Queries, tenant: TenantId, id: GroupId, columns: GroupColumns): Promise<GroupRow> {
  return queries
    .updateTable('groups')
    .set({ ...groupKeyColumns(columns), version: sql`version + 1`, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Deletes a group; members and assignments go with it. */
export async function deleteProvisionedGroup(queries: Queries, tenant: TenantId, id: GroupId): Promise<void> {
  await queries.deleteFrom('groups').where('tenant_id', '=', tenant).where('id', '=', id).execute();
}

/** The rows of these groups, in no order. */
export async function listGroupsById(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  ids: readonly string[],
): Promise<readonly GroupRow[]> {
  return queries
    .selectFrom('groups')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(idIn(dialect, 'id', ids))
    .execute();
}

/** A page of members in id order, after the given id. */
export async function listMembers(
  queries: Queries,
  tenant: TenantId,
  group: string,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly MemberRow[]> {
  const { rows } = await sql<MemberRow>`SELECT m.user_id, coalesce(u.display_name, u.user_name) AS display FROM group_members m
    JOIN users u ON u.tenant_id = m.tenant_id AND u.id = m.user_id
    WHERE m.tenant_id = ${tenant} AND m.group_id = ${group} AND m.user_id > ${page.after} ORDER BY m.user_id LIMIT ${page.limit}`.execute(
    queries,
  );
  return rows;
}

/** How many of these distinct ids are live users; on PostgreSQL they stay so until the transaction ends. */
async function countLiveUsers(queries: Queries, dialect: Dialect, tenant: TenantId, ids: readonly string[]): Promise<number> {
  const lock = dialect === 'postgres' ? sql` FOR KEY SHARE` : sql``;
  const { rows } = await sql<{ n: number }>`SELECT count(*) AS n FROM
    (SELECT id FROM users WHERE tenant_id = ${tenant} AND ${idIn(dialect, 'id', ids)} AND state <> 'deleted'${lock}) live`.execute(queries);
  return rows[0]?.n ?? 0;
}

export type MemberChange = { readonly ok: true; readonly changed: number } | { readonly ok: false; readonly reason: 'unknown_member' };

/** Adds distinct users to a group; those already in it do not count as changed. */
export async function addMembers(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  group: GroupId,
  ids: readonly string[],
): Promise<MemberChange> {
  if (ids.length === 0) return { ok: true, changed: 0 };
  if ((await countLiveUsers(queries, dialect, tenant, ids)) < ids.length) return fail('unknown_member');
  const { rows } = await sql`INSERT INTO group_members (tenant_id, group_id, user_id, created_at)
    SELECT ${tenant}, ${group}, id, gatehouse_now_ms() FROM users WHERE tenant_id = ${tenant} AND ${idIn(dialect, 'id', ids)} AND state <> 'deleted'
    ON CONFLICT DO NOTHING RETURNING user_id`.execute(queries);
  return { ok: true, changed: rows.length };
}

/** Removes users from a group and gives how many were in it. */
export async function removeMembers(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  group: GroupId,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const { rows } =
    await sql`DELETE FROM group_members WHERE tenant_id = ${tenant} AND group_id = ${group} AND ${idIn(dialect, 'user_id', ids)}
    RETURNING user_id`.execute(queries);
  return rows.length;
}

/** Makes exactly these distinct users the members. */
export async function replaceMembers(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  group: GroupId,
  ids: readonly string[],
): Promise<MemberChange> {
  const removed =
    await sql`DELETE FROM group_members WHERE tenant_id = ${tenant} AND group_id = ${group} AND NOT (${idIn(dialect, 'user_id', ids)})
    RETURNING user_id`.execute(queries);
  const added = await addMembers(queries, dialect, tenant, group, ids);
  return added.ok ? { ok: true, changed: added.changed + removed.rows.length } : added;
}
