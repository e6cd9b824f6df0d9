// Users between SQL rows and documents, driven by the schema table: one place for both directions.

import { formatDateTime } from '../domain/date-time.ts';
import {
  type CustomAttribute,
  type CustomCells,
  changeCustom,
  customPath,
  dateMs,
  fromCustomCell,
  toCustomCells,
} from '../domain/people/custom-attributes.ts';
import type { UserGroup } from '../storage/people/user-lists.ts';
import type { NewAddress, NewEmail, NewLists, NewValue, UserProfile, UserRow } from '../storage/people/user-rows.ts';
import {
  type Document,
  type DraftElement,
  type Element,
  elementsOf,
  emptyDocument,
  emptyElement,
  type Scalar,
  sameValue,
  scalarOf,
} from './document.ts';
import { invalidValue } from './refuse.ts';
import type { Attribute } from './schema/attribute.ts';
import { type Leaf, loadPlural, type Plural, userIndex } from './schema/schema-lookup.ts';

/** The leaves a client may write, with the column of each; `active` lives in the state. */
const writableLeaves: readonly Leaf[] = userIndex.leaves.filter(
  (leaf) => leaf.attribute.mutability === 'readWrite' && leaf.attribute.column !== undefined && leaf.key !== 'active',
);
const readableLeaves: readonly Leaf[] = [...writableLeaves, ...userIndex.leaves.filter((leaf) => leaf.key === 'id')];

/** The multi-valued attributes kept in `user_values`. */
export const valuePlurals: readonly Plural[] = userIndex.plurals.filter((plural) => plural.attribute.elements === 'values');

export const emails = loadPlural(userIndex, 'emails');
export const addresses = loadPlural(userIndex, 'addresses');

/** What a user's row says, without its multi-valued attributes. */
export function documentOfRow(row: UserRow, attributes: readonly CustomAttribute[]): Record<string, Document[string]> {
  const columns = row as unknown as Readonly<Record<string, string | null>>; // read by the schema table's column names
  const document = emptyDocument();
  for (const leaf of readableLeaves) document[leaf.key] = columns[columnName(leaf.attribute)] ?? undefined;
  for (const [name, value] of Object.entries(fromCustomCell(attributes, row.custom))) {
    const { type } = attributes.find((one) => one.name === name)!;
    const scalar = (one: unknown): Scalar => (type === 'date' ? dateMs(one)! : (one as Scalar)); // of its type
    document[`custom.${name}`] = Array.isArray(value) ? value.map((one) => elementOf(scalar(one))) : scalar(value);
  }
  document['active'] = row.state === 'active';
  document['meta.resourceType'] = 'User';
  document['meta.created'] = row.created_at;
  document['meta.lastModified'] = row.updated_at;
  document['meta.version'] = row.version;
  return document;
}

function elementOf(value: Scalar): Element {
  const element = emptyElement();
  element['value'] = value;
  return element;
}

/** The custom values of a user as a document has them, when they differ from those before; throws invalidValue. */
export function changedCustom(
  attributes: readonly CustomAttribute[],
  document: Document,
  before?: { readonly document: Document; readonly row: UserRow },
): CustomCells | undefined {
  const changed = attributes.filter((one) => !sameValue(document[customPath(one)], before?.document[customPath(one)]));
  if (changed.length === 0) return undefined;
  const stored = before === undefined ? {} : fromCustomCell(attributes, before.row.custom);
  const change = changed.map((one) => {
    const value = document[customPath(one)];
    const written = (scalar: unknown): unknown => (one.type === 'date' && typeof scalar === 'number' ? formatDateTime(scalar) : scalar);
    return [one.name, (Array.isArray(value) ? value.map((element) => written(element['value'])) : written(value)) ?? null] as const;
  });
  const reading = changeCustom(attributes, stored, Object.fromEntries(change));
  if (!reading.ok) throw invalidValue(`${reading.field.replace('custom.', '')} ${reading.text}.`);
  return toCustomCells(attributes, reading.values);
}

/** Elements from rows of any element table, by the sub-attributes' columns. */
export function elementsOfRows(plural: Plural, rows: readonly object[]): readonly Element[] {
  return rows.map((row) => {
    const columns = row as Readonly<Record<string, string | number | null>>; // rows of this attribute's own table
    const element = emptyElement();
    for (const sub of plural.attribute.subAttributes) {
      if (sub.column === undefined) continue;
      const value = columns[sub.column.name];
      if (sub.type === 'boolean') {
        if (value === 1) element[sub.name] = true;
      } else if (value !== null && value !== undefined) element[sub.name] = value;
    }
    return element;
  });
}

/** A group a user is in, as an element of `groups`. */
export function groupElement(group: UserGroup): Element {
  const element: DraftElement = emptyElement();
  element['value'] = group.id;
  element['display'] = group.display_name;
  element['type'] = 'direct';
  return element;
}

/** The columns of a document that differ from another's; all of them when there is no other. */
export function changedColumns(document: Document, before?: Document): UserProfile {
  const columns: Record<string, string | null> = {};
  for (const leaf of writableLeaves) {
    const value = scalarOf(document, leaf.key);
    if (before !== undefined && scalarOf(before, leaf.key) === value) continue;
    columns[columnName(leaf.attribute)] = typeof value === 'string' ? value : null;
  }
  return columns;
}

/** The lists of a document that differ from another's; all of them when there is no other. */
export function changedLists(document: Document, before?: Document): NewLists {
  const differs = ({ key }: Plural): boolean => !sameValue(document[key], before?.[key]);
  const changed = (plural: Plural): readonly ElementColumns[] | undefined =>
    differs(plural) ? elementColumns(plural, document) : undefined;
  const values = valuePlurals.filter(differs).map((plural) => [plural.key, elementColumns(plural, document)] as const);
  return {
    emails: changed(emails) as readonly NewEmail[] | undefined, // the sub-attributes' columns are those of each table
    values: Object.fromEntries(values) as unknown as Readonly<Record<string, readonly NewValue[]>>,
    addresses: changed(addresses) as readonly NewAddress[] | undefined,
  };
}

type ElementColumns = Readonly<Record<string, string | number | null>>;

function elementColumns(plural: Plural, document: Document): readonly ElementColumns[] {
  return elementsOf(document, plural.key).map((element) =>
    Object.fromEntries(
      plural.attribute.subAttributes.flatMap(({ name, type, column }) => {
        if (column === undefined) return [];
        const value = element[name];
        return [[column.name, type === 'boolean' ? Number(value === true) : typeof value === 'string' ? value : null] as const];
      }),
    ),
  );
}

function columnName(attribute: Attribute): string {
  if (attribute.column === undefined) throw new Error(`${attribute.name} has no column`);
  return attribute.column.name;
}
