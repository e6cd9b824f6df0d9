// Lists and searches one resource type: filter to SQL, order, page, total (07-scim Filter). Rows come in immutable order
// (created, id) unless sorted; a page costs what it shows, and a total costs a COUNT only when a full page says nothing.
import { type RawBuilder, sql } from 'kysely';
import type { Queries } from '../storage/database.ts';
import { findDataVersion, isCommonTrigram, loadDirectoryCount } from '../storage/directory-counts.ts';
import { countMatching, listPage } from '../storage/provisioned-users.ts';
import type { Position } from './cursor.ts';
import type { ElementFilter, Filter } from './filter-meaning.ts';
import { type Condition, filterCondition, isDriven, type SqlContext, trigramLengthMin, trigramMatch } from './filter-sql.ts';
import type { ScimContext } from './request-context.ts';
import type { TypeIndex } from './schema-lookup.ts';
import type { SortOrder } from './sort-order.ts';
import { orderBySql } from './sort-order.ts';

export interface PageRequest {
  readonly filter: Filter | undefined;
  /** The filter as written: totals are remembered under it. */
  readonly filterText: string | undefined;
  readonly order: SortOrder;
  readonly count: number;
  readonly position: Position;
}

export interface FoundPage {
  readonly ids: readonly string[];
  readonly total: number;
  /** Where the next page starts; undefined at the end. */
  readonly next: Position | undefined;
}

/** Rows up to which a filter's own index drives the page, its result sorted afterwards; beyond, the directory is walked. */
const drivenMax = 50_000;
const everyRow: Condition = sql`(1 = 1)`;

/** Finds one page of a resource type. */
export async function findPage(context: ScimContext, index: TypeIndex, request: PageRequest): Promise<FoundPage> {
  const { services, tenant } = context;
  return services.database.read(tenant.id, async (queries) => {
    const plan = await planFilter(context, queries, index, request.filter);
    const total = (rows?: number): Promise<number> => findTotal(context, queries, index, request, plan, rows);
    if (request.count === 0) return { ids: [], total: await total(), next: undefined };
    const rows = await listPage(queries, {
      alias: plan.alias,
      tenant: tenant.id,
      where: whereAfter(plan, request.position),
      orderBy: orderBySql(services.database.dialect, plan.alias, request.order, plan.driven),
      limit: request.count + 1,
      offset: 'skip' in request.position ? request.position.skip : 0,
    });
    const page = rows.slice(0, request.count);
    const last = page.at(-1);
    const more = rows.length > page.length && last !== undefined;
    return { ids: page.map((row) => row.id), total: await total(rows.length), next: more ? nextPosition(request, last) : undefined };
  });
}

function nextPosition(request: PageRequest, last: { readonly id: string; readonly created_at: number }): Position {
  return 'skip' in request.position ? { skip: request.position.skip + request.count } : { after: [last.created_at, last.id] };
}

interface Plan {
  readonly alias: 'u' | 'g';
  readonly where: Condition;
  /** The filter's own index finds the rows. */
  readonly driven: boolean;
  /** The exact total, when planning found it. */
  readonly total: number | undefined;
}

async function planFilter(context: ScimContext, queries: Queries, index: TypeIndex, filter: Filter | undefined): Promise<Plan> {
  const alias = index.type.name === 'User' ? 'u' : 'g';
  if (filter === undefined) return { alias, where: everyRow, driven: false, total: undefined };
  const { dialect } = context.services.database;
  const common = dialect === 'sqlite' ? await commonTexts(queries, filter) : new Set<string>();
  const sqlContext: SqlContext = { dialect, tenant: context.tenant.id, index, isCommon: (column, text) => common.has(`${column} ${text}`) };
  const where = filterCondition(sqlContext, filter);
  if (dialect !== 'sqlite' || !isDriven(sqlContext, filter)) return { alias, where, driven: false, total: undefined };
  const found = await countMatching(queries, alias, context.tenant.id, where, drivenMax + 1);
  return found > drivenMax ? { alias, where, driven: false, total: undefined } : { alias, where, driven: true, total: found };
}

/** Which `co` texts of a filter are too common for the trigram index. A filter with many of them has only its first asked. */
async function commonTexts(queries: Queries, filter: Filter): Promise<ReadonlySet<string>> {
  const common = new Set<string>();
  let asked = 0;
  for (const { alias, column, text } of substringTests(filter)) {
    asked += 1;
    const table = alias === 'u' ? 'user_trigrams' : 'email_trigrams';
    if (asked > 4 || (await isCommonTrigram(queries, table, trigramMatch(column, text)))) common.add(`${alias}.${column} ${text}`);
  }
  return common;
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

function whereAfter(plan: Plan, position: Position): Condition {
  if ('skip' in position) return plan.where;
  const [created, id] = position.after;
  const row: RawBuilder<unknown> = sql`(${sql.ref(`${plan.alias}.created_at`)}, ${sql.ref(`${plan.alias}.id`)})`;
  return sql`${plan.where} AND ${row} > (${created}, ${id})`;
}

/** The total: what planning found, what a page that is not full says, the maintained count, or a COUNT remembered until a write. */
async function findTotal(
  context: ScimContext,
  queries: Queries,
  index: TypeIndex,
  request: PageRequest,
  plan: Plan,
  rows: number | undefined,
): Promise<number> {
  if (plan.total !== undefined) return plan.total;
  const { tenant, services } = context;
  if (rows !== undefined && rows <= request.count && 'skip' in request.position && (rows > 0 || request.position.skip === 0)) {
    return request.position.skip + rows;
  }
  if (request.filter === undefined) return loadDirectoryCount(queries, tenant.id, index.type.name === 'User' ? 'users' : 'groups');
  const version = await findDataVersion(queries, services.database.dialect);
  const key = JSON.stringify([tenant.id, index.type.name, request.filterText]);
  const known = totals.get(key);
  if (version !== undefined && known?.version === version && known.database === services.database) return known.total;
  const total = await countMatching(queries, plan.alias, tenant.id, plan.where);
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
