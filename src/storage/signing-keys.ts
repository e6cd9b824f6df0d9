// Signing keys of a tenant: per use and algorithm one `next` (published, not used), one `current`, and retired ones kept for verification.
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
