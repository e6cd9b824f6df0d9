// Audit records: security events, written in the transaction of their effect, and refusals, written by the recorder of src/http.
// They never hold a secret. Newest first by id (UUID version 7).
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { EventType, TypedEvent } from '../../contract/events.ts';
import type { TenantId, UserId } from '../../domain/ids.ts';
import { uuidV7 } from '../../platform/random.ts';
import { noteRecorded } from '../engine/after-commit.ts';
import type { Queries } from '../engine/database.ts';
import { slicesOfRows } from '../engine/rows/row-slices.ts';
import { type Row, statement } from '../engine/statement.ts';
import type { Schema } from '../schema.ts';

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
  /** Its place in the feed (event-feed.ts); null until somebody has read up to it. */
  seq: number | null;
}

export type StoredAuditEvent = Readonly<AuditEventTable>;
/** One to be written. */
export type NewAuditEvent = Omit<StoredAuditEvent, 'seq'>;

/** Refusals of a minute, counted: what is not stored one by one. */
export const refusalSummaryType = 'refusal_summary';

/** An event of a type of the catalogue, with what that type may say. */
export type AuditEvent = TypedEvent & EventFacts;

export interface EventFacts {
  readonly requestId?: string | undefined;
  readonly actor?: string | undefined;
  readonly target?: string | undefined;
  readonly rowId?: string | undefined;
  readonly reason?: string | undefined;
  readonly received?: string | undefined;
  readonly expected?: string | undefined;
}

/** Writes one audit record in the caller's transaction. */
export async function insertAuditEvent(queries: Queries, tenant: TenantId, nowMs: number, event: AuditEvent): Promise<void> {
  noteRecorded(queries, tenant);
  await insertRow(queries, auditRow(tenant, nowMs, event));
}

/** Writes many audit records in one statement. */
export async function insertAuditEvents(queries: Queries, tenant: TenantId, nowMs: number, events: readonly AuditEvent[]): Promise<void> {
  if (events.length === 0) return;
  noteRecorded(queries, tenant);
  for (const some of slicesOfRows(events))
    await queries
      .insertInto('audit_events')
      .values(some.map((event) => auditRow(tenant, nowMs, event)))
      .execute();
}

const insertRow = statement((queries, row: Row<NewAuditEvent>) => queries.insertInto('audit_events').values(row));

export function auditRow(tenant: TenantId, nowMs: number, event: AuditEvent): NewAuditEvent {
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
    user_id: event.type.startsWith('refusal') ? null : userOf(event),
  };
}

/** The person it was done to, else the one who did it. */
function userOf({ target, data, actor }: AuditEvent): UserId | null {
  const facts = data as Readonly<Record<string, unknown>> | undefined; // whatever the type
  const named = facts?.['user'] ?? facts?.['user_id'];
  const id = userIn(target) ?? (typeof named === 'string' ? named : undefined) ?? userIn(actor);
  return (id ?? null) as UserId | null; // written from ids of users
}

const userIn = (text: string | undefined): string | undefined =>
  text?.startsWith('user:') === true ? text.slice('user:'.length) : undefined;

/** Writes audit records; one that is there already keeps its place and takes the new data. */
export async function upsertAuditEvents(queries: Queries, events: readonly NewAuditEvent[]): Promise<void> {
  for (const { tenant_id: tenant } of events) noteRecorded(queries, tenant);
  await queries
    .insertInto('audit_events')
    .values(events)
    .onConflict((on) => on.columns(['tenant_id', 'id']).doUpdateSet({ data: sql`excluded.data` }))
    .execute();
}

/** The summaries of the refusals of a minute, by its first millisecond. */
export async function listRefusalSummaries(queries: Queries, tenant: TenantId, minuteMs: number): Promise<readonly StoredAuditEvent[]> {
  return queries
    .selectFrom('audit_events')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('created_at', '=', minuteMs)
    .where('type', '=', refusalSummaryType)
    .execute();
}

