// A service provider's metadata read from its address (design 15, "Refresh by URL"): import rules apply, the signature must hold where
// one is asked for, an address of a host not seen before waits for approval, and a failure leaves the last copy alone. Called by the
// job below and by the management API.
import { samlRefreshMsMax, samlRefreshMsMin } from '../../contract/saml-metadata-limits.ts';
import type { Json } from '../../domain/field.ts';
import type { ServiceProviderId, TenantId } from '../../domain/ids.ts';
import { givenFault, type KindFault } from '../../domain/kind.ts';
import { type AssertionConsumerService, changedMembers, providerFault, type ServiceProvider } from '../../domain/saml/service-provider.ts';
import { paceOfLongWork } from '../../platform/turns/long-work.ts';
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
import { type Fetched, type ReadingDeps, readMetadata, type Unread } from './sp-reading.ts';

/** For what is done with them beside what is done with every kind. */
export const serviceProviders = registered.service_provider;
const { kind, rows } = serviceProviders;

export interface RefreshDeps extends Pick<Administration, 'database' | 'cache'>, ReadingDeps {}

const afterFailureMs = 60 * 60_000;
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
  const reading = await readMetadata(deps, tenant, {
    url: provider.metadataUrl!, // there is a claim
    entityId: provider.entityId,
    signerOf: async () => provider.metadataCertificate,
    etag: claimed.etag,
    inTurn: (parse) => parse(paceOfLongWork()),
  });
  if (reading.kind === 'unchanged')
    return deps.database.write(tenant, (queries) => recordRefresh(queries, claimed, { waitMs: claimed.every_ms, failure: null }));
  if (reading.kind === 'failed') return deps.database.write(tenant, (queries) => fail(deps, queries, claimed, reading, order.by));
  return deps.cache.write(tenant, (queries) => take(deps, queries, claimed, reading, order.by));
}

async function take(deps: RefreshDeps, queries: Queries, claimed: MetadataRefresh, fetched: Fetched, by: By): Promise<void> {
  const { metadata } = fetched;
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
  await recordTaken(queries, claimed, fetched, report);
  const waiting = hostsOf(waitingAcs(after, { ...claimed, acs: JSON.stringify(metadata.acs) }));
  const told = hostsOf(waitingAcs(before, claimed));
  if (waiting.every((host) => told.includes(host))) return;
  await recordAct(queries, deps, tenant, by, {
    type: 'service_provider.acs_waits',
    target: `service_provider:${id}`,
    data: { hosts: waiting },
  });
}

/** Writes down that what was read is what is registered. */
export function recordTaken(
  queries: Queries,
  refresh: MetadataRefresh,
  { metadata, etag }: Fetched,
  report: SpImport['report'],
): Promise<void> {
  const everyMs = Math.min(Math.max(metadata.cacheDurationMs ?? dailyMs, samlRefreshMsMin), samlRefreshMsMax);
  const learnt = { etag, acs: JSON.stringify(metadata.acs), report: JSON.stringify(shortened(report)) };
  return recordRefresh(queries, refresh, { waitMs: everyMs, everyMs, failure: null, ...learnt });
}

/** A registration with what we change of it ourselves, or what is wrong with that. */
function changedBy(before: ServiceProvider, fields: Json): { readonly after: ServiceProvider; readonly fault: KindFault | undefined } {
  const wrong = givenFault(kind, fields);
  if (wrong !== undefined) return { after: before, fault: wrong };
  const after = { ...before, ...wantedOf(kind, fields, before, before).values };
  return { after, fault: providerFault(after) };
}

/** The last copy stays. An event says so, once for a reason that lasts. */
async function fail(deps: RefreshDeps, queries: Queries, claimed: MetadataRefresh, { reason, text }: Unread, by: By): Promise<void> {
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
