// How many deliveries a node has in hand, by endpoint: a few of each lane, one of a lane that timed out three times in a row, and a
// number of all together, a share of it for each tenant, and one for all that time out. Where nobody is there, one is tried a second. Room is reserved before a claim, so that what ends meanwhile is seen.

import { deliveryLanesMax } from '../contract/limits.ts';
import type { DueLane, QueueName } from '../storage/deliveries.ts';
import { type Attempted, unreached } from './carrier.ts';
import { absencesMax, deliveryKinds, quickMs, tenantAloneMax, tenantShareMax, timedOutMax, timeoutsMax } from './kinds.ts';

export interface Lane {
  readonly kind: QueueName;
  /** Whose room it takes: a tenant's. */
  share: string;
  /** When it last got room, among all. */
  turn: number;
  inHand: number;
  /** In a row. */
  timeouts: number;
  /** Attempts in a row that found nobody there. */
  absences: number;
  /** Nothing is begun before, by performance.now(). */
  restsUntilMs: number;
  /** The last attempt was: more may be claimed than there is room for. */
  isQuick: boolean;
}

export interface OpenLane extends DueLane {
  /** How many may be attempted at a time. */
  readonly room: number;
  /** How many may be claimed. */
  readonly limit: number;
  readonly state: Lane;
}

interface Lanes {
  /** Takes the room there is for lanes in which something is due, in turns, beginning with those that have least in hand. */
  readonly reserve: (due: readonly DueLane[]) => readonly OpenLane[];
  /** Makes the room taken that of so many deliveries: smaller, or greater where there is more; gives it. */
  readonly resize: (lane: Lane, room: number, count: number) => number;
  /** Gives room back; true when something may wait for it. */
  readonly release: (lane: Lane, count: number) => boolean;
}

/** @param totalMax of all lanes together */
export function createLanes(totalMax: number): Lanes {
  const lanes = new Map<string, Lane>();
  const inHandOf = new Map<string, number>();
  let total = 0;
  let turn = 0;
  let severalWait = false;
  const laneOf = (due: DueLane): Lane => {
    const name = `${due.kind} ${due.lane}`;
    const share = shareOf(due);
    const state = lanes.get(name) ?? newLane(due.kind, share);
    if (state.inHand === 0) state.share = share;
    lanes.set(name, state);
    return state;
  };
  const forgetIdle = (): void => {
    const isCrowded = lanes.size > deliveryLanesMax;
    for (const [name, { inHand, timeouts, absences, isQuick }] of lanes)
      if (inHand === 0 && ((timeouts === 0 && absences === 0 && !isQuick) || isCrowded)) lanes.delete(name);
  };
  const isAlone = (share: string): boolean => !severalWait && inHandOf.size <= (inHandOf.has(share) ? 1 : 0);
  const shareHasRoom = ({ share, timeouts }: Lane): boolean => {
    if (timeouts > 0 && timedOutIn(lanes.values()) >= timedOutMax) return false;
    const inHand = inHandOf.get(share) ?? 0;
    return inHand < tenantShareMax || (isAlone(share) && inHand < tenantAloneMax);
  };
  const hasRoom = (lane: Lane): boolean =>
    total < totalMax && lane.inHand < maxOf(lane) && performance.now() >= lane.restsUntilMs && shareHasRoom(lane);
  const take = (lane: Lane, count: number): void => {
    const inHand = (inHandOf.get(lane.share) ?? 0) + count;
    if (inHand === 0) inHandOf.delete(lane.share);
    else inHandOf.set(lane.share, inHand);
    lane.inHand += count;
    total += count;
  };
  return {
    reserve: (due) => {
      forgetIdle();
      const open = due.map((lane) => ({ ...lane, state: laneOf(lane), room: 0, limit: 0 }));
      open.sort((left, right) => left.state.inHand - right.state.inHand || left.state.turn - right.state.turn);
      const shares = [...Map.groupBy(open, ({ state }) => state.share)];
      shares.sort(([left], [right]) => (inHandOf.get(left) ?? 0) - (inHandOf.get(right) ?? 0));
      severalWait = shares.length > 1;
      giveInTurns(
        shares.map(([, waiting]) => waiting),
        hasRoom,
        (state) => {
          take(state, 1);
          turn += 1;
          state.turn = turn;
        },
      );
      for (const lane of open) lane.limit = lane.state.isQuick ? Math.max(lane.room, deliveryKinds[lane.kind].batchMax) : lane.room;
      return open.filter(({ room }) => room > 0);
    },
    resize: (lane, room, count) => {
      let sized = Math.min(room, count);
      take(lane, sized - room);
      for (; sized < count && hasRoom(lane); sized += 1) take(lane, 1);
      return sized;
    },
    release: (lane, count) => {
      const wasFull = !hasRoom(lane);
      take(lane, -count);
      return wasFull;
    },
  };
}

const newLane = (kind: QueueName, share: string): Lane => ({
  ...{ kind, share, turn: 0, inHand: 0 },
  ...{ timeouts: 0, absences: 0, restsUntilMs: 0, isQuick: false },
});

/** Gives room while there is any: in each turn to one lane of each share, the one that got least and waited longest. */
function giveInTurns<L extends { readonly state: Lane; room: number }>(
  shares: readonly (readonly L[])[],
  hasRoom: (lane: Lane) => boolean,
  give: (lane: Lane) => void,
): void {
  for (let found = true; found; ) {
    found = false;
    for (const waiting of shares) {
      const lane = leastRoom(waiting.filter(({ state }) => hasRoom(state)));
      if (lane === undefined) continue;
      give(lane.state);
      lane.room += 1;
      found = true;
    }
  }
}

/** Mails by the deployment's own server are everybody's. */
const shareOf = ({ kind, lane, tenant }: DueLane): string => (lane === '' ? kind : tenant);

const leastRoom = <L extends { readonly room: number }>(lanes: readonly L[]): L | undefined =>
  lanes.length === 0 ? undefined : lanes.reduce((least, one) => (one.room < least.room ? one : least));

function timedOutIn(lanes: Iterable<Lane>): number {
  let sum = 0;
  for (const { timeouts, inHand } of lanes) if (timeouts > 0) sum += inHand;
  return sum;
}

/** Notes how an attempt in a lane went, and how long it took. */
export function notePace(lane: Lane, { result, reason = '' }: Attempted, ms: number): void {
  const { batchMax, restMs } = deliveryKinds[lane.kind];
  const isAbsent = result === 'failed' && unreached.includes(reason);
  lane.timeouts = result === 'timeout' ? lane.timeouts + 1 : 0;
  lane.absences = isAbsent ? lane.absences + 1 : 0;
  lane.isQuick = ms < quickMs && batchMax > 1 && !isAbsent;
  if (restMs !== undefined && lane.absences >= absencesMax) lane.restsUntilMs = performance.now() + restMs;
}

const maxOf = ({ kind, timeouts, absences }: Lane): number => {
  const { laneMax, restMs } = deliveryKinds[kind];
  return timeouts >= timeoutsMax || (restMs !== undefined && absences >= absencesMax) ? 1 : laneMax;
};
