// A person as JSON, as the Management API and documents share it: the SCIM user in snake_case. Schemas, and from and to what
// storage keeps; all of it follows the table in domain/people/user-attributes.ts.
import Type, { type TProperties } from 'typebox';
import {
  directoryKeyBytesMax,
  directoryValueCharsMax,
  directoryValuesMax,
  emailCharsMax,
  emailsPerUserMax,
  profileCharsMax,
} from '../../contract/limits.ts';
import { text } from '../../domain/field.ts';
import { foldKey } from '../../domain/fold.ts';
import {
  type CustomAttribute,
  type CustomReading,
  type CustomValues,
  changeCustom,
  fromCustomCell,
} from '../../domain/people/custom-attributes.ts';
import { hasOnePrimaryAtMost, type ListElement } from '../../domain/people/user.ts';
import { addressColumns, type UserList, userAttributes, userLists } from '../../domain/people/user-attributes.ts';
import type { UserLists } from '../../storage/people/user-lists.ts';
import type { NewAddress, NewEmail, NewLists, NewValue, UserProfile, UserRow } from '../../storage/people/user-rows.ts';
import { closed, nullable } from '../schema-pieces.ts';

type Json = Readonly<Record<string, unknown>>;

const shown: readonly UserList[] = userLists.filter(({ scimOnly }) => scimOnly !== true);
/** The lists beside emails, addresses last. */
const furtherLists = [...shown.filter(({ table }) => table === 'values'), ...shown.filter(({ table }) => table === 'addresses')];

interface Bounds {
  readonly charsMax: number;
  readonly elementsMax: number;
}

const anyText = (charsMax: number) => Type.Optional(nullable(Type.Unsafe<string>(text(charsMax).shape)));
const primary = Type.Optional(Type.Boolean());
const emailWithin = ({ charsMax }: Bounds) => ({
  value: Type.String({ minLength: 3, maxLength: emailCharsMax, pattern: '^[^\\s@]+@[^\\s@]+$' }),
  type: anyText(charsMax),
  display: anyText(charsMax),
  primary,
});
const valueWithin = (bounds: Bounds) => ({
  ...emailWithin(bounds),
  value: Type.String({ minLength: 1, maxLength: bounds.charsMax }),
});
const addressWithin = ({ charsMax }: Bounds) => ({
  ...Object.fromEntries(addressColumns.map((part) => [part, anyText(charsMax)])),
  primary,
});

const plain = userAttributes.filter(({ path }) => !path.includes('.'));
/** Attributes in an object of their own: `name`, `enterprise`. */
const nested = Map.groupBy(
  userAttributes.filter(({ path }) => path.includes('.')),
  ({ path }) => path.split('.')[0]!,
);
const nestedProperties = ({ charsMax }: Bounds, wrap: (properties: TProperties) => TProperties[string]): TProperties =>
  Object.fromEntries(
    [...nested].map(([head, parts]) => [
      head,
      wrap(Object.fromEntries(parts.map((part) => [part.path.slice(head.length + 1), anyText(charsMax)]))),
    ]),
  );

const plainProperties = ({ charsMax }: Bounds): TProperties => Object.fromEntries(plain.map((one) => [one.path, anyText(charsMax)]));
const listOf = ({ elementsMax }: Bounds, element: TProperties) => Type.Optional(Type.Array(closed(element), { maxItems: elementsMax }));
const listProperties = (bounds: Bounds): TProperties =>
  Object.fromEntries(
    furtherLists.map(({ path, table }) => [path, listOf(bounds, table === 'addresses' ? addressWithin(bounds) : valueWithin(bounds))]),
  );

const personWithin = (bounds: Bounds): TProperties => ({
  ...plainProperties(bounds),
  ...listProperties(bounds),
  ...nestedProperties(bounds, (parts) => Type.Optional(nullable(closed(parts)))),
  emails: listOf(bounds, emailWithin(bounds)),
  custom: Type.Optional(
    nullable(Type.Record(Type.String(), Type.Unknown(), { description: 'Attributes of the tenant by name; null removes one.' })),
  ),
});

const ofApi: Bounds = { charsMax: profileCharsMax, elementsMax: emailsPerUserMax };
/** The members of a person in a body; all may be absent, null clears. */
export const personProperties: TProperties = personWithin(ofApi);
/** The same in documents, which restore what directories gave. */
export const documentedProperties: TProperties = personWithin({
  charsMax: directoryValueCharsMax,
  elementsMax: directoryValuesMax,
});
/** The same as an answer shows them. */
export const shownProperties: TProperties = {
  ...plainProperties(ofApi),
  ...nestedProperties(ofApi, (parts) => Type.Optional(Type.Object(parts))),
  emails: Type.Array(Type.Object(emailWithin(ofApi))),
  ...listProperties(ofApi),
  custom: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
};

