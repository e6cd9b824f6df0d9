// What tokens and UserInfo say about a user: the rows behind the standard claims, each group read only when it is asked for.
import type { TenantId, UserId } from '../domain/ids.ts';
import type { Queries } from './database.ts';
import { listGroupNamesOfUser } from './groups.ts';
import type { UserAddressTable } from './user-attributes.ts';
import { findUser, listUserEmails, type UserTable } from './users.ts';

export interface ClaimSources {
  readonly email: boolean;
  readonly phone: boolean;
  readonly address: boolean;
  readonly groups: boolean;
}

export interface UserFacts {
  readonly user: UserTable;
  /** The primary email, or the first. */
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly address: UserAddressTable | undefined;
  readonly groups: readonly string[] | undefined;
}

/** The facts a set of scopes shows; undefined for an unknown user. */
export async function findUserFacts(
  queries: Queries,
  tenant: TenantId,
  userId: UserId,
  sources: ClaimSources,
): Promise<UserFacts | undefined> {
  const user = await findUser(queries, tenant, userId);
  if (user === undefined) return undefined;
  const emails = sources.email ? await listUserEmails(queries, tenant, userId) : [];
  const groups = sources.groups ? await listGroupNamesOfUser(queries, tenant, userId) : undefined;
  return {
    user,
    email: (emails.find((email) => email.is_primary === 1) ?? emails[0])?.value,
    phone: sources.phone ? await findPhone(queries, tenant, userId) : undefined,
    address: sources.address ? await findAddress(queries, tenant, userId) : undefined,
    groups: groups === undefined ? undefined : [...groups].sort(),
  };
}

async function findPhone(queries: Queries, tenant: TenantId, userId: UserId): Promise<string | undefined> {
  const row = await queries
    .selectFrom('user_values')
    .select('value')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', userId)
    .where('attribute', '=', 'phoneNumbers')
    .orderBy('is_primary', 'desc')
    .orderBy('position')
    .limit(1)
    .executeTakeFirst();
  return row?.value ?? undefined;
}

async function findAddress(queries: Queries, tenant: TenantId, userId: UserId): Promise<UserAddressTable | undefined> {
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
