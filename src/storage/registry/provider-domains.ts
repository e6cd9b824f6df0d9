// Domains proven to be a provider's to answer for. A domain is one provider's in a tenant, which is a constraint; a proof goes with its
// provider, and when the provider no longer names the domain.
import type { IdentityProviderId, TenantId } from '../../domain/ids.ts';
import type { IdentityProvider } from '../../domain/sign-in/identity-provider.ts';
import type { ConfigCache } from '../engine/config/config-cache.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface ProviderDomainTable {
  tenant_id: TenantId;
  domain: string;
  provider_id: IdentityProviderId;
  proven_at: number;
}

export type ProvenDomain = Readonly<ProviderDomainTable>;

/** Every proven domain of a tenant. */
export async function listProvenDomains(queries: Queries, tenant: TenantId): Promise<readonly ProvenDomain[]> {
  return queries.selectFrom('provider_domains').selectAll().where('tenant_id', '=', tenant).orderBy('domain').execute();
}

/** The same from memory where nothing changed. */
export const listCachedDomains = ({ get }: ConfigCache, tenant: TenantId): Promise<readonly ProvenDomain[]> =>
  get(tenant, 'provider-domains', (queries) => listProvenDomains(queries, tenant));

/** True when the domain is proven to be this provider's. */
export async function isProvenDomain(queries: Queries, tenant: TenantId, domain: string, provider: IdentityProviderId): Promise<boolean> {
  const row = await queries
    .selectFrom('provider_domains')
    .select('domain')
    .where('tenant_id', '=', tenant)
    .where('domain', '=', domain)
    .where('provider_id', '=', provider)
    .executeTakeFirst();
  return row !== undefined;
}

/** Keeps a proof. `known`: it was kept before; `taken`: the domain is another provider's. */
export async function insertProvenDomain(
  queries: Queries,
  tenant: TenantId,
  domain: string,
  provider: IdentityProviderId,
): Promise<'proven' | 'known' | 'taken'> {
  const rows = await queries
    .insertInto('provider_domains')
    .values({ tenant_id: tenant, domain, provider_id: provider, proven_at: databaseNowMs })
    .onConflict((on) => on.columns(['tenant_id', 'domain']).doNothing())
    .returning('domain')
    .execute();
  if (rows.length === 1) return 'proven';
  return (await isProvenDomain(queries, tenant, domain, provider)) ? 'known' : 'taken';
}

/** Forgets a proof; false when there was none. */
export async function deleteProvenDomain(
  queries: Queries,
  tenant: TenantId,
  domain: string,
  provider: IdentityProviderId,
): Promise<boolean> {
  const rows = await queries
    .deleteFrom('provider_domains')
    .where('tenant_id', '=', tenant)
    .where('domain', '=', domain)
    .where('provider_id', '=', provider)
    .returning('domain')
    .execute();
  return rows.length === 1;
}

/** Forgets the proofs of domains that a provider no longer names. */
export async function dropUnnamedDomains(queries: Queries, tenant: TenantId, { id, domains }: IdentityProvider): Promise<void> {
  const proofs = queries.deleteFrom('provider_domains').where('tenant_id', '=', tenant).where('provider_id', '=', id);
  await (domains.length === 0 ? proofs : proofs.where('domain', 'not in', domains)).execute();
}
