// Posts security event tokens to the receiver of a stream (RFC 8935), one at a time in their order: a stream has one row in the queue
// however many wait. What the receiver cannot take now is tried again, until the feeder pauses the stream; what it says is wrong with a
// token itself is its last word on that one.
import { type Attempted, type Carrier, eachAlone } from '../deliveries/carrier.ts';
import { deliveryKinds } from '../deliveries/kinds.ts';
import { type Registry, recipientClient, recipientTenant } from '../deliveries/recipients.ts';
import { type SsfStream, streamEvents } from '../domain/extending/ssf-stream.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import type { Outbound, OutboundResult } from '../platform/net/outbound.ts';
import { deleteSsfEvents, listWaitingSets, markDelivered, type QueuedStream, queueStream } from '../storage/records/ssf-events.ts';
import { findStream, listCachedStreams } from '../storage/registry/extending/ssf-streams.ts';
import type { KeySupply } from '../tokens/signing-key-supply.ts';
import { openStreamHeader } from '../tokens/stream-header.ts';
import { mayReceive } from './audience.ts';
import { recordRefusedSet } from './refused-set.ts';
import { signToken } from './security-event-token.ts';

interface StreamParts extends KeySupply, Registry {
  readonly database: Registry['database'];
  readonly cache: Registry['cache'];
  readonly clock: Clock;
  readonly outbound: Outbound;
}

const responseBytesMax = 16 * 1024;
const closedRestMs = 300_000;
/** Until the receiver enables its stream, which makes it due. */
const pausedRestMs = 30 * 24 * 3_600_000;
/** RFC 8935, 2.4: these say that we may not speak, not what is wrong with what we said. */
const notOfTheToken: readonly string[] = ['authentication_failed', 'access_denied'];
const errPattern = /^[\w.-]{1,100}$/;

/** @param services read at each delivery, because the carrier is made before the services are whole. */
export const createStreamCarrier = (services: () => StreamParts): Carrier<QueuedStream> =>
  eachAlone(async (row) => {
    const parts = services();
    const { clock, database } = parts;
    const tenant = await recipientTenant(parts, row.tenant);
    if (tenant === undefined) return undefined;
    const stream = await streamOf(parts, row);
    if (stream?.method !== 'push' || stream.url === undefined) return undefined;
    const client = await recipientClient(parts, tenant.id, stream.clientId);
    if (!tenant.enabled || !mayReceive(client)) return { notBeforeMs: clock.nowMs() + closedRestMs };
    const type = stream.status === 'enabled' ? undefined : streamEvents.streamUpdated;
    const [first] = await database.read(tenant.id, (queries) => listWaitingSets(queries, tenant.id, stream.id, { limit: 1, type }));
    if (first === undefined) return stream.status === 'paused' ? { notBeforeMs: clock.nowMs() + pausedRestMs } : undefined;
    return {
      send: async (signal) => judge(await post(parts, tenant, { ...stream, url: stream.url! }, first.claims, signal)),
      settle: async (queries, { result, reason = '' }) => {
        if (result === 'taken') await markDelivered(queries, tenant.id, stream.id);
        const [ended] = await deleteSsfEvents(queries, tenant.id, stream.id, { ids: [first.id] });
        if (ended !== undefined && result !== 'taken')
          await recordRefusedSet(queries, tenant.id, stream, { jti: ended, err: reason, actor: 'system' }, clock.nowMs());
        if ((await listWaitingSets(queries, tenant.id, stream.id, { limit: 1 })).length > 0)
          await queueStream(queries, tenant.id, stream.id);
      },
    };
  });

/** What is remembered where it is pushed to, else what the database says. */
async function streamOf({ cache, database }: StreamParts, { tenant, id }: QueuedStream): Promise<SsfStream | undefined> {
  const known = (await listCachedStreams(cache, tenant)).find((stream) => stream.id === id);
  if (known?.method === 'push' && known.status === 'enabled') return known;
  return database.read(tenant, (queries) => findStream(queries, tenant, id));
}

async function post(
  parts: StreamParts,
  tenant: Tenant,
  { id, url, authorizationHeader }: SsfStream & { readonly url: string },
  claims: string,
  signal: AbortSignal,
): Promise<OutboundResult> {
  return parts.outbound.fetch({
    url,
    share: tenant.id,
    method: 'POST',
    headers: {
      'content-type': 'application/secevent+jwt',
      accept: 'application/json',
      ...(authorizationHeader !== undefined && { authorization: openStreamHeader(parts.encryption, tenant.id, id, authorizationHeader) }),
    },
    body: await signToken(parts, tenant, claims),
    timeoutMs: deliveryKinds.ssf.attemptMs,
    responseBytesMax,
    signal,
  });
}

function judge(answer: OutboundResult): Attempted {
  if (!answer.ok) return { result: answer.reason === 'timeout' ? 'timeout' : 'failed', reason: answer.reason };
  const { status, body } = answer;
  if (status >= 200 && status < 300) return { result: 'taken' };
  const err = status === 400 ? errOf(body) : undefined;
  if (err !== undefined && !notOfTheToken.includes(err)) return { result: 'refused', reason: err };
  return { result: 'failed', reason: err ?? `status_${status}` };
}

/** RFC 8935, 2.3: the member `err` of a JSON body. */
function errOf(body: string): string | undefined {
  try {
    const { err } = JSON.parse(body) as { readonly err?: unknown };
    return typeof err === 'string' && errPattern.test(err) ? err : undefined;
  } catch {
    return undefined;
  }
}
