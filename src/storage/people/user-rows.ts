// The rows of a person: `users` and its lists (emails, values, addresses), as the databases hold them. Types and names; users.ts and
// user-lists.ts read them, user-writer.ts writes them.
import type { TenantId, UserId } from '../../domain/ids.ts';
import { type AddressPart, type UserColumn, userColumns } from '../../domain/people/user-attributes.ts';

/** Columns to write, by name; search keys are added by the writer. */
export type UserProfile = Readonly<Partial<Record<UserColumn, string | null>>>;

export type UserTable = { [Column in UserColumn]: string | null } & {
  tenant_id: TenantId;
  id: UserId;
  /** A UserState. */
  state: string;
  /** A UserOrigin. */
  origin: string;
  /** A UserRole. */
  role: string;
  /** Values of the tenant's own attributes (toCustomCells). */
  custom: string | null;
  version: number;
  created_at: number;
  updated_at: number;
};

/** A user as it is read: everything but the search keys, which are for SQL alone and cost more than they say. */
export type UserRow = Readonly<UserTable>;
/** The columns of a UserRow. */
export const readColumns: readonly (keyof UserTable)[] = [
  'tenant_id',
  'id',
  'state',
  'origin',
  'role',
  'custom',
  'version',
  'created_at',
  'updated_at',
  ...userColumns,
];

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

export type UserEmail = Readonly<UserEmailTable>;

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

/** The keys of a person's custom values, which filters and uniqueness go by. */
export interface UserCustomValueTable {
  tenant_id: TenantId;
  user_id: UserId;
  /** The attribute's id. */
  attribute: string;
  value_key: string;
  /** The same key, when no two people may have it. */
  unique_key: string | null;
}

export type UserAddressTable = { [Column in AddressPart | `${AddressPart}_key`]: string | null } & {
  tenant_id: TenantId;
  user_id: UserId;
  position: number;
  is_primary: number;
};

/** An address as it is read. */
export type UserAddress = Readonly<UserAddressTable>;

export interface NewEmail {
  readonly value: string;
  readonly type: string | null;
  readonly display: string | null;
  readonly is_primary: number;
}
/** An element of a list in `user_values`. */
export type NewValue = Pick<UserValueTable, 'value' | 'display' | 'type' | 'is_primary'>;
export type NewAddress = Pick<UserAddressTable, AddressPart | 'is_primary'>;

/** Lists to write, in order; a list that is not here stays as it is. Values go by their attribute. */
export interface NewLists {
  readonly emails?: readonly NewEmail[] | undefined;
  readonly values?: Readonly<Record<string, readonly NewValue[]>> | undefined;
  readonly addresses?: readonly NewAddress[] | undefined;
}
