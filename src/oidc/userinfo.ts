// GET and POST /userinfo (contract 7.7): the claims of the user behind an access token. Every failure is 401 in the management
// envelope with a reason, and never a WWW-Authenticate for bearer tokens.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Cause, type ContractError, reject } from '../contract/contract-error.ts';
import { bodyBytesMax, organizationsToldMax } from '../contract/limits.ts';
import { assertionPublicKeyAlgs } from '../crypto/assertion-algorithms.ts';
import type { UserId } from '../domain/ids.ts';
import { shownRules } from '../domain/mappings/claims.ts';
import { claimsWithin } from '../domain/oidc/requested-claims.ts';
import { type HeldOrganization, organizationsScope, withOrganization } from '../domain/organizations/tenant-organizations.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import { addressBlock } from '../http/client-address.ts';
import type { Parts } from '../http/services.ts';
import { type Handler, registerSurface, type SurfaceDeps } from '../http/surface.ts';
import type { Queries } from '../storage/engine/database.ts';
import { findTokenState } from '../storage/oidc/revoked-tokens.ts';
import { findHeldOrganization, listOrganizationsOfUser } from '../storage/people/organization-members.ts';
import { findCachedClient } from '../storage/registry/clients/clients.ts';
import { type AccessToken, verifyAccessToken } from '../tokens/access-token.ts';
import { bearerTokenOf } from '../tokens/bearer.ts';
import { crossOrigin, preflight } from './cross-origin.ts';
import { isNonceFailure, offerNonce, type ProofDeps, verifyProof } from './dpop/dpop-proof.ts';
import { parseForm } from './parameters.ts';
import { claimsFor, findPerson, rulesOfClient } from './user-claims.ts';

type UserInfoDeps = ProofDeps & Parts<'cache' | 'keyRings' | 'rateLimiter'>;

/** UserInfo speaks the management envelope, so it is a surface of its own below the OIDC paths. */
export function registerUserInfo(app: FastifyInstance, services: SurfaceDeps & UserInfoDeps): void {
  registerSurface(
    app,
    services,
    {
      name: 'userinfo',
      envelope: 'management',
      malformed: (reason) => refuse('invalid_token', { reason }),
      prefix: '/v1/idp/oidc/userinfo',
      bodies: { 'application/x-www-form-urlencoded': 'form' },
      bodyBytesMax,
      ofTenant: true,
    },
    (route) => {
      const answer = crossOrigin(userInfo(services));
      route('', { GET: answer, POST: answer, OPTIONS: preflight('GET, POST') });
    },
  );
}

type Reason = 'missing_token' | 'audience' | 'invalid_token' | 'wrong_token_use' | 'token_revoked' | 'user_inactive';

const refuse = (reason: Reason, cause: Cause): ContractError => reject('userinfo.unauthorized', cause, { fields: { reason } });

