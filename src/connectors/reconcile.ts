// Reads the target once a day: whoever looks otherwise there than we said, or is not there any more, is brought to it again. A target whose list
// leaves somebody out loses nothing by it: each is asked for by itself before anything is made.
import { paceOfLongWork } from '../platform/turns/long-work.ts';
import { slicesOf } from '../platform/turns/pace.ts';
import { findGroup } from '../storage/people/groups.ts';
import { type ConnectorLink, listLinks, listLinksTo, markDifferent, markUnseen, noteSeen } from '../storage/records/connector-links.ts';
import { changeConnectorState } from '../storage/registry/extending/connectors.ts';
import { adoptMembers } from './group-sync.ts';
import type { Work } from './parts.ts';
import { type Json, TargetFault } from './target.ts';
import { isAsSaid } from './user-sync.ts';
import { wantedUser } from './wanted.ts';

const pageSize = 100;
const hourMs = 3_600_000;

/** Goes through the whole target. What stops it is tried again in an hour. */
export async function reconcile(work: Work, stays: () => Promise<boolean>): Promise<void> {
  const { parts, tenant, connector } = work;
  const beganMs = parts.clock.nowMs();
  const note = (change: Parameters<typeof changeConnectorState>[3]): Promise<void> =>
    parts.database.write(tenant.id, (queries) => changeConnectorState(queries, tenant.id, connector.id, change));
  await note({ reconcile_at: beganMs + hourMs });
  try {
    if (!(await readUsers(work, beganMs, stays)) || !(await readGroups(work, stays))) return;
  } catch (error) {
    if (error instanceof TargetFault) return;
    throw error;
  }
  await note({ reconcile_at: beganMs + 24 * hourMs, reconciled_at: beganMs, sync_after: '' });
}

/** False when another process goes on. */
async function readUsers(work: Work, beganMs: number, stays: () => Promise<boolean>): Promise<boolean> {
  const { parts, tenant, whose, target } = work;
  const pace = paceOfLongWork();
  for (let startIndex = 1; ; ) {
    if (!(await stays())) return false;
    const { json } = await target.ask('GET', `/Users?startIndex=${startIndex}&count=${pageSize}`);
    const resources = Array.isArray(json['Resources']) ? (json['Resources'] as readonly Json[]) : [];
    for (const slice of slicesOf(resources)) {
      await pace();
      await compare(work, slice, beganMs);
    }
    startIndex += resources.length;
    if (resources.length === 0 || startIndex > Number(json['totalResults'] ?? 0)) break;
  }
  await parts.database.write(tenant.id, (queries) => markUnseen(queries, whose, beganMs));
  return true;
}

async function compare(work: Work, resources: readonly Json[], beganMs: number): Promise<void> {
  const { parts, tenant, whose } = work;
  const remote = new Map(resources.map((resource) => [String(resource['id']), resource]));
  const { links, different } = await parts.database.read(tenant.id, async (queries) => {
    const found = (await listLinksTo(queries, whose, 'user', [...remote.keys()])).filter(
      ({ state }) => state === 'linked' || state === 'off',
    );
    const wrong: ConnectorLink[] = [];
    for (const link of found) {
      const theirs = remote.get(link.remote_id ?? '');
      const wanted = link.state === 'off' ? undefined : await wantedUser(queries, work, link.local_id);
      if (!isAsSaid(work, wanted, theirs)) wrong.push(link);
    }
    return { links: found, different: wrong };
  });
  const idsOf = (some: readonly ConnectorLink[]): readonly string[] => some.map(({ local_id: id }) => id);
  await parts.database.write(tenant.id, async (queries) => {
    await noteSeen(queries, whose, idsOf(links), beganMs);
    await markDifferent(queries, whose, idsOf(different));
  });
}

async function readGroups(work: Work, stays: () => Promise<boolean>): Promise<boolean> {
  const { parts, tenant, whose } = work;
  for (let after = ''; ; ) {
    const links = await parts.database.read(tenant.id, (queries) =>
      listLinks(queries, whose, { kind: 'group', state: 'linked', after, limit: pageSize }),
    );
    for (const link of links) {
      if (!(await stays())) return false;
      const theirs = await adoptMembers(work, link.local_id, link.remote_id ?? '');
      const ours = await parts.database.read(tenant.id, (queries) => findGroup(queries, tenant.id, link.local_id));
      if (theirs === undefined || theirs['displayName'] !== ours?.display_name)
        await parts.database.write(tenant.id, (queries) => markDifferent(queries, whose, [link.local_id]));
    }
    if (links.length < pageSize) return true;
    after = links.at(-1)!.local_id;
  }
}
