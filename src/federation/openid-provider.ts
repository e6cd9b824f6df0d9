// OpenID Connect providers: the code flow with PKCE S256, state, nonce, `iss` where it is announced (RFC 9207) and ID tokens whose
// signature is verified although they come over TLS, by asymmetric algorithms alone. openid-client speaks the protocol; it is
// loaded by the first sign-in. Microsoft's issuer has the directory's id in it, which must be one of the listed ones.
import { decodeJwt } from 'jose/jwt/decode';
import type { Configuration, IDToken, ServerMetadata } from 'openid-client';
import type { Json } from '../domain/field.ts';
import { subjectFault } from '../domain/sign-in/external-identity.ts';
import { tenantPlaceholder } from '../domain/sign-in/identity-provider.ts';
import type { Outbound } from '../platform/net/outbound.ts';
import { identityIn } from './openid-identity.ts';
import {
  type Failure,
  type Identified,
  type Incoming,
  type Outgoing,
  type ProviderProtocol,
  refused,
  type Upstream,
  type UpstreamDeps,
  unavailable,
} from './upstream.ts';
import { type UpstreamFetch, upstreamFetch } from './upstream-fetch.ts';

const library = () => import('openid-client');
type Library = Awaited<ReturnType<typeof library>>;

/** Never HMAC with a public value, never `none`. */
const signingAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
const defaultScopes = ['openid', 'profile', 'email'];
/** Where Microsoft answers for every directory. */
const anyDirectory = 'organizations';

interface Discovered {
  readonly metadata: ServerMetadata;
  readonly fetchedAtMs: number;
  /** Filled by the library. */
  readonly keys: Record<string, never>;
}

const freshMs = 600_000;
const issuersMax = 2000;
const discoveredBy = new WeakMap<Outbound, Map<string, Discovered>>();

export const openidProvider: ProviderProtocol = {
  start: async (deps, upstream, sent) => {
    const found = await discover(deps, upstream);
    if ('ok' in found) return found;
    const client = await library();
    const config = configure(client, deps, upstream, found, upstreamFetch(deps.outbound, upstream.tenant));
    const challenge = await client.calculatePKCECodeChallenge(sent.verifier);
    return {
      ok: true,
      location: client.buildAuthorizationUrl(config, { ...parametersOf(upstream, sent), code_challenge: challenge }).href,
    };
  },
  identify: async (deps, upstream, answer) => {
    const found = await discover(deps, upstream);
    if ('ok' in found) return found;
    const client = await library();
    const calls = upstreamFetch(deps.outbound, upstream.tenant);
    try {
      return await redeem(client, deps, upstream, { found, calls, answer });
    } catch (error) {
      const failure = calls.failure();
      return failure === undefined ? refused(wordsOf(error)) : unavailable(failure);
    }
  },
};

interface Redemption {
  readonly found: Discovered;
  readonly calls: UpstreamFetch;
  readonly answer: Incoming;
}

async function redeem(
  client: Library,
  deps: UpstreamDeps,
  upstream: Upstream,
  { found, calls, answer }: Redemption,
): Promise<Identified | Failure> {
  const { provider, callbackUri } = upstream;
  const url = new URL(`${callbackUri}?${answer.parameters}`);
  const checks = {
    expectedState: answer.state,
    expectedNonce: answer.nonce,
    pkceCodeVerifier: answer.verifier,
    idTokenExpected: true,
  };
  const kept = keepTokens(calls, found.metadata.token_endpoint);
  const issuer = provider.issuer ?? '';
  if (issuer.includes(tenantPlaceholder)) {
    // The directory is known only from the token: ask for it once, then judge it under that directory's issuer.
    const first = configure(client, deps, upstream, found, kept);
    await client.authorizationCodeGrant(first, url, checks).catch(() => undefined);
    const directory = kept.directory();
    if (directory === undefined || !provider.tenants.includes(directory)) return refused('directory_not_listed');
    const metadata = { ...found.metadata, issuer: issuer.replace(tenantPlaceholder, directory) };
    const config = configure(client, deps, upstream, { ...found, metadata }, kept.replay());
    return identityOf(client, upstream, config, await client.authorizationCodeGrant(config, url, checks));
  }
  const config = configure(client, deps, upstream, found, calls);
  return identityOf(client, upstream, config, await client.authorizationCodeGrant(config, url, checks));
}

async function identityOf(
  client: Library,
  { provider }: Upstream,
  config: Configuration,
  tokens: { readonly access_token: string; claims(): IDToken | undefined },
): Promise<Identified | Failure> {
  const own = tokens.claims();
  const fault = own === undefined ? 'no_id_token' : subjectFault(own.sub);
  if (own === undefined || fault !== undefined) return refused(fault ?? '');
  const asks = own['email'] === undefined && config.serverMetadata().userinfo_endpoint !== undefined;
  const { email_verified: _, ...signed } = own;
  // Its own claims win: those are signed. Whether an address is verified is said by whoever names the address.
  const claims: Json = asks ? { ...(await client.fetchUserInfo(config, tokens.access_token, own.sub)), ...signed } : own;
  return { ok: true, identity: identityIn(provider, { ...claims, ...ofSignIn(own) }), claims };
}

/** What is said of the sign-in counts where it is signed. */
const ofSignIn = ({ iss, sub, acr, auth_time }: IDToken) => ({ iss, sub, acr, auth_time });

