// Completes user rows with the multi-valued attributes an answer needs, a statement an attribute table for a whole page.
import type { Directory } from '../domain/organizations/directory.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Database, Queries } from '../storage/engine/database.ts';
import { listMembersAmong } from '../storage/people/directories/scim-members.ts';
import { listGroupsOfUsers, listUserLists, type UserLists } from '../storage/people/user-lists.ts';
import type { UserRow } from '../storage/people/user-rows.ts';
import { listShownNames } from '../storage/people/users.ts';
import type { Document } from './document.ts';
import { type Projection, wants } from './list/projection.ts';
import { loadPlural, type Plural, userIndex } from './schema/schema-lookup.ts';
import { addresses, documentOfRow, elementsOfRows, emails, groupElement, valuePlurals } from './user-rows.ts';

const groups = loadPlural(userIndex, 'groups');

/** The documents of these rows, in their order, with what the projection wants. */
export async function completeUsers(
  context: {
    readonly tenant: Tenant;
    readonly directory: Directory;
    readonly services: { readonly database: Pick<Database, 'dialect'> };
  },
  queries: Queries,
  rows: readonly UserRow[],
  projection: Projection,
): Promise<readonly Document[]> {
  const { id: tenant, customAttributes } = context.tenant;
  const { directory } = context;
  const { dialect } = context.services.database;
  const ids = rows.map((row) => row.id);
  const needs = (plural: Plural): boolean => wants(projection, plural.key, plural.attribute);
  const read = new Set<keyof UserLists>();
  if (needs(emails)) read.add('emails');
  if (valuePlurals.some(needs)) read.add('values');
  if (needs(addresses)) read.add('addresses');
  const [listsOf, groupRows] = await Promise.all([
    listUserLists(queries, dialect, tenant, ids, read),
    ids.length > 0 && needs(groups) ? listGroupsOfUsers(queries, dialect, directory, ids) : [],
  ]);
  const groupsOf = Map.groupBy(groupRows, (row) => row.user_id);
  const managerIds = rows.flatMap((row) => row.manager_value ?? []);
  const members = await membersAmong(queries, directory, [...ids, ...managerIds]);
  const isThere = (id: string): boolean => members?.has(id) !== false;
  const shown = managerIds.filter(isThere);
  const managers = shown.length > 0 ? await listShownNames(queries, dialect, tenant, shown) : new Map<string, string | null>();
  return rows.map((row) => {
    const lists = listsOf(row.id);
    const document = documentOfRow(row, customAttributes);
    put(document, emails.key, elementsOfRows(emails, lists.emails));
    const values = Map.groupBy(lists.values, (value) => value.attribute);
    for (const plural of valuePlurals) put(document, plural.key, elementsOfRows(plural, values.get(plural.key) ?? []));
    put(document, addresses.key, elementsOfRows(addresses, lists.addresses));
    const manager = row.manager_value;
    if (manager !== null && managers.has(manager)) {
      document['enterprise.manager.$ref'] = manager;
      document['enterprise.manager.displayName'] = managers.get(manager) ?? undefined;
    }
    put(document, groups.key, (groupsOf.get(row.id) ?? []).map(groupElement));
    if (members?.get(row.id)?.isSuspended === true) document['active'] = false;
    return document;
  });
}

/** Of these people those who are in the organisation, where the directory is of one. */
async function membersAmong(queries: Queries, { tenant, organization }: Directory, ids: readonly string[]) {
  return organization === undefined || ids.length === 0 ? undefined : listMembersAmong(queries, { tenant, organization }, ids);
}

/** A resource as it is after an operation. */
export interface Stored {
  readonly document: Document;
  readonly version: number;
}

/** A user with what the projection wants. */
export async function storedUser(
  context: Parameters<typeof completeUsers>[0],
  queries: Queries,
  row: UserRow,
  projection: Projection,
): Promise<Stored> {
  const [document] = await completeUsers(context, queries, [row], projection);
  return { document: document!, version: row.version };
}

function put(document: Record<string, Document[string]>, key: string, elements: Document[string] & readonly unknown[]): void {
  if (elements.length > 0) document[key] = elements;
}
