// Keys of algorithms a tenant has none of yet: EdDSA comes into being when a client or the tenant first asks for it.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import type { KeyRing } from '../crypto/key-ring.ts';
import type { SigningAlg } from '../domain/client/client.ts';
import type { TenantId } from '../domain/ids.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import { bumpConfigEpoch } from '../storage/engine/config/config-changes.ts';
import { listSigningKeys } from '../storage/registry/signing-keys.ts';
import { generateKeyPairs, insertKeyPairs, type KeyRings } from './key-rings.ts';

export interface KeySupply {
  readonly cache: ConfigCache;
  readonly encryption: KeyEncryption;
  readonly keyRings: KeyRings;
}

/** The tenant's ring with a current key for each algorithm; makes and publishes the keys that are missing. */
export async function ringWith(supply: KeySupply, tenant: TenantId, algs: readonly SigningAlg[]): Promise<KeyRing> {
  const ring = await supply.keyRings.of(tenant);
  const missing = algs.filter((alg) => ring.signing(alg) === undefined);
  if (missing.length === 0) return ring;
  const pairs = await generateKeyPairs(tenant, [...new Set(missing)], supply.encryption);
  await supply.cache.write(tenant, async (queries) => {
    await bumpConfigEpoch(queries, tenant); // locks the tenant's epoch, so two nodes do this one after the other
    const stored = await listSigningKeys(queries, tenant);
    const absent = pairs.filter(
      ({ current }) => !stored.some((key) => key.use === 'oidc' && key.alg === current.alg && key.state === 'current'),
    );
    await insertKeyPairs(queries, tenant, absent);
  });
  return supply.keyRings.of(tenant);
}
