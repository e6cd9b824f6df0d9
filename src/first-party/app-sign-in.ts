// Signing in to one of our first-party applications: the authorization code flow with PKCE against its own tenant, refresh, sign-out.
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { equalText } from '../crypto/secret-hash.ts';
import { parseJwt } from '../crypto/signing/jwt.ts';
import type { GrantId } from '../domain/ids.ts';
import { codeGrantType, refreshGrantType } from '../domain/oidc/grant-types.ts';
import type { Parts } from '../http/services.ts';
import { randomId, randomSecret } from '../platform/random.ts';
import { type ApiAnswer, callApi } from './app-api.ts';
import { type AppSession, clearCookie, openSession, openSignIn, type PendingSignIn, sealSession, sealSignIn } from './app-session.ts';
import { callbackOf, ensureAppClient, type FirstPartyApp } from './first-party-app.ts';

export type AppSignInDeps = Parts<'cache' | 'clock' | 'encryption'>;

/** Seconds before its expiry at which the access token is renewed. */
const renewSeconds = 30;

interface WantedSignIn {
  /** A path of the application. */
  readonly returnTo: string;
  /** How strong it must be. */
  readonly acrValues?: string | undefined;
  readonly loginHint?: string | undefined;
  /** True: whoever has a session signs in once more. */
  readonly again?: boolean;
  /** Scopes joined by spaces; absent: all of the application. */
  readonly scope?: string | undefined;
}

/** Sends the browser to the tenant's own sign-in. */
export async function startSignIn(
  services: AppSignInDeps,
  own: FirstPartyApp,
  request: FastifyRequest,
  reply: FastifyReply,
  { returnTo, acrValues, loginHint, scope, again }: WantedSignIn,
): Promise<FastifyReply> {
  const { tenant } = request;
  await ensureAppClient(services, own, tenant, request.id);
  const resource = own.resourceOf(tenant);
  const pending = { state: randomSecret(), nonce: randomSecret(), codeVerifier: randomSecret(), returnTo };
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: own.clientId,
    redirect_uri: callbackOf(own, tenant),
    scope: scope ?? own.scopes.join(' '),
    ...(resource === undefined ? {} : { resource }),
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: createHash('sha256').update(pending.codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(acrValues === undefined ? {} : { acr_values: acrValues }),
    ...(loginHint === undefined ? {} : { login_hint: loginHint }),
    ...(again === true ? { prompt: 'login' } : {}),
  });
  return redirect(
    reply.header('set-cookie', sealSignIn(services.encryption, own, tenant, pending)),
    `${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`,
  );
}

export type SignInEnd =
  | { readonly ok: true; readonly session: AppSession; readonly returnTo: string; readonly cookies: readonly string[] }
  | { readonly ok: false; readonly reason: 'not_started' | 'cancelled' | 'not_completed' };

/** Exchanges the code of a callback for a session. Fails when it is not the answer to this browser's own sign-in. */
export async function endSignIn(
  app: FastifyInstance,
  services: Parts<'clock' | 'encryption'>,
  own: FirstPartyApp,
  request: FastifyRequest,
): Promise<SignInEnd> {
  const exchanged = await exchangeCode(app, services, own, request);
  if (!exchanged.ok) return exchanged;
  const { tenant } = request;
  const { answer, pending } = exchanged;
  const tokens = await sessionFrom({ app, services, request }, answer);
  if (tokens === undefined || tokens.nonce !== pending.nonce) return { ok: false, reason: 'not_completed' };
  return {
    ok: true,
    session: tokens.session,
    returnTo: pending.returnTo,
    cookies: [sealSession(services.encryption, own, tenant, tokens.session), clearCookie(own, tenant, 'sign-in')],
  };
}

/** What the token endpoint answers to the code of a callback. Asks nothing when this browser did not start the sign-in, or no code came. */
export async function exchangeCode(
  app: FastifyInstance,
  services: Parts<'encryption'>,
  own: FirstPartyApp,
  request: FastifyRequest,
): Promise<
  | { readonly ok: true; readonly answer: ApiAnswer; readonly pending: PendingSignIn }
  | { readonly ok: false; readonly reason: 'not_started' | 'cancelled' }
