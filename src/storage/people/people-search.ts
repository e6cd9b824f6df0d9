// Finds live users by any part of what is shown of them (user name, display name, given and family name, emails) or the start of
// their id, in the order of the names shown: display name, else user name, else none. Parts of three characters and more are looked up
// by trigrams; what very many have is found sooner by reading in order. Shorter texts are starts.
import { sql } from 'kysely';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { containsPattern, hasTrigramSearch, lookupFunction } from '../engine/trigram-search.ts';
import { isCommonText, isCommonTrigram, loadDirectoryCount } from './directory-counts.ts';
import { type Condition, countMatching } from './directory-scan.ts';

export interface PeopleFilter {
  /** Folded. */
  readonly contains?: string | undefined;
  readonly state?: string | undefined;
  /** Epoch milliseconds, the first within and the second not. */
  readonly createdFromMs?: number | undefined;
  readonly createdToMs?: number | undefined;
}

/** Where somebody stands in the order of names. */
export type NamePlace = readonly [name: string, createdAtMs: number, id: string];

interface NamePage {
  readonly limit: number;
  readonly from?: NamePlace | undefined;
  /** True: the page before `from`, else the one behind it. */
  readonly isBackward: boolean;
}

interface FoundPerson {
  readonly id: UserId;
  readonly place: NamePlace;
}

interface Scope {
  readonly queries: Queries;
  readonly dialect: Dialect;
  readonly tenant: TenantId;
}

/** More than this many are not counted. */
const countedPeopleMax = 10_000;

const trigramCharsMin = 3;
const nameColumns = ['user_name_key', 'display_name_key', 'given_name_key', 'family_name_key'] as const;

/** A page in the order of names. Ask for one more than is shown to know whether there are more. */
export async function listPeopleByName(scope: Scope, filter: PeopleFilter, page: NamePage): Promise<readonly FoundPerson[]> {
  const { tenant } = scope;
  const matches = await pageCondition(scope, filter);
  const direction = page.isBackward ? sql`DESC` : sql`ASC`;
  const beyond = page.isBackward ? sql`<` : sql`>`;
  const none = scope.dialect === 'postgres' ? sql`'' COLLATE "C"` : sql`''`;
  const streams = [
    { name: sql`u.display_name_key`, only: sql`u.display_name_key IS NOT NULL` },
    { name: sql`u.user_name_key`, only: sql`u.display_name_key IS NULL AND u.user_name_key IS NOT NULL` },
    { name: none, only: sql`u.display_name_key IS NULL AND u.user_name_key IS NULL` },
  ].map(({ name, only }) => {
    const after =
      page.from === undefined
        ? sql``
        : sql` AND (${name}, u.created_at, u.id) ${beyond} (${page.from[0]}, ${page.from[1]}, ${page.from[2]})`;
    return sql`SELECT * FROM (SELECT u.id AS id, ${name} AS name, u.created_at AS created_at FROM users u
      WHERE u.tenant_id = ${tenant} AND ${only} AND u.state <> 'deleted' AND ${matches}${after}
      ORDER BY ${name} ${direction}, u.created_at ${direction}, u.id ${direction} LIMIT ${page.limit}) stream`;
  });
  const { rows } = await sql<{ id: UserId; name: string; created_at: number }>`SELECT * FROM (${sql.join(streams, sql` UNION ALL `)}) people
    ORDER BY name ${direction}, created_at ${direction}, id ${direction} LIMIT ${page.limit}`.execute(scope.queries);
  const found = rows.map(({ id, name, created_at: createdAt }) => ({ id, place: [name, Number(createdAt), id] as const }));
  return page.isBackward ? found.reverse() : found;
}

/** How many there are; one more than are counted stands for more than that. */
export async function countPeople(scope: Scope, filter: PeopleFilter): Promise<number> {
  const { queries, tenant } = scope;
  const isPlain = filter.contains === undefined && filter.state === undefined && filter.createdFromMs === undefined;
  if (isPlain && filter.createdToMs === undefined)
    return Math.min(await loadDirectoryCount(queries, tenant, 'users'), countedPeopleMax + 1);
  const parts = [...plainConditions(filter), ...(filter.contains === undefined ? [] : [await setCondition(scope, filter.contains)])];
  return countMatching(queries, 'u', { tenant }, allOf(parts), countedPeopleMax + 1);
}

