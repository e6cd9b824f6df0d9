// Enrolment tokens an administrator gives to a user: 256 bits, stored by SHA-256, single use.
import { sql } from 'kysely';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface EnrollmentTokenTable {
  tenant_id: TenantId;
  token_hash: string;
  id: string;
  user_id: UserId;
  require_pin: number;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  /** The registration its redemption began. */
  registration_id: string | null;
}

type EnrollmentRedemption =
  | { readonly ok: true; readonly userId: UserId; readonly requirePin: boolean }
  | { readonly ok: false; readonly reason: 'unknown' | 'used' | 'expired' };

/** Stores a token for a user and gives when it expires. */
export async function insertEnrollmentToken(
  queries: Queries,
  tenant: TenantId,
  token: { readonly id: string; readonly hash: string; readonly userId: UserId; readonly requirePin: boolean; readonly lifetimeMs: number },
): Promise<number> {
  const row = await queries
    .insertInto('enrollment_tokens')
    .values({
      tenant_id: tenant,
      token_hash: token.hash,
      id: token.id,
      user_id: token.userId,
      require_pin: token.requirePin ? 1 : 0,
      created_at: databaseNowMs,
      expires_at: sql<number>`gatehouse_now_ms() + ${token.lifetimeMs}`,
      used_at: null,
      registration_id: null,
    })
    .returning('expires_at')
    .executeTakeFirstOrThrow();
  return row.expires_at;
}

/** Redeems a token once, for exactly one caller, to begin the named registration. */
export async function redeemEnrollmentToken(
  queries: Queries,
  tenant: TenantId,
  tokenHash: string,
  registrationId: string,
): Promise<EnrollmentRedemption> {
  const [row] = await queries
    .updateTable('enrollment_tokens')
    .set({ used_at: databaseNowMs, registration_id: registrationId })
    .where('tenant_id', '=', tenant)
    .where('token_hash', '=', tokenHash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .returning(['user_id', 'require_pin'])
    .execute();
  if (row !== undefined) return { ok: true, userId: row.user_id, requirePin: row.require_pin === 1 };
  const kept = await queries
    .selectFrom('enrollment_tokens')
    .select('used_at')
    .where('tenant_id', '=', tenant)
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
  if (kept === undefined) return { ok: false, reason: 'unknown' };
  return { ok: false, reason: kept.used_at === null ? 'expired' : 'used' };
}

/**
 * Ends what a person could still add a phone with: tokens first, then the registrations they began. With a period those tokens alone that
 * were made in it, and what they began.
 */
export async function endEnrollments(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  made?: { readonly fromMs: number; readonly untilMs: number },
): Promise<void> {
  const isMeant =
    made === undefined ? sql<boolean>`1 = 1` : sql<boolean>`t.created_at >= ${made.fromMs} AND t.created_at <= ${made.untilMs}`;
  await queries
    .updateTable('enrollment_tokens as t')
    .set({ used_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('used_at', 'is', null)
    .where(isMeant)
    .execute();
  const registrations = queries
    .updateTable('device_registrations')
    .set({ state: 'consumed' })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('state', '<>', 'consumed');
  const isBegun = sql<boolean>`id IN (SELECT t.registration_id FROM enrollment_tokens AS t WHERE t.tenant_id = ${tenant} AND t.user_id = ${user} AND ${isMeant})`;
  await (made === undefined ? registrations : registrations.where(isBegun)).execute();
}

/** The registration a token began at most `periodMs` ago. */
export async function findRecentRedemption(
  queries: Queries,
  tenant: TenantId,
  tokenHash: string,
  periodMs: number,
): Promise<{ readonly registrationId: string; readonly userId: UserId } | undefined> {
  const row = await queries
    .selectFrom('enrollment_tokens')
    .select(['registration_id', 'user_id'])
    .where('tenant_id', '=', tenant)
    .where('token_hash', '=', tokenHash)
    .where('used_at', '>', sql<number>`gatehouse_now_ms() - ${periodMs}`)
    .executeTakeFirst();
  return row?.registration_id == null ? undefined : { registrationId: row.registration_id, userId: row.user_id };
}

/** Whether the registration that a token began is of the device. */
export async function isEnrollmentTokenOf(queries: Queries, tenant: TenantId, tokenHash: string, deviceId: string): Promise<boolean> {
  const row = await queries
    .selectFrom('enrollment_tokens as t')
    .innerJoin('device_registrations as r', (join) => join.onRef('r.tenant_id', '=', 't.tenant_id').onRef('r.id', '=', 't.registration_id'))
    .select('r.id')
    .where('t.tenant_id', '=', tenant)
    .where('t.token_hash', '=', tokenHash)
    .where('r.device_id', '=', deviceId)
    .executeTakeFirst();
  return row !== undefined;
}
