// Lists and searches one resource type: filter to SQL, order, page, total (07-scim Filter). Rows come in immutable order
// (created, id) unless sorted; a page costs what it shows, and a total costs a COUNT only when a full page says nothing.
import { sql } from 'kysely';
import type { Directory, OrganizationDirectory } from '../../domain/organizations/directory.ts';
import type { Dialect, Queries } from '../../storage/engine/database.ts';
import { hasTrigramSearch } from '../../storage/engine/trigram-search.ts';
import { isMember } from '../../storage/people/directories/directory.ts';
import { loadMemberCount } from '../../storage/people/directories/scim-members.ts';
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
import { isUsers, type TypeIndex } from '../schema/schema-lookup.ts';
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
  const { services, directory } = context;
  const plan = await planFilter(context, queries, index, request.filter);
  const scan = (order: Order): Scan => {
    const { where, indexed } = order === plan.order ? { where: undefined, indexed: false } : plan.along(order);
    const isLookUp = request.filter !== undefined && isKeyLookUp(request.filter);
    return {
      queries,
      dialect: services.database.dialect,
      directory,
      order,
      indexed,
      isLookUp,
      ...(where === undefined ? {} : { where }),
    };
  };
  const total = (rows?: number): Promise<number> => findTotal(context, index, request, { plan, scan }, rows);
  if (request.count === 0) return { ids: [], total: await total(), next: undefined };
  const rows = await rowsIn(ordersFor(plan, request.order, directory), scan, request);
  const page = rows.slice(0, request.count);
  const last = page.at(-1);
  const more = rows.length > page.length && last !== undefined;
  return { ids: page.map((row) => row.id), total: await total(rows.length), next: more ? nextPosition(request, last) : undefined };
}

