// A connection that is signed in: one operation at a time, its answers one by one as somebody asks for them. Answers to what was given up are
// passed over; referrals are counted, and nobody is contacted for them.
import type { TLSSocket } from 'node:tls';
import type { Filter } from 'ldapts';
import { type Answer, type Done, type RawEntry, readAnswer } from './answers.ts';
import { faultOf, faultOfAnswer } from './faults.ts';
import { writeFilter } from './filter-bytes.ts';
import { createMessages, readable } from './messages.ts';
import type { Allowance } from './waiting.ts';

export interface Search {
  readonly base: string;
  readonly scope: 'base' | 'sub';
  readonly filter: string;
  readonly attributes: readonly string[];
}

/** Of how many entries, and where it goes on (RFC 2696). */
interface PageOf {
  readonly entries: number;
  readonly cookie: Buffer | undefined;
}

export interface Session {
  /** Entries, and then how it ended, whatever that is. @throws DirectoryFault */
  readonly search: (search: Search, allowance: Allowance, page?: PageOf) => AsyncGenerator<RawEntry, Done, undefined>;
  /** Why an operation that ended so failed. */
  readonly faultOf: (done: Done) => Error;
  readonly referrals: () => number;
  readonly close: () => void;
}

const referralCode = 10;
const closingMs = 1000;
/** Of what the server says of itself, without being asked (RFC 4511 4.4). */
const unsolicitedId = 0;

/** @throws DirectoryFault */
function requestBytes(request: { readonly write: () => Buffer }, filter: string): Buffer {
  try {
    return request.write();
  } catch {
    throw faultOf('malformed', `a filter that cannot be sent: ${filter}`);
  }
}

/** A simple bind (RFC 4513 5.1.3). @param signal gives everything up @throws DirectoryFault */
export async function signIn(
  socket: TLSSocket,
  { dn, password }: { readonly dn: string; readonly password: string },
  allowance: Allowance,
  signal: AbortSignal,
): Promise<Session> {
  // A name without a password is taken for nobody, and well (RFC 4513 5.1.2).
  if (dn === '' || password === '') throw faultOf('refused', 'a name and a password are required');
  const { AbandonRequest, BindRequest, PagedResultsControl, SearchRequest, UnbindRequest } = await import('ldapts');
  const messages = createMessages(socket, signal);
  let [lastId, referrals] = [1, 0];
  const answerTo = async (id: number, within: Allowance): Promise<Answer['is']> => {
    for (;;) {
      const message = await messages.next(within);
      const { messageId, is } = readable(() => readAnswer(message));
      if (messageId === id) return is;
      if (messageId === unsolicitedId) throw faultOf('unreachable', is.kind === 'done' ? `disconnected: ${is.text}` : '', password);
    }
  };
  lastId += 1;
  socket.write(new BindRequest({ messageId: lastId, dn, password }).write());
  const bound = await answerTo(lastId, allowance);
  if (bound.kind !== 'done' || bound.operation !== 'bind') throw faultOf('malformed', 'something else than an answer to a bind');
  if (bound.code !== 0) throw faultOfAnswer(bound, password);
  return {
    search: async function* ({ base, scope, filter, attributes }, within, page) {
      lastId += 1;
      const id = lastId;
      const cookie = page?.cookie === undefined ? {} : { cookie: page.cookie };
      const request = new SearchRequest({
        ...{ messageId: id, baseDN: base, scope, attributes: [...attributes], sizeLimit: 0, timeLimit: 0 },
        // What a request asks of its filter is to write itself.
        filter: { write: (writer) => writeFilter(writer, filter) } as Filter,
        // Not critical: who knows no pages answers with everything, which is read as pages too.
        ...(page !== undefined && { controls: [new PagedResultsControl({ value: { size: page.entries, ...cookie } })] }),
      });
      socket.write(requestBytes(request, filter));
      let isOver = false;
      try {
        for (;;) {
          const is = await answerTo(id, within);
          if (is.kind === 'entry') yield is;
          else if (is.kind === 'reference') referrals += 1;
          else {
            isOver = true;
            if (is.operation !== 'search') throw faultOf('malformed', 'something else than an answer to a search');
            if (is.code === referralCode) referrals += 1;
            return is;
          }
        }
      } finally {
        if (!isOver && socket.writable) {
          lastId += 1;
          socket.write(new AbandonRequest({ messageId: lastId, abandonId: id }).write());
        }
      }
    },
    faultOf: (done) => faultOfAnswer(done, password),
    referrals: () => referrals,
    close: () => {
      lastId += 1;
      if (socket.writable) socket.end(new UnbindRequest({ messageId: lastId }).write(), () => socket.destroy());
      // One that takes nothing is not waited for.
      setTimeout(() => socket.destroy(), closingMs).unref();
    },
  };
}
