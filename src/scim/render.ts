// Writes documents as SCIM JSON in the order of the schema table: canonical names, computed locations, projection applied.

import { createHash } from 'node:crypto';
import { formatDateTime } from '../domain/date-time.ts';
import { type Document, type Element, elementsOf, type Scalar, scalarOf } from './document.ts';
import { type Projection, wants, wantsSub } from './list/projection.ts';
import { type Attribute, isPlainList, type SchemaDefinition } from './schema/attribute.ts';
import { schemasOf } from './schema/resource-schemas.ts';
import { type Leaf, loadPlural, type Plural, type TypeIndex, userIndex } from './schema/schema-lookup.ts';

export type Json = Record<string, unknown>;

const groups = loadPlural(userIndex, 'groups');

/** The JSON of a resource. `base` is the tenant's SCIM base address. */
export function renderResource(index: TypeIndex, document: Document, base: string, projection: Projection): Json {
  const json: Json = { schemas: schemasOf(index, document) };
  for (const schema of index.schemas) {
    const target = schema === index.type.schema ? json : {};
    renderSchema(index, { schema, target }, document, base, projection);
    if (target !== json && Object.keys(target).length > 0) json[schema.id] = target;
  }
  return json;
}

interface AttributePlan {
  readonly attribute: Attribute;
  readonly key: string;
  /** The leaves of a single-valued attribute: itself, or its parts. */
  readonly leaves: readonly Leaf[];
}

const plans = new WeakMap<SchemaDefinition, readonly AttributePlan[]>();

function planOf(index: TypeIndex, schema: SchemaDefinition): readonly AttributePlan[] {
  const plan = plans.get(schema) ?? planSchema(index, schema);
  plans.set(schema, plan);
  return plan;
}

function planSchema(index: TypeIndex, schema: SchemaDefinition): readonly AttributePlan[] {
  return schema.attributes
    .filter((attribute) => attribute.elements !== 'schemas' && attribute.returned !== 'never')
    .map((attribute) => {
      const key = schema.keyPrefix + attribute.name;
      const leaves = index.leaves.filter((leaf) => leaf.schema === schema && (leaf.key === key || leaf.key.startsWith(`${key}.`)));
      return { attribute, key, leaves };
    });
}

function renderSchema(
  index: TypeIndex,
  { schema, target }: { readonly schema: SchemaDefinition; readonly target: Json },
  document: Document,
  base: string,
  projection: Projection,
): void {
  for (const { attribute, key, leaves } of planOf(index, schema)) {
    if (attribute.multiValued) {
      const elements = elementsOf(document, key);
      if (elements.length === 0 || !wants(projection, key, attribute)) continue;
      target[attribute.name] = elements.map((element) =>
        isPlainList(attribute) ? renderScalar(attribute, element['value']) : renderElement({ key, attribute }, element, base, projection),
      );
      continue;
    }
    if (attribute.type !== 'complex') {
      const value = renderLeaf(index, leaves[0]!, document, base, projection);
      if (value !== undefined) target[attribute.name] = value;
      continue;
    }
    let part: Json | undefined;
    for (const leaf of leaves) {
      const value = renderLeaf(index, leaf, document, base, projection);
      if (value === undefined) continue;
      part ??= {};
      part[leaf.attribute.name] = value;
    }
    if (part !== undefined) target[attribute.name] = part;
  }
}

function renderLeaf(index: TypeIndex, leaf: Leaf, document: Document, base: string, projection: Projection): unknown {
  if (!wants(projection, leaf.key, leaf.attribute)) return undefined;
  if (leaf.key === 'meta.location') return locationOf(index, document, base);
  if (leaf.attribute.name === '$ref') {
    const target = scalarOf(document, leaf.key);
    return target === undefined ? undefined : `${base}/Users/${encodeURIComponent(String(target))}`;
  }
  if (leaf.key === 'meta.version') return entityTag(document, projection);
  return renderScalar(leaf.attribute, scalarOf(document, leaf.key));
}

const renderScalar = ({ type }: Attribute, value: Scalar | undefined): unknown =>
  type === 'dateTime' && typeof value === 'number' ? formatDateTime(value) : value;

/**
 * The entity tag of a resource as shown, equal to its meta.version: its version, and of a user in groups a hash of those
 * shown, because memberships and names of groups change what is shown and write no user.
 */
export function entityTag(document: Document, projection: Projection): string {
  const version = String(document['meta.version']);
  const shown = wants(projection, groups.key, groups.attribute) ? elementsOf(document, groups.key) : [];
  if (shown.length === 0) return `W/"${version}"`;
  const named = JSON.stringify(shown.map((group) => [group['value'], group['display']]));
  return `W/"${version}-${createHash('sha256').update(named).digest('base64url').slice(0, 16)}"`;
}

/** The address of a resource. */
export function locationOf(index: TypeIndex, document: Document, base: string): string {
  return `${base}${index.type.endpoint}/${String(document['id'])}`;
}

/** The JSON of one element of a multi-valued attribute. */
export function renderElement(plural: Plural, element: Element, base: string, projection: Projection): Json {
  const json: Json = {};
  for (const sub of plural.attribute.subAttributes) {
    if (!wantsSub(projection, plural.key, sub)) continue;
    if (sub.name === '$ref') json['$ref'] = `${base}/${sub.referenceTypes?.[0] ?? 'User'}s/${String(element['value'])}`;
    else if (sub.name === 'primary') json['primary'] = element['primary'] ?? false;
    else if (element[sub.name] !== undefined) json[sub.name] = element[sub.name];
  }
  return json;
}
