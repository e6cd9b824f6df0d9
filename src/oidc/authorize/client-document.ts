// Clients by the document at the URL that is their client_id (draft-ietf-oauth-client-id-metadata-document; design 18, part 2): looked up
// at authorize alone, fetched by the guarded way out to public addresses, within budgets that strangers share, and kept for a while.
// Whatever is wrong with one is a reason for explain; the stranger hears what an unknown client hears.
import type { FastifyRequest } from 'fastify';
import type { Cause } from '../../contract/contract-error.ts';
import { documentBytesMax, documentIdCharsMax } from '../../contract/limits.ts';
import type { Client } from '../../domain/client/client.ts';
import { isLoopbackHost } from '../../domain/client/client-uris.ts';
import {
  documentFetchesAtOnceMax,
  documentFetchesPerBlockMax,
  documentFetchesPerTenantMax,
  documentFreshSecondsMax,
  documentFreshSecondsMin,
  documentIdFault,
  documentStaleSecondsMax,
  documentTimeoutMs,
  strangerAmong,
} from '../../domain/client/stranger.ts';
import { clientOfDocument, identityOf } from '../../domain/client/stranger-metadata.ts';
import type { ClientId, TenantId } from '../../domain/ids.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { rateLimited, takeFixedRate } from '../../http/budgets/rate-limits.ts';
import { addressBlock } from '../../http/client-address.ts';
import type { Parts } from '../../http/services.ts';
import type { OutboundResult } from '../../platform/net/outbound.ts';
import { deleteConsentsTo } from '../../storage/oidc/consents.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { findClientDocument, storeClientDocument, useClientDocument } from '../../storage/registry/clients/client-documents.ts';
import { findClient, holdClient, updateClient } from '../../storage/registry/clients/clients.ts';
import { listOpenResources } from '../../storage/registry/clients/resources.ts';

type ClientDocumentDeps = Parts<'cache' | 'clock' | 'database' | 'outbound' | 'rateLimiter'>;

export type FoundClient =
  | { readonly ok: true; readonly client: Client /** True: no person has let it in yet, and it is no client. */; readonly isNew: boolean }
  | ({ readonly ok: false } & Cause);

/** Of a use within which the next one is not written down. */
const usesApartMs = 3_600_000;

/** The client of a URL: one that somebody registered by it, else that of its document where the tenant lets strangers in. */
export async function clientOfUrl(services: ClientDocumentDeps, request: FastifyRequest, clientId: string): Promise<FoundClient> {
  const { tenant } = request;
  const unknown: FoundClient = { ok: false, reason: 'unknown_client', received: clientId };
  if (clientId.length > documentIdCharsMax) return unknown;
  const id = clientId as ClientId; // a look-up key, not yet known to be an id
  const found = await services.cache.read(tenant.id, async (queries) => ({
    client: await findClient(queries, tenant.id, id),
    document: await findClientDocument(queries, tenant.id, id),
  }));
  if (found.client !== undefined && found.client.origin === undefined) return { ok: true, client: found.client, isNew: false };
  const open = await listOpenResources(services.cache, tenant.id);
  if (open.length === 0) return unknown;
  const fault = documentIdFault(clientId, documentIdCharsMax);
  if (fault !== undefined) return { ok: false, reason: `client_id_url_${fault}`, received: clientId };
  const described = await describe(services, request, id, found.document);
  if (!described.ok) return described;
  // What an administrator said of it stays; the rest is what its document says.
  const { enabled, accessPolicy, createdAtMs } = found.client ?? described.client;
  const client = strangerAmong({ ...described.client, enabled, accessPolicy, createdAtMs }, open);
  return client === undefined ? unknown : { ok: true, client, isNew: found.client === undefined };
}

type Described = { readonly ok: true; readonly client: Client } | ({ readonly ok: false } & Cause);
type Known = { readonly document: string; readonly fresh_until: number } | undefined;

async function describe(services: ClientDocumentDeps, request: FastifyRequest, clientId: ClientId, known: Known): Promise<Described> {
  const nowMs = services.clock.nowMs();
  const { id: tenant } = request.tenant;
  const before = known && clientOfDocument(clientId, known.document, nowMs);
  if (known !== undefined && before?.ok === true && nowMs < known.fresh_until) {
    await services.database.write(tenant, (queries) => useClientDocument(queries, tenant, clientId, { nowMs, everyMs: usesApartMs }));
    return before;
  }
  const mayBeStale = known !== undefined && before?.ok === true && nowMs < known.fresh_until + documentStaleSecondsMax * 1000;
  const fetched = await fetchOnce(services, request, clientId);
  if (fetched.ok) return fetched;
  if (mayBeStale && fetched.isSilent) return before;
  if (fetched.waitSeconds !== undefined) throw rateLimited('oauth', 'client_document_fetches', fetched.waitSeconds);
  return { ok: false, reason: `client_document_${fetched.reason}`, received: fetched.received ?? clientId };
}

type Fetched =
  | { readonly ok: true; readonly client: Client }
  | {
      readonly ok: false;
      readonly reason: string;
      readonly received?: string | undefined;
      /** Nothing was learnt of the document: its host did not answer, or was not asked. */
      readonly isSilent: boolean;
      readonly waitSeconds?: number;
    };

/** Fetches under way, of one document one; and how many a tenant has. */
const underWay = new Map<string, Promise<Fetched>>();
const inHand = new Map<TenantId, number>();

