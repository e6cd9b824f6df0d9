// The SQL back end of a resolved filter: one boolean expression over `users u` or `groups g` on either database.
// NULL never escapes: positive tests may give NULL, which no row passes; `not` is IS NOT TRUE, `ne` is IS DISTINCT FROM.
// Every value is a parameter. filter-evaluator.ts is the other back end; the fuzz test holds the two together.
import { type RawBuilder, sql } from 'kysely';
import type { Directory } from '../../domain/organizations/directory.ts';
import { orderedKey } from '../../domain/people/custom-attributes.ts';
import type { Dialect } from '../../storage/engine/database.ts';
import { containsPattern, lookupFunction } from '../../storage/engine/trigram-search.ts';
import { groupTables, isSuspendedMember } from '../../storage/people/directories/directory.ts';
import { reverseText } from '../../storage/people/user-search.ts';
import { type Attribute, type Column, comparisonColumn } from '../schema/attribute.ts';
import type { Leaf, Plural, TypeIndex } from '../schema/schema-lookup.ts';
import type { ElementFilter, Filter, Test } from './filter-meaning.ts';
import { elementSource } from './filter-sql-elements.ts';
import { textMatches } from './filter-text-match.ts';

export type Condition = RawBuilder<boolean>;

export interface SqlContext {
  readonly dialect: Dialect;
  readonly directory: Directory;
  readonly index: TypeIndex;
  /** The condition is tested row by row along a scan: it must cost little a row and read no index whole. */
  readonly scanned: boolean;
  /** Texts too common for the trigram index to help: `co` on them is tested row by row. */
  readonly isCommon: (column: string, text: string) => boolean;
}

/** Compiles a filter to a condition over the alias of its resource type. */
export function filterCondition(context: SqlContext, filter: Filter): Condition {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const parts = filter.operands.map((operand) => filterCondition(context, operand));
      return filter.kind === 'or' && isUnion(context, filter) ? unionOf(context, parts) : joined(filter.kind, parts);
    }
    case 'not':
      return sql`((${filterCondition(context, filter.operand)}) IS NOT TRUE)`;
    case 'single':
      return singleCondition(context, filter.leaf, filter.test);
    case 'some':
      return someCondition(context, filter.plural, filter.condition);
    case 'schemas':
      return schemasCondition(context, filter.test);
    default:
      return filter satisfies never;
  }
}

/** PostgreSQL walks the whole tenant for an `or` over several indexes; it looks up each part when their ids are united. */
function isUnion(context: SqlContext, filter: Filter): boolean {
  return context.dialect === 'postgres' && !context.scanned && isFilterIndexed(context, filter);
}

function unionOf({ directory, index }: SqlContext, parts: readonly Condition[]): Condition {
  const alias = aliasOf(index);
  const id = sql.ref(`${alias}.id`);
  const { tenant } = directory;
  const table = alias === 'u' ? sql`users u` : sql`${sql.table(groupTables(directory).groups)} g`;
  const queries = parts.map((part) => sql`SELECT ${id} FROM ${table} WHERE ${sql.ref(`${alias}.tenant_id`)} = ${tenant} AND ${part}`);
  return sql`(${id} IN (${sql.join(queries, sql` UNION `)}))`;
}

/** The alias of a resource type's table in every query of this folder. */
export function aliasOf(index: TypeIndex): 'u' | 'g' {
  return index.type.name === 'User' ? 'u' : 'g';
}

const always: Condition = sql`(1 = 1)`;
const never: Condition = sql`(1 = 0)`;
const constant = (holds: boolean): Condition => (holds ? always : never);

function joined(word: 'and' | 'or', parts: readonly Condition[]): Condition {
  if (parts.length === 0) return constant(word === 'and');
  return sql`(${sql.join(parts, word === 'and' ? sql` AND ` : sql` OR `)})`;
}

function singleCondition(context: SqlContext, leaf: Leaf, test: Test): Condition {
  const alias = aliasOf(context.index);
  if (leaf.key === 'active') return activeCondition(context, test);
  if (leaf.key === 'meta.resourceType') return constant(constantPasses(test, [context.index.type.name]));
  if (leaf.attribute.custom !== undefined) return customCondition(context, leaf, test);
  return columnCondition(context, alias, columnOf(leaf.attribute), test);
}

