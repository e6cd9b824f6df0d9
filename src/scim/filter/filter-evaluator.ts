// The in-memory back end of a resolved filter. PATCH value paths run on it; the SQL compiler is fuzzed against it.
// Two-valued: an absent value satisfies `ne` and nothing else.

import type { Nanoseconds } from '../../domain/date-time.ts';
import { foldKey } from '../../domain/fold.ts';
import { type Document, type Element, elementsOf, type Scalar, scalarOf } from '../document.ts';
import type { Attribute } from '../schema/attribute.ts';
import { schemasOf } from '../schema/resource-schemas.ts';
import type { TypeIndex } from '../schema/schema-lookup.ts';
import type { ElementFilter, Filter, Test } from './filter-meaning.ts';
import { orderMatches, textMatches } from './filter-text-match.ts';

/** Whether a resource satisfies a filter. */
export function matches(index: TypeIndex, filter: Filter, document: Document): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.operands.every((operand) => matches(index, operand, document));
    case 'or':
      return filter.operands.some((operand) => matches(index, operand, document));
    case 'not':
      return !matches(index, filter.operand, document);
    case 'single':
      return satisfies(filter.leaf.attribute, filter.test, scalarOf(document, filter.leaf.key));
    case 'some':
      return elementsOf(document, filter.plural.key).some((element) => elementMatches(filter.condition, element));
    case 'schemas':
      return schemasOf(index, document).some((urn) => passes(filter.test, urn));
    default:
      return filter satisfies never;
  }
}

/** Whether one element satisfies the condition of a value path. */
export function elementMatches(condition: ElementFilter, element: Element): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.operands.every((operand) => elementMatches(operand, element));
    case 'or':
      return condition.operands.some((operand) => elementMatches(operand, element));
    case 'not':
      return !elementMatches(condition.operand, element);
    case 'element':
      return passes(condition.test, comparedOf(condition.sub, element) ?? missing(condition.sub));
    case 'any':
      return true;
    default:
      return condition satisfies never;
  }
}

const folded = new WeakMap<Element, Record<string, string>>();

/** What a value is compared by; folded once, whatever the paths of a PATCH ask of it. */
function comparedOf({ name, caseExact }: Attribute, element: Element): Scalar | undefined {
  const value = element[name];
  if (typeof value !== 'string' || caseExact) return value;
  const keys = folded.get(element) ?? {};
  folded.set(element, keys);
  keys[name] ??= foldKey(value);
  return keys[name];
}

/** A missing `primary` is false; anything else missing is absent. */
function missing(sub: Attribute): Scalar | undefined {
  return sub.type === 'boolean' ? false : undefined;
}

function satisfies(attribute: Attribute, test: Test, value: Scalar | undefined): boolean {
  return passes(test, typeof value === 'string' && !attribute.caseExact ? foldKey(value) : value);
}

function passes(test: Test, value: Scalar | undefined): boolean {
  if (test.kind === 'present') return value !== undefined;
  if (value === undefined) return test.operator === 'ne';
  switch (test.kind) {
    case 'boolean':
      return (value === test.value) === (test.operator === 'eq');
    case 'number':
      return typeof value === 'number' && orderMatches(test.operator, value - test.value);
    case 'instant':
      return typeof value === 'number' && orderMatches(test.operator, compareInstants(value, test.value));
    case 'text':
      return typeof value === 'string' && textMatches(test.operator, value, test.value);
    default:
      return test satisfies never;
  }
}

function compareInstants(milliseconds: number, instant: Nanoseconds): number {
  const difference = BigInt(milliseconds) * 1_000_000n - instant;
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}
