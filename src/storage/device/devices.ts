// Devices of users and their key slots. A slot holds the current public key and, during the overlap after a rotation, the
// previous one. Whether a key is usable always includes the state of its user, so a suspension needs no other write.
import { sql } from 'kysely';
import type { DeviceId, TenantId, UserId } from '../../domain/ids.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { statement } from '../engine/statement.ts';
import { endApproved } from '../sign-in/approvals.ts';

export interface DeviceTable {
  tenant_id: TenantId;
  id: DeviceId;
  user_id: UserId;
  /** active | revoked */
  state: string;
  platform: string;
  name: string;
  model: string | null;
  os_version: string | null;
  app_version: string | null;
  push_provider: string;
  push_token_encrypted: string | null;
  /** A Web Push subscription; then `push_provider` is none. */
  web_push_encrypted: string | null;
  /** Whose push service that is; each has a lane of its own. */
  web_push_vendor: string | null;
  /** The last push to it: when, what became of it, the vendor's word. */
  push_tried_at: number | null;
  push_outcome: string | null;
  push_reason: string | null;
  attestation_format: string | null;
  attestation_app_id: string | null;
  /** SPKI of the App Attest key, base64. */
  attestation_public_key: string | null;
  attestation_counter: number | null;
  created_at: number;
  revoked_at: number | null;
  /** Of its last signed request, kept to about a quarter of an hour. */
  last_seen_at: number | null;
  /** attested | webauthn | webauthn_synced | claimed; null: enrolled before it was recorded. */
  key_protection: string | null;
}

export type Device = Readonly<DeviceTable>;

export interface DeviceKeyTable {
  tenant_id: TenantId;
  device_id: DeviceId;
  key_id: string;
  /** pop | uv */
  purpose: string;
  alg: string;
  /** SPKI DER, base64. */
  public_key: string;
  previous_alg: string | null;
  previous_public_key: string | null;
  previous_until: number | null;
  created_at: number;
  rotated_at: number | null;
  revoked_at: number | null;
}

export interface DeviceIdentifierTable {
  id: string;
  claimed_at: number;
}

export interface DeviceKeyFingerprintTable {
  tenant_id: TenantId;
  fingerprint: string;
  created_at: number;
}

/** What a signed request is checked against. */
export interface SigningKey {
  readonly device_id: DeviceId;
  readonly user_id: UserId;
  readonly platform: string;
  readonly purpose: string;
  readonly alg: string;
  readonly public_key: string;
  readonly previous_alg: string | null;
  readonly previous_public_key: string | null;
  readonly attestation_app_id: string | null;
  readonly attestation_public_key: string | null;
  /** 1 while the previous key is accepted. */
  readonly overlap: number;
  /** 1 when `last_seen_at` is older than it may be. */
  readonly unseen: number;
}

export interface NewSlot {
  readonly keyId: string;
  readonly purpose: 'pop' | 'uv';
  readonly alg: string;
  readonly publicKey: string;
  readonly fingerprint: string;
}

/** How old `last_seen_at` may be before a request writes it again. */
const seenForMs = 15 * 60 * 1000;

const signingKey = statement<{ readonly tenant: TenantId; readonly device: string; readonly key: string }, SigningKey>((queries, values) =>
  queries
    .selectFrom('device_keys as k')
    .innerJoin('devices as d', (join) => join.onRef('d.tenant_id', '=', 'k.tenant_id').onRef('d.id', '=', 'k.device_id'))
    .innerJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'd.tenant_id').onRef('u.id', '=', 'd.user_id'))
    .select(['k.device_id', 'd.user_id', 'd.platform', 'k.purpose', 'k.alg', 'k.public_key', 'k.previous_alg', 'k.previous_public_key'])
    .select(['d.attestation_app_id', 'd.attestation_public_key'])
    .select(sql<number>`CASE WHEN k.previous_until > gatehouse_now_ms() THEN 1 ELSE 0 END`.as('overlap'))
    .select(sql<number>`CASE WHEN d.last_seen_at > gatehouse_now_ms() - ${sql.lit(seenForMs)} THEN 0 ELSE 1 END`.as('unseen'))
    .where('k.tenant_id', '=', values.tenant)
    .where('k.device_id', '=', values.device as DeviceId)
    .where('k.key_id', '=', values.key)
    .where('k.revoked_at', 'is', null)
    .where('d.state', '=', 'active')
    .where('u.state', '=', 'active'),
);

/** The slot a request names, when slot, device and user are all in force. */
export async function findSigningKey(queries: Queries, tenant: TenantId, device: string, key: string): Promise<SigningKey | undefined> {
  return (await signingKey(queries, { tenant, device, key })).rows[0];
}

