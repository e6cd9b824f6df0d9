// The operations on users: create, read, replace, patch, delete (RFC 7644 sections 3.3 to 3.6). Each write is one
// transaction with its audit record; suspending or deleting ends the user's grants in it (07-scim).
import { reject } from '../contract/contract-error.ts';
import type { UserId } from '../domain/ids.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/database.ts';
import { listDevicesOfUser, revokeDevice } from '../storage/devices.ts';
import { revokeGrantsOfUser } from '../storage/grants.ts';
import {
  deleteProvisionedUser,
  findLiveUser,
  insertProvisionedUser,
  lockUser,
  replaceUserEmails,
  type UserRow,
  updateProvisionedUser,
} from '../storage/provisioned-users.ts';
import { writeInTurn } from '../storage/resource-turns.ts';
import { isUniqueViolation } from '../storage/unique-violation.ts';
import { replaceUserAddresses, replaceUserValues } from '../storage/user-attributes.ts';
import { readBody } from './body-reader.ts';
import { type Document, draftOf, sameDocument, sameValue } from './document.ts';
import { applyMutations, type DocumentMutation } from './patch-apply.ts';
import type { Mutation } from './patch-mutation.ts';
import { planPatch } from './patch-planner.ts';
import { type Precondition, requireVersion } from './precondition.ts';
import { everything, type Projection } from './projection.ts';
import { audit, type ScimContext } from './request-context.ts';
import { loadPlural, userIndex } from './schema-lookup.ts';
import { checkedUser } from './user-checks.ts';
import { completeUsers } from './user-loader.ts';
import { addressRows, changedColumns, emailRows, personalColumns, valuePlurals, valueRows } from './user-rows.ts';

/** A resource as it is after an operation. */
export interface Stored {
  readonly document: Document;
  readonly version: number;
}

const notFound = (): Error => reject('scim.resource_not_found', 'unknown_user');
const taken = (): Error => reject('scim.uniqueness', 'user_taken', { text: 'The userName or an email address is in use.' });

/** Creates a user from a request body. `id` is given by bulk, whose operations may refer to users yet to be made. */
export async function createUser(context: ScimContext, body: unknown, id?: string): Promise<Stored> {
  const { services, tenant } = context;
  const { document } = readBody(userIndex, body);
  const user = checkedUser(document, tenant.settings.scim.infer_primary);
  const userId = (id ?? uuidV7(services.clock.nowMs())) as UserId; // made here
  const state = user['active'] === false ? 'suspended' : 'active';
  return services.database.write(tenant.id, async (queries) => {
    const inserted = await insertProvisionedUser(queries, tenant.id, { id: userId, state, columns: changedColumns(user, undefined) });
    if (!inserted.ok) throw taken();
    await writeValues(context, queries, userId, user, undefined);
    await audit(context, queries, 'user.created', `user:${userId}`);
    return storedUser(context, queries, inserted.row, everything);
  });
}

/** A user, or 404. */
export async function readUser(context: ScimContext, id: string, projection: Projection): Promise<Stored> {
  const { services, tenant } = context;
  return services.database.read(tenant.id, async (queries) => {
    const row = await findLiveUser(queries, tenant.id, id);
    if (row === undefined) throw notFound();
    return storedUser(context, queries, row, projection);
  });
}

/** Replaces a user by a request body; `active` stays when the body does not name it. */
export async function replaceUser(context: ScimContext, id: string, body: unknown, precondition: Precondition): Promise<Stored> {
  const { document, named } = readBody(userIndex, body);
  return changeUser(context, id, precondition, (before) => {
    const draft = draftOf(document);
    for (const key of Object.keys(before)) if (isOurs(key)) draft[key] = before[key];
    if (!named.has('active') || draft['active'] === undefined) draft['active'] = before['active'];
    return draft;
  });
}

/** Applies a PATCH body to a user; no change leaves version and lastModified alone. */
export async function patchUser(context: ScimContext, id: string, body: unknown, precondition: Precondition): Promise<Stored> {
  const mutations = planPatch(userIndex, id, body).filter(isDocumentMutation);
  return changeUser(context, id, precondition, (before) => applyMutations(before, mutations));
}

