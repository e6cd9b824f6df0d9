// Deliveries of events to webhooks: one of each event to each webhook, with its body and what the last attempt came to; and the queue of
// those that wait, a row each, which is read across tenants and holds nothing of them.
import { sql } from 'kysely';
import type { TenantId, WebhookId } from '../../domain/ids.ts';
import { noteQueued } from '../engine/after-commit.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { idAmong } from '../engine/rows/id-list.ts';
import { valueRows } from '../engine/rows/value-rows.ts';

export const deliveryStates = ['waiting', 'delivered', 'dead'] as const;
type DeliveryState = (typeof deliveryStates)[number];

export interface WebhookDeliveryTable {
  tenant_id: TenantId;
  /** UUID version 7. */
  id: string;
  webhook_id: WebhookId;
  event_id: string;
  /** Of the event, in the feed. */
  seq: number;
  type: string;
  /** What is posted. */
  body: string;
  state: DeliveryState;
  /** Since it was queued or replayed. */
  attempts: number;
  /** HTTP status of the last answer. */
  status: number | null;
  /** Why the last attempt was none, or no success. */
  reason: string | null;
  /** The beginning of the last answer. */
  answer: string | null;
  duration_ms: number | null;
  attempted_at: number | null;
  created_at: number;
  expires_at: number;
}

export type WebhookDelivery = Readonly<WebhookDeliveryTable>;

export interface WebhookQueueTable {
  tenant: TenantId;
  id: string;
  /** The webhook. */
  lane: WebhookId;
  due_at: number;
  attempts: number;
}

export type QueuedWebhookDelivery = Readonly<WebhookQueueTable>;

export interface NewDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly seq: number;
  readonly type: string;
  readonly body: string;
}

const dayMs = 24 * 3_600_000;
const deliveredKeptMs = dayMs;
/** Dead letters, and what waits for a webhook that is disabled. */
const keptMs = 30 * dayMs;
const keepFor = (ms: number) => sql<number>`${databaseNowMs} + ${ms}`;

/** Queues deliveries; one of an event that was delivered before, or failed, begins anew when `again`. Gives how many begin. */
export async function queueDeliveries(
  queries: Queries,
  tenant: TenantId,
  webhook: WebhookId,
  deliveries: readonly NewDelivery[],
  again = false,
): Promise<number> {
  if (deliveries.length === 0) return 0;
  const onConflict = again ? sql`UPDATE SET state = 'waiting', attempts = 0, expires_at = ${keepFor(keptMs)}` : sql`NOTHING`;
  const given = valueRows(queries, 'given', deliveryColumns, deliveries);
  const { rows } = await sql<{ id: string }>`INSERT INTO webhook_deliveries
      (tenant_id, webhook_id, id, event_id, seq, type, body, state, attempts, created_at, expires_at)
    SELECT ${tenant}, ${webhook}, id, "eventId", seq, type, body, 'waiting', 0, ${databaseNowMs}, ${keepFor(keptMs)} FROM ${given} WHERE true
    ON CONFLICT (tenant_id, webhook_id, event_id) DO ${onConflict} RETURNING id`.execute(queries);
  await enqueue(
    queries,
    tenant,
    webhook,
    rows.map(({ id }) => id),
  );
  return rows.length;
}

const deliveryColumns = { id: 'text', eventId: 'text', seq: 'integer', type: 'text', body: 'text' } as const;

/** Begins deliveries that ended anew: one of any state, or dead ones, oldest first. Gives how many. */
export async function replayDeliveries(
  queries: Queries,
  tenant: TenantId,
  webhook: WebhookId,
  meant: { readonly id: string } | { readonly dead: number },
): Promise<number> {
  const rows = await queries
    .updateTable('webhook_deliveries')
    .set({ state: 'waiting', attempts: 0, expires_at: keepFor(keptMs) })
    .where('tenant_id', '=', tenant)
    .where('webhook_id', '=', webhook)
    .where((eb) =>
      'id' in meant
        ? eb('id', '=', meant.id)
        : eb(
            'id',
            'in',
            eb
              .selectFrom('webhook_deliveries')
              .select('id')
              .where('tenant_id', '=', tenant)
              .where('webhook_id', '=', webhook)
              .where('state', '=', 'dead')
              .orderBy('id')
              .limit(meant.dead),
          ),
    )
    .returning('id')
    .execute();
  await enqueue(
    queries,
    tenant,
    webhook,
    rows.map(({ id }) => id),
  );
  return rows.length;
}

