// How long an access token for a resource lives: the resource may say so itself, else the tenant does.
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import { findCachedResource } from '../storage/registry/clients/resources.ts';

/** Seconds; the resource is configuration and comes from the cache. */
export async function accessTokenLifetimeSeconds(
  { cache }: { readonly cache: ConfigCache },
  tenant: Tenant,
  resource: string,
): Promise<number> {
  const registered = await findCachedResource(cache, tenant.id, resource);
  return registered?.accessTokenLifetimeSeconds ?? tenant.settings.access_token_lifetime_seconds;
}
