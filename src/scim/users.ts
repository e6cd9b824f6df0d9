// The operations on users: create, read, replace, patch, delete (RFC 7644 sections 3.3 to 3.6). Each write is one
// transaction with its audit record; suspending or deleting ends the user's grants in it (07-scim).
import { reject } from '../contract/contract-error.ts';
import type { UserId } from '../domain/ids.ts';
import { isOwned } from '../domain/organizations/directory.ts';
import { uuidV7 } from '../platform/random.ts';
import { queueWrite } from '../storage/engine/write-queue.ts';
import * as people from '../storage/people/user-writer.ts';
import { findLiveUser, lockUser } from '../storage/people/users.ts';
import { insertAuditEvents } from '../storage/records/audit-events.ts';
import { readBody } from './body-reader.ts';
import { type Document, draftOf, sameDocument } from './document.ts';
import { everything, type Projection } from './list/projection.ts';
import { adoptInstead, changeMember, endMembership, isHere, joinMade, memberOf } from './organization/members.ts';
import { requireOver } from './over-people.ts';
import { applyMutations, type DocumentMutation } from './patch/patch-apply.ts';
import type { Mutation } from './patch/patch-mutation.ts';
import { isReadOnly, planPatch } from './patch/patch-planner.ts';
import { type Precondition, requireVersion } from './precondition.ts';
import { refusedWrite, unlessTaken } from './refuse.ts';
import { audit, type ScimContext } from './request-context.ts';
import type { TypeIndex } from './schema/schema-lookup.ts';
import { CUSTOM_SCHEMA } from './schema/user-attributes.ts';
import { checkedUser } from './user-checks.ts';
import { type Stored, storedUser } from './user-loader.ts';
import { changedColumns, changedCustom, changedLists } from './user-rows.ts';
import { writeUser } from './user-writes.ts';

const notFound = (): Error => reject('scim.resource_not_found', 'unknown_user');
const taken = (field: string): Error => {
  const what = field.startsWith('custom.') ? `A value of ${field.slice('custom.'.length)}` : 'The userName or an email address';
  return reject('scim.uniqueness', 'user_taken', { text: `${what} is in use.` });
};

/** Creates a user from a request body. `id` is given by bulk, whose operations may refer to users yet to be made. */
export async function createUser(context: ScimContext, body: unknown, id?: string): Promise<Stored> {
  const { services, tenant } = context;
  const added = newUser(context, body, id ?? uuidV7(services.clock.nowMs()));
  const make = (): Promise<Stored> =>
    services.database.write(tenant.id, async (queries) => {
      const row = await people.insertUser(queries, tenant.id, added);
      await audit(context, queries, { type: 'user.created', target: `user:${added.id}` });
      await joinMade(context, queries, [added]);
      return storedUser(context, queries, row, everything);
    });
  return unlessTaken(taken, async () => {
    try {
      return await make();
    } catch (error) {
      const adopted = await adoptInstead(context, added, error);
      if (adopted === undefined) throw error;
      return adopted;
    }
  });
}

/** What a request body makes of a user; throws what is wrong with it. */
export function newUser({ tenant, userIndex }: ScimContext, body: unknown, id: string): people.NewUser {
  const { document } = readBody(userIndex, body);
  const user = checkedUser(userIndex, document, tenant.settings.scim.infer_primary);
  const custom = changedCustom(tenant.customAttributes, user);
  const state = user['active'] === false ? 'suspended' : 'active';
  const own = { id: id as UserId, state, origin: 'scim' } as const; // made by the service
  return { ...own, profile: changedColumns(user), lists: changedLists(user), custom };
}

/** Creates users together, a statement a table; throws, with nothing written, when one of them cannot be. */
export async function createUsers(context: ScimContext, users: readonly people.NewUser[]): Promise<void> {
  const { services, tenant, requestId, actor } = context;
  const events = users.map(({ id }) => ({ type: 'user.created' as const, target: `user:${id}`, requestId, actor }));
  await services.database.write(tenant.id, async (queries) => {
    await people.insertUsers(queries, tenant.id, users);
    await insertAuditEvents(queries, tenant.id, services.clock.nowMs(), events);
    await joinMade(context, queries, users);
  });
}

