// Who may call SCIM: an access token of the tenant for its Management API audience with scim:read or scim:write
// (contract 5). 401 says what is wrong with the token, 403 which capability is missing.
import type { FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { hashSecret } from '../crypto/secret-hash.ts';
import { scimTokenPrefix } from '../domain/people/scim-token.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import type { Parts } from '../http/services.ts';
import { findScimToken, noteScimTokenUsed } from '../storage/registry/scim-tokens.ts';
import { type BearerDependencies, type BearerFailure, bearerTokenOf, verifyBearer } from '../tokens/bearer.ts';
import type { ScimContext } from './request-context.ts';
import { userIndexOf } from './schema/schema-lookup.ts';

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

/** Authenticates a request and checks that it has one of the capabilities; gives the context of its operations. */
export async function authorize(
  services: BearerDependencies & Parts<'encryption' | 'log' | 'rateLimiter'>,
  request: FastifyRequest,
  needed: readonly ScimCapability[],
): Promise<ScimContext> {
  const { tenant } = request;
  const presented = bearerTokenOf(request.headers.authorization);
  if (presented?.startsWith(scimTokenPrefix)) return contextOf(services, request, await directoryOf(services, tenant, presented), needed);
  const verified = await verifyBearer(services, tenant, request.headers.authorization, tenant.managementApi);
  if (!verified.ok) {
    const challenge = verified.reason === 'missing_token' ? realm : `${realm}, error="invalid_token"`;
    throw reject('scim.unauthorized', verified.reason, { text: failureTexts[verified.reason], challenge });
  }
  const { token, scopes, actor } = verified;
  return contextOf(
    services,
    request,
    { scopes, actor, key: token.clientId, userId: token.sid === undefined ? undefined : token.sub },
    needed,
  );
}

interface Caller {
  readonly scopes: readonly string[];
  readonly actor: string;
  /** Whose requests are counted. */
  readonly key: string;
  readonly userId: string | undefined;
}

/** Who calls with a token for SCIM alone. @throws scim.unauthorized */
async function directoryOf({ database }: BearerDependencies, tenant: Tenant, presented: string): Promise<Caller> {
  const found = await database.read(tenant.id, (queries) => findScimToken(queries, tenant.id, hashSecret(presented)));
  if (found === undefined || found.isOver) {
    const reason = found === undefined ? 'token_revoked' : 'expired';
    throw reject('scim.unauthorized', reason, { text: failureTexts[reason], challenge: `${realm}, error="invalid_token"` });
  }
  if (!found.isFresh) await database.write(tenant.id, (queries) => noteScimTokenUsed(queries, tenant.id, found.id));
  const actor = `scim_token:${found.id}`;
  return { scopes: ['scim:read', 'scim:write'], actor, key: actor, userId: undefined };
}

/** @throws scim.rate_limited, scim.forbidden */
async function contextOf(
  services: BearerDependencies & Parts<'encryption' | 'log' | 'rateLimiter'>,
  request: FastifyRequest,
  { scopes, actor, key, userId }: Caller,
  needed: readonly ScimCapability[],
): Promise<ScimContext> {
  const { tenant } = request;
  request.auditActor = actor;
  await enforceRateLimit(services.rateLimiter, tenant, 'scim', 'scim_requests_per_client', key);
  if (!needed.some((capability) => scopes.includes(capability))) {
    const cause = { reason: 'missing_capability', expected: needed.join(' '), received: scopes.join(' ') };
    const challenge = `${realm}, error="insufficient_scope", scope="${needed[0]}"`;
    throw reject('scim.forbidden', cause, { text: `The access token lacks ${needed.join(' or ')}.`, challenge });
  }
  return { services, tenant, requestId: request.id, actor, scopes, userIndex: userIndexOf(tenant.customAttributes), userId };
}
