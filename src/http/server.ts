// The HTTP server: Fastify with our limits, request ids on every answer and no text of any library on the wire.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { ContractError, reject } from '../contract/contract-error.ts';
import { render } from '../contract/envelopes.ts';
import { bodyBytesMax, headerBytesMax, requestTimeoutMs, stalledAnswerMs } from '../contract/limits.ts';
import type { Clock } from '../platform/clock.ts';
import { requestIdAt } from '../platform/random.ts';
import type { AddressOf } from './client-address.ts';
import { afterAnswers, limitConnections } from './connections/connection-limits.ts';
import { installDraining } from './connections/draining.ts';
import { readRefusedBodies } from './connections/refused-bodies.ts';
import { watchLoopLag } from './load-shedding.ts';
import { findRequestFault } from './request-sanity.ts';
import { type ErrorAnswers, malformedError, sharedError, unknownPath } from './surface-errors.ts';
import { takeTenantPrefix } from './tenant-name.ts';

export const requestIdHeader = 'x-request-id';

/** Whose envelope answers at and below a path. Surfaces add themselves when they register. */
interface SurfacePrefix extends Pick<ErrorAnswers, 'envelope' | 'malformed'> {
  readonly prefix: string;
  readonly bodyBytesMax: number;
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly surfacePrefixes: SurfacePrefix[];
  }
}

/** How long a connection may take, in milliseconds. */
interface ServerTimeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How long it is kept between two requests. */
  readonly keepAliveMs: number;
  /** How often connections are looked at. */
  readonly checkEveryMs: number;
  /** How long a body that was refused for its size is read on. */
  readonly refusedBodyMs?: number;
  /** How long an answer may wait without a byte of it being taken. */
  readonly stalledMs?: number;
}

const defaultTimeouts: ServerTimeouts = { headersMs: 15_000, requestMs: requestTimeoutMs, keepAliveMs: 65_000, checkEveryMs: 5000 };

/** Makes the server without surfaces. The caller registers them, listens and closes. */
export function createServer(addressOf: AddressOf, clock: Clock, timeouts: ServerTimeouts = defaultTimeouts): FastifyInstance {
  const newRequestId = (): string => requestIdAt(clock.nowMs());
  const envelopes: SurfacePrefix[] = [];
  const app = Fastify({
    logger: false,
    genReqId: newRequestId,
    rewriteUrl: (request) => takeTenantPrefix(request as IncomingMessage),
    bodyLimit: bodyBytesMax,
    requestTimeout: timeouts.requestMs,
    connectionTimeout: 0,
    keepAliveTimeout: timeouts.keepAliveMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    http: {
      maxHeaderSize: headerBytesMax,
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: timeouts.checkEveryMs,
      requireHostHeader: false, // Node would answer with an empty body; request-sanity.ts refuses it with ours
    },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    clientErrorHandler: (error, socket) => afterAnswers(socket, () => answerBrokenRequest(newRequestId(), error, socket)),
    // Fastify types this reply by a generic route; it is the ordinary one.
    frameworkErrors: (error, request, reply) => answerBadPath(envelopes, error, request as FastifyRequest, reply as FastifyReply),
  });
  // null until set: the shape of the request object stays the same for every request
  app.decorateRequest('tenant', null as never);
  app.decorateRequest('auditActor', undefined);
  app.decorateRequest('span', undefined);
  app.decorateRequest('refusedRow', undefined);
  app.decorateRequest('clientAddress', {
    getter() {
      return addressOf(this.raw);
    },
  });
  watchLoopLag(app);
  limitConnections(app, timeouts.stalledMs ?? stalledAnswerMs);
  installDraining(app);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({ [requestIdHeader]: request.id, 'x-content-type-options': 'nosniff' });
    const fault = findRequestFault(request.raw);
    if (fault === undefined) done(strangeMethodAt(envelopes, request));
    else if (fault === 'repeated_content_type') done(malformedAt(envelopes, request, fault));
    else done(reject('http.bad_request_line', fault));
  });
  // Surfaces read the bodies they know. Outside them a body is read and forgotten, so that none can be wrong but by its size.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null));
  app.setErrorHandler((error: FastifyError, request, reply) => answerOutsideSurfaces(outsideError(error), request, reply));
  app.setNotFoundHandler((request, reply) => answerOutsideSurfaces(unknownPath('management'), request, reply));
  readRefusedBodies(app, (url) => surfaceAt(envelopes, url)?.bodyBytesMax ?? bodyBytesMax, timeouts.refusedBodyMs ?? 10_000);
  app.decorate('surfacePrefixes', envelopes);
  // Any Expect but 100-continue: Node would answer with an empty 417; RFC 9110 10.1.1 lets us go on instead.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) =>
    answerBrokenRequest(newRequestId(), new Error('CONNECT'), socket),
  );
  closeQuietConnections(app);
  return app;
}

