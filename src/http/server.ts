// The HTTP server: Fastify with our limits, request ids on every answer and no text of any library on the wire.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { ContractError, reject } from '../contract/contract-error.ts';
import { render } from '../contract/envelopes.ts';
import { bodyBytesMax, headerBytesMax, requestTimeoutMs } from '../contract/limits.ts';
import type { Envelope } from '../contract/row.ts';
import { randomId } from '../platform/random.ts';
import type { AddressOf } from './client-address.ts';
import { installFastPath, type PlainAnswerer } from './fast-path.ts';
import { findRequestFault } from './request-sanity.ts';
import { takeTenantPrefix } from './tenant-name.ts';

const requestIdHeader = 'x-request-id';

/** Whose envelope answers below a path. Surfaces add themselves when they register. */
export interface SurfacePrefix {
  readonly prefix: string;
  readonly envelope: Envelope;
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly surfacePrefixes: SurfacePrefix[];
    /** Endpoints of the fast path, by method and path. */
    readonly plainEndpoints: Map<string, PlainAnswerer>;
    readonly addressOf: AddressOf;
  }
}

/** How long a connection may take, in milliseconds. */
export interface ServerPatience {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How long it is kept between two requests. */
  readonly keepAliveMs: number;
  /** How often connections are looked at. */
  readonly checkEveryMs: number;
}

const defaultPatience: ServerPatience = { headersMs: 15_000, requestMs: requestTimeoutMs, keepAliveMs: 65_000, checkEveryMs: 5000 };

/** Makes the server without surfaces. The caller registers them, listens and closes. */
export function createServer(addressOf: AddressOf, patience: ServerPatience = defaultPatience): FastifyInstance {
  const envelopes: SurfacePrefix[] = [];
  const app = Fastify({
    logger: false,
    genReqId: () => randomId(),
    rewriteUrl: (request) => takeTenantPrefix(request as IncomingMessage),
    bodyLimit: bodyBytesMax,
    requestTimeout: patience.requestMs,
    connectionTimeout: 0,
    keepAliveTimeout: patience.keepAliveMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    http: {
      maxHeaderSize: headerBytesMax,
      headersTimeout: patience.headersMs,
      connectionsCheckingInterval: patience.checkEveryMs,
      requireHostHeader: false, // Node would answer with an empty body; request-sanity.ts refuses it with ours
    },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    clientErrorHandler: answerBrokenRequest,
    // Fastify types this reply by a generic route; it is the ordinary one.
    frameworkErrors: (_error, request, reply) => answerBadPath(envelopes, request as FastifyRequest, reply as FastifyReply),
  });
  // null until set: the shape of the request object stays the same for every request
  app.decorateRequest('tenant', null as never);
  app.decorateRequest('auditActor', undefined);
  app.decorateRequest('clientAddress', {
    getter() {
      return addressOf(this.raw);
    },
  });
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(requestIdHeader, request.id);
    const fault = findRequestFault(request.raw);
    if (fault === undefined) done();
    else done(reject('http.bad_request_line', fault));
  });
  // Surfaces read the bodies they know. Outside them a body is read and forgotten, so that none can be wrong but by its size.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null));
  app.setErrorHandler((error: FastifyError, request, reply) => answerOutsideSurfaces(outsideError(error), request, reply));
  app.setNotFoundHandler((request, reply) => answerOutsideSurfaces(reject('management.not_found', 'no_such_path'), request, reply));
  app.decorate('surfacePrefixes', envelopes);
  app.decorate('addressOf', addressOf);
  takePlainRequests(app, patience);
  // Any Expect but 100-continue: Node would answer with an empty 417; RFC 9110 10.1.1 lets us go on instead.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) => answerBrokenRequest(new Error('CONNECT'), socket));
  closeQuietConnections(app);
  return app;
}

/** A path that cannot be decoded reaches no route; its surface is told by its prefix. */
function answerBadPath(prefixes: readonly SurfacePrefix[], request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const surface = prefixes
    .toSorted((left, right) => right.prefix.length - left.prefix.length)
    .find(({ prefix }) => request.url.startsWith(`${prefix}/`));
  const row = surface === undefined ? 'http.bad_request_line' : (`${surface.envelope}.malformed` as const);
  return answerOutsideSurfaces(reject(row, 'bad_path'), request, reply);
}

/** Puts the fast path in front. A connection that stays silent is answered as Node's parser would have it. */
function takePlainRequests(app: FastifyInstance, { headersMs, keepAliveMs }: ServerPatience): void {
  const endpoints = new Map<string, PlainAnswerer>();
  app.decorate('plainEndpoints', endpoints);
  const silent = Object.assign(new Error('no request'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  const patience = { firstRequestMs: headersMs, betweenRequestsMs: keepAliveMs };
  const fastPath = installFastPath(app.server, endpoints, patience, (socket) => answerBrokenRequest(silent, socket));
  app.addHook('preClose', (done) => {
    fastPath.drain();
    done();
  });
}

const quietCheckMs = 50;

/** While the server drains, connections without a request in hand are closed, those that never sent one included. */
function closeQuietConnections(app: FastifyInstance): void {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  app.addHook('preClose', (done) => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
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
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const answer = render(brokenRequestError(error.code));
  const body = JSON.stringify(answer.body);
  const headers = {
    ...answer.headers,
    [requestIdHeader]: randomId(),
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
