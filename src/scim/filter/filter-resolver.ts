// Gives a parsed filter its meaning against the schema table of one resource type: names, types, allowed operators,
// folding, instants (contract section 4, RFC 7644 section 3.4.2.2). Raises FilterProblem; both back ends trust the result.

import { parseDateTime } from '../../domain/date-time.ts';
import { foldKey } from '../../domain/fold.ts';
import { type Attribute, isPlainList } from '../schema/attribute.ts';
import { findNamed, findSubAttribute, type Leaf, type Named, type Plural, type TypeIndex } from '../schema/schema-lookup.ts';
import type { ElementFilter, Filter, Test } from './filter-meaning.ts';
import { type ComparisonOperator, FilterProblem, type FilterSyntax, type Literal } from './filter-syntax.ts';

/** Resolves a filter over resources of one type. */
export function resolveFilter(index: TypeIndex, syntax: FilterSyntax): Filter {
  switch (syntax.kind) {
    case 'and':
    case 'or':
      return { kind: syntax.kind, operands: syntax.operands.map((operand) => resolveFilter(index, operand)) };
    case 'not':
      return { kind: 'not', operand: resolveFilter(index, syntax.operand) };
    case 'present':
      return resolvePresent(index, syntax.path);
    case 'compare':
      return resolveComparison(index, syntax);
    case 'valuePath':
      return resolveValuePath(index, syntax);
    default:
      return syntax satisfies never;
  }
}

/** Resolves the filter inside the brackets of a value path over one multi-valued attribute. */
export function resolveElementFilter(plural: Plural, syntax: FilterSyntax): ElementFilter {
  switch (syntax.kind) {
    case 'and':
    case 'or':
      return { kind: syntax.kind, operands: syntax.operands.map((operand) => resolveElementFilter(plural, operand)) };
    case 'not':
      return { kind: 'not', operand: resolveElementFilter(plural, syntax.operand) };
    case 'present':
      return { kind: 'element', sub: loadSub(plural, syntax.path), test: { kind: 'present' } };
    case 'compare':
      return elementComparison(loadSub(plural, syntax.path), syntax.operator, syntax.value);
    case 'valuePath':
      throw problem(`a value path inside ${plural.attribute.name}[...]`);
    default:
      return syntax satisfies never;
  }
}

function resolvePresent(index: TypeIndex, path: string): Filter {
  const named = loadNamed(index, path);
  switch (named.kind) {
    case 'leaf':
      return { kind: 'single', leaf: filterable(named.leaf), test: { kind: 'present' } };
    case 'complex':
      return anyPresent(named.leaves);
    case 'plural':
      return presentPlural(named.plural);
    case 'pluralSub':
      return some(named.plural, { kind: 'element', sub: filterableSub(named.sub), test: { kind: 'present' } });
    case 'schema':
      throw unknown(path);
    default:
      return named satisfies never;
  }
}

function presentPlural(plural: Plural): Filter {
  return plural.attribute.elements === 'schemas' ? { kind: 'schemas', test: { kind: 'present' } } : some(plural, { kind: 'any' });
}

function anyPresent(leaves: readonly Leaf[]): Filter {
  const operands = leaves
    .filter((leaf) => leaf.attribute.column !== undefined)
    .map((leaf) => ({ kind: 'single', leaf, test: { kind: 'present' } }) as const);
  return { kind: 'or', operands };
}

interface Comparison {
  readonly path: string;
  readonly operator: ComparisonOperator;
  readonly value: Literal;
}

function resolveComparison(index: TypeIndex, { path, operator, value }: Comparison): Filter {
  const named = comparedOf(loadNamed(index, path));
  switch (named.kind) {
    case 'leaf':
      return singleComparison(filterable(named.leaf), operator, value);
    case 'pluralSub': {
      const sub = filterableSub(named.sub);
      if (value === null) return nullTest(operator, some(named.plural, { kind: 'element', sub, test: { kind: 'present' } }));
      return some(named.plural, elementComparison(sub, operator, value));
    }
    case 'plural':
      if (named.plural.attribute.elements !== 'schemas') throw problem(`${path} takes "pr" only`);
      return value === null
        ? nullTest(operator, presentPlural(named.plural))
        : { kind: 'schemas', test: valueTest(named.plural.attribute, operator, value) };
    case 'complex': {
      // A reference such as manager compares by its value; other complex attributes have none.
      const byValue = named.leaves.find((leaf) => leaf.attribute.name === 'value');
      if (byValue === undefined) throw problem(`${path} is complex and takes "pr" only`);
      return singleComparison(byValue, operator, value);
    }
    case 'schema':
      throw unknown(path);
    default:
      return named satisfies never;
  }
}

/** A list of plain values compares by each of them. */
const comparedOf = (named: Named): Named =>
  named.kind === 'plural' && isPlainList(named.plural.attribute)
    ? { kind: 'pluralSub', plural: named.plural, sub: named.plural.attribute.subAttributes[0]! }
    : named;

