// Proving whose a domain is, another provider's or an organisation's: the TXT records are looked up at somebody's wish. A record that is
// there proves, one that is gone no longer does; name servers that do not answer change nothing.
import type { TenantId } from '../domain/ids.ts';
import { type DomainRecord, domainRecord } from '../domain/sign-in/domain-proof.ts';
import type { TextRecords } from '../platform/net/text-records.ts';
import type { Queries } from '../storage/engine/database.ts';
import { type DomainOwnerKind, deleteProvenDomain, insertProvenDomain, type ProvenDomain } from '../storage/registry/proven-domains.ts';
import { type Administration, type By, recordAct } from './administration.ts';

export type DomainDeps = Pick<Administration, 'cache' | 'clock'> & { readonly textRecords: TextRecords };

/** What names domains as its own. */
export interface NamesDomains {
  readonly id: string;
  readonly domains: readonly string[];
  readonly domainProofSalt?: string | undefined;
}

interface DomainProof extends DomainRecord {
  readonly domain: string;
  readonly provenAtMs: number | undefined;
}

/** The domains of somebody with their records, and which are proven. */
export const proofsOf = (tenant: TenantId, owner: NamesDomains, proven: readonly ProvenDomain[]): readonly DomainProof[] =>
  owner.domains.map((domain) => ({
    domain,
    ...domainRecord(tenant, owner, domain),
    provenAtMs: proven.find((one) => one.domain === domain && one.ownerId === owner.id)?.provenAtMs,
  }));

interface Checking {
  readonly kind: DomainOwnerKind;
  readonly owner: NamesDomains;
  /** The same owner as it is in a transaction, and until that ends: whoever would change it or its domains waits. */
  readonly hold: (queries: Queries, tenant: TenantId, id: string) => Promise<NamesDomains | undefined>;
}

/** Looks every domain of somebody up and keeps what was found; false when there is no such owner. */
export async function checkDomains(deps: DomainDeps, tenant: TenantId, { kind, owner, hold }: Checking, by: By): Promise<boolean> {
  const found = await Promise.all(
    owner.domains.map(async (domain) => {
      const { name, value } = domainRecord(tenant, owner, domain);
      return { domain, isThere: (await deps.textRecords.find(name))?.includes(value) };
    }),
  );
  return deps.cache.write(tenant, async (queries) => {
    const now = await hold(queries, tenant, owner.id);
    if (now === undefined) return false;
    if (now.domainProofSalt !== owner.domainProofSalt) return true; // it became somebody else meanwhile: that was another's record
    for (const { domain, isThere } of found)
      if (now.domains.includes(domain)) await keep(queries, deps, tenant, { kind, id: now.id, domain, isThere, by });
    return true;
  });
}

interface Found {
  readonly kind: DomainOwnerKind;
  readonly id: string;
  readonly domain: string;
  /** Undefined: nobody answered. */
  readonly isThere: boolean | undefined;
  readonly by: By;
}

async function keep(queries: Queries, deps: DomainDeps, tenant: TenantId, { kind, id, domain, isThere, by }: Found): Promise<void> {
  const act = (what: 'proven' | 'lapsed') =>
    recordAct(queries, deps, tenant, by, { type: `${kind}.domain_${what}`, target: `${kind}:${id}`, data: { domain } });
  if (isThere === true && (await insertProvenDomain(queries, tenant, domain, { kind, id })) === 'proven') await act('proven');
  if (isThere === false && (await deleteProvenDomain(queries, tenant, domain, { kind, id }))) await act('lapsed');
}
