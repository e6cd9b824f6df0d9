// Lists and searches one resource type: filter to SQL, order, page, total (07-scim Filter). Rows come in immutable order
// (created, id) unless sorted; a page costs what it shows, and a total costs a COUNT only when a full page says nothing.
import type { Dialect, Queries } from '../../storage/engine/database.ts';
import { hasTrigramSearch } from '../../storage/engine/trigram-search.ts';
import { findDataVersion, isCommonText, isCommonTrigram, loadDirectoryCount } from '../../storage/people/directory-counts.ts';
import { countMatching, type FoundRow, type Order, type Scan, scanCount, scanRows } from '../../storage/people/directory-scan.ts';
import { findProvisionedGroup } from '../../storage/people/groups.ts';
import type { ElementFilter, Filter } from '../filter/filter-meaning.ts';
import {
  aliasOf,
  type Condition,
  filterCondition,
  isFilterIndexed,
  isLookUp as isKeyLookUp,
  rangeColumn,
  type SqlContext,
  trigramLengthMin,
  trigramMatch,
} from '../filter/filter-sql.ts';
import type { ScimContext } from '../request-context.ts';
import type { TypeIndex } from '../schema/schema-lookup.ts';
import type { PagePosition } from './cursor.ts';
import { creationOrder, memberOrder, ordersOf, type SortOrder, valueOrder } from './sort-order.ts';

export interface PageRequest {
  readonly filter: Filter | undefined;
  /** The filter as written: totals are remembered under it. */
  readonly filterText: string | undefined;
  readonly order: SortOrder;
  readonly count: number;
  readonly position: PagePosition;
}

export interface FoundPage {
  readonly ids: readonly string[];
  readonly total: number;
  /** Where the next page starts; undefined at the end. */
  readonly next: PagePosition | undefined;
}

/** Rows up to which a filter's own index finds the page, its result sorted afterwards; beyond, the directory is scanned. */
const indexedMax = 20_000;

/** Finds one page of a resource type. */
export async function findPage(context: ScimContext, queries: Queries, index: TypeIndex, request: PageRequest): Promise<FoundPage> {
  const { services, tenant } = context;
  const plan = await planFilter(context, queries, index, request.filter);
  const scan = (order: Order): Scan => {
    const { where, indexed } = order === plan.order ? { where: undefined, indexed: false } : plan;
    const isLookUp = request.filter !== undefined && isKeyLookUp(request.filter);
    return {
      queries,
      dialect: services.database.dialect,
      tenant: tenant.id,
      order,
      indexed,
      isLookUp,
      ...(where === undefined ? {} : { where }),
    };
  };
  const total = (rows?: number): Promise<number> => findTotal(context, index, request, { plan, scan }, rows);
  if (request.count === 0) return { ids: [], total: await total(), next: undefined };
  const rows = await rowsIn(ordersFor(plan, request.order), scan, request);
  const page = rows.slice(0, request.count);
  const last = page.at(-1);
  const more = rows.length > page.length && last !== undefined;
  return { ids: page.map((row) => row.id), total: await total(rows.length), next: more ? nextPosition(request, last) : undefined };
}

/** By creation a filter may have an order of its own; sorted, its rows are found along the sort. */
function ordersFor({ alias, order }: Plan, sort: SortOrder): readonly Order[] {
  return order !== undefined && sort.column === undefined ? [order] : ordersOf(alias, sort);
}

interface OrderedRow extends FoundRow {
  /** Which order the row was found in. */
  readonly order: number;
}

/** A page of rows and one more, order after order. */
async function rowsIn(orders: readonly Order[], scan: (order: Order) => Scan, { position, count }: PageRequest): Promise<OrderedRow[]> {
  const start = 'skip' in position ? undefined : position.after;
  let skip = 'skip' in position ? position.skip : 0;
  const rows: OrderedRow[] = [];
  for (const [at, order] of orders.entries()) {
    if (at < (start?.path ?? 0)) continue;
    const after = at === start?.path ? start.place : undefined;
    const found = await scanRows(scan(order), { after, skip, limit: count + 1 - rows.length });
    rows.push(...found.rows.map((row) => ({ ...row, order: at })));
    if (rows.length > count) break;
    skip -= found.skipped;
  }
  return rows;
}

function nextPosition({ position, count }: PageRequest, last: OrderedRow): PagePosition {
  return 'skip' in position ? { skip: position.skip + count } : { after: { path: last.order, place: last.position } };
}

interface Plan {
  readonly alias: 'u' | 'g';
  /** Absent: every resource. */
  readonly where: Condition | undefined;
  /** The filter's own index finds the rows. */
  readonly indexed: boolean;
  /** The exact total, when planning found it. */
  readonly total?: number;
  /** The index range that holds exactly what the filter finds, too much to be sorted: the total is counted there. */
  readonly range?: Order;
  /** Gives exactly what the filter finds, by creation. */
  readonly order?: Order;
}

