// What is known about one request: its audit records, and for a refusal the contract row with the check that failed.
// Read by the events API and by `gatehouse explain`. Rows of the contract are described by the caller's surface, not here.
import type { TenantId } from '../domain/ids.ts';
import { type AuditEventTable, listAuditEventsOfRequest } from '../storage/audit-events.ts';
import type { Database } from '../storage/database.ts';

export type EventJson = Readonly<Record<string, unknown>>;

export interface Explanation {
  readonly request_id: string;
  readonly items: readonly EventJson[];
}

/** Everything recorded under a request id, oldest first; undefined when there is nothing. */
export async function explain(
  store: { readonly database: Database },
  tenant: TenantId,
  requestId: string,
): Promise<Explanation | undefined> {
  const events = await store.database.read(tenant, (queries) => listAuditEventsOfRequest(queries, tenant, requestId));
  return events.length === 0 ? undefined : { request_id: requestId, items: events.map(eventToJson) };
}

/** An audit record as the API shows it. */
export function eventToJson(event: AuditEventTable): EventJson {
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
