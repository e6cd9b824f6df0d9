// Lists and searches one resource type: filter to SQL, order, page, total (07-scim Filter). Rows come in immutable order
// (created, id) unless sorted; a page costs what it shows, and a total costs a COUNT only when a full page says nothing.
import type { Dialect, Queries } from '../storage/database.ts';
import { findDataVersion, isCommonText, isCommonTrigram, loadDirectoryCount } from '../storage/directory-counts.ts';
import { countMatching, type FoundRow, type Path, type Walk, walkCount, walkRows } from '../storage/directory-walk.ts';
import { hasTrigramSearch } from '../storage/trigram-search.ts';
import type { Position } from './cursor.ts';
import type { ElementFilter, Filter } from './filter-meaning.ts';
import {
  aliasOf,
  type Condition,
  drivingColumn,
  filterCondition,
  isDriven,
  type SqlContext,
  trigramLengthMin,
  trigramMatch,
} from './filter-sql.ts';
import type { ScimContext } from './request-context.ts';
import type { TypeIndex } from './schema-lookup.ts';
import { creationPath, pathsOf, type SortOrder, valuePath } from './sort-order.ts';

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
const drivenMax = 20_000;

/** Finds one page of a resource type. */
export async function findPage(context: ScimContext, index: TypeIndex, request: PageRequest): Promise<FoundPage> {
  const { services, tenant } = context;
  return services.database.read(tenant.id, async (queries) => {
    const plan = await planFilter(context, queries, index, request.filter);
    const walk = (path: Path): Walk => {
      const { where, driven } = plan;
      return { queries, dialect: services.database.dialect, tenant: tenant.id, path, driven, ...(where === undefined ? {} : { where }) };
    };
    const total = (rows?: number): Promise<number> => findTotal(context, walk, index, request, plan, rows);
    if (request.count === 0) return { ids: [], total: await total(), next: undefined };
    const rows = await rowsAlong(pathsOf(plan.alias, request.order), walk, request);
    const page = rows.slice(0, request.count);
    const last = page.at(-1);
    const more = rows.length > page.length && last !== undefined;
    return { ids: page.map((row) => row.id), total: await total(rows.length), next: more ? nextPosition(request, last) : undefined };
  });
}

interface PathRow extends FoundRow {
  /** Which path the row was found on. */
  readonly path: number;
}

/** A page of rows and one more, path after path. */
async function rowsAlong(paths: readonly Path[], walk: (path: Path) => Walk, { position, count }: PageRequest): Promise<PathRow[]> {
  const start = 'skip' in position ? undefined : position.after;
  let skip = 'skip' in position ? position.skip : 0;
  const rows: PathRow[] = [];
  for (const [at, path] of paths.entries()) {
    if (at < (start?.path ?? 0)) continue;
    const after = at === start?.path ? start.place : undefined;
    const found = await walkRows(walk(path), { after, skip, limit: count + 1 - rows.length });
    rows.push(...found.rows.map((row) => ({ ...row, path: at })));
    if (rows.length > count) break;
    skip -= found.skipped;
  }
  return rows;
}

function nextPosition({ position, count }: PageRequest, last: PathRow): Position {
  return 'skip' in position ? { skip: position.skip + count } : { after: { path: last.path, place: last.place } };
}

interface Plan {
  readonly alias: 'u' | 'g';
  /** Absent: every resource. */
  readonly where: Condition | undefined;
  /** The filter's own index finds the rows. */
  readonly driven: boolean;
  /** The exact total, when planning found it. */
  readonly total?: number;
  /** The index range that holds exactly what the filter finds, too much to be driven by it: the total is counted there. */
  readonly range?: Path;
}

async function planFilter(context: ScimContext, queries: Queries, index: TypeIndex, filter: Filter | undefined): Promise<Plan> {
  const alias = aliasOf(index);
  if (filter === undefined) return { alias, where: undefined, driven: false };
  const { dialect } = context.services.database;
  const common = alias === 'u' ? await commonTexts(queries, dialect, filter) : new Set<string>();
  const sqlContext: SqlContext = {
    dialect,
    tenant: context.tenant.id,
    index,
    walked: false,
    isCommon: (column, text) => common.has(`${column} ${text}`),
  };
  const where = filterCondition(sqlContext, filter);
  if (dialect !== 'sqlite') return { alias, where, driven: false };
  const walked = filterCondition({ ...sqlContext, walked: true }, filter);
  if (!isDriven(sqlContext, filter)) return { alias, where: walked, driven: false };
  const found = await countMatching(queries, alias, context.tenant.id, where, drivenMax + 1);
  if (found <= drivenMax) return { alias, where, driven: true, total: found };
  const column = alias === 'u' ? drivingColumn(filter) : undefined;
  return { alias, where: walked, driven: false, ...(column === undefined ? {} : { range: { ...valuePath(column), only: where } }) };
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
  walk: (path: Path) => Walk,
  index: TypeIndex,
  { position, count, filter, filterText }: PageRequest,
  plan: Plan,
  rows: number | undefined,
): Promise<number> {
  if (plan.total !== undefined) return plan.total;
  const before = 'skip' in position ? position.skip : position.after === undefined ? 0 : undefined;
  if (rows !== undefined && rows <= count && before !== undefined && (rows > 0 || before === 0)) return before + rows;
  const whole = walk(creationPath(plan.alias));
  if (filter === undefined) return loadDirectoryCount(whole.queries, tenant.id, index.type.name === 'User' ? 'users' : 'groups');
  const version = await findDataVersion(whole.queries, services.database.dialect);
  const key = JSON.stringify([tenant.id, index.type.name, filterText]);
  const known = totals.get(key);
  if (version !== undefined && known?.version === version && known.database === services.database) return known.total;
  const { where: _, ...unfiltered } = whole;
  const total = await walkCount(plan.range === undefined ? whole : { ...unfiltered, path: plan.range });
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
