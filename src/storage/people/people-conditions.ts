// What chooses people in a search, as conditions on `users u`: every word of what was typed in a name shown (user name, display name, given
// and family name) or an email, in any order, or the start of their id or external id; and what else is said of whom. Words of three
// characters and more are looked up by trigrams; what very many have is found sooner by reading in order. Shorter words are starts, and
// beside longer ones any part.
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import { searchedWordsMax } from '../../domain/people/people-list.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { containsPattern, hasTrigramSearch, lookupFunction } from '../engine/trigram-search.ts';
import { isCommonText, isCommonTrigram } from './directory-counts.ts';
import type { Condition } from './directory-scan.ts';

export interface PeopleFilter {
  /** Folded. */
  readonly contains?: string | undefined;
  /** The same as it was typed: external ids have capitals. */
  readonly typed?: string | undefined;
  readonly state?: string | undefined;
  readonly origin?: string | undefined;
  readonly group?: string | undefined;
  readonly role?: string | undefined;
  readonly invited?: string | undefined;
  /** Epoch milliseconds, as are those below. */
  readonly signedInSinceMs?: number | undefined;
  readonly notSignedInSinceMs?: number | undefined;
  /** The first within and the second not. */
  readonly createdFromMs?: number | undefined;
  readonly createdToMs?: number | undefined;
}

export interface PeopleScope {
  readonly queries: Queries;
  readonly dialect: Dialect;
  readonly tenant: TenantId;
}

/** More than this many are not counted. */
export const countedPeopleMax = 10_000;

const trigramCharsMin = 3;
const nameColumns = ['user_name_key', 'display_name_key', 'given_name_key', 'family_name_key'] as const;

export const allOf = (parts: readonly Condition[]): Condition =>
  parts.length === 0 ? sql<boolean>`1 = 1` : sql<boolean>`(${sql.join(parts, sql` AND `)})`;

/** Everything but what was typed. */
function choiceConditions({ tenant }: PeopleScope, filter: PeopleFilter): readonly Condition[] {
  const { state, origin, group, role, invited, signedInSinceMs, notSignedInSinceMs, createdFromMs, createdToMs } = filter;
  const since = (ms: number) => sql`SELECT l.id FROM last_sign_ins l WHERE l.tenant_id = ${tenant} AND l.kind = 'user' AND l.at >= ${ms}`;
  const parts: readonly (Condition | undefined)[] = [
    state === undefined ? undefined : sql`u.state = ${state}`,
    origin === undefined ? undefined : sql`u.origin = ${origin}`,
    group === undefined
      ? undefined
      : sql`u.id IN (SELECT m.user_id FROM group_members m WHERE m.tenant_id = ${tenant} AND m.group_id = ${group})`,
    role === undefined ? undefined : sql`u.id IN (SELECT r.user_id FROM user_roles r WHERE r.tenant_id = ${tenant} AND r.role = ${role})`,
    invited === undefined
      ? undefined
      : sql`u.id IN (SELECT i.user_id FROM invitations i WHERE i.tenant_id = ${tenant} AND i.recovery_reason IS NULL AND i.used_at IS NULL
          AND i.revoked_at IS NULL AND i.expires_at ${invited === 'open' ? sql`>` : sql`<=`} ${databaseNowMs})`,
    signedInSinceMs === undefined ? undefined : sql`u.id IN (${since(signedInSinceMs)})`,
    notSignedInSinceMs === undefined ? undefined : sql`u.id NOT IN (${since(notSignedInSinceMs)})`,
    createdFromMs === undefined ? undefined : sql`u.created_at >= ${createdFromMs}`,
    createdToMs === undefined ? undefined : sql`u.created_at < ${createdToMs}`,
  ];
  return parts.filter((part) => part !== undefined);
}

/** The condition for reading in order: by looked up ids unless very many match. */
export const pageCondition = (scope: PeopleScope, filter: PeopleFilter): Promise<Condition> => conditionOf(scope, filter, true);
/** The same for counting. */
export const countCondition = (scope: PeopleScope, filter: PeopleFilter): Promise<Condition> => conditionOf(scope, filter, false);

async function conditionOf(scope: PeopleScope, filter: PeopleFilter, isInOrder: boolean): Promise<Condition> {
  const parts = choiceConditions(scope, filter);
  const { contains } = filter;
  if (contains === undefined) return allOf(parts);
  const words = wordsOf(contains);
  const long = words.filter((word) => !isShort(word));
  const found: Condition[] = [];
  const common: string[] = [];
  for (const word of long) {
    if (await isCommon(scope, word)) common.push(word);
    else found.push(await setCondition(scope, word));
  }
  const isNarrow = found.length > 0; // those found by a rare word are few enough to look at
  for (const word of common) found.push(isInOrder || isNarrow ? scanCondition(word, scope.dialect) : await setCondition(scope, word));
  for (const word of words.filter(isShort))
    found.push(long.length > 0 ? scanCondition(word, scope.dialect) : sql<boolean>`u.id IN (${startsWith(scope, word)})`);
  return allOf([...parts, sql<boolean>`(${allOf(found)} OR u.id IN (${byId(scope, filter)}))`]);
}

