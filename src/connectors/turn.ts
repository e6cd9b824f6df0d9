// One turn of a connector: reads the feed, goes through what is due in batches, people before groups, and leaves when nothing is left or the
// target wants to be left alone. What fails is tried again after the pauses of webhooks; a conflict waits for a person.
import { deliveryKinds, pauseAfter } from '../deliveries/kinds.ts';
import {
  type ConnectorLink,
  claimLinks,
  hasDueLinks,
  type LinkKind,
  type Settled,
  settleLink,
} from '../storage/records/connector-links.ts';
import { changeConnectorState, findConnectorState, noteResults } from '../storage/registry/extending/connectors.ts';
import { markByEvents, markEverybody } from './feed.ts';
import { syncGroup } from './group-sync.ts';
import { judgeEndings, probe, stop } from './guard.ts';
import type { Work } from './parts.ts';
import { reconcile } from './reconcile.ts';
import { TargetFault } from './target.ts';
import { syncUser } from './user-sync.ts';

const batchLinks = 50;
const atOnce = 4;

/** Works until there is nothing to do, or no more to be done now. @param stays asked before each batch: whether this process may go on */
export async function takeTurn(work: Work, stays: () => Promise<boolean>): Promise<void> {
  const { parts, tenant, connector } = work;
  const read = () => parts.database.read(tenant.id, (queries) => findConnectorState(queries, tenant.id, connector.id));
  for (let isFirst = true; ; isFirst = false) {
    if (!(await stays())) return;
    const state = await read();
    if (state === undefined) return;
    const hasNews = await markByEvents(work, state.position);
    const hasMore = await markEverybody(work, state);
    const nowMs = parts.clock.nowMs();
    if (state.quarantined_at !== null) {
      if ((state.probe_at ?? 0) > nowMs || !(await probe(work))) return;
      continue;
    }
    if ((state.not_before ?? 0) > nowMs) return;
    const kind = await nextKind(work);
    if (kind !== undefined) {
      if ((await workBatch(work, kind)) === 'rests') return;
      continue;
    }
    if (hasNews || hasMore || (await judgeEndings(work))) continue;
    if (!isFirst || state.reconcile_at > nowMs) return;
    await reconcile(work, stays);
  }
}

async function nextKind({ parts, tenant, whose }: Work): Promise<LinkKind | undefined> {
  return parts.database.read(tenant.id, async (queries) =>
    (await hasDueLinks(queries, whose, 'user')) ? 'user' : (await hasDueLinks(queries, whose, 'group')) ? 'group' : undefined,
  );
}

/** Goes through some links, a few at a time. `rests`: nothing more is asked of the target now. */
async function workBatch(work: Work, kind: LinkKind): Promise<'goes_on' | 'rests'> {
  const { parts, tenant, connector, whose } = work;
  const links = await parts.database.write(tenant.id, (queries) => claimLinks(queries, whose, { kind, limit: batchLinks }));
  if (links.length === 0) return 'rests'; // in somebody else's hand
  const waiting = [...links];
  let rests = false;
  let failed = 0;
  const run = async (): Promise<void> => {
    for (let link = waiting.shift(); link !== undefined; link = waiting.shift()) {
      const result = rests ? await release(work, link) : await workLink(work, link);
      if (result === 'rests') rests = true;
      if (result === 'failed' && link.attempts === 1) failed += 1; // later attempts were counted by the first
    }
  };
  await Promise.all(Array.from({ length: atOnce }, run));
  const isBad = await parts.database.write(tenant.id, (queries) =>
    noteResults(queries, tenant.id, connector.id, { tried: links.length, failed }),
  );
  if (isBad) await stop(work, 'failing');
  return rests || isBad ? 'rests' : 'goes_on';
}

type Result = 'done' | 'failed' | 'rests';

async function release({ parts, tenant }: Work, link: ConnectorLink): Promise<Result> {
  await parts.database.write(tenant.id, (queries) => settleLink(queries, link, { againInMs: 0, attempts: link.attempts - 1 }));
  return 'rests';
}

/** Does one link and settles it, whatever becomes of it. */
export async function workLink(work: Work, link: ConnectorLink, sync = link.kind === 'user' ? syncUser : syncGroup): Promise<Result> {
  try {
    await sync(work, link);
    return 'done';
  } catch (error) {
    if (!(error instanceof TargetFault)) throw error;
    return settleFault(work, link, error);
  }
}

async function settleFault(work: Work, link: ConnectorLink, fault: TargetFault): Promise<Result> {
  const { parts, tenant, connector } = work;
  const { kind, reason, request = null, answer = null } = fault;
  const told = { reason, request, answer };
  const settle = (change: Settled): Promise<void> =>
    parts.database.write(tenant.id, (queries) => settleLink(queries, link, { ...told, ...change }));
  if (kind === 'throttled') {
    await parts.database.write(tenant.id, (queries) =>
      changeConnectorState(queries, tenant.id, connector.id, { not_before: parts.clock.nowMs() + fault.retryAfterMs }),
    );
    await settle({ againInMs: 0, attempts: link.attempts - 1 });
    return 'rests';
  }
  if (kind === 'unauthorized') {
    await settle({ againInMs: 0, attempts: link.attempts - 1 });
    await stop(work, 'unauthorized');
    return 'rests';
  }
  if (kind === 'conflict') {
    await settle({ state: 'conflict' });
    return 'done';
  }
  if (reason === 'stopped') {
    await settle({ againInMs: 0, attempts: link.attempts - 1 });
    return 'rests';
  }
  await settle({ state: 'failed', againInMs: pauseAfter(deliveryKinds.webhook, link.attempts), attempts: link.attempts });
  return 'failed';
}