function isDocumentMutation(mutation: Mutation): mutation is DocumentMutation {
  return mutation.kind !== 'addMembers' && mutation.kind !== 'removeMembers' && mutation.kind !== 'replaceMembers';
}

/** What the service keeps, whatever a client sends. */
function isOurs(key: string): boolean {
  return key === 'id' || key === 'groups' || key.startsWith('meta.');
}

async function changeUser(
  context: ScimContext,
  id: string,
  precondition: Precondition,
  change: (before: Document) => Document,
): Promise<Stored> {
  const { services, tenant } = context;
  try {
    return await writeInTurn(services.database, tenant.id, id, async (queries) => {
      const row = await lockUser(queries, services.database.dialect, tenant.id, id);
      if (row === undefined) throw notFound();
      requireVersion(precondition, row.version);
      const before = (await storedUser(context, queries, row, everything)).document;
      const after = checkedUser(change(before), tenant.settings.scim.infer_primary);
      if (sameDocument(before, after)) return { document: before, version: row.version };
      return writeChange(context, queries, row, before, after);
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw taken();
    throw error;
  }
}

async function writeChange(context: ScimContext, queries: Queries, row: UserRow, before: Document, after: Document): Promise<Stored> {
  const state = after['active'] === true ? 'active' : 'suspended';
  const stateChange = state === row.state ? {} : { state };
  const updated = await updateProvisionedUser(queries, context.tenant.id, row.id, { ...changedColumns(after, before), ...stateChange });
  await writeValues(context, queries, row.id, after, before);
  if (state === 'suspended' && row.state === 'active') {
    await revokeGrantsOfUser(queries, context.tenant.id, row.id, 'user_state');
    await audit(context, queries, 'user.suspended', `user:${row.id}`);
  } else if (state !== row.state) await audit(context, queries, 'user.activated', `user:${row.id}`);
  await audit(context, queries, 'user.updated', `user:${row.id}`, { version: updated.version });
  return storedUser(context, queries, updated, everything);
}

/** Writes those multi-valued attributes that differ from before. */
async function writeValues(
  context: ScimContext,
  queries: Queries,
  id: UserId,
  after: Document,
  before: Document | undefined,
): Promise<void> {
  const tenant = context.tenant.id;
  const differs = (key: string): boolean => !sameValue(after[key], before?.[key]);
  if (differs('emails') && (await replaceUserEmails(queries, tenant, id, emailRows(after))) === 'taken') throw taken();
  for (const plural of valuePlurals) {
    if (differs(plural.key)) await replaceUserValues(queries, tenant, id, plural.key, valueRows(tenant, id, plural, after));
  }
  if (differs('addresses'))
    await replaceUserAddresses(queries, tenant, id, addressRows(tenant, id, loadPlural(userIndex, 'addresses'), after));
}

/** Deletes a user: gone for SCIM, every session ended, names and emails free again. */
export async function deleteUser(context: ScimContext, id: string, precondition: Precondition): Promise<void> {
  const { services, tenant } = context;
  await writeInTurn(services.database, tenant.id, id, async (queries) => {
    const row = await lockUser(queries, services.database.dialect, tenant.id, id);
    if (row === undefined) throw notFound();
    requireVersion(precondition, row.version);
    await revokeGrantsOfUser(queries, tenant.id, row.id, 'user_state');
    for (const device of await listDevicesOfUser(queries, tenant.id, row.id)) await revokeDevice(queries, tenant.id, device.id, row.id);
    await deleteProvisionedUser(queries, tenant.id, row.id, personalColumns);
    await audit(context, queries, 'user.deleted', `user:${row.id}`);
  });
}

async function storedUser(context: ScimContext, queries: Queries, row: UserRow, projection: Projection): Promise<Stored> {
  const [document] = await completeUsers(context.services.database.dialect, queries, context.tenant.id, [row], projection);
  return { document: document!, version: row.version };
}
