// The multi-valued attributes of users beside emails: one table for those shaped value/display/type/primary, one for
// addresses. A user's rows are replaced together; positions keep the order in which the values were given.
import type { TenantId, UserId } from '../domain/ids.ts';
import type { Queries } from './database.ts';

export interface UserValueTable {
  tenant_id: TenantId;
  user_id: UserId;
  /** The attribute's SCIM name, e.g. `phoneNumbers`. */
  attribute: string;
  position: number;
  value: string | null;
  value_key: string | null;
  display: string | null;
  display_key: string | null;
  type: string | null;
  type_key: string | null;
  is_primary: number;
}

export interface UserAddressTable {
  tenant_id: TenantId;
  user_id: UserId;
  position: number;
  formatted: string | null;
  formatted_key: string | null;
  street_address: string | null;
  street_address_key: string | null;
  locality: string | null;
  locality_key: string | null;
  region: string | null;
  region_key: string | null;
  postal_code: string | null;
  postal_code_key: string | null;
  country: string | null;
  country_key: string | null;
  type: string | null;
  type_key: string | null;
  is_primary: number;
}

/** The values of one attribute of a user, replaced by these rows. */
export async function replaceUserValues(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  attribute: string,
  rows: readonly UserValueTable[],
): Promise<void> {
  await queries
    .deleteFrom('user_values')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('attribute', '=', attribute)
    .execute();
  if (rows.length > 0) await queries.insertInto('user_values').values(rows).execute();
}

/** The addresses of a user, replaced by these rows. */
export async function replaceUserAddresses(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  rows: readonly UserAddressTable[],
): Promise<void> {
  await queries.deleteFrom('user_addresses').where('tenant_id', '=', tenant).where('user_id', '=', user).execute();
  if (rows.length > 0) await queries.insertInto('user_addresses').values(rows).execute();
}