async function fetchOnce(services: ClientDocumentDeps, request: FastifyRequest, clientId: ClientId): Promise<Fetched> {
  const { tenant, clientAddress } = request;
  const key = `${tenant.id} ${clientId}`;
  const running = underWay.get(key);
  if (running !== undefined) return running;
  if (isFull(tenant)) return beyondBudget(1);
  const ofBlock = await takeMinute(services, tenant, [
    'client_document_fetches_per_ip',
    addressBlock(clientAddress),
    documentFetchesPerBlockMax,
  ]);
  if (ofBlock !== undefined) return beyondBudget(ofBlock);
  // Where budgets are counted elsewhere, others came meanwhile: from here to its place in hand nothing waits.
  const again = underWay.get(key);
  if (again !== undefined) return again;
  if (isFull(tenant)) return beyondBudget(1);
  inHand.set(tenant.id, (inHand.get(tenant.id) ?? 0) + 1);
  const fetching = fetchInHand(services, request, clientId).finally(() => {
    underWay.delete(key);
    const left = (inHand.get(tenant.id) ?? 1) - 1;
    if (left === 0) inHand.delete(tenant.id);
    else inHand.set(tenant.id, left);
  });
  underWay.set(key, fetching);
  return fetching;
}

/** Whoever has a place counts for the tenant: who asks with none left, or too often, leaves the budget of the others alone. */
async function fetchInHand(services: ClientDocumentDeps, request: FastifyRequest, clientId: ClientId): Promise<Fetched> {
  const ofTenant = await takeMinute(services, request.tenant, ['client_document_fetches', 'tenant', documentFetchesPerTenantMax]);
  return ofTenant === undefined ? fetchDocument(services, request, clientId) : beyondBudget(ofTenant);
}

const isFull = ({ id, areLimitsLifted }: Tenant): boolean => !areLimitsLifted && (inHand.get(id) ?? 0) >= documentFetchesAtOnceMax;

const beyondBudget = (waitSeconds: number): Fetched => ({ ok: false, reason: 'budget', isSilent: true, waitSeconds });

/** Counts a fetch; gives the seconds to wait where strangers have asked for enough. */
const takeMinute = (
  { rateLimiter }: ClientDocumentDeps,
  tenant: Tenant,
  [name, key, limit]: readonly [name: string, key: string, limit: number],
): Promise<number | undefined> => takeFixedRate(rateLimiter, tenant, name, key, { limit, periodSeconds: 60 });

async function fetchDocument(services: ClientDocumentDeps, request: FastifyRequest, clientId: ClientId): Promise<Fetched> {
  const { tenant } = request;
  const result = await services.outbound.fetch({
    url: clientId,
    share: tenant.id,
    method: 'GET',
    timeoutMs: documentTimeoutMs,
    responseBytesMax: documentBytesMax,
    reach: isLoopbackHost(new URL(tenant.baseUrl).hostname) ? 'loopback' : 'public',
  });
  const fault = answerFault(result);
  if (fault !== undefined || !result.ok) return { ok: false, ...fault! };
  const nowMs = services.clock.nowMs();
  const read = clientOfDocument(clientId, result.body, nowMs);
  if (!read.ok) return { ok: false, reason: read.reason, received: read.received, isSilent: false };
  await keep(services, request, read.client, {
    document: result.body,
    fetched_at: nowMs,
    fresh_until: nowMs + freshSeconds(result.headers['cache-control']) * 1000,
    used_at: nowMs,
  });
  return read;
}

function answerFault(result: OutboundResult): { reason: string; received?: string; isSilent: boolean } | undefined {
  if (!result.ok) return { reason: result.reason, isSilent: !['refused_address', 'refused_scheme', 'too_large'].includes(result.reason) };
  if (result.status !== 200) return { reason: 'status', received: String(result.status), isSilent: result.status >= 500 };
  const type = (result.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
  return type === 'application/json' || /^application\/[a-z0-9.-]+\+json$/.test(type)
    ? undefined
    : { reason: 'content_type', received: type.slice(0, 100), isSilent: false };
}

/** How long its server says (RFC 9111 5.2.2), within our bounds. */
function freshSeconds(cacheControl = ''): number {
  const said = /(?:^|[\s,])(?:no-store|no-cache)(?:$|[\s,])/i.test(cacheControl)
    ? 0
    : Number(/max-age="?(\d{1,9})/i.exec(cacheControl)?.[1] ?? 0);
  return Math.min(Math.max(said, documentFreshSecondsMin), documentFreshSecondsMax);
}

type Kept = Omit<Parameters<typeof storeClientDocument>[1], 'tenant_id' | 'client_id'>;

/** Keeps a document; one that is a client already becomes what it says now, and people are asked again where that is another. */
async function keep({ database, clock }: ClientDocumentDeps, { tenant, id }: FastifyRequest, client: Client, kept: Kept): Promise<void> {
  const { clientId } = client;
  await database.write(tenant.id, async (queries) => {
    await storeClientDocument(queries, { tenant_id: tenant.id, client_id: clientId, ...kept });
    const before = await holdClient(queries, tenant.id, clientId);
    if (before?.origin !== 'document') return;
    const [was, is] = [identityOf(before), identityOf(client)];
    const fields = Object.keys(is).filter((name) => was[name] !== is[name]);
    if (fields.length === 0) return;
    const { enabled, accessPolicy, createdBy, createdAtMs } = before;
    await updateClient(queries, tenant.id, { ...client, enabled, accessPolicy, createdBy, createdAtMs });
    await deleteConsentsTo(queries, tenant.id, clientId);
    await insertAuditEvent(queries, tenant.id, clock.nowMs(), {
      type: 'client.document_changed',
      requestId: id,
      actor: `client:${clientId}`,
      target: `client:${clientId}`,
      data: { fields },
    });
  });
}