/** A value of the tenant's own attributes is a row elsewhere; who has none differs from every value. */
function customCondition(context: SqlContext, { key, attribute }: Leaf, test: Test): Condition {
  const passes = (positive: Test): Condition =>
    someCondition(context, { key, attribute }, { kind: 'element', sub: attribute, test: positive });
  if (test.kind === 'present' || test.operator !== 'ne') return passes(test);
  return sql`((${passes({ ...test, operator: 'eq' } as Test)}) IS NOT TRUE)`;
}

function activeCondition({ directory }: SqlContext, test: Test): Condition {
  if (test.kind !== 'boolean') return always;
  const isActive = (test.operator === 'eq') === test.value;
  if (directory.organization === undefined) return isActive ? sql`(u.state = 'active')` : sql`(u.state <> 'active')`;
  const suspended = isSuspendedMember(directory);
  return isActive ? sql`(u.state = 'active' AND NOT ${suspended})` : sql`(u.state <> 'active' OR ${suspended})`;
}

/** A test over values known without SQL: some of them passes. */
function constantPasses(test: Test, values: readonly string[]): boolean {
  if (test.kind === 'present') return values.length > 0;
  if (test.kind !== 'text') return false;
  return values.some((value) => textMatches(test.operator, value, test.value));
}

function schemasCondition(context: SqlContext, test: Test): Condition {
  const [core, ...extensions] = context.index.schemas;
  const own = constantPasses(test, [core!.id]);
  if (own) return always;
  const parts = extensions
    .filter((schema) => constantPasses(test, [schema.id]))
    .flatMap((schema) => context.index.leaves.filter((leaf) => leaf.schema === schema && leaf.attribute.column !== undefined))
    .map((leaf) => singleCondition(context, leaf, { kind: 'present' }));
  const lists = extensions
    .filter((schema) => constantPasses(test, [schema.id]))
    .flatMap((schema) => context.index.plurals.filter(({ key }) => key.startsWith(schema.keyPrefix)))
    .map((plural) => someCondition(context, plural, { kind: 'any' }));
  return joined('or', [...parts, ...lists]);
}

function columnOf(attribute: Attribute): Column {
  if (attribute.column === undefined) throw new Error(`${attribute.name} has no column`);
  return attribute.column;
}

function columnCondition(context: SqlContext, alias: string, column: Column, test: Test): Condition {
  const reference = sql.ref(`${alias}.${comparisonColumn(column)}`);
  const cell = (value: number): number | string => (column.ordered === true ? orderedKey(value) : value);
  switch (test.kind) {
    case 'present':
      return sql`(${sql.ref(`${alias}.${column.name}`)} IS NOT NULL)`;
    case 'boolean':
      return sql`(${reference} = ${cell((test.operator === 'eq') === test.value ? 1 : 0)})`;
    case 'number':
      return textCondition(context, alias, column, reference, { ...test, kind: 'text', value: orderedKey(test.value) });
    case 'instant':
      return instantCondition(reference, test, cell);
    case 'text':
      return textCondition(context, alias, column, reference, test);
    default:
      return test satisfies never;
  }
}

/** Columns hold milliseconds, filters nanoseconds: the bound moves to the millisecond that gives the same rows. */
function instantCondition(
  reference: RawBuilder<unknown>,
  test: Extract<Test, { kind: 'instant' }>,
  cell: (milliseconds: number) => number | string,
): Condition {
  const million = 1_000_000n;
  const rest = ((test.value % million) + million) % million;
  const milliseconds = Number((test.value - rest) / million);
  const floor = cell(milliseconds);
  const ceiling = rest === 0n ? floor : cell(milliseconds + 1);
  switch (test.operator) {
    case 'eq':
      return rest === 0n ? sql`(${reference} = ${floor})` : never;
    case 'ne':
      return rest === 0n ? sql`(${reference} <> ${floor})` : always;
    case 'gt':
      return sql`(${reference} > ${floor})`;
    case 'ge':
      return sql`(${reference} >= ${ceiling})`;
    case 'lt':
      return sql`(${reference} < ${ceiling})`;
    case 'le':
      return sql`(${reference} <= ${floor})`;
    default:
      return never;
  }
}

type TextTest = Extract<Test, { kind: 'text' }>;