/** A path that cannot be decoded, or with an id longer than any of ours, reaches no route. */
function answerBadPath(
  prefixes: readonly SurfacePrefix[],
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const isLong = error.code === 'FST_ERR_MAX_PARAM_LENGTH';
  const unknown = sharedError(surfaceAt(prefixes, request.url)?.envelope ?? 'management', 'not_found', 'id_too_long');
  return answerOutsideSurfaces(isLong ? unknown : malformedAt(prefixes, request, 'bad_path'), request, reply);
}

/** The error of a malformed request no surface has looked at yet; whose it is is told by its path. */
function malformedAt(prefixes: readonly SurfacePrefix[], { url }: FastifyRequest, reason: string): ContractError {
  const surface = surfaceAt(prefixes, url);
  return surface === undefined ? reject('http.bad_request_line', reason) : malformedError(surface, reason);
}

/**
 * Surfaces have routes for whatever has none of theirs (surface.ts), with each method that any route has. What comes below one without a
 * route has another method: TRACE, PROPFIND, QUERY.
 */
function strangeMethodAt(prefixes: readonly SurfacePrefix[], { is404, url }: FastifyRequest): ContractError | undefined {
  const surface = is404 ? surfaceAt(prefixes, url) : undefined;
  return surface === undefined ? undefined : unknownPath(surface.envelope);
}

function surfaceAt(prefixes: readonly SurfacePrefix[], url: string): SurfacePrefix | undefined {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  return prefixes.find(({ prefix }) => path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/'));
}

const quietCheckMs = 50;

/**
 * How long a draining server keeps connections that nobody uses after it stopped listening. A proxy may be sending a request on one this
 * moment, and may not repeat it. Meanwhile it is refused new connections and sends its requests elsewhere. nginx that was refused one
 * (`fail_timeout=1s`) comes back within two seconds, to the connections it still has first.
 */
const unusedMs = 2500;

/** A server that closes ends connections without a request in hand, those that never sent one included. */
function closeQuietConnections(app: FastifyInstance): void {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const closeIdle = app.server.closeIdleConnections.bind(app.server);
  const closeQuiet = (): void => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    closeIdle();
  };
  let fromMs = Number.POSITIVE_INFINITY;
  // Node, Fastify and node:cluster call it when they stop listening.
  app.server.closeIdleConnections = () => performance.now() >= fromMs && closeQuiet();
  app.addHook('preClose', (done) => {
    fromMs = performance.now() + (app.draining.isOn() ? unusedMs : 0);
    const timer = setInterval(() => app.server.closeIdleConnections(), quietCheckMs);
    app.server.once('close', () => clearInterval(timer));
    done();
  });
}

/** Routes carry no schemas (bodies are checked by hand or by TypeBox), so Fastify need not load compilers for them. */
function noSchemas(): never {
  throw new Error('routes carry no Fastify schemas');
}

function outsideError(error: FastifyError): ContractError {
  if (error instanceof ContractError) return error;
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return reject('management.payload_too_large', error.code);
  const isTheirs = error.statusCode !== undefined && error.statusCode < 500;
  return reject(isTheirs ? 'management.malformed' : 'management.server_error', error.code ?? 'fault');
}

/** Paths of no surface answer in the management envelope. */
function answerOutsideSurfaces(error: ContractError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = render(error);
  return reply
    .code(answer.status)
    .headers({ ...answer.headers, [requestIdHeader]: request.id })
    .send(JSON.stringify(answer.body));
}

/** Answers what Node could not parse as HTTP, straight on the socket. */
function answerBrokenRequest(requestId: string, error: Error & { code?: string }, socket: Socket): void {
  if (socket.writableEnded) return; // its last answer closes it
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const answer = render(brokenRequestError(error.code));
  const body = JSON.stringify(answer.body);
  const headers = {
    ...answer.headers,
    [requestIdHeader]: requestId,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${answer.status} ${statusText[answer.status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

const statusText: Readonly<Record<number, string>> = { 400: 'Bad Request', 408: 'Request Timeout', 431: 'Request Header Fields Too Large' };

function brokenRequestError(code: string | undefined): ContractError {
  if (code === 'HPE_HEADER_OVERFLOW') return reject('http.headers_too_large', 'header_overflow');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return reject('http.timeout', 'slow_request');
  return reject('http.bad_request_line', 'unparseable');
}
