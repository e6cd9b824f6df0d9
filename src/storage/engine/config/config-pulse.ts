// How old the configuration in memory may be, and the pulse that keeps it young: one statement that asks the database what
// changed since the one before, so that no commit can be missed however late it comes. Who remembers configuration asks
// here before answering from memory. docs/decisions/0002-configuration-epochs.md has the reasons.
import { setTimeout as wait } from 'node:timers/promises';
import type { RawBuilder } from 'kysely';
import type { TenantId } from '../../../domain/ids.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Job } from '../../../platform/jobs.ts';
import { type Database, StorageUnavailable } from '../database.ts';
import { findLevelFault } from '../migrations/schema-level.ts';
import { type ConfigChanges, readConfigChanges } from './config-changes.ts';

interface ConfigPulse {
  /** True while what is remembered is at most a second old: then it may be answered from without waiting. */
  readonly isFresh: () => boolean;
  /**
   * Resolves when memory may be answered from: a pulse came back, or none does and memory is at most `ageMsMax` old, in
   * milliseconds. @throws StorageUnavailable otherwise
   */
  readonly settle: (ageMsMax?: number) => Promise<void>;
  /** Of what is remembered, in milliseconds; infinite when nothing is. */
  readonly ageMs: () => number;
  /** Run in every process: keeps memory young while requests come. */
  readonly job: Job;
  /** Run in one process of a node: notices what waits to be done while none comes. */
  readonly idleJob: Job;
}

/** What the pulse looks for besides changes: one question more in its statement. */
export interface Waiting {
  /** Gives 1 when something is due. */
  readonly due: RawBuilder<number>;
  readonly wake: () => void;
}

const freshMsMax = 1000;
/** How long what permits anything is answered from memory while the database is away. */
const memoryMsMax = 5000;
/** How long keys and discovery are: they permit nothing by themselves. */
export const publishedAgeMsMax = 600_000;
/** A pulse is one round trip, and at most this often tried again before anybody is told that there is none. */
const turnsMax = 2;
/** At a start nothing is known that could be answered from meanwhile. */
const firstTurnsMax = 5;
const pulseEveryMs = 500;
const idlePulseEveryMs = 2000;
/** After a pulse that failed the next one waits, so that the look-ups of one request wait once. */
const failureRestMs = 100;

interface Known {
  readonly server: string;
  readonly floor: number;
  /** Of the tenants above the floor. */
  readonly sequences: ReadonlyMap<TenantId, number>;
  readonly sent: Moment;
}

interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** @param forget told which tenant changed; undefined: all may have, forget everything */
export function createConfigPulse(
  database: Database,
  clock: Clock,
  forget: (tenant: TenantId | undefined) => void,
  waiting: Waiting | undefined,
): ConfigPulse {
  let known: Known | undefined;
  let inHand: Promise<void> | undefined;
  let failure: { readonly atMs: number; readonly error: unknown } | undefined;
  let asked = false;
  const now = (): Moment => ({ wallMs: clock.nowMs(), monotonicMs: performance.now() });
  const ageMs = (): number => (known === undefined ? Number.POSITIVE_INFINITY : elapsedMs(known.sent, now()));
  const beat = async (): Promise<void> => {
    const sent = now();
    asked = false;
    const seen = await database.watch((queries) => readConfigChanges(queries, database.dialect, known?.floor, waiting?.due));
    const fault = findServerFault(seen);
    if (fault !== undefined) throw new StorageUnavailable(fault);
    for (const tenant of changedSince(known, seen)) forget(tenant);
    known = { server: seen.server, floor: seen.floor, sequences: new Map(seen.changed), sent };
    failure = undefined;
    if (seen.due === 0) return;
    asked = true; // what is done now may leave more to do
    waiting?.wake();
  };
  const pulse = async (): Promise<void> => {
    if (inHand === undefined && failure !== undefined && performance.now() - failure.atMs < failureRestMs) return;
    inHand ??= beat()
      .catch((error: unknown) => {
        failure = { atMs: performance.now(), error };
      })
      .finally(() => {
        inHand = undefined;
      });
    await inHand;
  };
  const isFresh = (): boolean => {
    asked = true;
    return ageMs() <= freshMsMax;
  };
  return {
    ageMs,
    isFresh,
    settle: async (ageMsMax = memoryMsMax) => {
      const turns = known === undefined ? firstTurnsMax : turnsMax;
      // A pulse in hand may have been sent long ago, by a process that was stopped since: one more follows it.
      for (let turn = 0; turn < turns && !isFresh(); turn += 1) {
        await pulse();
        if (known === undefined) await wait(failureRestMs);
      }
      const found = ageMs();
      if (found > Math.max(ageMsMax, freshMsMax))
        throw new StorageUnavailable(`the configuration in memory is ${Math.round(found)} ms old`, {
          cause: failure?.error,
          retryAfterSeconds: 1,
        });
    },
    job: pulseJob('configuration-pulse', () => asked, pulse),
    // Half a turn early: timers are late, never early.
    idleJob: pulseJob('configuration-idle-pulse', () => ageMs() >= idlePulseEveryMs - pulseEveryMs / 2, pulse),
  };
}

const pulseJob = (name: string, isDue: () => boolean, pulse: () => Promise<void>): Job => ({
  name,
  everyMs: pulseEveryMs,
  run: async () => {
    if (isDue()) await pulse();
  },
});

function findServerFault({ isStandby, schemaLevel }: ConfigChanges): string | undefined {
  return isStandby ? 'the database server is a standby: it may be behind' : findLevelFault(Number(schemaLevel ?? 0));
}

/** The tenants that changed; undefined: all may have. Another server, or one that went back in time, may lack commits that were answered from. */
function changedSince(known: Known | undefined, seen: ConfigChanges): readonly (TenantId | undefined)[] {
  if (known === undefined || seen.server !== known.server || seen.floor < known.floor) return [undefined];
  return seen.changed.filter(([tenant, sequence]) => known.sequences.get(tenant) !== sequence).map(([tenant]) => tenant);
}

/** By the clock that moved more: the wall clock goes on while a machine sleeps, the monotonic one when the time is set back. */
const elapsedMs = (from: Moment, to: Moment): number => Math.max(to.wallMs - from.wallMs, to.monotonicMs - from.monotonicMs);
