// The provider that answers for an address (design 14, 2; design 19): its domain is proven to be that provider's, or an organisation's whose
// provider it is. The same for everybody who has the domain in their address, known here or not.
import type { Organization } from '../../domain/organizations/organization.ts';
import { domainOf } from '../../domain/sign-in/domain-proof.ts';
import type { IdentityProvider } from '../../domain/sign-in/identity-provider.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import { findProviderById } from '../../storage/registry/identity-providers.ts';
import { listOwnProviders } from '../../storage/registry/organization-providers.ts';
import { findSignInOrganization } from '../../storage/registry/organizations.ts';
import { findDomainOwner, findProviderOfDomain } from '../../storage/registry/proven-domains.ts';

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
  const ofOrganization = async ({ id, identityProviders }: Organization): Promise<readonly IdentityProvider[]> => {
    const own = await listOwnProviders(services.cache, tenant.id, id);
    return identityProviders.flatMap((alias) => own.find((one) => one.alias === alias) ?? []);
  };
  const owner = domain === undefined || !tenant.organizations.exist ? undefined : await ownerOf(services, tenant, domain);
  if (asked?.signIn === 'own_providers') {
    const [first, ...others] = await ofOrganization(asked);
    const isMeant = first !== undefined && (owner?.id === asked.id || others.length === 0);
    return isMeant ? { provider: first, isOnly: true } : undefined;
  }
  const [provider] = owner === undefined ? [] : await ofOrganization(owner);
  if (owner !== undefined && provider !== undefined)
    return { provider, isOnly: owner.signIn === 'own_providers' && (asked === undefined || asked.id === owner.id) };
  const proven = domain && (await findProviderOfDomain(services.cache, tenant.id, domain));
  if (!domain || !proven) return undefined;
  const known = await findProviderById(services.cache, tenant, proven);
  return known?.enabled === true && known.domains.includes(domain) ? { provider: known, isOnly: true } : undefined;
}

async function ownerOf({ database }: Parts<'database'>, { id: tenant }: Tenant, domain: string): Promise<Organization | undefined> {
  return database.read(tenant, async (queries) => {
    const id = await findDomainOwner(queries, tenant, 'organization', domain);
    return id === undefined ? undefined : findSignInOrganization(queries, tenant, id);
  });
}
