// What follows when another provider people may sign in with is registered or changed: metadata that is new is read, and one that is
// somebody else now proves its domains anew.
import type { KindFault } from '../domain/kind.ts';
import type { IdentityProvider, ProviderValues } from '../domain/sign-in/identity-provider.ts';
import { metadataOf, readUpstreamMetadata } from '../federation/saml/idp-metadata.ts';
import { randomId } from '../platform/random.ts';
import type { Queries } from '../storage/engine/database.ts';
import { deleteProvenDomain, dropUnnamedDomains } from '../storage/registry/proven-domains.ts';
import { recordAct } from './administration.ts';
import type { Writing } from './kind-effects.ts';

/** What is wrong with metadata that is new; it must be good at `nowMs`. */
export function metadataFault(
  { metadata }: Pick<IdentityProvider, 'metadata'>,
  before: Pick<IdentityProvider, 'metadata'> | undefined,
  nowMs: number,
): KindFault | undefined {
  if (metadata === undefined || metadata === before?.metadata) return undefined;
  const read = readUpstreamMetadata(metadata, nowMs);
  return read.ok ? undefined : { field: 'metadata', text: read.text };
}

/** One that is somebody else now has other records to prove its domains by. */
export const renewProofs = (values: ProviderValues, before: IdentityProvider): ProviderValues =>
  isSameAuthority(before, values) ? values : { ...values, domainProofSalt: randomId() };

/** Forgets proofs of domains that a provider no longer names, and of all when it is somebody else now. */
export async function judgeDomains(
  queries: Queries,
  { store, acting }: Writing,
  before: IdentityProvider,
  after: IdentityProvider,
): Promise<void> {
  const { tenant, by } = acting;
  const owner = { kind: 'identity_provider', id: after.id } as const;
  await dropUnnamedDomains(queries, tenant.id, owner, after.domains);
  if (isSameAuthority(before, after)) return;
  const target = `identity_provider:${after.id}` as const;
  for (const domain of after.domains)
    if (await deleteProvenDomain(queries, tenant.id, domain, owner))
      await recordAct(queries, store, tenant.id, by, { type: 'identity_provider.domain_lapsed', target, data: { domain } });
}

/** Whether the word of both is one authority's: the same issuer, or the same entityID that signs with a key it had before. */
function isSameAuthority(before: ProviderValues, after: ProviderValues): boolean {
  if (after.kind !== 'saml') return before.issuer === after.issuer;
  if (before.metadata === after.metadata) return true;
  const [was, is] = [metadataOf(before), metadataOf(after)];
  return was.entityId === is.entityId && is.signingKeys.some((key) => was.signingKeys.some((known) => known.equals(key)));
}