function singleComparison(leaf: Leaf, operator: ComparisonOperator, value: Literal): Filter {
  if (value === null) return nullTest(operator, { kind: 'single', leaf, test: { kind: 'present' } });
  return { kind: 'single', leaf, test: valueTest(leaf.attribute, operator, value) };
}

function elementComparison(sub: Attribute, operator: ComparisonOperator, value: Literal): ElementFilter {
  if (value === null) {
    const present: ElementFilter = { kind: 'element', sub, test: { kind: 'present' } };
    return isEquality(operator) === 'ne' ? present : { kind: 'not', operand: present };
  }
  return { kind: 'element', sub, test: valueTest(sub, operator, value) };
}

/** `eq null` is "not present", `ne null` is "present". */
function nullTest(operator: ComparisonOperator, present: Filter): Filter {
  return isEquality(operator) === 'ne' ? present : { kind: 'not', operand: present };
}

function isEquality(operator: ComparisonOperator): 'eq' | 'ne' {
  if (operator === 'eq' || operator === 'ne') return operator;
  throw problem(`"${operator}" cannot compare with null`);
}

function resolveValuePath(index: TypeIndex, syntax: Extract<FilterSyntax, { kind: 'valuePath' }>): Filter {
  const named = loadNamed(index, syntax.path);
  if (named.kind !== 'plural' || named.plural.attribute.subAttributes.length === 0) {
    throw problem(`${syntax.path} does not take a value path`);
  }
  const { plural } = named;
  const condition = resolveElementFilter(plural, syntax.filter);
  if (syntax.test === undefined) return some(plural, condition);
  return some(plural, { kind: 'and', operands: [condition, resolveElementFilter(plural, syntax.test)] });
}

function some(plural: Plural, condition: ElementFilter): Filter {
  return { kind: 'some', plural, condition };
}

function valueTest(attribute: Attribute, operator: ComparisonOperator, value: Exclude<Literal, null>): Test {
  switch (attribute.type) {
    case 'boolean':
      return { kind: 'boolean', operator: equalityOnly(attribute, operator), value: booleanValue(attribute, value) };
    case 'decimal':
      if (typeof value !== 'number') throw problem(`${attribute.name} compares with a number`);
      return { kind: 'number', operator: orderOnly(attribute, operator), value };
    case 'dateTime':
      return instantTest(attribute, operator, value);
    case 'string':
    case 'reference':
    case 'binary': {
      if (typeof value !== 'string') throw problem(`${attribute.name} compares with a string`);
      const checked = attribute.type === 'binary' ? equalityOnly(attribute, operator) : operator;
      return { kind: 'text', operator: checked, value: attribute.caseExact ? value : foldKey(value) };
    }
    case 'complex':
      throw problem(`${attribute.name} is complex and takes "pr" only`);
    default:
      return attribute.type satisfies never;
  }
}

function equalityOnly(attribute: Attribute, operator: ComparisonOperator): 'eq' | 'ne' {
  if (operator === 'eq' || operator === 'ne') return operator;
  throw problem(`"${operator}" does not apply to ${attribute.name}`);
}

function booleanValue(attribute: Attribute, value: Exclude<Literal, null>): boolean {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  if (word === 'true' || word === 'false') return word === 'true';
  throw problem(`${attribute.name} compares with true or false`);
}

function instantTest(attribute: Attribute, operator: ComparisonOperator, value: Exclude<Literal, null>): Test {
  const ordering = orderOnly(attribute, operator);
  const written = attribute.custom !== undefined && /^[0-9-]{10}$/.test(String(value)) ? `${value}T00:00:00Z` : value;
  const instant = typeof written === 'string' ? parseDateTime(written) : undefined;
  if (instant === undefined) throw new FilterProblem('value', `${attribute.name} compares with a date and time`);
  return { kind: 'instant', operator: ordering, value: instant };
}

function orderOnly(attribute: Attribute, operator: ComparisonOperator): ComparisonOperator {
  if (operator === 'co' || operator === 'sw' || operator === 'ew') throw problem(`"${operator}" does not apply to ${attribute.name}`);
  return operator;
}

function loadNamed(index: TypeIndex, path: string): NonNullable<ReturnType<typeof findNamed>> {
  const named = findNamed(index, path);
  if (named === undefined) throw unknown(path);
  return named;
}

function loadSub(plural: Plural, name: string): Attribute {
  const sub = findSubAttribute(plural.attribute, name);
  if (sub === undefined) throw unknown(`${plural.attribute.name}.${name}`);
  return filterableSub(sub);
}

function filterable(leaf: Leaf): Leaf {
  if (leaf.attribute.column === undefined) throw unknown(leaf.key);
  return leaf;
}

function filterableSub(sub: Attribute): Attribute {
  if (sub.column === undefined) throw unknown(sub.name);
  return sub;
}

function problem(message: string): FilterProblem {
  return new FilterProblem('filter', message);
}

function unknown(path: string): FilterProblem {
  return new FilterProblem('unknown', `unknown attribute ${path.slice(0, 100)}`);
}
