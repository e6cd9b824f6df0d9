// Proving that a provider may answer for its domains: the TXT records are looked up at somebody's wish. A record that is there proves, one
// that is gone no longer does; name servers that do not answer change nothing.
import type { TenantId } from '../domain/ids.ts';
import { type DomainRecord, domainRecord } from '../domain/sign-in/domain-proof.ts';
import type { IdentityProvider } from '../domain/sign-in/identity-provider.ts';
import type { TextRecords } from '../platform/net/text-records.ts';
import type { Queries } from '../storage/engine/database.ts';
import { findIdentityProvider } from '../storage/registry/identity-providers.ts';
import { deleteProvenDomain, insertProvenDomain, type ProvenDomain } from '../storage/registry/provider-domains.ts';
import { type Administration, type By, recordAct } from './administration.ts';

export type DomainDeps = Pick<Administration, 'cache' | 'clock'> & { readonly textRecords: TextRecords };

interface DomainProof extends DomainRecord {
  readonly domain: string;
  readonly provenAtMs: number | undefined;
}

/** The domains of a provider with their records, and which are proven. */
export const proofsOf = (tenant: TenantId, provider: IdentityProvider, proven: readonly ProvenDomain[]): readonly DomainProof[] =>
  provider.domains.map((domain) => ({
    domain,
    ...domainRecord(tenant, provider, domain),
    provenAtMs: proven.find((one) => one.domain === domain && one.provider_id === provider.id)?.proven_at,
  }));

/** Looks every domain of a provider up and keeps what was found; false when there is no such provider. */
export async function checkDomains(deps: DomainDeps, tenant: TenantId, provider: IdentityProvider, by: By): Promise<boolean> {
  const found = await Promise.all(
    provider.domains.map(async (domain) => {
      const { name, value } = domainRecord(tenant, provider, domain);
      return { domain, isThere: (await deps.textRecords.find(name))?.includes(value) };
    }),
  );
  return deps.cache.write(tenant, async (queries) => {
    const now = await findIdentityProvider(queries, tenant, provider.id);
    if (now === undefined) return false;
    if (now.domainProofSalt !== provider.domainProofSalt) return true; // it became somebody else meanwhile: that was another's record
    for (const { domain, isThere } of found)
      if (now.domains.includes(domain)) await keep(queries, deps, tenant, { provider: now, domain, isThere, by });
    return true;
  });
}

interface Found {
  readonly provider: IdentityProvider;
  readonly domain: string;
  /** Undefined: nobody answered. */
  readonly isThere: boolean | undefined;
  readonly by: By;
}

async function keep(queries: Queries, deps: DomainDeps, tenant: TenantId, { provider, domain, isThere, by }: Found): Promise<void> {
  const act = (what: 'proven' | 'lapsed') =>
    recordAct(queries, deps, tenant, by, {
      type: `identity_provider.domain_${what}`,
      target: `identity_provider:${provider.id}`,
      data: { domain },
    });
  if (isThere === true && (await insertProvenDomain(queries, tenant, domain, provider.id)) === 'proven') await act('proven');
  if (isThere === false && (await deleteProvenDomain(queries, tenant, domain, provider.id))) await act('lapsed');
}
