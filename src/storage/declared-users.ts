// Users as documents declare them: found and inserted many at a time, with every column, deleted ones included where an id
// must not be given again.
import { sql } from 'kysely';
import type { TenantId, UserId } from '../domain/ids.ts';
import type { Dialect, Queries } from './database.ts';
import { idIn, keyIn } from './id-list.ts';
import { databaseNowMs } from './instance.ts';
import type { UserAddressTable, UserValueTable } from './user-attributes.ts';
import { emailSearchColumns, extensionColumns, userSearchColumns } from './user-search.ts';
import { type NewEmail, profileColumns, type UserTable } from './users.ts';

export const declaredColumns = [...profileColumns, ...extensionColumns] as const;
export type DeclaredColumns = Readonly<Record<(typeof declaredColumns)[number], string | null>>;
export type DeclaredRow = UserTable & DeclaredColumns;

export interface DeclaredUser {
  readonly id: UserId;
  readonly state: 'active' | 'suspended';
  readonly origin: 'console' | 'scim' | 'signup';
  readonly role: 'user' | 'admin';
  readonly columns: DeclaredColumns;
  readonly emails: readonly NewEmail[];
}

/** The users with these ids, deleted ones too. */
export async function listUsersById(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  ids: readonly string[],
): Promise<readonly DeclaredRow[]> {
  return queries
    .selectFrom('users')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(idIn(dialect, 'id', ids))
    .execute();
}

/** A page of live users in id order. */
export async function listDeclaredUsers(
  queries: Queries,
  tenant: TenantId,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly DeclaredRow[]> {
  return queries
    .selectFrom('users')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '>', page.after as UserId)
    .where('state', '<>', 'deleted')
    .orderBy('id')
    .limit(page.limit)
    .execute();
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
  const names = await sql<Owner>`SELECT user_name_key AS key, id FROM users
    WHERE tenant_id = ${tenant} AND ${keyIn(dialect, 'user_name_key', keys.names)}`.execute(queries);
  const emails = await sql<Owner>`SELECT value_key AS key, user_id AS id FROM user_emails
    WHERE tenant_id = ${tenant} AND ${keyIn(dialect, 'value_key', keys.emails)}`.execute(queries);
  return { names: names.rows, emails: emails.rows };
}

/** Inserts users with their emails, values and addresses, a statement a table. Throws a unique violation for a taken name or email. */
export async function insertDeclaredUsers(
  queries: Queries,
  tenant: TenantId,
  users: readonly DeclaredUser[],
  lists: { readonly values: readonly UserValueTable[]; readonly addresses: readonly UserAddressTable[] },
): Promise<void> {
  const rows = users.map(({ id, state, origin, role, columns }) => ({
    ...columns,
    ...userSearchColumns(columns),
    tenant_id: tenant,
    id,
    state,
    origin,
    role,
    version: 1,
    created_at: databaseNowMs,
    updated_at: databaseNowMs,
  }));
  if (rows.length > 0) await queries.insertInto('users').values(rows).execute();
  const emails = users.flatMap(({ id, emails: own }) =>
    own.map((email, position) => ({ ...email, ...emailSearchColumns(email), tenant_id: tenant, user_id: id, position })),
  );
  if (emails.length > 0) await queries.insertInto('user_emails').values(emails).execute();
  if (lists.values.length > 0) await queries.insertInto('user_values').values(lists.values).execute();
  if (lists.addresses.length > 0) await queries.insertInto('user_addresses').values(lists.addresses).execute();
}

/** Writes every declared column of a live user and raises its version. Throws a unique violation for a taken name. */
export async function updateDeclaredUser(
  queries: Queries,
  tenant: TenantId,
  user: Pick<DeclaredUser, 'id' | 'origin' | 'role' | 'columns'>,
): Promise<void> {
  await queries
    .updateTable('users')
    .set({
      ...user.columns,
      ...userSearchColumns(user.columns),
      origin: user.origin,
      role: user.role,
      version: sql`version + 1`,
      updated_at: databaseNowMs,
    })
    .where('tenant_id', '=', tenant)
    .where('id', '=', user.id)
    .where('state', '<>', 'deleted')
    .execute();
}
