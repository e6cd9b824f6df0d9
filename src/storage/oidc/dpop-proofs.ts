// The replay set of DPoP proofs (RFC 9449 11.1): one row per proof for as long as it would be accepted (storage rule R2).
import { sql } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface DpopProofTable {
  tenant_id: TenantId;
  /** SHA-256 over key thumbprint, jti and target. */
  proof_hash: string;
  expires_at: number;
}

/** Remembers a proof. Gives false when it was used before. */
export async function insertDpopProof(queries: Queries, tenant: TenantId, proofHash: string, lifetimeSeconds: number): Promise<boolean> {
  const rows = await queries
    .insertInto('dpop_proofs')
    .values({ tenant_id: tenant, proof_hash: proofHash, expires_at: sql<number>`${databaseNowMs} + ${lifetimeSeconds * 1000}` })
    .onConflict((on) => on.doNothing())
    .returning('proof_hash')
    .execute();
  return rows.length === 1;
}