function textCondition(context: SqlContext, alias: string, column: Column, reference: RawBuilder<unknown>, test: TextTest): Condition {
  const { value } = test;
  switch (test.operator) {
    case 'eq':
      return sql`(${reference} = ${value})`;
    case 'ne':
      return sql`(${reference} IS DISTINCT FROM ${value})`;
    case 'gt':
      return sql`(${reference} > ${value})`;
    case 'ge':
      return sql`(${reference} >= ${value})`;
    case 'lt':
      return sql`(${reference} < ${value})`;
    case 'le':
      return sql`(${reference} <= ${value})`;
    case 'sw':
      return prefixCondition(reference, value);
    case 'ew':
      return column.reversed === undefined
        ? suffixCondition(context, reference, value)
        : prefixCondition(sql.ref(`${alias}.${column.reversed}`), reverseText(value));
    case 'co':
      return substringCondition(context, alias, column, reference, value);
    default:
      return test.operator satisfies never;
  }
}

function prefixCondition(reference: RawBuilder<unknown>, prefix: string): Condition {
  if (prefix === '') return sql`(${reference} IS NOT NULL)`;
  const end = successor(prefix);
  return end === undefined ? sql`(${reference} >= ${prefix})` : sql`(${reference} >= ${prefix} AND ${reference} < ${end})`;
}

/** The least text above every text with this prefix, in code point order; undefined when there is none. */
function successor(prefix: string): string | undefined {
  const points = [...prefix];
  while (points.length > 0) {
    const last = points.pop()!.codePointAt(0)!;
    if (last === 0x10ffff) continue;
    const next = last === 0xd7ff ? 0xe000 : last + 1;
    return points.join('') + String.fromCodePoint(next);
  }
  return undefined;
}

function suffixCondition(context: SqlContext, reference: RawBuilder<unknown>, suffix: string): Condition {
  if (suffix === '') return sql`(${reference} IS NOT NULL)`;
  const length = [...suffix].length;
  return context.dialect === 'sqlite'
    ? sql`(substr(${reference}, ${-length}) = ${suffix})`
    : sql`(right(${reference}, ${sql.lit(length)}) = ${suffix})`;
}

/** The shortest text the trigram index can find. */
export const trigramLengthMin = 3;

function substringCondition(context: SqlContext, alias: string, column: Column, reference: RawBuilder<unknown>, text: string): Condition {
  if (text === '') return sql`(${reference} IS NOT NULL)`;
  const byTrigrams = column.trigram !== undefined && usesTrigrams(context, alias, column, text);
  if (context.dialect === 'postgres') {
    return byTrigrams ? lookupCondition(alias, column.trigram, text) : sql`(${reference} LIKE ${containsPattern(text)})`;
  }
  // Said outright so that an index of the rows that have the column can be scanned instead of the table.
  if (!byTrigrams) return sql`(${reference} IS NOT NULL AND instr(${reference}, ${text}) > 0)`;
  const match = trigramMatch(column.trigram, text);
  return alias === 'u'
    ? sql`(u.id IN (SELECT r.user_id FROM user_trigrams t JOIN user_search_rows r ON r.seq = t.rowid
        WHERE t.user_trigrams MATCH ${match} AND r.tenant_id = ${context.directory.tenant}))`
    : sql`((e.user_id, e.position) IN (SELECT r.user_id, r.position FROM email_trigrams t JOIN email_search_rows r ON r.seq = t.rowid
        WHERE t.email_trigrams MATCH ${match} AND r.tenant_id = ${context.directory.tenant}))`;
}

const everyRow = 2_147_483_647;

/** On PostgreSQL the trigram index is behind functions (trigram-search.ts). */
function lookupCondition(alias: string, column: string, text: string): Condition {
  const rowsOf = (table: 'users' | 'user_emails'): RawBuilder<unknown> =>
    sql`${sql.ref(lookupFunction(table, column))}(${containsPattern(text)}, ${sql.lit(everyRow)}) f`;
  return alias === 'u'
    ? sql`(u.id IN (SELECT f.user_id COLLATE "C" FROM ${rowsOf('users')}))`
    : sql`((e.user_id, e.position) IN (SELECT f.user_id COLLATE "C", f.position FROM ${rowsOf('user_emails')}))`;
}

/** The FTS5 expression for "this column contains this text". */
export function trigramMatch(column: string, text: string): string {
  return `{${column}} : "${text.replaceAll('"', '""')}"`;
}

