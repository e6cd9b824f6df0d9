// Plans one operation on the members of a group as changes of the membership, so that SQL touches only what changes.
// A remove without target is refused, never read as clear-all (contract 7.13). Called by patch-planner.ts.

import { resolveElementFilter } from '../filter/filter-resolver.ts';
import type { FilterSyntax } from '../filter/filter-syntax.ts';
import { asPatchPath, invalidPath, invalidValue } from '../refuse.ts';
import { findSubAttribute, type Plural } from '../schema/schema-lookup.ts';
import { isJsonObject } from '../value-reader.ts';
import type { Mutation } from './patch-mutation.ts';
import type { Operation } from './patch-planner.ts';
import type { ValueTarget } from './patch-plural.ts';

/** Plans an operation on `members`, or on the members a value path names. */
export function planMembers(plural: Plural, { op, value }: Operation, target: ValueTarget | undefined): readonly Mutation[] {
  if (target !== undefined) {
    const ids = selectedIds(plural, target.filter);
    if (op !== 'remove' || target.sub !== undefined) throw invalidPath('Members can only be removed by a value path.');
    return [{ kind: 'removeMembers', ids, mustExist: true }];
  }
  if (op === 'add') return [{ kind: 'addMembers', ids: readMemberIds(value) }];
  if (op === 'replace') return [{ kind: 'replaceMembers', ids: readMemberIds(value) }];
  const ids = value === undefined || value === null ? [] : readMemberIds(value);
  if (ids.length === 0) throw invalidValue('remove of members needs a target.');
  return [{ kind: 'removeMembers', ids, mustExist: false }];
}

/** The distinct ids a member list names, in order; groups as members are refused. */
export function readMemberIds(value: unknown): readonly string[] {
  if (value === null || value === undefined) return [];
  const list = isJsonObject(value) ? [value] : value;
  if (!Array.isArray(list)) throw invalidValue('members must be a list.');
  return [...new Set(list.map(readMemberId))];
}

function readMemberId(item: unknown): string {
  if (!isJsonObject(item)) throw invalidValue('Each of members must be an object.');
  const id = memberPart(item, 'value');
  const type = memberPart(item, 'type');
  if (typeof id !== 'string' || id === '') throw invalidValue('Each of members needs a value.');
  if (type !== undefined && type !== null && (typeof type !== 'string' || type.toLowerCase() !== 'user')) {
    throw invalidValue('Only users can be members.');
  }
  return id;
}

function memberPart(item: Readonly<Record<string, unknown>>, name: string): unknown {
  const key = Object.keys(item).findLast((candidate) => candidate.toLowerCase() === name);
  return key === undefined ? undefined : item[key];
}

function selectedIds(plural: Plural, filter: FilterSyntax): readonly string[] {
  asPatchPath(() => resolveElementFilter(plural, filter));
  const ids = idsNamedBy(plural, filter);
  if (ids === undefined) throw invalidValue('A value path on members must name values by eq.');
  return [...new Set(ids)];
}

function idsNamedBy(plural: Plural, filter: FilterSyntax): readonly string[] | undefined {
  if (filter.kind === 'compare') {
    const sub = findSubAttribute(plural.attribute, filter.path);
    const named = sub?.name === 'value' && filter.operator === 'eq' && typeof filter.value === 'string';
    return named && typeof filter.value === 'string' ? [filter.value] : undefined;
  }
  if (filter.kind !== 'or') return undefined;
  const parts = filter.operands.map((operand) => idsNamedBy(plural, operand));
  return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
}
