// The key rings of tenants, opened on first use and kept like configuration. Creation and rotation of OIDC keys.

import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { generateSigningKey, type KeyRing, openKeyRing } from '../crypto/key-ring.ts';
import type { SigningAlg } from '../domain/client/client.ts';
import type { TenantId } from '../domain/ids.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import { publishedAgeMsMax } from '../storage/engine/config/config-pulse.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertSigningKey, listSigningKeys } from '../storage/registry/signing-keys.ts';

export interface KeyRings {
  readonly of: (tenant: TenantId) => Promise<KeyRing>;
  readonly peek: (tenant: TenantId) => KeyRing | undefined;
}

const cacheKey = 'key-ring';

export function createKeyRings(cache: ConfigCache, encryption: KeyEncryption): KeyRings {
  return {
    // Keys alone permit nothing: who signs or verifies with them has asked for the tenant and the client first.
    of: (tenant) =>
      cache.get(
        tenant,
        cacheKey,
        async (queries) => openKeyRing(tenant, await listSigningKeys(queries, tenant), encryption),
        publishedAgeMsMax,
      ),
    peek: (tenant) => cache.peek<KeyRing>(tenant, cacheKey)?.value,
  };
}

/** Algorithms every tenant has keys for from its creation: ID tokens are RS256 by default, access tokens ES256. */
export const initialAlgs: readonly SigningAlg[] = ['ES256', 'RS256'];

export interface KeyPair {
  readonly current: Awaited<ReturnType<typeof generateSigningKey>>;
  readonly next: Awaited<ReturnType<typeof generateSigningKey>>;
}

/** Makes the current and next key of each algorithm. Slow (RSA): call it outside a transaction. */
export async function generateKeyPairs(
  tenant: TenantId,
  algs: readonly SigningAlg[],
  encryption: KeyEncryption,
): Promise<readonly KeyPair[]> {
  return Promise.all(
    algs.map(async (alg) => {
      const [current, next] = await Promise.all([
        generateSigningKey(tenant, alg, 'current', encryption),
        generateSigningKey(tenant, alg, 'next', encryption),
      ]);
      return { current, next };
    }),
  );
}

export async function insertKeyPairs(queries: Queries, tenant: TenantId, pairs: readonly KeyPair[]): Promise<void> {
  for (const { current, next } of pairs) {
    await insertSigningKey(queries, tenant, { ...current, certificate: null });
    await insertSigningKey(queries, tenant, { ...next, certificate: null });
  }
}