function someCondition(context: SqlContext, plural: Plural, condition: ElementFilter): Condition {
  const source = elementSource(context, plural);
  const test = elementCondition(context, condition);
  if (isSelective(context, condition)) {
    return sql`(${sql.ref(`${aliasOf(context.index)}.id`)} IN (SELECT ${sql.ref(source.owner)} FROM ${source.from} WHERE ${source.inTenant} AND ${test}))`;
  }
  return sql`(EXISTS (SELECT 1 FROM ${source.from} WHERE ${source.inTenant} AND ${sql.ref(source.owner)} = ${sql.ref(`${aliasOf(context.index)}.id`)} AND ${test}))`;
}

function elementCondition(context: SqlContext, filter: ElementFilter): Condition {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return joined(
        filter.kind,
        filter.operands.map((operand) => elementCondition(context, operand)),
      );
    case 'not':
      return sql`((${elementCondition(context, filter.operand)}) IS NOT TRUE)`;
    case 'element':
      return columnCondition(context, 'e', columnOf(filter.sub), filter.test);
    case 'any':
      return always;
    default:
      return filter satisfies never;
  }
}

/** Whether few elements can pass, found by an index: then the query starts at the elements, else at the owners. */
function isSelective(context: SqlContext, filter: ElementFilter): boolean {
  if (context.scanned) return false;
  switch (filter.kind) {
    case 'and':
      return filter.operands.some((operand) => isSelective(context, operand));
    case 'or':
      return filter.operands.every((operand) => isSelective(context, operand));
    case 'element':
      return filter.sub.column !== undefined && isIndexed(context, 'e', filter.sub.column, filter.test);
    case 'not':
    case 'any':
      return false;
    default:
      return filter satisfies never;
  }
}

/** Whether the rows a filter gives come from an index over its values, so that they must be sorted afterwards. */
export function isFilterIndexed(context: SqlContext, filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.operands.some((operand) => isFilterIndexed(context, operand));
    case 'or':
      return filter.operands.every((operand) => isFilterIndexed(context, operand));
    case 'single': {
      const { column } = filter.leaf.attribute;
      return column !== undefined && isIndexed(context, aliasOf(context.index), column, filter.test);
    }
    case 'some':
      return isSelective(context, filter.condition);
    case 'not':
    case 'schemas':
      return false;
    default:
      return filter satisfies never;
  }
}

const keyColumns: readonly string[] = ['id', 'user_name', 'external_id'];
const lookUpKeysMax = 2;

/** A filter by one or two keys: few shapes, each the same to the database whatever the values. */
export function isLookUp(filter: Filter): boolean {
  if (filter.kind === 'or')
    return filter.operands.length <= lookUpKeysMax && filter.operands.every((operand) => operand.kind === 'single' && isLookUp(operand));
  if (filter.kind !== 'single' || filter.test.kind !== 'text' || filter.test.operator !== 'eq') return false;
  return keyColumns.includes(filter.leaf.attribute.column?.name ?? '');
}

/** The key column whose index holds, next to one another, exactly the users a filter finds; undefined when there is none. */
export function rangeColumn(filter: Filter): string | undefined {
  if (filter.kind !== 'single' || filter.test.kind !== 'text') return undefined;
  const { column } = filter.leaf.attribute;
  const { operator } = filter.test;
  if (column === undefined || column.name === 'id' || column.ordered === true) return undefined;
  if (operator === 'ew') return column.reversed;
  return column.indexed === true && (operator === 'eq' || operator === 'sw') ? comparisonColumn(column) : undefined;
}

function isIndexed(context: SqlContext, alias: string, column: Column, test: Test): boolean {
  if (column.ordered === true) return test.kind === 'present' || !['ne', 'co', 'ew'].includes(test.operator);
  if (test.kind !== 'text' || test.value === '') return false;
  if (test.operator === 'eq' || test.operator === 'sw') return column.indexed === true;
  if (test.operator === 'co') return usesTrigrams(context, alias, column, test.value);
  return test.operator === 'ew' && column.reversed !== undefined;
}

function usesTrigrams(context: SqlContext, alias: string, column: Column, text: string): boolean {
  if (context.scanned || column.trigram === undefined || alias === 'g') return false;
  return [...text].length >= trigramLengthMin && !context.isCommon(`${alias}.${column.trigram}`, text);
}
