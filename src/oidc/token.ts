// POST /token (contract 7.2): one pipeline for every grant. The order of its phases is the security argument: scope and
// resource before redeem, so that a wrong one burns nothing; redeem before mint, so that a failing signer permits no replay.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import type { KeyRing } from '../crypto/key-ring.ts';
import type { Client, SigningAlg } from '../domain/client/client.ts';
import { accessTokenAlgOf } from '../domain/client/fapi2.ts';
import { registeredSpelling, sameResource } from '../domain/client/resource.ts';
import { strangerScopesOf } from '../domain/client/stranger.ts';
import type { HookClaims } from '../domain/extending/hook.ts';
import { type GrantType, grantTypes, isGrantType, isOffered } from '../domain/oidc/grant-types.ts';
import { type HeldOrganization, scopesWithin, withOrganization } from '../domain/organizations/tenant-organizations.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import type { Parts } from '../http/services.ts';
import type { Handler } from '../http/surface.ts';
import { nowSeconds } from '../platform/clock.ts';
import { findCachedResource } from '../storage/registry/clients/resources.ts';
import { mintAccessToken } from '../tokens/access-token.ts';
import { mintIdToken } from '../tokens/id-token.ts';
import { ringWith } from '../tokens/signing-key-supply.ts';
import { organizationOfGrant, passesAccessGate } from './access-gate.ts';
import { accessTokenLifetimeSeconds } from './access-token-lifetime.ts';
import { noAuthorizationDetails } from './authorize/authorization-details.ts';
import { boundCertificate, confirmationOf } from './client/certificate-authentication.ts';
import { authenticateClient, type ClientAuthDeps, presentsCredential } from './client/client-authentication.ts';
import { proofKeyOf } from './dpop/dpop-refusal.ts';
import { type Examined, grantNotAllowedText, type Opened, type TokenGrant, type TokenRequest } from './grants/grant.ts';
import { grantHandlers } from './grants/handlers.ts';
import { type ParsedParameters, parametersFailureText, parseForm, type RequestParameters } from './parameters.ts';
import { rejectFault } from './row-fault.ts';
import { audienceOf, findUnboundScope, parseScopes, requestedAudiences } from './scopes.ts';
import { hookedClaims, withAdded } from './token-hook.ts';
import { claimsForTokens } from './user-claims.ts';

type IssueDeps = ClientAuthDeps & Parts<'activity' | 'hooks' | 'keyRings' | 'mail' | 'metrics'>;

export function issueTokens(services: IssueDeps): Handler {
  return (request, reply) => answerToken(services, request, reply);
}

async function answerToken(services: IssueDeps, request: FastifyRequest, reply: FastifyReply): Promise<string> {
  // 1 parse
  const parameters = parametersOf(parseForm(request));
  // 2 find the grant
  const grantType = parameters.get('grant_type');
  if (!isGrantType(grantType) || !isOffered(grantType, request.tenant.settings.extra_grants))
    throw reject('token.unsupported_grant_type', { reason: 'grant_type', received: grantType });
  const grant = grantHandlers[grantType];
  // 3 authenticate the client
  const client =
    grant.identify === undefined || presentsCredential(request, parameters)
      ? await authenticateClient(services, request, reply, parameters)
      : await grant.identify(services, request, parameters);
  const { tenant } = request;
  if (!client.grantTypes.includes(grantType) || (client.type === 'public' && !grantTypes[grantType].publicClients))
    throw refusedGrant(grantType);
  if (tenant.settings.rate_limits.token_requests_per_client !== null)
    await enforceRateLimit(services.rateLimiter, tenant, 'oauth', 'token_requests_per_client', client.clientId);
  const proofKey = await proofKeyOf(services, request, reply, client);
  const details = noAuthorizationDetails({ parameters });
  if (details !== undefined) throw rejectFault('token.invalid_request', details);
  const certificate = boundCertificate(request, client);
  const tokenRequest: TokenRequest = { services, request, tenant, client, parameters, proofKey, certificate };
  // 4 examine the proof
  const examining = grant.examine(tokenRequest);
  const examined = examining instanceof Promise ? await examining : examining;
  // 5 user, access gate and organisation
  if (examined.grant !== undefined) await refuseClosedGate(tokenRequest, examined);
  const organization = examined.grant?.organizationId === undefined ? undefined : await organizationNow(tokenRequest, examined);
  // 6 scope and resource
  const bound = client.origin === undefined ? client : await asItsResourceSays(tokenRequest, examined);
  const { resource, ...opened } =
    examined.exchanged === undefined ? withinGrant({ ...tokenRequest, client: bound }, examined) : examined.exchanged.narrow();
  // Scopes of an assertion are another server's, whatever roles of ours give.
  const areOwn = examined.grant !== undefined && examined.exchanged?.assertion === undefined;
  const scopes = areOwn ? scopesWithin(tenant.organizations, opened.scopes, organization) : opened.scopes;
  const added =
    tenant.hooks.token === undefined
      ? examined.grant?.hookClaims
      : await hookedClaims(services, tenant, grant, {
          ...examined,
          grantType,
          client,
          scopes,
          resource,
          organization,
          requestId: request.id,
        });
  const keys = readyRing(services, tenant, client) ?? (await ringWith(services, tenant.id, algsOf(tenant, client)));
  const lifetimeSeconds =
    resource === undefined || resource === tenant.managementApi
      ? tenant.settings.access_token_lifetime_seconds
      : await accessTokenLifetimeSeconds(services, tenant, resource);
  // 7 redeem
  const refreshToken =
    examined.redeem === undefined ? undefined : await examined.redeem({ accessTokenLifetimeSeconds: lifetimeSeconds, scopes, resource });
  // 8 mint, 9 answer
  const body = await mint(tokenRequest, grant, examined, { keys, scopes, resource, organization, lifetimeSeconds, refreshToken, added });
  services.metrics?.countTokens(grantType);
  services.activity.noteUse(tenant.id, client.clientId);
  reply.headers(tokenHeaders);
  return tokenJson(body);
}