/** The columns that a body or document gives. */
export function profileOf(json: Json): UserProfile {
  const profile: Record<string, unknown> = {};
  for (const { name, path } of userAttributes) {
    const [head, part] = path.split('.') as [string, string?];
    const outer = json[head];
    const given = part === undefined || outer === null ? outer : (outer as Json | undefined)?.[part];
    if (given !== undefined) profile[name] = given;
  }
  return profile as UserProfile; // checked by the schema
}

/** The attributes of a row; absent ones are absent, as in SCIM. */
export function profileToJson(row: UserRow): Json {
  const json: Record<string, unknown> = {};
  for (const { name, path } of plain) if (row[name] !== null) json[path] = row[name];
  for (const [head, parts] of nested) {
    const present = parts.filter(({ name }) => row[name] !== null).map(({ name, path }) => [path.slice(head.length + 1), row[name]]);
    if (present.length > 0) json[head] = Object.fromEntries(present);
  }
  return json;
}

/** The first list with more than one primary element. */
export function listFault(json: Json): string | undefined {
  return shown.find(({ path }) => !hasOnePrimaryAtMost((json[path] ?? []) as readonly ListElement[]))?.path;
}

/** Where a text stands that no index could hold, by its members. */
export function longKeyIn(json: unknown, path: readonly (string | number)[] = []): readonly (string | number)[] | undefined {
  if (typeof json === 'string') return isLongKey(json) ? path : undefined;
  if (typeof json !== 'object' || json === null) return undefined;
  for (const [key, member] of Object.entries(json)) {
    const found = longKeyIn(member, [...path, Array.isArray(json) ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Some are kept as they are, others folded. */
export const isLongKey = (value: string): boolean =>
  Math.min(Buffer.byteLength(value), Buffer.byteLength(foldKey(value))) > directoryKeyBytesMax;

/** The lists that a body or document gives. One email alone is the primary one unless it says otherwise. */
export function listsOf(json: Json): NewLists {
  const given = shown.filter(({ path }) => json[path] !== undefined);
  const elementsOf = ({ path }: UserList): readonly Json[] => json[path] as readonly Json[]; // checked by the schema
  const values = given.filter(({ table }) => table === 'values');
  const [emails] = given.filter(({ table }) => table === 'emails').map(elementsOf);
  const [addresses] = given.filter(({ table }) => table === 'addresses').map(elementsOf);
  return {
    emails: emails?.map((one) => columnsOf(one, valueColumns, emails.length === 1)) as readonly NewEmail[] | undefined,
    values: Object.fromEntries(
      values.map((list) => [list.scim, elementsOf(list).map((one) => columnsOf(one, valueColumns))]),
    ) as unknown as Readonly<Record<string, readonly NewValue[]>>,
    addresses: addresses?.map((one) => columnsOf(one, addressColumns)) as readonly NewAddress[] | undefined,
  }; // the columns of each table
}

const valueColumns = ['value', 'type', 'display'];

const columnsOf = (element: Json, names: readonly string[], primaryByDefault = false): Json => ({
  ...Object.fromEntries(names.map((name) => [name, element[name] ?? null])),
  is_primary: Number(element['primary'] ?? primaryByDefault),
});

/** The lists of a user; empty ones are absent, but for emails. */
export function listsToJson({ emails, values, addresses }: UserLists): Json {
  const json: Record<string, unknown> = { emails: emails.map((row) => elementToJson(row, valueColumns)) };
  for (const { path, scim, table } of furtherLists) {
    const rows = table === 'addresses' ? addresses : values.filter(({ attribute }) => attribute === scim);
    if (rows.length > 0) json[path] = rows.map((row) => elementToJson(row, table === 'addresses' ? addressColumns : valueColumns));
  }
  return json;
}

function elementToJson(row: object & { readonly is_primary: number }, names: readonly string[]): Json {
  const columns = row as unknown as Json; // a row with these columns
  return {
    ...Object.fromEntries(names.filter((name) => columns[name] !== null).map((name) => [name, columns[name]])),
    primary: row.is_primary === 1,
  };
}

/** The custom values of a row; absent when there are none. */
export function customToJson(attributes: readonly CustomAttribute[], { custom }: UserRow): Json {
  const values = fromCustomCell(attributes, custom);
  return Object.keys(values).length === 0 ? {} : { custom: values };
}

/** The custom values that a body lays over those before; undefined when it names none, null removes them all. */
export function customOf(attributes: readonly CustomAttribute[], json: Json, before: CustomValues): CustomReading | undefined {
  const given = json['custom'] as Json | null | undefined; // checked by the schema
  if (given === undefined) return undefined;
  return given === null ? { ok: true, values: {} } : changeCustom(attributes, before, given);
}

/** The names of the lists in the API, emails first. */
export const listPaths: readonly string[] = ['emails', ...furtherLists.map(({ path }) => path)];
