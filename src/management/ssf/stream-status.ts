// `/status` and `/verify`: whether a stream transmits (SSF 1.0, 8.1.2), and a request for a token that shows that it does (8.1.4).
import Type from 'typebox';
import { changeStatus, verifyStream } from '../../administration/ssf-streams.ts';
import { streamReasonCharsMax, streamStateCharsMax } from '../../contract/limits.ts';
import { type SsfStream, streamStatuses } from '../../domain/extending/ssf-stream.ts';
import { rateLimited } from '../../http/budgets/rate-limits.ts';
import { findStreamOf } from '../../storage/registry/extending/ssf-streams.ts';
import { type Endpoint, endpoint, type Json } from '../endpoint.ts';
import { closed, oneOf } from '../schemas.ts';
import { receiverOf, unknownStream } from './receiver.ts';

const answer = Type.Object({ stream_id: Type.String(), status: oneOf(streamStatuses), reason: Type.Optional(Type.String()) });
/** When the receiver may ask again whose verification events wait untaken. */
const verifyAgainSeconds = 60;

export const streamStatusEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/status',
    capability: 'ssf.read',
    summary: 'Read the status of a stream',
    query: closed({ stream_id: Type.String() }),
    answer,
    status: 200,
    handle: async (call) => {
      const { services, tenant, query } = call;
      const { clientId } = receiverOf(call);
      const stream = await services.database.read(tenant.id, (queries) => findStreamOf(queries, tenant.id, clientId));
      if (stream?.id !== query.stream_id) throw unknownStream();
      return statusToJson(stream);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/status',
    capability: 'ssf.manage',
    summary: 'Enable, pause or disable a stream',
    // SSF 1.0 8.1.2.2: receivers name the stream in the address too.
    query: closed({ stream_id: Type.Optional(Type.String()) }),
    body: closed({
      stream_id: Type.String(),
      status: oneOf(streamStatuses),
      reason: Type.Optional(Type.String({ maxLength: streamReasonCharsMax })),
    }),
    answer,
    status: 200,
    handle: async (call) => {
      const { stream_id: id, status, reason } = call.body;
      if ((call.query.stream_id ?? id) !== id) throw unknownStream();
      const stream = await changeStatus(call.services, receiverOf(call), id, { status, reason });
      if (stream === undefined) throw unknownStream();
      return statusToJson(stream);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/verify',
    capability: 'ssf.manage',
    summary: 'Have a verification event sent',
    body: closed({ stream_id: Type.String(), state: Type.Optional(Type.String({ maxLength: streamStateCharsMax })) }),
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const { stream_id: id, state } = call.body;
      const done = await verifyStream(call.services, receiverOf(call), { id, state });
      if (done.ok) return;
      throw done.reason === 'unknown' ? unknownStream() : rateLimited('management', 'ssf_verifications', verifyAgainSeconds);
    },
  }),
];

const statusToJson = ({ id, status, statusReason }: SsfStream): Json => ({
  stream_id: id,
  status,
  ...(statusReason !== undefined && { reason: statusReason }),
});