/** A user, or 404. */
export async function readUser(context: ScimContext, id: string, projection: Projection): Promise<Stored> {
  const { services, tenant } = context;
  return services.database.read(tenant.id, async (queries) => {
    const row = await findLiveUser(queries, tenant.id, id);
    if (row === undefined || !(await isHere(context, queries, row))) throw notFound();
    return storedUser(context, queries, row, projection);
  });
}

/** Replaces a user by a request body; `active` stays when the body does not name it. */
export async function replaceUser(context: ScimContext, id: string, body: unknown, precondition: Precondition): Promise<Stored> {
  const { document, named } = readBody(context.userIndex, body);
  return changeUser(context, id, precondition, (before) => {
    const draft = draftOf(document);
    for (const key of Object.keys(before)) if (isOurs(context.userIndex, key)) draft[key] = before[key];
    if (!named.has('active') || draft['active'] === undefined) draft['active'] = before['active'];
    return draft;
  });
}

/** Applies a PATCH body to a user; no change leaves version and lastModified alone. */
export async function patchUser(context: ScimContext, id: string, body: unknown, precondition: Precondition): Promise<Stored> {
  const mutations = planPatch(context.userIndex, id, body).filter(isDocumentMutation);
  return changeUser(context, id, precondition, (before) => applyMutations(before, mutations));
}

function isDocumentMutation(mutation: Mutation): mutation is DocumentMutation {
  return mutation.kind !== 'addMembers' && mutation.kind !== 'removeMembers' && mutation.kind !== 'replaceMembers';
}

/** What the service keeps, whatever a client sends. */
function isOurs({ names }: TypeIndex, key: string): boolean {
  const custom = key.startsWith('custom.') ? names.get(`${CUSTOM_SCHEMA}:${key.slice('custom.'.length)}`.toLowerCase()) : undefined;
  return (
    (custom !== undefined && isReadOnly(custom)) ||
    key === 'id' ||
    key === 'groups' ||
    key.startsWith('meta.') ||
    key === 'enterprise.manager.$ref' ||
    key === 'enterprise.manager.displayName'
  );
}

async function changeUser(
  context: ScimContext,
  id: string,
  precondition: Precondition,
  change: (before: Document) => Document,
): Promise<Stored> {
  const { services, tenant } = context;
  return unlessTaken(taken, () =>
    queueWrite(services.database, tenant.id, id, async (queries) => {
      const row = await lockUser(queries, services.database.dialect, tenant.id, id);
      const member = row && (await memberOf(context, queries, row));
      if (row === undefined || member === 'stranger') throw notFound();
      requireVersion(precondition, row.version);
      const before = (await storedUser(context, queries, row, everything)).document;
      const after = checkedUser(context.userIndex, change(before), tenant.settings.scim.infer_primary, before);
      if (sameDocument(before, after)) return { document: before, version: row.version };
      if (member !== undefined) return changeMember(context, queries, { row, member }, before, after);
      if (row.role === 'admin') await requireOver(context, queries, [row.id]);
      return writeUser(context, queries, row, before, after);
    }),
  );
}

/** Deletes a user: gone for SCIM, every session ended, names and emails free again. */
export async function deleteUser(context: ScimContext, id: string, precondition: Precondition): Promise<void> {
  const { services, tenant } = context;
  const done = queueWrite(services.database, tenant.id, id, async (queries) => {
    const row = await lockUser(queries, services.database.dialect, tenant.id, id);
    const member = row && (await memberOf(context, queries, row));
    if (row === undefined || member === 'stranger') throw notFound();
    requireVersion(precondition, row.version);
    if (member !== undefined && !isOwned(row, member)) return endMembership(context, queries, row.id);
    if (row.role === 'admin') await requireOver(context, queries, [row.id]);
    await people.deleteUser(queries, tenant.id, row.id, {
      actor: context.actor,
      requestId: context.requestId,
      nowMs: services.clock.nowMs(),
    });
  });
  await done.catch((error: unknown) => {
    throw refusedWrite(error);
  });
}
