// Remembers why requests were refused, for `explain` and the events API. Refusals have no effect to share a transaction
// with, so they are collected and written together a moment later; under a flood the excess is counted, not stored.
import type { ContractError } from '../contract/contract-error.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Clock } from '../platform/clock.ts';
import type { Job } from '../platform/jobs.ts';
import type { Log } from '../platform/log.ts';
import { type AuditEventTable, auditRow } from '../storage/audit-events.ts';
import type { Database } from '../storage/database.ts';

export interface Refusal {
  readonly tenant: TenantId;
  readonly requestId: string;
  readonly error: ContractError;
  readonly actor?: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly ip: string;
}

export interface RefusalRecorder {
  readonly record: (refusal: Refusal) => void;
  /** Writes what is waiting; readers of events call it first so that they see their own refusals. */
  readonly flush: () => Promise<void>;
  readonly job: Job;
}

const waitingMax = 10_000;
const valueCharsMax = 500;
const flushEveryMs = 100;
const rowsPerInsertMax = 500;

export function createRefusalRecorder(database: Database, clock: Clock, log: Log): RefusalRecorder {
  let waiting: AuditEventTable[] = [];
  let dropped = 0;
  let flushing: Promise<void> = Promise.resolve();
  const writeOut = async (): Promise<void> => {
    if (dropped > 0) log.warn({ dropped }, 'refusals were dropped from the audit trail because too many came at once');
    dropped = 0;
    const rows = waiting;
    waiting = [];
    for (const [tenant, own] of Map.groupBy(rows, (row) => row.tenant_id)) {
      for (let start = 0; start < own.length; start += rowsPerInsertMax) {
        const part = own.slice(start, start + rowsPerInsertMax);
        await database.write(tenant, (queries) => queries.insertInto('audit_events').values(part).execute());
      }
    }
  };
  const flush = (): Promise<void> => {
    flushing = flushing.catch(() => undefined).then(writeOut);
    return flushing;
  };
  return {
    record: (refusal) => {
      if (waiting.length >= waitingMax) dropped += 1;
      else waiting.push(refusalRow(refusal, clock.nowMs()));
    },
    flush,
    job: { name: 'refusals', everyMs: flushEveryMs, run: () => (waiting.length === 0 ? Promise.resolve() : flush()) },
  };
}

function refusalRow({ tenant, requestId, error, actor, method, path, ip }: Refusal, nowMs: number): AuditEventTable {
  const text = (value: unknown): string | undefined =>
    value === undefined || value === null ? undefined : String(value).slice(0, valueCharsMax);
  return auditRow(tenant, nowMs, {
    type: 'refusal',
    requestId,
    actor,
    rowId: error.row,
    reason: error.reason.reason,
    received: text(error.reason.received),
    expected: text(error.reason.expected),
    data: { method, path, ip },
  });
}
