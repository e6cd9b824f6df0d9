// Service providers as the protocol needs them: found by entityID or id, keys opened, kept like configuration (absent
// ones too). Called by sso.ts and postback.ts. Decides nothing about a request.
import { hash, type KeyObject } from 'node:crypto';
import type { ServiceProviderId, TenantId } from '../domain/ids.ts';
import { readRsaPublicKey } from '../domain/rsa-public-key.ts';
import type { ServiceProvider } from '../domain/saml/service-provider.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import { findServiceProvider, findServiceProviderByEntityId } from '../storage/registry/service-providers.ts';

export interface OpenProvider {
  readonly provider: ServiceProvider;
  readonly signingKeys: readonly KeyObject[];
  readonly encryptionKey: KeyObject | undefined;
}

/** The enabled provider of an entityID, or why there is none. */
export async function findEnabledProvider(
  cache: ConfigCache,
  tenant: TenantId,
  entityId: string,
): Promise<OpenProvider | 'unknown' | 'disabled'> {
  // entityIDs come from outside and may be long: the cache holds their hash.
  const found = await cache.get(tenant, `saml-entity:${hash('sha256', entityId, 'base64url')}`, async (queries) =>
    openProvider(await findServiceProviderByEntityId(queries, tenant, entityId)),
  );
  return enabledOnly(found);
}

/** The enabled provider a session was made for, or why there is none any more. */
export async function findEnabledProviderById(
  cache: ConfigCache,
  tenant: TenantId,
  id: ServiceProviderId,
): Promise<OpenProvider | 'unknown' | 'disabled'> {
  return enabledOnly(await findProviderById(cache, tenant, id));
}

/** The provider of an id, enabled or not; the id may come from outside. */
export function findProviderById(cache: ConfigCache, tenant: TenantId, id: string): Promise<OpenProvider | undefined> {
  return cache.get(tenant, `saml-provider:${hash('sha256', id, 'base64url')}`, async (queries) =>
    openProvider(await findServiceProvider(queries, tenant, id)),
  );
}

function enabledOnly(found: OpenProvider | undefined): OpenProvider | 'unknown' | 'disabled' {
  if (found === undefined) return 'unknown';
  return found.provider.enabled ? found : 'disabled';
}

function openProvider(provider: ServiceProvider | undefined): OpenProvider | undefined {
  if (provider === undefined) return undefined;
  return {
    provider,
    signingKeys: provider.signingKeys.map((pem) => openKey(pem, provider)),
    encryptionKey: provider.encryptionKey === undefined ? undefined : openKey(provider.encryptionKey, provider),
  };
}

function openKey(pem: string, provider: ServiceProvider): KeyObject {
  const reading = readRsaPublicKey(pem);
  if (!reading.ok) throw new Error(`service provider ${provider.id} has a stored key that cannot be used: ${reading.reason}`);
  return reading.key;
}
