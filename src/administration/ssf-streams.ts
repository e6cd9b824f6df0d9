// Streams of security events: creation and change by their receivers; status, deletion and a request for verification by their receivers
// and by administrators, who name any stream of the tenant.
import { streamsPerTenantMax, streamVerificationsMax } from '../contract/limits.ts';
import { type SsfStream, type StreamStatus, type StreamValues, streamEvents, streamStatuses } from '../domain/extending/ssf-stream.ts';
import type { ClientId, SsfStreamId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { uuidV7 } from '../platform/random.ts';
import { streamUpdated, verification } from '../ssf/stream-events.ts';
import type { Queries } from '../storage/engine/database.ts';
import { findFeedEnd } from '../storage/records/event-feed.ts';
import { addSsfEvents, countWaitingSets, deleteSsfEvents, dequeueStream, queueStream } from '../storage/records/ssf-events.ts';
import {
  countStreams,
  deleteStream,
  findStreamOf,
  insertStream,
  listStreamReports,
  lockStreamOf,
  setStreamStatus,
  updateStream,
} from '../storage/registry/extending/ssf-streams.ts';
import { lockTenantSettings } from '../storage/registry/tenants.ts';
import { sealStreamHeader } from '../tokens/stream-header.ts';
import { type Administration, type By, recordAct } from './administration.ts';

type Store = Pick<Administration, 'cache' | 'clock' | 'database' | 'encryption'>;

/** Who asks, and how it is written down. */
export interface Asking {
  readonly tenant: Tenant;
  /** The receiver; undefined: an administrator. */
  readonly clientId?: ClientId | undefined;
  readonly by: By;
}

export interface Receiver extends Asking {
  readonly clientId: ClientId;
}

/** The header of these values is clear; undefined keeps none, `kept` one that is sealed already. */
type Clear = StreamValues & { readonly keepsHeader?: boolean };

/** Makes the stream of a receiver, which is told what happens from now on. */
export async function createStream(
  store: Store,
  { tenant, clientId, by }: Receiver,
  values: Clear,
): Promise<Outcome<{ readonly stream: SsfStream }, 'taken' | 'too_many'>> {
  const id = uuidV7(store.clock.nowMs()) as SsfStreamId; // made here
  await findFeedEnd(store.database, tenant.id);
  return store.cache.write(tenant.id, async (queries) => {
    await lockTenantSettings(queries, store.database.dialect, tenant.id); // others who make one are waited for
    const isFull = (await countStreams(queries, tenant.id, streamsPerTenantMax)) >= streamsPerTenantMax;
    if (isFull && (await findStreamOf(queries, tenant.id, clientId)) === undefined) return fail('too_many');
    const stream = await insertStream(queries, tenant.id, { ...sealed(store, tenant, id, values), id, clientId });
    if (stream === undefined) return fail('taken');
    await recordAct(queries, store, tenant.id, by, {
      type: 'ssf_stream.created',
      target: `ssf_stream:${id}`,
      data: { client: clientId, method: stream.method },
    });
    return { ok: true, stream };
  });
}

/** Changes the stream of a receiver by what `change` makes of it; what waits goes the new way. Undefined when it has none of that id. */
export async function changeStream(
  store: Store,
  receiver: Receiver,
  id: string,
  change: (before: SsfStream) => Clear & { readonly fields: readonly string[] },
): Promise<SsfStream | undefined> {
  const { tenant, clientId, by } = receiver;
  return store.cache.write(tenant.id, async (queries) => {
    const before = await lockStreamOf(queries, store.database.dialect, tenant.id, clientId);
    if (before?.id !== id) return undefined;
    const { fields, ...values } = change(before);
    const header = values.keepsHeader === true ? { ...values, authorizationHeader: before.authorizationHeader } : undefined;
    const stream = await updateStream(queries, tenant.id, before.id, header ?? sealed(store, tenant, before.id, values));
    await dequeueStream(queries, tenant.id, before.id);
    if (stream?.method === 'push') await queueStream(queries, tenant.id, before.id, true);
    await recordAct(queries, store, tenant.id, by, {
      type: 'ssf_stream.updated',
      target: `ssf_stream:${id}`,
      data: { client: clientId, fields },
    });
    return stream;
  });
}

/**
 * Gives a stream a status. Disabled, what waits is forgotten; enabled, it goes on. Its receiver is told what an administrator did (SSF 1.0,
 * 8.1.5). Undefined when there is none of that id.
 */
export async function changeStatus(
  store: Store,
  asking: Asking,
  id: string,
  { status, reason }: { readonly status: StreamStatus; readonly reason?: string | undefined },
): Promise<SsfStream | undefined> {
  const { tenant, clientId, by } = asking;
  await findFeedEnd(store.database, tenant.id);
  return store.cache.write(tenant.id, async (queries) => {
    const before = await findOwn(queries, asking, id);
    if (before === undefined) return undefined;
    await setStreamStatus(queries, tenant.id, before.id, { from: streamStatuses, status, reason });
    if (status === 'disabled') await deleteSsfEvents(queries, tenant.id, before.id, 'all');
    await deleteSsfEvents(queries, tenant.id, before.id, { type: streamEvents.streamUpdated }); // what it would tell is over
    if (clientId === undefined) {
      const told = streamUpdated(tenant, before, { status, reason, txn: by.requestId }, store.clock.nowMs());
      await addSsfEvents(queries, tenant.id, before.id, [told]);
    }
    if (before.method === 'push' && (status === 'enabled' || clientId === undefined))
      await queueStream(queries, tenant.id, before.id, true);
    await recordAct(queries, store, tenant.id, by, {
      type: 'ssf_stream.updated',
      target: `ssf_stream:${id}`,
      data: { client: before.clientId, fields: ['status'], status },
    });
    return { ...before, status, statusReason: reason };
  });
}

/** Deletes a stream with what waits for it; false when there is none of that id. */
export async function removeStream(store: Store, asking: Asking, id: string): Promise<boolean> {
  const { tenant, by } = asking;
  return store.cache.write(tenant.id, async (queries) => {
    const stream = await findOwn(queries, asking, id);
    if (stream === undefined || !(await deleteStream(queries, tenant.id, stream.id))) return false;
    const data = { client: stream.clientId };
    await recordAct(queries, store, tenant.id, by, { type: 'ssf_stream.deleted', target: `ssf_stream:${id}`, data });
    return true;
  });
}

/** Lets a verification event go over a stream; over a disabled one nothing goes. */
export async function verifyStream(
  { database, clock }: Pick<Store, 'clock' | 'database'>,
  asking: Asking,
  { id, state }: { readonly id: string; readonly state?: string | undefined },
): Promise<Outcome<object, 'unknown' | 'too_many'>> {
  const { tenant, by } = asking;
  return database.write(tenant.id, async (queries) => {
    const stream = await findOwn(queries, asking, id);
    if (stream === undefined) return fail('unknown');
    if (stream.status === 'disabled') return { ok: true };
    await lockStreamOf(queries, database.dialect, tenant.id, stream.clientId); // others who ask are waited for
    const waiting = { limit: streamVerificationsMax, type: streamEvents.verification };
    if ((await countWaitingSets(queries, tenant.id, stream.id, waiting)) >= streamVerificationsMax) return fail('too_many');
    await addSsfEvents(queries, tenant.id, stream.id, [verification(tenant, stream, { state, txn: by.requestId }, clock.nowMs())]);
    if (stream.method === 'push') await queueStream(queries, tenant.id, stream.id);
    return { ok: true };
  });
}

/** The stream of that id, when whoever asks may name it. */
async function findOwn(queries: Queries, { tenant, clientId }: Asking, id: string): Promise<SsfStream | undefined> {
  if (clientId === undefined) return (await listStreamReports(queries, tenant.id, { id }))[0];
  const stream = await findStreamOf(queries, tenant.id, clientId);
  return stream?.id === id ? stream : undefined;
}

function sealed({ encryption }: Store, tenant: Tenant, id: SsfStreamId, { authorizationHeader: clear, ...values }: Clear): StreamValues {
  return { ...values, authorizationHeader: clear === undefined ? undefined : sealStreamHeader(encryption, tenant.id, id, clear) };
}