/** Who is meant first: those named just so, those whose name or email begins so, the others. */
export function ranksOf(scope: PeopleScope, { contains = '', typed = contains }: PeopleFilter): readonly Condition[] {
  const { tenant } = scope;
  const is = (table: 'users' | 'user_emails', column: string, id: string, value = contains) =>
    sql`SELECT ${sql.ref(id)} FROM ${sql.table(table)} WHERE tenant_id = ${tenant} AND ${sql.ref(column)} = ${value}`;
  const exact = [
    ...nameColumns.map((column) => is('users', column, 'id')),
    is('user_emails', 'value_key', 'user_id'),
    is('users', 'external_id', 'id', typed),
    is('users', 'id', 'id'),
  ];
  const just = sql<boolean>`u.id IN (${sql.join(exact, sql` UNION `)})`;
  const begins = sql<boolean>`u.id IN (${startsWith(scope, contains)})`;
  return [just, sql<boolean>`(${begins} AND NOT ${just})`, sql<boolean>`(NOT ${begins} AND NOT ${just})`];
}

function wordsOf(text: string): readonly string[] {
  const words = [...new Set(text.split(/\s+/u).filter((word) => word !== ''))];
  return words.length === 0 || words.length > searchedWordsMax ? [text] : words;
}

const isShort = (text: string): boolean => [...text].length < trigramCharsMin;
const phrase = (text: string): string => `"${text.replaceAll('"', '""')}"`;

async function isCommon({ queries, dialect }: PeopleScope, text: string): Promise<boolean> {
  if (dialect === 'sqlite')
    return (await isCommonTrigram(queries, 'user_trigrams', phrase(text))) || isCommonTrigram(queries, 'email_trigrams', phrase(text));
  if (!(await hasTrigramSearch(queries))) return true;
  if (await isCommonText(queries, 'user_emails', 'value_key', text)) return true;
  for (const column of nameColumns) if (await isCommonText(queries, 'users', column, text)) return true;
  return false;
}

function startOf({ tenant }: PeopleScope, table: 'users' | 'user_emails', [column, id]: readonly [string, string], text: string) {
  const to = `${text}\u{10ffff}`;
  return sql`SELECT ${sql.ref(id)} FROM ${sql.table(table)} WHERE tenant_id = ${tenant} AND ${sql.ref(column)} >= ${text} AND ${sql.ref(column)} < ${to}`;
}

/** Ids of everybody whose name or email begins so. */
function startsWith(scope: PeopleScope, text: string) {
  const names = nameColumns.map((column) => startOf(scope, 'users', [column, 'id'], text));
  return sql.join([...names, startOf(scope, 'user_emails', ['value_key', 'user_id'], text)], sql` UNION `);
}

/** Ids of those whose id or external id begins so. */
const byId = (scope: PeopleScope, { contains = '', typed = contains }: PeopleFilter) =>
  sql.join([startOf(scope, 'users', ['id', 'id'], contains), startOf(scope, 'users', ['external_id', 'id'], typed)], sql` UNION `);

/** Everybody whose names or emails have the text, by their ids. */
async function setCondition({ queries, dialect, tenant }: PeopleScope, text: string): Promise<Condition> {
  if (dialect === 'sqlite')
    return sql<boolean>`u.id IN (
      SELECT r.user_id FROM user_trigrams t JOIN user_search_rows r ON r.seq = t.rowid WHERE t.user_trigrams MATCH ${phrase(text)} AND r.tenant_id = ${tenant}
      UNION SELECT r.user_id FROM email_trigrams t JOIN email_search_rows r ON r.seq = t.rowid WHERE t.email_trigrams MATCH ${phrase(text)} AND r.tenant_id = ${tenant})`;
  if (!(await hasTrigramSearch(queries))) return scanCondition(text, dialect);
  const looked = [...nameColumns.map((column) => ['users', column] as const), ['user_emails', 'value_key'] as const].map(
    ([table, column]) =>
      sql`SELECT f.user_id COLLATE "C" FROM ${sql.ref(lookupFunction(table, column))}(${containsPattern(text)}, ${sql.lit(countedPeopleMax + 1)}) f`,
  );
  return sql<boolean>`u.id IN (${sql.join(looked, sql` UNION `)})`;
}

function scanCondition(text: string, dialect: Dialect): Condition {
  const has = (reference: string) =>
    dialect === 'postgres' ? sql`${sql.ref(reference)} LIKE ${containsPattern(text)}` : sql`instr(${sql.ref(reference)}, ${text}) > 0`;
  const names = nameColumns.map((column) => has(`u.${column}`));
  return sql<boolean>`(${sql.join(names, sql` OR `)} OR EXISTS (SELECT 1 FROM user_emails e WHERE e.tenant_id = u.tenant_id AND e.user_id = u.id AND ${has('e.value_key')}))`;
}
