// Completes user rows with the multi-valued attributes an answer needs, a statement an attribute table for a whole page.
import type { TenantId } from '../domain/ids.ts';
import type { Dialect, Queries } from '../storage/database.ts';
import {
  listAddressesOfUsers,
  listEmailsOfUsers,
  listGroupsOfUsers,
  listValuesOfUsers,
  type UserRow,
} from '../storage/provisioned-users.ts';
import type { Document } from './document.ts';
import { type Projection, wants } from './projection.ts';
import { loadPlural, userIndex } from './schema-lookup.ts';
import { documentOfRow, elementsOfRows, groupElement, valuePlurals } from './user-rows.ts';

const emails = loadPlural(userIndex, 'emails');
const addresses = loadPlural(userIndex, 'addresses');
const groups = loadPlural(userIndex, 'groups');

/** The documents of these rows, in their order, with what the projection wants. */
export async function completeUsers(
  dialect: Dialect,
  queries: Queries,
  tenant: TenantId,
  rows: readonly UserRow[],
  projection: Projection,
): Promise<readonly Document[]> {
  const ids = rows.map((row) => row.id);
  const needs = (plural: typeof emails): boolean => ids.length > 0 && wants(projection, plural.key, plural.attribute);
  const emailsOf = Map.groupBy(needs(emails) ? await listEmailsOfUsers(queries, dialect, tenant, ids) : [], (row) => row.user_id);
  const valuesOf = Map.groupBy(
    valuePlurals.some(needs) ? await listValuesOfUsers(queries, dialect, tenant, ids) : [],
    (row) => row.user_id,
  );
  const addressesOf = Map.groupBy(needs(addresses) ? await listAddressesOfUsers(queries, dialect, tenant, ids) : [], (row) => row.user_id);
  const groupsOf = Map.groupBy(needs(groups) ? await listGroupsOfUsers(queries, dialect, tenant, ids) : [], (row) => row.user_id);
  return rows.map((row) => {
    const document = documentOfRow(row);
    put(document, emails.key, elementsOfRows(emails, emailsOf.get(row.id) ?? []));
    const values = Map.groupBy(valuesOf.get(row.id) ?? [], (value) => value.attribute);
    for (const plural of valuePlurals) put(document, plural.key, elementsOfRows(plural, values.get(plural.key) ?? []));
    put(document, addresses.key, elementsOfRows(addresses, addressesOf.get(row.id) ?? []));
    put(document, groups.key, (groupsOf.get(row.id) ?? []).map(groupElement));
    return document;
  });
}

function put(document: Record<string, Document[string]>, key: string, elements: Document[string] & readonly unknown[]): void {
  if (elements.length > 0) document[key] = elements;
}
