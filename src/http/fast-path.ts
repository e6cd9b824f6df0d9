// The fast path: a connection's requests are looked at before Node's HTTP parser sees them. A plain request (plain-request.ts)
// of an endpoint that takes part is answered here, by the same handler and with the same bytes; at the first byte of anything
// else the connection goes to Node and Fastify for good, as if it had just been opened.
// docs/decisions/0010-fast-path.md has the reasons and figures.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { PlainReply } from './plain-reply.ts';
import { type PlainHead, type PlainRequest, readPlainRequest } from './plain-request.ts';
import { splitTenantPrefix } from './tenant-name.ts';

/** A plain request on its way to its endpoint. */
export interface PlainCall extends PlainRequest, Route {
  readonly socket: Socket;
}

/** Where a head leads. */
interface Route {
  /** The path below the tenant's base_url. */
  readonly url: string;
  /** What `/t/<slug>` named; undefined without one. */
  readonly slug: string | undefined;
}

/** Answers a plain request; undefined leaves it to Fastify, with nothing done. */
export type PlainAnswerer = (call: PlainCall) => Promise<PlainReply> | undefined;

/** Endpoints that take part, by method and path below base_url: `POST /v1/idp/oidc/token`. */
export type PlainEndpoints = ReadonlyMap<string, PlainAnswerer>;

export interface FastPathPatience {
  /** How long a connection may stay without its first request, and then between two, in milliseconds. */
  readonly firstRequestMs: number;
  readonly betweenRequestsMs: number;
}

export interface FastPath {
  /** Closes connections that wait for a request; those with one in hand are closed after its answer. */
  readonly drain: () => void;
}

/** Node keeps an idle connection for a second longer than it promises the client. */
const keepAliveSlackMs = 1000;

/**
 * Puts the fast path in front of a server that does not listen yet.
 * @param onSilence answers a connection that never sent a request.
 */
export function installFastPath(
  server: Server,
  endpoints: PlainEndpoints,
  patience: FastPathPatience,
  onSilence: (socket: Socket) => void,
): FastPath {
  const parse = server.listeners('connection') as ((socket: Socket) => void)[]; // Node's own: gives the socket to the HTTP parser
  server.removeAllListeners('connection');
  const open = new Set<PlainConnection>();
  let draining = false;
  server.on('connection', (socket: Socket) => {
    const connection = new PlainConnection(socket, endpoints, patience, onSilence, (left) => {
      open.delete(connection);
      if (left) for (const listener of parse) listener.call(server, socket);
    });
    open.add(connection);
    if (draining) connection.drain();
  });
  return {
    drain: () => {
      draining = true;
      for (const connection of open) connection.drain();
    },
  };
}

function findEndpoint(endpoints: PlainEndpoints, { method, target }: PlainHead): Route & { readonly answerer: PlainAnswerer | undefined } {
  const { slug, url } = splitTenantPrefix(target);
  return { slug, url, answerer: endpoints.get(`${method} ${url}`) };
}

class PlainConnection {
  readonly #socket: Socket;
  readonly #endpoints: PlainEndpoints;
  readonly #patience: FastPathPatience;
  readonly #onSilence: (socket: Socket) => void;
  /** Called once: with true when the connection goes on in Node's parser. */
  readonly #onLeave: (goesOn: boolean) => void;
  /** The head before, and where it led: a client that keeps a connection mostly repeats itself. */
  #last: (Route & { readonly head: PlainHead; readonly answerer: PlainAnswerer | undefined }) | undefined;
  #isBusy = false;
  #isClosing = false;
  #answered = 0;

  constructor(
    socket: Socket,
    endpoints: PlainEndpoints,
    patience: FastPathPatience,
    onSilence: (socket: Socket) => void,
    onLeave: (goesOn: boolean) => void,
  ) {
    this.#socket = socket;
    this.#endpoints = endpoints;
    this.#patience = patience;
    this.#onSilence = onSilence;
    this.#onLeave = onLeave;
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
    socket.setTimeout(patience.firstRequestMs, this.#onTimeout);
  }

  drain(): void {
    this.#isClosing = true;
    if (!this.#isBusy) this.#socket.destroy();
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#isBusy) {
      // A pipelined request waits where it is until the answer before it is out.
      this.#socket.pause();
      this.#socket.unshift(bytes);
      return;
    }
    const answering = this.#socket.writableNeedDrain ? undefined : this.#answer(bytes);
    if (answering === undefined) {
      this.#leave(bytes);
      return;
    }
    this.#isBusy = true;
    answering.then(this.#send, () => this.#socket.destroy());
  };

  #answer(bytes: Buffer): Promise<PlainReply> | undefined {
    const plain = readPlainRequest(bytes, this.#last?.head);
    if (plain === undefined) return undefined;
    const { head, form } = plain;
    if (this.#last?.head !== head) this.#last = { head, ...findEndpoint(this.#endpoints, head) };
    const { answerer, url, slug } = this.#last;
    return answerer?.({ head, form, url, slug, socket: this.#socket });
  }

  readonly #send = (reply: PlainReply): void => {
    const socket = this.#socket;
    this.#isBusy = false;
    if (socket.destroyed) return;
    const { text, encoding } = reply.message(this.#isClosing ? undefined : Math.floor(this.#patience.betweenRequestsMs / 1000));
    socket.write(text, encoding);
    if (this.#isClosing) {
      socket.destroySoon();
      return;
    }
    this.#answered += 1;
    if (this.#answered === 1) socket.setTimeout(this.#patience.betweenRequestsMs + keepAliveSlackMs);
    if (socket.readableLength > 0) this.#leave();
  };

  /** Hands the connection to Node's parser, these bytes first. */
  #leave(bytes?: Buffer): void {
    const socket = this.#socket;
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.off('error', this.#onError);
    socket.off('close', this.#onClose);
    socket.setTimeout(0, this.#onTimeout);
    if (bytes !== undefined) socket.unshift(bytes);
    this.#onLeave(true);
    socket.resume();
  }

  readonly #onEnd = (): void => {
    if (this.#isBusy) this.#isClosing = true;
    else this.#socket.end();
  };

  readonly #onTimeout = (): void => {
    if (this.#isBusy) return;
    if (this.#answered === 0) this.#onSilence(this.#socket);
    else this.#socket.destroy();
  };

  readonly #onError = (): void => void this.#socket.destroy();

  readonly #onClose = (): void => this.#onLeave(false);
}
