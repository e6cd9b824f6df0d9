// GET and POST /userinfo (contract 7.7): the claims of the user behind an access token. Every failure is 401 in the management
// envelope with a reason, and never a WWW-Authenticate for bearer tokens.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Cause, type ContractError, reject } from '../contract/contract-error.ts';
import { bodyBytesMax } from '../contract/limits.ts';
import type { UserId } from '../domain/ids.ts';
import { addressBlock } from '../http/client-address.ts';
import { enforceRateLimit } from '../http/rate-limits.ts';
import type { Services } from '../http/services.ts';
import { type Handler, registerSurface } from '../http/surface.ts';
import { findCachedClient } from '../storage/clients.ts';
import { findTokenState } from '../storage/revoked-tokens.ts';
import { findUserFacts } from '../storage/user-claims.ts';
import { type AccessToken, verifyAccessToken } from '../tokens/access-token.ts';
import { bearerTokenOf } from '../tokens/bearer.ts';
import { crossOrigin, preflight } from './cross-origin.ts';
import { parseForm } from './parameters.ts';
import { claimsOf, sourcesOf } from './user-claims.ts';

/** UserInfo speaks the management envelope, so it is a surface of its own below the OIDC paths. */
export function registerUserInfo(app: FastifyInstance, services: Services): void {
  registerSurface(
    app,
    services,
    {
      name: 'userinfo',
      envelope: 'management',
      prefix: '/v1/idp/oidc/userinfo',
      bodies: { 'application/x-www-form-urlencoded': 'form' },
      bodyBytesMax,
      ofTenant: true,
    },
    (route) => {
      const handler = crossOrigin(userInfo(services));
      route('', { GET: handler, POST: handler, OPTIONS: preflight('GET, POST') });
    },
  );
}

type Reason = 'missing_token' | 'invalid_token' | 'wrong_token_use' | 'token_revoked' | 'user_inactive';

const refuse = (reason: Reason, cause: Cause): ContractError => reject('userinfo.unauthorized', cause, { fields: { reason } });

function userInfo(services: Services): Handler {
  return async (request, reply) => {
    const { tenant } = request;
    if (tenant.settings.rate_limits.userinfo_requests_per_ip !== null)
      await enforceRateLimit(services.rateLimiter, tenant, 'management', 'userinfo_requests_per_ip', addressBlock(request.clientAddress));
    const token = await readToken(services, request);
    request.auditActor = `user:${token.sub}`;
    const client = await findCachedClient(services.cache, tenant.id, token.clientId);
    const sub = token.sub as UserId; // the subject of a token we signed for a grant
    const { state, facts } = await services.database.read(tenant.id, async (queries) => ({
      state: await findTokenState(queries, tenant.id, token),
      facts: await findUserFacts(queries, tenant.id, sub, sourcesOf(token.scopes)),
    }));
    if (facts?.user.state !== 'active')
      throw refuse('user_inactive', { reason: 'user_inactive', received: facts?.user.state ?? 'unknown' });
    if (state.isRevoked) throw refuse('token_revoked', { reason: 'token_revoked', received: token.jti });
    if (client?.enabled !== true) throw refuse('token_revoked', { reason: 'client_disabled', received: token.clientId });
    return reply
      .headers({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
      .send(JSON.stringify({ sub: token.sub, ...claimsOf(facts, token.scopes) }));
  };
}

async function readToken({ keyRings, clock }: Services, request: FastifyRequest): Promise<AccessToken> {
  const { tenant } = request;
  const keys = keyRings.peek(tenant.id) ?? (await keyRings.of(tenant.id));
  const verified = verifyAccessToken(tenant, keys, clock, presentedToken(request));
  if (!verified.ok) throw refuse(verified.reason === 'wrong_token_use' ? 'wrong_token_use' : 'invalid_token', { reason: verified.reason });
  const { token } = verified;
  if (!token.audience.includes(tenant.baseUrl))
    throw refuse('invalid_token', { reason: 'wrong_audience', received: token.audience.join(' '), expected: tenant.baseUrl });
  if (!token.scopes.includes('openid'))
    throw refuse('invalid_token', { reason: 'scope_without_openid', received: token.scopes.join(' '), expected: 'openid' });
  if (token.claims['cnf'] !== undefined) throw refuse('invalid_token', { reason: 'sender_constrained_token_as_bearer' });
  return token;
}

/** RFC 6750 2: the Authorization header, or `access_token` in a form body; exactly one of them. */
function presentedToken(request: FastifyRequest): string {
  const { authorization } = request.headers;
  const form = request.method === 'POST' ? parseForm(request) : undefined;
  if (form?.ok === false) throw refuse('invalid_token', { reason: form.reason });
  const inBody = form?.parameters.get('access_token');
  const isBearer = authorization !== undefined && /^bearer(?: |$)/i.test(authorization);
  if (isBearer && inBody !== undefined) throw refuse('invalid_token', { reason: 'two_tokens' });
  if (inBody !== undefined) return inBody;
  if (!isBearer || authorization.slice('bearer'.length).trim() === '') throw refuse('missing_token', { reason: 'missing_token' });
  const token = bearerTokenOf(authorization);
  if (token === undefined) throw refuse('invalid_token', { reason: 'malformed_authorization' });
  return token;
}