function parametersOf({ provider, callbackUri }: Upstream, sent: Outgoing): Record<string, string> {
  return {
    redirect_uri: callbackUri,
    scope: [...new Set(['openid', ...(provider.scopes.length === 0 ? defaultScopes : provider.scopes)])].join(' '),
    state: sent.state,
    nonce: sent.nonce,
    code_challenge_method: 'S256',
    ...(provider.responseMode === 'query' ? {} : { response_mode: provider.responseMode }),
    ...(sent.maxAgeSeconds !== undefined && { max_age: String(sent.maxAgeSeconds) }),
    ...(sent.signInAgain && { prompt: 'login' }),
    ...(sent.loginHint !== undefined && { login_hint: sent.loginHint }),
    ...(sent.uiLocales !== undefined && { ui_locales: sent.uiLocales }),
  };
}

/** The provider's metadata, asked for again after ten minutes. */
export async function discover({ outbound, clock }: UpstreamDeps, { provider, tenant }: Upstream): Promise<Discovered | Failure> {
  const issuer = provider.issuer ?? '';
  const entries = discoveredBy.get(outbound) ?? new Map<string, Discovered>();
  discoveredBy.set(outbound, entries);
  const known = entries.get(issuer);
  if (known !== undefined && clock.nowMs() - known.fetchedAtMs < freshMs) return known;
  const calls = upstreamFetch(outbound, tenant);
  const metadata = await readMetadata(calls, issuer).catch(() => undefined);
  const failure = calls.failure() ?? (metadata === undefined ? 'its metadata is not that of this issuer' : undefined);
  if (metadata === undefined || failure !== undefined) return unavailable(failure ?? '');
  if (entries.size >= issuersMax) entries.delete(entries.keys().next().value!);
  const fresh = { metadata, fetchedAtMs: clock.nowMs(), keys: {} };
  entries.set(issuer, fresh);
  return fresh;
}

/** OpenID Connect Discovery 4; undefined when it names another issuer or lacks what the flow needs. */
async function readMetadata({ fetch }: UpstreamFetch, issuer: string): Promise<ServerMetadata | undefined> {
  const base = issuer.replace(tenantPlaceholder, anyDirectory).replace(/\/$/, '');
  const response = await fetch(`${base}/.well-known/openid-configuration`, { method: 'GET', headers: { accept: 'application/json' } });
  if (response.status !== 200) return undefined;
  const found = (await response.json()) as ServerMetadata; // checked here, and by the library where it uses them
  const hasAll = [found.authorization_endpoint, found.token_endpoint, found.jwks_uri].every((one) => typeof one === 'string');
  if (found.issuer !== issuer || !hasAll) return undefined;
  const announced = Array.isArray(found.id_token_signing_alg_values_supported) ? found.id_token_signing_alg_values_supported : ['RS256'];
  return { ...found, id_token_signing_alg_values_supported: announced.filter((alg) => signingAlgorithms.includes(alg)) };
}

function configure(
  client: Library,
  { clock }: UpstreamDeps,
  { provider, clientSecret }: Upstream,
  found: Discovered,
  calls: UpstreamFetch,
): Configuration {
  const { metadata } = found;
  const skewSeconds = Math.round((clock.nowMs() - Date.now()) / 1000);
  const config = new client.Configuration(
    metadata,
    provider.clientId ?? '',
    { [client.clockSkew]: skewSeconds },
    authenticationOf(client, metadata, clientSecret),
  );
  config[client.customFetch] = (url, init) => calls.fetch(url, init as Parameters<UpstreamFetch['fetch']>[1]);
  client.enableNonRepudiationChecks(config);
  // Whether plain http may be spoken to an address is the guarded way out's to say.
  if (metadata.issuer.startsWith('http:')) client.allowInsecureRequests(config);
  return config;
}

/** RFC 8414 2: a provider that says nothing takes the secret in the header. */
function authenticationOf(client: Library, { token_endpoint_auth_methods_supported: methods }: ServerMetadata, secret: string | undefined) {
  if (secret === undefined) return client.None();
  return methods === undefined || methods.includes('client_secret_basic')
    ? client.ClientSecretBasic(secret)
    : client.ClientSecretPost(secret);
}

/** Calls that keep the token answer, to be judged a second time. */
function keepTokens(calls: UpstreamFetch, tokenEndpoint: string | undefined) {
  let kept: string | undefined;
  const isTokens = (url: string): boolean => url === tokenEndpoint;
  return {
    fetch: async (url: string, init: Parameters<UpstreamFetch['fetch']>[1]): Promise<Response> => {
      const response = await calls.fetch(url, init);
      if (isTokens(url) && response.status === 200) kept = await response.clone().text();
      return response;
    },
    failure: calls.failure,
    directory: (): string | undefined => directoryIn(kept),
    replay: (): UpstreamFetch => ({
      fetch: async (url, init) =>
        isTokens(url) && kept !== undefined
          ? new Response(kept, { headers: { 'content-type': 'application/json' } })
          : calls.fetch(url, init),
      failure: calls.failure,
    }),
  };
}

/** `tid` of an ID token nobody has verified yet. */
function directoryIn(tokens: string | undefined): string | undefined {
  try {
    const { id_token: idToken } = JSON.parse(tokens ?? '{}') as { readonly id_token?: unknown }; // compared with a list
    const { tid } = decodeJwt(String(idToken));
    return typeof tid === 'string' ? tid : undefined;
  } catch {
    return undefined;
  }
}

/** What the library found wrong, without anything of the answer. */
function wordsOf(error: unknown): string {
  const { code, message, error: told } = error as { readonly code?: unknown; readonly message?: unknown; readonly error?: unknown };
  const word = typeof told === 'string' ? told : typeof code === 'string' ? code : String(message);
  return word.slice(0, 100);
}
