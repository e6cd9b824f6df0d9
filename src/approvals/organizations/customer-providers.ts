// Providers that are an organisation's own (design 19), and for which addresses they count: for those of domains that are proven to be that
// organisation's, or its own where no organisation has them. Others make no account by it and link none.

import { isOwned } from '../../domain/organizations/directory.ts';
import { domainOf } from '../../domain/sign-in/domain-proof.ts';
import type { ExternalIdentity } from '../../domain/sign-in/external-identity.ts';
import { isOfOneCompany } from '../../domain/sign-in/identity-provider.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { findMemberOf } from '../../storage/people/directories/scim-members.ts';
import type { UserRow } from '../../storage/people/user-rows.ts';
import { findIdentityProvider } from '../../storage/registry/identity-providers.ts';
import { findProviderOwner } from '../../storage/registry/organization-providers.ts';
import { findDomainOwner } from '../../storage/registry/proven-domains.ts';

/** The organisation whose own provider a provider is. */
export async function ownerOfProvider(queries: Queries, tenant: Tenant, id: ExternalIdentity['providerId']): Promise<string | undefined> {
  if (!tenant.organizations.exist) return undefined;
  const provider = await findIdentityProvider(queries, tenant.id, id);
  return provider && (await findProviderOwner(queries, tenant.id, provider.alias));
}

type Asked = Pick<ExternalIdentity, 'providerId' | 'email'>;

/** False for an address that is not of the organisation whose own provider names it. */
export async function countsForAddress(queries: Queries, tenant: Tenant, { providerId, email }: Asked): Promise<boolean> {
  const owner = await ownerOfProvider(queries, tenant, providerId);
  if (owner === undefined) return true;
  const domain = email === undefined ? undefined : domainOf(email);
  return domain !== undefined && (await isDomainOf(queries, tenant, domain, { providerId, owner }));
}

/** Whether a domain is proven to be a provider's to speak for; a domain of an organisation is for that one's own providers alone. */
export async function speaksForDomain(
  queries: Queries,
  tenant: Tenant,
  domain: string,
  providerId: ExternalIdentity['providerId'],
): Promise<boolean> {
  return isDomainOf(queries, tenant, domain, { providerId, owner: await ownerOfProvider(queries, tenant, providerId) });
}

/**
 * Whether a customer's provider speaks for somebody whom that customer's own directory made and nobody else has: that may give the account any
 * address anyway. Not one that everybody may have an account at: who had an address there once would be whoever has it now.
 */
export async function speaksForMade(
  queries: Queries,
  tenant: Tenant,
  { providerId, email, emailCounts }: Asked & Pick<ExternalIdentity, 'emailCounts'>,
  user: Pick<UserRow, 'id' | 'role'>,
): Promise<boolean> {
  const organization = await ownerOfProvider(queries, tenant, providerId);
  const domain = email === undefined ? undefined : domainOf(email);
  if (organization === undefined || domain === undefined || !emailCounts) return false;
  const provider = await findIdentityProvider(queries, tenant.id, providerId);
  if (provider === undefined || !isOfOneCompany(provider)) return false;
  if (!(await isDomainOf(queries, tenant, domain, { providerId, owner: organization }))) return false;
  const member = await findMemberOf(queries, { tenant: tenant.id, organization }, user.id);
  return member !== undefined && isOwned(user, member);
}

async function isDomainOf(
  queries: Queries,
  { id: tenant, organizations }: Tenant,
  domain: string,
  { providerId, owner }: { readonly providerId: string; readonly owner: string | undefined },
): Promise<boolean> {
  const organization = organizations.exist ? await findDomainOwner(queries, tenant, 'organization', domain) : undefined;
  if (organization !== undefined) return organization === owner;
  return (await findDomainOwner(queries, tenant, 'identity_provider', domain)) === providerId;
}
