// Device authorizations (RFC 8628): one row each, found by the hash of its device code when the device polls, by its user code when
// a person types it. pending -> approved | denied, once; an approved one is redeemed once. A row outlives its codes by a day,
// so that late polls get the right answer and no code is given twice.
import { sql } from 'kysely';
import type { ClientId, GrantId, TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { notedPoll } from './polling.ts';

export interface DeviceAuthorizationTable {
  tenant_id: TenantId;
  device_code_hash: string;
  /** UUID: how audit records name it. */
  id: string;
  /** Eight letters without the dash. */
  user_code: string;
  client_id: ClientId;
  scope: string;
  resource: string | null;
  state: string;
  /** Who decided, and how that person had signed in (seconds since the epoch, acr, JSON list). */
  user_id: UserId | null;
  auth_time: number | null;
  acr: string | null;
  amr: string | null;
  decided_at: number | null;
  initiated_ip: string | null;
  initiated_user_agent: string | null;
  interval_seconds: number;
  last_polled_at: number | null;
  /** 1 when the last poll came sooner than the interval. */
  polled_early: number;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  grant_id: GrantId | null;
}

export type DeviceAuthorization = Readonly<DeviceAuthorizationTable>;

type NewDeviceAuthorization = Pick<
  DeviceAuthorizationTable,
  | 'device_code_hash'
  | 'id'
  | 'user_code'
  | 'client_id'
  | 'scope'
  | 'resource'
  | 'initiated_ip'
  | 'initiated_user_agent'
  | 'interval_seconds'
>;

/** Gives false, and stores nothing, when the user code is taken. */
export async function insertDeviceAuthorization(
  queries: Queries,
  tenant: TenantId,
  authorization: NewDeviceAuthorization,
  lifetimeSeconds: number,
): Promise<boolean> {
  const rows = await queries
    .insertInto('device_authorizations')
    .values({
      ...authorization,
      tenant_id: tenant,
      state: 'pending',
      polled_early: 0,
      created_at: databaseNowMs,
      expires_at: sql<number>`${databaseNowMs} + ${lifetimeSeconds * 1000}`,
    })
    .onConflict((on) => on.columns(['tenant_id', 'user_code']).doNothing())
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** The authorization that waits for a person to decide. */
export async function findWaitingDevice(queries: Queries, tenant: TenantId, userCode: string): Promise<DeviceAuthorization | undefined> {
  return queries
    .selectFrom('device_authorizations')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_code', '=', userCode)
    .where('state', '=', 'pending')
    .where('expires_at', '>', databaseNowMs)
    .executeTakeFirst();
}

type DeviceDecision = Pick<DeviceAuthorizationTable, 'user_id' | 'auth_time' | 'acr' | 'amr'> & {
  readonly state: 'approved' | 'denied';
};

/** pending -> decided, once. False when it is not pending any more or has expired. */
export async function decideDeviceAuthorization(
  queries: Queries,
  tenant: TenantId,
  userCode: string,
  decision: DeviceDecision,
): Promise<boolean> {
  const rows = await queries
    .updateTable('device_authorizations')
    .set({ ...decision, decided_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('user_code', '=', userCode)
    .where('state', '=', 'pending')
    .where('expires_at', '>', databaseNowMs)
    .returning('id')
    .execute();
  return rows.length === 1;
}

export type PolledDevice = DeviceAuthorization & {
  readonly now_ms: number;
  /** State of the person who decided, now; null while nobody has. */
  readonly user_state: string | null;
};

/** The authorization of a device code, whatever its state and client. */
export async function findDeviceAuthorization(
  queries: Queries,
  tenant: TenantId,
  deviceCodeHash: string,
): Promise<PolledDevice | undefined> {
  return queries
    .selectFrom('device_authorizations as d')
    .leftJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'd.tenant_id').onRef('u.id', '=', 'd.user_id'))
    .selectAll('d')
    .select(['u.state as user_state', databaseNowMs.as('now_ms')])
    .where('d.tenant_id', '=', tenant)
    .where('d.device_code_hash', '=', deviceCodeHash)
    .executeTakeFirst();
}

/** Notes a poll of a pending authorization; true when it came too early. */
export async function recordDevicePoll(queries: Queries, tenant: TenantId, deviceCodeHash: string): Promise<boolean> {
  const row = await queries
    .updateTable('device_authorizations')
    .set(notedPoll)
    .where('tenant_id', '=', tenant)
    .where('device_code_hash', '=', deviceCodeHash)
    .returning('polled_early')
    .executeTakeFirst();
  return row?.polled_early === 1;
}

/** Drops what a person allowed and no device fetched yet. */
export async function dropApprovedDevices(queries: Queries, tenant: TenantId, user: UserId): Promise<void> {
  await queries
    .deleteFrom('device_authorizations')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('state', '=', 'approved')
    .where('used_at', 'is', null)
    .execute();
}

/** Takes the one use of an approved authorization (R1) for the grant it becomes; false when it was used or has expired. */
export async function redeemDeviceAuthorization(
  queries: Queries,
  tenant: TenantId,
  deviceCodeHash: string,
  grantId: GrantId,
): Promise<boolean> {
  const rows = await queries
    .updateTable('device_authorizations')
    .set({ used_at: databaseNowMs, grant_id: grantId })
    .where('tenant_id', '=', tenant)
    .where('device_code_hash', '=', deviceCodeHash)
    .where('state', '=', 'approved')
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .returning('id')
    .execute();
  return rows.length === 1;
}
