// The secret a tenant's pairwise names derive from. Kept like configuration. Whoever holds it can link names.
import { hkdfSync } from 'node:crypto';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { tenantSecretPurpose } from '../crypto/sealed-columns.ts';
import type { TenantId } from '../domain/ids.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import { findTenantById } from '../storage/registry/tenants.ts';

/** 32 bytes, the same for the life of the tenant. */
export function pairwiseSecretOf(
  services: { readonly cache: ConfigCache; readonly encryption: KeyEncryption },
  tenant: TenantId,
): Promise<Buffer> {
  return services.cache.get(tenant, 'pairwise-secret', async (queries) => {
    const row = await findTenantById(queries, tenant);
    if (row === undefined) throw new Error(`tenant ${tenant} has no row`);
    const secret = services.encryption.decrypt(row.secret_encrypted, tenantSecretPurpose(tenant));
    return Buffer.from(hkdfSync('sha256', secret, '', 'gatehouse pairwise v1', 32));
  });
}
