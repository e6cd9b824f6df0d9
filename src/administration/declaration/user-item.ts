// The fields of a user in a document: the SCIM user in snake_case, as the Management API has it, with the EnterpriseUser
// extension and the groups. From and to the columns of storage; nothing is written here.
import Type from 'typebox';
import { emailCharsMax, emailsPerUserMax, listedNamesMax, profileCharsMax } from '../../contract/limits.ts';
import { type DeclaredColumns, type DeclaredRow, declaredColumns } from '../../storage/declared-users.ts';
import { extensionColumns } from '../../storage/user-search.ts';
import type { NewEmail, UserEmailTable } from '../../storage/users.ts';
import { closed, nullable, oneOf } from '../schema-pieces.ts';
import { addressParts, listsToJson, type StoredLists, type UserLists, type ValueListName, valueListNames } from '../user-lists.ts';
import { compact, type Json } from './document.ts';
import { uuid } from './uuid.ts';

const text = Type.Optional(nullable(Type.String({ minLength: 1, maxLength: profileCharsMax })));
const element = { type: text, display: text, primary: Type.Optional(Type.Boolean()) };
const email = closed({ value: Type.String({ minLength: 3, maxLength: emailCharsMax, pattern: '^[^\\s@]+@[^\\s@]+$' }), ...element });
const listed = Type.Optional(
  Type.Array(closed({ value: Type.String({ minLength: 1, maxLength: profileCharsMax }), ...element }), { maxItems: emailsPerUserMax }),
);
const address = closed({ ...Object.fromEntries(addressParts.map((part) => [part, text])), primary: element.primary });

/** Names inside `name`, and their columns. */
const nameColumns = {
  formatted: 'name_formatted',
  given_name: 'given_name',
  family_name: 'family_name',
  middle_name: 'middle_name',
  honorific_prefix: 'honorific_prefix',
  honorific_suffix: 'honorific_suffix',
} as const;
const plainColumns = declaredColumns.filter(
  (column) =>
    !(Object.values(nameColumns) as readonly string[]).includes(column) && !(extensionColumns as readonly string[]).includes(column),
);
const texts = <Name extends string>(names: readonly Name[]): Record<Name, typeof text> =>
  Object.fromEntries(names.map((name) => [name, text])) as Record<Name, typeof text>; // one entry a name

export const userSchema = closed({
  id: Type.Optional(uuid),
  ...texts(['user_name', 'display_name', ...plainColumns]),
  name: Type.Optional(nullable(closed(texts(Object.keys(nameColumns))))),
  enterprise: Type.Optional(nullable(closed(texts(extensionColumns)))),
  emails: Type.Optional(Type.Array(email, { maxItems: emailsPerUserMax })),
  ...(Object.fromEntries(valueListNames.map((list) => [list, listed])) as Record<ValueListName, typeof listed>), // one entry a name
  addresses: Type.Optional(Type.Array(address, { maxItems: emailsPerUserMax })),
  groups: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: profileCharsMax }), { maxItems: listedNamesMax * 10 })),
  role: Type.Optional(oneOf(['user', 'admin'])),
  state: Type.Optional(oneOf(['active', 'suspended'])),
  origin: Type.Optional(oneOf(['console', 'scim', 'signup'])),
});
export type UserItem = Type.Static<typeof userSchema> & { readonly user_name?: string | null; readonly display_name?: string | null };

/** Every field written out, as two users are compared. */
export function fieldsOfItem(item: Omit<UserItem, 'id' | 'groups'> & { readonly groups: readonly string[] }): Json {
  const emails = emailsOf(item).map(({ value, type, display, is_primary: primary }) => elementOf(value, type, display, primary));
  const lists = Object.fromEntries(
    Object.entries(listsOf(item)).map(([name, values]) => [name, values.map((value) => marked({ ...value }))]),
  );
  return compact({
    ...item,
    name: compact((item.name ?? {}) as Json),
    enterprise: compact((item.enterprise ?? {}) as Json),
    ...lists,
    emails,
    role: item.role ?? 'user',
    state: item.state ?? 'active',
    origin: item.origin ?? 'console',
  });
}

export function fieldsOfRow(row: DeclaredRow, emails: readonly UserEmailTable[], lists: StoredLists, groups: readonly string[]): Json {
  const inside = (columns: Readonly<Record<string, string>>): Json =>
    compact(Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, (row as unknown as Json)[column]]))); // names of columns
  const values = listsToJson(lists);
  return compact({
    ...Object.fromEntries(plainColumns.map((column) => [column, row[column]])),
    name: inside(nameColumns),
    enterprise: inside(Object.fromEntries(extensionColumns.map((column) => [column, column]))),
    emails: emails.map(({ value, type, display, is_primary: primary }) => elementOf(value, type, display, primary)),
    ...Object.fromEntries(Object.entries(values).map(([name, list]) => [name, (list as readonly Json[]).map(marked)])),
    groups,
    role: row.role,
    state: row.state,
    origin: row.origin,
  });
}

/** Whether an email is the primary one is always written out, because one alone is it by default. */
const elementOf = (value: string, type: string | null, display: string | null, primary: number): Json => ({
  ...compact({ value, type, display }),
  primary: primary === 1,
});

/** `primary: false` is left out. */
function marked({ primary, ...element }: Json): Json {
  return { ...compact(element), ...(primary === true ? { primary: true } : {}) };
}

/** One email alone is the primary one unless it says otherwise. */
export function emailsOf(item: Pick<UserItem, 'emails'>): readonly NewEmail[] {
  const emails = item.emails ?? [];
  return emails.map(({ value, type, display, primary }) => ({
    value,
    type: type ?? null,
    display: display ?? null,
    is_primary: Number(primary ?? emails.length === 1),
  }));
}

/** Every list of the item, absent ones empty. */
export function listsOf(item: Json): Required<UserLists> {
  const names = [...valueListNames, 'addresses'] as const;
  return Object.fromEntries(names.map((name) => [name, item[name] ?? []])) as unknown as Required<UserLists>; // checked by the schema
}

export function columnsOf(fields: Json): DeclaredColumns {
  const name = (fields['name'] ?? {}) as Json;
  const enterprise = (fields['enterprise'] ?? {}) as Json;
  const inName = Object.entries(nameColumns).map(([part, column]) => [column, name[part] ?? null]);
  const inEnterprise = extensionColumns.map((column) => [column, enterprise[column] ?? null]);
  const plain = plainColumns.map((column) => [column, fields[column] ?? null]);
  return Object.fromEntries([...plain, ...inName, ...inEnterprise]) as DeclaredColumns; // one entry a column
}
