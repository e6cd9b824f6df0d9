// What a node has claimed of one lane together: each row prepared and attempted once when its turn comes, and then ended, put off, or given
// back by a node that stops or is too late. What attempts came to is written for several at a time. Called by the engine.
import type { TenantId } from '../domain/ids.ts';
import type { Log } from '../platform/log.ts';
import {
  type Claimed,
  deferDeliveries,
  deliveryId,
  dropDelivery,
  endDeliveries,
  postponeDelivery,
  type QueueName,
  type QueueRows,
  returnDeliveries,
  tenantOfDelivery,
} from '../storage/deliveries.ts';
import type { Database } from '../storage/engine/database.ts';
import type { Attempted, Carrier, Made, Parcel, Round } from './carrier.ts';
import { concludeMs, deliveryKinds, leaseMs, pauseAfter } from './kinds.ts';

/** Kinds without a carrier wait. */
export type Carriers = { readonly [Q in QueueName]?: Carrier<QueueRows[Q]> | undefined };

export interface AttemptDeps {
  readonly database: Database;
  readonly log: Log;
  readonly carriers: Carriers;
  readonly count: (kind: QueueName, result: Attempted['result']) => void;
  /** Nothing more is begun. */
  readonly stopping: AbortSignal;
  /** What is under way is given up. */
  readonly cut: AbortSignal;
}

export interface Batch {
  /** Attempts the next row; gives what came of it, undefined when there was no attempt, or it was given up; false when no row is left. */
  readonly attemptNext: () => Promise<Attempted | undefined> | false;
  /** Asked when no attempt is under way: writes what they came to. Never rejects: what cannot be written is left to its lease. */
  readonly concluded: () => Promise<void>;
}

interface Ended {
  readonly claimed: Claimed;
  readonly parcel: Parcel;
  readonly attempted: Attempted;
}

/** @param all claimed of one lane at `claimedAtMs`, by performance.now(); at least one */
export function openBatch(deps: AttemptDeps, all: readonly Claimed[], claimedAtMs: number): Batch {
  const { database, log, carriers, stopping, cut } = deps;
  const { kind } = all[0]!;
  const { attemptMs } = deliveryKinds[kind];
  const waiting = [...all];
  const round = (carriers[kind] as Carrier<unknown>)(all.map(({ row }) => row)); // the rows are of the kind that the carrier is of
  const conclusions = createConclusions(deps, kind, round);
  const isLate = (): boolean => performance.now() - claimedAtMs > leaseMs - attemptMs; // before its end another node may have it
  const giveBack = async (claimed: readonly Claimed[]): Promise<undefined> =>
    void (await database.system((queries) => returnDeliveries(queries, kind, claimed)));
  const putBack = async (claimed: Claimed): Promise<undefined> =>
    void (await database.system((queries) => deferDeliveries(queries, kind, [{ claimed, waitMs: 0 }])));
  const attempt = async (claimed: Claimed): Promise<Attempted | undefined> => {
    const prepared = await round.prepare(claimed.row);
    if (stopping.aborted) return giveBack([claimed]);
    if (prepared === undefined) return void (await database.system((queries) => dropDelivery(queries, claimed)));
    if ('notBeforeMs' in prepared)
      return void (await database.system((queries) => postponeDelivery(queries, claimed, prepared.notBeforeMs)));
    if (isLate()) return giveBack([claimed]);
    const attempted = await sendOnce(prepared, AbortSignal.timeout(attemptMs), cut);
    if (cut.aborted && attempted.result !== 'taken') return putBack(claimed);
    deps.count(kind, attempted.result);
    conclusions.add({ claimed, parcel: prepared, attempted });
    return attempted;
  };
  return {
    attemptNext: () => {
      if (waiting.length === 0) return false;
      if (stopping.aborted || isLate()) return giveBack(waiting.splice(0));
      const claimed = waiting.shift()!;
      return attempt(claimed).catch((error: unknown) => {
        log.error({ err: error, ...describe(claimed) }, 'a delivery could not be prepared or ended');
        return undefined;
      });
    },
    concluded: conclusions.settled,
  };
}

