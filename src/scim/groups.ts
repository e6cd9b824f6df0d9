// The operations on SCIM-managed groups. Membership changes run as set-based SQL in the order of the PATCH; the version
// moves once a request, and only when something changed (07-scim Writes).
import { reject } from '../contract/contract-error.ts';
import type { TypedEvent } from '../contract/events.ts';
import type { GroupId } from '../domain/ids.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/engine/database.ts';
import { queueWrite } from '../storage/engine/write-queue.ts';
import * as people from '../storage/people/group-writer.ts';
import { findProvisionedGroup, lockGroup, type ScimGroupRow } from '../storage/people/groups.ts';
import { listHoldersInGroup } from '../storage/people/user-roles.ts';
import { readBody } from './body-reader.ts';
import { type Document, elementsOf, emptyDocument, scalarOf } from './document.ts';
import { requireOver } from './over-people.ts';
import { applyMutations } from './patch/patch-apply.ts';
import { readMemberIds } from './patch/patch-members.ts';
import type { Mutation } from './patch/patch-mutation.ts';
import { planPatch } from './patch/patch-planner.ts';
import { type Precondition, requireVersion } from './precondition.ts';
import { invalidValue, noTarget, unlessTaken } from './refuse.ts';
import { audit, type ScimContext } from './request-context.ts';
import { groupIndex } from './schema/schema-lookup.ts';
import type { Stored } from './user-loader.ts';

const notFound = (): Error => reject('scim.resource_not_found', 'unknown_group');
const taken = (): Error => reject('scim.uniqueness', 'group_taken', { text: 'The displayName is in use.' });

/** What a group's row says; members are read apart. */
export function documentOfGroup(row: ScimGroupRow): Document {
  const document = emptyDocument();
  document['id'] = row.id;
  document['externalId'] = row.external_id ?? undefined;
  document['displayName'] = row.display_name;
  document['meta.resourceType'] = 'Group';
  document['meta.created'] = row.created_at;
  document['meta.lastModified'] = row.updated_at;
  document['meta.version'] = row.version;
  return document;
}

const stored = (row: ScimGroupRow): Stored => ({ document: documentOfGroup(row), version: row.version });

/** Creates a group from a request body. `id` is given by bulk. */
export async function createGroup(context: ScimContext, body: unknown, id?: string): Promise<Stored> {
  const { services, tenant, directory } = context;
  const { document } = readBody(groupIndex, body);
  const columns = columnsOf(document);
  const members = readMemberIds(elementsOf(document, 'members'));
  const groupId = (id ?? uuidV7(services.clock.nowMs())) as GroupId; // made here
  return unlessTaken(taken, () =>
    services.database.write(tenant.id, async (queries) => {
      const row = await people.insertScimGroup(queries, directory, { ...columns, id: groupId });
      await requireOverPeople(context, queries, members);
      changedCount(await people.addMembers(queries, services.database.dialect, directory, groupId, members));
      await auditGroup(context, queries, { type: 'group.created', target: `group:${groupId}`, data: { members: members.length } });
      return stored(row);
    }),
  );
}

/** A SCIM-managed group, or 404. */
export async function readGroup(context: ScimContext, id: string): Promise<Stored> {
  const { services, tenant, directory } = context;
  const row = await services.database.read(tenant.id, (queries) => findProvisionedGroup(queries, directory, id));
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
  columnsFrom: (before: Document) => Names,
  mutations: readonly Mutation[],
): Promise<Stored> {
  const { services, tenant, directory } = context;
  return unlessTaken(taken, () =>
    queueWrite(services.database, tenant.id, id, async (queries) => {
      const row = await lockGroup(queries, services.database.dialect, directory, id);
      if (row === undefined) throw notFound();
      requireVersion(precondition, row.version);
      const columns = columnsFrom(documentOfGroup(row));
      const isRenamed = columns.display_name !== row.display_name || columns.external_id !== row.external_id;
      let changed = 0;
      for (const mutation of mutations) changed += await changeMembers(context, queries, row.id, mutation);
      if (changed === 0 && !isRenamed) return stored(row);
      const updated = (await people.changeScimGroup(queries, directory, row.id, { ...columns, members: changed > 0 }))!; // locked above
      await auditGroup(context, queries, { type: 'group.updated', target: `group:${row.id}`, data: { version: updated.version } });
      return stored(updated);
    }),
  );
}

