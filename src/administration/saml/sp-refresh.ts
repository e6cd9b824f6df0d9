// A service provider's metadata read from its address (design 15, "Refresh by URL"): import rules apply, the signature must hold where
// one is asked for, an address of a host not seen before waits for approval, and a failure leaves the last copy alone. Called by the
// job below and by the management API.
import { samlFetchedMetadataXmlLimits, samlRefreshMsMax, samlRefreshMsMin } from '../../contract/limits.ts';
import { verifyMetadataSignature } from '../../crypto/xml/signature.ts';
import type { XmlElement } from '../../crypto/xml/tree.ts';
import type { Json } from '../../domain/field.ts';
import type { ServiceProviderId, TenantId } from '../../domain/ids.ts';
import { givenFault, type KindFault } from '../../domain/kind.ts';
import { readRsaPublicKey } from '../../domain/rsa-public-key.ts';
import { type AssertionConsumerService, changedMembers, providerFault, type ServiceProvider } from '../../domain/saml/service-provider.ts';
import type { Outbound } from '../../platform/net/outbound.ts';
import { paceOfLongWork } from '../../platform/turns/long-work.ts';
import type { Pace } from '../../platform/turns/pace.ts';
import type { Queries } from '../../storage/engine/database.ts';
import {
  claimRefresh,
  dailyMs,
  findRefresh,
  isSourceOf,
  type MetadataRefresh,
  recordRefresh,
} from '../../storage/registry/metadata-refreshes.ts';
import { findServiceProvider } from '../../storage/registry/service-providers.ts';
import { type Administration, type By, recordAct } from '../administration.ts';
import { wantedOf } from '../kind-values.ts';
import { registered } from '../registered.ts';
import { planImport, type SpImport } from './sp-import.ts';
import { parseSpMetadata, type SpMetadata } from './sp-metadata.ts';

const { kind, rows } = registered.service_provider;

export interface RefreshDeps extends Pick<Administration, 'database' | 'cache' | 'clock'> {
  readonly outbound: Outbound;
}

const timeoutMs = 10_000;
const afterFailureMs = 60 * 60_000;
const etagCharsMax = 1024;
const remarksKeptMax = 50;
const remarkCharsMax = 300;

/** Reads the metadata of a provider when it is due, or now, unless another node does. Failures are written down, not thrown. */
export async function refreshMetadata(
  deps: RefreshDeps,
  tenant: TenantId,
  id: ServiceProviderId,
  order: { readonly when: 'due' | 'now'; readonly by: By },
): Promise<void> {
  const claimed = await deps.database.write(tenant, (queries) => claimRefresh(queries, tenant, id, order.when));
  const provider = claimed && (await deps.database.read(tenant, (queries) => findServiceProvider(queries, tenant, id)));
  if (claimed === undefined || provider === undefined || !isSourceOf(claimed, provider)) return;
  const reading = await fetchMetadata(deps, tenant, provider, claimed.etag);
  if (reading.kind === 'unchanged')
    return deps.database.write(tenant, (queries) => recordRefresh(queries, claimed, { waitMs: claimed.every_ms, failure: null }));
  if (reading.kind === 'failed') return deps.database.write(tenant, (queries) => fail(deps, queries, claimed, reading, order.by));
  return deps.cache.write(tenant, (queries) => take(deps, queries, claimed, reading, order.by));
}

interface Failed {
  readonly kind: 'failed';
  readonly reason: string;
  readonly text?: string;
}
interface Fetched {
  readonly kind: 'fetched';
  readonly metadata: SpMetadata;
  readonly etag: string | null;
}

async function fetchMetadata(
  deps: RefreshDeps,
  tenant: TenantId,
  provider: ServiceProvider,
  etag: string | null,
): Promise<Failed | Fetched | { readonly kind: 'unchanged' }> {
  const result = await deps.outbound.fetch({
    url: provider.metadataUrl!, // there is a claim
    share: tenant,
    method: 'GET',
    headers: {
      accept: 'application/samlmetadata+xml, application/xml;q=0.9, text/xml;q=0.9',
      ...(etag === null ? {} : { 'if-none-match': etag }),
    },
    timeoutMs,
    responseBytesMax: samlFetchedMetadataXmlLimits.bytesMax,
  });
  if (!result.ok) return { kind: 'failed', reason: result.reason };
  if (result.status === 304 && etag !== null) return { kind: 'unchanged' };
  if (result.status !== 200) return { kind: 'failed', reason: `status_${result.status}` };
  const limits = samlFetchedMetadataXmlLimits;
  const about = { nowMs: deps.clock.nowMs(), entityId: provider.entityId, limits, pace: paceOfLongWork() };
  const read = await parseSpMetadata(Buffer.from(result.body), about);
  if (!read.ok) return { kind: 'failed', reason: read.reason, text: read.text };
  const fault = await signatureFault(provider, read.root, about.pace);
  if (fault !== undefined) return { kind: 'failed', reason: fault };
  const given = result.headers['etag'] ?? '';
  return { kind: 'fetched', metadata: read.metadata, etag: /^[\x21-\x7e]+$/.test(given) && given.length <= etagCharsMax ? given : null };
}

async function signatureFault({ metadataCertificate }: ServiceProvider, root: XmlElement, pace: Pace): Promise<string | undefined> {
  if (metadataCertificate === undefined) return undefined;
  const key = readRsaPublicKey(metadataCertificate);
  if (!key.ok) return key.reason;
  const verification = await verifyMetadataSignature(root, [key.key], pace);
  return verification.ok ? undefined : verification.reason;
}

