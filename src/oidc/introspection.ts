// POST /v1/idp/oidc/introspect (RFC 7662, contract 7.5): says what a token is worth now, to whom it concerns. Never writes.
// A token that is unverifiable, expired, revoked or not the caller's business is `{"active":false}` and nothing else.

import { reject } from '../contract/contract-error.ts';
import type { KeyRing } from '../crypto/key-ring.ts';
import { hashSecret } from '../crypto/secret-hash.ts';
import { signJwt } from '../crypto/signing/jwt.ts';
import type { Client } from '../domain/client/client.ts';
import { registeredSpelling } from '../domain/client/resource.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Parts } from '../http/services.ts';
import type { Handler } from '../http/surface.ts';
import { nowSeconds } from '../platform/clock.ts';
import { findRefreshToken } from '../storage/oidc/refresh-tokens.ts';
import { findTokenState } from '../storage/oidc/revoked-tokens.ts';
import { findCachedClient } from '../storage/registry/clients/clients.ts';
import { type AccessToken, clientsOf, verifyAccessToken } from '../tokens/access-token.ts';
import { authenticateClient, type ClientAuthDeps } from './client/client-authentication.ts';
import { parametersFailureText, parseForm } from './parameters.ts';

/** What is said of a token, as an object and as JSON. */
interface Introspection {
  readonly members: Readonly<Record<string, unknown>>;
  readonly json: string;
}

const introspectionOf = (members: Introspection['members']): Introspection => ({ members, json: JSON.stringify(members) });
const inactive = introspectionOf({ active: false });
/** Access tokens of ours are looked at many times and say the same each time. */
const activeAccessTokens = new WeakMap<AccessToken, Introspection>();
/** RFC 9701 4: a caller that accepts this type gets a signed answer. */
const jwtType = 'token-introspection+jwt';
export const introspectionSigningAlg = 'RS256';

export function introspect(services: ClientAuthDeps & Parts<'keyRings'>): Handler {
  return async (request, reply) => {
    const parsed = parseForm(request);
    if (!parsed.ok)
      throw reject(
        'introspect.invalid_request',
        { reason: parsed.reason, received: parsed.parameter },
        { text: parametersFailureText[parsed.reason] },
      );
    const client = await authenticateClient(services, request, reply, parsed.parameters, { confidentialOnly: true });
    const token = parsed.parameters.get('token');
    if (token === undefined) throw reject('introspect.invalid_request', 'token_missing', { text: 'token is required.' });
    const keys = services.keyRings.peek(request.tenant.id) ?? (await services.keyRings.of(request.tenant.id));
    const found = (await introspectToken(services, request.tenant, keys, client, token)) ?? inactive;
    reply.header('cache-control', 'no-store');
    if (request.headers.accept?.includes(`application/${jwtType}`) === true) {
      reply.header('content-type', `application/${jwtType}`);
      return signAnswer(services, request.tenant, keys, client, found);
    }
    reply.header('content-type', 'application/json; charset=utf-8');
    return found.json;
  };
}

/** What the caller may know about a token; undefined when that is nothing. */
async function introspectToken(
  services: Parts<'cache' | 'clock' | 'database'>,
  tenant: Tenant,
  keys: KeyRing,
  caller: Client,
  token: string,
): Promise<Introspection | undefined> {
  const verified = verifyAccessToken(tenant, keys, services.clock, token);
  return verified.ok
    ? introspectAccessToken(services, tenant, caller, verified.token)
    : introspectRefreshToken(services, tenant, caller, token);
}

async function introspectAccessToken(
  services: Parts<'cache' | 'database'>,
  tenant: Tenant,
  caller: Client,
  token: AccessToken,
): Promise<Introspection | undefined> {
  const isOwn = token.clientId === caller.clientId;
  if (!isOwn && !token.audience.some((audience) => isServedBy(tenant, caller, audience))) return undefined;
  const state = await services.database.read(tenant.id, (queries) => findTokenState(queries, tenant.id, token));
  if (state.isRevoked || (token.sid !== undefined && state.userState !== 'active')) return undefined;
  for (const clientId of clientsOf(token, state.clientId)) {
    const client = clientId === caller.clientId ? caller : await findCachedClient(services.cache, tenant.id, clientId);
    if (client?.enabled !== true) return undefined;
  }
  let introspection = activeAccessTokens.get(token);
  if (introspection === undefined) {
    introspection = introspectionOf({ active: true, token_type: isDpopBound(token) ? 'DPoP' : 'Bearer', ...token.claims });
    activeAccessTokens.set(token, introspection);
  }
  return introspection;
}

/** Tokens for the issuer are for UserInfo: nobody sees them by calling it another way. */
const isServedBy = ({ baseUrl }: Tenant, { resources, origin }: Client, audience: string): boolean =>
  // Who nobody registered may ask for open resources, and is none of them.
  origin === undefined && (audience === baseUrl ? resources.includes(audience) : registeredSpelling(resources, audience) !== undefined);

const isDpopBound = ({ claims }: AccessToken): boolean => (claims as { cnf?: { jkt?: string } }).cnf?.jkt !== undefined; // mintAccessToken writes it

/** A refresh token is its own client's business alone. */
async function introspectRefreshToken(
  services: Parts<'database'>,
  tenant: Tenant,
  caller: Client,
  token: string,
): Promise<Introspection | undefined> {
  const stored = await services.database.read(tenant.id, (queries) => findRefreshToken(queries, tenant.id, hashSecret(token)));
  if (stored === undefined || stored.grant.clientId !== caller.clientId) return undefined;
  if (stored.isExpired || stored.isGrantRevoked || stored.usedForMs !== undefined || stored.userState !== 'active') return undefined;
  const { grant } = stored;
  return introspectionOf({
    active: true,
    token_type: 'refresh_token',
    iss: tenant.baseUrl,
    sub: grant.userId,
    client_id: grant.clientId,
    iat: Math.floor(stored.createdAtMs / 1000),
    exp: Math.floor(stored.expiresAtMs / 1000),
    scope: grant.scope,
    token_use: 'refresh',
    sid: grant.id,
  });
}

/** RFC 9701 5: the answer as a JWT for this caller alone. */
async function signAnswer(
  services: Parts<'clock'>,
  tenant: Tenant,
  keys: KeyRing,
  caller: Client,
  introspection: Introspection,
): Promise<string> {
  const key = keys.signing(introspectionSigningAlg);
  if (key === undefined) throw new Error(`tenant ${tenant.slug} has no current ${introspectionSigningAlg} key`);
  return signJwt(key, jwtType, {
    iss: tenant.baseUrl,
    aud: caller.clientId,
    iat: nowSeconds(services.clock),
    token_introspection: introspection.members,
  });
}
