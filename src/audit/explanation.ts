// What is known about one request: its audit records, and for a refusal the contract row with the check that failed.
// Read by the events API and by `gatehouse explain`. Rows of the contract are described by the caller's surface, not here.
import { listLimitMax } from '../contract/limits.ts';
import type { TenantId } from '../domain/ids.ts';
import { momentOfRequestId } from '../platform/random.ts';
import type { Database } from '../storage/engine/database.ts';
import { listAuditEventsOfRequest, listRefusalSummaries, type StoredAuditEvent } from '../storage/records/audit-events.ts';
import { minuteOf } from './refusal-summaries.ts';
import { type TryJson, tryOfRequest } from './sign-in-tries.ts';

export type EventJson = Readonly<Record<string, unknown>>;

interface Explanation {
  readonly request_id: string;
  readonly items: readonly EventJson[];
  /** The try to sign in that the request belongs to. */
  readonly sign_in?: TryJson;
}

/** Everything recorded under a request id, oldest first; undefined when there is nothing. */
export async function explain(
  store: { readonly database: Database },
  tenant: TenantId,
  requestId: string,
): Promise<Explanation | undefined> {
  return store.database.read(tenant, async (queries) => {
    const events = await listAuditEventsOfRequest(queries, tenant, requestId);
    const signIn = await tryOfRequest(queries, tenant, requestId);
    if (events.length === 0 && signIn === undefined) return undefined;
    return { request_id: requestId, items: events.map(eventToJson), ...(signIn !== undefined && { sign_in: signIn }) };
  });
}

/**
 * For a request id under which nothing is recorded: the summaries of refusals that it may be one of, because they count its
 * minute and their first and last request began around it; most frequent first. Undefined when there are none.
 */
export async function explainByMinute(
  store: { readonly database: Database },
  tenant: TenantId,
  requestId: string,
): Promise<Explanation | undefined> {
  const ms = momentOfRequestId(requestId);
  if (ms === undefined) return undefined;
  const events = await store.database.read(tenant, (queries) => listRefusalSummaries(queries, tenant, minuteOf(ms)));
  const items = events
    .map(eventToJson)
    .map((item) => ({ item, data: item['data'] as SummaryData })) // written by refusal-summaries.ts
    .filter(({ data }) => momentOfRequestId(data.first_request_id)! <= ms && ms <= momentOfRequestId(data.last_request_id)!)
    .toSorted((left, right) => right.data.count - left.data.count)
    .slice(0, listLimitMax)
    .map(({ item }) => item);
  return items.length === 0 ? undefined : { request_id: requestId, items };
}

interface SummaryData {
  readonly count: number;
  readonly first_request_id: string;
  readonly last_request_id: string;
}

/** An audit record as the API shows it. */
export function eventToJson(event: StoredAuditEvent): EventJson {
  return {
    id: event.id,
    created_at: new Date(event.created_at).toISOString(),
    type: event.type,
    request_id: event.request_id,
    actor: event.actor,
    target: event.target,
    row: event.row_id,
    reason: event.reason,
    received: event.received,
    expected: event.expected,
    data: event.data === null ? null : JSON.parse(event.data),
  };
}
