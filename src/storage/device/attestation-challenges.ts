// Challenges of enrolment and attestation: 32 random bytes for one device, single use. They are kept as they are, because
// the phone's proofs name no challenge and are checked against the live ones.
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface AttestationChallengeTable {
  tenant_id: TenantId;
  challenge: string;
  device_id: string;
  created_at: number;
  expires_at: number;
  used_at: number | null;
}

/** Stores a challenge for a device and gives when it expires. */
export async function insertChallenge(
  queries: Queries,
  tenant: TenantId,
  deviceId: string,
  challenge: string,
  lifetimeMs: number,
): Promise<number> {
  const row = await queries
    .insertInto('attestation_challenges')
    .values({
      tenant_id: tenant,
      challenge,
      device_id: deviceId,
      created_at: databaseNowMs,
      expires_at: sql<number>`gatehouse_now_ms() + ${lifetimeMs}`,
      used_at: null,
    })
    .returning('expires_at')
    .executeTakeFirstOrThrow();
  return row.expires_at;
}

/** The live challenges of a device, newest first. */
export async function listLiveChallenges(queries: Queries, tenant: TenantId, deviceId: string, limit: number): Promise<readonly string[]> {
  const rows = await queries
    .selectFrom('attestation_challenges')
    .select('challenge')
    .where('tenant_id', '=', tenant)
    .where('device_id', '=', deviceId)
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .orderBy('created_at', 'desc')
    .orderBy('challenge')
    .limit(limit)
    .execute();
  return rows.map((row) => row.challenge);
}

/** Consumes a challenge: true for exactly one caller, while it lives. */
export async function consumeChallenge(queries: Queries, tenant: TenantId, deviceId: string, challenge: string): Promise<boolean> {
  const rows = await queries
    .updateTable('attestation_challenges')
    .set({ used_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('challenge', '=', challenge)
    .where('device_id', '=', deviceId)
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .returning('challenge')
    .execute();
  return rows.length === 1;
}