/** Claims identifiers for one device and its slots: true when all of them were new in the whole deployment. */
export async function claimDeviceIdentifiers(queries: Queries, ids: readonly string[]): Promise<boolean> {
  const rows = await queries
    .insertInto('device_identifiers')
    .values(ids.map((id) => ({ id, claimed_at: databaseNowMs })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute();
  return rows.length === ids.length;
}

/** Whether any of the identifiers was ever enrolled, in any tenant. */
export async function areIdentifiersClaimed(queries: Queries, ids: readonly string[]): Promise<boolean> {
  const row = await queries.selectFrom('device_identifiers').select('id').where('id', 'in', ids).limit(1).executeTakeFirst();
  return row !== undefined;
}

/** Remembers public keys: true when none of them was ever enrolled in this tenant. */
export async function claimKeyFingerprints(queries: Queries, tenant: TenantId, fingerprints: readonly string[]): Promise<boolean> {
  const rows = await queries
    .insertInto('device_key_fingerprints')
    .values(fingerprints.map((fingerprint) => ({ tenant_id: tenant, fingerprint, created_at: databaseNowMs })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('fingerprint')
    .execute();
  return rows.length === fingerprints.length;
}

/** Whether any of the public keys was ever enrolled in this tenant. */
export async function areFingerprintsKnown(queries: Queries, tenant: TenantId, fingerprints: readonly string[]): Promise<boolean> {
  const row = await queries
    .selectFrom('device_key_fingerprints')
    .select('fingerprint')
    .where('tenant_id', '=', tenant)
    .where('fingerprint', 'in', fingerprints)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

interface NewDevice
  extends Pick<DeviceTable, 'id' | 'user_id' | 'platform' | 'name' | 'model' | 'os_version' | 'app_version' | 'key_protection'> {
  readonly attestation: DeviceAttestation | undefined;
  readonly slots: readonly NewSlot[];
}

export interface DeviceAttestation {
  readonly format: string;
  readonly appId: string | null;
  readonly publicKey: string | null;
}

/** Inserts an active device with its slots; the caller has claimed the identifiers and fingerprints. */
export async function insertDevice(queries: Queries, tenant: TenantId, { attestation, slots, ...device }: NewDevice): Promise<void> {
  await queries
    .insertInto('devices')
    .values({
      ...device,
      tenant_id: tenant,
      state: 'active',
      push_provider: 'none',
      attestation_format: attestation?.format ?? null,
      attestation_app_id: attestation?.appId ?? null,
      attestation_public_key: attestation?.publicKey ?? null,
      attestation_counter: attestation?.publicKey ? 0 : null,
      created_at: databaseNowMs,
      last_seen_at: databaseNowMs,
    })
    .execute();
  await queries
    .insertInto('device_keys')
    .values(
      slots.map((slot) => ({
        tenant_id: tenant,
        device_id: device.id,
        key_id: slot.keyId,
        purpose: slot.purpose,
        alg: slot.alg,
        public_key: slot.publicKey,
        created_at: databaseNowMs,
      })),
    )
    .execute();
}

export async function findDevice(queries: Queries, tenant: TenantId, id: string): Promise<Device | undefined> {
  return queries
    .selectFrom('devices')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as DeviceId)
    .executeTakeFirst(); // a look-up key
}

/** The devices of a user, oldest first. */
export async function listDevicesOfUser(queries: Queries, tenant: TenantId, user: UserId): Promise<readonly Device[]> {
  return queries
    .selectFrom('devices')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** How many active devices a user has. */
export async function countActiveDevices(queries: Queries, tenant: TenantId, user: UserId): Promise<number> {
  const row = await queries
    .selectFrom('devices')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('state', '=', 'active')
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** How many phones in browsers are in force, counted up to `max`. */
export async function countWebPhones(queries: Queries, tenant: TenantId, max: number): Promise<number> {
  const counted = queries
    .selectFrom('devices')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('platform', '=', sql.lit('web'))
    .where('state', '=', sql.lit('active'))
    .limit(max);
  return (await counted.execute()).length;
}

/** A slot with whether its previous key is accepted now, by the database's time. */
export type DeviceSlot = DeviceKeyTable & { readonly overlap: number };

/** The slots of a device, `pop` first. */
export async function listDeviceKeys(queries: Queries, tenant: TenantId, device: DeviceId): Promise<readonly DeviceSlot[]> {
  return queries
    .selectFrom('device_keys')
    .selectAll()
    .select(sql<number>`CASE WHEN previous_until > gatehouse_now_ms() THEN 1 ELSE 0 END`.as('overlap'))
    .where('tenant_id', '=', tenant)
    .where('device_id', '=', device)
    .orderBy('purpose')
    .orderBy('key_id')
    .execute();
}

/** Changes what a phone may say about itself; undefined leaves a value. */
export async function updateDevice(
  queries: Queries,
  tenant: TenantId,
  id: DeviceId,
  change: { readonly name?: string | undefined; readonly os_version?: string | undefined; readonly app_version?: string | undefined },
): Promise<void> {
  const values = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  if (Object.keys(values).length === 0) return;
  await queries.updateTable('devices').set(values).where('tenant_id', '=', tenant).where('id', '=', id).execute();
}

/** Notes that a device made a request just now. */
export async function setDeviceSeen(queries: Queries, tenant: TenantId, id: DeviceId): Promise<void> {
  await queries.updateTable('devices').set({ last_seen_at: databaseNowMs }).where('tenant_id', '=', tenant).where('id', '=', id).execute();
}

/** Revokes a device for good: true when it was active. Its push token is forgotten, and what it approved and nobody redeemed ends. */
export async function revokeDevice(queries: Queries, tenant: TenantId, id: string, ofUser?: UserId): Promise<boolean> {
  let query = revoked(queries, tenant).where('id', '=', id as DeviceId); // a look-up key
  if (ofUser !== undefined) query = query.where('user_id', '=', ofUser);
  const device = await query.returning(['id', 'user_id']).executeTakeFirst();
  if (device !== undefined) await endApproved(queries, tenant, device.user_id, [device.id]);
  return device !== undefined;
}

/** Revokes the devices of a user for good, or those added since `sinceMs`; gives which were in force. */
export async function revokeDevicesOfUser(queries: Queries, tenant: TenantId, user: UserId, sinceMs = 0): Promise<readonly DeviceId[]> {
  const rows = await revoked(queries, tenant).where('user_id', '=', user).where('created_at', '>=', sinceMs).returning('id').execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await endApproved(queries, tenant, user, ids);
  return ids;
}

/** Whether a device and its person are in force. Revocation and suspension wait for the transaction of whoever asked. */
export async function holdDevice(queries: Queries, dialect: Dialect, tenant: TenantId, id: DeviceId): Promise<boolean> {
  const query = queries
    .selectFrom('users as u') // locked before its devices, as by who deletes it
    .innerJoin('devices as d', (join) => join.onRef('d.tenant_id', '=', 'u.tenant_id').onRef('d.user_id', '=', 'u.id'))
    .select('d.id')
    .where('d.tenant_id', '=', tenant)
    .where('d.id', '=', id)
    .where('d.state', '=', 'active')
    .where('u.state', '=', 'active');
  return (await (dialect === 'postgres' ? query.forShare() : query).executeTakeFirst()) !== undefined;
}

function revoked(queries: Queries, tenant: TenantId) {
  return queries
    .updateTable('devices')
    .set({
      state: 'revoked',
      revoked_at: databaseNowMs,
      push_provider: 'none',
      push_token_encrypted: null,
      web_push_encrypted: null,
      web_push_vendor: null,
    })
    .where('tenant_id', '=', tenant)
    .where('state', '=', 'active');
}

/** Revokes one slot for good: true when it was in force. */
export async function revokeDeviceKey(queries: Queries, tenant: TenantId, device: string, keyId: string): Promise<boolean> {
  const rows = await queries
    .updateTable('device_keys')
    .set({ revoked_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('device_id', '=', device as DeviceId)
    .where('key_id', '=', keyId)
    .where('revoked_at', 'is', null) // a look-up key
    .returning('key_id')
    .execute();
  return rows.length === 1;
}

/** Puts a new key into a slot; the present one becomes the previous one for the overlap. False when the slot was revoked meanwhile. */
export async function rotateDeviceKey(
  queries: Queries,
  tenant: TenantId,
  device: DeviceId,
  slot: { readonly keyId: string; readonly alg: string; readonly publicKey: string; readonly overlapMs: number },
): Promise<boolean> {
  const rows = await queries
    .updateTable('device_keys')
    .set((eb) => ({
      previous_alg: eb.ref('alg'),
      previous_public_key: eb.ref('public_key'),
      previous_until: sql<number>`gatehouse_now_ms() + ${slot.overlapMs}`,
      alg: slot.alg,
      public_key: slot.publicKey,
      rotated_at: databaseNowMs,
    }))
    .where('tenant_id', '=', tenant)
    .where('device_id', '=', device)
    .where('key_id', '=', slot.keyId)
    .where('revoked_at', 'is', null)
    .returning('key_id')
    .execute();
  return rows.length === 1;
}

/** Ends the overlap of every slot of a device. */
export async function endOverlap(queries: Queries, tenant: TenantId, device: DeviceId): Promise<void> {
  await queries
    .updateTable('device_keys')
    .set({ previous_alg: null, previous_public_key: null, previous_until: null })
    .where('tenant_id', '=', tenant)
    .where('device_id', '=', device)
    .execute();
}

/** Moves the App Attest counter forward: true when `counter` is above the stored one (compare and set). */
export async function advanceAttestationCounter(queries: Queries, tenant: TenantId, device: DeviceId, counter: number): Promise<boolean> {
  const rows = await queries
    .updateTable('devices')
    .set({ attestation_counter: counter })
    .where('tenant_id', '=', tenant)
    .where('id', '=', device)
    .where('attestation_counter', '<', counter)
    .returning('id')
    .execute();
  return rows.length === 1;
}
