// Who may call SCIM: an access token of the tenant for its Management API audience with scim:read or scim:write
// (contract 5); or a token for SCIM alone, of the tenant or of the organisation whose directory is called. 401 says what is wrong with the token, 403 which capability is missing.
import type { FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { hashSecret } from '../crypto/secret-hash.ts';
import type { Directory } from '../domain/organizations/directory.ts';
import { scimTokenPrefix } from '../domain/people/scim-token.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import { isOwnTrial } from '../http/own-trial.ts';
import type { Parts } from '../http/services.ts';
import { findScimToken, noteScimTokenUsed } from '../storage/registry/scim-tokens.ts';
import { type BearerDependencies, type BearerFailure, bearerTokenOf, verifyBearer } from '../tokens/bearer.ts';
import type { ScimContext } from './request-context.ts';
import { userIndexOf } from './schema/schema-lookup.ts';

/** How the path of a request names the organisation whose directory it is. */
export const organizationParameter = 'organization_id';
const organizationsPath = '/v1/scim/organizations/';

export type ScimCapability = 'scim:read' | 'scim:write';

/** RFC 6750 3: what every refused request is told; `error` only when it carried a token. */
const realm = 'Bearer realm="scim"';

const failureTexts: Readonly<Record<BearerFailure, string>> = {
  missing_token: 'The bearer access token is missing.',
  malformed: 'The access token is not a token of this service.',
  wrong_token_use: 'The token is not an access token.',
  unknown_key: 'The access token is signed with an unknown key.',
  bad_signature: 'The signature of the access token is not valid.',
  wrong_issuer: 'The access token has another issuer.',
  expired: 'The access token has expired.',
  wrong_audience: 'The access token is for another audience.',
  sender_constrained: 'The access token is bound to a key and cannot be used as a bearer token.',
  token_revoked: 'The access token has been revoked.',
  client_disabled: 'The client of the access token is not enabled.',
  user_inactive: 'The user of the access token is not active.',
  sign_in_too_weak: 'The person has a passkey or a phone and signed in by less.',
  not_an_administrator: 'The user of the access token is not an administrator.',
};

type AuthorizeDeps = BearerDependencies & Parts<'encryption' | 'log' | 'rateLimiter'>;

/**
 * Authenticates a request and checks that it has one of the capabilities; gives the context of its operations.
 * @throws scim.unauthorized, scim.rate_limited, scim.forbidden
 */
export async function authorize(services: AuthorizeDeps, request: FastifyRequest, needed: readonly ScimCapability[]): Promise<ScimContext> {
  const caller = await identify(services, request);
  request.auditActor = caller.actor;
  await enforceRateLimit(services.rateLimiter, request.tenant, 'scim', 'scim_requests_per_client', caller.key);
  return contextOf(services, request, caller, needed);
}

/** The same of a request that has waited since, which counts once. */
export const authorizeAgain = async (
  services: AuthorizeDeps,
  request: FastifyRequest,
  needed: readonly ScimCapability[],
): Promise<ScimContext> => contextOf(services, request, await identify(services, request), needed);

/** @throws scim.unauthorized */
async function identify(services: AuthorizeDeps, request: FastifyRequest): Promise<Caller> {
  const { tenant } = request;
  const organization = (request.params as Partial<Record<string, string>>)[organizationParameter]; // of the surface of organisations
  const presented = bearerTokenOf(request.headers.authorization);
  if (presented?.startsWith(scimTokenPrefix)) {
    const directory = organization === undefined ? { tenant: tenant.id } : { tenant: tenant.id, organization };
    return callerOf(services, directory, presented, isOwnTrial(request));
  }
  const found = await verifyBearer(services, tenant, request.headers.authorization, tenant.managementApi);
  // Nobody but its own directory calls SCIM of an organisation: no access token is for it.
  const verified = found.ok && organization !== undefined ? ({ ok: false, reason: 'wrong_audience' } as const) : found;
  if (!verified.ok) {
    const challenge = verified.reason === 'missing_token' ? realm : `${realm}, error="invalid_token"`;
    throw reject('scim.unauthorized', verified.reason, { text: failureTexts[verified.reason], challenge });
  }
  const { token, scopes, actor } = verified;
  return { directory: { tenant: tenant.id }, scopes, actor, key: token.clientId, userId: token.sid === undefined ? undefined : token.sub };
}

interface Caller {
  readonly directory: Directory;
  readonly scopes: readonly string[];
  readonly actor: string;
  /** Whose requests are counted. */
  readonly key: string;
  readonly userId: string | undefined;
}

/** Who calls with a token for SCIM alone. @throws scim.unauthorized */
async function callerOf({ database }: BearerDependencies, directory: Directory, presented: string, isTrial: boolean): Promise<Caller> {
  const { tenant } = directory;
  const found = await database.read(tenant, (queries) => findScimToken(queries, directory, hashSecret(presented)));
  if (found === undefined || found.isOver) {
    const reason = found === undefined ? 'token_revoked' : 'expired';
    throw reject('scim.unauthorized', reason, { text: failureTexts[reason], challenge: `${realm}, error="invalid_token"` });
  }
  if (!found.isFresh && !isTrial) await database.write(tenant, (queries) => noteScimTokenUsed(queries, tenant, found.id));
  const actor = `scim_token:${found.id}`;
  return { directory, scopes: ['scim:read', 'scim:write'], actor, key: actor, userId: undefined };
}

/** @throws scim.forbidden */
function contextOf(
  services: AuthorizeDeps,
  request: FastifyRequest,
  { directory, scopes, actor, userId }: Caller,
  needed: readonly ScimCapability[],
): ScimContext {
  const { tenant } = request;
  if (!needed.some((capability) => scopes.includes(capability))) {
    const cause = { reason: 'missing_capability', expected: needed.join(' '), received: scopes.join(' ') };
    const challenge = `${realm}, error="insufficient_scope", scope="${needed[0]}"`;
    throw reject('scim.forbidden', cause, { text: `The access token lacks ${needed.join(' or ')}.`, challenge });
  }
  const { organization } = directory;
  const base = tenant.baseUrl + (organization === undefined ? '/scim/v2' : `${organizationsPath}${organization}`);
  return {
    services,
    tenant,
    directory,
    base,
    requestId: request.id,
    actor,
    scopes,
    userIndex: userIndexOf(tenant.customAttributes),
    userId,
  };
}
