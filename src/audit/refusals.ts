// Remembers why requests were refused, for `explain` and the events API. Refusals have no effect to share a transaction with, so
// they are collected and written together a moment later. Anybody can make refusals, so what is stored is bounded: a few of a kind
// whole, the others summed up by the minute (refusal-summaries.ts). Counters of metrics and activity see all of them.
import type { ContractError } from '../contract/contract-error.ts';
import {
  refusalQueueBytesMax,
  refusalQueueRowsMax,
  refusalsOfKindBurst,
  refusalsOfKindRefillMs,
  refusalsPerTenantPerSecond,
  refusalValueCharsMax,
} from '../contract/limits.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Clock } from '../platform/clock.ts';
import type { Job } from '../platform/jobs.ts';
import type { Log } from '../platform/log.ts';
import { createTokenBuckets } from '../platform/token-buckets.ts';
import { type Database, StorageUnavailable } from '../storage/engine/database.ts';
import { TenantClosed } from '../storage/engine/tenant-closed.ts';
import { auditRow, type NewAuditEvent, upsertAuditEvents } from '../storage/records/audit-events.ts';
import { createRefusalSummaries } from './refusal-summaries.ts';

export interface Refusal {
  readonly tenant: TenantId;
  readonly requestId: string;
  readonly error: ContractError;
  readonly actor?: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly ip: string;
  /** The block of the address, by which refusals are limited. */
  readonly addressBlock: string;
}

export interface RefusalRecorder {
  /** Gives `stored` when the refusal will be found by its request id, `summed_up` when only in its minute's summary. */
  readonly record: (refusal: Refusal) => 'stored' | 'summed_up' | 'lost';
  /** Writes what is waiting; readers of events call it first so that they see their own refusals. */
  readonly flush: () => Promise<void>;
  readonly job: Job;
}

const flushEveryMs = 100;
const rowsPerInsertMax = 500;
/** Kinds and tenants remembered; who was not seen longest starts with a whole share again. */
const bucketsMax = 10_000;

export function createRefusalRecorder(database: Database, clock: Clock, log: Log): RefusalRecorder {
  const kinds = createTokenBuckets({ burst: refusalsOfKindBurst, refillMs: refusalsOfKindRefillMs, keysMax: bucketsMax });
  const perSecond = refusalsPerTenantPerSecond;
  const tenants = createTokenBuckets({ burst: perSecond, refillMs: 1000 / perSecond, keysMax: bucketsMax });
  const summaries = createRefusalSummaries();
  let waiting: NewAuditEvent[] = [];
  let waitingBytes = 0;
  let lost = 0;
  let flushing: Promise<void> = Promise.resolve();
  const isOneOfFew = ({ tenant, error, addressBlock }: Refusal, nowMs: number): boolean => {
    const kind = `${tenant} ${error.row} ${addressBlock}`;
    if (kinds.take(kind, nowMs) > 0) return false;
    if (tenants.take(tenant, nowMs) === 0) return true;
    kinds.giveBack(kind);
    return false;
  };
  const enqueue = (event: NewAuditEvent): boolean => {
    const bytes = bytesOf(event);
    if (waiting.length >= refusalQueueRowsMax || waitingBytes + bytes > refusalQueueBytesMax) return false;
    waiting.push(event);
    waitingBytes += bytes;
    return true;
  };
  const write = async (events: readonly NewAuditEvent[], putBack: (events: readonly NewAuditEvent[]) => void): Promise<void> => {
    const groups = [...Map.groupBy(events, (event) => event.tenant_id)];
    const parts = groups.flatMap(([tenant, own]) => chunks(own).map((part) => ({ tenant, part })));
    for (const [index, { tenant, part }] of parts.entries())
      try {
        await database.write(tenant, (queries) => upsertAuditEvents(queries, part));
      } catch (error) {
        if (error instanceof TenantClosed) continue; // refused before it closed; where it goes nobody will ask
        if (!(error instanceof StorageUnavailable)) {
          // It would be refused each time, and hold up those of everybody else.
          log.error({ err: error, tenant, lost: part.length }, 'refusals were not recorded, because the database refuses them');
          continue;
        }
        putBack(parts.slice(index).flatMap((rest) => rest.part));
        throw error;
      }
  };
  const writeOut = async (which: 'over' | 'all'): Promise<void> => {
    if (lost > 0) log.warn({ lost }, 'refusals were counted and not recorded, because too many kinds of them came at once');
    lost = 0;
    const rows = waiting;
    waiting = [];
    waitingBytes = 0;
    await write(rows, (events) => events.forEach(enqueue));
    await write(summaries.take(clock.nowMs(), which), summaries.retry);
  };
  const flushWhich = (which: 'over' | 'all'): Promise<void> => {
    flushing = flushing.catch(() => undefined).then(() => writeOut(which));
    return flushing;
  };
  return {
    record: (refusal) => {
      const nowMs = clock.nowMs();
      if (isOneOfFew(refusal, nowMs) && enqueue(refusalRow(refusal, nowMs))) return 'stored';
      const { tenant, requestId, error, addressBlock } = refusal;
      if (summaries.add({ tenant, requestId, row: error.row, reason: error.reason.reason, addressBlock }, nowMs)) return 'summed_up';
      lost += 1;
      return 'lost';
    },
    flush: () => flushWhich('all'),
    job: { name: 'refusals', everyMs: flushEveryMs, run: () => flushWhich('over') },
  };
}

function chunks(events: readonly NewAuditEvent[]): readonly (readonly NewAuditEvent[])[] {
  const count = Math.ceil(events.length / rowsPerInsertMax);
  return Array.from({ length: count }, (_none, index) => events.slice(index * rowsPerInsertMax, (index + 1) * rowsPerInsertMax));
}

/** What a waiting row holds in memory, about: two bytes a character. */
const bytesOf = (event: NewAuditEvent): number =>
  2 * Object.values(event).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 4), 0);

/** What a request held, cut, as text that both databases keep. */
const keptText = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : String(value).slice(0, refusalValueCharsMax).replaceAll('\0', '\u{fffd}');

function refusalRow({ tenant, requestId, error, actor, method, path, ip }: Refusal, nowMs: number): NewAuditEvent {
  return auditRow(tenant, nowMs, {
    type: 'refusal',
    requestId,
    actor,
    rowId: error.row,
    reason: error.reason.reason,
    received: keptText(error.reason.received),
    expected: keptText(error.reason.expected),
    data: { method, path: keptText(path), ip },
  });
}
