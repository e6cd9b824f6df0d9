// Public keys of private_key_jwt clients: inline `jwks`, or `jwks_uri` fetched through the guarded way out and kept for a
// while. A signature by a key not seen yet asks for a new fetch, never more often than the pause, so that nobody can make us
// hammer somebody's server. Called by client authentication only.
import type { KeyObject } from 'node:crypto';
import { jwksBytesMax, jwksKeysMax } from '../../contract/limits.ts';
import { publicKeyFor } from '../../crypto/assertion-algorithms.ts';
import type { Client } from '../../domain/client/client.ts';
import { calledUriFault } from '../../domain/client/client-uris.ts';
import type { WorkloadIssuer } from '../../domain/client/workload.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Outbound, OutboundRequest } from '../../platform/net/outbound.ts';

export interface ClientKeysDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly outbound: Outbound;
}

type Jwk = Readonly<Record<string, unknown>>;

interface Fetched {
  keys: readonly Jwk[];
  fetchedAtMs: number;
  /** When the last attempt to fetch was made, successful or not. */
  attemptedAtMs: number;
  running: Promise<void> | undefined;
}

const freshMs = 600_000;
/** Keys are used that long when their server stops answering. */
const staleMs = 3_600_000;
const pauseMs = 10_000;
const timeoutMs = 5000;
const urisMax = 2000;

const fetchedBy = new WeakMap<Outbound, Map<string, Fetched>>();

export interface SoughtKey {
  readonly alg: string;
  readonly kid: string | undefined;
  readonly again: boolean;
}

/** Keys of the client that may have made a signature of `alg` under `kid` (undefined: any). `again` asks for keys newer than known. */
export async function clientKeys(
  services: ClientKeysDeps,
  tenant: TenantId,
  client: Client,
  { alg, kid, again }: SoughtKey,
): Promise<readonly KeyObject[]> {
  return candidates(await clientJwks(services, tenant, client, again), alg, kid);
}

/** The keys as they are registered, for what else they carry. */
export async function clientJwks(services: ClientKeysDeps, tenant: TenantId, client: Client, again: boolean): Promise<readonly Jwk[]> {
  if (client.jwks !== undefined) return again ? [] : client.jwks.keys;
  // The allow list of the deployment is for what its tenants registered.
  const reach = client.origin === undefined ? {} : ({ reach: 'public' } as const);
  return client.jwksUri === undefined ? [] : fetchedKeys(services, tenant, { url: client.jwksUri, ...reach }, again);
}

/** Keys of a workload issuer, as those of a client. */
export async function issuerKeys(
  services: ClientKeysDeps,
  tenant: TenantId,
  { issuer, keys }: Pick<WorkloadIssuer, 'issuer' | 'keys'>,
  { alg, kid, again }: SoughtKey,
): Promise<readonly KeyObject[]> {
  if ('jwks' in keys) return again ? [] : candidates(keys.jwks.keys, alg, kid);
  const from = 'jwks_uri' in keys ? { url: keys.jwks_uri } : { url: discoveryOf(issuer, keys.discovery), issuer };
  return candidates(await fetchedKeys(services, tenant, from, again), alg, kid);
}

const discoveryOf = (issuer: string, address: true | string): string =>
  address === true ? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration` : address;

function candidates(keys: readonly Jwk[], alg: string, kid: string | undefined): readonly KeyObject[] {
  const named = kid === undefined ? keys : keys.filter((key) => key['kid'] === kid || key['kid'] === undefined);
  return named.flatMap((key) => publicKeyFor(alg, key) ?? []);
}

interface KeySet extends Pick<OutboundRequest, 'url' | 'reach'> {
  /** At the address is the discovery document of this issuer, which says where they are. */
  readonly issuer?: string;
}

async function fetchedKeys(services: ClientKeysDeps, tenant: TenantId, from: KeySet, again: boolean): Promise<readonly Jwk[]> {
  const known = fetchedOf(services, `${tenant} ${from.reach ?? ''} ${from.issuer ?? ''} ${from.url}`);
  const nowMs = services.clock.nowMs();
  const wanted = again || nowMs - known.fetchedAtMs >= freshMs;
  if (wanted && known.running === undefined && nowMs - known.attemptedAtMs >= pauseMs) {
    known.attemptedAtMs = nowMs;
    known.running = fetchKeys(services, tenant, from, known).finally(() => {
      known.running = undefined;
    });
  }
  if (wanted && known.running !== undefined) await known.running;
  return services.clock.nowMs() - known.fetchedAtMs < staleMs ? known.keys : [];
}

function fetchedOf(services: ClientKeysDeps, key: string): Fetched {
  let entries = fetchedBy.get(services.outbound);
  if (entries === undefined) {
    entries = new Map();
    fetchedBy.set(services.outbound, entries);
  }
  let entry = entries.get(key);
  if (entry === undefined) {
    if (entries.size >= urisMax) entries.delete(entries.keys().next().value!);
    entry = { keys: [], fetchedAtMs: Number.NEGATIVE_INFINITY, attemptedAtMs: Number.NEGATIVE_INFINITY, running: undefined };
    entries.set(key, entry);
  }
  return entry;
}

async function fetchKeys(services: ClientKeysDeps, tenant: TenantId, from: KeySet, known: Fetched): Promise<void> {
  const { issuer, ...at } = from;
  const get = (url: string) =>
    services.outbound.fetch({ ...at, url, share: tenant, method: 'GET', timeoutMs, responseBytesMax: jwksBytesMax });
  const first = await get(at.url);
  const url = issuer === undefined ? at.url : first.ok && first.status === 200 ? keysAddress(first.body, issuer) : undefined;
  const result = issuer === undefined || url === undefined ? first : await get(url);
  const keys = url !== undefined && result.ok && result.status === 200 ? parseJwks(result.body) : undefined;
  if (keys === undefined) {
    services.log.warn(
      { jwks_uri: url ?? at.url, cause: result.ok ? `status ${result.status}` : result.reason },
      'the keys of a client could not be fetched',
    );
    return;
  }
  known.keys = keys;
  known.fetchedAtMs = services.clock.nowMs();
}

/** Where the discovery document of an issuer says its keys are; undefined when it is of another, or no such address. */
function keysAddress(text: string, issuer: string): string | undefined {
  try {
    const { issuer: said, jwks_uri: url } = JSON.parse(text) as { issuer?: unknown; jwks_uri?: unknown }; // checked below
    return said === issuer && typeof url === 'string' && calledUriFault(url) === undefined ? url : undefined;
  } catch {
    return undefined;
  }
}

/** The public keys of a JWK set (RFC 7517 5), or undefined when the text is none. Members that are no objects are skipped. */
function parseJwks(text: string): readonly Jwk[] | undefined {
  try {
    const { keys } = JSON.parse(text) as { keys?: unknown }; // checked below
    if (!Array.isArray(keys)) return undefined;
    return keys.slice(0, jwksKeysMax).filter((key): key is Jwk => typeof key === 'object' && key !== null && !Array.isArray(key));
  } catch {
    return undefined;
  }
}
