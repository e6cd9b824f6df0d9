// `/streams`: the stream of a receiver (SSF 1.0, 8.1.1), one a receiver. What the receiver supplies is checked and kept; what we supply may
// come back with it, as read, and must be what it is. Members nobody knows are passed over: receivers written for drafts send some.
import Type, { type Static } from 'typebox';
import { changeStream, createStream, removeStream } from '../../administration/ssf-streams.ts';
import {
  streamDescriptionCharsMax,
  streamEventsRequestedMax,
  streamHeaderCharsMax,
  streamsPerTenantMax,
  urlCharsMax,
} from '../../contract/limits.ts';
import { calledUriFault } from '../../domain/client/client-uris.ts';
import {
  type DeliveryMethod,
  deliveredEvents,
  deliveryMethods,
  type SsfStream,
  type StreamValues,
  supportedEvents,
} from '../../domain/extending/ssf-stream.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { pollUrl } from '../../ssf/configuration.ts';
import { findStreamOf } from '../../storage/registry/extending/ssf-streams.ts';
import { type Call, conflict, type Endpoint, endpoint, invalidField, type Json } from '../endpoint.ts';
import { closed, oneOf } from '../schemas.ts';
import { receiverOf, unknownStream } from './receiver.ts';

const uris = Type.Array(Type.String({ minLength: 1, maxLength: urlCharsMax }), { maxItems: streamEventsRequestedMax });
const supplied = {
  delivery: Type.Optional(
    Type.Object({
      method: oneOf(Object.values(deliveryMethods)),
      endpoint_url: Type.Optional(Type.String({ maxLength: urlCharsMax })),
      authorization_header: Type.Optional(Type.String({ minLength: 1, maxLength: streamHeaderCharsMax, pattern: '^[\\x20-\\x7e]+$' })),
    }),
  ),
  events_requested: Type.Optional(uris),
  description: Type.Optional(Type.String({ maxLength: streamDescriptionCharsMax })),
};
/** What we supply, in the order it is shown. */
const ours = ['iss', 'aud', 'events_supported', 'events_delivered', 'min_verification_interval', 'inactivity_timeout'] as const;
const told = Object.fromEntries(ours.map((name) => [name, Type.Optional(Type.Unknown())]));
const creation = Type.Object({ ...supplied, ...told });
const change = Type.Object({ stream_id: Type.String(), ...supplied, ...told });
const answer = Type.Object({ stream_id: Type.String() });
const one = closed({ stream_id: Type.String() });

type Supplied = Omit<Static<typeof change>, 'stream_id'>;

export const streamEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/streams',
    capability: 'ssf.manage',
    summary: 'Make the stream of this receiver',
    body: creation,
    answer,
    status: 201,
    handle: async (call) => {
      const receiver = receiverOf(call);
      const values = valuesOf(call.tenant, undefined, call.body as Supplied);
      await requireReachable(call, call.body as Supplied);
      const made = await createStream(call.services, receiver, values);
      if (made.ok) return streamToJson(call.tenant, made.stream);
      const full = `A tenant has at most ${streamsPerTenantMax} streams.`;
      throw conflict('stream_id', made.reason === 'taken' ? 'This receiver has a stream already: change or delete it.' : full);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/streams',
    capability: 'ssf.read',
    summary: 'Read the stream of this receiver; without stream_id a list of none or one',
    query: Type.Partial(one, { additionalProperties: false }),
    answer,
    status: 200,
    handle: async (call) => {
      const { services, tenant, query } = call;
      const { clientId } = receiverOf(call);
      const stream = await services.database.read(tenant.id, (queries) => findStreamOf(queries, tenant.id, clientId));
      if (query.stream_id === undefined) return stream === undefined ? [] : [streamToJson(tenant, stream)];
      if (stream?.id !== query.stream_id) throw unknownStream();
      return streamToJson(tenant, stream);
    },
  }),
  ...(['PATCH', 'PUT'] as const).map((method) =>
    endpoint({
      method,
      path: '/streams',
      capability: 'ssf.manage',
      summary: method === 'PATCH' ? 'Change what is given of a stream' : 'Replace a stream: what is not given is as for a new one',
      body: change,
      answer,
      status: 200,
      handle: async (call) => {
        const { stream_id: id, ...given } = call.body as Static<typeof change>;
        await requireReachable(call, given);
        const stream = await changeStream(call.services, receiverOf(call), id, (before) => {
          requireOurs(call.tenant, before, given);
          const values = valuesOf(call.tenant, before, given);
          const fields = Object.keys(supplied).filter((name) => method === 'PUT' || name in given);
          return {
            ...(method === 'PUT' ? values : { ...before, ...pick(values, given) }),
            keepsHeader: method === 'PATCH' && !('delivery' in given),
            fields,
          };
        });
        if (stream === undefined) throw unknownStream();
        return streamToJson(call.tenant, stream);
      },
    }),
  ),
  endpoint({
    method: 'DELETE',
    path: '/streams',
    capability: 'ssf.manage',
    summary: 'Delete a stream with what waits for it',
    query: one,
    answer: undefined,
    status: 204,
    handle: async (call) => {
      if (!(await removeStream(call.services, receiverOf(call), call.query.stream_id))) throw unknownStream();
    },
  }),
];

