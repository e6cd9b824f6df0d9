// Client authentication of /token, /par, /introspect, /revoke and /bc-authorize (contract 5 and 7.11): exactly one mechanism,
// the one the client is registered for. Every failure is one answer; its reason goes to the audit record.
// Unknown and disabled clients cost the same work as known ones.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Cause, reject } from '../contract/contract-error.ts';
import { verifySecret } from '../crypto/secret-hash.ts';
import { acceptsAuthMethod, type Client, type TokenEndpointAuthMethod } from '../domain/client.ts';
import type { Services } from '../http/services.ts';
import { findClientEvenly } from './client-cache.ts';
import { countFailure, refuseSpentAddress } from './client-failures.ts';
import { decodeFormText, type RequestParameters } from './parameters.ts';

/** What a request presents to authenticate its client, before anything is checked. */
type Presented =
  | {
      readonly ok: true;
      readonly mechanism: 'secret';
      readonly method: TokenEndpointAuthMethod;
      readonly clientId: string;
      readonly secret: string;
    }
  | { readonly ok: true; readonly mechanism: 'none'; readonly clientId: string }
  | ({ readonly ok: false } & Cause);

/** Value of WWW-Authenticate, sent only in answer to an Authorization header (RFC 6749 5.2). */
const challenge = 'Basic realm="gatehouse"';

/**
 * Authenticates the client of a request and makes it the actor of the audit trail.
 * @throws client.invalid_client for every failure, oauth.rate_limited when the address failed too often.
 */
export async function authenticateClient(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  parameters: RequestParameters,
): Promise<Client> {
  const { tenant } = request;
  await refuseSpentAddress(services, tenant, request.clientAddress);
  const presented = readPresented(request, parameters);
  if (!presented.ok) return refuse(services, request, reply, presented);
  const { client, settle } = await findClientEvenly(services.database, services.cache, tenant.id, presented.clientId);
  const verified = presented.mechanism === 'none' ? undefined : verifySecret(presented.secret, client?.secretHash);
  const fault = findFault(client, presented, verified);
  if (client === undefined || fault !== undefined) {
    await settle();
    return refuse(services, request, reply, fault ?? { reason: 'unknown_client', received: presented.clientId });
  }
  request.auditActor = `client:${client.clientId}`;
  return client;
}

/** True when the request carries any credential: an Authorization header, a client_secret or a client_assertion, empty ones too. */
export function presentsCredential(request: FastifyRequest, parameters: RequestParameters): boolean {
  return request.headers.authorization !== undefined || presentsSecret(parameters) || presentsAssertion(parameters);
}

const presentsSecret = (parameters: RequestParameters): boolean => parameters.has('client_secret');
const presentsAssertion = (parameters: RequestParameters): boolean =>
  parameters.has('client_assertion') || parameters.has('client_assertion_type');

function readPresented(request: FastifyRequest, parameters: RequestParameters): Presented {
  const { authorization } = request.headers;
  const clientId = parameters.get('client_id');
  const mechanisms = Number(authorization !== undefined) + Number(presentsSecret(parameters)) + Number(presentsAssertion(parameters));
  if (mechanisms > 1) return { ok: false, reason: 'multiple_mechanisms', received: clientId };
  if (authorization !== undefined) return readBasic(request, authorization, clientId);
  if (presentsAssertion(parameters)) return { ok: false, reason: 'method_not_registered', received: 'client_assertion' };
  if (clientId === undefined) return { ok: false, reason: 'client_id_missing' };
  if (!presentsSecret(parameters)) return { ok: true, mechanism: 'none', clientId };
  return { ok: true, mechanism: 'secret', method: 'client_secret_post', clientId, secret: parameters.get('client_secret') ?? '' };
}

const basicSyntax = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/** RFC 6749 2.3.1: both halves are form-encoded before they are joined and encoded in base64. */
function readBasic(request: FastifyRequest, authorization: string, bodyClientId: string | undefined): Presented {
  if (countHeaders(request, 'authorization') > 1) return { ok: false, reason: 'multiple_mechanisms', received: 'Authorization twice' };
  const encoded = basicSyntax.exec(authorization)?.[1];
  if (encoded === undefined) return { ok: false, reason: 'malformed_authorization' };
  const joined = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = joined.indexOf(':');
  const clientId = colon === -1 ? undefined : decodeFormText(joined.slice(0, colon));
  const secret = colon === -1 ? undefined : decodeFormText(joined.slice(colon + 1));
  if (clientId === undefined || clientId === '' || secret === undefined) return { ok: false, reason: 'malformed_authorization' };
  if (bodyClientId !== undefined && bodyClientId !== clientId)
    return { ok: false, reason: 'client_id_mismatch', received: bodyClientId, expected: clientId };
  return { ok: true, mechanism: 'secret', method: 'client_secret_basic', clientId, secret };
}

/** Node keeps the first of several equal headers; the raw list still has them all. */
function countHeaders(request: FastifyRequest, name: string): number {
  const { rawHeaders } = request.raw;
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) if (rawHeaders[index]!.toLowerCase() === name) count += 1;
  return count;
}

/** Why a client may not pass with what it presented; undefined when it may. */
function findFault(client: Client | undefined, presented: Presented & { ok: true }, verified: boolean | undefined): Cause | undefined {
  if (client === undefined) return { reason: 'unknown_client', received: presented.clientId };
  const method = presented.mechanism === 'none' ? 'none' : presented.method;
  if (!client.enabled) return { reason: 'client_disabled', received: client.clientId };
  if (client.tokenEndpointAuthMethod === 'none' && method !== 'none') return { reason: 'public_client_with_credential', received: method };
  if (!acceptsAuthMethod(client.tokenEndpointAuthMethod, method))
    return { reason: 'method_not_registered', received: method, expected: client.tokenEndpointAuthMethod };
  if (verified === false) return { reason: 'wrong_secret', received: client.clientId };
  return undefined;
}

async function refuse(services: Services, request: FastifyRequest, reply: FastifyReply, cause: Cause): Promise<never> {
  await countFailure(services, request.tenant, request.clientAddress);
  if (request.headers.authorization !== undefined) reply.header('www-authenticate', challenge);
  throw reject('client.invalid_client', { reason: cause.reason, received: cause.received, expected: cause.expected });
}
