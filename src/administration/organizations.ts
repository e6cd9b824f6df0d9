// What an organisation names beside its fields: roles and providers that are there, each provider being one organisation's; and what follows
// from a change: whose its providers are, and that proofs of domains it no longer names are forgotten.

import { organizationProvidersMax } from '../contract/organization-limits.ts';
import type { TenantId } from '../domain/ids.ts';
import { fullFault, type Kind, type KindFault } from '../domain/kind.ts';
import { capabilitiesByInbound } from '../domain/mappings/inbound-targets.ts';
import type { Organization } from '../domain/organizations/organization.ts';
import { powerOfManagers } from '../domain/organizations/organization-role.ts';
import type { Capability } from '../domain/people/capabilities.ts';
import type { Queries } from '../storage/engine/database.ts';
import { dialectOf } from '../storage/engine/rows/id-list.ts';
import { ValueTaken } from '../storage/engine/unique-violation.ts';
import { listManagingRoles } from '../storage/organizations/managers.ts';
import { holdOrganization } from '../storage/organizations/organization-hold.ts';
import { findUnknownRole } from '../storage/people/organization-members.ts';
import { readMappings } from '../storage/registry/extending/mapping-tables.ts';
import { countTenantProviders, findUnknownAlias, listProvidersOfAliases } from '../storage/registry/identity-providers.ts';
import {
  countOwnedProviders,
  findProviderOwner,
  listProviderOwners,
  setOrganizationProviders,
} from '../storage/registry/organization-providers.ts';
import { findOrganization } from '../storage/registry/organizations.ts';
import { dropUnnamedDomains } from '../storage/registry/proven-domains.ts';
import { lockTenantSettings } from '../storage/registry/tenants.ts';
import { missingImage } from './appearance/images.ts';
import type { Writing } from './kind-effects.ts';
import { newIn } from './organizations/own-providers.ts';

type Named = Pick<Organization, 'branding' | 'defaultRoles' | 'identityProviders'>;

/** What it names newly must be there; what it named may have gone since. */
export async function namedFault(
  queries: Queries,
  tenant: TenantId,
  values: Named,
  before: (Named & { readonly id: string }) | undefined,
): Promise<KindFault | undefined> {
  const role = await findUnknownRole(queries, tenant, newIn(values.defaultRoles, before?.defaultRoles));
  if (role !== undefined) return { field: 'default_roles', text: `names no role of organisations: ${role}` };
  const { branding } = values;
  const picture = branding.logo === before?.branding.logo ? undefined : await missingImage(queries, tenant, branding);
  if (picture !== undefined) return { field: 'branding', text: `has a mistake in ${picture.field}: it ${picture.text}` };
  const aliases = newIn(values.identityProviders, before?.identityProviders);
  if (aliases.length === 0) return undefined;
  const alias = await findUnknownAlias(queries, tenant, aliases);
  if (alias !== undefined) return { field: 'identity_providers', text: `names no provider: ${alias}` };
  const owners = await listProviderOwners(queries, tenant, aliases);
  const taken = aliases.find((one) => owners.has(one) && owners.get(one) !== before?.id);
  if (taken !== undefined) return { field: 'identity_providers', text: `${taken} is another organisation's.`, is: 'taken' };
  const fresh = aliases.filter((one) => !owners.has(one)).length;
  if (fresh === 0) return undefined;
  await lockTenantSettings(queries, dialectOf(queries), tenant);
  const count = await countOwnedProviders(queries, tenant, organizationProvidersMax);
  return count + fresh > organizationProvidersMax ? fullFault(atMostOwned('identity_providers')) : undefined;
}

const atMostOwned = (field: string) => ({ count: organizationProvidersMax, field, of: 'providers of organisations' });

/** The tenant's own and those of its customers are counted apart: a customer who connects takes no room from the tenant. */
export async function roomForProvider(
  queries: Queries,
  { tenant, organization }: Writing['acting'],
  { alias }: { readonly alias: string },
  atMost: NonNullable<Kind['atMost']>,
): Promise<KindFault | undefined> {
  const owner = await findProviderOwner(queries, tenant.id, alias);
  if (owner !== undefined) return undefined; // its name is counted already
  if (organization !== undefined)
    return (await countOwnedProviders(queries, tenant.id, organizationProvidersMax)) >= organizationProvidersMax
      ? fullFault(atMostOwned('alias'))
      : undefined;
  return (await countTenantProviders(queries, tenant.id, atMost.count)) >= atMost.count ? fullFault(atMost) : undefined;
}

