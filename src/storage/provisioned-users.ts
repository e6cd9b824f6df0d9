// Users as SCIM reads and writes them: whole rows with their emails, other values and groups. Uniqueness is the
// constraints' business: an insert gives `taken`, an update throws a unique violation. The caller owns the transaction.
import { sql } from 'kysely';
import type { TenantId, UserId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Dialect, Queries } from './database.ts';
import { idIn } from './id-list.ts';
import { databaseNowMs } from './instance.ts';
import type { UserAddressTable, UserValueTable } from './user-attributes.ts';
import { emailSearchColumns, type UserSearchTable, userSearchColumns } from './user-search.ts';
import type { UserEmailTable, UserTable } from './users.ts';

/** The columns a representation is made of; the search keys beside them are for SQL alone and cost more than they say. */
const shownColumns = [
  'tenant_id',
  'id',
  'user_name',
  'state',
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
  'employee_number',
  'cost_center',
  'organization',
  'division',
  'department',
  'manager_value',
  'manager_display_name',
  'version',
  'created_at',
  'updated_at',
] as const;
export type UserRow = Pick<UserTable & UserSearchTable, (typeof shownColumns)[number]>;
/** Columns of `users` to write, by name; search keys are added here. */
export type UserColumns = Readonly<Record<string, string | null>>;
export type NewEmail = Pick<UserEmailTable, 'value' | 'type' | 'display' | 'is_primary'>;

export interface UserGroup {
  readonly user_id: UserId;
  readonly id: string;
  readonly display_name: string;
}

/** Inserts a user with state and columns; `taken` when the folded user name is. */
export async function insertProvisionedUser(
  queries: Queries,
  tenant: TenantId,
  user: { readonly id: UserId; readonly state: 'active' | 'suspended'; readonly columns: UserColumns },
): Promise<Outcome<{ readonly row: UserRow }, 'taken'>> {
  const row = await queries
    .insertInto('users')
    .values({
      ...user.columns,
      ...userSearchColumns(user.columns),
      tenant_id: tenant,
      id: user.id,
      state: user.state,
      origin: 'scim',
      role: 'user',
      version: 1,
      created_at: databaseNowMs,
      updated_at: databaseNowMs,
    } as never) // the column names come from the schema table, whose columns the migrations test checks
    .onConflict((on) => on.doNothing())
    .returning(shownColumns)
    .executeTakeFirst();
  return row === undefined ? fail('taken') : { ok: true, row };
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

/** A live user, its row locked until the transaction ends. */
export async function lockUser(queries: Queries, dialect: Dialect, tenant: TenantId, id: string): Promise<UserRow | undefined> {
  const query = liveUser(queries, tenant, id);
  return (dialect === 'postgres' ? query.forUpdate() : query).executeTakeFirst();
}

/** A live user. */
export async function findLiveUser(queries: Queries, tenant: TenantId, id: string): Promise<UserRow | undefined> {
  return liveUser(queries, tenant, id).executeTakeFirst();
}

function liveUser(queries: Queries, tenant: TenantId, id: string) {
  return queries
    .selectFrom('users')
    .select(shownColumns)
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as UserId) // a look-up key, not yet known to be an id
    .where('state', '<>', 'deleted');
}

/** Writes columns of a user, a new version and time of change; gives the row. Throws a unique violation for a taken name. */
export async function updateProvisionedUser(queries: Queries, tenant: TenantId, id: UserId, columns: UserColumns): Promise<UserRow> {
  return queries
    .updateTable('users')
    .set({ ...columns, ...userSearchColumns(columns), version: sql`version + 1`, updated_at: databaseNowMs } as never) // see insertProvisionedUser
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .returning(shownColumns)
    .executeTakeFirstOrThrow();
}

/** Forgets a user: names, emails, values and memberships go, the row stays so that its id is never another's. */
export async function deleteProvisionedUser(queries: Queries, tenant: TenantId, id: UserId, columns: readonly string[]): Promise<void> {
  for (const table of ['user_emails', 'user_values', 'user_addresses', 'access_assignments', 'passkeys'] as const) {
    await queries.deleteFrom(table).where('tenant_id', '=', tenant).where('user_id', '=', id).execute();
  }
  await queries
    .updateTable('groups')
    .set({ version: sql`version + 1`, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', 'in', (eb) => eb.selectFrom('group_members').select('group_id').where('tenant_id', '=', tenant).where('user_id', '=', id))
    .execute();
  await queries.deleteFrom('group_members').where('tenant_id', '=', tenant).where('user_id', '=', id).execute();
  const cleared = Object.fromEntries(columns.map((column) => [column, null]));
  await updateProvisionedUser(queries, tenant, id, { ...cleared, state: 'deleted' });
}

/** The rows of these users, in no order. */
export async function listUsersById(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  ids: readonly string[],
): Promise<readonly UserRow[]> {
  return queries
    .selectFrom('users')
    .select(shownColumns)
    .where('tenant_id', '=', tenant)
    .where(idIn(dialect, 'id', ids))
    .execute();
}

/** The emails of these users, in stored order. */
export async function listEmailsOfUsers(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  ids: readonly string[],
): Promise<readonly UserEmailTable[]> {
  return queries
    .selectFrom('user_emails')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(idIn(dialect, 'user_id', ids))
    .orderBy('user_id')
    .orderBy('position')
    .execute();
}

/** The other multi-valued attributes of these users, in stored order. */
export async function listValuesOfUsers(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  ids: readonly string[],
): Promise<readonly UserValueTable[]> {
  return queries
    .selectFrom('user_values')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(idIn(dialect, 'user_id', ids))
    .orderBy('user_id')
    .orderBy('attribute')
    .orderBy('position')
    .execute();
}

/** The addresses of these users, in stored order. */
export async function listAddressesOfUsers(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  ids: readonly string[],
): Promise<readonly UserAddressTable[]> {
  return queries
    .selectFrom('user_addresses')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(idIn(dialect, 'user_id', ids))
    .orderBy('user_id')
    .orderBy('position')
    .execute();
}

/** The SCIM-managed groups these users are in. */
export async function listGroupsOfUsers(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  ids: readonly string[],
): Promise<readonly UserGroup[]> {
  const { rows } = await sql<UserGroup>`SELECT m.user_id, g.id, g.display_name FROM group_members m
    JOIN groups g ON g.tenant_id = m.tenant_id AND g.id = m.group_id
    WHERE m.tenant_id = ${tenant} AND ${idIn(dialect, 'm.user_id', ids)} AND g.origin = 'scim' ORDER BY m.user_id, g.display_name_key`.execute(
    queries,
  );
  return rows;
}
