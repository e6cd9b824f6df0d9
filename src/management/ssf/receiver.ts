// Who calls as a receiver of security events: a client with a token of its own (client_credentials). A person has no stream.
import type { Receiver } from '../../administration/ssf-streams.ts';
import { reject } from '../../contract/contract-error.ts';
import type { ClientId } from '../../domain/ids.ts';
import { type Call, notFound } from '../endpoint.ts';

const prefix = 'client:';

export function receiverOf({ tenant, actor, requestId }: Pick<Call<unknown, unknown>, 'tenant' | 'actor' | 'requestId'>): Receiver {
  if (!actor.startsWith(prefix))
    throw reject(
      'management.forbidden',
      { reason: 'not_a_client', expected: 'a client with a token of its own', received: actor },
      { text: 'Streams belong to clients that authenticate themselves.' },
    );
  return { tenant, clientId: actor.slice(prefix.length) as ClientId, by: { actor, requestId } }; // verified with the token
}

export const unknownStream = (): Error => notFound('unknown_stream');
