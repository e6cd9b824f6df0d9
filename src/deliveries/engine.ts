// The one engine of deliveries: mails, CIBA notifications, logout notices and pushes. Each endpoint is a lane; a node holds a few
// deliveries of each lane in hand, each for itself, so that an endpoint that hangs delays no other. An endpoint that answers quickly
// has more claimed for it together, where its kind allows; they are attempted one after another. Claims are leases in the
// database, so that every node takes part and another takes over what a killed one held: delivery is at least once. Run by the
// keeper of a node, woken by who queues and by the pulse. Reasons: docs/decisions/0021-deliveries.md.
import type { Woken } from '../platform/jobs.ts';
import { type Claimed, claimDeliveries, type DueLane, listDueLanes, type QueueName } from '../storage/deliveries.ts';
import type { Database } from '../storage/engine/database.ts';
import { type AttemptDeps, type Batch, openBatch } from './attempt.ts';
import { inHandMax, leaseMs } from './kinds.ts';
import { createLanes, type Lane, notePace, type OpenLane } from './lanes.ts';

/** In this time after a stop is asked for what is in hand may end by itself. */
const stopGraceMs = 3000;

/** What was claimed of a lane. */
interface Held {
  readonly open: OpenLane;
  readonly claimed: readonly Claimed[];
}

export interface DeliveryDeps extends Omit<AttemptDeps, 'stopping' | 'cut'> {
  /** Whether this node delivers in a lane; other nodes may, and what no node takes waits. */
  readonly takes: (lane: DueLane) => boolean;
}

export function createDeliveries(given: DeliveryDeps): Woken {
  const { database, log, carriers } = given;
  const kinds = Object.keys(carriers).filter((kind): kind is QueueName => carriers[kind as QueueName] !== undefined);
  const lanes = createLanes(inHandMax);
  const inHand = new Set<Promise<void>>();
  const stopping = new AbortController();
  const cut = new AbortController();
  const deps = { ...given, stopping: stopping.signal, cut: cut.signal };
  let isAsked = false;
  let claiming: Promise<void> | undefined;
  const claim = async (): Promise<void> => {
    const due = await database.systemRead((queries) => listDueLanes(queries, kinds));
    const open = lanes.reserve(due.filter(given.takes));
    if (open.length === 0) return;
    const atMs = performance.now();
    let held: readonly Held[] = [];
    try {
      held = await claimIn(database, open);
    } finally {
      for (const lane of open) if (!held.some((one) => one.open === lane)) lanes.release(lane.state, lane.room);
    }
    for (const one of held) hold(one, atMs);
  };
  const claimWhileAsked = async (): Promise<void> => {
    while (isAsked && !stopping.signal.aborted) {
      isAsked = false;
      await claim().catch((error: unknown) => log.error({ err: error }, 'deliveries could not be claimed'));
    }
    claiming = undefined;
  };
  const wake = (): void => {
    isAsked = true;
    if (!stopping.signal.aborted) claiming ??= claimWhileAsked();
  };
  const hold = ({ open: { state: lane, room }, claimed }: Held, claimedAtMs: number): void => {
    const runners = lanes.resize(lane, room, claimed.length);
    const batch = openBatch(deps, claimed, claimedAtMs);
    const run = (): Promise<void> =>
      attemptAll(batch, lane)
        .catch((error: unknown) => log.error({ err: error, kind: lane.kind }, 'deliveries could not be given back'))
        .finally(() => {
          if (lanes.release(lane, 1)) wake();
        });
    const work = Promise.all(Array.from({ length: runners }, run))
      .then(batch.concluded)
      .finally(() => void inHand.delete(work));
    inHand.add(work);
  };
  const settled = async (): Promise<void> => {
    while (claiming !== undefined || inHand.size > 0) await Promise.all([claiming, ...inHand]);
  };
  return {
    name: 'deliveries',
    wake,
    settled,
    stop: async () => {
      stopping.abort();
      const grace = setTimeout(() => cut.abort(), stopGraceMs);
      await settled();
      clearTimeout(grace);
    },
  };
}

/** Attempts what is left of a batch, beside others who do the same. */
async function attemptAll(batch: Batch, lane: Lane): Promise<void> {
  for (;;) {
    const atMs = performance.now();
    const attempt = batch.attemptNext();
    if (attempt === false) return;
    const attempted = await attempt;
    if (attempted !== undefined) notePace(lane, attempted, performance.now() - atMs);
  }
}

const claimIn = (database: Database, lanes: readonly OpenLane[]): Promise<readonly Held[]> =>
  database.system(async (queries) => {
    const held: Held[] = [];
    for (const open of lanes) {
      const { kind, lane, limit } = open;
      const rows = await claimDeliveries(queries, database.dialect, kind, { lane, limit, leaseMs });
      if (rows.length > 0) held.push({ open, claimed: rows.map((row) => ({ kind, row })) });
    }
    return held;
  });
