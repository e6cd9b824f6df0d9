// What connections may hold of ours: requests not answered yet, answers they do not take, and what they sent and we have not begun. A client
// that asks on one connection without reading waits for its own answers; one that takes nothing any more is cut off, and so are the worst
// when all of them together hold too much. Well-behaved clients pipeline little or not at all.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import {
  begunPerConnectionMax,
  connectionBytesMax,
  crowdedConnections,
  idleWhenCrowdedMs,
  pipelinedInHandMax,
  unansweredPerConnectionMax,
  unsentPerConnectionBytesMax,
} from '../../contract/limits.ts';
import { feedByRequest, type RequestFeed } from './request-feed.ts';

interface Connection {
  readonly unanswered: Set<IncomingMessage>;
  readonly feed: RequestFeed;
  /** What waits for the last answer in hand. */
  afterAnswers: (() => void) | undefined;
  /** What the other side's system had taken when it was looked at last, and since when that is so or nothing waits. */
  takenBytes: number;
  takenSinceMs: number;
  /** When something was asked or answered last. */
  usedAtMs: number;
}

type Connections = Map<Socket, Connection>;

const known = new WeakMap<Socket, Connection>();

/** Calls `work` when nothing of the connection is in hand any more: what it broke off with must not cost an answer before it. */
export function afterAnswers(socket: Socket, work: () => void): void {
  const connection = known.get(socket);
  connection?.feed.end();
  if (connection === undefined || !isAnswering(connection)) work();
  else connection.afterAnswers ??= work;
}

/** Requests that came whole and have no answer; one that is still coming may be what broke off. */
function whole({ unanswered }: Connection): number {
  let count = 0;
  for (const { complete } of unanswered) if (complete) count += 1;
  return count;
}

const isAnswering = (connection: Connection): boolean => whole(connection) > 0;

/** To be called before surfaces register. `stalledMs`: how long nothing may be taken of what waits to be sent. */
export function limitConnections(app: FastifyInstance, stalledMs: number): void {
  const connections: Connections = new Map();
  let inHand = 0;
  const goOn = createTurnEnd();
  app.server.on('connection', (socket: Socket) => {
    const nowMs = performance.now();
    const feed = feedByRequest(socket, {
      mayBegin: () => {
        const answering = whole(connection);
        if (connection.unanswered.size > answering) return true; // the rest of one that is begun
        return answering < (inHand < pipelinedInHandMax ? begunPerConnectionMax : 1) && socket.writableLength < unsentPerConnectionBytesMax;
      },
      waitingMax: () => unansweredPerConnectionMax - connection.unanswered.size,
    });
    const connection: Connection = {
      ...{ unanswered: new Set<IncomingMessage>(), feed, afterAnswers: undefined },
      ...{ takenBytes: 0, takenSinceMs: nowMs, usedAtMs: nowMs },
    };
    connections.set(socket, connection);
    known.set(socket, connection);
    socket.on('drain', () => goOn(connection));
    socket.once('close', () => {
      connections.delete(socket);
      // Answers behind the first of a connection never hear that it closed.
      inHand -= connection.unanswered.size;
      connection.unanswered.clear();
      feed.end();
    });
  });
  // Before Fastify's own listener.
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    connection.unanswered.add(request);
    inHand += 1;
    connection.usedAtMs = performance.now();
    response.once('close', () => {
      if (connection.unanswered.delete(request)) inHand -= 1;
      connection.usedAtMs = performance.now();
      if (connection.feed.heldBytes() > 0) goOn(connection);
      if (connection.afterAnswers === undefined || isAnswering(connection)) return;
      connection.afterAnswers();
      connection.afterAnswers = undefined;
    });
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.raw.socket.destroyed) done();
    else reply.hijack(); // nobody is there to be answered: nothing is begun
  });
  const { keepAliveTimeout } = app.server;
  const timer = setInterval(
    () => {
      const nowMs = performance.now();
      const heldBytes = cutWorst(connections, connectionBytesMax);
      const isCrowded = connections.size > crowdedConnections || heldBytes > connectionBytesMax / 2;
      // What is answered meanwhile tells its client, too.
      app.server.keepAliveTimeout = isCrowded ? Math.min(idleWhenCrowdedMs, keepAliveTimeout) : keepAliveTimeout;
      for (const [socket, connection] of connections)
        if (isStalled(socket, connection, stalledMs, nowMs) || (isCrowded && isIdle(connection, nowMs))) socket.destroy();
    },
    Math.min(stalledMs / 4, lookEveryMs),
  ).unref();
  app.addHook('onClose', (_instance, done) => {
    clearInterval(timer);
    done();
  });
}

const lookEveryMs = 500;

/** Goes on with connections in the next turn of the event loop, so that one that has much to ask holds up no other. */
function createTurnEnd(): (connection: Connection) => void {
  const waiting = new Set<Connection>();
  return (connection) => {
    if (waiting.size === 0)
      setImmediate(() => {
        const now = [...waiting];
        waiting.clear();
        for (const { feed } of now) feed.go();
      });
    waiting.add(connection);
  };
}

/** Cuts off those that hold most until all together hold at most so many bytes; gives what they hold then. */
function cutWorst(connections: Connections, bytesMax: number): number {
  const holding: (readonly [Socket, number])[] = [];
  let total = 0;
  for (const [socket, { feed }] of connections) {
    const bytes = feed.heldBytes() + socket.readableLength + socket.writableLength;
    total += bytes;
    if (bytes > 0) holding.push([socket, bytes]);
  }
  if (total <= bytesMax) return total;
  for (const [socket, bytes] of holding.sort(([, one], [, other]) => other - one)) {
    if (total <= bytesMax) break;
    socket.destroy();
    total -= bytes;
  }
  return total;
}

const isIdle = ({ unanswered, feed, usedAtMs }: Connection, nowMs: number): boolean =>
  unanswered.size === 0 && feed.heldBytes() === 0 && nowMs - usedAtMs > idleWhenCrowdedMs;

/** True when something waits to be sent and nothing of it was taken for so long. */
function isStalled(socket: Socket, connection: Connection, stalledMs: number, nowMs: number): boolean {
  // libuv knows how much of a single large write is left; Node's own time-out of sockets asks it as well.
  const { _handle: handle } = socket as unknown as { readonly _handle: StreamHandle | null };
  const takenBytes = handle === null ? 0 : handle.bytesWritten - handle.writeQueueSize;
  const isWaiting = socket.writableLength > 0 || (handle?.writeQueueSize ?? 0) > 0;
  if (!isWaiting || takenBytes !== connection.takenBytes) connection.takenSinceMs = nowMs;
  connection.takenBytes = takenBytes;
  return nowMs - connection.takenSinceMs >= stalledMs;
}

interface StreamHandle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}
