// Users between SQL rows and documents, driven by the schema table: one place for both directions.
import { foldKey } from '../domain/fold.ts';
import type { TenantId, UserId } from '../domain/ids.ts';
import type { NewEmail, UserColumns, UserGroup, UserRow } from '../storage/provisioned-users.ts';
import type { UserAddressTable, UserValueTable } from '../storage/user-attributes.ts';
import type { Attribute } from './attribute.ts';
import { type Document, type DraftElement, type Element, elementsOf, emptyDocument, emptyElement, scalarOf } from './document.ts';
import { type Leaf, type Plural, userIndex } from './schema-lookup.ts';

/** The leaves a client may write, with the column of each; `active` lives in the state. */
const writableLeaves: readonly Leaf[] = userIndex.leaves.filter(
  (leaf) => leaf.attribute.mutability === 'readWrite' && leaf.attribute.column !== undefined && leaf.key !== 'active',
);
const readableLeaves: readonly Leaf[] = [...writableLeaves, ...userIndex.leaves.filter((leaf) => leaf.key === 'id')];

/** The multi-valued attributes kept in `user_values`. */
export const valuePlurals: readonly Plural[] = userIndex.plurals.filter((plural) => plural.attribute.elements === 'values');

/** Every column of `users` that holds something about the person. */
export const personalColumns: readonly string[] = writableLeaves.map((leaf) => columnName(leaf.attribute));

/** What a user's row says, without its multi-valued attributes. */
export function documentOfRow(row: UserRow): Record<string, Document[string]> {
  const columns = row as unknown as Readonly<Record<string, string | null>>; // read by the schema table's column names
  const document = emptyDocument();
  for (const leaf of readableLeaves) document[leaf.key] = columns[columnName(leaf.attribute)] ?? undefined;
  document['active'] = row.state === 'active';
  document['meta.resourceType'] = 'User';
  document['meta.created'] = row.created_at;
  document['meta.lastModified'] = row.updated_at;
  document['meta.version'] = etagOf(row.version);
  return document;
}

/** The entity tag of a version; equal to meta.version. */
export function etagOf(version: number): string {
  return `W/"${version}"`;
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
export function changedColumns(document: Document, before: Document | undefined): UserColumns {
  const columns: Record<string, string | null> = {};
  for (const leaf of writableLeaves) {
    const value = scalarOf(document, leaf.key);
    if (before !== undefined && scalarOf(before, leaf.key) === value) continue;
    columns[columnName(leaf.attribute)] = typeof value === 'string' ? value : null;
  }
  return columns;
}

/** Rows of `user_emails` for a document. */
export function emailRows(document: Document): readonly NewEmail[] {
  return elementsOf(document, 'emails').map((element) => ({
    value: String(element['value']),
    type: textOf(element['type']),
    display: textOf(element['display']),
    is_primary: element['primary'] === true ? 1 : 0,
  }));
}

/** Rows of `user_values` for one attribute of a document. */
export function valueRows(tenant: TenantId, user: UserId, plural: Plural, document: Document): readonly UserValueTable[] {
  return elementRows(plural, document).map((columns, position) => ({
    ...(columns as unknown as UserValueTable), // the sub-attributes' columns are this table's
    value_key: columns['value_key'] ?? null,
    tenant_id: tenant,
    user_id: user,
    attribute: plural.key,
    position,
  }));
}

/** Rows of `user_addresses` for a document. */
export function addressRows(tenant: TenantId, user: UserId, plural: Plural, document: Document): readonly UserAddressTable[] {
  return elementRows(plural, document).map((columns, position) => ({
    ...(columns as unknown as UserAddressTable), // the sub-attributes' columns are this table's
    tenant_id: tenant,
    user_id: user,
    position,
  }));
}

function elementRows(plural: Plural, document: Document): readonly Record<string, string | null>[] {
  return elementsOf(document, plural.key).map((element) => {
    const columns: Record<string, string | number | null> = {};
    for (const sub of plural.attribute.subAttributes) {
      if (sub.column === undefined) continue;
      const value = element[sub.name];
      if (sub.type === 'boolean') columns[sub.column.name] = value === true ? 1 : 0;
      else columns[sub.column.name] = textOf(value);
      if (sub.column.key !== undefined) columns[sub.column.key] = typeof value === 'string' ? foldKey(value) : null;
    }
    return columns as Record<string, string | null>; // is_primary alone is a number, and its column takes one
  });
}

function columnName(attribute: Attribute): string {
  if (attribute.column === undefined) throw new Error(`${attribute.name} has no column`);
  return attribute.column.name;
}

function textOf(value: Element[string]): string | null {
  return typeof value === 'string' ? value : null;
}