async function sendOnce(parcel: Parcel, timeout: AbortSignal, cut: AbortSignal): Promise<Attempted> {
  const failed = (error: unknown): Attempted => ({ result: 'failed', error });
  const attempted = await parcel.send(AbortSignal.any([timeout, cut])).catch(failed);
  return attempted.result === 'failed' && timeout.aborted ? { result: 'timeout', reason: 'timeout' } : attempted;
}

/** Writes what attempts came to: a moment after the first, together with those that end meanwhile; at once when no more are to come. */
function createConclusions(deps: AttemptDeps, kind: QueueName, round: Round<unknown>) {
  const ended: Ended[] = [];
  const writing = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [tenant, together] of Map.groupBy(ended.splice(0), ({ claimed }) => tenantOfDelivery(claimed))) {
      const work = conclude(deps, kind, round, tenant, together)
        .catch((error: unknown) => deps.log.error({ err: error, kind, count: together.length }, 'deliveries could not be ended'))
        .finally(() => void writing.delete(work));
      writing.add(work);
    }
  };
  return {
    add: (one: Ended): void => {
      ended.push(one);
      timer ??= setTimeout(flush, concludeMs);
    },
    settled: async (): Promise<void> => {
      flush();
      await Promise.all(writing);
    },
  };
}

/** Ends deliveries of a tenant, or puts them off until their next attempt. */
async function conclude(
  { database, log }: AttemptDeps,
  kind: QueueName,
  round: Round<unknown>,
  tenant: TenantId,
  all: readonly Ended[],
): Promise<void> {
  const putOff = all.flatMap((one) => {
    const waitMs = pauseOf(one);
    return waitMs === undefined ? [] : [{ claimed: one.claimed, waitMs, endsAtMs: one.parcel.endsAtMs }];
  });
  logFailures(log, kind, all);
  const waits = putOff.length === 0 ? new Set() : await database.system((queries) => deferDeliveries(queries, kind, putOff));
  const final = all.filter(({ claimed }) => !waits.has(claimed));
  if (final.length === 0 && round.note === undefined) return;
  const afterwards = await database.write(tenant, async (queries) => {
    const [taken, givenUp] = [true, false].map((isTaken) => final.filter(({ attempted }) => (attempted.result === 'taken') === isTaken));
    const ends = new Set([...(await endDeliveries(queries, kind, taken!, true)), ...(await endDeliveries(queries, kind, givenUp!, false))]);
    for (const { claimed, parcel, attempted } of final) if (ends.has(claimed)) await parcel.settle?.(queries, attempted);
    const made = all.flatMap(({ claimed, attempted }): readonly Made<unknown>[] => {
      if (waits.has(claimed)) return [{ row: claimed.row, attempted, state: 'waits' }];
      return ends.has(claimed) ? [{ row: claimed.row, attempted, state: attempted.result === 'taken' ? 'taken' : 'given_up' }] : [];
    });
    return made.length === 0 ? undefined : round.note?.(queries, tenant, made);
  });
  await afterwards?.();
}

/** A line for all that failed in one way: an endpoint that is away fails hundreds a second. */
function logFailures(log: Log, kind: QueueName, all: readonly Ended[]): void {
  const failed = all.filter(({ attempted }) => attempted.result !== 'taken');
  for (const alike of Map.groupBy(failed, ({ attempted: { result, reason, error } }) => `${result} ${reason} ${error}`).values()) {
    const { result, reason, error } = alike[0]!.attempted;
    const deliveries = alike.map(({ claimed }) => ({ id: deliveryId(claimed), attempts: claimed.row.attempts }));
    log.warn({ kind, result, reason, err: error, deliveries }, 'deliveries were not taken');
  }
}

/** How long until its next attempt; undefined when there is to be none. */
function pauseOf({ claimed, attempted: { result, retryAfterMs = 0 } }: Ended): number | undefined {
  const pauseMs = result === 'taken' || result === 'refused' ? undefined : pauseAfter(deliveryKinds[claimed.kind], claimed.row.attempts);
  return pauseMs === undefined ? undefined : Math.max(pauseMs, retryAfterMs);
}

/** What the log says of a delivery. */
const describe = (claimed: Claimed): object => ({
  kind: claimed.kind,
  id: deliveryId(claimed),
  attempts: claimed.row.attempts,
});
