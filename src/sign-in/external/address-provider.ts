// The provider that answers for an address (design 14, 2): its domain is proven to be that provider's. The same for everybody who has
// the domain in their address, known here or not.
import { domainOf } from '../../domain/sign-in/domain-proof.ts';
import type { IdentityProvider } from '../../domain/sign-in/identity-provider.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import { listCachedProviders } from '../../storage/registry/identity-providers.ts';
import { listCachedDomains } from '../../storage/registry/provider-domains.ts';

/** Undefined for what is no address, and for addresses nobody answers for. */
export async function findProviderOfAddress(
  { cache }: Parts<'cache'>,
  { id: tenant }: Tenant,
  identifier: string,
): Promise<IdentityProvider | undefined> {
  const domain = domainOf(identifier);
  if (domain === undefined) return undefined;
  const proof = (await listCachedDomains(cache, tenant)).find((one) => one.domain === domain);
  if (proof === undefined) return undefined;
  return (await listCachedProviders(cache, tenant)).find(
    ({ id, enabled, domains }) => id === proof.provider_id && enabled && domains.includes(domain),
  );
}
