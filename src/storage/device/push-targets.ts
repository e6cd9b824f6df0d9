// Where to push to and how it went: the target of a device, the outcome of its last push, the VAPID key of a tenant and the
// credentials a vendor refused.
import { sql } from 'kysely';
import type { DeviceId, TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import type { Device } from './devices.ts';

export const pushProviders = ['apns', 'fcm', 'web'] as const;
export type PushProvider = (typeof pushProviders)[number];

export interface VapidKeyTable {
  tenant_id: TenantId;
  public_key: string;
  private_key_encrypted: string;
  created_at: number;
}

export interface PushRefusalTable {
  tenant_id: TenantId;
  provider: string;
  reason: string;
  refused_at: number;
}

export interface PushTarget {
  readonly provider: PushProvider;
  readonly tokenEncrypted: string;
  /** Of a web target: whose push service. */
  readonly vendor?: string | undefined;
}

/** The target of a device; undefined where it has none. */
export function pushTargetOf(
  device: Pick<Device, 'push_provider' | 'push_token_encrypted' | 'web_push_encrypted'>,
): PushTarget | undefined {
  const { push_provider: provider, push_token_encrypted: token, web_push_encrypted: subscription } = device;
  if (subscription !== null) return { provider: 'web', tokenEncrypted: subscription };
  return token === null ? undefined : { provider: provider as PushProvider, tokenEncrypted: token }; // a constraint of the table
}

/** How a device is pushed to, as it is shown: a provider, or `none`. */
export const pushProviderOf = (device: Parameters<typeof pushTargetOf>[0]): string => pushTargetOf(device)?.provider ?? 'none';

/** Where to push to, or nowhere; false unless the device is in force. What became of earlier pushes is forgotten. */
export async function setPushTarget(queries: Queries, tenant: TenantId, id: DeviceId, target: PushTarget | undefined): Promise<boolean> {
  const rows = await queries
    .updateTable('devices')
    .set({ ...columnsOf(target), push_tried_at: null, push_outcome: null, push_reason: null })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('state', '=', 'active')
    .returning('id')
    .execute();
  return rows.length === 1;
}

interface PushRecord {
  readonly outcome: string;
  readonly reason: string | null;
  /** The target is dead and goes. */
  readonly isGone: boolean;
}

/** Notes what became of a push, unless the device has another target by now. */
export async function recordPush(queries: Queries, tenant: TenantId, id: DeviceId, target: PushTarget, made: PushRecord): Promise<void> {
  await queries
    .updateTable('devices')
    .set({
      push_tried_at: databaseNowMs,
      push_outcome: made.outcome,
      push_reason: made.reason,
      ...(made.isGone ? columnsOf(undefined) : {}),
    })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where(target.provider === 'web' ? 'web_push_encrypted' : 'push_token_encrypted', '=', target.tokenEncrypted)
    .execute();
}

/** The VAPID key of a tenant; the one given becomes it where there is none. */
export async function claimVapidKey(
  queries: Queries,
  tenant: TenantId,
  make: { readonly publicKey: string; readonly privateKeyEncrypted: string },
): Promise<Readonly<VapidKeyTable>> {
  await queries
    .insertInto('vapid_keys')
    .values({ tenant_id: tenant, public_key: make.publicKey, private_key_encrypted: make.privateKeyEncrypted, created_at: databaseNowMs })
    .onConflict((on) => on.column('tenant_id').doNothing())
    .execute();
  return queries.selectFrom('vapid_keys').selectAll().where('tenant_id', '=', tenant).executeTakeFirstOrThrow();
}

export async function findVapidKey(queries: Queries, tenant: TenantId): Promise<Readonly<VapidKeyTable> | undefined> {
  return queries.selectFrom('vapid_keys').selectAll().where('tenant_id', '=', tenant).executeTakeFirst();
}

/** Credentials the vendor refused; `undefined`: it takes them. */
export async function setPushRefusal(
  queries: Queries,
  tenant: TenantId,
  provider: PushProvider,
  reason: string | undefined,
): Promise<void> {
  if (reason === undefined) {
    await queries.deleteFrom('push_refusals').where('tenant_id', '=', tenant).where('provider', '=', provider).execute();
    return;
  }
  await queries
    .insertInto('push_refusals')
    .values({ tenant_id: tenant, provider, reason, refused_at: databaseNowMs })
    .onConflict((on) => on.columns(['tenant_id', 'provider']).doUpdateSet({ reason, refused_at: sql<number>`gatehouse_now_ms()` }))
    .execute();
}

export async function listPushRefusals(queries: Queries, tenant: TenantId): Promise<readonly Readonly<PushRefusalTable>[]> {
  return queries.selectFrom('push_refusals').selectAll().where('tenant_id', '=', tenant).orderBy('provider').execute();
}

function columnsOf(target: PushTarget | undefined) {
  const isWeb = target?.provider === 'web';
  return {
    push_provider: target === undefined || isWeb ? 'none' : target.provider,
    push_token_encrypted: target === undefined || isWeb ? null : target.tokenEncrypted,
    web_push_encrypted: isWeb ? target.tokenEncrypted : null,
    web_push_vendor: isWeb ? (target.vendor ?? null) : null,
  };
}
