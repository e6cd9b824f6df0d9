// Reads a PATCH body into typed mutations (RFC 7644 section 3.5.2, contract 7.13). Pure: it knows the schema table and the
// id of the resource, not its values. Every name goes through the schema table, so no key of a request is ever written to.

import { reject } from '../../contract/contract-error.ts';
import { scimFilterCharsMax } from '../../contract/limits.ts';
import { complexParts } from '../body-reader.ts';
import { parsePath } from '../filter/filter-parser.ts';
import type { PathSyntax } from '../filter/filter-syntax.ts';
import { asPatchPath, invalidPath, invalidSyntax, invalidValue } from '../refuse.ts';
import { findNamed, findSubAttribute, type Leaf, type Named, type TypeIndex } from '../schema/schema-lookup.ts';
import { patchOperationsMax } from '../scim-limits.ts';
import { isJsonObject, type JsonObject, readScalar } from '../value-reader.ts';
import { planMembers } from './patch-members.ts';
import type { Mutation } from './patch-mutation.ts';
import { planPlural } from './patch-plural.ts';

export type PatchOp = 'add' | 'replace' | 'remove';

/** One operation with its parts checked for shape. `value` is undefined when it was not sent. */
export interface Operation {
  readonly op: PatchOp;
  readonly path: string | undefined;
  readonly value: unknown;
}

/** Plans a PATCH of the resource with this id. Throws the contract's refusal; the whole request fails together. */
export function planPatch(index: TypeIndex, id: string, body: unknown): readonly Mutation[] {
  return readOperations(body).flatMap((operation) =>
    operation.path === undefined ? planWithoutPath(index, id, operation) : planPath(index, id, operation, operation.path),
  );
}

function readOperations(body: unknown): readonly Operation[] {
  if (!isJsonObject(body)) throw invalidSyntax('The body must be a JSON object.');
  const list = ownMember(body, 'operations');
  if (!Array.isArray(list)) throw invalidSyntax('Operations must be a list.');
  if (list.length > patchOperationsMax) throw invalidSyntax(`More than ${patchOperationsMax} operations.`);
  return list.map(readOperation);
}

function readOperation(item: unknown): Operation {
  if (!isJsonObject(item)) throw invalidSyntax('Each operation must be an object.');
  const op = ownMember(item, 'op');
  const word = typeof op === 'string' ? op.toLowerCase() : undefined;
  if (word !== 'add' && word !== 'replace' && word !== 'remove') {
    throw invalidSyntax('op must be add, replace or remove.');
  }
  const path = ownMember(item, 'path');
  if (path !== undefined && path !== null && typeof path !== 'string') throw invalidSyntax('path must be a string.');
  return { op: word, path: path ?? undefined, value: ownMember(item, 'value') };
}

/** An own member by its name in any case; the last one wins. */
function ownMember(object: JsonObject, lowerName: string): unknown {
  const key = Object.keys(object).findLast((candidate) => candidate.toLowerCase() === lowerName);
  return key === undefined ? undefined : object[key];
}

function planWithoutPath(index: TypeIndex, id: string, { op, value }: Operation): readonly Mutation[] {
  if (op === 'remove') throw reject('scim.noTarget', 'remove_without_path', { text: 'remove needs a path.' });
  if (!isJsonObject(value)) throw invalidValue('Without a path, value must be an object.');
  return planObject(index, id, op, '', value);
}

function planObject(index: TypeIndex, id: string, op: 'add' | 'replace', prefix: string, object: JsonObject): readonly Mutation[] {
  return Object.keys(object).flatMap((key) => {
    const value = object[key];
    const path = prefix + key;
    if (path.toLowerCase() === 'id') return checkId(id, value);
    if (path.includes('[')) return planInnerValuePath(index, id, op, path, value);
    const named = findNamed(index, path);
    if (named === undefined || isReadOnly(named)) return [];
    return planNamed(index, id, { op, path, value }, named);
  });
}

function checkId(id: string, value: unknown): readonly Mutation[] {
  if (value !== id) throw invalidValue('id cannot change.');
  return [];
}

/** A value path as a key of a path-less value: an unknown attribute is ignored as any unknown key is. */
function planInnerValuePath(index: TypeIndex, id: string, op: 'add' | 'replace', path: string, value: unknown): readonly Mutation[] {
  const syntax = asPatchPath(() => parsePath(path));
  return findNamed(index, syntax.path) === undefined ? [] : planPath(index, id, { op, path, value }, path);
}

