// Finds schema table entries by the names clients use: case-insensitive, with or without a schema URN in front
// (RFC 7644 section 3.10). Filters, PATCH paths, bodies and projection all come here; nothing else parses names.
import type { CustomAttribute } from '../../domain/people/custom-attributes.ts';
import type { Attribute, ResourceType, SchemaDefinition } from './attribute.ts';
import { groupType } from './group-attributes.ts';
import { userType, userTypeWith } from './user-attributes.ts';

/** A single-valued leaf and the key of its value in a document. */
export interface Leaf {
  readonly key: string;
  readonly attribute: Attribute;
  readonly schema: SchemaDefinition;
}

/** A multi-valued attribute. */
export interface Plural {
  readonly key: string;
  readonly attribute: Attribute;
}

/** What a name in a request stands for. */
export type Named =
  | { readonly kind: 'leaf'; readonly leaf: Leaf }
  | { readonly kind: 'complex'; readonly attribute: Attribute; readonly leaves: readonly Leaf[] }
  | { readonly kind: 'plural'; readonly plural: Plural }
  | { readonly kind: 'pluralSub'; readonly plural: Plural; readonly sub: Attribute }
  | { readonly kind: 'schema'; readonly schema: SchemaDefinition };

/** Everything about one resource type, indexed once per process, or once per tenant and change of its attributes. */
export interface TypeIndex {
  readonly type: ResourceType;
  readonly schemas: readonly SchemaDefinition[];
  readonly leaves: readonly Leaf[];
  readonly plurals: readonly Plural[];
  readonly names: ReadonlyMap<string, Named>;
}

export const userIndex: TypeIndex = indexType(userType);
export const groupIndex: TypeIndex = indexType(groupType);

const ofTenants = new WeakMap<readonly CustomAttribute[], TypeIndex>();

/** The users of a tenant with these attributes. */
export function userIndexOf(attributes: readonly CustomAttribute[]): TypeIndex {
  if (attributes.length === 0) return userIndex;
  const known = ofTenants.get(attributes) ?? indexType(userTypeWith(attributes));
  ofTenants.set(attributes, known);
  return known;
}

export const isUsers = ({ type }: TypeIndex): boolean => type.name === 'User';

/** The entry a name stands for, or undefined; an extension's attributes need its URN. */
export function findNamed(index: TypeIndex, name: string): Named | undefined {
  return index.names.get(name.toLowerCase());
}

/** The sub-attribute of a complex attribute by its name in any case. */
export function findSubAttribute(attribute: Attribute, name: string): Attribute | undefined {
  const lower = name.toLowerCase();
  return attribute.subAttributes.find((sub) => sub.name.toLowerCase() === lower);
}

/** The plural with exactly this document key. */
export function loadPlural(index: TypeIndex, key: string): Plural {
  const plural = index.plurals.find((candidate) => candidate.key === key);
  if (plural === undefined) throw new Error(`no multi-valued attribute ${key} in ${index.type.name}`);
  return plural;
}

function indexType(type: ResourceType): TypeIndex {
  const schemas = [type.schema, ...type.extensions];
  const leaves: Leaf[] = [];
  const plurals: Plural[] = [];
  const names = new Map<string, Named>();
  for (const schema of schemas) {
    const bare = schema.keyPrefix === '';
    names.set(schema.id.toLowerCase(), { kind: 'schema', schema });
    for (const attribute of schema.attributes) {
      for (const [name, named] of namedEntries(schema, attribute, leaves, plurals)) {
        const lower = name.toLowerCase();
        names.set(`${schema.id.toLowerCase()}:${lower}`, named);
        if (bare) names.set(lower, named);
      }
    }
  }
  return { type, schemas, leaves, plurals, names };
}

function namedEntries(
  schema: SchemaDefinition,
  attribute: Attribute,
  leaves: Leaf[],
  plurals: Plural[],
): readonly (readonly [string, Named])[] {
  const key = schema.keyPrefix + attribute.name;
  if (attribute.multiValued) {
    const plural = { key, attribute };
    plurals.push(plural);
    const subs = attribute.subAttributes.map((sub) => [`${attribute.name}.${sub.name}`, { kind: 'pluralSub', plural, sub }] as const);
    return [[attribute.name, { kind: 'plural', plural }], ...subs];
  }
  if (attribute.type !== 'complex') {
    const leaf = { key, attribute, schema };
    leaves.push(leaf);
    return [[attribute.name, { kind: 'leaf', leaf }]];
  }
  const own = attribute.subAttributes.map((sub) => ({ key: `${key}.${sub.name}`, attribute: sub, schema }));
  leaves.push(...own);
  return [
    [attribute.name, { kind: 'complex', attribute, leaves: own }],
    ...own.map((leaf) => [`${attribute.name}.${leaf.attribute.name}`, { kind: 'leaf', leaf }] as const),
  ];
}