/** Audit records of one request, oldest first. */
export async function listAuditEventsOfRequest(
  queries: Queries,
  tenant: TenantId,
  requestId: string,
): Promise<readonly StoredAuditEvent[]> {
  return queries
    .selectFrom('audit_events')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('request_id', '=', requestId)
    .orderBy('id')
    .execute();
}

interface AuditFilter {
  /** A type, or the beginning of some: `user.*`. */
  readonly type?: string | undefined;
  readonly actor?: string | undefined;
  readonly target?: string | undefined;
  /** Who did it, or whose account it is about. */
  readonly user?: string | undefined;
  readonly row?: string | undefined;
  readonly requestId?: string | undefined;
  /** Inclusive, exclusive. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** Id of the last record of the page before; empty at the start. */
  readonly before: string;
  /** Instead of `before`: those next to and newer than this one. */
  readonly newerThan?: string | undefined;
  readonly limit: number;
}

/** A page of audit records, newest first. */
export async function listAuditEvents(queries: Queries, tenant: TenantId, filter: AuditFilter): Promise<readonly StoredAuditEvent[]> {
  const { type, user, newerThan } = filter;
  let query = queries.selectFrom('audit_events').selectAll().where('tenant_id', '=', tenant);
  if (filter.before !== '') query = query.where('id', '<', filter.before);
  if (newerThan !== undefined) query = query.where('id', '>', newerThan);
  if (type !== undefined) query = query.where(isOfTypes([type]));
  if (user !== undefined) query = query.where((eb) => eb.or([eb('user_id', '=', user as UserId), eb('actor', '=', `user:${user}`)])); // a look-up key
  for (const [column, value] of [
    ['actor', filter.actor],
    ['target', filter.target],
    ['row_id', filter.row],
    ['request_id', filter.requestId],
  ] as const)
    if (value !== undefined) query = query.where(column, '=', value);
  if (filter.fromMs !== undefined) query = query.where('created_at', '>=', filter.fromMs);
  if (filter.toMs !== undefined) query = query.where('created_at', '<', filter.toMs);
  const rows = await query
    .orderBy('id', newerThan === undefined ? 'desc' : 'asc')
    .limit(filter.limit)
    .execute();
  return newerThan === undefined ? rows : rows.toReversed();
}

/** That a record is of one of these types, or begins as they do: `user.*`. */
export const isOfTypes =
  (types: readonly string[]) =>
  (eb: ExpressionBuilder<Schema, 'audit_events'>): Expression<SqlBool> =>
    eb.or(
      types.map((type) =>
        type.endsWith('.*')
          ? eb.and([eb('type', '>', type.slice(0, -1)), eb('type', '<', `${type.slice(0, -2)}/`)])
          : eb('type', '=', type),
      ),
    );

/** What a person decided since then, newest first. */
export async function listDecisionsOfUser(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  page: { readonly fromMs: number; readonly limit: number },
): Promise<readonly StoredAuditEvent[]> {
  return queries
    .selectFrom('audit_events')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('type', 'in', ['approval.approved', 'approval.denied'])
    .where('created_at', '>=', page.fromMs)
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute();
}

/** When the last event of a type about a user was recorded, epoch milliseconds; undefined when there is none since `fromMs`. */
export async function findLastEventOfUser(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  type: EventType,
  fromMs: number,
): Promise<number | undefined> {
  const found = await queries
    .selectFrom('audit_events')
    .select((eb) => eb.fn.max('created_at').as('at'))
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('type', '=', type)
    .where('created_at', '>', fromMs)
    .executeTakeFirst();
  return found?.at ?? undefined;
}

/** What a person reported as not theirs since then. */
export async function listReportsOfUser(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  fromMs: number,
): Promise<readonly Pick<StoredAuditEvent, 'data'>[]> {
  return queries
    .selectFrom('audit_events')
    .select('data')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('type', '=', 'approval.reported')
    .where('created_at', '>', fromMs)
    .execute();
}