/** The condition for reading in order: by looked up ids unless very many match. */
async function pageCondition(scope: Scope, filter: PeopleFilter): Promise<Condition> {
  const { contains } = filter;
  const parts = plainConditions(filter);
  if (contains === undefined) return allOf(parts);
  return allOf([
    ...parts,
    (await isCommon(scope, contains)) ? scanCondition(contains, scope.dialect) : await setCondition(scope, contains),
  ]);
}

const allOf = (parts: readonly Condition[]): Condition =>
  parts.length === 0 ? sql<boolean>`1 = 1` : sql<boolean>`(${sql.join(parts, sql` AND `)})`;

function plainConditions({ state, createdFromMs, createdToMs }: PeopleFilter): readonly Condition[] {
  return [
    ...(state === undefined ? [] : [sql<boolean>`u.state = ${state}`]),
    ...(createdFromMs === undefined ? [] : [sql<boolean>`u.created_at >= ${createdFromMs}`]),
    ...(createdToMs === undefined ? [] : [sql<boolean>`u.created_at < ${createdToMs}`]),
  ];
}

async function isCommon({ queries, dialect }: Scope, text: string): Promise<boolean> {
  if (isShort(text)) return false;
  if (dialect === 'sqlite')
    return (await isCommonTrigram(queries, 'user_trigrams', phrase(text))) || isCommonTrigram(queries, 'email_trigrams', phrase(text));
  if (!(await hasTrigramSearch(queries))) return true;
  if (await isCommonText(queries, 'user_emails', 'value_key', text)) return true;
  for (const column of nameColumns) if (await isCommonText(queries, 'users', column, text)) return true;
  return false;
}

const isShort = (text: string): boolean => [...text].length < trigramCharsMin;
const phrase = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Everybody who matches, by their ids. */
async function setCondition(scope: Scope, text: string): Promise<Condition> {
  const { queries, dialect, tenant } = scope;
  const to = `${text}\u{10ffff}`;
  const startOf = (table: 'users' | 'user_emails', column: string, id: string) =>
    sql`SELECT ${sql.ref(id)} FROM ${sql.table(table)} WHERE tenant_id = ${tenant} AND ${sql.ref(column)} >= ${text} AND ${sql.ref(column)} < ${to}`;
  const byId = startOf('users', 'id', 'id');
  if (isShort(text)) {
    const starts = [...nameColumns.map((column) => startOf('users', column, 'id')), startOf('user_emails', 'value_key', 'user_id'), byId];
    return sql<boolean>`u.id IN (${sql.join(starts, sql` UNION `)})`;
  }
  if (dialect === 'sqlite')
    return sql<boolean>`u.id IN (
      SELECT r.user_id FROM user_trigrams t JOIN user_search_rows r ON r.seq = t.rowid WHERE t.user_trigrams MATCH ${phrase(text)} AND r.tenant_id = ${tenant}
      UNION SELECT r.user_id FROM email_trigrams t JOIN email_search_rows r ON r.seq = t.rowid WHERE t.email_trigrams MATCH ${phrase(text)} AND r.tenant_id = ${tenant}
      UNION ${byId})`;
  if (!(await hasTrigramSearch(queries))) return sql<boolean>`(${scanCondition(text, dialect)} OR u.id IN (${byId}))`;
  const looked = [...nameColumns.map((column) => ['users', column] as const), ['user_emails', 'value_key'] as const].map(
    ([table, column]) =>
      sql`SELECT f.user_id COLLATE "C" FROM ${sql.ref(lookupFunction(table, column))}(${containsPattern(text)}, ${sql.lit(countedPeopleMax + 1)}) f`,
  );
  return sql<boolean>`u.id IN (${sql.join([...looked, byId], sql` UNION `)})`;
}

function scanCondition(text: string, dialect: Dialect): Condition {
  const has = (reference: string) =>
    dialect === 'postgres' ? sql`${sql.ref(reference)} LIKE ${containsPattern(text)}` : sql`instr(${sql.ref(reference)}, ${text}) > 0`;
  const names = nameColumns.map((column) => has(`u.${column}`));
  return sql<boolean>`(${sql.join(names, sql` OR `)} OR EXISTS (SELECT 1 FROM user_emails e WHERE e.tenant_id = u.tenant_id AND e.user_id = u.id AND ${has('e.value_key')}))`;
}
