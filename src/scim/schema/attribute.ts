// The shape of one SCIM attribute definition (RFC 7643 section 7) and of the place where its value lives in SQL.
// The tables themselves are in user-attributes.ts and group-attributes.ts; everything else in this folder derives from them.
// This file must not know any concrete attribute.
import type { CustomAttribute } from '../../domain/people/custom-attributes.ts';

type AttributeType = 'string' | 'boolean' | 'decimal' | 'dateTime' | 'reference' | 'binary' | 'complex';
type Mutability = 'readWrite' | 'readOnly' | 'writeOnly';
export type Returned = 'always' | 'default' | 'never';

/** Where a leaf lives: a column, with the folded, reversed and trigram-indexed companions it may have. */
export interface Column {
  readonly name: string;
  /** Folded copy used for every comparison when the attribute is not caseExact. */
  readonly key?: string;
  /** Code points of the folded (or exact) value in reverse order, indexed for `ew`. */
  readonly reversed?: string;
  /** True when `eq` and `sw` can run on an index of the comparison column. */
  readonly indexed?: boolean;
  /** Name of the column in the trigram index, when `co` can run on it. */
  readonly trigram?: string;
  /** Numbers, instants and booleans stand in it as orderedKey writes them. */
  readonly ordered?: true;
}

/** The rows that hold the elements of a multi-valued attribute. */
type ElementTable = 'emails' | 'values' | 'addresses' | 'groups' | 'members' | 'schemas' | 'custom';

export interface Attribute {
  readonly name: string;
  readonly type: AttributeType;
  readonly multiValued: boolean;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: Mutability;
  readonly returned: Returned;
  readonly uniqueness: 'none' | 'server';
  readonly description: string;
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes: readonly Attribute[];
  /** The column of a leaf; absent means that the value is computed and cannot be filtered. */
  readonly column?: Column;
  /** The element rows of a multi-valued attribute. */
  readonly elements?: ElementTable;
  /** The attribute of the tenant that this is. */
  readonly custom?: CustomAttribute;
}

type AttributeOptions = Partial<Omit<Attribute, 'name' | 'type' | 'description'>>;

/** Builds one attribute definition with the defaults of RFC 7643 section 2.2; references and binaries are case exact. */
export function attribute(name: string, type: AttributeType, description: string, options: AttributeOptions = {}): Attribute {
  return {
    name,
    type,
    description,
    multiValued: false,
    required: false,
    caseExact: type === 'reference' || type === 'binary',
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    subAttributes: [],
    ...options,
  };
}

/** The column that comparisons use: the folded one unless the attribute is case exact. */
export function comparisonColumn(column: Column): string {
  return column.key ?? column.name;
}

/** Whether values of a multi-valued attribute are plain, not objects with a value. */
export const isPlainList = ({ multiValued, type, custom }: Attribute): boolean => multiValued && type !== 'complex' && custom !== undefined;

/** One resource type with every schema it carries. */
export interface ResourceType {
  readonly name: 'User' | 'Group';
  readonly endpoint: '/Users' | '/Groups';
  readonly description: string;
  readonly schema: SchemaDefinition;
  readonly extensions: readonly SchemaDefinition[];
}

export interface SchemaDefinition {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Prefix of this schema's keys in a document: empty for a core schema. */
  readonly keyPrefix: string;
  readonly attributes: readonly Attribute[];
}
