// Audit records: security events, written in the transaction of their effect, and refusals, written by the recorder of src/http.
// They never hold a secret. Newest first by id (UUID version 7).
import type { TenantId, UserId } from '../domain/ids.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from './database.ts';
import { type Row, statement } from './statement.ts';

export interface AuditEventTable {
  tenant_id: TenantId;
  id: string;
  created_at: number;
  /** e.g. `refusal`, `grant.revoked`, `user.suspended`. */
  type: string;
  request_id: string | null;
  /** user:<id>, client:<id>, operator, system. */
  actor: string | null;
  /** What it was done to, e.g. `client:<id>`. */
  target: string | null;
  /** Contract row of a refusal. */
  row_id: string | null;
  reason: string | null;
  received: string | null;
  expected: string | null;
  /** JSON object of further facts. */
  data: string | null;
  /** Whose account it is about, for the account page; null for refusals and for what is about nobody. */
  user_id: UserId | null;
}

export interface AuditEvent {
  readonly type: string;
  readonly requestId?: string | undefined;
  readonly actor?: string | undefined;
  readonly target?: string | undefined;
  readonly rowId?: string | undefined;
  readonly reason?: string | undefined;
  readonly received?: string | undefined;
  readonly expected?: string | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** Writes one audit record in the caller's transaction. */
export async function insertAuditEvent(queries: Queries, tenant: TenantId, nowMs: number, event: AuditEvent): Promise<void> {
  await insertRow(queries, auditRow(tenant, nowMs, event));
}

/** Writes many audit records in one statement. */
export async function insertAuditEvents(queries: Queries, tenant: TenantId, nowMs: number, events: readonly AuditEvent[]): Promise<void> {
  if (events.length === 0) return;
  await queries
    .insertInto('audit_events')
    .values(events.map((event) => auditRow(tenant, nowMs, event)))
    .execute();
}

const insertRow = statement((queries, row: Row<AuditEventTable>) => queries.insertInto('audit_events').values(row));

export function auditRow(tenant: TenantId, nowMs: number, event: AuditEvent): AuditEventTable {
  return {
    tenant_id: tenant,
    id: uuidV7(nowMs),
    created_at: nowMs,
    type: event.type,
    request_id: event.requestId ?? null,
    actor: event.actor ?? null,
    target: event.target ?? null,
    row_id: event.rowId ?? null,
    reason: event.reason ?? null,
    received: event.received ?? null,
    expected: event.expected ?? null,
    data: event.data === undefined ? null : JSON.stringify(event.data),
    user_id: event.type === 'refusal' ? null : userOf(event),
  };
}

/** The person it was done to, else the one who did it. */
function userOf({ target, data, actor }: AuditEvent): UserId | null {
  const named = data?.['user'] ?? data?.['user_id'];
  const id = userIn(target) ?? (typeof named === 'string' ? named : undefined) ?? userIn(actor);
  return (id ?? null) as UserId | null; // written from ids of users
}

const userIn = (text: string | undefined): string | undefined =>
  text?.startsWith('user:') === true ? text.slice('user:'.length) : undefined;

/** Audit records of one request, oldest first. */
export async function listAuditEventsOfRequest(queries: Queries, tenant: TenantId, requestId: string): Promise<readonly AuditEventTable[]> {
  return queries
    .selectFrom('audit_events')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('request_id', '=', requestId)
    .orderBy('id')
    .execute();
}

export interface AuditFilter {
  readonly type?: string | undefined;
  readonly actor?: string | undefined;
  readonly target?: string | undefined;
  readonly row?: string | undefined;
  readonly requestId?: string | undefined;
  /** Inclusive, exclusive. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** Id of the last record of the page before; empty at the start. */
  readonly before: string;
  readonly limit: number;
}

/** A page of audit records, newest first. */
export async function listAuditEvents(queries: Queries, tenant: TenantId, filter: AuditFilter): Promise<readonly AuditEventTable[]> {
  let query = queries.selectFrom('audit_events').selectAll().where('tenant_id', '=', tenant);
  if (filter.before !== '') query = query.where('id', '<', filter.before);
  for (const [column, value] of [
    ['type', filter.type],
    ['actor', filter.actor],
    ['target', filter.target],
    ['row_id', filter.row],
    ['request_id', filter.requestId],
  ] as const)
    if (value !== undefined) query = query.where(column, '=', value);
  if (filter.fromMs !== undefined) query = query.where('created_at', '>=', filter.fromMs);
  if (filter.toMs !== undefined) query = query.where('created_at', '<', filter.toMs);
  return query.orderBy('id', 'desc').limit(filter.limit).execute();
}
