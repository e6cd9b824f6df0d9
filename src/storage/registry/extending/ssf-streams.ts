// Streams of security event tokens: rows to and from the domain's SsfStream, and how far each has read in the feed. The Authorization
// header is stored as it is given here: sealed by tokens/stream-header.ts.
import { sql } from 'kysely';
import { streamsPerTenantMax } from '../../../contract/limits.ts';
import type { DeliveryMethod, SsfStream, StreamStatus, StreamValues } from '../../../domain/extending/ssf-stream.ts';
import type { ClientId, SsfStreamId, TenantId } from '../../../domain/ids.ts';
import type { ConfigCache } from '../../engine/config/config-cache.ts';
import type { Dialect, Queries } from '../../engine/database.ts';
import { databaseNowMs } from '../../engine/instance.ts';
import type { Page } from '../../engine/rows/matching-rows.ts';

export interface SsfStreamTable {
  tenant_id: TenantId;
  id: SsfStreamId;
  client_id: ClientId;
  method: DeliveryMethod;
  url: string | null;
  authorization_encrypted: string | null;
  /** JSON list. */
  events_requested: string | null;
  description: string | null;
  status: StreamStatus;
  status_reason: string | null;
  /** When it got its status. */
  status_at: number;
  /** The number of the feed up to which it has read. */
  position: number;
  created_at: number;
  updated_at: number;
}

/** Every stream of a tenant, from memory where nothing changed. */
export const listCachedStreams = (cache: ConfigCache, tenant: TenantId): Promise<readonly SsfStream[]> =>
  cache.get(tenant, 'ssf-streams', async (queries) => {
    const rows = await queries.selectFrom('ssf_streams').selectAll().where('tenant_id', '=', tenant).orderBy('id').execute();
    return rows.map(streamFromRow);
  });

/** A stream as the database has it now. */
export async function findStream(queries: Queries, tenant: TenantId, id: SsfStreamId): Promise<SsfStream | undefined> {
  const row = await queries.selectFrom('ssf_streams').selectAll().where('tenant_id', '=', tenant).where('id', '=', id).executeTakeFirst();
  return row && streamFromRow(row);
}

/** The stream of a receiver; it has one at most. */
export async function findStreamOf(queries: Queries, tenant: TenantId, client: ClientId): Promise<SsfStream | undefined> {
  const select = queries.selectFrom('ssf_streams').selectAll();
  const row = await select.where('tenant_id', '=', tenant).where('client_id', '=', client).executeTakeFirst();
  return row && streamFromRow(row);
}

/** The same, its row locked until the transaction ends. */
export async function lockStreamOf(queries: Queries, dialect: Dialect, tenant: TenantId, client: ClientId): Promise<SsfStream | undefined> {
  const select = queries.selectFrom('ssf_streams').selectAll().where('tenant_id', '=', tenant).where('client_id', '=', client);
  const row = await (dialect === 'postgres' ? select.forUpdate() : select).executeTakeFirst();
  return row && streamFromRow(row);
}

