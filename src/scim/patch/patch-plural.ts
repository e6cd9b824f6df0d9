// Plans one operation on a multi-valued attribute of a user: whole lists, listed values, values selected by a filter.
// Called by patch-planner.ts. Whether a filter selects anything is known only when patch-apply.ts runs.

import { type DraftElement, type Element, emptyElement } from '../document.ts';
import { resolveElementFilter } from '../filter/filter-resolver.ts';
import type { FilterSyntax } from '../filter/filter-syntax.ts';
import { asPatchPath, invalidValue } from '../refuse.ts';
import { type Attribute, isPlainList } from '../schema/attribute.ts';
import { findSubAttribute, type Plural } from '../schema/schema-lookup.ts';
import { isJsonObject, readElement, readElements, readScalar, readStoredElements } from '../value-reader.ts';
import type { Mutation } from './patch-mutation.ts';
import type { Operation } from './patch-planner.ts';

/** What stands in brackets, and the sub-attribute after them. */
export interface ValueTarget {
  readonly filter: FilterSyntax;
  readonly sub: Attribute | undefined;
}

/** Plans an operation on a multi-valued attribute, or on the values of it that a filter selects. */
export function planPlural(plural: Plural, operation: Operation, target: ValueTarget | undefined): readonly Mutation[] {
  if (target !== undefined) return [planSelected(plural, operation, target)];
  const { op, value } = operation;
  if (op === 'remove') return [planRemove(plural, value)];
  const elements = readStoredElements(plural, value);
  if (op === 'add') return [{ kind: 'addElements', plural, elements }];
  if (elements.length === 0 && plural.attribute.required) throw cannotRemove(plural);
  return [{ kind: 'replaceElements', plural, elements }];
}

function planRemove(plural: Plural, value: unknown): Mutation {
  const patterns = value === undefined || value === null ? [] : readElements(plural, value);
  if (patterns.length > 0) return { kind: 'removeListed', plural, patterns };
  if (plural.attribute.required) throw cannotRemove(plural);
  return { kind: 'replaceElements', plural, elements: [] };
}

function cannotRemove(plural: Plural): Error {
  return invalidValue(`${plural.attribute.name} cannot be removed.`);
}

function planSelected(plural: Plural, { op, value }: Operation, target: ValueTarget): Mutation {
  const filter = asPatchPath(() => resolveElementFilter(plural, target.filter));
  if (op === 'remove') {
    if (target.sub === undefined) return { kind: 'removeMatching', plural, filter };
    return { kind: 'mergeMatching', plural, filter, values: {}, cleared: [target.sub.name], seed: undefined };
  }
  if (value === undefined) throw invalidValue(`${op} needs a value.`);
  const { values, cleared } = readChange(plural, value, target.sub);
  const conditions = op === 'add' ? seedOf(plural, target.filter) : undefined;
  const seed = conditions === undefined ? undefined : Object.assign(emptyElement(), conditions, values);
  return { kind: 'mergeMatching', plural, filter, values, cleared, seed };
}

function readChange(
  plural: Plural,
  value: unknown,
  sub: Attribute | undefined,
): { readonly values: Element; readonly cleared: readonly string[] } {
  if (sub !== undefined) {
    const scalar = readScalar(sub, value);
    if (scalar === undefined) return { values: {}, cleared: [sub.name] };
    const values = emptyElement();
    values[sub.name] = scalar;
    return { values, cleared: [] };
  }
  const one = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const object = isPlainList(plural.attribute) && !isJsonObject(one) ? { value: one } : one;
  if (!isJsonObject(object)) throw invalidValue(`A value of ${plural.attribute.name} must be an object.`);
  return { values: readElement(plural.attribute, object), cleared: [] };
}

/** The element a filter describes when it is a conjunction of `eq`; undefined when it describes none. */
function seedOf(plural: Plural, filter: FilterSyntax): Element | undefined {
  const seed: DraftElement = emptyElement();
  const parts = filter.kind === 'and' ? filter.operands : [filter];
  for (const part of parts) {
    if (part.kind !== 'compare' || part.operator !== 'eq' || part.value === null) return undefined;
    const sub = findSubAttribute(plural.attribute, part.path);
    const scalar = sub === undefined ? undefined : readScalar(sub, part.value);
    if (sub === undefined || scalar === undefined || seed[sub.name] !== undefined) return undefined;
    seed[sub.name] = scalar;
  }
  return seed;
}
