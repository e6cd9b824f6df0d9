// "Column is one of these ids" with one parameter, so that a list of any length is the same statement.
import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from './database.ts';

export function idIn(dialect: Dialect, column: string, ids: readonly string[]): RawBuilder<boolean> {
  return dialect === 'sqlite'
    ? sql`${sql.ref(column)} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`
    : sql`${sql.ref(column)} = ANY(${ids}::text[])`;
}
