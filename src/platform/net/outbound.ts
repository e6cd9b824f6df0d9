// The one guarded way out: HTTP calls to addresses that tenants registered (jwks_uri, CIBA notifications, SCIM targets).
// Names are resolved once and the connection is pinned to the checked addresses; private ranges and plain http need the
// allow list; redirects are never followed, proxies never used; size and time are capped. What the other side may have acted on is
// sent again only where that changes nothing.
import type { IncomingMessage, Agent as PlainAgent, RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { connectionsAtOnceMax } from '../../contract/limits.ts';
import { createTurns } from '../turns/turns.ts';
import { type Cidr, isInCidrs, isPublicAddress, parseCidrs } from './address-ranges.ts';
import { createNameResolver, type LookUpFor, type ResolvedAddress, type ResolveName } from './name-resolver.ts';
import { Agent as HttpAgent, request as httpRequest } from './node-http.ts';

export interface OutboundRequest {
  readonly url: string;
  /** Whose share of look-ups and connections it takes: a tenant's id. */
  readonly share: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For everything together: resolving, connecting, sending, reading. */
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  /** Gives up sooner; told as a time-out. */
  readonly signal?: AbortSignal;
  /** Without it public addresses and the allow list; `public`: no others, whoever is on that list; `loopback`: also this machine, if it is on it. */
  readonly reach?: 'public' | 'loopback';
  /** True: the connection is kept for the next request to the same addresses, where the other side agrees. */
  readonly keepsConnection?: boolean;
}

/** `busy`: its share was taken by others of its own until the time was up; nothing was learnt of the other side. */
export type OutboundFailure = 'busy' | 'refused_address' | 'refused_scheme' | 'unresolved' | 'timeout' | 'too_large' | 'network';

/** Any HTTP status is `ok`, redirects included: the caller judges it. Header names are lower case. */
export type OutboundResult =
  | { readonly ok: true; readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }
  | { readonly ok: false; readonly reason: OutboundFailure };

export interface Outbound {
  readonly fetch: (request: OutboundRequest) => Promise<OutboundResult>;
  /** An address of a host that another protocol may connect to, by the same rules: all of them public, or on the allow list. */
  readonly admit: (host: string, isEncrypted: boolean, by: LookUpFor) => Promise<Admitted>;
}

type Admitted =
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly reason: 'refused_address' | 'refused_scheme' | 'unresolved' };

export interface OutboundOptions {
  /** CIDRs reachable beyond public https. */
  readonly allow: readonly string[];
  /** Answers all addresses of a host name; a resolver of the system's name servers unless given. */
  readonly resolve?: ResolveName;
  /** Certificates to trust instead of the system's. */
  readonly ca?: string;
}

const loopbackAddresses = ['127.0.0.1', '::1'];
const loopbackOnes = parseCidrs(['127.0.0.0/8', '::1/128']);

/** How long a connection waits for its next request. */
const idleConnectionMs = 10_000;
const idleConnectionsPerAddressMax = 50;

const keeping = { keepAlive: true, timeout: idleConnectionMs, maxFreeSockets: idleConnectionsPerAddressMax } as const;

/** @throws Error when an entry of `allow` is no CIDR */
export function createOutbound({ allow, resolve = createNameResolver(), ca }: OutboundOptions): Outbound {
  const allowed = parseCidrs(allow);
  const agents = {
    http: new HttpAgent({ keepAlive: false }),
    https: new HttpsAgent({ keepAlive: false, ...(ca === undefined ? {} : { ca }) }),
  };
  const turns = createTurns(connectionsAtOnceMax);
  const allowedTo = (reach: OutboundRequest['reach']): readonly Cidr[] =>
    reach === undefined ? allowed : reach === 'public' ? [] : loopback;
  const loopback = loopbackOnes.filter((_range, at) => isInCidrs(loopbackAddresses[at]!, allowed));
  const keepingAgents = {
    http: pinned(new HttpAgent(keeping)),
    https: pinned(new HttpsAgent({ ...keeping, ...(ca === undefined ? {} : { ca }) })),
  };
  return {
    fetch: async (request) => {
      const url = URL.parse(request.url);
      if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return { ok: false, reason: 'refused_scheme' };
      if (url.username !== '' || url.password !== '') return { ok: false, reason: 'refused_address' };
      const timeout = new AbortController();
      const giveUp = (): void => timeout.abort();
      const timer = setTimeout(giveUp, request.timeoutMs);
      if (request.signal?.aborted === true) giveUp();
      request.signal?.addEventListener('abort', giveUp);
      const by = { share: request.share, signal: timeout.signal };
      const giveBack = await turns.take(by.share, by.signal);
      try {
        if (giveBack === undefined) return { ok: false, reason: 'busy' };
        const addresses = await Promise.race([resolveOnce(url.hostname, resolve, by), aborted(by.signal)]);
        if (addresses === undefined || by.signal.aborted) return { ok: false, reason: 'timeout' };
        const refusal = refusalOf(url.protocol, addresses, allowedTo(request.reach));
        if (refusal !== undefined) return { ok: false, reason: refusal };
        const keeps = request.keepsConnection === true;
        const route = { addresses, signal: timeout.signal, keeps };
        const { http, https } = keeps ? keepingAgents : agents;
        const result = await exchange(url, request, { ...route, agent: url.protocol === 'https:' ? https : http });
        if (typeof result !== 'symbol') return result;
        if (result === unanswered && !mayBeRepeated.has(request.method)) return { ok: false, reason: 'network' };
        const agent = url.protocol === 'https:' ? agents.https : agents.http;
        const again = await exchange(url, request, { ...route, agent, keeps: false });
        return typeof again === 'symbol' ? { ok: false, reason: 'network' } : again;
      } finally {
        giveBack?.();
        clearTimeout(timer);
        request.signal?.removeEventListener('abort', giveUp);
      }
    },
    admit: async (host, isEncrypted, by) => {
      const addresses = await resolveOnce(host, resolve, by);
      const reason = refusalOf(isEncrypted ? 'https:' : 'http:', addresses, allowed);
      return reason === undefined ? { ok: true, address: addresses[0]!.address } : { ok: false, reason }; // without one it is unresolved
    },
  };
}

