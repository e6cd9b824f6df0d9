// The search companions of user columns: folded keys, and reversed keys for suffix searches (storage rule R6).
// Whoever writes names or emails of users passes the row through here, so that every search finds it.
import { foldKey } from '../domain/fold.ts';

/** Columns of `users` that SCIM adds, all nullable. */
export type UserSearchTable = {
  [Column in (typeof extensionColumns)[number] | `${(typeof foldedColumns)[number]}_key` | `${(typeof reversedColumns)[number]}_reversed`]:
    | string
    | null;
};

export interface EmailSearchTable {
  type_key: string | null;
  display_key: string | null;
  value_reversed: string | null;
}

/** Columns of the EnterpriseUser extension. */
export const extensionColumns = [
  'employee_number',
  'cost_center',
  'organization',
  'division',
  'department',
  'manager_value',
  'manager_display_name',
] as const;
const foldedColumns = [
  'name_formatted',
  'family_name',
  'given_name',
  'middle_name',
  'honorific_prefix',
  'honorific_suffix',
  'display_name',
  'nick_name',
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
  'manager_display_name',
] as const;
/** Reversed: of the folded value, but of the value itself where it is compared exactly. */
const reversedColumns = ['user_name', 'family_name', 'given_name', 'display_name', 'external_id'] as const;

/** The index of `users` over a key column; it holds all a page is ordered and filtered by, so that no row is read to sort. */
export function coveringIndex(column: string): string {
  return `users_by_${column}_created_at_id_state`;
}

type Row = Readonly<Record<string, unknown>>;

/** The key columns of those source columns that the row carries; give both to insert or update. */
export function userSearchColumns(row: Row): Partial<UserSearchTable> & { user_name_key?: string | null } {
  const keys: Record<string, string | null> = {};
  for (const column of [...foldedColumns, 'user_name']) {
    if (column in row) keys[`${column}_key`] = folded(row[column]);
  }
  for (const column of reversedColumns) {
    if (column in row) keys[`${column}_reversed`] = reversed(column === 'external_id' ? textOf(row[column]) : folded(row[column]));
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
