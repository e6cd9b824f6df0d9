// Reads the lists of users: emails, other values, addresses, and the groups they are in.
import { sql } from 'kysely';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Directory } from '../../domain/organizations/directory.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { idAmong, idInSlot, idList } from '../engine/rows/id-list.ts';
import { compilable, statement, type Value } from '../engine/statement.ts';
import type { UserAddressTable, UserEmail, UserValueTable } from './user-rows.ts';

export interface UserLists {
  readonly emails: readonly UserEmail[];
  readonly values: readonly UserValueTable[];
  readonly addresses: readonly UserAddressTable[];
}

const selectEmails = statement((queries, { tenant, user }: { readonly tenant: TenantId; readonly user: UserId }) =>
  queries.selectFrom('user_emails').selectAll().where('tenant_id', '=', tenant).where('user_id', '=', user).orderBy('position'),
);

/** The emails of a user in their stored order. */
export async function listUserEmails(queries: Queries, tenant: TenantId, user: UserId): Promise<readonly UserEmail[]> {
  return (await selectEmails(queries, { tenant, user })).rows;
}

/** The lists of these users, by user; `only` names those to read, absent: all. */
export async function listUserLists(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  ids: readonly UserId[],
  only: ReadonlySet<keyof UserLists> = new Set(['emails', 'values', 'addresses']),
): Promise<(user: UserId) => UserLists> {
  const read = async <Row extends { readonly user_id: UserId }>(list: keyof UserLists): Promise<ReadonlyMap<UserId, readonly Row[]>> =>
    ids.length > 0 && only.has(list) ? listRows<Row>(queries, dialect, list, tenant, ids) : none;
  const [emails, values, addresses] = await Promise.all([
    read<UserEmail>('emails'),
    read<UserValueTable>('values'),
    read<UserAddressTable>('addresses'),
  ]);
  return (user) => ({ emails: emails.get(user) ?? [], values: values.get(user) ?? [], addresses: addresses.get(user) ?? [] });
}

const none: ReadonlyMap<UserId, readonly never[]> = new Map();

type Listed = { readonly tenant: TenantId; readonly ids: Value };

const selectList = (list: keyof UserLists, order: string) =>
  statement((queries, { tenant, ids }: Listed) =>
    compilable<unknown>(
      queries,
      sql`SELECT * FROM ${sql.table(`user_${list}`)}
        WHERE tenant_id = ${tenant} AND ${idInSlot(queries, 'user_id', ids)} ORDER BY ${sql.raw(order)}`,
    ),
  );

const selectLists = {
  emails: selectList('emails', 'user_id, position'),
  values: selectList('values', 'user_id, attribute, position'),
  addresses: selectList('addresses', 'user_id, position'),
} as const;

async function listRows<Row extends { readonly user_id: UserId }>(
  queries: Queries,
  dialect: Dialect,
  list: keyof UserLists,
  tenant: TenantId,
  ids: readonly UserId[],
): Promise<ReadonlyMap<UserId, readonly Row[]>> {
  const { rows } = await selectLists[list](queries, { tenant, ids: idList(dialect, ids) });
  return Map.groupBy(rows as readonly Row[], (row) => row.user_id); // the rows of that table
}

export interface UserGroup {
  readonly user_id: UserId;
  readonly id: string;
  readonly display_name: string;
}

const selectGroups = statement((queries, { tenant, ids }: Listed) =>
  compilable<UserGroup>(
    queries,
    sql`SELECT m.user_id, g.id, g.display_name FROM group_members m
      JOIN groups g ON g.tenant_id = m.tenant_id AND g.id = m.group_id
      WHERE m.tenant_id = ${tenant} AND ${idInSlot(queries, 'm.user_id', ids)} AND g.origin = 'scim' ORDER BY m.user_id, g.display_name_key`,
  ),
);

const selectOrganizationGroups = statement((queries, { tenant, organization, ids }: Listed & { readonly organization: string }) =>
  compilable<UserGroup>(
    queries,
    sql`SELECT m.user_id, g.id, g.display_name FROM organization_group_members m
      JOIN organization_groups g ON g.tenant_id = m.tenant_id AND g.id = m.group_id
      WHERE m.tenant_id = ${tenant} AND m.organization_id = ${organization} AND ${idInSlot(queries, 'm.user_id', ids)}
      ORDER BY m.user_id, g.display_name_key`,
  ),
);

/** The SCIM-managed groups of a directory that these users are in. */
export async function listGroupsOfUsers(
  queries: Queries,
  dialect: Dialect,
  { tenant, organization }: Directory,
  ids: readonly UserId[],
): Promise<readonly UserGroup[]> {
  const those = { tenant, ids: idList(dialect, ids) };
  return (await (organization === undefined ? selectGroups(queries, those) : selectOrganizationGroups(queries, { ...those, organization })))
    .rows;
}

/** The values of some lists of a user; `attributes` are the SCIM names of the lists. */
export async function listUserValues(
  queries: Queries,
  tenant: TenantId,
  userId: UserId,
  attributes: readonly string[],
): Promise<readonly UserValueTable[]> {
  return queries
    .selectFrom('user_values')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('attribute', 'in', attributes)
    .execute();
}

/** The primary address of a user, or the first. */
export async function findUserAddress(queries: Queries, tenant: TenantId, userId: UserId): Promise<UserAddressTable | undefined> {
  return queries
    .selectFrom('user_addresses')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .orderBy('is_primary', 'desc')
    .orderBy('position')
    .limit(1)
    .executeTakeFirst();
}

/** The main addresses of these people. */
export async function listMainEmails(queries: Queries, tenant: TenantId, users: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
  if (users.length === 0) return new Map();
  const rows = await queries
    .selectFrom('user_emails')
    .select(['user_id', 'value'])
    .where('tenant_id', '=', tenant)
    .where(idAmong(queries, 'user_id', users))
    .where('is_primary', '=', 1)
    .execute();
  return new Map(rows.map((row) => [row.user_id, row.value]));
}
