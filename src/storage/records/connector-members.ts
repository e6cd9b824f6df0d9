// Which members of a pushed group its target was told of, and which there are; and which people a connector is to go through.
import { sql } from 'kysely';
import type { ConnectorId, GroupId, TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { idAmong } from '../engine/rows/id-list.ts';
import type { Whose } from './connector-links.ts';

export interface ConnectorMemberTable {
  tenant_id: TenantId;
  connector_id: ConnectorId;
  group_id: string;
  user_id: string;
}

export interface Member {
  readonly user_id: string;
  readonly remote_id: string;
}

/** Members of a group who have an account at the target. */
export async function listLinkedMembers(queries: Queries, { tenant, connector }: Whose, group: string): Promise<readonly Member[]> {
  const { rows } = await sql<Member>`SELECT m.user_id, l.remote_id FROM group_members m
    JOIN connector_links l ON l.tenant_id = m.tenant_id AND l.connector_id = ${connector} AND l.local_id = m.user_id
    WHERE m.tenant_id = ${tenant} AND m.group_id = ${group} AND l.state = 'linked' AND l.remote_id IS NOT NULL ORDER BY m.user_id`.execute(
    queries,
  );
  return rows;
}

/** Members the target was told of; the id there is null for an account that is gone. */
export async function listSentMembers(
  queries: Queries,
  { tenant, connector }: Whose,
  group: string,
): Promise<readonly { readonly user_id: string; readonly remote_id: string | null }[]> {
  const { rows } = await sql<{ user_id: string; remote_id: string | null }>`SELECT s.user_id, l.remote_id FROM connector_members s
    LEFT JOIN connector_links l ON l.tenant_id = s.tenant_id AND l.connector_id = s.connector_id AND l.local_id = s.user_id
    WHERE s.tenant_id = ${tenant} AND s.connector_id = ${connector} AND s.group_id = ${group} ORDER BY s.user_id`.execute(queries);
  return rows;
}

/** Notes that the target was told of members. */
export async function addSentMembers(
  queries: Queries,
  { tenant, connector }: Whose,
  group: string,
  users: readonly string[],
): Promise<void> {
  if (users.length === 0) return;
  await queries
    .insertInto('connector_members')
    .values(users.map((user) => ({ tenant_id: tenant, connector_id: connector, group_id: group, user_id: user })))
    .onConflict((on) => on.doNothing())
    .execute();
}

/** Notes that the target was told that members are none any more; without `users`, of all of a group. */
export async function dropSentMembers(
  queries: Queries,
  { tenant, connector }: Whose,
  of: { readonly group: string; readonly users?: readonly string[] } | { readonly user: string },
): Promise<void> {
  const base = queries.deleteFrom('connector_members').where('tenant_id', '=', tenant).where('connector_id', '=', connector);
  if ('user' in of) await base.where('user_id', '=', of.user).execute();
  else if (of.users === undefined) await base.where('group_id', '=', of.group).execute();
  else
    await base
      .where('group_id', '=', of.group)
      .where(idAmong(queries, 'user_id', of.users))
      .execute();
}

/** The next people, in the order of their ids: all, or members of groups. */
export async function listPeopleIds(
  queries: Queries,
  tenant: TenantId,
  { after, limit, groups }: { readonly after: string; readonly limit: number; readonly groups: readonly GroupId[] | undefined },
): Promise<readonly string[]> {
  const rows =
    groups === undefined
      ? await queries
          .selectFrom('users')
          .select('id')
          .where('tenant_id', '=', tenant)
          .where('id', '>', after as UserId)
          .where('state', '<>', 'deleted')
          .orderBy('id')
          .limit(limit)
          .execute()
      : await queries
          .selectFrom('group_members')
          .select('user_id as id')
          .distinct()
          .where('tenant_id', '=', tenant)
          .where(idAmong(queries, 'group_id', groups))
          .where('user_id', '>', after as UserId)
          .orderBy('user_id')
          .limit(limit)
          .execute();
  return rows.map(({ id }) => id);
}

/** True when somebody is in one of these groups. */
export async function isInOneOf(queries: Queries, tenant: TenantId, user: string, groups: readonly GroupId[]): Promise<boolean> {
  const row = await queries
    .selectFrom('group_members')
    .select('group_id')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user as UserId)
    .where(idAmong(queries, 'group_id', groups))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** People who are in a group, or of whom the target was told that they are. */
export async function listPeopleOfGroups(
  queries: Queries,
  { tenant, connector }: Whose,
  groups: readonly string[],
): Promise<readonly string[]> {
  if (groups.length === 0) return [];
  const { rows } = await sql<{
    user_id: string;
  }>`SELECT user_id FROM group_members WHERE tenant_id = ${tenant} AND ${idAmong(queries, 'group_id', groups)}
    UNION SELECT user_id FROM connector_members WHERE tenant_id = ${tenant} AND connector_id = ${connector} AND ${idAmong(queries, 'group_id', groups)}`.execute(
    queries,
  );
  return rows.map(({ user_id: id }) => id);
}
