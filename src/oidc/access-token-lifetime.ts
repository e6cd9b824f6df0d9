// How long an access token for a resource lives: the resource may say so itself, else the tenant does.
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { ConfigCache } from '../storage/engine/config-cache.ts';

/** Seconds; the resource is configuration and comes from the cache. */
export async function accessTokenLifetimeSeconds(
  { cache }: { readonly cache: ConfigCache },
  tenant: Tenant,
  resource: string,
): Promise<number> {
  const own = await cache.get(tenant.id, `resource-lifetime:${resource}`, async (queries) => {
    const row = await queries
      .selectFrom('resources')
      .select('access_token_lifetime_seconds')
      .where('tenant_id', '=', tenant.id)
      .where('identifier', '=', resource)
      .executeTakeFirst();
    return row?.access_token_lifetime_seconds ?? undefined;
  });
  return own ?? tenant.settings.access_token_lifetime_seconds;
}