async function enqueue(queries: Queries, tenant: TenantId, webhook: WebhookId, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const given = valueRows(
    queries,
    'given',
    { id: 'text' },
    ids.map((id) => ({ id })),
  );
  await sql`INSERT INTO webhook_queue (tenant, id, lane, due_at, attempts) SELECT ${tenant}, id, ${webhook}, ${databaseNowMs}, 0 FROM ${given} WHERE true
    ON CONFLICT (tenant, id) DO UPDATE SET due_at = excluded.due_at, attempts = 0`.execute(queries);
  noteQueued(queries);
}

/** Makes everything that waits for a webhook due, as if nothing had been attempted: it is enabled again. Who had claimed a row to put it off no longer can. */
export async function resumeDeliveries(queries: Queries, tenant: TenantId, webhook: WebhookId): Promise<void> {
  await queries
    .updateTable('webhook_queue')
    .set({ due_at: databaseNowMs, attempts: 0 })
    .where('tenant', '=', tenant)
    .where('lane', '=', webhook)
    .execute();
  noteQueued(queries);
}

/** How many wait for a webhook, at most `limit`. */
export async function countWaiting(queries: Queries, tenant: TenantId, webhook: WebhookId, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM
    (SELECT 1 FROM webhook_queue WHERE lane = ${webhook} AND tenant = ${tenant} LIMIT ${limit}) AS counted`.execute(queries);
  return Number(rows[0]!.count);
}

export interface AttemptMade {
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly answer: string | undefined;
  readonly durationMs: number;
  /** How many there were with it. */
  readonly attempts: number;
}

/** Notes what attempts came to, and what becomes of their deliveries. */
export async function recordAttempts(
  queries: Queries,
  tenant: TenantId,
  all: readonly (AttemptMade & { readonly id: string; readonly state: DeliveryState })[],
): Promise<void> {
  const made = valueRows(queries, 'made', attemptColumns, all);
  await sql`UPDATE webhook_deliveries SET state = made.state, attempts = made.attempts, status = made.status, reason = made.reason,
      answer = made.answer, duration_ms = made."durationMs", attempted_at = ${databaseNowMs},
      expires_at = CASE made.state WHEN 'delivered' THEN ${keepFor(deliveredKeptMs)} WHEN 'dead' THEN ${keepFor(keptMs)} ELSE webhook_deliveries.expires_at END
    FROM ${made} WHERE webhook_deliveries.tenant_id = ${tenant} AND webhook_deliveries.id = made.id`.execute(queries);
}

// biome-ignore format: a table
const attemptColumns = {
  id: 'text', state: 'text', attempts: 'integer', status: 'integer', reason: 'text', answer: 'text', durationMs: 'integer',
} as const;

/** Deliveries by their ids. */
export async function findDeliveries(
  queries: Queries,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, WebhookDelivery>> {
  const rows = await queries
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where(idAmong(queries, 'id', ids))
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** With when the next attempt is due, or the one under way ends at the latest. */
export type ListedDelivery = WebhookDelivery & { readonly due_at: number | null };

export interface DeliveryFilter {
  readonly id?: string | undefined;
  readonly state?: DeliveryState | undefined;
  /** Id of the last of the page before; empty at the start. */
  readonly before: string;
  readonly limit: number;
}

/** A page of a webhook's deliveries, newest first. */
export async function listDeliveries(
  queries: Queries,
  tenant: TenantId,
  webhook: WebhookId,
  filter: DeliveryFilter,
): Promise<readonly ListedDelivery[]> {
  let query = queries
    .selectFrom('webhook_deliveries as d')
    .leftJoin('webhook_queue as q', (join) => join.onRef('q.tenant', '=', 'd.tenant_id').onRef('q.id', '=', 'd.id'))
    .selectAll('d')
    .select('q.due_at')
    .where('d.tenant_id', '=', tenant)
    .where('d.webhook_id', '=', webhook);
  if (filter.id !== undefined) query = query.where('d.id', '=', filter.id);
  if (filter.state !== undefined) query = query.where('d.state', '=', filter.state);
  if (filter.before !== '') query = query.where('d.id', '<', filter.before);
  return query.orderBy('d.id', 'desc').limit(filter.limit).execute();
}