/** Of what a body makes of a stream, the parts it speaks of. */
function pick(values: StreamValues, given: Supplied): Partial<StreamValues> {
  const { method, url, authorizationHeader, eventsRequested, description } = values;
  return {
    ...('delivery' in given && { method, url, authorizationHeader }),
    ...('events_requested' in given && { eventsRequested }),
    ...('description' in given && { description }),
  };
}

/** The values of a body; @throws what is wrong with its delivery. */
function valuesOf(
  tenant: Tenant,
  before: SsfStream | undefined,
  { delivery, events_requested: eventsRequested, description }: Supplied,
): StreamValues {
  const wanted = delivery?.method ?? deliveryMethods.poll; // SSF 1.0, 8.1.1.1
  const method: DeliveryMethod = wanted === deliveryMethods.push ? 'push' : 'poll';
  const { endpoint_url: url, authorization_header: authorizationHeader } = delivery ?? {};
  if (method === 'poll') {
    if (url !== undefined && (before === undefined || url !== pollUrl(tenant, before.id)))
      throw invalidField('delivery.endpoint_url', 'This field is not yours to choose when you poll.');
    if (authorizationHeader !== undefined) throw invalidField('delivery.authorization_header', 'This field is for push alone.');
    return { method, url: undefined, authorizationHeader, eventsRequested, description };
  }
  if (url === undefined) throw invalidField('delivery.endpoint_url', 'This field is required.');
  const fault = calledUriFault(url);
  if (fault !== undefined) throw invalidField('delivery.endpoint_url', `This field ${fault}.`);
  return { method, url, authorizationHeader, eventsRequested, description };
}

/** How long the name of an endpoint may take to be looked up; what is not known by then shows when tokens are posted. */
const lookUpMsMax = 3000;

/** An address that tokens are never posted to is said at once: a stream whose deliveries are refused tells its receiver nothing. */
async function requireReachable({ services, tenant }: Pick<Call<unknown, unknown>, 'services' | 'tenant'>, given: Supplied): Promise<void> {
  const { method, endpoint_url: text = '' } = given.delivery ?? {};
  const url = method === deliveryMethods.push && calledUriFault(text) === undefined ? new URL(text) : undefined;
  if (url === undefined) return; // nothing to post to, or told by valuesOf
  const by = { share: tenant.id, signal: AbortSignal.timeout(lookUpMsMax) };
  const admitted = await services.outbound.admit(url.hostname, url.protocol === 'https:', by);
  if (!admitted.ok && admitted.reason !== 'unresolved')
    throw invalidField('delivery.endpoint_url', 'This field must be an address that is reached from here.');
}

/** SSF 1.0, 8.1.1.3: what we supply must match where it comes back. */
function requireOurs(tenant: Tenant, stream: SsfStream, given: Supplied): void {
  const shown = streamToJson(tenant, stream);
  const wrong = ours.find((name) => name in given && JSON.stringify((given as Json)[name]) !== JSON.stringify(shown[name]));
  if (wrong !== undefined) throw invalidField(wrong, 'This field is ours to set.');
}

/** The configuration as its receiver sees it, without its Authorization header. */
function streamToJson(tenant: Tenant, stream: SsfStream): Json {
  const { id, clientId, method, url, eventsRequested, description } = stream;
  return {
    stream_id: id,
    iss: tenant.baseUrl,
    aud: clientId,
    events_supported: supportedEvents,
    ...(eventsRequested !== undefined && { events_requested: eventsRequested }),
    events_delivered: deliveredEvents(stream),
    delivery: { method: deliveryMethods[method], endpoint_url: url ?? pollUrl(tenant, id) },
    ...(description !== undefined && { description }),
  };
}
