// Brings one group to the target, with those members who have accounts there. What the target was told of is kept, so that only what differs
// is sent, five hundred members a PATCH, and a crash repeats one PATCH at most, which changes nothing.
import { membersPerPatchMax } from '../contract/limits.ts';
import { findGroup } from '../storage/people/groups.ts';
import { type ConnectorLink, dropLink, keepLink, listLinksTo, settleLink } from '../storage/records/connector-links.ts';
import { addSentMembers, dropSentMembers, listLinkedMembers, listSentMembers, type Member } from '../storage/records/connector-members.ts';
import type { Work } from './parts.ts';
import { type Json, type Target, TargetFault } from './target.ts';
import { idsOf, patchSchema } from './user-sync.ts';
import { hashOf } from './wanted.ts';

const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';

interface WantedGroup {
  readonly resource: { readonly schemas: readonly string[]; readonly displayName: string; readonly externalId: string };
  readonly hash: string;
  readonly members: readonly Member[];
  readonly sent: readonly { readonly user_id: string; readonly remote_id: string | null }[];
}

/** Does what is to be done for a claimed link of a group, and settles it. @throws TargetFault, the link still claimed */
export async function syncGroup(work: Work, link: ConnectorLink): Promise<void> {
  const wanted = await wantedGroup(work, link.local_id);
  if (wanted === undefined) return endGroup(work, link);
  if (link.remote_id === null) return bringGroup(work, link, wanted);
  return updateGroup(work, link, wanted);
}

async function wantedGroup({ parts, tenant, whose, groups }: Work, id: string): Promise<WantedGroup | undefined> {
  if (!groups.some((one) => one === id)) return undefined;
  return parts.database.read(tenant.id, async (queries) => {
    const group = await findGroup(queries, tenant.id, id);
    if (group === undefined) return undefined;
    const resource = { schemas: [groupSchema], displayName: group.display_name, externalId: group.id };
    const members = await listLinkedMembers(queries, whose, id);
    return { resource, hash: hashOf(resource), members, sent: await listSentMembers(queries, whose, id) };
  });
}

/** A group is deleted where accounts are; else it stays as it is. */
async function endGroup({ parts, tenant, whose, connector, target }: Work, link: ConnectorLink): Promise<void> {
  if (link.remote_id !== null && connector.deprovision === 'delete') await target.ask('DELETE', pathOf(link.remote_id));
  await parts.database.write(tenant.id, async (queries) => {
    await dropSentMembers(queries, whose, { group: link.local_id });
    await dropLink(queries, link);
  });
}

const pathOf = (remoteId: string): string => `/Groups/${encodeURIComponent(remoteId)}`;

async function bringGroup(work: Work, link: ConnectorLink, wanted: WantedGroup): Promise<void> {
  const { parts, tenant, whose, target } = work;
  if (link.creates === 1) await parts.database.write(tenant.id, (queries) => keepLink(queries, link, { creates: 0 }));
  const filter = encodeURIComponent(`displayName eq ${JSON.stringify(wanted.resource.displayName)}`);
  const found = link.creates === 1 ? [] : idsOf((await target.ask('GET', `/Groups?filter=${filter}&startIndex=1&count=2`)).json);
  if (found.length > 1) throw new TargetFault('conflict', 'several_match');
  const [remoteId] = found;
  if (remoteId === undefined) return createGroup(work, link, wanted);
  const others = await parts.database.read(tenant.id, (queries) => listLinksTo(queries, whose, 'group', [remoteId]));
  if (others.some(({ local_id: id }) => id !== link.local_id)) throw new TargetFault('conflict', 'linked_to_another');
  await adoptMembers(work, link.local_id, remoteId);
  await parts.database.write(tenant.id, (queries) => keepLink(queries, link, { remote_id: remoteId, hash: null }));
  const sent = await parts.database.read(tenant.id, (queries) => listSentMembers(queries, whose, link.local_id));
  return updateGroup(work, { ...link, remote_id: remoteId, hash: null }, { ...wanted, sent });
}

/** Takes what the target says of our people's membership for what it was told; gives the resource, or undefined for 404. */
export async function adoptMembers({ parts, tenant, whose, target }: Work, groupId: string, remoteId: string): Promise<Json | undefined> {
  const { status, json } = await target.ask('GET', pathOf(remoteId));
  if (status === 404) return undefined;
  const remote = memberIdsOf(json);
  await parts.database.write(tenant.id, async (queries) => {
    const known = await listLinksTo(queries, whose, 'user', remote);
    await dropSentMembers(queries, whose, { group: groupId });
    await addSentMembers(
      queries,
      whose,
      groupId,
      known.map(({ local_id: id }) => id),
    );
  });
  return json;
}

const memberIdsOf = ({ members }: Json): readonly string[] =>
  Array.isArray(members) ? (members as readonly Json[]).map((member) => String(member['value'])) : [];

async function createGroup(work: Work, link: ConnectorLink, wanted: WantedGroup): Promise<void> {
  const { parts, tenant, whose, target } = work;
  const first = (await target.canPatch()) ? wanted.members.slice(0, membersPerPatchMax) : wanted.members;
  const { json } = await target.ask('POST', '/Groups', { ...wanted.resource, members: first.map(memberOf) });
  const remoteId = json['id'];
  if (typeof remoteId !== 'string' || remoteId === '') throw new TargetFault('failed', 'no_id', { request: 'POST /Groups' });
  await parts.database.write(tenant.id, async (queries) => {
    await keepLink(queries, link, { remote_id: remoteId, hash: wanted.hash, state: 'linked' });
    await dropSentMembers(queries, whose, { group: link.local_id });
    await addSentMembers(
      queries,
      whose,
      link.local_id,
      first.map(({ user_id: id }) => id),
    );
  });
  const sent = first;
  return updateGroup(work, { ...link, remote_id: remoteId, hash: wanted.hash }, { ...wanted, sent });
}

