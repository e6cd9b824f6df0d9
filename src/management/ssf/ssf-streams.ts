// `/ssf-streams`: streams of security events as administrators see them. Receivers make and change their own at /v1/ssf (streams.ts);
// here they are watched, paused, tried and removed.
import Type from 'typebox';
import { type Asking, changeStatus, removeStream, verifyStream } from '../../administration/ssf-streams.ts';
import { streamReasonCharsMax } from '../../contract/limits.ts';
import { deliveredEvents, deliveryMethods, streamStatuses } from '../../domain/extending/ssf-stream.ts';
import { capabilitiesIn } from '../../domain/people/capabilities.ts';
import { rateLimited } from '../../http/budgets/rate-limits.ts';
import { findClient } from '../../storage/registry/clients/clients.ts';
import { listStreamReports, type StreamReport } from '../../storage/registry/extending/ssf-streams.ts';
import { type Call, type Endpoint, endpoint, isoTime, type Json, notFound, requireCapabilities } from '../endpoint.ts';
import { answerSearched } from '../paging.ts';
import { closed, dateTime, listAnswer, nullable, oneOf, searchQuery } from '../schemas.ts';

const answer = Type.Object({
  id: Type.String(),
  client_id: Type.String({ description: 'The receiver' }),
  client_name: Type.String(),
  method: oneOf(Object.keys(deliveryMethods)),
  url: nullable(Type.String({ description: 'Where events are pushed to' })),
  description: nullable(Type.String()),
  events_delivered: Type.Array(Type.String()),
  status: oneOf(streamStatuses),
  status_reason: nullable(Type.String()),
  status_at: dateTime,
  waiting: Type.Integer({ description: 'Events that the receiver has not taken yet' }),
  waiting_since: nullable(dateTime),
  delivered_at: nullable(dateTime),
  removed_subjects: Type.Integer({ description: 'People whom the receiver does not want to be told of' }),
  created_at: dateTime,
  updated_at: dateTime,
});
/** When one may ask again while verification events wait untaken. */
const verifyAgainSeconds = 60;

export const ssfStreamEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/ssf-streams',
    capability: 'clients:read',
    summary: 'List streams of security events, oldest first; `search` is a part of the name of a receiver or of an address',
    query: searchQuery,
    answer: listAnswer(answer),
    status: 200,
    handle: (call) =>
      answerSearched(call, listStreamReports, {
        key: ({ id }) => id,
        texts: ({ clientName, url = '' }) => [clientName, url],
        json: streamToJson,
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/ssf-streams/:id',
    capability: 'clients:read',
    summary: 'Read a stream of security events',
    answer,
    status: 200,
    handle: (call) => report(call),
  }),
  endpoint({
    method: 'POST',
    path: '/ssf-streams/:id/status',
    capability: 'clients:write',
    summary: 'Enable, pause or disable a stream; its receiver gets an event. The caller needs the capabilities of the receiver',
    body: closed({ status: oneOf(streamStatuses), reason: Type.Optional(Type.String({ maxLength: streamReasonCharsMax })) }),
    answer,
    status: 200,
    handle: async (call) => {
      await requireReceivers(call);
      if ((await changeStatus(call.services, asking(call), call.params['id']!, call.body)) === undefined) throw unknownStream();
      return report(call);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/ssf-streams/:id/verify',
    capability: 'clients:write',
    summary: 'Send the receiver of a stream a verification event',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const done = await verifyStream(call.services, asking(call), { id: call.params['id']! });
      if (done.ok) return;
      throw done.reason === 'unknown' ? unknownStream() : rateLimited('management', 'ssf_verifications', verifyAgainSeconds);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/ssf-streams/:id',
    capability: 'clients:write',
    summary: 'Delete a stream with what waits for its receiver, which may make another. The caller needs the capabilities of the receiver',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      await requireReceivers(call);
      if (!(await removeStream(call.services, asking(call), call.params['id']!))) throw unknownStream();
    },
  }),
];

type AnyCall = Pick<Call<unknown, unknown>, 'services' | 'tenant' | 'params' | 'actor' | 'requestId' | 'scopes'>;

const unknownStream = (): Error => notFound('unknown_stream');
const asking = ({ tenant, actor, requestId }: AnyCall): Asking => ({ tenant, by: { actor, requestId } });

/** What a stream hands out is its receiver's: whoever turns it on, off or away has the capabilities of that client, as for the client itself. */
async function requireReceivers({ services: { database }, tenant, params, scopes }: AnyCall): Promise<void> {
  const receiver = await database.read(tenant.id, async (queries) => {
    const [stream] = await listStreamReports(queries, tenant.id, { id: params['id']! });
    return stream && findClient(queries, tenant.id, stream.clientId);
  });
  if (receiver === undefined) throw unknownStream();
  requireCapabilities(capabilitiesIn(receiver.scopes), scopes);
}

async function report({ services, tenant, params }: AnyCall): Promise<Json> {
  const [stream] = await services.database.read(tenant.id, (queries) => listStreamReports(queries, tenant.id, { id: params['id']! }));
  if (stream === undefined) throw unknownStream();
  return streamToJson(stream);
}

const timeOf = (ms: number | undefined): string | null => (ms === undefined ? null : isoTime(ms));

const streamToJson = (stream: StreamReport): Json => ({
  id: stream.id,
  client_id: stream.clientId,
  client_name: stream.clientName,
  method: stream.method,
  url: stream.url ?? null,
  description: stream.description ?? null,
  events_delivered: deliveredEvents(stream),
  status: stream.status,
  status_reason: stream.statusReason ?? null,
  status_at: isoTime(stream.statusAtMs),
  waiting: stream.waiting,
  waiting_since: timeOf(stream.waitingSinceMs),
  delivered_at: timeOf(stream.deliveredAtMs),
  removed_subjects: stream.removedSubjects,
  created_at: isoTime(stream.createdAtMs),
  updated_at: isoTime(stream.updatedAtMs),
});