function planPath(index: TypeIndex, id: string, operation: Operation, path: string): readonly Mutation[] {
  if (path.length > scimFilterCharsMax) throw invalidPath(`path is longer than ${scimFilterCharsMax} characters.`);
  const syntax = asPatchPath(() => parsePath(path));
  const named = findNamed(index, syntax.path);
  if (named === undefined || isReadOnly(named)) throw invalidPath('The path names no attribute that can change.');
  if (syntax.filter === undefined) return planNamed(index, id, operation, named);
  if (named.kind !== 'plural') throw invalidPath('The path selects values of an attribute that has one value.');
  return planValuePath(operation, named.plural, syntax, syntax.filter);
}

function planValuePath(
  operation: Operation,
  plural: Extract<Named, { kind: 'plural' }>['plural'],
  syntax: PathSyntax,
  filter: NonNullable<PathSyntax['filter']>,
): readonly Mutation[] {
  const sub = syntax.subAttribute === undefined ? undefined : findSubAttribute(plural.attribute, syntax.subAttribute);
  if (syntax.subAttribute !== undefined && (sub === undefined || sub.mutability === 'readOnly')) {
    throw invalidPath('The path names no sub-attribute that can change.');
  }
  const target = { filter, sub };
  return plural.attribute.elements === 'members' ? planMembers(plural, operation, target) : planPlural(plural, operation, target);
}

/** Whether a client cannot change what a name stands for. */
export function isReadOnly(named: Named): boolean {
  switch (named.kind) {
    case 'leaf':
      return named.leaf.attribute.mutability === 'readOnly';
    case 'complex':
      return named.attribute.mutability === 'readOnly';
    case 'plural':
      return named.plural.attribute.mutability === 'readOnly';
    case 'pluralSub':
      return named.plural.attribute.mutability === 'readOnly' || named.sub.mutability === 'readOnly';
    case 'schema':
      return false;
    default:
      return named satisfies never;
  }
}

function planNamed(index: TypeIndex, id: string, operation: Operation, named: Named): readonly Mutation[] {
  if (operation.op !== 'remove' && operation.value === undefined) {
    throw invalidValue(`${operation.op} needs a value.`);
  }
  switch (named.kind) {
    case 'leaf':
      return planLeaf(operation, named.leaf);
    case 'complex':
      return planComplex(operation, named.attribute.name, named.leaves);
    case 'plural':
      return named.plural.attribute.elements === 'members'
        ? planMembers(named.plural, operation, undefined)
        : planPlural(named.plural, operation, undefined);
    case 'pluralSub':
      throw invalidPath(`Select the values of ${named.plural.attribute.name} with brackets.`);
    case 'schema':
      return planSchema(index, id, operation, named.schema);
    default:
      return named satisfies never;
  }
}

function planLeaf({ op, value }: Operation, leaf: Leaf): readonly Mutation[] {
  const { attribute } = leaf;
  if (attribute.mutability !== 'readWrite') return []; // password: accepted and ignored
  const scalar = op === 'remove' ? undefined : readScalar(attribute, value);
  const essential = attribute.required || leaf.key === 'active';
  if (scalar === undefined && essential) throw invalidValue(`${attribute.name} cannot be removed.`);
  return [{ kind: 'assign', leaf, value: scalar }];
}

function planComplex(operation: Operation, name: string, leaves: readonly Leaf[]): readonly Mutation[] {
  const writable = leaves.filter((leaf) => leaf.attribute.mutability === 'readWrite');
  const { op, value } = operation;
  if (op === 'remove' || value === null || value === '') {
    return writable.map((leaf) => ({ kind: 'assign', leaf, value: undefined }));
  }
  return complexParts(name, writable, value).flatMap(([leaf, part]) => planLeaf({ ...operation, value: part }, leaf));
}

/** A path that is a schema URN: its attributes together. */
function planSchema(
  index: TypeIndex,
  id: string,
  { op, value }: Operation,
  schema: Extract<Named, { kind: 'schema' }>['schema'],
): readonly Mutation[] {
  if (op === 'remove' || value === null) {
    if (schema === index.type.schema) throw invalidValue(`${schema.name} cannot be removed.`);
    const leaves = index.leaves.filter((leaf) => leaf.schema === schema && leaf.attribute.mutability === 'readWrite');
    const plurals = index.plurals.filter(({ key, attribute }) => key.startsWith(schema.keyPrefix) && attribute.mutability === 'readWrite');
    return [
      ...leaves.map((leaf) => ({ kind: 'assign', leaf, value: undefined }) as const),
      ...plurals.map((plural) => ({ kind: 'replaceElements', plural, elements: [] }) as const),
    ];
  }
  if (!isJsonObject(value)) throw invalidValue(`${schema.name} must be an object.`);
  return planObject(index, id, op, `${schema.id}:`, value);
}
