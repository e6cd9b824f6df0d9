// "Column is one of these ids" with one parameter, so that a list of any length is the same statement.
import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from './database.ts';

export function idIn(dialect: Dialect, column: string, ids: readonly string[]): RawBuilder<boolean> {
  return dialect === 'sqlite'
    ? sql`${sql.ref(column)} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`
    : sql`${sql.ref(column)} = ANY(${ids}::text[])`;
}

/**
 * The same for a key that also has a trigram index: PostgreSQL believes that index to find a list of keys sooner than the index of
 * the key does, and takes 4 ms a key; a key of a subquery it looks up where it belongs.
 */
export function keyIn(dialect: Dialect, column: string, keys: readonly string[]): RawBuilder<boolean> {
  return dialect === 'sqlite' ? idIn(dialect, column, keys) : sql`${sql.ref(column)} IN (SELECT unnest(${keys}::text[]))`;
}
