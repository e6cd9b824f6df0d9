// The queues of what is delivered after its commit: mails, CIBA notifications, logout notices, pushes, webhooks, security events. Each is a table of its own, which
// the release before also serves; here they are rows of one table, so that there is one way to claim, put off and end a
// delivery (deliveries/engine.ts), and one question whether any is due. They are read across tenants and hold no secret in clear.
import { type RawBuilder, sql } from 'kysely';
import type { TenantId } from '../domain/ids.ts';
import type { Dialect, Queries } from './engine/database.ts';
import { databaseNowMs } from './engine/instance.ts';
import { valueRows } from './engine/rows/value-rows.ts';
import type { CibaDelivery } from './oidc/ciba-deliveries.ts';
import type { LogoutNotice } from './oidc/logout-notices.ts';
import type { OutboxMessage } from './records/outbox-messages.ts';
import type { PushMessage } from './records/push-messages.ts';
import type { QueuedStream } from './records/ssf-events.ts';
import type { QueuedWebhookDelivery } from './records/webhook-deliveries.ts';
import type { Schema } from './schema.ts';

/** The row of each queue. */
export interface QueueRows {
  readonly mail: OutboxMessage;
  readonly ciba: CibaDelivery;
  readonly logout: LogoutNotice;
  readonly push: PushMessage;
  readonly webhook: QueuedWebhookDelivery;
  readonly ssf: QueuedStream;
}

export type QueueName = keyof QueueRows;

interface Queue<Column = string> {
  readonly table: keyof Schema;
  /** Absent: tenant_id. */
  readonly tenant?: Column;
  /** Names a row of a tenant. */
  readonly key: Column;
  /** When the next attempt is due; that of a claimed row is the end of its lease. */
  readonly due: Column;
  /** The column of the endpoint a row goes to; absent when all go to one. */
  readonly lane?: Column;
  /** Only these rows wait. */
  readonly waiting?: RawBuilder<unknown>;
}

const isOfUse = sql`expires_at > ${databaseNowMs}`;

// biome-ignore format: a table, one row a line
const queues: Readonly<Record<QueueName, Queue>> = {
  mail: { table: 'outbox_messages', key: 'id', due: 'next_attempt_at', lane: 'lane', waiting: sql`(state = 'waiting' OR waits = 1) AND ${isOfUse}` },
  ciba: { table: 'ciba_deliveries', key: 'request_id', due: 'due_at', lane: 'lane' },
  logout: { table: 'logout_notices', key: 'grant_id', due: 'due_at', lane: 'lane' },
  push: { table: 'push_messages', key: 'id', due: 'next_attempt_at', lane: 'lane', waiting: isOfUse },
  webhook: { table: 'webhook_queue', tenant: 'tenant', key: 'id', due: 'due_at', lane: 'lane' },
  ssf: { table: 'ssf_queue', tenant: 'tenant', key: 'id', due: 'due_at', lane: 'id' },
} satisfies { readonly [Q in QueueName]: Queue<keyof QueueRows[Q]> };
const everyQueue = Object.entries(queues) as readonly [QueueName, Queue][];
/** The tables of the queues, and the columns that name a tenant and a row of it. */
export const deliveryQueues = Object.values(queues).map(({ table, tenant = 'tenant_id', key }) => ({ table, tenant, key }));

const tenantColumn = ({ tenant = 'tenant_id' }: Queue): RawBuilder<unknown> => sql.ref(tenant);
const waits = ({ waiting }: Queue): RawBuilder<unknown> => (waiting === undefined ? sql`` : sql` AND ${waiting}`);
const isDue = (queue: Queue): RawBuilder<unknown> => sql`${sql.ref(queue.due)} <= ${databaseNowMs}${waits(queue)}`;
const anyDue = (queue: Queue): RawBuilder<unknown> => sql`EXISTS (SELECT 1 FROM ${sql.table(queue.table)} WHERE ${isDue(queue)})`;

