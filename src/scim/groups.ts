// The operations on SCIM-managed groups. Membership changes run as set-based SQL in the order of the PATCH; the version
// moves once a request, and only when something changed (07-scim Writes).
import { reject } from '../contract/contract-error.ts';
import type { GroupId } from '../domain/ids.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/database.ts';
import {
  addMembers,
  deleteProvisionedGroup,
  findProvisionedGroup,
  type GroupColumns,
  type GroupRow,
  insertProvisionedGroup,
  lockGroup,
  type MemberChange,
  removeMembers,
  replaceMembers,
  updateProvisionedGroup,
} from '../storage/provisioned-groups.ts';
import { writeInTurn } from '../storage/resource-turns.ts';
import { isUniqueViolation } from '../storage/unique-violation.ts';
import { readBody } from './body-reader.ts';
import { type Document, elementsOf, emptyDocument, scalarOf } from './document.ts';
import { applyMutations } from './patch-apply.ts';
import { readMemberIds } from './patch-members.ts';
import type { Mutation } from './patch-mutation.ts';
import { planPatch } from './patch-planner.ts';
import { type Precondition, requireVersion } from './precondition.ts';
import { invalidValue, noTarget } from './refuse.ts';
import { audit, type ScimContext } from './request-context.ts';
import { groupIndex } from './schema-lookup.ts';
import { etagOf } from './user-rows.ts';
import type { Stored } from './users.ts';

const notFound = (): Error => reject('scim.resource_not_found', 'unknown_group');
const taken = (): Error => reject('scim.uniqueness', 'group_taken', { text: 'The displayName is in use.' });

/** What a group's row says; members are read apart. */
export function documentOfGroup(row: GroupRow): Document {
  const document = emptyDocument();
  document['id'] = row.id;
  document['externalId'] = row.external_id ?? undefined;
  document['displayName'] = row.display_name;
  document['meta.resourceType'] = 'Group';
  document['meta.created'] = row.created_at;
  document['meta.lastModified'] = row.updated_at;
  document['meta.version'] = etagOf(row.version);
  return document;
}

const stored = (row: GroupRow): Stored => ({ document: documentOfGroup(row), version: row.version });

/** Creates a group from a request body. `id` is given by bulk. */
export async function createGroup(context: ScimContext, body: unknown, id?: string): Promise<Stored> {
  const { services, tenant } = context;
  const { document } = readBody(groupIndex, body);
  const columns = columnsOf(document);
  const members = readMemberIds(elementsOf(document, 'members'));
  const groupId = (id ?? uuidV7(services.clock.nowMs())) as GroupId; // made here
  return services.database.write(tenant.id, async (queries) => {
    const inserted = await insertProvisionedGroup(queries, tenant.id, groupId, columns);
    if (!inserted.ok) throw taken();
    changedCount(await addMembers(queries, services.database.dialect, tenant.id, groupId, members));
    await audit(context, queries, 'group.created', `group:${groupId}`, { members: members.length });
    return stored(inserted.row);
  });
}

/** A SCIM-managed group, or 404. */
export async function readGroup(context: ScimContext, id: string): Promise<Stored> {
  const { services, tenant } = context;
  const row = await services.database.read(tenant.id, (queries) => findProvisionedGroup(queries, tenant.id, id));
  if (row === undefined) throw notFound();
  return stored(row);
}

/** Replaces a group by a request body; members stay when the body does not name them. */
export async function replaceGroup(context: ScimContext, id: string, body: unknown, precondition: Precondition): Promise<Stored> {
  const { document, named } = readBody(groupIndex, body);
  const columns = columnsOf(document);
  const members = readMemberIds(elementsOf(document, 'members'));
  const mutations: readonly Mutation[] = named.has('members') ? [{ kind: 'replaceMembers', ids: members }] : [];
  return changeGroup(context, id, precondition, () => columns, mutations);
}

/** Applies a PATCH body to a group. */
export async function patchGroup(context: ScimContext, id: string, body: unknown, precondition: Precondition): Promise<Stored> {
  const mutations = planPatch(groupIndex, id, body);
  const assignments = mutations.filter((mutation) => mutation.kind === 'assign');
  return changeGroup(context, id, precondition, (before) => columnsOf(applyMutations(before, assignments)), mutations);
}

async function changeGroup(
  context: ScimContext,
  id: string,
  precondition: Precondition,
  columnsFrom: (before: Document) => GroupColumns,
  mutations: readonly Mutation[],
): Promise<Stored> {
  const { services, tenant } = context;
  try {
    return await writeInTurn(services.database, tenant.id, id, async (queries) => {
      const row = await lockGroup(queries, services.database.dialect, tenant.id, id);
      if (row === undefined) throw notFound();
      requireVersion(precondition, row.version);
      const columns = columnsFrom(documentOfGroup(row));
      let changed = columns.display_name === row.display_name && columns.external_id === row.external_id ? 0 : 1;
      for (const mutation of mutations) changed += await changeMembers(context, queries, row.id, mutation);
      if (changed === 0) return stored(row);
      const updated = await updateProvisionedGroup(queries, tenant.id, row.id, columns);
      await audit(context, queries, 'group.updated', `group:${row.id}`, { version: updated.version });
      return stored(updated);
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw taken();
    throw error;
  }
}

/** Runs one mutation on the membership; gives how many members it changed. */
async function changeMembers(context: ScimContext, queries: Queries, group: GroupId, mutation: Mutation): Promise<number> {
  const { dialect } = context.services.database;
  const tenant = context.tenant.id;
  switch (mutation.kind) {
    case 'addMembers':
      return changedCount(await addMembers(queries, dialect, tenant, group, mutation.ids));
    case 'replaceMembers':
      return changedCount(await replaceMembers(queries, dialect, tenant, group, mutation.ids));
    case 'removeMembers': {
      const removed = await removeMembers(queries, dialect, tenant, group, mutation.ids);
      if (mutation.mustExist && removed === 0) throw noTarget('The path selects no value of members.');
      return removed;
    }
    default:
      return 0; // columns are written together at the end
  }
}

/** Unknown, foreign, deleted and console-managed members are one answer. */
function changedCount(change: MemberChange): number {
  if (change.ok) return change.changed;
  throw invalidValue('A member does not exist.');
}

/** Deletes a group. */
export async function deleteGroup(context: ScimContext, id: string, precondition: Precondition): Promise<void> {
  const { services, tenant } = context;
  await writeInTurn(services.database, tenant.id, id, async (queries) => {
    const row = await lockGroup(queries, services.database.dialect, tenant.id, id);
    if (row === undefined) throw notFound();
    requireVersion(precondition, row.version);
    await deleteProvisionedGroup(queries, tenant.id, row.id);
    await audit(context, queries, 'group.deleted', `group:${row.id}`);
  });
}

function columnsOf(document: Document): GroupColumns {
  const name = scalarOf(document, 'displayName');
  const externalId = scalarOf(document, 'externalId');
  if (typeof name !== 'string') throw invalidValue('displayName is required.');
  return { display_name: name, external_id: typeof externalId === 'string' ? externalId : null };
}
