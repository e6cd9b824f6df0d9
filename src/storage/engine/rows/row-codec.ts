// Rows of a table of fields: its columns, and values to and from their cells.
import { each, type Field, type Fields, type ValuesOf } from '../../../domain/field.ts';

/** The columns of a table of fields. */
export type RowOf<T extends Fields> = { [F in T[keyof T] as F['column']]: F extends Field<string, infer _, infer C> ? C : never };

export const toRow = <T extends Fields>(table: T, values: ValuesOf<T>): RowOf<T> => toCells(table, values) as unknown as RowOf<T>; // of every field

/** The cells of the fields that a change names. */
export function toCells<T extends Fields>(table: T, change: Partial<ValuesOf<T>>): Partial<RowOf<T>> {
  const named = Object.entries(table).filter(([key]) => Object.hasOwn(change, key));
  return Object.fromEntries(
    named.map(([key, { column, kind }]) => {
      const value = change[key];
      return [column, value === undefined ? null : kind.store(value as NonNullable<unknown>)];
    }),
  ) as Partial<RowOf<T>>; // each field's own cell in its own column
}

export function fromRow<T extends Fields>(table: T, row: RowOf<T>): ValuesOf<T> {
  const cells = row as Readonly<Record<string, string | number | null>>;
  return each(table, (key, { column, kind }) => {
    const cell = cells[column];
    return [key, cell === null || cell === undefined ? undefined : kind.load(cell)];
  }) as ValuesOf<T>; // what toRow stored
}
