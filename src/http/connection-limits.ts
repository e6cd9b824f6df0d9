// What one connection may hold of ours: requests not answered yet, and answers it does not take. A client that asks on one
// connection without reading, or reads nothing any more, is cut off. Well-behaved clients pipeline little or not at all.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { unansweredPerConnectionMax } from '../contract/limits.ts';

interface Connection {
  readonly unanswered: Set<IncomingMessage>;
  /** What waits for the last answer in hand. */
  afterAnswers: (() => void) | undefined;
  /** What the other side's system had taken when it was looked at last, and since when that is so or nothing waits. */
  takenBytes: number;
  takenSinceMs: number;
}

const known = new WeakMap<Socket, Connection>();

/** Calls `work` when nothing of the connection is in hand any more: what it broke off with must not cost an answer before it. */
export function afterAnswers(socket: Socket, work: () => void): void {
  const connection = known.get(socket);
  if (connection === undefined || !isAnswering(connection)) work();
  else connection.afterAnswers ??= work;
}

/** True while a request that came whole has no answer; one that is still coming may be what broke off. */
const isAnswering = ({ unanswered }: Connection): boolean => [...unanswered].some(({ complete }) => complete);

/** To be called before surfaces register. `stalledMs`: how long nothing may be taken of what waits to be sent. */
export function limitConnections(app: FastifyInstance, stalledMs: number): void {
  const connections = new Map<Socket, Connection>();
  app.server.on('connection', (socket: Socket) => {
    const connection = { unanswered: new Set<IncomingMessage>(), afterAnswers: undefined, takenBytes: 0, takenSinceMs: performance.now() };
    connections.set(socket, connection);
    known.set(socket, connection);
    socket.once('close', () => connections.delete(socket));
  });
  // Before Fastify's own listener, so that a request too many is not begun.
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    connection.unanswered.add(request);
    response.once('close', () => {
      connection.unanswered.delete(request);
      if (connection.afterAnswers === undefined || isAnswering(connection)) return;
      connection.afterAnswers();
      connection.afterAnswers = undefined;
    });
    if (connection.unanswered.size > unansweredPerConnectionMax) request.socket.destroy();
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.raw.socket.destroyed) done();
    else reply.hijack(); // nobody is there to be answered: nothing is begun
  });
  const timer = setInterval(() => {
    for (const [socket, connection] of connections) if (isStalled(socket, connection, stalledMs)) socket.destroy();
  }, stalledMs / 4).unref();
  app.addHook('onClose', (_instance, done) => {
    clearInterval(timer);
    done();
  });
}

/** True when something waits to be sent and nothing of it was taken for so long. */
function isStalled(socket: Socket, connection: Connection, stalledMs: number): boolean {
  // libuv knows how much of a single large write is left; Node's own time-out of sockets asks it as well.
  const { _handle: handle } = socket as unknown as { readonly _handle: StreamHandle | null };
  const takenBytes = handle === null ? 0 : handle.bytesWritten - handle.writeQueueSize;
  const isWaiting = socket.writableLength > 0 || (handle?.writeQueueSize ?? 0) > 0;
  const nowMs = performance.now();
  if (!isWaiting || takenBytes !== connection.takenBytes) connection.takenSinceMs = nowMs;
  connection.takenBytes = takenBytes;
  return nowMs - connection.takenSinceMs >= stalledMs;
}

interface StreamHandle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}
