// The orders a list can have: by creation, or by one of the attributes 07-scim names, and what each means in SQL.
// Ties go by creation. Resources without a value come last in ascending order, first in descending (RFC 7644 3.4.2.3).
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Directory } from '../../domain/organizations/directory.ts';
import type { Order } from '../../storage/people/directory-scan.ts';
import { coveringIndex } from '../../storage/people/user-search.ts';
import { invalidValue } from '../refuse.ts';
import { findNamed, type Named, type TypeIndex } from '../schema/schema-lookup.ts';

export interface SortOrder {
  /** The column to sort by; undefined for creation. */
  readonly column: string | undefined;
  /** The id of the tenant's attribute to sort by; `column` then names it too. */
  readonly custom?: string;
  readonly descending: boolean;
}

const sortable: ReadonlySet<string> = new Set(['userName', 'displayName', 'name.familyName', 'meta.created', 'meta.lastModified']);

/** The order of a request, or invalidValue for an attribute that cannot be sorted by. */
export function readSortOrder(index: TypeIndex, sortBy: string | undefined, descending: boolean): SortOrder {
  if (sortBy === undefined || sortBy === '') return { column: undefined, descending: false };
  const named = findNamed(index, sortBy);
  if (named !== undefined && 'plural' in named && isPrimaryAddress(named)) return { column: primaryAddress, descending };
  if (named?.kind === 'leaf' && named.leaf.attribute.custom !== undefined)
    return { column: named.leaf.key, custom: named.leaf.attribute.custom.id, descending };
  const leaf = named?.kind === 'leaf' && sortable.has(named.leaf.key) ? named.leaf : undefined;
  if (leaf?.attribute.column === undefined) throw invalidValue('sortBy names an attribute that cannot be sorted by.');
  const { key, name } = leaf.attribute.column;
  return { column: key ?? name, descending };
}

/** Stands for the column of the one address that is primary. */
const primaryAddress = 'primary address';

/** RFC 7644 3.4.2.3: a multi-valued attribute sorts by its primary value. */
function isPrimaryAddress(named: Extract<Named, { plural: unknown }>): boolean {
  return named.plural.attribute.elements === 'emails' && (named.kind === 'plural' || named.sub.name === 'value');
}

/** The orders that give every resource of a type once, one after the other, in an order. */
export function ordersOf(alias: 'u' | 'g', { column, custom, descending }: SortOrder, directory?: Directory): readonly Order[] {
  if (column === undefined || column === 'created_at') return [creationOrder(alias, descending, directory)];
  if (custom !== undefined) return together(customOrder(custom, descending), withoutCustom(custom), descending);
  if (alias === 'g') return [{ alias, columns: column === 'display_name_key' ? [column] : [column, 'id'], descending }];
  if (column === 'updated_at') return [{ alias, columns: [column, 'id'], descending, index: 'users_by_updated_at_id_state' }];
  if (column === primaryAddress) return together(addressOrder(descending), withoutAddress, descending);
  const reference = sql.ref(`u.${column}`);
  const present: Order = { ...valueOrder(column), descending };
  if (column === 'user_name_key') return [present];
  const absent: Order = { ...creationOrder('u', false), index: `users_without_${column}`, only: sql`${reference} IS NULL` };
  return together(present, absent, descending);
}

const together = (present: Order, absent: Order, descending: boolean): readonly Order[] =>
  descending ? [absent, present] : [present, absent];

const addressOrder = (descending: boolean): Order => ({
  alias: 'u',
  via: 'p',
  columns: ['value_key'],
  descending,
  index: 'user_emails_primary',
  only: sql`p.is_primary = 1`,
});
const withoutAddress: Order = {
  ...creationOrder('u'),
  only: sql`NOT EXISTS (SELECT 1 FROM user_emails e WHERE e.tenant_id = u.tenant_id AND e.user_id = u.id AND e.is_primary = 1)`,
};

const customOrder = (attribute: string, descending: boolean): Order => ({
  alias: 'u',
  via: 'c',
  columns: ['value_key', 'user_id'],
  descending,
  index: 'user_custom_values_by_attribute_value_key_user_id',
  only: sql`c.attribute = ${attribute}`,
});
const withoutCustom = (attribute: string): Order => ({
  ...creationOrder('u'),
  only: sql`NOT EXISTS (SELECT 1 FROM user_custom_values e
    WHERE e.tenant_id = u.tenant_id AND e.user_id = u.id AND e.attribute = ${attribute})`,
});

/** The members of a SCIM-managed group of the tenant in order of their creation. */
export function memberOrder(tenant: TenantId, group: string): Order {
  return {
    alias: 'u',
    via: 'm',
    columns: ['user_created_at', 'user_id'],
    descending: false,
    index: 'group_members_by_group_id_user_created_at_user_id',
    only: sql`m.group_id = ${group} AND EXISTS
      (SELECT 1 FROM groups gr WHERE gr.tenant_id = ${tenant} AND gr.id = ${group} AND gr.origin = 'scim')`,
  };
}

/** Every resource of a type in order of creation. */
export function creationOrder(alias: 'u' | 'g', descending = false, directory?: Directory): Order {
  const ofGroups =
    directory?.organization === undefined ? 'groups_by_created_at_id_origin' : 'organization_groups_by_organization_id_created_at_id';
  const index = alias === 'u' ? 'users_by_created_at_id_state' : ofGroups;
  return { alias, columns: ['created_at', 'id'], descending, index };
}

/** The users that have a value in an indexed key column, in its order. */
export function valueOrder(column: string): Order {
  const only = sql<boolean>`${sql.ref(`u.${column}`)} IS NOT NULL`;
  return { alias: 'u', columns: [column, 'created_at', 'id'], descending: false, index: coveringIndex(column), only };
}