/** What a client hears of a grant it may not use: of an extra one what it heard while the tenant had it off. */
const refusedGrant = (grantType: GrantType): Error =>
  grantTypes[grantType].isExtra === true
    ? reject('token.unsupported_grant_type', { reason: 'grant_not_allowed', received: grantType })
    : reject('token.unauthorized_client', { reason: 'grant_not_allowed', received: grantType }, { text: grantNotAllowedText });

const algsOf = (tenant: Tenant, client: Client): readonly SigningAlg[] => [
  accessTokenAlgOf(client, tenant.settings.access_token_alg),
  client.idTokenSignedResponseAlg,
];

/** The tenant's keys when they are in memory and sign what this client gets. */
function readyRing({ keyRings }: Parts<'keyRings'>, tenant: Tenant, client: Client): KeyRing | undefined {
  const ring = keyRings.peek(tenant.id);
  return ring !== undefined && algsOf(tenant, client).every((alg) => ring.signing(alg) !== undefined) ? ring : undefined;
}

/** The parameters, or the row of what is wrong with them. */
function parametersOf(parsed: ParsedParameters): RequestParameters {
  if (parsed.ok) return parsed.parameters;
  throw reject(
    'token.invalid_request',
    { reason: parsed.reason, received: parsed.parameter },
    { text: parametersFailureText[parsed.reason] },
  );
}

/** Contract 7.2: a suspended user and a closed gate look like an invalid grant. */
async function refuseClosedGate(
  { services, tenant, client }: TokenRequest,
  { grant, refusal, resource, userState }: Examined,
): Promise<void> {
  if (grant === undefined) return;
  if (userState !== 'active') throw reject(refusal, { reason: 'user_inactive', received: userState, expected: 'active' });
  const isGated = client.accessPolicy !== 'everyone' || client.origin !== undefined;
  const { organizationId: organization } = grant;
  if (isGated && !(await passesAccessGate(services.database, tenant.id, client, grant.userId, { resource, organization })))
    throw reject(refusal, { reason: 'access_gate', received: grant.userId });
}

/** Whoever left the organisation of the grant has an invalid one, and everybody while it is disabled. */
async function organizationNow({ services, tenant }: TokenRequest, { grant, refusal }: Examined): Promise<HeldOrganization | undefined> {
  const held = grant && (await organizationOfGrant(services.database, tenant.id, grant));
  if (held === 'left') throw reject(refusal, { reason: 'not_a_member', received: grant?.organizationId });
  return held;
}

/** A client nobody registered: of the scopes of open resources it has those of its own, as that one gives them now. */
async function asItsResourceSays({ services, tenant, client }: TokenRequest, { resource }: Examined): Promise<Client> {
  const own = resource === undefined ? undefined : await findCachedResource(services.cache, tenant.id, resource);
  return { ...client, scopes: strangerScopesOf(client.scopes, own) };
}

/** Scopes and audience of the grant that the request asks for. */
function withinGrant(tokenRequest: TokenRequest, examined: Examined): Opened {
  const scopes = grantedScopes(tokenRequest, examined);
  checkResource(tokenRequest, examined);
  return { scopes, resource: examined.resource };
}

/** The scopes of the token: those asked for, within the grant and bound to the client as it is now. */
function grantedScopes({ client, parameters }: TokenRequest, examined: Examined): readonly string[] {
  const { unheardScope: unheard } = examined;
  const asked = parameters.get('scope');
  const text = asked === unheard ? undefined : asked;
  const named = parseScopes(text);
  const requested = text === undefined ? examined.scopes : unheard === undefined ? named : named?.filter((scope) => scope !== unheard);
  if (requested === undefined)
    throw reject('token.invalid_scope', { reason: 'scope_malformed', received: text }, { text: 'scope is malformed.' });
  const unbound = findUnboundScope(client, requested);
  if (unbound !== undefined)
    throw reject('token.invalid_scope', { reason: 'scope_not_bound', received: unbound }, { text: 'A scope is not bound to this client.' });
  const outside = text === undefined ? undefined : requested.find((scope) => !examined.scopes.includes(scope));
  if (outside !== undefined)
    throw reject('token.invalid_scope', { reason: 'scope_not_granted', received: outside }, { text: 'A scope was not granted.' });
  return requested;
}

