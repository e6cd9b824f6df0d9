// Users: one row each, emails beside it. Look-up keys are folded by domain/fold (R6). A deleted user stays as a row
// without names and emails, so that a `sub` is never given to somebody else.
import { sql } from 'kysely';
import { foldKey } from '../domain/fold.ts';
import type { TenantId, UserId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Queries } from './database.ts';
import { revokeGrantsOfUser } from './grants.ts';
import { databaseNowMs } from './instance.ts';
import { statement } from './statement.ts';
import { emailSearchColumns, extensionColumns, userSearchColumns } from './user-search.ts';

export interface UserTable {
  tenant_id: TenantId;
  id: UserId;
  user_name: string | null;
  user_name_key: string | null;
  state: string;
  external_id: string | null;
  display_name: string | null;
  given_name: string | null;
  family_name: string | null;
  middle_name: string | null;
  honorific_prefix: string | null;
  honorific_suffix: string | null;
  name_formatted: string | null;
  nick_name: string | null;
  profile_url: string | null;
  title: string | null;
  user_type: string | null;
  preferred_language: string | null;
  locale: string | null;
  timezone: string | null;
  /** console | scim | signup */
  origin: string;
  /** user | admin */
  role: string;
  version: number;
  created_at: number;
  updated_at: number;
}

export interface UserEmailTable {
  tenant_id: TenantId;
  user_id: UserId;
  position: number;
  value: string;
  value_key: string;
  type: string | null;
  display: string | null;
  is_primary: number;
}

export async function findUser(queries: Queries, tenant: TenantId, id: string): Promise<UserTable | undefined> {
  return (await selectUser(queries, { tenant, id: id as UserId })).rows[0]; // a look-up key, not yet known to be an id
}

const selectUser = statement((queries, { tenant, id }: { readonly tenant: TenantId; readonly id: UserId }) =>
  queries.selectFrom('users').selectAll().where('tenant_id', '=', tenant).where('id', '=', id),
);

interface KeyValues {
  readonly tenant: TenantId;
  readonly key: string;
  readonly [name: string]: string;
}

const selectByEmail = statement((queries, { tenant, key }: KeyValues) =>
  queries
    .selectFrom('user_emails')
    .innerJoin('users', (join) => join.onRef('users.tenant_id', '=', 'user_emails.tenant_id').onRef('users.id', '=', 'user_emails.user_id'))
    .selectAll('users')
    .where('user_emails.tenant_id', '=', tenant)
    .where('user_emails.value_key', '=', key),
);

const selectByName = statement((queries, { tenant, key }: KeyValues) =>
  queries.selectFrom('users').selectAll().where('tenant_id', '=', tenant).where('user_name_key', '=', key),
);

const selectEmails = statement((queries, { tenant, user }: { readonly tenant: TenantId; readonly user: UserId }) =>
  queries.selectFrom('user_emails').selectAll().where('tenant_id', '=', tenant).where('user_id', '=', user).orderBy('position'),
);

/** Finds a user by email or user name, folded; emails win. Deleted users have neither. */
export async function findUserByIdentifier(queries: Queries, tenant: TenantId, identifier: string): Promise<UserTable | undefined> {
  const key = foldKey(identifier);
  const byEmail = await selectByEmail(queries, { tenant, key });
  const byName = await selectByName(queries, { tenant, key });
  return byEmail.rows[0] ?? byName.rows[0];
}

/** The emails of a user in their stored order. */
export async function listUserEmails(queries: Queries, tenant: TenantId, user: UserId): Promise<readonly UserEmailTable[]> {
  return (await selectEmails(queries, { tenant, user })).rows;
}

/** The columns that describe the person, all optional, as SCIM's core schema has them. */
export const profileColumns = [
  'user_name',
  'external_id',
  'display_name',
  'given_name',
  'family_name',
  'middle_name',
  'honorific_prefix',
  'honorific_suffix',
  'name_formatted',
  'nick_name',
  'profile_url',
  'title',
  'user_type',
  'preferred_language',
  'locale',
  'timezone',
] as const;
export type UserProfile = Readonly<Partial<Record<(typeof profileColumns)[number], string | null>>>;

export interface NewEmail {
  readonly value: string;
  readonly type: string | null;
  readonly display: string | null;
  readonly is_primary: number;
}

export interface NewUser {
  readonly id: UserId;
  readonly state: 'active' | 'suspended';
  readonly origin: 'console' | 'scim' | 'signup';
  readonly role: 'user' | 'admin';
  readonly profile: UserProfile;
  readonly emails: readonly NewEmail[];
}

