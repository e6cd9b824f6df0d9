// People by their email, and people who sign up by themselves. Used by the device plane. Uniqueness is the constraints' business.
import { foldKey } from '../domain/fold.ts';
import type { TenantId, UserId } from '../domain/ids.ts';
import type { Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';
import { emailSearchColumns, userSearchColumns } from './user-search.ts';
import type { UserTable } from './users.ts';

export interface UserOfEmail {
  readonly id: UserId;
  readonly state: UserTable['state'];
  /** The address as it is stored, which is where mail goes. */
  readonly address: string;
  readonly locale: string | null;
  readonly preferred_language: string | null;
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

export interface SignupUser {
  readonly id: UserId;
  readonly email: string;
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly locale: string | null;
}

/** Inserts an active user with one email; false when the email or user name is taken, and then the transaction must not commit. */
export async function insertSignupUser(queries: Queries, tenant: TenantId, user: SignupUser): Promise<boolean> {
  const columns = {
    user_name: user.email,
    user_name_key: foldKey(user.email),
    given_name: user.givenName,
    family_name: user.familyName,
    locale: user.locale,
  };
  const made = await queries
    .insertInto('users')
    .values({
      ...columns,
      ...userSearchColumns(columns),
      tenant_id: tenant,
      id: user.id,
      state: 'active',
      origin: 'signup',
      role: 'user',
      version: 1,
      created_at: databaseNowMs,
      updated_at: databaseNowMs,
    } as never) // the columns left out are nullable
    .onConflict((on) => on.doNothing())
    .returning('id')
    .execute();
  if (made.length === 0) return false;
  const email = { value: user.email, type: null, display: null, is_primary: 1 };
  const rows = await queries
    .insertInto('user_emails')
    .values({ ...email, ...emailSearchColumns(email), tenant_id: tenant, user_id: user.id, position: 0 })
    .onConflict((on) => on.doNothing())
    .returning('position')
    .execute();
  return rows.length === 1;
}
