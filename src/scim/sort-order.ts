// The orders a list can have: by creation, or by one of the attributes 07-scim names. Ties break by creation.
import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from '../storage/database.ts';
import { invalidValue } from './refuse.ts';
import { findNamed, type TypeIndex } from './schema-lookup.ts';

export interface SortOrder {
  /** The column to sort by; undefined for creation. */
  readonly column: string | undefined;
  readonly descending: boolean;
}

const sortable: ReadonlySet<string> = new Set(['userName', 'displayName', 'name.familyName', 'meta.created', 'meta.lastModified']);

/** The order of a request, or invalidValue for an attribute that cannot be sorted by. */
export function readSortOrder(index: TypeIndex, sortBy: string | undefined, descending: boolean): SortOrder {
  if (sortBy === undefined || sortBy === '') return { column: undefined, descending: false };
  const named = findNamed(index, sortBy);
  const leaf = named?.kind === 'leaf' && sortable.has(named.leaf.key) ? named.leaf : undefined;
  if (leaf?.attribute.column === undefined) throw invalidValue('sortBy names an attribute that cannot be sorted by.');
  const { key, name } = leaf.attribute.column;
  return { column: key ?? name, descending };
}

/** ORDER BY of a page. `sorted` keeps SQLite from walking the directory in order when another index finds the rows. */
export function orderBySql(dialect: Dialect, alias: 'u' | 'g', order: SortOrder, sorted: boolean): RawBuilder<unknown> {
  const plus = sorted && dialect === 'sqlite' ? sql`+` : sql``;
  const [created, id] = [sql.ref(`${alias}.created_at`), sql.ref(`${alias}.id`)];
  if (order.column === undefined) return sql`${plus}${created}, ${plus}${id}`;
  const column = sql.ref(`${alias}.${order.column}`);
  const direction = order.descending ? sql`DESC` : sql`ASC`;
  if (order.column === 'created_at') return sql`${plus}${created} ${direction}, ${plus}${id} ${direction}`;
  // Resources without a value come last in ascending order, first in descending order (RFC 7644 section 3.4.2.3).
  const present = alwaysThere.has(`${alias}.${order.column}`) ? sql`` : sql`(${column} IS NULL) ${direction}, `;
  return sql`${present}${plus}${column} ${direction}, ${plus}${created}, ${plus}${id}`;
}

const alwaysThere: ReadonlySet<string> = new Set(['u.user_name_key', 'g.display_name_key', 'u.updated_at', 'g.updated_at']);