/** By creation a filter may have an order of its own; sorted, its rows are found along the sort. */
function ordersFor({ alias, order }: Plan, sort: SortOrder, directory: Directory): readonly Order[] {
  return order !== undefined && sort.column === undefined ? [order] : ordersOf(alias, sort, directory);
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

interface Finding {
  readonly where: Condition | undefined;
  readonly indexed: boolean;
}

interface Plan {
  readonly alias: 'u' | 'g';
  /** What counts along an order: `where` absent, every resource; `indexed`, an index of its own finds the rows. */
  along(order: Order): Finding;
  /** The exact total, when planning found it. */
  readonly total?: number;
  /** The index range that holds exactly what the filter finds, too much to be sorted: the total is counted there. */
  readonly range?: Order;
  /** Gives exactly what the filter finds, by creation. */
  readonly order?: Order;
}

async function planFilter(context: ScimContext, queries: Queries, index: TypeIndex, filter: Filter | undefined): Promise<Plan> {
  const alias = aliasOf(index);
  const { directory } = context;
  const { dialect } = context.services.database;
  if (alias === 'u' && directory.organization !== undefined) {
    const { organization } = directory;
    return planMembers(context, queries, index, filter, { ...directory, organization });
  }
  if (filter === undefined) return { alias, along: () => everything };
  const group = groupOf(filter);
  if (group !== undefined) {
    const where = filterCondition({ dialect, directory, index, scanned: true, isCommon: () => true }, filter);
    const isThere = (await findProvisionedGroup(queries, directory, group)) !== undefined;
    const total = isThere ? await loadDirectoryCount(queries, directory.tenant, `members:${group}`) : 0;
    return { alias, along: () => ({ where, indexed: false }), order: memberOrder(directory.tenant, group), total };
  }
  const { where, scanned: byRow, isIndexed } = await conditionsOf(context, queries, index, filter);
  if (dialect !== 'sqlite') return { alias, along: () => ({ where, indexed: false }) };
  const scanned = byRow();
  if (!isIndexed) return { alias, along: () => ({ where: scanned, indexed: false }) };
  const found = await countMatching(queries, alias, directory, where, indexedMax + 1);
  if (found <= indexedMax) return { alias, along: () => ({ where, indexed: true }), total: found };
  const column = alias === 'u' ? rangeColumn(filter) : undefined;
  const range = column === undefined ? {} : { range: { ...valueOrder(column), only: where } };
  return { alias, along: () => ({ where: scanned, indexed: false }), ...range };
}

const everything: Finding = { where: undefined, indexed: false };

interface Conditions {
  readonly where: Condition;
  /** The same, tested row by row. */
  scanned(): Condition;
  /** An index of the filter finds what `where` does. */
  readonly isIndexed: boolean;
}

async function conditionsOf(context: ScimContext, queries: Queries, index: TypeIndex, filter: Filter): Promise<Conditions> {
  const { dialect } = context.services.database;
  const common = aliasOf(index) === 'u' ? await commonTexts(queries, dialect, filter) : new Set<string>();
  const sqlContext: SqlContext = {
    dialect,
    directory: context.directory,
    index,
    scanned: false,
    isCommon: (column, text) => common.has(`${column} ${text}`),
  };
  return {
    where: filterCondition(sqlContext, filter),
    scanned: () => filterCondition({ ...sqlContext, scanned: true }, filter),
    isIndexed: isFilterIndexed(sqlContext, filter),
  };
}

/** Members up to which an organisation's people are found by the list of them, and sorted; beyond, the tenant's are scanned for them. */
const listedMembersMax = 5000;

/** The members of an organisation that a filter finds: by an index of the filter, by the list of members, or along the tenant's people. */
async function planMembers(
  context: ScimContext,
  queries: Queries,
  index: TypeIndex,
  filter: Filter | undefined,
  directory: OrganizationDirectory,
): Promise<Plan> {
  const listed = isMember(directory, 'listed');
  const looked = isMember(directory, 'looked');
  const of = filter && (await conditionsOf(context, queries, index, filter));
  const both = (member: Condition, condition: Condition | undefined): Condition =>
    condition === undefined ? member : sql`(${member} AND ${condition})`;
  if (context.services.database.dialect !== 'sqlite')
    return { alias: 'u', along: () => ({ where: both(listed, of?.where), indexed: false }) };
  const members = await loadMemberCount(queries, directory);
  const few = Math.min(members, indexedMax);
  const isFound = of?.isIndexed === true && (await countMatching(queries, 'u', directory, of.where, few + 1)) <= few;
  const scanned = { where: both(looked, of?.scanned()), indexed: false };
  return {
    alias: 'u',
    along: ({ via }) => {
      if (via !== undefined) return scanned; // in the order of another table, which no list of members shortens
      if (isFound) return { where: both(looked, of.where), indexed: true };
      return members <= listedMembersMax ? { where: both(listed, of?.scanned()), indexed: true } : scanned;
    },
  };
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
  { directory, services }: ScimContext,
  index: TypeIndex,
  { position, count, filter, filterText }: PageRequest,
  { plan, scan }: { readonly plan: Plan; scan(order: Order): Scan },
  rows: number | undefined,
): Promise<number> {
  if (plan.total !== undefined) return plan.total;
  const before = 'skip' in position ? position.skip : position.after === undefined ? 0 : undefined;
  if (rows !== undefined && rows <= count && before !== undefined && (rows > 0 || before === 0)) return before + rows;
  const whole = scan(creationOrder(plan.alias, false, directory));
  if (filter === undefined) {
    const kept = await keptTotal(whole.queries, directory, index);
    if (kept !== undefined) return kept;
  }
  const version = await findDataVersion(whole.queries, services.database.dialect);
  const key = JSON.stringify([directory, index.type.name, filterText]);
  const known = totals.get(key);
  if (version !== undefined && known?.version === version && known.database === services.database) return known.total;
  const { where: _, ...unfiltered } = whole;
  const total = await scanCount(plan.range === undefined ? whole : { ...unfiltered, order: plan.range });
  if (version !== undefined) rememberTotal(key, { version, total, database: services.database });
  return total;
}

/** What is counted as it is written; groups of an organisation are not. */
async function keptTotal(queries: Queries, { tenant, organization }: Directory, index: TypeIndex): Promise<number | undefined> {
  if (organization === undefined) return loadDirectoryCount(queries, tenant, isUsers(index) ? 'users' : 'groups');
  return isUsers(index) ? loadMemberCount(queries, { tenant, organization }) : undefined;
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
