// The people a stream is not to tell of, as its receiver names them (SSF 1.0, 8.1.3). Nobody, and whoever the receiver may not be told of
// anyway, are taken in silence: an answer never says whether somebody exists.
import { removedSubjectsMax } from '../contract/limits.ts';
import type { SsfStream } from '../domain/extending/ssf-stream.ts';
import { foldKey } from '../domain/fold.ts';
import type { UserId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { mayBeToldOf } from '../ssf/audience.ts';
import type { SubjectId } from '../ssf/security-event-token.ts';
import type { Queries } from '../storage/engine/database.ts';
import { findUserOfEmail, lockUser } from '../storage/people/users.ts';
import { findCachedClient } from '../storage/registry/clients/clients.ts';
import {
  countRemovedSubjects,
  deleteRemovedSubject,
  insertRemovedSubject,
  isSubjectRemoved,
} from '../storage/registry/extending/ssf-removed-subjects.ts';
import { lockStreamOf } from '../storage/registry/extending/ssf-streams.ts';
import { type Administration, recordAct } from './administration.ts';
import type { Receiver } from './ssf-streams.ts';

type Store = Pick<Administration, 'cache' | 'clock' | 'database'>;
/** Those of people. */
export type PersonId = Exclude<SubjectId, { readonly format: 'opaque' }>;

/** Has a stream no longer tell of a person. */
export async function removeSubject(
  store: Store,
  receiver: Receiver,
  id: string,
  subject: PersonId,
): Promise<Outcome<object, 'unknown' | 'too_many'>> {
  const { tenant } = receiver;
  return inStream<'too_many'>(store, receiver, id, subject, async (queries, stream, user) => {
    if (user !== undefined && (await isSubjectRemoved(queries, tenant.id, { stream: stream.id, user }))) return { ok: true };
    if ((await countRemovedSubjects(queries, tenant.id, stream.id)) >= removedSubjectsMax) return fail('too_many');
    if (user === undefined) return { ok: true };
    await insertRemovedSubject(queries, tenant.id, { stream: stream.id, user });
    await record(queries, store, receiver, { stream, user, told: false });
    return { ok: true };
  });
}

/** Has a stream tell of a person again. */
export async function addSubject(store: Store, receiver: Receiver, id: string, subject: PersonId): Promise<Outcome<object, 'unknown'>> {
  return inStream<never>(store, receiver, id, subject, async (queries, stream, user) => {
    if (user !== undefined && (await deleteRemovedSubject(queries, receiver.tenant.id, { stream: stream.id, user })))
      await record(queries, store, receiver, { stream, user, told: true });
    return { ok: true };
  });
}

/** Does it with the receiver's stream of that id, and the person when the receiver may be told of them. */
async function inStream<Reason extends string>(
  { database, cache }: Store,
  { tenant, clientId }: Receiver,
  id: string,
  subject: PersonId,
  work: (queries: Queries, stream: SsfStream, user: UserId | undefined) => Promise<Outcome<object, Reason>>,
): Promise<Outcome<object, Reason | 'unknown'>> {
  const client = await findCachedClient(cache, tenant.id, clientId);
  return database.write(tenant.id, async (queries) => {
    const stream = await lockStreamOf(queries, database.dialect, tenant.id, clientId);
    if (client === undefined || stream?.id !== id) return fail('unknown');
    const named = await personOf(queries, tenant, subject);
    const user = named === undefined ? undefined : await lockUser(queries, database.dialect, tenant.id, named);
    const isKnown = user !== undefined && (await mayBeToldOf(queries, tenant.id, client, user.id));
    return work(queries, stream, isKnown ? user.id : undefined);
  });
}

async function personOf(queries: Queries, tenant: Receiver['tenant'], subject: PersonId): Promise<string | undefined> {
  if (subject.format === 'iss_sub') return subject.iss === tenant.baseUrl ? subject.sub : undefined;
  return (await findUserOfEmail(queries, tenant.id, foldKey(subject.email)))?.id;
}

const record = (
  queries: Queries,
  store: Store,
  { tenant, clientId, by }: Receiver,
  { stream, user, told }: { readonly stream: SsfStream; readonly user: UserId; readonly told: boolean },
): Promise<void> =>
  recordAct(queries, store, tenant.id, by, {
    type: 'ssf_stream.subject_changed',
    target: `ssf_stream:${stream.id}`,
    data: { client: clientId, user, told },
  });
