// The push queue: a row per device is written in the transaction of the approval it announces, and sent after it. Like the
// mail queue it belongs to the deployment and is read across tenants; it holds no token and nothing of the person.
import { sql } from 'kysely';
import type { ApprovalId, DeviceId, TenantId, UserId } from '../domain/ids.ts';
import type { Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';

export interface PushMessageTable {
  tenant_id: TenantId;
  id: string;
  device_id: DeviceId;
  provider: string;
  attempts: number;
  next_attempt_at: number;
  expires_at: number;
}

const lifetimeMs = 60_000;

/** Queues a push to every device of a user that has a push token, in the caller's transaction. Nobody costs the same. */
export async function insertPushMessages(
  queries: Queries,
  tenant: TenantId,
  user: UserId | undefined,
  approval: ApprovalId,
): Promise<void> {
  await sql`
    INSERT INTO push_messages (tenant_id, id, device_id, provider, attempts, next_attempt_at, expires_at)
    SELECT tenant_id, CAST(${approval} AS TEXT) || ':' || id, id, push_provider, 0, gatehouse_now_ms(), gatehouse_now_ms() + ${lifetimeMs}
    FROM devices WHERE tenant_id = ${tenant} AND user_id = ${user ?? ''} AND state = 'active' AND push_provider <> 'none'`.execute(queries);
}

/** Takes the next pushes and puts their next attempt off by `leaseMs`; those past their time are deleted. Sent at least once. */
export async function claimPushMessages(queries: Queries, limit: number, leaseMs: number): Promise<readonly PushMessageTable[]> {
  await queries.deleteFrom('push_messages').where('expires_at', '<=', databaseNowMs).execute();
  const due = queries
    .selectFrom('push_messages')
    .select('id')
    .where('next_attempt_at', '<=', databaseNowMs)
    .orderBy('next_attempt_at')
    .limit(limit);
  return queries
    .updateTable('push_messages')
    .set((eb) => ({ attempts: eb('attempts', '+', 1), next_attempt_at: sql<number>`gatehouse_now_ms() + ${leaseMs}` }))
    .where('id', 'in', due)
    .where('next_attempt_at', '<=', databaseNowMs)
    .returningAll()
    .execute();
}

export async function deletePushMessage(queries: Queries, id: string): Promise<void> {
  await queries.deleteFrom('push_messages').where('id', '=', id).execute();
}

/** Whether anything is due, without writing. */
export async function hasDuePushMessages(queries: Queries): Promise<boolean> {
  const row = await queries
    .selectFrom('push_messages')
    .select('id')
    .where('next_attempt_at', '<=', databaseNowMs)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