/** 1 when a delivery is due, else 0; asked with the pulse of the configuration, so that an idle node need not ask each queue. */
export const deliveriesDue = sql<number>`CASE WHEN ${sql.join(
  everyQueue.map(([, queue]) => anyDue(queue)),
  sql` OR `,
)} THEN 1 ELSE 0 END`;

interface Overdue {
  readonly kind: QueueName;
  readonly count: number;
  /** Milliseconds since the one was due that is due longest; 0 when none is. */
  readonly oldestMs: number;
}

/** What is due and in nobody's hand, by kind. */
export async function listOverdue(queries: Queries): Promise<readonly Overdue[]> {
  const { rows } = await sql<{ kind: QueueName; count: number; oldest: number | null }>`${sql.join(
    everyQueue.map(
      ([kind, queue]) =>
        sql`SELECT ${sql.lit(kind)} AS kind, count(*) AS count, ${databaseNowMs} - min(${sql.ref(queue.due)}) AS oldest FROM ${sql.table(queue.table)} WHERE ${isDue(queue)}`,
    ),
    sql` UNION ALL `,
  )}`.execute(queries);
  return rows.map(({ kind, count, oldest }) => ({ kind, count: Number(count), oldestMs: Math.max(0, Number(oldest ?? 0)) }));
}

export interface DueLane {
  readonly kind: QueueName;
  /** Of one of the deliveries that are due in it. */
  readonly tenant: string;
  readonly lane: string;
}

/** The lanes in which something is due. Goes from lane to lane, however many rows wait in one. */
export async function listDueLanes(queries: Queries, kinds: readonly QueueName[]): Promise<readonly DueLane[]> {
  const { rows } = await sql<DueLane>`${sql.join(
    kinds.map((kind) => dueLanes(kind, queues[kind])),
    sql` UNION ALL `,
  )}`.execute(queries);
  return rows;
}

function dueLanes(kind: QueueName, queue: Queue): RawBuilder<unknown> {
  const table = sql.table(queue.table);
  const dueTenant = (and = sql``): RawBuilder<unknown> =>
    sql`(SELECT ${tenantColumn(queue)} FROM ${table} WHERE ${isDue(queue)}${and} LIMIT 1)`;
  if (queue.lane === undefined)
    return sql`SELECT ${sql.lit(kind)} AS kind, '' AS lane, tenant FROM (SELECT ${dueTenant()} AS tenant) AS known WHERE tenant IS NOT NULL`;
  const column = sql.ref(queue.lane);
  return sql`SELECT ${sql.lit(kind)} AS kind, lane, tenant FROM (SELECT name AS lane, ${dueTenant(sql` AND ${column} = lanes.name`)} AS tenant FROM (WITH RECURSIVE lanes(name) AS (SELECT min(${column}) FROM ${table}
    UNION ALL SELECT (SELECT min(${column}) FROM ${table} WHERE ${column} > lanes.name) FROM lanes WHERE lanes.name IS NOT NULL)
    SELECT name FROM lanes WHERE name IS NOT NULL) AS lanes) AS known WHERE tenant IS NOT NULL`;
}

/**
 * Takes up to `limit` due deliveries of a lane, due longest first, hiding each from other processes for `leaseMs`; one whose sender
 * dies comes back after it. What another process is taking at this moment is passed over.
 */
