// Key rotations: at most one row a device, replaced by the next start. A confirmed row keeps the digest of its
// confirmation and the answer, so that an identical retry gets the same answer.
import { sql } from 'kysely';
import type { DeviceId, TenantId } from '../../domain/ids.ts';
import type { Dialect, Queries } from '../engine/database.ts';

export interface DeviceRotationTable {
  tenant_id: TenantId;
  device_id: DeviceId;
  id: string;
  nonce: string;
  /** JSON list of the slots in the rotation set. */
  key_ids: string;
  /** open | confirmed | ended */
  state: string;
  confirm_sha256: string | null;
  answer: string | null;
  started_at: number;
  expires_at: number;
}

export interface Rotation extends DeviceRotationTable {
  /** 1 when the nonce's lifetime is over. */
  readonly expired: number;
}

/**
 * Rotations of one device go one after another: each locks this first, so that what it judges after that stays until its
 * transaction ends. It is the row of the device, as there may be no rotation yet.
 */
export async function lockRotations(queries: Queries, dialect: Dialect, tenant: TenantId, device: DeviceId): Promise<void> {
  if (dialect !== 'postgres') return; // one transaction writes at a time
  await queries.selectFrom('devices').select('id').where('tenant_id', '=', tenant).where('id', '=', device).forUpdate().execute();
}

/** Starts a rotation, replacing whatever the device had. Gives when its nonce expires. */
export async function startRotation(
  queries: Queries,
  tenant: TenantId,
  device: DeviceId,
  rotation: { readonly id: string; readonly nonce: string; readonly keyIds: readonly string[]; readonly lifetimeMs: number },
): Promise<number> {
  const values = {
    id: rotation.id,
    nonce: rotation.nonce,
    key_ids: JSON.stringify(rotation.keyIds),
    state: 'open',
    confirm_sha256: null,
    answer: null,
    started_at: sql<number>`gatehouse_now_ms()`,
    expires_at: sql<number>`gatehouse_now_ms() + ${rotation.lifetimeMs}`,
  };
  const row = await queries
    .insertInto('device_rotations')
    .values({ tenant_id: tenant, device_id: device, ...values })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'device_id']).doUpdateSet(values))
    .returning('expires_at')
    .executeTakeFirstOrThrow();
  return row.expires_at;
}

/** The rotation of a device in any state; inside a write it is the row that `confirmRotation` decides on. */
export async function findRotation(queries: Queries, tenant: TenantId, device: DeviceId): Promise<Rotation | undefined> {
  return queries
    .selectFrom('device_rotations')
    .selectAll()
    .select(sql<number>`CASE WHEN expires_at > gatehouse_now_ms() THEN 0 ELSE 1 END`.as('expired'))
    .where('tenant_id', '=', tenant)
    .where('device_id', '=', device)
    .executeTakeFirst();
}

/** Confirms an open rotation: true for exactly one caller. */
export async function confirmRotation(
  queries: Queries,
  tenant: TenantId,
  device: DeviceId,
  id: string,
  { confirmSha256, answer }: { readonly confirmSha256: string; readonly answer: string },
): Promise<boolean> {
  const rows = await queries
    .updateTable('device_rotations')
    .set({ state: 'confirmed', confirm_sha256: confirmSha256, answer })
    .where('tenant_id', '=', tenant)
    .where('device_id', '=', device)
    .where('id', '=', id)
    .where('state', '=', 'open')
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Ends a rotation that is in one of the given states: true for exactly one caller. */
export async function endRotation(
  queries: Queries,
  tenant: TenantId,
  device: DeviceId,
  id: string,
  from: 'open' | 'confirmed',
): Promise<boolean> {
  const rows = await queries
    .updateTable('device_rotations')
    .set({ state: 'ended' })
    .where('tenant_id', '=', tenant)
    .where('device_id', '=', device)
    .where('id', '=', id)
    .where('state', '=', from)
    .returning('id')
    .execute();
  return rows.length === 1;
}