/** Inserts a user with emails. On `user_name` or `emails` (taken) the transaction must not commit. */
export async function insertUser(
  queries: Queries,
  tenant: TenantId,
  user: NewUser,
): Promise<Outcome<{ readonly row: UserTable }, 'user_name' | 'emails'>> {
  const row = await queries
    .insertInto('users')
    .values({
      ...user.profile,
      ...userSearchColumns(user.profile),
      tenant_id: tenant,
      id: user.id,
      state: user.state,
      origin: user.origin,
      role: user.role,
      version: 1,
      created_at: databaseNowMs,
      updated_at: databaseNowMs,
    })
    .onConflict((on) => on.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return fail('user_name');
  const emails = await replaceUserEmails(queries, tenant, user.id, user.emails);
  return emails === 'taken' ? fail('emails') : { ok: true, row };
}

/** Replaces the emails of a user; `taken` when an address belongs to somebody, and then the transaction must not commit. */
export async function replaceUserEmails(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  emails: readonly NewEmail[],
): Promise<'done' | 'taken'> {
  await queries.deleteFrom('user_emails').where('tenant_id', '=', tenant).where('user_id', '=', user).execute();
  if (emails.length === 0) return 'done';
  const rows = emails.map((email, position) => ({ ...email, ...emailSearchColumns(email), tenant_id: tenant, user_id: user, position }));
  const inserted = await queries
    .insertInto('user_emails')
    .values(rows)
    .onConflict((on) => on.doNothing())
    .returning('position')
    .execute();
  return inserted.length === emails.length ? 'done' : 'taken';
}

/** Changes a live user and raises its version. Throws a unique violation for a taken user name. */
export async function updateUser(
  queries: Queries,
  tenant: TenantId,
  id: string,
  change: UserProfile & { readonly role?: 'user' | 'admin' },
): Promise<UserTable | undefined> {
  return queries
    .updateTable('users')
    .set({ ...change, ...userSearchColumns(change), version: sql`version + 1`, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as UserId) // a look-up key, not yet known to be an id
    .where('state', '<>', 'deleted')
    .returningAll()
    .executeTakeFirst();
}

/** Suspends or activates a live user. `changed` is false when it was so before; undefined when there is no such user. */
export async function setUserState(
  queries: Queries,
  tenant: TenantId,
  id: string,
  state: 'active' | 'suspended',
): Promise<{ readonly row: UserTable; readonly changed: boolean } | undefined> {
  const row = await queries
    .updateTable('users')
    .set({ state, version: sql`version + 1`, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as UserId) // a look-up key, not yet known to be an id
    .where('state', '=', state === 'active' ? 'suspended' : 'active')
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) {
    if (state === 'suspended') await revokeGrantsOfUser(queries, tenant, row.id, 'user_state');
    return { row, changed: true };
  }
  const same = await findLiveUser(queries, tenant, id);
  return same === undefined ? undefined : { row: same, changed: false };
}

/** What else is known about a person, by table; emptied when the user is deleted. */
const personalTables = ['user_emails', 'user_values', 'user_addresses', 'group_members', 'access_assignments', 'passkeys'] as const;

/**
 * Deletes a user: names, emails, memberships and assignments and passkeys go, grants end, devices count as revoked; the row stays so
 * that its id is never another's. Gives false when there is no such live user.
 */
export async function deleteUser(queries: Queries, tenant: TenantId, id: string): Promise<boolean> {
  const empty = Object.fromEntries([...profileColumns, ...extensionColumns].map((column) => [column, null]));
  const row = await queries
    .updateTable('users')
    .set({ ...empty, ...userSearchColumns(empty), state: 'deleted', role: 'user', version: sql`version + 1`, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as UserId) // a look-up key, not yet known to be an id
    .where('state', '<>', 'deleted')
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) return false;
  await queries
    .updateTable('groups')
    .set({ version: sql`version + 1`, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', 'in', (eb) =>
      eb.selectFrom('group_members').select('group_id').where('tenant_id', '=', tenant).where('user_id', '=', row.id),
    )
    .execute();
  for (const table of personalTables)
    await queries.deleteFrom(table).where('tenant_id', '=', tenant).where('user_id', '=', row.id).execute();
  await revokeGrantsOfUser(queries, tenant, row.id, 'user_state');
  return true;
}

/** A user that is not deleted. */
export async function findLiveUser(queries: Queries, tenant: TenantId, id: string): Promise<UserTable | undefined> {
  const user = await findUser(queries, tenant, id);
  return user?.state === 'deleted' ? undefined : user;
}

export interface UserPage {
  readonly after: string;
  readonly limit: number;
  readonly state?: string | undefined;
  /** Start of a user name or an email, folded. */
  readonly search?: string | undefined;
}

/** A page of live users in order of their ids, which is that of their creation. */
export async function listUsers(queries: Queries, tenant: TenantId, page: UserPage): Promise<readonly UserTable[]> {
  let query = queries
    .selectFrom('users')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '>', page.after as UserId)
    .where('state', '<>', 'deleted')
    .orderBy('id')
    .limit(page.limit);
  if (page.state !== undefined) query = query.where('state', '=', page.state);
  if (page.search !== undefined) {
    const from = foldKey(page.search);
    const to = `${from}\u{10ffff}`;
    // One list of ids from two index ranges: an OR would make PostgreSQL walk the whole tenant for a rare name.
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

/** The emails of these users, by user, in stored order. */
export async function listEmailsOfUsers(queries: Queries, tenant: TenantId, ids: readonly UserId[]): Promise<readonly UserEmailTable[]> {
  if (ids.length === 0) return [];
  return queries
    .selectFrom('user_emails')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', 'in', ids)
    .orderBy('user_id')
    .orderBy('position')
    .execute();
}
