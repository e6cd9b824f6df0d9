// What a run of a connector would send, without asking its target or writing anything: who has no account yet, who differs from what was
// sent, whose account would end.
import { planDifferencesMax, planPeopleMax } from '../contract/limits.ts';
import type { Connector } from '../domain/extending/connector.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { type Pace, slicesOf } from '../platform/turns/pace.ts';
import type { Database, Queries } from '../storage/engine/database.ts';
import { type ConnectorLink, isLeftAlone, listLinks, listLinksOf } from '../storage/records/connector-links.ts';
import { listPeopleIds } from '../storage/records/connector-members.ts';
import { factsOf } from './parts.ts';
import { endedHash, wantedUser } from './wanted.ts';

/** `bring`: found at the target, else made. */
export const plannedActions = ['bring', 'update', 'deactivate', 'delete', 'leave'] as const;
type PlannedAction = (typeof plannedActions)[number];

export interface Plan {
  readonly counts: Readonly<Record<PlannedAction | 'unchanged' | 'conflict' | 'ignored', number>>;
  readonly differences: readonly { readonly user_id: string; readonly user_name: string | null; readonly action: PlannedAction }[];
  /** False: there are more people than a plan looks at. */
  readonly complete: boolean;
}

const pageSize = 100;

export async function planConnector(database: Database, tenant: Tenant, connector: Connector, pace: Pace): Promise<Plan> {
  const facts = { tenant, connector, ...(await factsOf(database, tenant, connector)) };
  const counts = { bring: 0, update: 0, deactivate: 0, delete: 0, leave: 0, unchanged: 0, conflict: 0, ignored: 0 };
  const differences: Plan['differences'][number][] = [];
  const judge = async (queries: Queries, id: string, link: ConnectorLink | undefined) => {
    if (link !== undefined && isLeftAlone(link)) return { id, action: link.state as 'conflict' | 'ignored' };
    const wanted = await wantedUser(queries, facts, id);
    const name = typeof wanted?.resource['userName'] === 'string' ? wanted.resource['userName'] : null;
    const remoteId = link?.remote_id ?? null;
    if (wanted === undefined)
      return { id, name, action: remoteId === null || link?.hash === endedHash ? ('none' as const) : connector.deprovision };
    if (remoteId === null) return { id, name, action: wanted.active ? ('bring' as const) : ('none' as const) };
    if (link?.hash === wanted.hash) return { id, name, action: 'unchanged' as const };
    return { id, name, action: wanted.active ? ('update' as const) : ('deactivate' as const) };
  };
  const lookSlice = async (ids: readonly string[]): Promise<void> => {
    const judged = await database.read(tenant.id, async (queries) => {
      const links = new Map((await listLinksOf(queries, facts.whose, ids)).map((link) => [link.local_id, link]));
      const all: Awaited<ReturnType<typeof judge>>[] = [];
      for (const id of ids) all.push(await judge(queries, id, links.get(id)));
      return all;
    });
    for (const { id, action, name = null } of judged) {
      if (action === 'none') continue;
      counts[action] += 1;
      const isDifference = action !== 'unchanged' && action !== 'conflict' && action !== 'ignored';
      if (isDifference && differences.length < planDifferencesMax) differences.push({ user_id: id, user_name: name, action });
    }
  };
  const look = async (ids: readonly string[]): Promise<void> => {
    for (const slice of slicesOf(ids)) {
      await pace();
      await lookSlice(slice);
    }
  };
  const seen = new Set<string>();
  const complete = await lookAtAll(seen, look, (after) =>
    database.read(tenant.id, (queries) =>
      listPeopleIds(queries, tenant.id, { after, limit: pageSize, groups: connector.users === 'all' ? undefined : facts.groups }),
    ),
  );
  // Those with an account who are no longer provisioned.
  const isWhole = await lookAtAll(seen, look, async (after) => {
    const links = await database.read(tenant.id, (queries) => listLinks(queries, facts.whose, { kind: 'user', after, limit: pageSize }));
    return links.map(({ local_id: id }) => id);
  });
  return { counts, differences, complete: complete && isWhole };
}

/** False when there are more than a plan looks at. */
async function lookAtAll(
  seen: Set<string>,
  look: (ids: readonly string[]) => Promise<void>,
  page: (after: string) => Promise<readonly string[]>,
): Promise<boolean> {
  for (let after = ''; ; ) {
    const ids = await page(after);
    const fresh = ids.filter((id) => !seen.has(id));
    const room = planPeopleMax - seen.size;
    for (const id of fresh.slice(0, room)) seen.add(id);
    await look(fresh.slice(0, room));
    if (fresh.length > room) return false;
    if (ids.length < pageSize) return true;
    after = ids.at(-1)!;
  }
}
