// "Column is one of these ids" with one parameter, so that a list of any length is the same statement.
import { PostgresAdapter, type RawBuilder, sql } from 'kysely';
import type { Dialect, Queries } from '../database.ts';
import type { Value } from '../statement.ts';

export const idIn = (dialect: Dialect, column: string, ids: readonly string[]): RawBuilder<boolean> =>
  isInList(dialect, column, idList(dialect, ids));

/** The same where the dialect is not at hand. */
export const idAmong = (queries: Queries, column: string, ids: readonly string[]): RawBuilder<boolean> =>
  idIn(dialectOf(queries), column, ids);

/** What the queries' database speaks, where the dialect is not at hand. */
export const dialectOf = (queries: Queries): Dialect => (queries.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite');

/** The ids as the one parameter of `idInSlot`. */
export const idList = (dialect: Dialect, ids: readonly string[]): Value => (dialect === 'sqlite' ? JSON.stringify(ids) : ids);

/** The same in a statement(), where `ids` is the slot of an `idList`. */
export const idInSlot = (queries: Queries, column: string, ids: Value): RawBuilder<boolean> => isInList(dialectOf(queries), column, ids);

const isInList = (dialect: Dialect, column: string, ids: Value): RawBuilder<boolean> =>
  dialect === 'sqlite' ? sql`${sql.ref(column)} IN (SELECT value FROM json_each(${ids}))` : sql`${sql.ref(column)} = ANY(${ids}::text[])`;

/**
 * The same for a key that also has a trigram index: PostgreSQL believes that index to find a list of keys sooner than the index of
 * the key does, and takes 4 ms a key; a key of a subquery it looks up where it belongs.
 */
export function keyIn(dialect: Dialect, column: string, keys: readonly string[]): RawBuilder<boolean> {
  return dialect === 'sqlite' ? idIn(dialect, column, keys) : sql`${sql.ref(column)} IN (SELECT unnest(${keys}::text[]))`;
}

/**
 * Looks up a list of keys, each by the index of its key: an index of trigrams that was not vacuumed yet seems to cost nothing (a hundredth of
 * what it is), and takes milliseconds a key, where a table has just been filled. These are read as bitmaps, so none is made here.
 */
export async function withoutTrigrams<T>(queries: Queries, look: () => Promise<T>): Promise<T> {
  if (dialectOf(queries) === 'sqlite') return look();
  const setBitmaps = (to: 'on' | 'off') => sql`SELECT set_config('enable_bitmapscan', ${to}, true)`.execute(queries);
  await setBitmaps('off');
  const found = await look();
  await setBitmaps('on'); // where a look-up failed, the transaction has ended with its settings
  return found;
}
