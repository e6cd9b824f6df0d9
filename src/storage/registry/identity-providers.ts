// Other providers people may sign in with, as those who sign in read them. Their rows are those of their kind. A tenant's own are few, and
// remembered together; those of its customers may be as many as there are customers, and each is asked for by itself.
import { type RawBuilder, sql } from 'kysely';
import { providerAliasCharsMax } from '../../contract/limits.ts';
import type { IdentityProviderId, TenantId } from '../../domain/ids.ts';
import { type IdentityProvider, identityProviderKind } from '../../domain/sign-in/identity-provider.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { ConfigCache } from '../engine/config/config-cache.ts';
import type { Queries } from '../engine/database.ts';
import { rowsOf } from './kind-rows.ts';

const rows = rowsOf<(typeof identityProviderKind)['fields'], IdentityProviderId>(identityProviderKind);
/** More than a tenant may have of its own. */
const allRows = 1000;

/** Those that no organisation names. */
const isTenants: RawBuilder<boolean> = sql<boolean>`NOT EXISTS (SELECT 1 FROM organization_providers AS o
  WHERE o.tenant_id = identity_providers.tenant_id AND o.alias = identity_providers.alias)`;

/** The tenant's own providers, which are nobody's among its customers, from memory where nothing changed. */
export const listTenantProviders = (cache: ConfigCache, tenant: TenantId): Promise<readonly IdentityProvider[]> =>
  cache.get(tenant, 'identity-providers', (queries) => rows.page(queries, tenant, { after: '', limit: allRows, where: isTenants }));

/** How many of its own a tenant has, at most `limit`. */
export const countTenantProviders = (queries: Queries, tenant: TenantId, limit: number): Promise<number> =>
  rows.count(queries, tenant, limit, isTenants);

type Within = Pick<Tenant, 'id' | 'organizations'>;

/** The provider of an alias, the tenant's own or a customer's. */
export async function findProviderByAlias(cache: ConfigCache, tenant: Within, alias: string): Promise<IdentityProvider | undefined> {
  if (alias.length > providerAliasCharsMax) return undefined; // what strangers ask for is remembered, found or not
  const own = (await listTenantProviders(cache, tenant.id)).find((one) => one.alias === alias);
  if (own !== undefined || !tenant.organizations.exist) return own;
  return cache.get(tenant.id, `customer-provider:${alias}`, (queries) => rows.findBy(queries, tenant.id, 'alias', alias));
}

/** The same by its id. */
export async function findProviderById(cache: ConfigCache, tenant: Within, id: string): Promise<IdentityProvider | undefined> {
  const own = (await listTenantProviders(cache, tenant.id)).find((one) => one.id === id);
  if (own !== undefined || !tenant.organizations.exist) return own;
  return cache.get(tenant.id, `customer-provider-of-id:${id}`, (queries) => rows.find(queries, tenant.id, id));
}

/** Those of these aliases, in the order in which they were made. */
export async function listProvidersOfAliases(
  queries: Queries,
  tenant: TenantId,
  aliases: readonly string[],
): Promise<readonly IdentityProvider[]> {
  if (aliases.length === 0) return [];
  const found = await rows.findAny(queries, tenant, { ids: [], key: 'alias', values: aliases });
  return found.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/**
 * The enabled ones whose assertions for other applications a tenant takes, whosever they are, from memory where nothing changed.
 * @param ageMsMax see ConfigCache
 */
export const listCachedCrossApp = (cache: ConfigCache, tenant: TenantId, ageMsMax?: number): Promise<readonly IdentityProvider[]> =>
  cache.get(
    tenant,
    'cross-app-providers',
    (queries) => rows.page(queries, tenant, { after: '', limit: allRows, where: sql<boolean>`cross_app = 1 AND enabled = 1` }),
    ageMsMax,
  );

/** The first of these aliases that no provider has. */
export async function findUnknownAlias(queries: Queries, tenant: TenantId, aliases: readonly string[]): Promise<string | undefined> {
  const known = new Set((await listProvidersOfAliases(queries, tenant, aliases)).map(({ alias }) => alias));
  return aliases.find((alias) => !known.has(alias));
}

/** Those of these aliases that enabled providers have. */
export const listEnabledAliases = async (queries: Queries, tenant: TenantId, aliases: readonly string[]): Promise<readonly string[]> =>
  (await listProvidersOfAliases(queries, tenant, aliases)).flatMap(({ alias, enabled }) => (enabled ? [alias] : []));

export const findIdentityProvider = rows.find;

/** The same, others who hold it waiting until the transaction ends. */
export const holdIdentityProvider = rows.hold;
