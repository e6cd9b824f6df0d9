// The random secret of a tenant, opened once and kept like configuration. Derive a key per purpose from it; never use it bare.
import { hkdfSync } from 'node:crypto';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { tenantSecretPurpose } from '../crypto/sealed-columns.ts';
import type { TenantId } from '../domain/ids.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import { findTenantById } from '../storage/registry/tenants.ts';

/** A 256-bit key of the tenant for one purpose, e.g. `scim-cursor`. The same on every node. */
export async function loadTenantKey(cache: ConfigCache, encryption: KeyEncryption, tenant: TenantId, purpose: string): Promise<Buffer> {
  return cache.get(tenant, `tenant-key:${purpose}`, async (queries) => {
    const row = await findTenantById(queries, tenant);
    if (row === undefined) throw new Error(`tenant ${tenant} has no row`);
    const secret = encryption.decrypt(row.secret_encrypted, tenantSecretPurpose(tenant));
    return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  });
}
