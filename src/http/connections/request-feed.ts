// Hands what a connection sends to the HTTP parser request by request. Node's parser takes what was read whole, up to 64 KiB with hundreds
// of requests in it, and each of them is begun before anybody can stop it; so what may not be begun yet is held here, unread.
import type { Socket } from 'node:net';
import { bodyPartBytes } from '../../contract/limits.ts';

export interface RequestFeed {
  /** Bytes that are not handed on yet. */
  readonly heldBytes: () => number;
  /** Goes on with what is held. */
  readonly go: () => void;
  /** Forgets what is held: the connection has broken off. */
  readonly end: () => void;
}

/** What Node's HTTP server keeps at a connection. */
interface HttpSocket extends Socket {
  /** True while it takes nothing because answers wait to be sent; its parser must not be fed then. */
  readonly _paused?: boolean;
  /** Null once the connection is no longer one of HTTP. `incoming` is the request that was begun last. */
  readonly parser?: { readonly incoming?: { readonly complete: boolean } | null } | null;
}

const headEnd = Buffer.from('\r\n\r\n');

interface FeedRules {
  /** Asked before each part, which begins one request or goes on with one. */
  readonly mayBegin: () => boolean;
  /** How many requests may wait here for others of their connection; with more it is cut off. */
  readonly waitingMax: () => number;
}

/** To be called when the connection is new. */
export function feedByRequest(given: Socket, { mayBegin, waitingMax }: FeedRules): RequestFeed {
  const socket: HttpSocket = given;
  const [parse] = socket.listeners('data') as ((chunk: Buffer) => void)[]; // Node's own: nobody else has seen the connection yet
  if (parse === undefined) throw new Error('expected the listener of the HTTP server, found none');
  let rest: Buffer | undefined;
  let holdsBack = false;
  const feed = (): void => {
    while (rest !== undefined && socket._paused !== true && mayBegin()) {
      if (socket.destroyed || socket.parser == null) {
        rest = undefined;
        return;
      }
      // What looks like the end of a head in a body costs no part of its own: a body may be made of nothing else.
      const at = rest.indexOf(headEnd, socket.parser.incoming?.complete === false ? bodyPartBytes : 0);
      const part = at === -1 ? rest : rest.subarray(0, at + headEnd.length);
      rest = part.length === rest.length ? undefined : rest.subarray(part.length);
      parse(part);
    }
    if (rest !== undefined && hasMoreHeads(rest, waitingMax())) socket.destroy();
    if (socket._paused === true || holdsBack === (rest !== undefined)) return;
    holdsBack = rest !== undefined;
    if (holdsBack) socket.pause();
    else socket.resume();
  };
  socket.removeListener('data', parse);
  socket.on('data', (chunk: Buffer) => {
    rest = rest === undefined ? chunk : Buffer.concat([rest, chunk]);
    feed();
  });
  // Node goes on by itself when answers were sent.
  socket.on('resume', () => {
    holdsBack = false;
    if (rest !== undefined) feed();
  });
  const end = (): void => {
    rest = undefined;
  };
  return { heldBytes: () => rest?.length ?? 0, go: feed, end };
}

function hasMoreHeads(bytes: Buffer, count: number): boolean {
  let at = 0;
  for (let heads = 0; heads <= count; heads += 1) {
    at = bytes.indexOf(headEnd, at);
    if (at === -1) return false;
    at += headEnd.length;
  }
  return true;
}