/** A stream with how it does, for administrators. */
export interface StreamReport extends SsfStream {
  readonly clientName: string;
  readonly statusAtMs: number;
  /** Events that wait, and since when the first does. */
  readonly waiting: number;
  readonly waitingSinceMs: number | undefined;
  readonly deliveredAtMs: number | undefined;
  /** People it is not to tell of. */
  readonly removedSubjects: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A page of streams in order of their ids, or the one of an id. */
export async function listStreamReports(
  queries: Queries,
  tenant: TenantId,
  which: Page | { readonly id: string },
): Promise<readonly StreamReport[]> {
  const ofStream = sql`WHERE o.tenant_id = s.tenant_id AND o.stream_id = s.id`;
  let wanted = queries
    .selectFrom('ssf_streams as s')
    .innerJoin('clients as c', (join) => join.onRef('c.tenant_id', '=', 's.tenant_id').onRef('c.client_id', '=', 's.client_id'))
    .selectAll('s')
    .select([
      'c.name as client_name',
      sql<number | string>`(SELECT count(*) FROM ssf_events AS o ${ofStream})`.as('waiting'),
      sql<number | null>`(SELECT min(o.created_at) FROM ssf_events AS o ${ofStream})`.as('waiting_since'),
      sql<number | null>`(SELECT o.delivered_at FROM ssf_deliveries AS o ${ofStream})`.as('delivered_at'),
      sql<number | string>`(SELECT count(*) FROM ssf_removed_subjects AS o ${ofStream})`.as('removed'),
    ])
    .where('s.tenant_id', '=', tenant)
    .orderBy('s.id');
  wanted =
    'id' in which
      ? wanted.where('s.id', '=', which.id as SsfStreamId) // a look-up key, not yet known to be an id
      : wanted.where('s.id', '>', which.after as SsfStreamId).limit(which.limit);
  return (await wanted.execute()).map((row) => ({
    ...streamFromRow(row),
    clientName: row.client_name,
    statusAtMs: row.status_at,
    waiting: Number(row.waiting),
    waitingSinceMs: row.waiting_since === null ? undefined : Number(row.waiting_since),
    deliveredAtMs: row.delivered_at === null ? undefined : Number(row.delivered_at),
    removedSubjects: Number(row.removed),
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  }));
}

const feedEnd = (tenant: TenantId) => sql<number>`coalesce((SELECT last_seq FROM event_feeds WHERE tenant_id = ${tenant} LIMIT 1), 0)`;

/** Inserts a stream that reads what comes after the last number of the feed; undefined when its receiver has one. */
export async function insertStream(
  queries: Queries,
  tenant: TenantId,
  { id, clientId, ...values }: StreamValues & Pick<SsfStream, 'id' | 'clientId'>,
): Promise<SsfStream | undefined> {
  const row = await queries
    .insertInto('ssf_streams')
    .values({
      ...toColumns(values),
      tenant_id: tenant,
      id,
      client_id: clientId,
      status: 'enabled',
      status_at: databaseNowMs,
      position: feedEnd(tenant),
      created_at: databaseNowMs,
      updated_at: databaseNowMs,
    })
    .onConflict((on) => on.columns(['tenant_id', 'client_id']).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return undefined;
  await queries.updateTable('tenants').set({ has_streams: 1 }).where('tenant_id', '=', tenant).where('has_streams', '=', 0).execute();
  return streamFromRow(row);
}

/** Writes what the receiver chose. */
export async function updateStream(
  queries: Queries,
  tenant: TenantId,
  id: SsfStreamId,
  values: StreamValues,
): Promise<SsfStream | undefined> {
  const row = await queries
    .updateTable('ssf_streams')
    .set({ ...toColumns(values), updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && streamFromRow(row);
}

/** Gives a stream of one of the statuses `from` another; false when it has none of them. What happened while it was disabled is passed over. */
export async function setStreamStatus(
  queries: Queries,
  tenant: TenantId,
  id: SsfStreamId,
  { from, status, reason }: { readonly from: readonly StreamStatus[]; readonly status: StreamStatus; readonly reason: string | undefined },
): Promise<boolean> {
  const rows = await queries
    .updateTable('ssf_streams')
    .set({
      status,
      status_reason: reason ?? null,
      status_at: databaseNowMs,
      updated_at: databaseNowMs,
      position: sql<number>`CASE WHEN status = 'disabled' THEN ${feedEnd(tenant)} ELSE position END`,
    })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('status', 'in', from)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Deletes a stream with what waits for it. */
export async function deleteStream(queries: Queries, tenant: TenantId, id: SsfStreamId): Promise<boolean> {
  const rows = await queries.deleteFrom('ssf_streams').where('tenant_id', '=', tenant).where('id', '=', id).returning('id').execute();
  return rows.length === 1;
}

/** The number of the feed up to which a stream has read. */
export async function findStreamPosition(queries: Queries, tenant: TenantId, id: SsfStreamId): Promise<number | undefined> {
  const row = await queries
    .selectFrom('ssf_streams')
    .select('position')
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.position;
}

/** Moves an enabled stream on in the feed; false when somebody else has. */
export async function moveStream(
  queries: Queries,
  tenant: TenantId,
  id: SsfStreamId,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<boolean> {
  const rows = await queries
    .updateTable('ssf_streams')
    .set({ position: to })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('position', '=', from)
    .where('status', '=', 'enabled')
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** The open tenants that have, or had, streams. */
export async function listTenantsWithStreams(queries: Queries): Promise<readonly TenantId[]> {
  const rows = await queries.selectFrom('tenants').select('tenant_id').where('has_streams', '=', 1).where('moving', 'is', null).execute();
  return rows.map(({ tenant_id: tenant }) => tenant);
}

/** How many streams a tenant has, at most `limit`. */
export async function countStreams(queries: Queries, tenant: TenantId, limit: number): Promise<number> {
  return (await queries.selectFrom('ssf_streams').select('id').where('tenant_id', '=', tenant).limit(limit).execute()).length;
}

/** The receivers with a stream that a person is assigned to, themselves, by a group or by an organisation. */
export async function listReceiversOf(queries: Queries, tenant: TenantId, user: string): Promise<readonly string[]> {
  const { rows } = await sql<{ client_id: string }>`SELECT s.client_id FROM ssf_streams AS s WHERE s.tenant_id = ${tenant} AND (EXISTS (
    SELECT 1 FROM access_assignments AS a LEFT JOIN group_members AS m ON m.tenant_id = a.tenant_id AND m.group_id = a.group_id AND m.user_id = ${user}
    WHERE a.tenant_id = ${tenant} AND a.target_kind = 'client' AND a.target_id = s.client_id AND (a.user_id = ${user} OR m.user_id = ${user}))
    OR EXISTS (SELECT 1 FROM organization_assignments AS a JOIN organization_members AS m ON m.tenant_id = a.tenant_id AND m.organization_id = a.organization_id
    WHERE a.tenant_id = ${tenant} AND a.target_kind = 'client' AND a.target_id = s.client_id AND m.user_id = ${user}))
    ORDER BY s.client_id LIMIT ${streamsPerTenantMax}`.execute(queries);
  return rows.map(({ client_id: client }) => client);
}

const toColumns = ({ method, url, authorizationHeader, eventsRequested, description }: StreamValues) => ({
  method,
  url: url ?? null,
  authorization_encrypted: authorizationHeader ?? null,
  events_requested: eventsRequested === undefined ? null : JSON.stringify(eventsRequested),
  description: description ?? null,
});

const streamFromRow = (row: SsfStreamTable): SsfStream => ({
  id: row.id,
  clientId: row.client_id,
  method: row.method,
  url: row.url ?? undefined,
  authorizationHeader: row.authorization_encrypted ?? undefined,
  eventsRequested: row.events_requested === null ? undefined : (JSON.parse(row.events_requested) as readonly string[]), // written above
  description: row.description ?? undefined,
  status: row.status,
  statusReason: row.status_reason ?? undefined,
});
