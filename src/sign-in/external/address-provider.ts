// The provider that answers for an address (design 14, 2; design 19): its domain is proven to be that provider's, or an organisation's whose
// provider it is. The same for everybody who has the domain in their address, known here or not.
import type { Organization } from '../../domain/organizations/organization.ts';
import { domainOf } from '../../domain/sign-in/domain-proof.ts';
import type { IdentityProvider } from '../../domain/sign-in/identity-provider.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import { listCachedProviders } from '../../storage/registry/identity-providers.ts';
import { findSignInOrganization } from '../../storage/registry/organizations.ts';
import { findDomainOwner, listCachedDomains } from '../../storage/registry/proven-domains.ts';

interface AddressProvider {
  readonly provider: IdentityProvider;
  /** True: the address signs in there alone; administrators have their passkeys beside. */
  readonly isOnly: boolean;
}

/** Undefined for what is no address, and for addresses nobody answers for. `asked` is the organisation somebody signs in for. */
export async function findProviderOfAddress(
  services: Parts<'cache' | 'database'>,
  tenant: Tenant,
  identifier: string,
  asked: Organization | undefined,
): Promise<AddressProvider | undefined> {
  const domain = domainOf(identifier);
  const enabled = (await listCachedProviders(services.cache, tenant.id)).filter((one) => one.enabled);
  const ofOrganization = ({ identityProviders }: Organization): readonly IdentityProvider[] =>
    identityProviders.flatMap((alias) => enabled.find((one) => one.alias === alias) ?? []);
  const owner = domain === undefined || !tenant.organizations.exist ? undefined : await ownerOf(services, tenant, domain);
  if (asked?.signIn === 'own_providers') {
    const [first, ...others] = ofOrganization(asked);
    const isMeant = first !== undefined && (owner?.id === asked.id || others.length === 0);
    return isMeant ? { provider: first, isOnly: true } : undefined;
  }
  const [provider] = owner === undefined ? [] : ofOrganization(owner);
  if (owner !== undefined && provider !== undefined)
    return { provider, isOnly: owner.signIn === 'own_providers' && (asked === undefined || asked.id === owner.id) };
  const proof = domain && (await listCachedDomains(services.cache, tenant.id)).find((one) => one.domain === domain);
  if (!proof) return undefined;
  const known = enabled.find(({ id, domains }) => id === proof.ownerId && domains.includes(proof.domain));
  return known && { provider: known, isOnly: true };
}

async function ownerOf({ database }: Parts<'database'>, { id: tenant }: Tenant, domain: string): Promise<Organization | undefined> {
  return database.read(tenant, async (queries) => {
    const id = await findDomainOwner(queries, tenant, 'organization', domain);
    return id === undefined ? undefined : findSignInOrganization(queries, tenant, id);
  });
}
