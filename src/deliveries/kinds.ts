// What is delivered after its commit, a row a kind: how many at a time to one endpoint, how long an attempt may take, and when it is
// made again. A new kind adds its row here, its queue in storage/deliveries.ts and its carrier in the composition root.
import { connectionsAtOnceMax } from '../contract/limits.ts';
import type { QueueName } from '../storage/deliveries.ts';

interface DeliveryKind {
  /** Attempts at a time to one endpoint, by one node. */
  readonly laneMax: number;
  /** How many may be claimed together for an endpoint that answers quickly; 1: no more than are attempted at a time. */
  readonly batchMax: number;
  /** How long an attempt may take, everything of it together. */
  readonly attemptMs: number;
  /** The pause before the second attempt, the third and so on. */
  readonly pausesMs: readonly number[];
  /** By how much a pause may be longer, a part of it. */
  readonly jitter?: number;
  /** How long an endpoint where nobody is there is left alone between two attempts, whatever waits for it; absent: not at all. */
  readonly restMs?: number;
  /** When the pauses are spent: the last one again and again until the delivery is of no more use, or no further attempt. */
  readonly goesOn: boolean;
}

/** `count` pauses, each twice the one before. */
const doubling = (firstMs: number, count: number): readonly number[] => Array.from({ length: count }, (_, turn) => firstMs * 2 ** turn);

const hours = (...counts: readonly number[]): readonly number[] => counts.map((count) => count * 3_600_000);

// biome-ignore format: a table, one row a line
export const deliveryKinds: Readonly<Record<QueueName, DeliveryKind>> = {
  mail: { laneMax: 5, batchMax: 1, attemptMs: 15_000, pausesMs: [...doubling(2000, 9), 600_000], goesOn: true },
  ciba: { laneMax: 4, batchMax: 1, attemptMs: 5000, pausesMs: doubling(1000, 12), goesOn: true },
  logout: { laneMax: 4, batchMax: 1, attemptMs: 5000, pausesMs: doubling(1000, 7), goesOn: false },
  push: { laneMax: 4, batchMax: 1, attemptMs: 5000, pausesMs: [15_000], goesOn: true },
  webhook: { laneMax: 4, batchMax: 64, attemptMs: 10_000, pausesMs: [5000, 300_000, 1_800_000, ...hours(2, 5, 10, 14, 20, 24)], jitter: 0.2, restMs: 1000, goesOn: false },
  ssf: { laneMax: 1, batchMax: 1, attemptMs: 10_000, pausesMs: [5000, 30_000, 300_000, 1_800_000, ...hours(1)], jitter: 0.2, goesOn: true },
};

/** Of all kinds together, by one node. */
export const inHandMax = 64;
/** Of these, for one tenant while another has something to deliver. */
export const tenantShareMax = 8;
/** For a tenant alone: some of its calls are left to its hooks and services. */
export const tenantAloneMax = connectionsAtOnceMax - tenantShareMax;
/** Of these, for all endpoints together whose last attempt timed out. */
export const timedOutMax = 16;
/** How long a node keeps a delivery to itself: longer than any attempt. Then another may take it over. */
export const leaseMs = 30_000;
/** An endpoint whose last attempt took less is quick. */
export const quickMs = 500;
/** How long what came of an attempt may wait to be written together with others. */
export const concludeMs = 250;
/** Attempts in a row that find nobody there, after which an endpoint is left alone between attempts (`restMs`) until it answers. */
export const absencesMax = 10;
/** Time-outs in a row after which an endpoint gets one attempt at a time, until it answers. */
export const timeoutsMax = 3;

/** The pause after that many attempts; undefined when there is to be no further one. */
export function pauseAfter({ pausesMs, goesOn, jitter = 0 }: DeliveryKind, attempts: number): number | undefined {
  const pauseMs = pausesMs[attempts - 1] ?? (goesOn ? pausesMs.at(-1) : undefined);
  return pauseMs === undefined ? undefined : Math.round(pauseMs * (1 + Math.random() * jitter));
}