export async function claimDeliveries<Q extends QueueName>(
  queries: Queries,
  dialect: Dialect,
  kind: Q,
  { lane, limit, leaseMs }: { readonly lane: string; readonly limit: number; readonly leaseMs: number },
): Promise<readonly QueueRows[Q][]> {
  const queue: Queue = queues[kind];
  const [table, tenant, key, due] = [sql.table(queue.table), tenantColumn(queue), sql.ref(queue.key), sql.ref(queue.due)];
  const ofLane = queue.lane === undefined ? sql`` : sql` AND ${sql.ref(queue.lane)} = ${lane}`;
  const { rows } = await sql<
    QueueRows[Q]
  >`WITH picked AS MATERIALIZED (SELECT ${tenant}, ${key} FROM ${table} WHERE ${isDue(queue)}${ofLane}
    ORDER BY ${due} LIMIT ${limit}${dialect === 'postgres' ? sql` FOR UPDATE SKIP LOCKED` : sql``})
    UPDATE ${table} SET attempts = attempts + 1, ${due} = ${databaseNowMs} + ${leaseMs}
    WHERE (${tenant}, ${key}) IN (SELECT ${tenant}, ${key} FROM picked) RETURNING *`.execute(queries);
  return rows;
}

/**
 * One claim of a delivery. The number of attempts and the end of its lease tell it from a later claim of the same row: the number alone
 * begins anew when a delivery is replayed or its endpoint enabled, and would be the same in the next claim.
 */
export interface Claimed<Q extends QueueName = QueueName> {
  readonly kind: Q;
  readonly row: QueueRows[Q];
}

interface PutOff {
  readonly claimed: Claimed;
  readonly waitMs: number;
  /** It may not be due then or later, by the database's clock. */
  readonly endsAtMs?: number | undefined;
}

/** Puts claimed deliveries of a kind off; gives those that are. The others would be due too late, or somebody else has claimed them since. */
export async function deferDeliveries(queries: Queries, kind: QueueName, all: readonly PutOff[]): Promise<ReadonlySet<Claimed>> {
  const rows = all.map(({ claimed, waitMs, endsAtMs }) => ({ ...nameOf(claimed), wait: Math.round(waitMs), ends: endsAtMs }));
  const given = valueRows(queries, 'given', { ...nameTypes, wait: 'integer', ends: 'integer' }, rows);
  const at = sql`${databaseNowMs} + given.wait`;
  return updateClaimed(queries, kind, all, given, {
    set: sql`${sql.ref(queues[kind].due)} = ${at}`,
    where: sql` AND (given.ends IS NULL OR ${at} < given.ends)`,
  });
}

/** Gives claimed deliveries of a kind back that nobody has begun: due at once, the attempt that was not made not counted. */
export async function returnDeliveries(queries: Queries, kind: QueueName, all: readonly Claimed[]): Promise<void> {
  const given = valueRows(queries, 'given', nameTypes, all.map(nameOf));
  const { due } = queues[kind];
  const set = sql`${sql.ref(due)} = ${databaseNowMs}, attempts = attempts - 1`;
  await updateClaimed(
    queries,
    kind,
    all.map((claimed) => ({ claimed })),
    given,
    { set, where: sql`` },
  );
}

/** The columns have names of no queue, so that both can be spoken of in one statement. */
const nameTypes = { its_tenant: 'text', its_key: 'text', its_attempts: 'integer', its_lease: 'integer' } as const;
const nameOf = (claimed: Claimed) => ({
  its_tenant: tenantOfDelivery(claimed),
  its_key: deliveryId(claimed),
  its_attempts: claimed.row.attempts,
  its_lease: leaseEnd(claimed),
});

interface Update {
  readonly set: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
}

/** Updates the rows that `given` names and that are still in the hand of their claim; gives their claims. */
async function updateClaimed(
  queries: Queries,
  kind: QueueName,
  all: readonly { readonly claimed: Claimed }[],
  given: RawBuilder<unknown>,
  { set, where }: Update,
): Promise<ReadonlySet<Claimed>> {
  const queue = queues[kind];
  const [tenant, key] = [tenantColumn(queue), sql.ref(queue.key)];
  const { rows } = await sql<{ tenant: string; key: string }>`UPDATE ${sql.table(queue.table)} SET ${set} FROM ${given}
    WHERE ${tenant} = its_tenant AND ${key} = its_key AND attempts = its_attempts AND ${sql.ref(queue.due)} = its_lease${where} RETURNING ${tenant} AS tenant, ${key} AS key`.execute(
    queries,
  );
  return thoseNamed(all, rows);
}