/** RFC 8707 2.2: a token request may repeat the resource of its grant and name no other. One that was taken off the client is none any more. */
function checkResource({ client, parameters }: TokenRequest, { grant, resource }: Examined): void {
  const requested = requestedAudiences(parameters);
  const [asked] = requested;
  const isRepeated = asked === undefined || (requested.length === 1 && resource !== undefined && sameResource(asked, resource));
  const isTakenOff = grant !== undefined && resource !== undefined && registeredSpelling(client.resources, resource) === undefined;
  if (isRepeated && !isTakenOff) return;
  throw reject(
    'token.invalid_target',
    { reason: isTakenOff ? 'audience_taken_off' : 'audience_not_granted', received: requested.join(' '), expected: resource },
    { text: 'The requested audience is not available to this client.' },
  );
}

interface Minting extends Opened {
  readonly keys: KeyRing;
  readonly organization: HeldOrganization | undefined;
  readonly lifetimeSeconds: number;
  readonly refreshToken: string | undefined;
  /** Claims of hooks. */
  readonly added: HookClaims | undefined;
}

interface TokenResponse {
  readonly access_token: string;
  /** RFC 8693 2.2.1. */
  readonly issued_token_type?: string;
  readonly token_type: 'Bearer' | 'DPoP' | 'N_A';
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly id_token?: string;
  readonly scope: string;
}

async function mint(request: TokenRequest, type: TokenGrant, examined: Examined, minting: Minting): Promise<TokenResponse> {
  const { services, tenant, client, proofKey, certificate } = request;
  const { keys, scopes, resource, organization, lifetimeSeconds, refreshToken, added } = minting;
  const { grant, exchanged } = examined;
  const scope = scopes.join(' ');
  if (exchanged?.assertion !== undefined) {
    const { assertion, issuedTokenType } = exchanged;
    const token = await assertion.mint(keys, scopes);
    return { access_token: token, issued_token_type: issuedTokenType, token_type: 'N_A', expires_in: assertion.lifetimeSeconds, scope };
  }
  const claims = await claimsForTokens(services, tenant, client, { grant, scopes, requestId: request.request.id });
  const { token, expiresAtSeconds } = await mintAccessToken(tenant, keys, services.clock, {
    alg: accessTokenAlgOf(client, tenant.settings.access_token_alg),
    clientId: client.clientId,
    sub: exchanged?.sub ?? grant?.userId ?? client.clientId,
    audience: audienceOf(tenant, scopes, resource),
    scope,
    lifetimeSeconds,
    ...(grant === undefined ? {} : { sid: grant.id, authTime: grant.authTimeSeconds, acr: grant.acr, amr: grant.amr }),
    ...confirmationOf(proofKey, certificate),
    mappedClaims: withOrganization(tenant.organizations, withAdded(claims.accessToken, added?.access_token), organization),
    act: exchanged?.act,
    notAfterSeconds: exchanged?.notAfterSeconds,
  });
  const idToken =
    grant === undefined || !scopes.includes('openid')
      ? undefined
      : await mintIdToken(tenant, keys, services.clock, {
          alg: client.idTokenSignedResponseAlg,
          clientId: client.clientId,
          sub: grant.userId,
          sid: grant.id,
          authTimeSeconds: grant.authTimeSeconds,
          acr: grant.acr,
          amr: grant.amr,
          nonce: type.repeatsNonce ? grant.nonce : undefined,
          accessToken: token,
          userClaims: withOrganization(tenant.organizations, withAdded(claims.idToken, added?.id_token), organization),
          ...(examined.idTokenClaims === undefined ? {} : { extraClaims: examined.idTokenClaims }),
        });
  return {
    access_token: token,
    ...(exchanged === undefined ? {} : { issued_token_type: exchanged.issuedTokenType }),
    token_type: proofKey === undefined ? 'Bearer' : 'DPoP',
    expires_in: exchanged === undefined ? lifetimeSeconds : Math.max(0, expiresAtSeconds - nowSeconds(services.clock)),
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    ...(idToken === undefined ? {} : { id_token: idToken }),
    scope,
  };
}

/** The answer as JSON. An access token of ours has no character to escape, so its seven hundred are not searched for one. */
const tokenJson = ({ access_token: token, ...rest }: TokenResponse): string =>
  `{"access_token":"${token}",${JSON.stringify(rest).slice(1)}`;

/** RFC 6749 5.1. */
const tokenHeaders = { 'cache-control': 'no-store', pragma: 'no-cache', 'content-type': 'application/json; charset=utf-8' };
