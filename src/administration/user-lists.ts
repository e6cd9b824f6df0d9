// The multi-valued attributes of a user beside emails, as the management API names them: phone numbers and the like, and
// addresses. Rows and search keys are those SCIM reads. Called by users.ts in its transactions.
import { foldKey } from '../domain/fold.ts';
import type { TenantId, UserId } from '../domain/ids.ts';
import type { Dialect, Queries } from '../storage/database.ts';
import { listAddressesOfUsers, listValuesOfUsers } from '../storage/provisioned-users.ts';
import { replaceUserAddresses, replaceUserValues, type UserAddressTable, type UserValueTable } from '../storage/user-attributes.ts';

/** Names in the API and in the table. */
const valueAttributes = {
  phone_numbers: 'phoneNumbers',
  ims: 'ims',
  photos: 'photos',
  entitlements: 'entitlements',
  roles: 'roles',
} as const;
export type ValueListName = keyof typeof valueAttributes;
export const valueListNames = Object.keys(valueAttributes) as readonly ValueListName[]; // the keys of the constant above
export const addressParts = ['formatted', 'street_address', 'locality', 'region', 'postal_code', 'country', 'type'] as const;

export interface ListValue {
  readonly value: string;
  readonly type?: string | null;
  readonly display?: string | null;
  readonly primary?: boolean;
}
export type Address = Readonly<Partial<Record<(typeof addressParts)[number], string | null>>> & { readonly primary?: boolean };
/** The lists to write; absent ones stay. */
export type UserLists = Readonly<Partial<Record<ValueListName, readonly ListValue[]>>> & { readonly addresses?: readonly Address[] };

export interface StoredLists {
  readonly values: readonly UserValueTable[];
  readonly addresses: readonly UserAddressTable[];
}

/** Replaces the lists that are given. */
export async function writeUserLists(queries: Queries, tenant: TenantId, user: UserId, lists: UserLists): Promise<void> {
  const { values, addresses } = listRows(tenant, user, lists);
  for (const name of valueListNames) {
    const attribute = valueAttributes[name];
    if (lists[name] === undefined) continue;
    await replaceUserValues(
      queries,
      tenant,
      user,
      attribute,
      values.filter((row) => row.attribute === attribute),
    );
  }
  if (lists.addresses !== undefined) await replaceUserAddresses(queries, tenant, user, addresses);
}

/** The rows of these lists. */
export function listRows(tenant: TenantId, user: UserId, lists: UserLists): StoredLists {
  return {
    values: valueListNames.flatMap((name) =>
      (lists[name] ?? []).map((item, position) => ({
        tenant_id: tenant,
        user_id: user,
        attribute: valueAttributes[name],
        position,
        ...valueColumns(item),
      })),
    ),
    addresses: (lists.addresses ?? []).map((item, position) => ({ tenant_id: tenant, user_id: user, position, ...addressColumns(item) })),
  };
}

/** The lists of these users. */
export async function listUserLists(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  ids: readonly UserId[],
): Promise<(user: UserId) => StoredLists> {
  const values = Map.groupBy(await listValuesOfUsers(queries, dialect, tenant, ids), (row) => row.user_id);
  const addresses = Map.groupBy(await listAddressesOfUsers(queries, dialect, tenant, ids), (row) => row.user_id);
  return (user) => ({ values: values.get(user) ?? [], addresses: addresses.get(user) ?? [] });
}

/** The lists as the API shows them; empty ones are absent. */
export function listsToJson({ values, addresses }: StoredLists): Readonly<Record<string, unknown>> {
  const json: Record<string, unknown> = {};
  for (const name of valueListNames) {
    const own = values.filter((row) => row.attribute === valueAttributes[name]);
    if (own.length > 0) json[name] = own.map(({ value, type, display, is_primary: primary }) => element({ value, type, display }, primary));
  }
  if (addresses.length > 0)
    json['addresses'] = addresses.map((row) => element(Object.fromEntries(addressParts.map((part) => [part, row[part]])), row.is_primary));
  return json;
}

function element(parts: Readonly<Record<string, string | null>>, primary: number): Readonly<Record<string, unknown>> {
  return { ...Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== null)), primary: primary === 1 };
}

const keyOf = (text: string | null | undefined): string | null => (text === null || text === undefined ? null : foldKey(text));

function valueColumns({
  value,
  type,
  display,
  primary,
}: ListValue): Omit<UserValueTable, 'tenant_id' | 'user_id' | 'attribute' | 'position'> {
  return {
    value,
    value_key: foldKey(value),
    display: display ?? null,
    display_key: keyOf(display),
    type: type ?? null,
    type_key: keyOf(type),
    is_primary: Number(primary === true),
  };
}

function addressColumns(address: Address): Omit<UserAddressTable, 'tenant_id' | 'user_id' | 'position'> {
  const columns = Object.fromEntries(
    addressParts.flatMap((part) => [
      [part, address[part] ?? null],
      [`${part}_key`, keyOf(address[part])],
    ]),
  );
  return {
    ...(columns as Omit<UserAddressTable, 'tenant_id' | 'user_id' | 'position' | 'is_primary'>),
    is_primary: Number(address.primary === true),
  }; // a column and a key for each part
}