/** Runs one mutation on the membership; gives how many members it changed. */
async function changeMembers(context: ScimContext, queries: Queries, group: GroupId, mutation: Mutation): Promise<number> {
  const { directory } = context;
  const { dialect } = context.services.database;
  await requireOverMembers(context, queries, group, mutation);
  switch (mutation.kind) {
    case 'addMembers':
      return changedCount(await people.addMembers(queries, dialect, directory, group, mutation.ids));
    case 'replaceMembers':
      return changedCount(await people.replaceMembers(queries, dialect, directory, group, mutation.ids));
    case 'removeMembers': {
      const removed = await people.removeMembers(queries, dialect, directory, group, mutation.ids);
      if (mutation.mustExist && removed === 0) throw noTarget('The path selects no value of members.');
      return removed;
    }
    default:
      return 0; // columns are written together at the end
  }
}

/** Groups of an organisation give nothing, so that whoever is in one is not acted on. */
async function requireOverPeople(context: ScimContext, queries: Queries, ids: readonly string[]): Promise<void> {
  if (context.directory.organization === undefined) await requireOver(context, queries, ids);
}

/** Asks about those who come or go; who stays a member is not touched. */
async function requireOverMembers(context: ScimContext, queries: Queries, group: GroupId, mutation: Mutation): Promise<void> {
  if (mutation.kind !== 'addMembers' && mutation.kind !== 'replaceMembers' && mutation.kind !== 'removeMembers') return;
  if (context.directory.organization !== undefined) return;
  const named: ReadonlySet<string> = new Set(mutation.ids);
  // Whoever else is in the group stays: a group of any size is read only where it is replaced.
  const held = await listHoldersInGroup(queries, context.tenant.id, group, mutation.kind === 'replaceMembers' ? undefined : mutation.ids);
  const before: ReadonlySet<string> = new Set(held);
  const come = mutation.kind === 'removeMembers' ? [] : [...named].filter((id) => !before.has(id));
  const go = mutation.kind === 'addMembers' ? [] : held.filter((id) => mutation.kind === 'removeMembers' || !named.has(id));
  await requireOver(context, queries, [...come, ...go]);
}

/** Unknown, foreign, deleted and console-managed members are one answer. */
function changedCount(change: people.MemberChange): number {
  if (change.ok) return change.changed;
  throw invalidValue('A member does not exist.');
}

/** Deletes a group. */
export async function deleteGroup(context: ScimContext, id: string, precondition: Precondition): Promise<void> {
  const { services, tenant, directory } = context;
  await queueWrite(services.database, tenant.id, id, async (queries) => {
    const row = await lockGroup(queries, services.database.dialect, directory, id);
    if (row === undefined) throw notFound();
    requireVersion(precondition, row.version);
    await requireOverPeople(context, queries, await listHoldersInGroup(queries, tenant.id, row.id));
    await people.deleteGroup(queries, directory, row.id);
    await auditGroup(context, queries, { type: 'group.deleted', target: `group:${row.id}` });
  });
}

type GroupEvent = TypedEvent & { readonly type: `group.${'created' | 'updated' | 'deleted'}`; readonly target: string };

/** Records a write of a group; those of an organisation are no groups of the tenant and have a record of their own. */
async function auditGroup(context: ScimContext, queries: Queries, event: GroupEvent): Promise<void> {
  const { organization } = context.directory;
  if (organization === undefined) return audit(context, queries, event);
  const data = { group: event.target.slice('group:'.length), change: event.type.slice('group.'.length) };
  return audit(context, queries, { type: 'organization.group_changed', target: `organization:${organization}`, data });
}

type Names = Pick<people.GroupColumns, 'display_name' | 'external_id'>;

function columnsOf(document: Document): Names {
  const name = scalarOf(document, 'displayName');
  const externalId = scalarOf(document, 'externalId');
  if (typeof name !== 'string') throw invalidValue('displayName is required.');
  return { display_name: name, external_id: typeof externalId === 'string' ? externalId : null };
}
