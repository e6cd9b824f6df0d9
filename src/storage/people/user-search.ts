// The search companions of user columns: folded keys, and reversed keys for suffix searches (storage rule R6).
// Whoever writes names or emails of users passes the row through here, so that every search finds it.
import { foldKey } from '../../domain/fold.ts';
import {
  type AddressPart,
  addressColumns,
  type FoldedColumn,
  type ReversedColumn,
  type Search,
  type UserColumn,
  userAttributes,
  userLists,
} from '../../domain/people/user-attributes.ts';
import type { NewAddress, NewValue } from './user-rows.ts';

/** The search columns of `users`, all nullable. */
export type UserSearchTable = {
  [Column in `${FoldedColumn}_key` | `${ReversedColumn}_reversed`]: string | null;
};

export interface EmailSearchTable {
  type_key: string | null;
  display_key: string | null;
  value_reversed: string | null;
}

/** Lists of `user_values` whose values are compared exactly: they have no key, which could not hold a certificate either. */
const exactValues: ReadonlySet<string> = new Set(userLists.filter(({ value }) => value !== undefined).map(({ scim }) => scim));

const columnsOf = (...searches: readonly Search[]): readonly UserColumn[] =>
  userAttributes.filter(({ search }) => searches.includes(search)).map(({ name }) => name);
const foldedColumns = columnsOf('full', 'folded');
const reversedColumns = columnsOf('full', 'identifier');
const exactColumns = new Set(columnsOf('exact', 'identifier'));

/** The index of `users` over a key column; it holds all a page is ordered and filtered by, so that no row is read to sort. */
export function coveringIndex(column: string): string {
  return `users_by_${column}_created_at_id_state`;
}

type Row = Readonly<Record<string, unknown>>;

/** The key columns of those source columns that the row carries; give both to insert or update. */
export function userSearchColumns(row: Row): Partial<UserSearchTable> {
  const keys: Record<string, string | null> = {};
  for (const column of foldedColumns) {
    if (column in row) keys[`${column}_key`] = folded(row[column]);
  }
  for (const column of reversedColumns) {
    if (column in row) keys[`${column}_reversed`] = reversed(exactColumns.has(column) ? textOf(row[column]) : folded(row[column]));
  }
  return keys;
}

/** The key columns of a row of `user_emails`. */
export function emailSearchColumns(email: {
  readonly value: string;
  readonly type?: string | null;
  readonly display?: string | null;
}): EmailSearchTable & { value_key: string } {
  const key = foldKey(email.value);
  return { value_key: key, value_reversed: reverseText(key), type_key: folded(email.type), display_key: folded(email.display) };
}

/** The key columns of a row of `user_values`. */
export function valueSearchColumns(attribute: string, { value, display, type }: NewValue) {
  return { value_key: exactValues.has(attribute) ? null : folded(value), display_key: folded(display), type_key: folded(type) };
}

/** The key columns of a row of `user_addresses`. */
export function addressSearchColumns(address: NewAddress): { readonly [Column in `${AddressPart}_key`]: string | null } {
  return Object.fromEntries(addressColumns.map((part) => [`${part}_key`, folded(address[part])])) as never; // a key for each part
}

/** The code points of a text in reverse order. */
export function reverseText(text: string): string {
  return [...text].reverse().join('');
}

function folded(value: unknown): string | null {
  return typeof value === 'string' ? foldKey(value) : null;
}

function reversed(value: string | null): string | null {
  return value === null ? null : reverseText(value);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