/** An agent whose connections are kept for requests to the same host at the same addresses only. */
function pinned<A extends PlainAgent>(agent: A): A {
  const nameOf = agent.getName.bind(agent);
  agent.getName = (options: Parameters<typeof nameOf>[0] & { readonly pinnedTo?: string }) => `${nameOf(options)}:${options.pinnedTo}`;
  return agent;
}

async function resolveOnce(hostname: string, resolve: ResolveName, by: LookUpFor): Promise<readonly ResolvedAddress[]> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  return resolve(host, by).catch(() => []);
}

/** Every address must be acceptable: an answer that mixes public and private ones is somebody probing. */
function refusalOf(
  scheme: string,
  addresses: readonly ResolvedAddress[],
  allowed: readonly Cidr[],
): 'refused_address' | 'refused_scheme' | 'unresolved' | undefined {
  if (addresses.length === 0) return 'unresolved';
  const listed = addresses.map(({ address }) => isInCidrs(address, allowed));
  if (addresses.some(({ address }, index) => listed[index] !== true && !isPublicAddress(address))) return 'refused_address';
  return scheme === 'http:' && listed.includes(false) ? 'refused_scheme' : undefined;
}

interface Route {
  readonly agent: PlainAgent | HttpsAgent;
  readonly addresses: readonly ResolvedAddress[];
  readonly signal: AbortSignal;
  /** True: its connection stays for others. */
  readonly keeps: boolean;
}

/** A kept connection that the other side had closed before anything of the request was written. */
const unwritten = Symbol('nothing was written');
/** A kept connection that ended after the request was written: the other side may have acted on it. */
const unanswered = Symbol('nothing was answered');
type ConnectionGone = typeof unwritten | typeof unanswered;

/** RFC 9110 9.2.2: to do these twice is to do them once. */
const mayBeRepeated: ReadonlySet<OutboundRequest['method']> = new Set(['GET', 'PUT', 'DELETE']);

function exchange(
  url: URL,
  { method, headers, body, responseBytesMax }: OutboundRequest,
  route: Route,
): Promise<OutboundResult | ConnectionGone> {
  const { promise, resolve } = Promise.withResolvers<OutboundResult | ConnectionGone>();
  const fail = (reason: OutboundFailure): void => resolve({ ok: false, reason });
  const options: RequestOptions & { readonly pinnedTo: string } = {
    agent: route.agent,
    pinnedTo: route.addresses.map(({ address }) => address).join(),
    method,
    lookup: pinnedTo(route.addresses),
    headers: {
      'user-agent': 'Gatehouse',
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...(route.keeps ? {} : { connection: 'close' }),
      ...headers,
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    },
  };
  const call = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options);
  // Not the request's own option `signal`, which watches the streams too and costs half as much again.
  if (route.signal.aborted) call.destroy();
  else route.signal.addEventListener('abort', () => void call.destroy(), { once: true });
  call.on('error', () => {
    if (route.signal.aborted) fail('timeout');
    else if (call.reusedSocket) resolve(isWritten ? unanswered : unwritten);
    else fail('network');
  });
  call.on('upgrade', (_response, socket) => {
    socket.destroy();
    fail('network');
  });
  call.on('response', (response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > responseBytesMax) {
        fail('too_large');
        call.destroy();
      } else chunks.push(chunk);
    });
    response.on('error', () => fail(route.signal.aborted ? 'timeout' : 'network'));
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      if (response.complete) resolve({ ok: true, status: response.statusCode ?? 0, headers: plainHeaders(response), body: text });
      else fail('network');
    });
  });
  let isWritten = false;
  const write = (): void => {
    if (call.destroyed) return;
    isWritten = true;
    call.end(body);
  };
  call.on('socket', () => {
    if (call.reusedSocket) afterNextPoll(write);
    else write();
  });
  return promise;
}

/** When the process has looked at its sockets once more: a kept connection that has ended meanwhile is known to have. */
const afterNextPoll = (go: () => void): void => void setImmediate(() => setImmediate(go));

/** A look-up that knows only the checked addresses, so that the name cannot change its mind before the connection. */
function pinnedTo(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_host, options, done) => {
    if (options.all === true) done(null, [...addresses]);
    else done(null, addresses[0]!.address, addresses[0]!.family);
  };
}

function plainHeaders(response: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}
