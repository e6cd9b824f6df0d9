// Domains proven to be somebody's: another provider's, to answer for, or an organisation's. A domain is one provider's and one
// organisation's in a tenant, which are constraints; a proof goes with whose it is, and when that no longer names the domain.
import type { Kysely } from 'kysely';
import type { IdentityProviderId, TenantId } from '../../domain/ids.ts';
import type { ConfigCache } from '../engine/config/config-cache.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface ProviderDomainTable {
  tenant_id: TenantId;
  domain: string;
  provider_id: IdentityProviderId;
  proven_at: number;
}

export interface OrganizationDomainTable {
  tenant_id: TenantId;
  domain: string;
  organization_id: string;
  proven_at: number;
}

const tables = {
  identity_provider: { table: 'provider_domains', owner: 'provider_id' },
  organization: { table: 'organization_domains', owner: 'organization_id' },
} as const;

/** Whose a domain may be. */
export type DomainOwnerKind = keyof typeof tables;
interface DomainOwner {
  readonly kind: DomainOwnerKind;
  readonly id: string;
}

export interface ProvenDomain {
  readonly domain: string;
  readonly ownerId: string;
  readonly provenAtMs: number;
}

/** The tables are alike but for the name of one column. */
type Loose = Kysely<Record<string, Record<string, string | number>>>;
const loose = (queries: Queries): Loose => queries as unknown as Loose;

/** Every proven domain of these owners. */
export async function listProvenDomains(
  queries: Queries,
  tenant: TenantId,
  kind: DomainOwnerKind,
  owners: readonly string[],
): Promise<readonly ProvenDomain[]> {
  const { table, owner } = tables[kind];
  if (owners.length === 0) return [];
  const all = loose(queries).selectFrom(table).selectAll().where('tenant_id', '=', tenant).orderBy('domain');
  const rows = await all.where(owner, 'in', owners).execute();
  return rows.map((row) => ({ domain: String(row['domain']), ownerId: String(row[owner]), provenAtMs: Number(row['proven_at']) }));
}

/** So many domains of providers are remembered together; where there are more, each is asked for by its key. */
export const rememberedDomainsMax = 1000;

/** The provider whose domain it is proven to be, from memory where nothing changed and they are few. */
export async function findProviderOfDomain({ get, read }: ConfigCache, tenant: TenantId, domain: string): Promise<string | undefined> {
  const few = await get(tenant, 'provider-domains', (queries) => readFewDomains(queries, tenant));
  return few === undefined ? read(tenant, (queries) => findDomainOwner(queries, tenant, 'identity_provider', domain)) : few.get(domain);
}

/** Undefined: there are more. */
async function readFewDomains(queries: Queries, tenant: TenantId): Promise<ReadonlyMap<string, string> | undefined> {
  const some = queries.selectFrom('provider_domains').select(['domain', 'provider_id']).where('tenant_id', '=', tenant);
  const rows = await some.limit(rememberedDomainsMax + 1).execute();
  return rows.length > rememberedDomainsMax ? undefined : new Map(rows.map((row) => [row.domain, row.provider_id]));
}

/** Whose domain it is proven to be among those of a kind. */
export async function findDomainOwner(
  queries: Queries,
  tenant: TenantId,
  kind: DomainOwnerKind,
  domain: string,
): Promise<string | undefined> {
  const { table, owner } = tables[kind];
  const row = await loose(queries)
    .selectFrom(table)
    .select(owner)
    .where('tenant_id', '=', tenant)
    .where('domain', '=', domain)
    .executeTakeFirst();
  return row && String(row[owner]);
}

/** Keeps a proof. `known`: it was kept before; `taken`: the domain is another's of the kind. */
export async function insertProvenDomain(
  queries: Queries,
  tenant: TenantId,
  domain: string,
  { kind, id }: DomainOwner,
): Promise<'proven' | 'known' | 'taken'> {
  const { table, owner } = tables[kind];
  const row = { tenant_id: tenant, domain, [owner]: id, proven_at: databaseNowMs };
  const rows = await loose(queries)
    .insertInto(table)
    .values(row)
    .onConflict((on) => on.columns(['tenant_id', 'domain']).doNothing())
    .returning('domain')
    .execute();
  if (rows.length === 1) return 'proven';
  return (await findDomainOwner(queries, tenant, kind, domain)) === id ? 'known' : 'taken';
}

/** Forgets a proof; false when there was none. */
export async function deleteProvenDomain(queries: Queries, tenant: TenantId, domain: string, { kind, id }: DomainOwner): Promise<boolean> {
  const { table, owner } = tables[kind];
  const rows = await loose(queries)
    .deleteFrom(table)
    .where('tenant_id', '=', tenant)
    .where('domain', '=', domain)
    .where(owner, '=', id)
    .returning('domain')
    .execute();
  return rows.length === 1;
}

/** Forgets the proofs of domains that somebody no longer names. */
export async function dropUnnamedDomains(
  queries: Queries,
  tenant: TenantId,
  { kind, id }: DomainOwner,
  named: readonly string[],
): Promise<void> {
  const { table, owner } = tables[kind];
  const proofs = loose(queries).deleteFrom(table).where('tenant_id', '=', tenant).where(owner, '=', id);
  await (named.length === 0 ? proofs : proofs.where('domain', 'not in', named)).execute();
}
