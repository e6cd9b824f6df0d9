// Recovery codes: ten of a person at a time, stored by an HMAC under a key of the tenant, used once each by one conditional
// statement. New ones take the place of all before. The engine is approvals/recovery-codes.ts.
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface RecoveryCodeTable {
  tenant_id: TenantId;
  user_id: UserId;
  code_hmac: string;
  created_at: number;
  used_at: number | null;
}

interface RecoveryCodesLeft {
  readonly remaining: number;
  /** Epoch milliseconds; undefined: the person has never made any. */
  readonly madeAtMs: number | undefined;
}

/** Makes these the codes of a person; those before are gone. The caller holds the person's row. */
export async function replaceRecoveryCodes(queries: Queries, tenant: TenantId, user: UserId, hmacs: readonly string[]): Promise<void> {
  await queries.deleteFrom('recovery_codes').where('tenant_id', '=', tenant).where('user_id', '=', user).execute();
  await queries
    .insertInto('recovery_codes')
    .values(hmacs.map((hmac) => ({ tenant_id: tenant, user_id: user, code_hmac: hmac, created_at: databaseNowMs, used_at: null })))
    .execute();
}

/** Uses a code up: true for the first who presents it, and for nobody else. Nobody's code is looked for in the same way. */
export async function useRecoveryCode(queries: Queries, tenant: TenantId, user: UserId, hmac: string): Promise<boolean> {
  const rows = await queries
    .updateTable('recovery_codes')
    .set({ used_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('code_hmac', '=', hmac)
    .where('used_at', 'is', null)
    .returning('code_hmac')
    .execute();
  return rows.length === 1;
}

/** How many codes a person has left, and since when. */
export async function countRecoveryCodes(queries: Queries, tenant: TenantId, user: UserId): Promise<RecoveryCodesLeft> {
  const rows = await queries
    .selectFrom('recovery_codes')
    .select(['created_at', 'used_at'])
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .execute();
  return { remaining: rows.filter((row) => row.used_at === null).length, madeAtMs: rows[0]?.created_at };
}
