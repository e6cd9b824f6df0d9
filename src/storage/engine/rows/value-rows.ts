// Rows of values given to a statement as one parameter, so that a statement over many rows is the same text for any number of them.
import { type RawBuilder, sql } from 'kysely';
import type { Queries } from '../database.ts';
import { dialectOf } from './id-list.ts';

/** How a column of the values is read. */
type ValueType = 'text' | 'integer';

/**
 * `(SELECT …) AS <name>` with a row for each object of `rows` and a column for each member of `columns`; what an object lacks is NULL.
 * Text must have no U+0000: PostgreSQL refuses it.
 */
export function valueRows<Column extends string>(
  queries: Queries,
  name: string,
  columns: Readonly<Record<Column, ValueType>>,
  rows: readonly Readonly<Record<Column, string | number | null | undefined>>[],
): RawBuilder<unknown> {
  const json = JSON.stringify(rows);
  const each = Object.entries<ValueType>(columns);
  const list =
    dialectOf(queries) === 'sqlite'
      ? sql`SELECT ${sql.join(each.map(([column]) => sql`value ->> ${sql.lit(column)} AS ${sql.ref(column)}`))} FROM json_each(${json})`
      : sql`SELECT * FROM jsonb_to_recordset(${json}::jsonb) AS given(${sql.join(each.map(([column, type]) => sql`${sql.ref(column)} ${sql.raw(type === 'text' ? 'text' : 'bigint')}`))})`;
  return sql`(${list}) AS ${sql.ref(name)}`;
}