> {
  const { tenant } = request;
  const query = new URL(request.url, tenant.baseUrl).searchParams;
  const pending = openSignIn(services.encryption, own, request);
  if (pending === undefined || !equalText(query.get('state') ?? '', pending.state)) return { ok: false, reason: 'not_started' };
  const code = query.get('code');
  if (code === null || query.get('iss') !== tenant.baseUrl) return { ok: false, reason: 'cancelled' };
  const form = { grant_type: codeGrantType, code, redirect_uri: callbackOf(own, tenant), code_verifier: pending.codeVerifier };
  return { ok: true, answer: await askForTokens(app, own, request, form), pending };
}

/** The session of a request with a fresh access token, setting the renewed cookie on the reply; undefined: sign in again. */
export async function currentSession(
  app: FastifyInstance,
  services: Parts<'clock' | 'encryption'>,
  own: FirstPartyApp,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AppSession | undefined> {
  const session = openSession(services.encryption, own, request);
  if (session === undefined) return undefined;
  if (session.expiresAtMs - renewSeconds * 1000 > services.clock.nowMs()) return session;
  if (session.refreshToken === undefined) return undefined;
  const form = { grant_type: refreshGrantType, refresh_token: session.refreshToken };
  const renewed = await sessionFrom({ app, services, request }, await askForTokens(app, own, request, form), session);
  if (renewed === undefined) return undefined;
  reply.header('set-cookie', sealSession(services.encryption, own, request.tenant, renewed.session));
  return renewed.session;
}

/** Revokes the grant and clears the cookie. */
export async function signOut(
  app: FastifyInstance,
  own: FirstPartyApp,
  request: FastifyRequest,
  reply: FastifyReply,
  session: AppSession,
): Promise<void> {
  await callApi(app, request, {
    method: 'POST',
    path: '/v1/idp/oidc/revoke',
    form: { client_id: own.clientId, token: session.refreshToken ?? session.accessToken },
  });
  reply.header('set-cookie', clearCookie(own, request.tenant, 'session'));
}

const askForTokens = (
  app: FastifyInstance,
  own: FirstPartyApp,
  request: FastifyRequest,
  form: Readonly<Record<string, string>>,
): Promise<ApiAnswer> => callApi(app, request, { method: 'POST', path: '/v1/idp/oidc/token', form: { client_id: own.clientId, ...form } });

/** The session of a token answer; undefined for a refusal. */
async function sessionFrom(
  { app, services, request }: { readonly app: FastifyInstance; readonly services: Parts<'clock'>; readonly request: FastifyRequest },
  { status, body }: ApiAnswer,
  before?: AppSession,
): Promise<{ readonly session: AppSession; readonly nonce: unknown } | undefined> {
  if (status !== 200) return undefined;
  // A 200 of our own token endpoint has these members; the ID token came from it directly, so its claims need no signature check.
  const {
    access_token: accessToken,
    refresh_token: refreshToken,
    expires_in: seconds,
    id_token: idToken,
  } = body as { access_token: string; refresh_token?: string; expires_in: number; id_token?: string };
  const claims = idToken === undefined ? undefined : parseJwt(idToken)?.claims;
  const sid = before?.grantId ?? claims?.['sid'];
  if (typeof sid !== 'string') return undefined;
  const session: AppSession = {
    grantId: sid as GrantId, // our own token endpoint's claim
    accessToken,
    refreshToken,
    expiresAtMs: services.clock.nowMs() + seconds * 1000,
    name: before?.name ?? (await nameOf(app, request, accessToken)),
    csrf: before?.csrf ?? randomId(),
  };
  return { session, nonce: claims?.['nonce'] };
}

/** Who is signed in, by UserInfo. */
async function nameOf(app: FastifyInstance, request: FastifyRequest, bearer: string): Promise<string> {
  const { body } = await callApi(app, request, { method: 'GET', path: '/v1/idp/oidc/userinfo', bearer });
  return String(body['name'] ?? body['preferred_username'] ?? body['sub'] ?? '');
}

export const redirect = (reply: FastifyReply, location: string): FastifyReply =>
  reply.code(303).headers({ location, 'cache-control': 'no-store', 'referrer-policy': 'same-origin' }).send();
