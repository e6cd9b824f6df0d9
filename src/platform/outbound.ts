// The one guarded way out: HTTP calls to addresses that tenants registered (jwks_uri, CIBA notifications).
// Names are resolved once and the connection is pinned to the checked addresses; private ranges and plain http need the
// allow list; redirects are never followed, proxies never used; size and time are capped.
import { lookup } from 'node:dns/promises';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { type Cidr, isInCidrs, isPublicAddress, parseCidrs } from './address-ranges.ts';

export interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For everything together: resolving, connecting, sending, reading. */
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
}

export type OutboundFailure = 'refused_address' | 'refused_scheme' | 'unresolved' | 'timeout' | 'too_large' | 'network';

/** Any HTTP status is `ok`, redirects included: the caller judges it. Header names are lower case. */
export type OutboundResult =
  | { readonly ok: true; readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }
  | { readonly ok: false; readonly reason: OutboundFailure };

export interface Outbound {
  readonly fetch: (request: OutboundRequest) => Promise<OutboundResult>;
}

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

/** @throws Error when an entry of `allow` is no CIDR */
export function createOutbound({ allow, resolve = createSystemResolver(), ca }: OutboundOptions): Outbound {
  const allowed = parseCidrs(allow);
  const agents = {
    http: new HttpAgent({ keepAlive: false }),
    https: new HttpsAgent({ keepAlive: false, ...(ca === undefined ? {} : { ca }) }),
  };
  return {
    fetch: async (request) => {
      const url = URL.parse(request.url);
      if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return { ok: false, reason: 'refused_scheme' };
      if (url.username !== '' || url.password !== '') return { ok: false, reason: 'refused_address' };
      const timeout = new AbortController();
      const timer = setTimeout(() => timeout.abort(), request.timeoutMs);
      try {
        const addresses = await Promise.race([resolveOnce(url, resolve), aborted(timeout.signal)]);
        if (addresses === undefined) return { ok: false, reason: 'timeout' };
        const refusal = refusalOf(url.protocol, addresses, allowed);
        if (refusal !== undefined) return { ok: false, reason: refusal };
        return await exchange(url, request, {
          agent: url.protocol === 'https:' ? agents.https : agents.http,
          addresses,
          signal: timeout.signal,
        });
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

async function resolveOnce(url: URL, resolve: NonNullable<OutboundOptions['resolve']>): Promise<readonly ResolvedAddress[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  return resolve(host).catch(() => []);
}

/** Every address must be acceptable: an answer that mixes public and private ones is somebody probing. */
function refusalOf(scheme: string, addresses: readonly ResolvedAddress[], allowed: readonly Cidr[]): OutboundFailure | undefined {
  if (addresses.length === 0) return 'unresolved';
  const listed = addresses.map(({ address }) => isInCidrs(address, allowed));
  if (addresses.some(({ address }, index) => listed[index] !== true && !isPublicAddress(address))) return 'refused_address';
  return scheme === 'http:' && listed.includes(false) ? 'refused_scheme' : undefined;
}

interface Route {
  readonly agent: HttpAgent | HttpsAgent;
  readonly addresses: readonly ResolvedAddress[];
  readonly signal: AbortSignal;
}

function exchange(url: URL, { method, headers, body, responseBytesMax }: OutboundRequest, route: Route): Promise<OutboundResult> {
  const { promise, resolve } = Promise.withResolvers<OutboundResult>();
  const fail = (reason: OutboundFailure): void => resolve({ ok: false, reason });
  const call = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    agent: route.agent,
    method,
    lookup: pinnedTo(route.addresses),
    signal: route.signal,
    headers: {
      'user-agent': 'Gatehouse',
      accept: 'application/json',
      'accept-encoding': 'identity',
      connection: 'close',
      ...headers,
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    },
  });
  call.on('error', () => fail(route.signal.aborted ? 'timeout' : 'network'));
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
