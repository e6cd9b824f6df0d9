// Brings one person to the target: found by what they are matched by, adopted or made, changed where something differs, ended when they are
// no longer provisioned. Everything is recorded before the next request, so that whoever goes on after a crash finds what is there.
import type { Connector } from '../domain/extending/connector.ts';
import { type ConnectorLink, dropLink, keepLink, listLinksTo, markGroupsOf, settleLink } from '../storage/records/connector-links.ts';
import { dropSentMembers } from '../storage/records/connector-members.ts';
import { isCounted } from './guard.ts';
import type { Work } from './parts.ts';
import { type Json, type Target, TargetFault } from './target.ts';
import { endedHash, resembles, type WantedUser, wantedUser } from './wanted.ts';

export const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

/** Does what is to be done for a claimed link, and settles it. @throws TargetFault, the link still claimed */
export async function syncUser(work: Work, link: ConnectorLink): Promise<void> {
  const { parts, tenant } = work;
  const wanted = await parts.database.read(tenant.id, (queries) => wantedUser(queries, work, link.local_id));
  if (wanted === undefined) return endUser(work, link);
  if (link.remote_id === null) return wanted.active ? bringUser(work, link, wanted) : forget(work, link);
  if (link.hash === wanted.hash) return settle(work, link, { state: 'linked', leaving: 0 });
  // Whoever is suspended loses their account for now: that counts among the accounts that end.
  if (!wanted.active && link.leaving !== 2) return hold(work, link);
  return updateUser(work, link, wanted);
}

/** As syncUser, after a look at the target: an account that is gone there, or looks otherwise, is put right. @throws TargetFault */
export async function provisionUser(work: Work, link: ConnectorLink): Promise<void> {
  if (link.remote_id === null) return syncUser(work, link);
  const { status, json } = await work.target.ask('GET', `/Users/${encodeURIComponent(link.remote_id)}`);
  if (status === 404) return syncUser(work, await loseAccount(work, link));
  const { database } = work.parts;
  const wanted = await database.read(work.tenant.id, (queries) => wantedUser(queries, work, link.local_id));
  if (isAsSaid(work, wanted, json)) return syncUser(work, link);
  await database.write(work.tenant.id, (queries) => keepLink(queries, link, { hash: null }));
  return syncUser(work, { ...link, hash: null });
}

/** Whether an account at the target is as we said last: of somebody who is no longer provisioned, as they are left behind. */
export const isAsSaid = ({ connector }: Work, wanted: WantedUser | undefined, theirs: Json | undefined): boolean =>
  wanted !== undefined ? resembles(wanted.resource, theirs) : connector.deprovision === 'leave' || theirs?.['active'] === false;

/** The account is not there any more; nor is it in any group there. */
async function loseAccount({ parts, tenant, whose }: Work, link: ConnectorLink): Promise<ConnectorLink> {
  await parts.database.write(tenant.id, async (queries) => {
    await keepLink(queries, link, { remote_id: null, hash: null });
    await dropSentMembers(queries, whose, { user: link.local_id });
  });
  return { ...link, remote_id: null, hash: null };
}

const forget = ({ parts, tenant }: Work, link: ConnectorLink): Promise<void> =>
  parts.database.write(tenant.id, (queries) => dropLink(queries, link));

const settle = ({ parts, tenant }: Work, link: ConnectorLink, change: Parameters<typeof settleLink>[2]): Promise<void> =>
  parts.database.write(tenant.id, (queries) => settleLink(queries, link, { reason: null, request: null, answer: null, ...change }));

/** It waits for the others of the run: the guard counts them. */
const hold = (work: Work, link: ConnectorLink): Promise<void> => settle(work, link, { leaving: 1 });

async function endUser(work: Work, link: ConnectorLink): Promise<void> {
  const { parts, connector, target } = work;
  if (link.remote_id === null && !isCounted(parts, link)) return forget(work, link);
  if (link.remote_id === null || link.hash === endedHash) return settle(work, link, { state: 'off', leaving: 0 });
  const ended = { state: 'off', hash: endedHash, sent_paths: null, leaving: 0 } as const;
  if (connector.deprovision === 'leave') return settle(work, link, ended);
  if (link.leaving !== 2) return hold(work, link);
  const path = `/Users/${encodeURIComponent(link.remote_id)}`;
  if (connector.deprovision === 'delete') {
    await target.ask('DELETE', path);
    return settle(work, link, { ...ended, remote_id: null });
  }
  await deactivate(work, path);
  return settle(work, link, ended);
}

async function deactivate({ target }: Work, path: string): Promise<void> {
  if (await target.canPatch()) {
    await target.ask('PATCH', path, { schemas: [patchSchema], Operations: [{ op: 'replace', value: { active: false } }] });
    return;
  }
  const { status, json } = await target.ask('GET', path);
  if (status === 404) return;
  const { meta: _meta, ...kept } = json;
  await target.ask('PUT', path, { ...kept, active: false });
}

