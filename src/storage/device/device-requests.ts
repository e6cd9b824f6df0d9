// The replay set of signed requests (storage rule R2): one row per used request, by the SHA-256 of the bytes it signed.
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { statement } from '../engine/statement.ts';

export interface DeviceRequestTable {
  tenant_id: TenantId;
  digest: string;
  expires_at: number;
}

const insert = statement((queries, values: { readonly tenant: TenantId; readonly digest: string; readonly keptMs: number }) =>
  queries
    .insertInto('device_requests')
    .values({ tenant_id: values.tenant, digest: values.digest, expires_at: sql<number>`gatehouse_now_ms() + ${values.keptMs}` })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Consumes a signed request: true the first time, false for a replay. `keptMs` must cover the whole time it would be in the skew window. */
export async function consumeSignedRequest(queries: Queries, tenant: TenantId, digest: string, keptMs: number): Promise<boolean> {
  const { numAffectedRows } = await insert(queries, { tenant, digest, keptMs });
  return numAffectedRows === 1n;
}
