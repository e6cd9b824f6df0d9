// Signing keys of a tenant: per use and algorithm one `next` (published, not used), one `current`, and retired ones kept for verification.
import { sql } from 'kysely';
import type { TenantId } from '../domain/ids.ts';
import type { Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';

export interface SigningKeyTable {
  tenant_id: TenantId;
  kid: string;
  use: string;
  alg: string;
  state: string;
  /** PKCS#8 DER under the master key. */
  private_key_encrypted: string;
  public_jwk: string;
  /** PEM, for SAML keys. */
  certificate: string | null;
  created_at: number;
  activated_at: number | null;
  retired_at: number | null;
}

export type NewSigningKey = Pick<SigningKeyTable, 'kid' | 'use' | 'alg' | 'state' | 'private_key_encrypted' | 'public_jwk' | 'certificate'>;

export async function insertSigningKey(queries: Queries, tenant: TenantId, key: NewSigningKey): Promise<void> {
  await queries
    .insertInto('signing_keys')
    .values({
      tenant_id: tenant,
      ...key,
      created_at: databaseNowMs,
      activated_at: key.state === 'current' ? databaseNowMs : null,
      retired_at: null,
    })
    .execute();
}

export async function listSigningKeys(queries: Queries, tenant: TenantId): Promise<readonly SigningKeyTable[]> {
  return queries.selectFrom('signing_keys').selectAll().where('tenant_id', '=', tenant).orderBy('created_at').orderBy('kid').execute();
}

/** Inserts a key unless the tenant has one of that use, algorithm and state (a partial unique index decides). */
export async function insertMissingSigningKey(queries: Queries, tenant: TenantId, key: NewSigningKey): Promise<void> {
  await queries
    .insertInto('signing_keys')
    .values({
      tenant_id: tenant,
      ...key,
      created_at: databaseNowMs,
      activated_at: key.state === 'current' ? databaseNowMs : null,
      retired_at: null,
    })
    .onConflict((on) => on.doNothing())
    .execute();
}

/** Retires the current key, makes the next one current and stores a fresh next of the same use; false when `from` is not current any more. */
export async function promoteSigningKey(
  queries: Queries,
  tenant: TenantId,
  step: { readonly from: string; readonly to: string; readonly fresh: NewSigningKey },
): Promise<boolean> {
  const retired = await queries
    .updateTable('signing_keys')
    .set({ state: 'retired', retired_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('kid', '=', step.from)
    .where('use', '=', step.fresh.use)
    .where('state', '=', 'current')
    .returning('kid')
    .execute();
  if (retired.length !== 1) return false;
  await queries
    .updateTable('signing_keys')
    .set({ state: 'current', activated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('kid', '=', step.to)
    .where('state', '=', 'next')
    .execute();
  await insertSigningKey(queries, tenant, step.fresh);
  return true;
}

/** Deletes OIDC keys retired longer than `keptSeconds` ago: no token they signed can be alive. Gives their kids. */
export async function deleteRetiredSigningKeys(queries: Queries, tenant: TenantId, keptSeconds: number): Promise<readonly string[]> {
  const rows = await queries
    .deleteFrom('signing_keys')
    .where('tenant_id', '=', tenant)
    .where('use', '=', 'oidc')
    .where('state', '=', 'retired')
    .where('retired_at', '<', sql<number>`${databaseNowMs} - ${keptSeconds * 1000}`)
    .returning('kid')
    .execute();
  return rows.map((row) => row.kid);
}
