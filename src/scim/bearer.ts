// Who may call SCIM: an access token of the tenant for its Management API audience with scim:read or scim:write
// (contract 5). 401 says what is wrong with the token, 403 which capability is missing.
import type { FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import type { Parts } from '../http/services.ts';
import { type BearerDependencies, type BearerFailure, verifyBearer } from '../tokens/bearer.ts';
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
  const verified = await verifyBearer(services, tenant, request.headers.authorization, tenant.managementApi);
  if (!verified.ok) {
    const challenge = verified.reason === 'missing_token' ? realm : `${realm}, error="invalid_token"`;
    throw reject('scim.unauthorized', verified.reason, { text: failureTexts[verified.reason], challenge });
  }
  const { token, scopes, actor } = verified;
  request.auditActor = actor;
  await enforceRateLimit(services.rateLimiter, tenant, 'scim', 'scim_requests_per_client', token.clientId);
  if (!needed.some((capability) => scopes.includes(capability))) {
    const cause = { reason: 'missing_capability', expected: needed.join(' '), received: scopes.join(' ') };
    const challenge = `${realm}, error="insufficient_scope", scope="${needed[0]}"`;
    throw reject('scim.forbidden', cause, { text: `The access token lacks ${needed.join(' or ')}.`, challenge });
  }
  const userId = token.sid === undefined ? undefined : token.sub;
  return { services, tenant, requestId: request.id, actor, scopes, userIndex: userIndexOf(tenant.customAttributes), userId };
}
