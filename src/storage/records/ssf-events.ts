// Security events that wait for the receiver of a stream to take them, in their order; and the queue of streams that something is to be
// posted for, a row a stream, which is read across tenants and holds nothing of them.
import { type ExpressionBuilder, sql } from 'kysely';
import type { SsfStreamId, TenantId } from '../../domain/ids.ts';
import { noteQueued } from '../engine/after-commit.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import type { Schema } from '../schema.ts';

export interface SsfEventTable {
  tenant_id: TenantId;
  /** The jti. */
  id: string;
  stream_id: SsfStreamId;
  /** URI of the event. */
  type: string;
  /** Of the audit record, in the feed; 0 for what is told of the stream itself. */
  seq: number;
  /** The claims that are signed, as JSON. */
  claims: string;
  created_at: number;
}

export type WaitingSet = Readonly<Pick<SsfEventTable, 'id' | 'claims'>>;
export type NewSsfEvent = Readonly<Pick<SsfEventTable, 'id' | 'type' | 'seq' | 'claims'>>;

export interface SsfQueueTable {
  tenant: TenantId;
  /** The stream. */
  id: SsfStreamId;
  due_at: number;
  attempts: number;
}

export interface SsfDeliveryTable {
  tenant_id: TenantId;
  stream_id: SsfStreamId;
  /** When the receiver last took anything. */
  delivered_at: number;
}

export type QueuedStream = Readonly<SsfQueueTable>;

/** Adds to what waits for a stream, at its end. */
export async function addSsfEvents(queries: Queries, tenant: TenantId, stream: SsfStreamId, events: readonly NewSsfEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => ({ ...event, tenant_id: tenant, stream_id: stream, created_at: databaseNowMs }));
  await queries.insertInto('ssf_events').values(rows).execute();
}

/** Lets the engine of deliveries look at a stream: at once when `again`, else when the attempt it waits for is due. */
export async function queueStream(queries: Queries, tenant: TenantId, stream: SsfStreamId, again = false): Promise<void> {
  await queries
    .insertInto('ssf_queue')
    .values({ tenant, id: stream, due_at: databaseNowMs, attempts: 0 })
    .onConflict((on) =>
      on
        .columns(['tenant', 'id'])
        .doUpdateSet((eb) => (again ? { due_at: databaseNowMs, attempts: 0 } : { attempts: eb.ref('ssf_queue.attempts') })),
    ) // either locks the row, so that whoever ends a delivery of it sees what was added
    .execute();
  noteQueued(queries);
}

/** Takes a stream out of the queue. */
export async function dequeueStream(queries: Queries, tenant: TenantId, stream: SsfStreamId): Promise<void> {
  await queries.deleteFrom('ssf_queue').where('tenant', '=', tenant).where('id', '=', stream).execute();
}

const ofStream = (tenant: TenantId, stream: SsfStreamId) => (eb: ExpressionBuilder<Schema, 'ssf_events'>) =>
  eb.and([eb('tenant_id', '=', tenant), eb('stream_id', '=', stream)]);

/** What waits longest for a stream, of one type where that is given. */
export async function listWaitingSets(
  queries: Queries,
  tenant: TenantId,
  stream: SsfStreamId,
  { limit, type }: { readonly limit: number; readonly type?: string | undefined },
): Promise<readonly WaitingSet[]> {
  let wanted = queries.selectFrom('ssf_events').select(['id', 'claims']).where(ofStream(tenant, stream));
  if (type !== undefined) wanted = wanted.where('type', '=', type);
  return wanted.orderBy('created_at').orderBy('seq').limit(limit).execute();
}

/** How many wait for a stream, of one type where that is given; at most `limit`. */
export async function countWaitingSets(
  queries: Queries,
  tenant: TenantId,
  stream: SsfStreamId,
  { limit, type }: { readonly limit: number; readonly type?: string | undefined },
): Promise<number> {
  return (await listWaitingSets(queries, tenant, stream, { limit, type })).length;
}

/** For how many milliseconds a stream has taken nothing though something waits, since it got its status; 0 when nothing waits. */
export async function unacknowledgedMs(queries: Queries, tenant: TenantId, stream: SsfStreamId): Promise<number> {
  const { rows } = await sql<{
    ms: number | null;
  }>`SELECT ${databaseNowMs} - CASE WHEN e.created_at > s.status_at THEN e.created_at ELSE s.status_at END AS ms
    FROM ssf_streams AS s JOIN ssf_events AS e ON e.tenant_id = s.tenant_id AND e.stream_id = s.id
    WHERE s.tenant_id = ${tenant} AND s.id = ${stream} ORDER BY e.created_at LIMIT 1`.execute(queries);
  return Number(rows[0]?.ms ?? 0);
}

/** Forgets what a receiver has taken, or will not take; gives the ids of those that waited. */
export async function deleteSsfEvents(
  queries: Queries,
  tenant: TenantId,
  stream: SsfStreamId,
  which: { readonly ids: readonly string[] } | { readonly type: string } | 'all',
): Promise<readonly string[]> {
  if (which !== 'all' && 'ids' in which && which.ids.length === 0) return [];
  let wanted = queries.deleteFrom('ssf_events').where(ofStream(tenant, stream) as never); // the same table
  if (which !== 'all') wanted = 'ids' in which ? wanted.where('id', 'in', which.ids) : wanted.where('type', '=', which.type);
  return (await wanted.returning('id').execute()).map(({ id }) => id);
}

/** Notes that the receiver of a stream took something just now. */
export async function markDelivered(queries: Queries, tenant: TenantId, stream: SsfStreamId): Promise<void> {
  await queries
    .insertInto('ssf_deliveries')
    .values({ tenant_id: tenant, stream_id: stream, delivered_at: databaseNowMs })
    .onConflict((on) => on.columns(['tenant_id', 'stream_id']).doUpdateSet({ delivered_at: databaseNowMs }))
    .execute();
}
