// The SAML keys of a tenant, made on first use, kept like configuration, and rolled over: the next key is published
// beside the current one long before it signs; a retired one stays in the metadata for a day, and is served for 30.

import { X509Certificate } from 'node:crypto';
import type { EventData } from '../contract/events.ts';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { generateSamlKey, openSamlKey, type SamlKey } from '../crypto/saml-key.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import { publishedAgeMsMax } from '../storage/engine/config/config-pulse.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import {
  findSigningKey,
  insertMissingSigningKey,
  listSigningKeys,
  promoteSigningKey,
  type StoredSigningKey,
} from '../storage/registry/signing-keys.ts';

interface SamlKeyRing {
  readonly current: SamlKey;
  readonly next: SamlKey;
  readonly nextMadeAtMs: number;
  readonly retired: readonly RetiredSamlKey[];
}

export interface RetiredSamlKey {
  readonly kid: string;
  readonly certificatePem: string;
  readonly retiredAtMs: number;
}

export interface SamlKeyServices {
  readonly cache: ConfigCache;
  readonly encryption: KeyEncryption;
  readonly clock: Clock;
}

const dayMs = 24 * 60 * 60_000;
export const retiredCertificateServedMs = 30 * dayMs;
/** How long a provider that holds metadata from before a rotation may still get answers it verifies by the former key. */
export const formerPublishedMs = dayMs;
/** How long a key made by a rotation is in the metadata before it may sign. */
const nextKeyWaitMs = 30 * dayMs;
const cacheKey = 'saml-keys';
const making = new Map<string, Promise<void>>();

/** The tenant's keys; the first call of a tenant makes them. */
export async function samlKeysOf(services: SamlKeyServices, tenant: Tenant): Promise<SamlKeyRing> {
  const load = (queries: Queries): Promise<SamlKeyRing | undefined> => openRing(queries, tenant.id, services.encryption);
  const ring = await services.cache.get(tenant.id, cacheKey, load, publishedAgeMsMax);
  if (ring !== undefined) return ring;
  await makeSamlKeys(services, tenant, 'saml', ['current', 'next']);
  const made = await services.cache.get(tenant.id, cacheKey, load, publishedAgeMsMax);
  if (made === undefined) throw new Error(`tenant ${tenant.slug} has no SAML keys although they were just made`);
  return made;
}

/** The PEM of a published certificate; the current one for no `kid`, undefined for one that is not published. */
export function findPublishedCertificate(ring: SamlKeyRing, kid: string | undefined, nowMs: number): string | undefined {
  if (kid === undefined || kid === ring.current.kid) return ring.current.certificatePem;
  if (kid === ring.next.kid) return ring.next.certificatePem;
  return ring.retired.find((key) => key.kid === kid && key.retiredAtMs + retiredCertificateServedMs > nowMs)?.certificatePem;
}

/** The certificates of the metadata, DER: current, next, and what signed until a day ago. */
export function publishedCertificates(
  { current, next, retired }: Pick<SamlKeyRing, 'current' | 'next' | 'retired'>,
  nowMs: number,
): readonly Buffer[] {
  const former = retired.filter(({ retiredAtMs }) => retiredAtMs + formerPublishedMs > nowMs);
  return [current.certificate, next.certificate, ...former.map(({ certificatePem }) => new X509Certificate(certificatePem).raw)];
}

export interface RotationOrder {
  readonly actor: string | undefined;
  readonly requestId: string | undefined;
  /** Sign with the next key however short it has been in the metadata; the audit record says so. */
  readonly force: boolean;
}

export type SamlRotation =
  | { readonly ok: true; readonly kid: string }
  | { readonly ok: false; readonly reason: 'rotated_meanwhile' }
  | { readonly ok: false; readonly reason: 'next_key_too_young'; readonly signsFromMs: number };

/** Makes the tenant's next key current and a new next one. */
export async function rotateSamlKeys(services: SamlKeyServices, tenant: Tenant, order: RotationOrder): Promise<SamlRotation> {
  const ring = await samlKeysOf(services, tenant);
  return promoteNext(services, tenant, { use: 'saml', from: ring.current.kid, to: ring.next.kid, told: {} }, order);
}

interface Promotion {
  readonly use: string;
  /** Undefined for a ring that has not signed yet. */
  readonly from: string | undefined;
  readonly to: string;
  /** What the audit record says besides. */
  readonly told: EventData<'signing_key.rotated'>;
}

/** Makes the next key of a ring current and a new next one. */
export async function promoteNext(
  services: SamlKeyServices,
  tenant: Tenant,
  { use, from, to, told }: Promotion,
  { force, ...by }: RotationOrder,
): Promise<SamlRotation> {
  const nowMs = services.clock.nowMs();
  const fresh = { ...(await generateSamlKey(tenant.id, tenant.baseUrl, 'next', services.encryption, nowMs)), use };
  return services.cache.write(tenant.id, async (queries): Promise<SamlRotation> => {
    const step = { from, to, fresh, freshWaitMs: nextKeyWaitMs, force };
    if (!(await promoteSigningKey(queries, tenant.id, step))) {
      const next = await findSigningKey(queries, tenant.id, to);
      if (next?.state !== 'next' || next.signs_from === null) return { ok: false, reason: 'rotated_meanwhile' };
      return { ok: false, reason: 'next_key_too_young', signsFromMs: next.signs_from };
    }
    await insertAuditEvent(queries, tenant.id, nowMs, {
      type: 'signing_key.rotated',
      ...by,
      target: `signing_key:${to}`,
      data: { use: 'saml', ...told, ...(from === undefined ? {} : { retired: from }), next: fresh.kid, ...(force ? { force } : {}) },
    });
    return { ok: true, kid: to };
  });
}

/**
 * Makes the first keys of a ring. Two processes may both get here: the table holds one current and one next of a use, so
 * what comes second is not stored.
 */
export async function makeSamlKeys(
  services: SamlKeyServices,
  tenant: Tenant,
  use: string,
  states: readonly ('current' | 'next')[],
): Promise<void> {
  const ring = `${tenant.id} ${use}`;
  const make = async (): Promise<void> => {
    const { cache, encryption, clock } = services;
    const nowMs = clock.nowMs();
    const keys = await Promise.all(states.map((state) => generateSamlKey(tenant.id, tenant.baseUrl, state, encryption, nowMs)));
    await cache.write(tenant.id, async (queries) => {
      for (const key of keys) await insertMissingSigningKey(queries, tenant.id, { ...key, use });
    });
  };
  const work = making.get(ring) ?? make().finally(() => making.delete(ring));
  making.set(ring, work);
  await work;
}

/** The retired keys among those of one ring. */
export const retiredOf = (stored: readonly StoredSigningKey[]): readonly RetiredSamlKey[] =>
  stored.flatMap(({ kid, state, certificate, retired_at: retiredAtMs }) =>
    state === 'retired' && certificate !== null && retiredAtMs !== null ? [{ kid, certificatePem: certificate, retiredAtMs }] : [],
  );

async function openRing(queries: Queries, tenant: TenantId, encryption: KeyEncryption): Promise<SamlKeyRing | undefined> {
  const stored = (await listSigningKeys(queries, tenant)).filter((key) => key.use === 'saml');
  const [current, next] = ['current', 'next'].map((state) => stored.find((key) => key.state === state));
  if (current === undefined || next === undefined) return undefined;
  return {
    current: openSamlKey(tenant, current, encryption),
    next: openSamlKey(tenant, next, encryption),
    nextMadeAtMs: next.created_at,
    retired: retiredOf(stored),
  };
}