function thoseNamed(
  all: readonly { readonly claimed: Claimed }[],
  rows: readonly { readonly tenant: string; readonly key: string }[],
): ReadonlySet<Claimed> {
  const named = new Set(rows.map(({ tenant, key }) => `${tenant} ${key}`));
  return new Set(all.map(({ claimed }) => claimed).filter((claimed) => named.has(`${tenantOfDelivery(claimed)} ${deliveryId(claimed)}`)));
}

/** Puts a delivery whose time has not come off until it has, in epoch milliseconds; its attempts start anew. */
export async function postponeDelivery(queries: Queries, claimed: Claimed, dueAtMs: number): Promise<void> {
  const { table, due } = queues[claimed.kind];
  await sql`UPDATE ${sql.table(table)} SET ${sql.ref(due)} = ${dueAtMs}, attempts = 0
    WHERE ${isClaim(claimed)}`.execute(queries);
}

/** Ends a delivery that there is nothing to send for. */
export async function dropDelivery(queries: Queries, claimed: Claimed): Promise<void> {
  await sql`DELETE FROM ${sql.table(queues[claimed.kind].table)} WHERE ${isClaim(claimed)}`.execute(queries);
}

/**
 * Ends deliveries of a kind, in the transaction of what follows from their end; gives those that are. The others were ended before, or
 * (unless taken) claimed by somebody else since.
 */
export async function endDeliveries(
  queries: Queries,
  kind: QueueName,
  all: readonly { readonly claimed: Claimed }[],
  isTaken: boolean,
): Promise<ReadonlySet<Claimed>> {
  if (all.length === 0) return new Set();
  const queue = queues[kind];
  const given = valueRows(
    queries,
    'given',
    nameTypes,
    all.map(({ claimed }) => nameOf(claimed)),
  );
  const [tenant, key] = [tenantColumn(queue), sql.ref(queue.key)];
  const isGiven = isTaken
    ? sql`(${tenant}, ${key}) IN (SELECT its_tenant, its_key FROM ${given})`
    : sql`(${tenant}, ${key}, attempts, ${sql.ref(queue.due)}) IN (SELECT its_tenant, its_key, its_attempts, its_lease FROM ${given})`;
  const { rows } = await sql<{ tenant: string; key: string }>`DELETE FROM ${sql.table(queue.table)} WHERE ${isGiven}
    RETURNING ${tenant} AS tenant, ${key} AS key`.execute(queries);
  return thoseNamed(all, rows);
}

const column = ({ row }: Claimed, name: string): unknown => (row as unknown as Readonly<Record<string, unknown>>)[name];

/** What a row is called beside its tenant. */
export const deliveryId = (claimed: Claimed): string => String(column(claimed, queues[claimed.kind].key));
const leaseEnd = (claimed: Claimed): number => Number(column(claimed, queues[claimed.kind].due));

/** Whose delivery it is. */
export const tenantOfDelivery = ({ row }: Claimed): TenantId => ('tenant' in row ? row.tenant : row.tenant_id);

function isClaim(claimed: Claimed): RawBuilder<unknown> {
  const queue = queues[claimed.kind];
  return sql`${tenantColumn(queue)} = ${tenantOfDelivery(claimed)} AND ${sql.ref(queue.key)} = ${deliveryId(claimed)}
    AND attempts = ${claimed.row.attempts} AND ${sql.ref(queue.due)} = ${leaseEnd(claimed)}`;
}

/** Deletes up to `limit` mails and pushes each that are past their time (R8). */
export async function purgeDeliveries(queries: Queries, limit: number): Promise<void> {
  for (const table of ['outbox_messages', 'push_messages'] as const)
    await queries
      .deleteFrom(table)
      .where('id', 'in', (eb) => eb.selectFrom(table).select('id').where('expires_at', '<=', databaseNowMs).limit(limit))
      .execute();
}
