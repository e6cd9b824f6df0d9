// Writes documents as SCIM JSON in the order of the schema table: canonical names, computed locations, projection applied.
import type { Attribute, SchemaDefinition } from './attribute.ts';
import { formatDateTime } from './date-time.ts';
import { type Document, type Element, elementsOf, scalarOf } from './document.ts';
import { type Projection, wants, wantsSub } from './projection.ts';
import { schemasOf } from './resource-schemas.ts';
import { type Leaf, type Plural, type TypeIndex, typeIndexes } from './schema-lookup.ts';

export type Json = Record<string, unknown>;

/** The JSON of a resource. `base` is the tenant's SCIM base address. */
export function renderResource(index: TypeIndex, document: Document, base: string, projection: Projection): Json {
  const json: Json = { schemas: schemasOf(index, document) };
  for (const schema of index.schemas) {
    const target = schema === index.type.schema ? json : {};
    renderSchema(index, schema, document, base, projection, target);
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

const plans = new Map<SchemaDefinition, readonly AttributePlan[]>(
  typeIndexes.flatMap((index) => index.schemas.map((schema) => [schema, planSchema(index, schema)] as const)),
);

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
  schema: SchemaDefinition,
  document: Document,
  base: string,
  projection: Projection,
  target: Json,
): void {
  for (const { attribute, key, leaves } of plans.get(schema) ?? []) {
    if (attribute.multiValued) {
      const elements = elementsOf(document, key);
      if (elements.length === 0 || !wants(projection, key, attribute)) continue;
      target[attribute.name] = elements.map((element) => renderElement({ key, attribute }, element, base, projection));
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
    const target = scalarOf(document, leaf.key.replace(/\$ref$/, 'value'));
    return target === undefined ? undefined : `${base}/Users/${encodeURIComponent(String(target))}`;
  }
  const value = scalarOf(document, leaf.key);
  return leaf.attribute.type === 'dateTime' && typeof value === 'number' ? formatDateTime(value) : value;
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
    else if (element[sub.name] !== undefined) json[sub.name] = element[sub.name];
  }
  return json;
}
