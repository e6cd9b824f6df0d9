// Whose the providers of organisations are: a provider is one organisation's in a tenant, which is a constraint. There may be
// as many as there are customers: a sign-in asks for those of the one it is for.
import type { ExternalIdentityId, IdentityProviderId, TenantId } from '../../domain/ids.ts';
import type { IdentityProvider } from '../../domain/sign-in/identity-provider.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { ConfigCache } from '../engine/config/config-cache.ts';
import type { Queries } from '../engine/database.ts';
import { dialectOf } from '../engine/rows/id-list.ts';
import { ValueTaken } from '../engine/unique-violation.ts';
import { listProvidersOfAliases, listTenantProviders } from './identity-providers.ts';

export interface OrganizationProviderTable {
  tenant_id: TenantId;
  alias: string;
  organization_id: string;
  /** When somebody of the organisation signed in by it for a test; null: not since it is as it is. */
  tested_at: number | null;
}

/** Whose of these aliases are, by the aliases: nothing of those that are nobody's. */
export async function listProviderOwners(
  queries: Queries,
  tenant: TenantId,
  aliases: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (aliases.length === 0) return new Map();
  const rows = await queries
    .selectFrom('organization_providers')
    .select(['alias', 'organization_id'])
    .where('tenant_id', '=', tenant)
    .where('alias', 'in', aliases)
    .execute();
  return new Map(rows.map((row) => [row.alias, row.organization_id]));
}

/** The organisation whose own provider has this alias. */
export const findProviderOwner = async (queries: Queries, tenant: TenantId, alias: string): Promise<string | undefined> =>
  (await listProviderOwners(queries, tenant, [alias])).get(alias);

/** How many names of providers the organisations of a tenant have, at most `limit`. */
export async function countOwnedProviders(queries: Queries, tenant: TenantId, limit: number): Promise<number> {
  const some = queries.selectFrom('organization_providers').select('alias').where('tenant_id', '=', tenant).limit(limit).as('some');
  const { n } = await queries
    .selectFrom(some)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** The names of providers that the organisations of a tenant have, at most so many. */
export async function listAliasesOfOrganizations(queries: Queries, tenant: TenantId, limit: number): Promise<readonly string[]> {
  const rows = await queries
    .selectFrom('organization_providers')
    .select('alias')
    .where('tenant_id', '=', tenant)
    .orderBy('alias')
    .limit(limit)
    .execute();
  return rows.map(({ alias }) => alias);
}

/** The enabled providers that are an organisation's own, from memory where nothing changed. */
export async function listOwnProviders(cache: ConfigCache, tenant: TenantId, organization: string): Promise<readonly IdentityProvider[]> {
  const own = await cache.get(tenant, `providers-of-organization:${organization}`, async (queries) => {
    return listProvidersOfAliases(queries, tenant, await listOwnAliases(queries, tenant, organization));
  });
  return own.filter((one) => one.enabled);
}

/** The enabled providers that a sign-in for an organisation, or for none, may go by: no other organisation's. */
export async function listProvidersFor(
  cache: ConfigCache,
  { id, organizations }: Pick<Tenant, 'id' | 'organizations'>,
  organization: string | undefined,
): Promise<readonly IdentityProvider[]> {
  const enabled = (await listTenantProviders(cache, id)).filter((one) => one.enabled);
  if (!organizations.exist || organization === undefined) return enabled;
  return [...enabled, ...(await listOwnProviders(cache, id, organization))].sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** Whoever changes a provider of an organisation, or what the organisation says of its providers, goes one after another: its row is written first. */
export async function holdOwnerOfProvider(queries: Queries, tenant: TenantId, providerId: string): Promise<void> {
  await queries
    .updateTable('organizations')
    .set((eb) => ({ members: eb.ref('members') }))
    .where('tenant_id', '=', tenant)
    .where(
      'id',
      'in',
      (eb) =>
        eb
          .selectFrom('organization_providers as m')
          .innerJoin('identity_providers as p', (join) => join.onRef('p.tenant_id', '=', 'm.tenant_id').onRef('p.alias', '=', 'm.alias'))
          .select('m.organization_id')
          .where('m.tenant_id', '=', tenant)
          .where('p.id', '=', providerId as IdentityProviderId), // a look-up key, not yet known to be an id
    )
    .execute();
}

/** The name of an organisation whose people sign in by its own providers alone while none of them is on; its row is held. */
export async function findShutOrganization(queries: Queries, tenant: TenantId, organization: string): Promise<string | undefined> {
  const row = await queries
    .selectFrom('organizations as o')
    .select('o.name')
    .where('o.tenant_id', '=', tenant)
    .where('o.id', '=', organization)
    .where('o.sign_in', '=', 'own_providers')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('organization_providers as m')
            .innerJoin('identity_providers as p', (join) => join.onRef('p.tenant_id', '=', 'm.tenant_id').onRef('p.alias', '=', 'm.alias'))
            .select('m.alias')
            .where('m.tenant_id', '=', tenant)
            .where('m.organization_id', '=', organization)
            .where('p.enabled', '=', 1),
        ),
      ),
    )
    .executeTakeFirst();
  return row?.name;
}

