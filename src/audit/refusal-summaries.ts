// Refusals that are counted and not stored one by one: per minute one record for each tenant, contract row and address block, with
// how many there were, the first and the last request id and why the first was refused. The minute is the one a request id begins
// with, so that whoever has an id finds its minute. Bounded: past a number of records the address is left out of new ones.
import { refusalSummaryKeysMax } from '../contract/limits.ts';
import type { TenantId } from '../domain/ids.ts';
import { momentOfRequestId, uuidV7 } from '../platform/random.ts';
import { auditRow, type NewAuditEvent, refusalSummaryType } from '../storage/records/audit-events.ts';

export interface SummedRefusal {
  readonly tenant: TenantId;
  readonly requestId: string;
  readonly row: string;
  readonly reason: string;
  readonly addressBlock: string;
}

interface RefusalSummaries {
  /** Gives false when there are too many records to count even without the address. */
  readonly add: (refusal: SummedRefusal, nowMs: number) => boolean;
  /** The records to write: of minutes that are over, or all that changed since they were taken last. */
  readonly take: (nowMs: number, which: 'over' | 'all') => readonly NewAuditEvent[];
  /** Puts back what could not be written. */
  readonly retry: (events: readonly NewAuditEvent[]) => void;
}

interface Summary {
  readonly id: string;
  readonly minuteMs: number;
  readonly tenant: TenantId;
  readonly row: string;
  readonly reason: string;
  readonly addressBlock: string | undefined;
  first: { readonly id: string; readonly ms: number };
  last: { readonly id: string; readonly ms: number };
  count: number;
  isChanged: boolean;
}

const minuteMs = 60_000;
/** How long after its minute requests may still end that began in it, for most. */
const graceMs = 5000;

export const minuteOf = (ms: number): number => Math.floor(ms / minuteMs) * minuteMs;

export function createRefusalSummaries(): RefusalSummaries {
  const summaries = new Map<string, Summary>();
  const keyOf = (minute: number, { tenant, row }: SummedRefusal, block: string | undefined): string =>
    `${minute} ${tenant} ${row} ${block ?? ''}`;
  const find = (minute: number, refusal: SummedRefusal, nowMs: number): Summary | undefined => {
    const whole = summaries.get(keyOf(minute, refusal, refusal.addressBlock));
    if (whole !== undefined) return whole;
    const hasRoom = summaries.size < refusalSummaryKeysMax;
    const addressBlock = hasRoom ? refusal.addressBlock : undefined;
    const key = keyOf(minute, refusal, addressBlock);
    const found = summaries.get(key);
    if (found !== undefined || summaries.size >= 2 * refusalSummaryKeysMax) return found;
    const { tenant, row, reason, requestId: id } = refusal;
    const seen = { id, ms: momentOfRequestId(id) ?? nowMs };
    const made: Summary = {
      id: uuidV7(minute),
      tenant,
      row,
      reason,
      addressBlock,
      minuteMs: minute,
      first: seen,
      last: seen,
      count: 0,
      isChanged: true,
    };
    summaries.set(key, made);
    return made;
  };
  return {
    add: (refusal, nowMs) => {
      const ms = momentOfRequestId(refusal.requestId) ?? nowMs;
      const summary = find(minuteOf(ms), refusal, nowMs);
      if (summary === undefined) return false;
      const seen = { id: refusal.requestId, ms };
      if (ms < summary.first.ms) summary.first = seen;
      if (ms >= summary.last.ms) summary.last = seen;
      summary.count += 1;
      summary.isChanged = true;
      return true;
    },
    take: (nowMs, which) => {
      const taken: NewAuditEvent[] = [];
      for (const [key, summary] of summaries) {
        const isOver = nowMs >= summary.minuteMs + minuteMs + graceMs;
        if (isOver) summaries.delete(key);
        if (!summary.isChanged || (which === 'over' && !isOver)) continue;
        summary.isChanged = false;
        taken.push(eventOf(summary));
      }
      return taken;
    },
    retry: (events) => {
      const ids = new Set(events.map(({ id }) => id));
      for (const summary of summaries.values()) if (ids.has(summary.id)) summary.isChanged = true;
    },
  };
}

/** Written again with the same id as long as its minute lasts, so that the last one counts. */
function eventOf({ id, minuteMs: createdAt, tenant, row, reason, addressBlock, first, last, count }: Summary): NewAuditEvent {
  const data = {
    count,
    first_request_id: first.id,
    last_request_id: last.id,
    ...(addressBlock === undefined ? {} : { address_block: addressBlock }),
  };
  return { ...auditRow(tenant, createdAt, { type: refusalSummaryType, rowId: row, reason, data }), id };
}
