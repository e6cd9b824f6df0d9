// The one guarded way out: HTTP calls to addresses that tenants registered (jwks_uri, CIBA notifications, SCIM targets).
// Names are resolved once and the connection is pinned to the checked addresses; private ranges and plain http need the
// allow list; redirects are never followed, proxies never used; size and time are capped.
import { lookup } from 'node:dns/promises';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { type Cidr, isInCidrs, isPublicAddress, parseCidrs } from './address-ranges.ts';

export interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For everything together: resolving, connecting, sending, reading. */
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  /** Gives up sooner; told as a time-out. */
  readonly signal?: AbortSignal;
  /** True: the connection is kept for the next request to the same addresses, where the other side agrees. */
  readonly keepsConnection?: boolean;
}

export type OutboundFailure = 'refused_address' | 'refused_scheme' | 'unresolved' | 'timeout' | 'too_large' | 'network';

/** Any HTTP status is `ok`, redirects included: the caller judges it. Header names are lower case. */
export type OutboundResult =
  | { readonly ok: true; readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }
  | { readonly ok: false; readonly reason: OutboundFailure };

export interface Outbound {
  readonly fetch: (request: OutboundRequest) => Promise<OutboundResult>;
  /** An address of a host that another protocol may connect to, by the same rules: all of them public, or on the allow list. */
  readonly admit: (host: string, isEncrypted: boolean) => Promise<Admitted>;
}

export type Admitted =
  | { readonly ok: true; readonly address: string }
  | { readonly ok: false; readonly reason: 'refused_address' | 'refused_scheme' | 'unresolved' };

interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export interface OutboundOptions {
  /** CIDRs reachable beyond public https. */
  readonly allow: readonly string[];
  /** Answers all addresses of a host name; the system's resolver unless given. */
  readonly resolve?: (host: string) => Promise<readonly ResolvedAddress[]>;
  /** Certificates to trust instead of the system's. */
  readonly ca?: string;
}

/** The system resolver occupies a thread of Node's pool per look-up, and signatures need the other threads. */
const lookupsAtOnceMax = 2;

/** How long a connection waits for its next request. */
const idleConnectionMs = 10_000;
const idleConnectionsPerAddressMax = 50;

const keeping = { keepAlive: true, timeout: idleConnectionMs, maxFreeSockets: idleConnectionsPerAddressMax } as const;

/** @throws Error when an entry of `allow` is no CIDR */
export function createOutbound({ allow, resolve = createSystemResolver(), ca }: OutboundOptions): Outbound {
  const allowed = parseCidrs(allow);
  const agents = {
    http: new HttpAgent({ keepAlive: false }),
    https: new HttpsAgent({ keepAlive: false, ...(ca === undefined ? {} : { ca }) }),
  };
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
      try {
        const addresses = await Promise.race([resolveOnce(url.hostname, resolve), aborted(timeout.signal)]);
        if (addresses === undefined) return { ok: false, reason: 'timeout' };
        const refusal = refusalOf(url.protocol, addresses, allowed);
        if (refusal !== undefined) return { ok: false, reason: refusal };
        const keeps = request.keepsConnection === true;
        const route = { addresses, signal: timeout.signal, keeps };
        const { http, https } = keeps ? keepingAgents : agents;
        const result = await exchange(url, request, { ...route, agent: url.protocol === 'https:' ? https : http });
        if (result !== connectionGone) return result;
        const agent = url.protocol === 'https:' ? agents.https : agents.http;
        const again = await exchange(url, request, { ...route, agent, keeps: false });
        return again === connectionGone ? { ok: false, reason: 'network' } : again;
      } finally {
        clearTimeout(timer);
        request.signal?.removeEventListener('abort', giveUp);
      }
    },
    admit: async (host, isEncrypted) => {
      const addresses = await resolveOnce(host, resolve);
      const reason = refusalOf(isEncrypted ? 'https:' : 'http:', addresses, allowed);
      return reason === undefined ? { ok: true, address: addresses[0]!.address } : { ok: false, reason }; // without one it is unresolved
    },
  };
}

/** An agent whose connections are kept for requests to the same host at the same addresses only. */
function pinned<A extends HttpAgent>(agent: A): A {
  const nameOf = agent.getName.bind(agent);
  agent.getName = (options: Parameters<typeof nameOf>[0] & { readonly pinnedTo?: string }) => `${nameOf(options)}:${options.pinnedTo}`;
  return agent;
}

async function resolveOnce(hostname: string, resolve: NonNullable<OutboundOptions['resolve']>): Promise<readonly ResolvedAddress[]> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  return resolve(host).catch(() => []);
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
  readonly agent: HttpAgent | HttpsAgent;
  readonly addresses: readonly ResolvedAddress[];
  readonly signal: AbortSignal;
  /** True: its connection stays for others. */
  readonly keeps: boolean;
}

/** A kept connection that the other side closed just as the request was written; nothing was answered. */
const connectionGone = Symbol('connection gone');

function exchange(
  url: URL,
  { method, headers, body, responseBytesMax }: OutboundRequest,
  route: Route,
): Promise<OutboundResult | typeof connectionGone> {
  const { promise, resolve } = Promise.withResolvers<OutboundResult | typeof connectionGone>();
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
    else if (call.reusedSocket) resolve(connectionGone);
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
  call.end(body);
  return promise;
}

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

/** getaddrinfo, a few at a time: slow name servers of strangers must not take every thread. */
function createSystemResolver(): (host: string) => Promise<readonly ResolvedAddress[]> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (host) => {
    if (running >= lookupsAtOnceMax) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      return await lookup(host, { all: true });
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