/** Whoever changes one of these providers goes after this transaction, or went before it: it may not be known yet whose they are. */
export async function holdProvidersNamed(queries: Queries, tenant: TenantId, aliases: readonly string[]): Promise<void> {
  if (aliases.length === 0 || dialectOf(queries) !== 'postgres') return; // on SQLite one writes at a time
  const named = queries.selectFrom('identity_providers').select('alias').where('tenant_id', '=', tenant).where('alias', 'in', aliases);
  await named.orderBy('alias').forShare().execute();
}

/** The aliases that are an organisation's own, whether providers have them or not. */
export async function listOwnAliases(queries: Queries, tenant: TenantId, organization: string): Promise<readonly string[]> {
  const rows = await queries
    .selectFrom('organization_providers')
    .select('alias')
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization)
    .orderBy('alias')
    .execute();
  return rows.map(({ alias }) => alias);
}

/** Makes a provider an organisation's own as it is made itself, so that it is never everybody's. */
export async function giveProvider(queries: Queries, tenant: TenantId, organization: string, alias: string): Promise<void> {
  await queries
    .insertInto('organization_providers')
    .values({ tenant_id: tenant, alias, organization_id: organization, tested_at: null })
    .onConflict((on) => on.columns(['tenant_id', 'alias']).doNothing())
    .execute();
}

/** The organisations whose own providers these links are to, by the links. */
export async function findOrganizationsOfLinks(
  queries: Queries,
  tenant: TenantId,
  links: readonly ExternalIdentityId[],
): Promise<ReadonlyMap<ExternalIdentityId, string>> {
  if (links.length === 0) return new Map();
  const rows = await queries
    .selectFrom('external_identities as e')
    .innerJoin('identity_providers as p', (join) => join.onRef('p.tenant_id', '=', 'e.tenant_id').onRef('p.id', '=', 'e.provider_id'))
    .innerJoin('organization_providers as o', (join) => join.onRef('o.tenant_id', '=', 'p.tenant_id').onRef('o.alias', '=', 'p.alias'))
    .select(['e.id', 'o.organization_id'])
    .where('e.tenant_id', '=', tenant)
    .where('e.id', 'in', links)
    .execute();
  return new Map(rows.map((row) => [row.id, row.organization_id]));
}

/** Makes these, and no others, the providers of an organisation. @throws ValueTaken when one is another's */
export async function setOrganizationProviders(
  queries: Queries,
  tenant: TenantId,
  organization: string,
  aliases: readonly string[],
): Promise<void> {
  const own = queries.deleteFrom('organization_providers').where('tenant_id', '=', tenant).where('organization_id', '=', organization);
  await (aliases.length === 0 ? own : own.where('alias', 'not in', aliases)).execute();
  if (aliases.length === 0) return;
  await queries
    .insertInto('organization_providers')
    .values(aliases.map((alias) => ({ tenant_id: tenant, alias, organization_id: organization, tested_at: null })))
    .onConflict((on) => on.columns(['tenant_id', 'alias']).doNothing())
    .execute();
  const owners = await listProviderOwners(queries, tenant, aliases);
  if (aliases.some((alias) => owners.get(alias) !== organization)) throw new ValueTaken('identity_providers');
}

/** Writes that somebody signed in by a provider of an organisation for a test, which began then; false when it is not its own. */
export async function noteProviderTrial(
  queries: Queries,
  tenant: TenantId,
  organization: string,
  { alias, startedAtMs }: { readonly alias: string; readonly startedAtMs: number },
): Promise<boolean> {
  const rows = await queries
    .updateTable('organization_providers')
    .set({ tested_at: startedAtMs })
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization)
    .where('alias', '=', alias)
    .returning('alias')
    .execute();
  return rows.length === 1;
}

/** When its providers were tried last, by their aliases. */
export async function listProviderTrials(queries: Queries, tenant: TenantId, organization: string): Promise<ReadonlyMap<string, number>> {
  const rows = await queries
    .selectFrom('organization_providers')
    .select(['alias', 'tested_at'])
    .where('tenant_id', '=', tenant)
    .where('organization_id', '=', organization)
    .execute();
  return new Map(rows.flatMap(({ alias, tested_at: at }) => (at === null ? [] : [[alias, Number(at)] as const])));
}
