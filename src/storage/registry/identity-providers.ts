// Other providers people may sign in with, as those who sign in read them. Their rows are those of their kind.
import type { IdentityProviderId, TenantId } from '../../domain/ids.ts';
import { type IdentityProvider, identityProviderKind } from '../../domain/sign-in/identity-provider.ts';
import type { ConfigCache } from '../engine/config/config-cache.ts';
import type { Queries } from '../engine/database.ts';
import { rowsOf } from './kind-rows.ts';

const rows = rowsOf<(typeof identityProviderKind)['fields'], IdentityProviderId>(identityProviderKind);
/** More than a tenant may have. */
const allRows = 1000;

/**
 * Every provider of a tenant, from memory where nothing changed.
 * @param ageMsMax see ConfigCache
 */
export const listCachedProviders = (cache: ConfigCache, tenant: TenantId, ageMsMax?: number): Promise<readonly IdentityProvider[]> =>
  cache.get(tenant, 'identity-providers', (queries) => rows.page(queries, tenant, { after: '', limit: allRows }), ageMsMax);

/** The first of these aliases that no provider has. */
export async function findUnknownAlias(queries: Queries, tenant: TenantId, aliases: readonly string[]): Promise<string | undefined> {
  const found = await rows.findAny(queries, tenant, { ids: [], key: 'alias', values: aliases });
  const known = new Set(found.map(({ alias }) => alias));
  return aliases.find((alias) => !known.has(alias));
}

/** Those of these aliases that enabled providers have. */
export const listEnabledAliases = async (queries: Queries, tenant: TenantId, aliases: readonly string[]): Promise<readonly string[]> =>
  (await rows.findAny(queries, tenant, { ids: [], key: 'alias', values: aliases })).flatMap(({ alias, enabled }) =>
    enabled ? [alias] : [],
  );

export const findIdentityProvider = rows.find;

/** The same, others who hold it waiting until the transaction ends. */
export const holdIdentityProvider = rows.hold;