async function take(deps: RefreshDeps, queries: Queries, claimed: MetadataRefresh, { metadata, etag }: Fetched, by: By): Promise<void> {
  const { tenant_id: tenant, service_provider_id: id } = claimed;
  const before = await rows.hold(queries, tenant, id);
  if (before === undefined || !isSourceOf(claimed, before)) return;
  const known = metadata.acs.filter(({ url }) => isKnownHost(before, url));
  // Where nothing it names is known, what is registered stays until somebody approves.
  const { fields, report } = planImport({ ...metadata, acs: known.length === 0 ? before.acs : known }, before);
  const { after, fault } = changedBy(before, fields);
  if (fault !== undefined) return fail(deps, queries, claimed, { kind: 'failed', reason: fault.field, text: fault.text }, by);
  const changed = changedMembers(before, after);
  if (changed.length > 0) {
    await rows.update(queries, tenant, id, after);
    await recordAct(queries, deps, tenant, by, { type: 'service_provider.refreshed', target: `service_provider:${id}`, data: { changed } });
  }
  const record = { etag, acs: JSON.stringify(metadata.acs), report: JSON.stringify(shortened(report)) };
  const everyMs = Math.min(Math.max(metadata.cacheDurationMs ?? dailyMs, samlRefreshMsMin), samlRefreshMsMax);
  await recordRefresh(queries, claimed, { waitMs: everyMs, everyMs, failure: null, ...record });
  const waiting = hostsOf(waitingAcs(after, { ...claimed, acs: record.acs }));
  const told = hostsOf(waitingAcs(before, claimed));
  if (waiting.every((host) => told.includes(host))) return;
  await recordAct(queries, deps, tenant, by, {
    type: 'service_provider.acs_waits',
    target: `service_provider:${id}`,
    data: { hosts: waiting },
  });
}

/** A registration with what we change of it ourselves, or what is wrong with that. */
function changedBy(before: ServiceProvider, fields: Json): { readonly after: ServiceProvider; readonly fault: KindFault | undefined } {
  const wrong = givenFault(kind, fields);
  if (wrong !== undefined) return { after: before, fault: wrong };
  const after = { ...before, ...wantedOf(kind, fields, before, before).values };
  return { after, fault: providerFault(after) };
}

/** The last copy stays. An event says so, once for a reason that lasts. */
async function fail(deps: RefreshDeps, queries: Queries, claimed: MetadataRefresh, { reason, text }: Failed, by: By): Promise<void> {
  const { tenant_id: tenant, service_provider_id: id } = claimed;
  await recordRefresh(queries, claimed, { waitMs: afterFailureMs, failure: reason });
  if (claimed.failure === reason) return;
  const data = text === undefined ? { reason } : { reason, text };
  await recordAct(queries, deps, tenant, by, { type: 'service_provider.refresh_failed', target: `service_provider:${id}`, data });
}

// What is stored of somebody else's document has bounds.
function shortened({ left_out: leftOut, warnings }: SpImport['report']): Omit<SpImport['report'], 'applied'> {
  const cut = (remark: string): string => [...remark].slice(0, remarkCharsMax).join('');
  const kept = leftOut.slice(0, remarksKeptMax).map(({ item, reason }) => ({ item: cut(item), reason: cut(reason) }));
  return { left_out: kept, warnings: warnings.map(cut) };
}

const hostOf = (url: string): string => new URL(url).host;
const isKnownHost = ({ acs }: ServiceProvider, url: string): boolean => acs.some((one) => hostOf(one.url) === hostOf(url));

/** The consumer services of the last copy that wait: at hosts the registration has none of. */
export function waitingAcs(provider: ServiceProvider, refresh: MetadataRefresh): readonly AssertionConsumerService[] {
  const wanted = refresh.acs === null ? [] : (JSON.parse(refresh.acs) as readonly AssertionConsumerService[]); // as take() wrote it
  return wanted.filter(({ url }) => !isKnownHost(provider, url));
}

export const hostsOf = (acs: readonly AssertionConsumerService[]): readonly string[] => [...new Set(acs.map(({ url }) => hostOf(url)))];

type AcsApproval =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'unknown' }
  | { readonly ok: false; readonly reason: 'not_waiting'; readonly waiting: readonly string[] };

/** Takes over the consumer services of the last copy that are at these hosts, beside those at known ones. */
export async function approveAcs(
  deps: Pick<RefreshDeps, 'cache' | 'clock' | 'database'>,
  tenant: TenantId,
  id: string,
  hosts: readonly string[],
  by: By,
): Promise<AcsApproval> {
  return deps.cache.write(tenant, async (queries): Promise<AcsApproval> => {
    const before = await rows.hold(queries, tenant, id);
    if (before === undefined) return { ok: false, reason: 'unknown' };
    const refresh = await findRefresh(queries, tenant, id);
    const waiting = refresh === undefined ? [] : hostsOf(waitingAcs(before, refresh));
    if (refresh?.acs == null || !hosts.every((host) => waiting.includes(host))) return { ok: false, reason: 'not_waiting', waiting };
    const wanted = JSON.parse(refresh.acs) as readonly AssertionConsumerService[]; // as take() wrote it
    const acs = wanted.filter(({ url }) => isKnownHost(before, url) || hosts.includes(hostOf(url)));
    const { after, fault } = changedBy(before, { acs });
    if (fault !== undefined) throw new Error(`the consumer services of ${id} cannot be approved: ${fault.text}`);
    await rows.update(queries, tenant, id, after);
    await recordAct(queries, deps, tenant, by, {
      type: 'service_provider.acs_approved',
      target: `service_provider:${id}`,
      data: { hosts },
    });
    return { ok: true };
  });
}