async function planFilter(context: ScimContext, queries: Queries, index: TypeIndex, filter: Filter | undefined): Promise<Plan> {
  const alias = aliasOf(index);
  if (filter === undefined) return { alias, where: undefined, indexed: false };
  const { dialect } = context.services.database;
  const tenant = context.tenant.id;
  const group = groupOf(filter);
  if (group !== undefined) {
    const where = filterCondition({ dialect, tenant, index, scanned: true, isCommon: () => true }, filter);
    const isThere = (await findProvisionedGroup(queries, tenant, group)) !== undefined;
    const total = isThere ? await loadDirectoryCount(queries, tenant, `members:${group}`) : 0;
    return { alias, where, indexed: false, order: memberOrder(tenant, group), total };
  }
  const common = alias === 'u' ? await commonTexts(queries, dialect, filter) : new Set<string>();
  const sqlContext: SqlContext = {
    dialect,
    tenant,
    index,
    scanned: false,
    isCommon: (column, text) => common.has(`${column} ${text}`),
  };
  const where = filterCondition(sqlContext, filter);
  if (dialect !== 'sqlite') return { alias, where, indexed: false };
  const scanned = filterCondition({ ...sqlContext, scanned: true }, filter);
  if (!isFilterIndexed(sqlContext, filter)) return { alias, where: scanned, indexed: false };
  const found = await countMatching(queries, alias, tenant, where, indexedMax + 1);
  if (found <= indexedMax) return { alias, where, indexed: true, total: found };
  const column = alias === 'u' ? rangeColumn(filter) : undefined;
  return { alias, where: scanned, indexed: false, ...(column === undefined ? {} : { range: { ...valueOrder(column), only: where } }) };
}

/** The group whose members a filter asks for, when that is all it does. */
function groupOf(filter: Filter): string | undefined {
  if (filter.kind !== 'some' || filter.plural.key !== 'groups' || filter.condition.kind !== 'element') return undefined;
  const { sub, test } = filter.condition;
  return sub.name === 'value' && test.kind === 'text' && test.operator === 'eq' ? test.value : undefined;
}

/** Which `co` texts of a filter the trigram index does not help with. A filter with many of them has only its first asked. */
async function commonTexts(queries: Queries, dialect: Dialect, filter: Filter): Promise<ReadonlySet<string>> {
  const common = new Set<string>();
  const tests = substringTests(filter);
  const isThere = tests.length > 0 && (dialect === 'sqlite' || (await hasTrigramSearch(queries)));
  for (const [at, { alias, column, text }] of tests.entries()) {
    if (!isThere || at >= 4 || (await isCommon(queries, dialect, alias, column, text))) common.add(`${alias}.${column} ${text}`);
  }
  return common;
}

function isCommon(queries: Queries, dialect: Dialect, alias: 'u' | 'e', column: string, text: string): Promise<boolean> {
  if (dialect === 'postgres') return isCommonText(queries, alias === 'u' ? 'users' : 'user_emails', column, text);
  return isCommonTrigram(queries, alias === 'u' ? 'user_trigrams' : 'email_trigrams', trigramMatch(column, text));
}

interface SubstringTest {
  readonly alias: 'u' | 'e';
  readonly column: string;
  readonly text: string;
}

function substringTests(filter: Filter | ElementFilter): readonly SubstringTest[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.operands.flatMap(substringTests);
    case 'not':
      return substringTests(filter.operand);
    case 'some':
      return substringTests(filter.condition);
    case 'single':
    case 'element': {
      const column = (filter.kind === 'single' ? filter.leaf.attribute : filter.sub).column?.trigram;
      if (column === undefined || filter.test.kind !== 'text' || filter.test.operator !== 'co') return [];
      if ([...filter.test.value].length < trigramLengthMin) return [];
      return [{ alias: filter.kind === 'single' ? 'u' : 'e', column, text: filter.test.value }];
    }
    default:
      return [];
  }
}

/** The total: what planning found, what a page that is not full says, the maintained count, or a COUNT remembered until a write. */
async function findTotal(
  { tenant, services }: ScimContext,
  index: TypeIndex,
  { position, count, filter, filterText }: PageRequest,
  { plan, scan }: { readonly plan: Plan; scan(order: Order): Scan },
  rows: number | undefined,
): Promise<number> {
  if (plan.total !== undefined) return plan.total;
  const before = 'skip' in position ? position.skip : position.after === undefined ? 0 : undefined;
  if (rows !== undefined && rows <= count && before !== undefined && (rows > 0 || before === 0)) return before + rows;
  const whole = scan(creationOrder(plan.alias));
  if (filter === undefined) return loadDirectoryCount(whole.queries, tenant.id, index.type.name === 'User' ? 'users' : 'groups');
  const version = await findDataVersion(whole.queries, services.database.dialect);
  const key = JSON.stringify([tenant.id, index.type.name, filterText]);
  const known = totals.get(key);
  if (version !== undefined && known?.version === version && known.database === services.database) return known.total;
  const { where: _, ...unfiltered } = whole;
  const total = await scanCount(plan.range === undefined ? whole : { ...unfiltered, order: plan.range });
  if (version !== undefined) rememberTotal(key, { version, total, database: services.database });
  return total;
}

interface KnownTotal {
  readonly database: object;
  readonly version: number;
  readonly total: number;
}

const totalsMax = 1000;
const totals = new Map<string, KnownTotal>();

function rememberTotal(key: string, known: KnownTotal): void {
  if (totals.size >= totalsMax) totals.delete(totals.keys().next().value!);
  totals.set(key, known);
}
