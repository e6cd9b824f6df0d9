// The keys of a service provider that has its own (design 15, "Keys"): a ring beside the tenant's under the same rule. It begins with
// a next key; the tenant's key signs until the first rotation. Called by the SAML surface and the Management API.
import { openSamlKey, type SamlKey } from '../crypto/saml-key.ts';
import { ownUse, type ServiceProvider } from '../domain/saml/service-provider.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { publishedAgeMsMax } from '../storage/engine/config/config-pulse.ts';
import type { Queries } from '../storage/engine/database.ts';
import { findSigningKey, listOwnKeys } from '../storage/registry/signing-keys.ts';
import {
  formerPublishedMs,
  makeSamlKeys,
  promoteNext,
  publishedCertificates,
  type RetiredSamlKey,
  type RotationOrder,
  retiredCertificateServedMs,
  retiredOf,
  type SamlKeyServices,
  type SamlRotation,
  samlKeysOf,
} from './saml-keys.ts';

type Owner = Pick<ServiceProvider, 'id' | 'signingKey'>;

interface OwnRing {
  /** Undefined before the first rotation. */
  readonly current: SamlKey | undefined;
  readonly next: SamlKey;
  readonly nextMadeAtMs: number;
  /** Since when this ring signs; undefined before the first rotation. */
  readonly signsSinceMs: number | undefined;
  readonly retired: readonly RetiredSamlKey[];
}

/** The key that signs for a provider now. */
export async function signerFor(services: SamlKeyServices, tenant: Tenant, provider: Owner): Promise<SamlKey> {
  const own = provider.signingKey === 'own' ? await findOwnRing(services, tenant, provider) : undefined;
  return own?.current ?? (await samlKeysOf(services, tenant)).current;
}

/** The certificates of a provider's metadata, DER, and when the newest of them was made. */
export async function publishedFor(
  services: SamlKeyServices,
  tenant: Tenant,
  provider: Owner,
): Promise<{ readonly certificates: readonly Buffer[]; readonly nextMadeAtMs: number }> {
  const nowMs = services.clock.nowMs();
  const shared = await samlKeysOf(services, tenant);
  if (provider.signingKey === 'tenant') return { certificates: publishedCertificates(shared, nowMs), nextMadeAtMs: shared.nextMadeAtMs };
  const { current, next, nextMadeAtMs, signsSinceMs, retired } = await ownRingOf(services, tenant, provider);
  if (current === undefined)
    return {
      certificates: [...publishedCertificates(shared, nowMs), next.certificate],
      nextMadeAtMs: Math.max(nextMadeAtMs, shared.nextMadeAtMs),
    };
  // For a day after the first rotation the former key is the tenant's.
  const former = signsSinceMs !== undefined && signsSinceMs + formerPublishedMs > nowMs ? [shared.current.certificate] : [];
  return { certificates: [...publishedCertificates({ current, next, retired }, nowMs), ...former], nextMadeAtMs };
}

/** The PEM of a certificate of any provider's own ring that is published still. */
export async function findOwnCertificate(services: SamlKeyServices, tenant: Tenant, kid: string): Promise<string | undefined> {
  if (!/^[\w-]{43}$/.test(kid)) return undefined;
  const load = async (queries: Queries) => {
    const key = await findSigningKey(queries, tenant.id, kid);
    return key?.use.startsWith(ownUse('')) === true ? { certificate: key.certificate, retiredAtMs: key.retired_at } : undefined;
  };
  const key = await services.cache.get(tenant.id, `saml-certificate:${kid}`, load, publishedAgeMsMax);
  if (key === undefined || key.certificate === null) return undefined;
  const isServed = key.retiredAtMs === null || key.retiredAtMs + retiredCertificateServedMs > services.clock.nowMs();
  return isServed ? key.certificate : undefined;
}

/** Makes sure that a provider whose own keys are to sign has a ring. */
export async function requireOwnKeys(services: SamlKeyServices, tenant: Tenant, provider: Owner): Promise<void> {
  if (provider.signingKey === 'own') await ownRingOf(services, tenant, provider);
}

/** Makes the next key of a provider's own ring current and a new next one; the first rotation takes over from the tenant's key. */
export async function rotateOwnKeys(
  services: SamlKeyServices,
  tenant: Tenant,
  provider: Owner,
  order: RotationOrder,
): Promise<SamlRotation> {
  const ring = await ownRingOf(services, tenant, provider);
  const told = { service_provider: provider.id };
  return promoteNext(services, tenant, { use: ownUse(provider.id), from: ring.current?.kid, to: ring.next.kid, told }, order);
}

async function ownRingOf(services: SamlKeyServices, tenant: Tenant, provider: Owner): Promise<OwnRing> {
  const ring = await findOwnRing(services, tenant, provider);
  if (ring !== undefined) return ring;
  await makeSamlKeys(services, tenant, ownUse(provider.id), ['next']);
  const made = await findOwnRing(services, tenant, provider);
  if (made === undefined) throw new Error(`service provider ${provider.id} has no keys although they were just made`);
  return made;
}

function findOwnRing(services: SamlKeyServices, tenant: Tenant, { id }: Owner): Promise<OwnRing | undefined> {
  const open = async (queries: Queries): Promise<OwnRing | undefined> => {
    const stored = await listOwnKeys(queries, tenant.id, id);
    const [current, next] = ['current', 'next'].map((state) => stored.find((key) => key.state === state));
    if (next === undefined) return undefined;
    const activations = stored.flatMap(({ activated_at: at }) => (at === null ? [] : [at]));
    return {
      current: current === undefined ? undefined : openSamlKey(tenant.id, current, services.encryption),
      next: openSamlKey(tenant.id, next, services.encryption),
      nextMadeAtMs: next.created_at,
      signsSinceMs: activations.length === 0 ? undefined : Math.min(...activations),
      retired: retiredOf(stored),
    };
  };
  return services.cache.get(tenant.id, ownUse(id), open, publishedAgeMsMax);
}
