// The SAML keys of a tenant, made on first use, kept like configuration, and rolled over: the next key is published
// beside the current one long before it signs; a retired one's certificate is served for 30 days.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { generateSamlKey, openSamlKey, type SamlKey } from '../crypto/saml-key.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import { insertAuditEvent } from '../storage/audit-events.ts';
import type { ConfigCache } from '../storage/config-cache.ts';
import type { Queries } from '../storage/database.ts';
import { insertMissingSigningKey, listSigningKeys, promoteSigningKey } from '../storage/signing-keys.ts';

export interface SamlKeyRing {
  readonly current: SamlKey;
  readonly next: SamlKey;
  /** Certificates no longer in the metadata. */
  readonly retired: readonly { readonly kid: string; readonly certificatePem: string; readonly retiredAtMs: number }[];
}

export interface SamlKeyServices {
  readonly cache: ConfigCache;
  readonly encryption: KeyEncryption;
  readonly clock: Clock;
}

export const retiredCertificateServedMs = 30 * 24 * 60 * 60_000;
const cacheKey = 'saml-keys';
const making = new Map<TenantId, Promise<void>>();

/** The tenant's keys; the first call of a tenant makes them. */
export async function samlKeysOf(services: SamlKeyServices, tenant: Tenant): Promise<SamlKeyRing> {
  const load = (queries: Queries): Promise<SamlKeyRing | undefined> => openRing(queries, tenant.id, services.encryption);
  const ring = await services.cache.get(tenant.id, cacheKey, load);
  if (ring !== undefined) return ring;
  const work = making.get(tenant.id) ?? makeKeys(services, tenant).finally(() => making.delete(tenant.id));
  making.set(tenant.id, work);
  await work;
  const made = await services.cache.get(tenant.id, cacheKey, load);
  if (made === undefined) throw new Error(`tenant ${tenant.slug} has no SAML keys although they were just made`);
  return made;
}

/** The PEM of a published certificate; the current one for no `kid`, undefined for one that is not published. */
export function findPublishedCertificate(ring: SamlKeyRing, kid: string | undefined, nowMs: number): string | undefined {
  if (kid === undefined || kid === ring.current.kid) return ring.current.certificatePem;
  if (kid === ring.next.kid) return ring.next.certificatePem;
  return ring.retired.find((key) => key.kid === kid && key.retiredAtMs + retiredCertificateServedMs > nowMs)?.certificatePem;
}

/** Makes the next key current and a new next one. Gives the new current kid; undefined when another rotation came first. */
export async function rotateSamlKeys(
  services: SamlKeyServices,
  tenant: Tenant,
  by: { readonly actor: string | undefined; readonly requestId: string | undefined },
): Promise<string | undefined> {
  const ring = await samlKeysOf(services, tenant);
  const nowMs = services.clock.nowMs();
  const fresh = await generateSamlKey(tenant.id, tenant.baseUrl, 'next', services.encryption, nowMs);
  return services.cache.write(tenant.id, async (queries) => {
    if (!(await promoteSigningKey(queries, tenant.id, { from: ring.current.kid, to: ring.next.kid, fresh }))) return undefined;
    const target = `signing_key:${ring.next.kid}`;
    await insertAuditEvent(queries, tenant.id, nowMs, {
      type: 'signing_key.rotated',
      ...by,
      target,
      data: { use: 'saml', retired: ring.current.kid, next: fresh.kid },
    });
    return ring.next.kid;
  });
}

// Two processes may both get here: the table holds one current and one next, so the second pair is not stored.
async function makeKeys({ cache, encryption, clock }: SamlKeyServices, tenant: Tenant): Promise<void> {
  const nowMs = clock.nowMs();
  const keys = await Promise.all(
    (['current', 'next'] as const).map((state) => generateSamlKey(tenant.id, tenant.baseUrl, state, encryption, nowMs)),
  );
  await cache.write(tenant.id, async (queries) => {
    for (const key of keys) await insertMissingSigningKey(queries, tenant.id, key);
  });
}

async function openRing(queries: Queries, tenant: TenantId, encryption: KeyEncryption): Promise<SamlKeyRing | undefined> {
  const stored = (await listSigningKeys(queries, tenant)).filter((key) => key.use === 'saml');
  const [current, next] = ['current', 'next'].map((state) => stored.find((key) => key.state === state));
  if (current === undefined || next === undefined) return undefined;
  const retired = stored.flatMap(({ kid, state, certificate, retired_at: retiredAtMs }) =>
    state === 'retired' && certificate !== null && retiredAtMs !== null ? [{ kid, certificatePem: certificate, retiredAtMs }] : [],
  );
  return { current: openSamlKey(tenant, current, encryption), next: openSamlKey(tenant, next, encryption), retired };
}
