// `/poll/:stream_id`: a receiver fetches its tokens (RFC 8936). What it acknowledges, or refuses, is forgotten; everything else it gets again.
import { setTimeout as wait } from 'node:timers/promises';
import Type, { type Static } from 'typebox';
import type { Receiver } from '../../administration/ssf-streams.ts';
import { acknowledgedSetsMax, polledSetsMax, pollWaitSecondsMax, pollWaitsMax, setErrorCharsMax } from '../../contract/limits.ts';
import { type SsfStream, streamEvents } from '../../domain/extending/ssf-stream.ts';
import { recordRefusedSet } from '../../ssf/refused-set.ts';
import { signToken } from '../../ssf/security-event-token.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { deleteSsfEvents, listWaitingSets, markDelivered, type WaitingSet } from '../../storage/records/ssf-events.ts';
import { findStreamOf } from '../../storage/registry/extending/ssf-streams.ts';
import type { Call } from '../endpoint.ts';
import { type Endpoint, endpoint, invalidField, type Json } from '../endpoint.ts';
import { closed } from '../schemas.ts';
import { receiverOf, unknownStream } from './receiver.ts';

const errorText = Type.String({ minLength: 1, maxLength: setErrorCharsMax });
const poll = closed({
  maxEvents: Type.Optional(Type.Integer({ minimum: 0 })),
  returnImmediately: Type.Optional(Type.Boolean()),
  ack: Type.Optional(Type.Array(Type.String({ maxLength: setErrorCharsMax }), { maxItems: acknowledgedSetsMax })),
  setErrs: Type.Optional(
    Type.Record(Type.String(), closed({ err: errorText, description: Type.Optional(Type.String({ maxLength: setErrorCharsMax })) }), {
      maxProperties: acknowledgedSetsMax,
    }),
  ),
});
type Poll = Static<typeof poll>;
type PollCall = Pick<Call<undefined, Poll>, 'services' | 'tenant' | 'actor' | 'requestId' | 'params' | 'body' | 'isGone'>;

/** While a poll waits. */
const lookEveryMs = 500;
/** Polls of this process that wait. */
let waiting = 0;

export const pollEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/poll/:stream_id',
    capability: 'ssf.read',
    summary: 'Fetch tokens, and say which of those before arrived',
    body: poll,
    answer: Type.Object({ sets: Type.Object({}), moreAvailable: Type.Optional(Type.Boolean()) }),
    status: 200,
    handle: async (call) => {
      const receiver = receiverOf(call);
      const limit = Math.min(call.body.maxEvents ?? polledSetsMax, polledSetsMax);
      await forget(call, receiver);
      const look = (): Promise<readonly WaitingSet[]> =>
        call.services.database.read(call.tenant.id, async (queries) => {
          const { id, status } = await findPolled(queries, receiver, call.params['stream_id']!);
          const type = status === 'enabled' ? undefined : streamEvents.streamUpdated;
          return listWaitingSets(queries, call.tenant.id, id, { limit: limit + 1, type });
        });
      const first = await look();
      const mayWait = limit > 0 && call.body.returnImmediately !== true;
      return answerOf(call, mayWait ? await waitFor(look, first, call.isGone) : first, limit);
    },
  }),
];

/** The stream of a receiver, when it is the one of that id and polled. @throws 404 */
async function findPolled(queries: Queries, { tenant, clientId }: Receiver, id: string): Promise<SsfStream> {
  const stream = await findStreamOf(queries, tenant.id, clientId);
  if (stream?.id !== id || stream.method !== 'poll') throw unknownStream();
  return stream;
}

/** Forgets the tokens that arrived or are refused; what was forgotten before is nothing to speak of. */
async function forget({ services, tenant, body, actor, requestId, params }: PollCall, receiver: Receiver): Promise<void> {
  const { ack = [], setErrs = {} } = body;
  const refused = Object.entries(setErrs);
  const long = refused.find(([jti]) => jti.length > setErrorCharsMax);
  if (long !== undefined) throw invalidField('setErrs', 'This field must have the jti of tokens as names.');
  if (ack.length === 0 && refused.length === 0) return;
  await services.database.write(tenant.id, async (queries) => {
    const stream = await findPolled(queries, receiver, params['stream_id']!);
    const taken = await deleteSsfEvents(queries, tenant.id, stream.id, { ids: ack });
    if (taken.length > 0) await markDelivered(queries, tenant.id, stream.id);
    for (const jti of await deleteSsfEvents(queries, tenant.id, stream.id, { ids: refused.map(([id]) => id) }))
      await recordRefusedSet(queries, tenant.id, stream, { jti, ...setErrs[jti]!, actor, requestId }, services.clock.nowMs());
  });
}

async function answerOf({ services, tenant }: PollCall, found: readonly WaitingSet[], limit: number): Promise<Json> {
  const sets: Record<string, string> = {};
  for (const { id, claims } of found.slice(0, limit)) sets[id] = await signToken(services, tenant, claims);
  return { sets, ...(found.length > limit && { moreAvailable: true }) };
}

/** Looks again until something is there or the time is over; at once where too many wait already. */
async function waitFor(
  look: () => Promise<readonly WaitingSet[]>,
  first: readonly WaitingSet[],
  isGone: () => boolean,
): Promise<readonly WaitingSet[]> {
  if (first.length > 0 || waiting >= pollWaitsMax) return first;
  const endsAtMs = performance.now() + pollWaitSecondsMax * 1000;
  waiting += 1;
  try {
    let found = first;
    while (found.length === 0 && !isGone() && performance.now() < endsAtMs) {
      await wait(Math.min(lookEveryMs, endsAtMs - performance.now()));
      found = await look();
    }
    return found;
  } finally {
    waiting -= 1;
  }
}
