// Reads users: one row each. Look-up keys are folded by domain/fold (R6). A deleted user stays as a row without names and emails,
// so that a `sub` is never given to somebody else.
import { sql } from 'kysely';
import { foldKey } from '../../domain/fold.ts';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { UserColumn } from '../../domain/people/user-attributes.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { dialectOf, idAmong, idIn, idInSlot, idList, keyIn, withoutTrigrams } from '../engine/rows/id-list.ts';
import { statement, type Value } from '../engine/statement.ts';
import { readColumns, type UserRow } from './user-rows.ts';

type One = {
  readonly tenant: TenantId;
  readonly id: UserId;
};

const selectUsers = statement((queries, { tenant, ids }: { readonly tenant: TenantId; readonly ids: Value }) =>
  queries
    .selectFrom('users')
    .select(readColumns)
    .where('tenant_id', '=', tenant)
    .where(idInSlot(queries, 'id', ids)),
);

const selectUser = statement((queries, { tenant, id }: One) =>
  queries.selectFrom('users').select(readColumns).where('tenant_id', '=', tenant).where('id', '=', id),
);

export async function findUser(queries: Queries, tenant: TenantId, id: string): Promise<UserRow | undefined> {
  return (await selectUser(queries, { tenant, id: id as UserId })).rows[0]; // a look-up key, not yet known to be an id
}

/** A user that is not deleted. */
export async function findLiveUser(queries: Queries, tenant: TenantId, id: string): Promise<UserRow | undefined> {
  const user = await findUser(queries, tenant, id);
  return user?.state === 'deleted' ? undefined : user;
}

/** A live user, its row locked until the transaction ends. */
export async function lockUser(queries: Queries, dialect: Dialect, tenant: TenantId, id: string): Promise<UserRow | undefined> {
  const query = liveUser(queries, tenant, id);
  return (dialect === 'postgres' ? query.forUpdate() : query).executeTakeFirst();
}

const liveUser = (queries: Queries, tenant: TenantId, id: string) =>
  queries
    .selectFrom('users')
    .select(readColumns)
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as UserId) // a look-up key, not yet known to be an id
    .where('state', '<>', 'deleted');

/**
 * As lockUser, for what is made for a person: whoever changes them waits, and who makes something of theirs does not, so that nobody who
 * holds that and comes to the person waits in a circle.
 */
export async function holdUser(queries: Queries, dialect: Dialect, tenant: TenantId, id: string): Promise<UserRow | undefined> {
  const query = liveUser(queries, tenant, id);
  return (dialect === 'postgres' ? query.forNoKeyUpdate() : query).executeTakeFirst();
}

/** Those of these ids that are live users, their rows locked in one order until the transaction ends; with `isRead` they are not. */
export async function lockUsers(
  queries: Queries,
  tenant: TenantId,
  ids: readonly string[],
  { isRead = false }: { readonly isRead?: boolean } = {},
): Promise<readonly UserRow[]> {
  if (ids.length === 0) return [];
  const query = queries
    .selectFrom('users')
    .select(readColumns)
    .where('tenant_id', '=', tenant)
    .where(idAmong(queries, 'id', ids))
    .where('state', '<>', 'deleted')
    .orderBy('id');
  return (dialectOf(queries) === 'postgres' && !isRead ? query.forUpdate() : query).execute();
}

