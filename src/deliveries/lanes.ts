// How many deliveries a node has in hand, by endpoint: a few of each lane, one of a lane that timed out three times in a row, and a
// number of all together. Where nobody is there, one is tried a second. Room is reserved before a claim, so that what ends meanwhile is seen.

import { deliveryLanesMax } from '../contract/limits.ts';
import type { DueLane, QueueName } from '../storage/deliveries.ts';
import { type Attempted, unreached } from './carrier.ts';
import { absencesMax, deliveryKinds, quickMs, timeoutsMax } from './kinds.ts';

export interface Lane {
  readonly kind: QueueName;
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

export interface Lanes {
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
  let total = 0;
  const laneOf = ({ kind, lane }: DueLane): Lane => {
    const name = `${kind} ${lane}`;
    const state = lanes.get(name) ?? { kind, inHand: 0, timeouts: 0, absences: 0, restsUntilMs: 0, isQuick: false };
    lanes.set(name, state);
    return state;
  };
  const forgetIdle = (): void => {
    const isCrowded = lanes.size > deliveryLanesMax;
    for (const [name, { inHand, timeouts, absences, isQuick }] of lanes)
      if (inHand === 0 && ((timeouts === 0 && absences === 0 && !isQuick) || isCrowded)) lanes.delete(name);
  };
  const hasRoom = (lane: Lane): boolean => total < totalMax && lane.inHand < maxOf(lane) && performance.now() >= lane.restsUntilMs;
  const take = (lane: Lane, count: number): void => {
    lane.inHand += count;
    total += count;
  };
  return {
    reserve: (due) => {
      forgetIdle();
      const open = due.map((lane) => ({ ...lane, state: laneOf(lane), room: 0, limit: 0 }));
      open.sort((left, right) => left.state.inHand - right.state.inHand);
      for (let found = true; found; ) {
        found = false;
        for (const lane of open) {
          if (!hasRoom(lane.state)) continue;
          take(lane.state, 1);
          lane.room += 1;
          found = true;
        }
      }
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