function userInfo(services: UserInfoDeps): Handler {
  return async (request, reply) => {
    const { tenant } = request;
    if (tenant.settings.rate_limits.userinfo_requests_per_ip !== null)
      await enforceRateLimit(services.rateLimiter, tenant, 'management', 'userinfo_requests_per_ip', addressBlock(request.clientAddress));
    const token = await readToken(services, request, reply);
    request.auditActor = `user:${token.sub}`;
    const client = await findCachedClient(services.cache, tenant.id, token.clientId);
    const sub = token.sub as UserId; // the subject of a token we signed for a grant
    const { state, person, rules, organizations } = await services.database.read(tenant.id, async (queries) => {
      const found = await findTokenState(queries, tenant.id, token);
      const asked = claimsWithin(found.claims?.userinfo, client?.scopes ?? []);
      const shown = shownRules(rulesOfClient(tenant, client), 'userinfo', token.scopes, Object.keys(asked));
      return {
        state: found,
        person: await findPerson(queries, tenant, sub, shown),
        rules: shown,
        organizations: await organizationsOf(queries, tenant, token, found.organizationId),
      };
    });
    if (person?.user.state !== 'active')
      throw refuse('user_inactive', { reason: 'user_inactive', received: person?.user.state ?? 'unknown' });
    if (state.isRevoked) throw refuse('token_revoked', { reason: 'token_revoked', received: token.jti });
    if (client?.enabled !== true) throw refuse('token_revoked', { reason: 'client_disabled', received: token.clientId });
    const { acr } = token.claims as { readonly acr?: string }; // mintAccessToken writes it
    const about = { place: 'userinfo', clientId: token.clientId, acr, requestId: request.id } as const;
    const claims = await claimsFor(services, tenant, { ...about, rules, person });
    return reply
      .headers({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
      .send(
        JSON.stringify({ sub: token.sub, ...withOrganization(tenant.organizations, claims, organizations.held), ...organizations.all }),
      );
  };
}

interface OrganizationsToldOf {
  /** The one the token is for, while the person is in it. */
  readonly held: HeldOrganization | undefined;
  /** All they are in, where the scope for that was granted. */
  readonly all: { readonly organizations?: readonly object[] };
}

async function organizationsOf(
  queries: Queries,
  tenant: Tenant,
  { scopes, sub }: AccessToken,
  organizationId: string | undefined,
): Promise<OrganizationsToldOf> {
  const user = sub as UserId; // the subject of a token we signed for a grant
  const held = organizationId === undefined ? undefined : await findHeldOrganization(queries, tenant.id, organizationId, user);
  if (!tenant.organizations.exist || !scopes.includes(organizationsScope)) return { held, all: {} };
  const all = (await listOrganizationsOfUser(queries, tenant.id, user)).filter(({ isOpen }) => isOpen).slice(0, organizationsToldMax);
  return {
    held,
    all: { organizations: all.map(({ id, name, displayName, roles }) => ({ id, name, display_name: displayName ?? null, roles })) },
  };
}

async function readToken(services: ProofDeps & Parts<'keyRings'>, request: FastifyRequest, reply: FastifyReply): Promise<AccessToken> {
  const { tenant } = request;
  const { keyRings, clock } = services;
  const presented = presentedToken(request);
  const keys = keyRings.peek(tenant.id) ?? (await keyRings.of(tenant.id));
  const verified = verifyAccessToken(tenant, keys, clock, presented.token);
  if (!verified.ok) throw refuse(verified.reason === 'wrong_token_use' ? 'wrong_token_use' : 'invalid_token', { reason: verified.reason });
  const { token } = verified;
  if (!token.audience.includes(tenant.baseUrl))
    // With openid all but the audience is right, and whoever holds the token may know.
    throw refuse(token.scopes.includes('openid') ? 'audience' : 'invalid_token', {
      reason: 'wrong_audience',
      received: token.audience.join(' '),
      expected: tenant.baseUrl,
    });
  if (!token.scopes.includes('openid'))
    throw refuse('invalid_token', { reason: 'scope_without_openid', received: token.scopes.join(' '), expected: 'openid' });
  await checkBinding(services, request, reply, presented, token);
  return token;
}

/** RFC 9449 7.1: a bound token needs a proof of its key under the DPoP scheme; RFC 8705 3: or its certificate, under any; an unbound one is a bearer token. */
async function checkBinding(
  services: ProofDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  presented: Presented,
  token: AccessToken,
): Promise<void> {
  const { cnf } = token.claims as { cnf?: { jkt?: string; 'x5t#S256'?: string } }; // mintAccessToken writes it
  const certificate = cnf?.['x5t#S256'];
  if (certificate !== undefined && certificate !== request.clientCertificate?.thumbprint)
    throw refuse('invalid_token', {
      reason: request.clientCertificate === undefined ? 'certificate_missing' : 'certificate_differs',
      received: request.clientCertificate?.thumbprint,
      expected: certificate,
    });
  if (presented.scheme === 'bearer') {
    if (cnf?.jkt !== undefined) throw refuse('invalid_token', { reason: 'bound_token_as_bearer' });
    return;
  }
  if (cnf?.jkt === undefined) throw refuse('invalid_token', { reason: 'bearer_token_with_dpop' });
  const proof = await verifyProof(services, request, {
    endpoint: 'userinfo',
    accessToken: presented.token,
    needsNonce: false,
    algs: assertionPublicKeyAlgs,
  });
  const reason = proof.ok ? (proof.thumbprint === cnf.jkt ? undefined : 'proof_of_another_key') : proof.reason;
  if (reason === undefined) return;
  // The contract's silence of UserInfo is about bearer tokens; a DPoP client is told which kind of proof to make.
  const error = !proof.ok && isNonceFailure(proof.reason) ? 'use_dpop_nonce' : 'invalid_dpop_proof';
  offerNonce(services, request, reply);
  reply.header('www-authenticate', `DPoP error="${error}", algs="${assertionPublicKeyAlgs.join(' ')}"`);
  throw refuse('invalid_token', { reason });
}

type Scheme = 'bearer' | 'dpop';

interface Presented {
  readonly scheme: Scheme;
  readonly token: string;
}

/** RFC 6750 2, RFC 9449 7.1: the Authorization header, or `access_token` in a form body; exactly one of them. */
function presentedToken(request: FastifyRequest): Presented {
  const { authorization } = request.headers;
  const form = request.method === 'POST' ? parseForm(request) : undefined;
  if (form?.ok === false) throw refuse('invalid_token', { reason: form.reason });
  const inBody = form?.parameters.get('access_token');
  const scheme = /^(bearer|dpop)(?: |$)/i.exec(authorization ?? '')?.[1]?.toLowerCase() as Scheme | undefined; // the pattern has these two
  if (scheme !== undefined && inBody !== undefined) throw refuse('invalid_token', { reason: 'two_tokens' });
  if (inBody !== undefined) return { scheme: 'bearer', token: inBody };
  if (scheme === undefined || authorization === undefined || authorization.slice(scheme.length).trim() === '')
    throw refuse('missing_token', { reason: 'missing_token' });
  const token = bearerTokenOf(`Bearer${authorization.slice(scheme.length)}`);
  if (token === undefined) throw refuse('invalid_token', { reason: 'malformed_authorization' });
  return { scheme, token };
}
