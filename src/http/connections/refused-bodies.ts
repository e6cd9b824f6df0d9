// A body refused for its size is often still on its way, from a client that reads the answer only when it has written everything.
// Closing the connection then resets it and the answer is lost. So the answer goes out at once, complete, and what comes is read
// and forgotten for a while before the connection is closed. Who asks first (Expect: 100-continue) gets the answer alone.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { refusedBodyBytesMax, refusedBodyConnectionsMax } from '../../contract/limits.ts';

/** Installs it for every surface. `bodyLimitOf` gives the bytes a path takes; `refusedBodyMs` is how long a body is read on. */
export function readRefusedBodies(app: FastifyInstance, bodyLimitOf: (url: string) => number, refusedBodyMs: number): void {
  const open = new Set<() => void>();
  app.addHook('onSend', (request, reply, payload, done) => {
    const { raw } = request;
    const isOnItsWay = reply.statusCode === 413 && !raw.complete && !asksFirst(raw);
    if (!isOnItsWay || typeof payload !== 'string' || open.size >= refusedBodyConnectionsMax) done(null, payload);
    else done(null, answerThenRead(raw, reply, payload, { open, refusedBodyMs }));
  });
  app.addHook('preClose', (done) => {
    for (const end of open) end();
    done();
  });
  app.server.on('checkContinue', (request, response) => app.server.emit('request', request, response));
  app.addHook('preParsing', (request, reply, payload, done) => {
    const isTooLarge = Number(request.headers['content-length']) > bodyLimitOf(request.url);
    if (asksFirst(request.raw) && !isTooLarge) reply.raw.writeContinue();
    done(null, payload);
  });
}

const asksFirst = ({ headers }: IncomingMessage): boolean => headers.expect?.toLowerCase() === '100-continue';

interface Reading {
  /** What ends each of the readings in hand. */
  readonly open: Set<() => void>;
  readonly refusedBodyMs: number;
}

/** The answer as a stream that is whole at once and ends, with the connection, when no more is to be read. */
function answerThenRead(request: IncomingMessage, reply: FastifyReply, text: string, { open, refusedBodyMs }: Reading): Readable {
  reply.header('connection', 'close').header('content-length', Buffer.byteLength(text));
  const answer = new Readable({ read: () => undefined });
  answer.push(text);
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > refusedBodyBytesMax) end();
  };
  const end = (): void => {
    if (!open.delete(end)) return;
    clearTimeout(timer);
    request.off('data', count);
    answer.push(null);
  };
  const timer = setTimeout(end, refusedBodyMs);
  open.add(end);
  request.on('data', count).once('end', end).once('close', end).once('error', end).resume();
  return answer;
}
