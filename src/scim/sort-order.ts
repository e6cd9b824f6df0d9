// The orders a list can have: by creation, or by one of the attributes 07-scim names, and the paths that walk them.
// Ties go by creation. Resources without a value come last in ascending order, first in descending (RFC 7644 3.4.2.3).
import { sql } from 'kysely';
import type { Path } from '../storage/directory-walk.ts';
import { coveringIndex } from '../storage/user-search.ts';
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

/** The paths that give every resource of a type once, one after the other, in an order. */
export function pathsOf(alias: 'u' | 'g', { column, descending }: SortOrder): readonly Path[] {
  if (column === undefined || column === 'created_at') return [creationPath(alias, descending)];
  if (alias === 'g') return [{ alias, columns: column === 'display_name_key' ? [column] : [column, 'id'], descending }];
  if (column === 'updated_at') return [{ alias, columns: [column, 'id'], descending, index: 'users_by_updated_at_id_state' }];
  const reference = sql.ref(`u.${column}`);
  const present: Path = { ...valuePath(column), descending };
  if (column === 'user_name_key') return [present];
  const absent: Path = { ...creationPath('u', false), index: `users_without_${column}`, only: sql`${reference} IS NULL` };
  return descending ? [absent, present] : [present, absent];
}

/** Every resource of a type in order of creation. */
export function creationPath(alias: 'u' | 'g', descending = false): Path {
  const index = alias === 'u' ? 'users_by_created_at_id_state' : 'groups_by_created_at_id_origin';
  return { alias, columns: ['created_at', 'id'], descending, index };
}

/** The users that have a value in an indexed key column, in its order. */
export function valuePath(column: string): Path {
  const only = sql<boolean>`${sql.ref(`u.${column}`)} IS NOT NULL`;
  return { alias: 'u', columns: [column, 'created_at', 'id'], descending: false, index: coveringIndex(column), only };
}
