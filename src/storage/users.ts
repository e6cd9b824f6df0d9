// Users: one row each, emails beside it. Look-up keys are folded by domain/fold (R6). A deleted user stays as a row
// without names and emails, so that a `sub` is never given to somebody else.
import { foldKey } from '../domain/fold.ts';
import type { TenantId, UserId } from '../domain/ids.ts';
import type { Queries } from './database.ts';

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
  return queries
    .selectFrom('users')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as UserId)
    .executeTakeFirst();
}

/** Finds a user by email or user name, folded; emails win. Deleted users have neither. */
export async function findUserByIdentifier(queries: Queries, tenant: TenantId, identifier: string): Promise<UserTable | undefined> {
  const key = foldKey(identifier);
  const byEmail = await queries
    .selectFrom('user_emails')
    .innerJoin('users', (join) => join.onRef('users.tenant_id', '=', 'user_emails.tenant_id').onRef('users.id', '=', 'user_emails.user_id'))
    .selectAll('users')
    .where('user_emails.tenant_id', '=', tenant)
    .where('user_emails.value_key', '=', key)
    .executeTakeFirst();
  const byName = await queries
    .selectFrom('users')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_name_key', '=', key)
    .executeTakeFirst();
  return byEmail ?? byName;
}

/** The emails of a user in their stored order. */
export async function listUserEmails(queries: Queries, tenant: TenantId, user: UserId): Promise<readonly UserEmailTable[]> {
  return queries
    .selectFrom('user_emails')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .orderBy('position')
    .execute();
}
