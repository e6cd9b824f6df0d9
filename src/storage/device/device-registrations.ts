// Registrations: a phone on its way to being a device, from the first signed call to the enrolment. They hold the public
// keys until then. A row outlives its token a while, so that late calls are told what happened.
import { sql } from 'kysely';
import type { ApprovalId, TenantId, UserId } from '../../domain/ids.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface DeviceRegistrationTable {
  tenant_id: TenantId;
  id: string;
  token_hash: string;
  /** registration | signup | enrollment */
  kind: string;
  email: string | null;
  email_key: string | null;
  /** Null for a signup, and for an email that belongs to nobody who may register. */
  user_id: UserId | null;
  given_name: string | null;
  family_name: string | null;
  locale: string | null;
  device_id: string;
  /** JSON: platform, name, model, os_version, app_version. */
  device: string;
  /** JSON list of {key_id, purpose, alg, public_key}. */
  keys: string;
  /** unverified | verified | pending_approval | consumed */
  state: string;
  attestation_failures: number;
  /** The challenge the phone proved its keys with, once it waits for an approval. */
  challenge: string | null;
  approval_id: ApprovalId | null;
  created_at: number;
  expires_at: number;
  purge_at: number;
}

export interface Registration extends DeviceRegistrationTable {
  /** 1 when the token's lifetime is over. */
  readonly expired: number;
}

export type RegistrationKind = 'registration' | 'signup' | 'enrollment';

export type NewRegistration = Omit<
  DeviceRegistrationTable,
  'tenant_id' | 'attestation_failures' | 'challenge' | 'approval_id' | 'created_at' | 'expires_at' | 'purge_at'
> & { readonly kind: RegistrationKind; readonly state: 'unverified' | 'verified' };

const keptMs = 86_400_000;

/** Inserts a registration and gives when its token expires. */
export async function insertRegistration(
  queries: Queries,
  tenant: TenantId,
  registration: NewRegistration,
  lifetimeMs: number,
): Promise<number> {
  const row = await queries
    .insertInto('device_registrations')
    .values({
      ...registration,
      tenant_id: tenant,
      attestation_failures: 0,
      created_at: databaseNowMs,
      expires_at: sql<number>`gatehouse_now_ms() + ${lifetimeMs}`,
      purge_at: sql<number>`gatehouse_now_ms() + ${lifetimeMs + keptMs}`,
    })
    .returning('expires_at')
    .executeTakeFirstOrThrow();
  return row.expires_at;
}

const selectRegistration = (queries: Queries, tenant: TenantId) =>
  queries
    .selectFrom('device_registrations')
    .selectAll()
    .select(sql<number>`CASE WHEN expires_at > gatehouse_now_ms() THEN 0 ELSE 1 END`.as('expired'))
    .where('tenant_id', '=', tenant);

export async function findRegistrationByToken(queries: Queries, tenant: TenantId, tokenHash: string): Promise<Registration | undefined> {
  return selectRegistration(queries, tenant).where('token_hash', '=', tokenHash).executeTakeFirst();
}

export async function findRegistration(queries: Queries, tenant: TenantId, id: string): Promise<Registration | undefined> {
  return selectRegistration(queries, tenant).where('id', '=', id).executeTakeFirst();
}

/** The registrations of a device id, newest first. */
export async function listRegistrationsOfDevice(queries: Queries, tenant: TenantId, deviceId: string): Promise<readonly Registration[]> {
  return selectRegistration(queries, tenant)
    .where('device_id', '=', deviceId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(20)
    .execute();
}

/** Marks a registration verified and gives its token a new lifetime; undefined unless it was unverified and alive. */
export async function verifyRegistration(queries: Queries, tenant: TenantId, id: string, lifetimeMs: number): Promise<number | undefined> {
  const [row] = await queries
    .updateTable('device_registrations')
    .set({
      state: 'verified',
      expires_at: sql<number>`gatehouse_now_ms() + ${lifetimeMs}`,
      purge_at: sql<number>`gatehouse_now_ms() + ${lifetimeMs + keptMs}`,
    })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('state', '=', 'unverified')
    .where('expires_at', '>', databaseNowMs)
    .returning('expires_at')
    .execute();
  return row?.expires_at;
}

/** Consumes a registration that is in one of the given states and alive: true for exactly one caller. */
export async function consumeRegistration(queries: Queries, tenant: TenantId, id: string, from: readonly string[]): Promise<boolean> {
  const rows = await queries
    .updateTable('device_registrations')
    .set({ state: 'consumed' })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('state', 'in', from)
    .where('expires_at', '>', databaseNowMs)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Parks a verified registration until a person decides on another device: true for exactly one caller. */
export async function parkRegistration(
  queries: Queries,
  tenant: TenantId,
  id: string,
  parked: { readonly challenge: string; readonly approvalId: ApprovalId },
): Promise<boolean> {
  const rows = await queries
    .updateTable('device_registrations')
    .set({ state: 'pending_approval', challenge: parked.challenge, approval_id: parked.approvalId })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('state', '=', 'verified')
    .where('expires_at', '>', databaseNowMs)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Counts a failed attestation; at `failuresMax` the token is consumed too. */
export async function countAttestationFailure(queries: Queries, tenant: TenantId, id: string, failuresMax: number): Promise<void> {
  await queries
    .updateTable('device_registrations')
    .set({
      attestation_failures: sql<number>`attestation_failures + 1`,
      state: sql<string>`CASE WHEN attestation_failures + 1 >= ${failuresMax} THEN 'consumed' ELSE state END`,
    })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .execute();
}

/** Gives a registration of this device a new token, the old one dies: once for each caller, while it is alive and not consumed. */
export async function renewRegistrationToken(
  queries: Queries,
  tenant: TenantId,
  renewal: { readonly id: string; readonly deviceId: string; readonly tokenHash: string },
): Promise<{ readonly state: string; readonly expires_at: number } | undefined> {
  return queries
    .updateTable('device_registrations')
    .set({ token_hash: renewal.tokenHash })
    .where('tenant_id', '=', tenant)
    .where('id', '=', renewal.id)
    .where('device_id', '=', renewal.deviceId)
    .where('state', '<>', 'consumed')
    .where('expires_at', '>', databaseNowMs)
    .returning(['state', 'expires_at'])
    .executeTakeFirst();
}

/** A registration as it is now, locked until the transaction ends. */
export async function lockRegistration(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  id: string,
): Promise<Registration | undefined> {
  const query = selectRegistration(queries, tenant).where('id', '=', id);
  return (dialect === 'postgres' ? query.forUpdate() : query).executeTakeFirst();
}

/** What a waiting registration's keys are proven with from now on. */
export async function replaceParkedChallenge(queries: Queries, tenant: TenantId, id: string, challenge: string): Promise<void> {
  await queries
    .updateTable('device_registrations')
    .set({ challenge })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('state', '=', 'pending_approval')
    .execute();
}
