// Signing in to one of our own applications: the authorization code flow with PKCE against its own tenant, refresh, sign-out.
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseJwt } from '../../crypto/jwt.ts';
import { equalText } from '../../crypto/secret-hash.ts';
import type { GrantId } from '../../domain/ids.ts';
import type { Services } from '../../http/services.ts';
import { randomId, randomSecret } from '../../platform/random.ts';
import { callApi } from './app-api.ts';
import { type AppSession, clearCookie, openSession, openSignIn, sealSession, sealSignIn } from './app-session.ts';
import { callbackOf, ensureAppClient, type OwnApp } from './own-app.ts';

/** Seconds before its expiry at which the access token is renewed. */
const renewSeconds = 30;

/** Sends the browser to the tenant's own sign-in, as strong as `acrValues` asks. `returnTo` is a path of the application. */
export async function startSignIn(
  services: Services,
  own: OwnApp,
  request: FastifyRequest,
  reply: FastifyReply,
  returnTo: string,
  acrValues?: string,
): Promise<FastifyReply> {
  const { tenant } = request;
  await ensureAppClient(services, own, tenant, request.id);
  const resource = own.resourceOf(tenant);
  const pending = { state: randomSecret(), nonce: randomSecret(), codeVerifier: randomSecret(), returnTo };
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: own.clientId,
    redirect_uri: callbackOf(own, tenant),
    scope: own.scopes.join(' '),
    ...(resource === undefined ? {} : { resource }),
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: createHash('sha256').update(pending.codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(acrValues === undefined ? {} : { acr_values: acrValues }),
  });
  return redirect(
    reply.header('set-cookie', sealSignIn(services.encryption, own, tenant, pending)),
    `${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`,
  );
}

export type SignInEnd =
  | { readonly ok: true; readonly returnTo: string; readonly cookies: readonly string[] }
  | { readonly ok: false; readonly reason: 'not_started' | 'cancelled' | 'not_completed' };

/** Exchanges the code of a callback. Fails when it is not the answer to this browser's own sign-in. */
export async function endSignIn(app: FastifyInstance, services: Services, own: OwnApp, request: FastifyRequest): Promise<SignInEnd> {
  const { tenant } = request;
  const query = new URL(request.url, tenant.baseUrl).searchParams;
  const pending = openSignIn(services.encryption, own, request);
  if (pending === undefined || !equalText(query.get('state') ?? '', pending.state)) return { ok: false, reason: 'not_started' };
  const code = query.get('code');
  if (code === null || query.get('iss') !== tenant.baseUrl) return { ok: false, reason: 'cancelled' };
  const session = await requestTokens(app, services, own, request, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: callbackOf(own, tenant),
    code_verifier: pending.codeVerifier,
  });
  if (session === undefined || session.nonce !== pending.nonce) return { ok: false, reason: 'not_completed' };
  return {
    ok: true,
    returnTo: pending.returnTo,
    cookies: [sealSession(services.encryption, own, tenant, session.session), clearCookie(own, tenant, 'sign-in')],
  };
}

/** The session of a request with a fresh access token, setting the renewed cookie on the reply; undefined: sign in again. */
export async function currentSession(
  app: FastifyInstance,
  services: Services,
  own: OwnApp,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AppSession | undefined> {
  const session = openSession(services.encryption, own, request);
  if (session === undefined) return undefined;
  if (session.expiresAtMs - renewSeconds * 1000 > services.clock.nowMs()) return session;
  if (session.refreshToken === undefined) return undefined;
  const renewed = await requestTokens(
    app,
    services,
    own,
    request,
    { grant_type: 'refresh_token', refresh_token: session.refreshToken },
    session,
  );
  if (renewed === undefined) return undefined;
  reply.header('set-cookie', sealSession(services.encryption, own, request.tenant, renewed.session));
  return renewed.session;
}

/** Revokes the grant and clears the cookie. */
export async function signOut(
  app: FastifyInstance,
  own: OwnApp,
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

async function requestTokens(
  app: FastifyInstance,
  services: Services,
  own: OwnApp,
  request: FastifyRequest,
  form: Readonly<Record<string, string>>,
  before?: AppSession,
): Promise<{ readonly session: AppSession; readonly nonce: unknown } | undefined> {
  const { status, body } = await callApi(app, request, {
    method: 'POST',
    path: '/v1/idp/oidc/token',
    form: { client_id: own.clientId, ...form },
  });
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