async function bringUser(work: Work, link: ConnectorLink, wanted: WantedUser): Promise<void> {
  const { parts, tenant, whose } = work;
  if (typeof wanted.resource['userName'] !== 'string') throw new TargetFault('failed', 'no_user_name');
  if (link.creates === 1) {
    // Once: who crashes here looks again.
    await parts.database.write(tenant.id, (queries) => keepLink(queries, link, { creates: 0 }));
    return createUser(work, link, wanted);
  }
  const found = await findAccounts(work, wanted.resource);
  if (found.length > 1) throw new TargetFault('conflict', 'several_match');
  const [remoteId] = found;
  if (remoteId === undefined) return createUser(work, link, wanted);
  const others = await parts.database.read(tenant.id, (queries) => listLinksTo(queries, whose, 'user', [remoteId]));
  if (others.some(({ local_id: id }) => id !== link.local_id)) throw new TargetFault('conflict', 'linked_to_another');
  await parts.database.write(tenant.id, (queries) => keepLink(queries, link, { remote_id: remoteId, hash: null }));
  return updateUser(work, { ...link, remote_id: remoteId, hash: null }, wanted);
}

/** The ids of accounts that match, two at most. */
async function findAccounts({ target, connector }: Work, resource: Json): Promise<readonly string[]> {
  const value = matchValueOf(connector, resource);
  if (value === undefined) throw new TargetFault('failed', 'no_match_value');
  const filter = encodeURIComponent(`${connector.match} eq ${JSON.stringify(value)}`);
  return idsOf((await target.ask('GET', `/Users?filter=${filter}&startIndex=1&count=2`)).json);
}

export function idsOf(list: Json): readonly string[] {
  const resources = Array.isArray(list['Resources']) ? (list['Resources'] as readonly Json[]) : [];
  return resources.map((resource) => String(resource['id']));
}

function matchValueOf({ match }: Connector, resource: Json): string | undefined {
  const [email] = (resource['emails'] ?? []) as readonly Json[];
  const value = match === 'emails.value' ? email?.['value'] : resource[match];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

async function createUser(work: Work, link: ConnectorLink, wanted: WantedUser): Promise<void> {
  const { json } = await work.target.ask('POST', '/Users', wanted.resource);
  if (typeof json['id'] !== 'string' || json['id'] === '') throw new TargetFault('failed', 'no_id', { request: 'POST /Users' });
  await linked(work, { ...link, remote_id: null }, json['id'], wanted);
}

async function updateUser(work: Work, link: ConnectorLink, wanted: WantedUser): Promise<void> {
  const remoteId = link.remote_id ?? '';
  const path = `/Users/${encodeURIComponent(remoteId)}`;
  const { status } = await tell(work, link, wanted, path).catch(async (error: unknown) => {
    // Whatever else of a suspended person the target does not take, their account ends.
    if (!wanted.active && isRefusal(error)) await deactivate(work, path);
    throw error;
  });
  if (status !== 404) return linked(work, link, remoteId, wanted);
  const lost = await loseAccount(work, link);
  return wanted.active ? bringUser(work, lost, wanted) : forget(work, lost);
}

const isRefusal = (error: unknown): boolean => error instanceof TargetFault && (error.kind === 'conflict' || error.kind === 'failed');

/** Sends the whole person, and takes away what was sent before and is gone. */
async function tell({ target }: Work, link: ConnectorLink, wanted: WantedUser, path: string): ReturnType<Target['ask']> {
  if (!(await target.canPatch())) return target.ask('PUT', path, { ...wanted.resource, id: link.remote_id });
  const sentBefore: readonly string[] = JSON.parse(link.sent_paths ?? '[]');
  const gone = sentBefore.filter((one) => !wanted.paths.includes(one));
  const { schemas: _schemas, ...value } = wanted.resource;
  const Operations = [{ op: 'replace', value }, ...gone.map((one) => ({ op: 'remove', path: one }))];
  return target.ask('PATCH', path, { schemas: [patchSchema], Operations });
}

/** Records what the target says now; the groups of somebody who is new there are told. */
async function linked({ parts, tenant, whose }: Work, link: ConnectorLink, remoteId: string, wanted: WantedUser): Promise<void> {
  await parts.database.write(tenant.id, async (queries) => {
    const said = { remote_id: remoteId, hash: wanted.hash, sent_paths: JSON.stringify(wanted.paths), state: 'linked', leaving: 0 } as const;
    await settleLink(queries, link, { ...said, creates: 0, reason: null, request: null, answer: null });
    if (link.state !== 'linked' || link.remote_id === null) await markGroupsOf(queries, whose, link.local_id);
  });
}
