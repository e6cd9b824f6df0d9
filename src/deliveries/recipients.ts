// Whom a delivery is for. Memory is asked first; what it does not know, or believes disabled, may have been made or enabled a moment ago
// by another thread or node, so the database says before anything is dropped or put off.
import type { Client } from '../domain/client/client.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import type { Database } from '../storage/engine/database.ts';
import { findCachedClient, findClient } from '../storage/registry/clients/clients.ts';
import type { TenantDirectory } from '../storage/registry/tenant-directory.ts';

export interface Registry {
  readonly database: Database;
  readonly cache: ConfigCache;
  readonly tenants: TenantDirectory;
}

export async function recipientTenant({ tenants }: Pick<Registry, 'tenants'>, id: TenantId): Promise<Tenant | undefined> {
  const known = await tenants.byId(id);
  return known?.enabled === true ? known : tenants.reload(id);
}

export const recipientClient = (
  { database, cache }: Omit<Registry, 'tenants'>,
  tenant: TenantId,
  id: string,
): Promise<Client | undefined> =>
  enabledOr(findCachedClient(cache, tenant, id), () => database.read(tenant, (queries) => findClient(queries, tenant, id)));

/** What is remembered where it is enabled, else what the database says. */
export async function enabledOr<T extends { readonly enabled: boolean }>(
  remembered: Promise<T | undefined>,
  read: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const known = await remembered;
  return known?.enabled === true ? known : read();
}