/** What roles hand out: whoever gives one that manages may do what managers may. */
export async function capabilitiesByRoles(queries: Queries, tenant: TenantId, roles: readonly string[]): Promise<readonly Capability[]> {
  if (roles.length === 0) return [];
  const managing = await listManagingRoles(queries, tenant);
  return roles.some((role) => managing.has(role)) ? powerOfManagers : [];
}

/** What an organisation hands out to whoever comes by itself, and by providers that it names newly. */
export async function capabilitiesByDefault(
  queries: Queries,
  tenant: TenantId,
  { defaultRoles, identityProviders }: Pick<Named, 'defaultRoles' | 'identityProviders'>,
): Promise<readonly Capability[]> {
  const owners = await listProviderOwners(queries, tenant, identityProviders);
  const fresh = identityProviders.filter((alias) => !owners.has(alias));
  const byRules = fresh.length === 0 ? [] : await capabilitiesByRules(queries, tenant, fresh);
  return [...(await capabilitiesByRoles(queries, tenant, defaultRoles)), ...byRules];
}

/** What rules hand out to people of these providers: their own, and the tenant's table. */
export async function capabilitiesByRules(queries: Queries, tenant: TenantId, aliases: readonly string[]): Promise<readonly Capability[]> {
  const { inbound } = await readMappings(queries, tenant);
  const providers = await listProvidersOfAliases(queries, tenant, aliases);
  return capabilitiesByInbound([...inbound, ...providers.flatMap(({ mappings }) => mappings)]);
}

/** The same of one that is known by its id: whoever says who comes, by a directory, a link or a provider, lets them. */
export async function capabilitiesOfNewcomers(
  queries: Queries,
  tenant: TenantId,
  organization: string | undefined,
): Promise<readonly Capability[]> {
  const found = organization === undefined ? undefined : await findOrganization(queries, tenant, organization);
  return found === undefined ? [] : capabilitiesByDefault(queries, tenant, found);
}

/** Of a provider: what the customer whose own it is hands out to whoever comes by it. */
export async function capabilitiesByProvider(
  queries: Queries,
  tenant: TenantId,
  { alias }: { readonly alias: string },
): Promise<readonly Capability[]> {
  const owner = await findProviderOwner(queries, tenant, alias);
  if (owner === undefined) return [];
  return [...(await capabilitiesOfNewcomers(queries, tenant, owner)), ...(await capabilitiesByRules(queries, tenant, [alias]))];
}

export async function addedOrganization(queries: Queries, { acting }: Writing, { id, identityProviders }: Organization): Promise<void> {
  if (identityProviders.length > 0) await setOrganizationProviders(queries, acting.tenant.id, id, identityProviders);
}

export async function changedOrganization(queries: Queries, { acting }: Writing, before: Organization, after: Organization): Promise<void> {
  const { id } = after;
  const { id: tenant } = acting.tenant;
  if (isOther(before.domains, after.domains)) await dropUnnamedDomains(queries, tenant, { kind: 'organization', id }, after.domains);
  if (isOther(before.identityProviders, after.identityProviders))
    await setOrganizationProviders(queries, tenant, id, after.identityProviders);
}

const isOther = (before: readonly string[], after: readonly string[]): boolean => JSON.stringify(before) !== JSON.stringify(after);

type Bound = { readonly organization: string | undefined };

/** The organisation that a service provider is bound to newly must be there. Whoever deletes it at this moment is waited for, and waits. */
export async function boundProviderFault(
  queries: Queries,
  tenant: TenantId,
  values: Bound,
  before: Bound | undefined,
): Promise<KindFault | undefined> {
  if (await isThere(queries, tenant, values, before)) return undefined;
  return { field: 'organization', text: 'No such organisation.', is: 'sentence' };
}

/** The same for whoever was told so before. @throws ValueTaken where it has gone since */
export async function holdBound(queries: Queries, tenant: TenantId, values: Bound, before: Bound | undefined): Promise<void> {
  if (!(await isThere(queries, tenant, values, before))) throw new ValueTaken('organization');
}

const isThere = async (queries: Queries, tenant: TenantId, { organization }: Bound, before: Bound | undefined): Promise<boolean> =>
  organization === undefined || organization === before?.organization || (await holdOrganization(queries, tenant, organization));