/** The names to show of those of these ids that are live users. */
export async function listShownNames(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  const { rows } = await sql<{ id: string; name: string | null }>`SELECT id, coalesce(display_name, user_name) AS name FROM users
    WHERE tenant_id = ${tenant} AND ${idIn(dialect, 'id', ids)} AND state <> 'deleted'`.execute(queries);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Whether a user beside this one, suspended or not, has the very value of a column that is searched as it is written. */
export async function isOfAnotherUser(
  queries: Queries,
  tenant: TenantId,
  { column, value, userId }: { readonly column: UserColumn; readonly value: string; readonly userId: UserId },
): Promise<boolean> {
  const other = await queries
    .selectFrom('users')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where(column, '=', value)
    .where('id', '<>', userId)
    .where('state', '<>', 'deleted')
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}

/** The same for a value of the tenant's own attribute, by its key; a deleted user has none. */
export async function isCustomOfAnotherUser(
  queries: Queries,
  tenant: TenantId,
  { attribute, key, userId }: { readonly attribute: string; readonly key: string; readonly userId: UserId },
): Promise<boolean> {
  const other = await queries
    .selectFrom('user_custom_values')
    .select('user_id')
    .where('tenant_id', '=', tenant)
    .where('attribute', '=', attribute)
    .where('value_key', '=', key)
    .where('user_id', '<>', userId)
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}

type KeyValues = {
  readonly tenant: TenantId;
  readonly key: string;
};

const inUsers = readColumns.map((column) => `users.${column}` as const);

const selectByEmail = statement((queries, { tenant, key }: KeyValues) =>
  queries
    .selectFrom('user_emails')
    .innerJoin('users', (join) => join.onRef('users.tenant_id', '=', 'user_emails.tenant_id').onRef('users.id', '=', 'user_emails.user_id'))
    .select(inUsers)
    .where('user_emails.tenant_id', '=', tenant)
    .where('user_emails.value_key', '=', key),
);

const selectByName = statement((queries, { tenant, key }: KeyValues) =>
  queries.selectFrom('users').select(readColumns).where('tenant_id', '=', tenant).where('user_name_key', '=', key),
);

/** Finds a user by email or user name, folded; emails win. Deleted users have neither. */
export async function findUserByIdentifier(queries: Queries, tenant: TenantId, identifier: string): Promise<UserRow | undefined> {
  const key = foldKey(identifier);
  const byEmail = await selectByEmail(queries, { tenant, key });
  const byName = await selectByName(queries, { tenant, key });
  return byEmail.rows[0] ?? byName.rows[0];
}

export interface UserOfEmail extends Pick<UserRow, 'id' | 'state' | 'locale' | 'preferred_language'> {
  /** The address as it is stored, which is where mail goes. */
  readonly address: string;
}

/** The live user an email belongs to, by its folded form. */
export async function findUserOfEmail(queries: Queries, tenant: TenantId, emailKey: string): Promise<UserOfEmail | undefined> {
  return queries
    .selectFrom('user_emails as e')
    .innerJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'e.tenant_id').onRef('u.id', '=', 'e.user_id'))
    .select(['u.id', 'u.state', 'e.value as address', 'u.locale', 'u.preferred_language'])
    .where('e.tenant_id', '=', tenant)
    .where('e.value_key', '=', emailKey)
    .where('u.state', '<>', 'deleted')
    .executeTakeFirst();
}

export interface Owner {
  readonly key: string;
  readonly id: string;
}

/** Who has these folded user names, and these folded emails. */
export async function listOwners(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  keys: { readonly names: readonly string[]; readonly emails: readonly string[] },
): Promise<{ readonly names: readonly Owner[]; readonly emails: readonly Owner[] }> {
  return withoutTrigrams(queries, async () => {
    const names = await sql<Owner>`SELECT user_name_key AS key, id FROM users
      WHERE tenant_id = ${tenant} AND ${keyIn(dialect, 'user_name_key', keys.names)}`.execute(queries);
    const emails = await sql<Owner>`SELECT value_key AS key, user_id AS id FROM user_emails
      WHERE tenant_id = ${tenant} AND ${keyIn(dialect, 'value_key', keys.emails)}`.execute(queries);
    return { names: names.rows, emails: emails.rows };
  });
}

/** The users with these ids, deleted ones too, in no order. */
export async function listUsersById(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  ids: readonly string[],
): Promise<readonly UserRow[]> {
  return (await selectUsers(queries, { tenant, ids: idList(dialect, ids) })).rows;
}

export interface UserPage {
  readonly after: string;
  readonly limit: number;
  readonly state?: string | undefined;
  /** Start of a user name or an email, folded. */
  readonly search?: string | undefined;
}

/** A page of live users in order of their ids, which is that of their creation. */
export async function listUsers(queries: Queries, tenant: TenantId, page: UserPage): Promise<readonly UserRow[]> {
  let query = queries
    .selectFrom('users')
    .select(readColumns)
    .where('tenant_id', '=', tenant)
    .where('id', '>', page.after as UserId)
    .where('state', '<>', 'deleted')
    .orderBy('id')
    .limit(page.limit);
  if (page.state !== undefined) query = query.where('state', '=', page.state);
  if (page.search !== undefined) {
    const from = foldKey(page.search);
    const to = `${from}\u{10ffff}`;
    // One list of ids from two index ranges: an OR would make PostgreSQL scan the whole tenant for a rare name.
    query = query.where('id', 'in', (eb) =>
      eb
        .selectFrom('users as named')
        .select('named.id')
        .where('named.tenant_id', '=', tenant)
        .where('named.user_name_key', '>=', from)
        .where('named.user_name_key', '<', to)
        .union(
          eb
            .selectFrom('user_emails')
            .select('user_id as id')
            .where('tenant_id', '=', tenant)
            .where('value_key', '>=', from)
            .where('value_key', '<', to),
        ),
    );
  }
  return query.execute();
}

/** Administrators of a tenant who may sign in, those of longest standing first. */
export async function listAdministrators(queries: Queries, tenant: TenantId, limit: number): Promise<readonly UserId[]> {
  const rows = await queries
    .selectFrom('users')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where(sql<boolean>`role = 'admin'`) // as the condition of its index
    .where('state', '=', 'active')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}
