// `/subjects/add` and `/subjects/remove`: people a receiver does not want to be told of, and wants to again (SSF 1.0, 8.1.3).
import Type, { type Static } from 'typebox';
import { addSubject, type PersonId, removeSubject } from '../../administration/ssf-subjects.ts';
import { emailCharsMax, removedSubjectsMax, subjectCharsMax, urlCharsMax } from '../../contract/limits.ts';
import { type Endpoint, endpoint, invalidField } from '../endpoint.ts';
import { receiverOf, unknownStream } from './receiver.ts';

const formats = ['iss_sub', 'email'] as const;
const subject = Type.Object({
  format: Type.String(),
  iss: Type.Optional(Type.String({ maxLength: urlCharsMax })),
  sub: Type.Optional(Type.String({ maxLength: subjectCharsMax })),
  email: Type.Optional(Type.String({ maxLength: emailCharsMax })),
});
/** Members nobody knows are passed over, as in a stream. */
const body = Type.Object({ stream_id: Type.String(), subject, verified: Type.Optional(Type.Boolean()) });

export const subjectEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/subjects/add',
    capability: 'ssf.manage',
    summary: 'Be told of a person again',
    body,
    answer: undefined,
    status: 200,
    handle: async (call) => {
      const done = await addSubject(call.services, receiverOf(call), call.body.stream_id, personOf(call.body.subject));
      if (!done.ok) throw unknownStream();
    },
  }),
  endpoint({
    method: 'POST',
    path: '/subjects/remove',
    capability: 'ssf.manage',
    summary: 'No longer be told of a person',
    body,
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const done = await removeSubject(call.services, receiverOf(call), call.body.stream_id, personOf(call.body.subject));
      if (done.ok) return;
      if (done.reason === 'unknown') throw unknownStream();
      throw invalidField('subject', `A stream is not to tell of ${removedSubjectsMax} people at most: add some again.`);
    },
  }),
];

/** @throws naming the member that is missing */
function personOf({ format, iss, sub, email }: Static<typeof subject>): PersonId {
  const needed = <T>(name: string, value: T | undefined): T => {
    if (value === undefined) throw invalidField(`subject.${name}`, 'This field is required.');
    return value;
  };
  if (format === 'iss_sub') return { format, iss: needed('iss', iss), sub: needed('sub', sub) };
  if (format === 'email') return { format, email: needed('email', email) };
  throw invalidField('subject.format', `This field must be one of ${formats.join(', ')}.`);
}
