// The push queue: a row per device is written in the transaction of the approval or recovery it announces, and sent after it. Like the
// mail queue it belongs to the deployment and is read across tenants; it holds no token and nothing of the person.
import { sql } from 'kysely';
import type { DeviceId, TenantId, UserId } from '../../domain/ids.ts';
import { noteQueued } from '../engine/after-commit.ts';
import type { Queries } from '../engine/database.ts';

export interface PushMessageTable {
  tenant_id: TenantId;
  id: string;
  device_id: DeviceId;
  /** Of before Web Push; the device says where to push to. */
  provider: string;
  /** Whose servers it goes to; empty in rows of release 0.1.0. */
  lane: string;
  attempts: number;
  next_attempt_at: number;
  expires_at: number;
}

export type PushMessage = Readonly<PushMessageTable>;

const lifetimeMs = 60_000;

/** Queues a push to every device of a user that has a push token, in the caller's transaction. Nobody costs the same. */
export async function insertPushMessages(queries: Queries, tenant: TenantId, user: UserId | undefined, about: string): Promise<void> {
  const { numAffectedRows } = await sql`
    INSERT INTO push_messages (tenant_id, id, device_id, provider, lane, attempts, next_attempt_at, expires_at)
    SELECT tenant_id, CAST(${about} AS TEXT) || ':' || id, id, CASE WHEN push_provider = 'apns' THEN 'apns' ELSE 'fcm' END,
      CASE WHEN web_push_encrypted IS NOT NULL THEN 'web:' || coalesce(web_push_vendor, '') ELSE push_provider END, 0, gatehouse_now_ms(), gatehouse_now_ms() + ${lifetimeMs}
    FROM devices WHERE tenant_id = ${tenant} AND user_id = ${user ?? ''} AND state = 'active' 
      AND (push_provider <> 'none' OR web_push_encrypted IS NOT NULL)`.execute(queries);
  if (numAffectedRows !== 0n) noteQueued(queries);
}