const memberOf = ({ remote_id: value }: Member): Json => ({ value });

async function updateGroup(work: Work, link: ConnectorLink, wanted: WantedGroup): Promise<void> {
  const { parts, tenant, whose, target } = work;
  const { members, sent } = wanted;
  const known = new Set(sent.map(({ user_id: id }) => id));
  const wantedIds = new Set(members.map(({ user_id: id }) => id));
  const added = members.filter(({ user_id: id }) => !known.has(id));
  const removed = sent.filter(({ user_id: id }) => !wantedIds.has(id));
  const isNamed = link.hash === wanted.hash;
  if (!isNamed || added.length > 0 || removed.length > 0) {
    const send = (await target.canPatch()) ? patchGroup : putGroup;
    if (!(await send(work, link, wanted, { added, removed, isNamed }))) {
      await parts.database.write(tenant.id, async (queries) => {
        await keepLink(queries, link, { remote_id: null, hash: null });
        await dropSentMembers(queries, whose, { group: link.local_id });
      });
      return bringGroup(work, { ...link, remote_id: null, hash: null }, { ...wanted, sent: [] });
    }
  }
  await parts.database.write(tenant.id, (queries) =>
    settleLink(queries, link, { state: 'linked', remote_id: link.remote_id, hash: wanted.hash, reason: null, request: null, answer: null }),
  );
}

interface Difference {
  readonly added: readonly Member[];
  readonly removed: WantedGroup['sent'];
  readonly isNamed: boolean;
}

/** False: there is no such group. */
async function patchGroup(work: Work, link: ConnectorLink, wanted: WantedGroup, { added, removed, isNamed }: Difference): Promise<boolean> {
  const { parts, tenant, whose, target } = work;
  const path = pathOf(link.remote_id ?? '');
  const group = link.local_id;
  const ask = (operations: readonly Json[]): Promise<boolean> => patch(target, path, operations);
  const parcels = [
    ...slices(removed).map((users) => ({ users, isAdding: false })),
    ...slices(added).map((users) => ({ users, isAdding: true })),
  ];
  for (const { users, isAdding } of parcels) {
    const isThere = isAdding
      ? await ask([{ op: 'add', path: 'members', value: users.map((one) => ({ value: one.remote_id })) }])
      : await removeMembers(work, path, users);
    if (!isThere) return false;
    const ids = users.map(({ user_id: id }) => id);
    await parts.database.write(tenant.id, async (queries) => {
      if (isAdding) await addSentMembers(queries, whose, group, ids);
      else await dropSentMembers(queries, whose, { group, users: ids });
      await keepLink(queries, link);
    });
  }
  const { schemas: _schemas, ...value } = wanted.resource;
  // By itself, and last: a name that the target does not take keeps nobody in the group.
  return isNamed || ask([{ op: 'replace', value }]);
}

const patch = async (target: Target, path: string, operations: readonly Json[]): Promise<boolean> =>
  (await target.ask('PATCH', path, { schemas: [patchSchema], Operations: operations })).status !== 404;

/** Takes members out. RFC 7644 refuses all when one is none, whom somebody took out there: then those go who are still in it. */
async function removeMembers({ target }: Work, path: string, users: WantedGroup['sent']): Promise<boolean> {
  const operations = removals(users);
  if (operations.length === 0) return true;
  try {
    return await patch(target, path, operations);
  } catch (error) {
    if (!(error instanceof TargetFault) || error.reason !== 'status_400') throw error;
    const { status, json } = await target.ask('GET', path);
    if (status === 404) return false;
    const there: ReadonlySet<string | null> = new Set(memberIdsOf(json));
    const left = users.filter(({ remote_id: id }) => there.has(id));
    if (left.length === operations.length) throw error;
    return left.length === 0 || patch(target, path, removals(left));
  }
}

/** Whoever has no account any more is no member. */
const removals = (users: WantedGroup['sent']): readonly Json[] =>
  users.flatMap(({ remote_id: id }) => (id === null ? [] : [{ op: 'remove', path: `members[value eq ${JSON.stringify(id)}]` }]));

function slices<One>(all: readonly One[]): readonly (readonly One[])[] {
  return Array.from({ length: Math.ceil(all.length / membersPerPatchMax) }, (_, at) =>
    all.slice(at * membersPerPatchMax, (at + 1) * membersPerPatchMax),
  );
}

async function putGroup(work: Work, link: ConnectorLink, wanted: WantedGroup, { added, removed }: Difference): Promise<boolean> {
  const { parts, tenant, whose, target } = work;
  const id = link.remote_id ?? '';
  const { status } = await target.ask('PUT', pathOf(id), { ...wanted.resource, id, members: wanted.members.map(memberOf) });
  if (status === 404) return false;
  await parts.database.write(tenant.id, async (queries) => {
    const idsOfUsers = (users: readonly { readonly user_id: string }[]): readonly string[] => users.map(({ user_id: user }) => user);
    await addSentMembers(queries, whose, link.local_id, idsOfUsers(added));
    await dropSentMembers(queries, whose, { group: link.local_id, users: idsOfUsers(removed) });
  });
  return true;
}
