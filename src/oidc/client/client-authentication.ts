// Client authentication of /token, /par, /introspect, /revoke and /bc-authorize (contract 5 and 7.11): exactly one mechanism,
// the one the client is registered for. Every failure is one answer; its reason goes to the audit record.
// Unknown and disabled clients cost the same work as known ones.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Cause, reject } from '../../contract/contract-error.ts';
import { verifySecret } from '../../crypto/secret-hash.ts';
import { acceptsAuthMethod, type Client, type RegisteredAuthMethod, type TokenEndpointAuthMethod } from '../../domain/client/client.ts';
import { hostFault } from '../../domain/client/stranger.ts';
import { isCertificateMethod } from '../../domain/client/tls-client-auth.ts';
import { federatedMethod } from '../../domain/client/workload.ts';
import { cibaGrantType, refreshGrantType } from '../../domain/oidc/grant-types.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { repeatedCredentials } from '../../http/request-sanity.ts';
import type { Parts } from '../../http/services.ts';
import { findCachedClient, peekClient, touchClient } from '../../storage/registry/clients/clients.ts';
import { decodeFormText, type RequestParameters } from '../parameters.ts';
import { findCertificateFault } from './certificate-authentication.ts';
import {
  type AssertionDeps,
  type CalledEndpoint,
  jwtBearerAssertionType,
  type PresentedAssertion,
  readAssertion,
  verifyAssertion,
} from './client-assertion.ts';
import { countFailure } from './client-failures.ts';
import { findWorkloadClient, type PresentedWorkload, readWorkload } from './workload-token.ts';

export type ClientAuthDeps = AssertionDeps & Parts<'cache' | 'rateLimiter'>;

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
  | ({ readonly ok: true; readonly mechanism: 'assertion' } & PresentedAssertion)
  | ({ readonly ok: false } & Cause);

/** Value of WWW-Authenticate, sent only in answer to an Authorization header (RFC 6749 5.2). */
const challenge = 'Basic realm="gatehouse"';

/**
 * Authenticates the client of a request and makes it the actor of the audit trail. `confidentialOnly` refuses public clients.
 * @throws client.invalid_client for every failure, oauth.rate_limited when the address failed too often.
 */
export async function authenticateClient(
  services: ClientAuthDeps,
  request: FastifyRequest,
  reply: FastifyReply | undefined,
  parameters: RequestParameters,
  requirement: { readonly confidentialOnly: boolean } = { confidentialOnly: false },
): Promise<Client> {
  const { tenant } = request;
  if (presentsAssertion(parameters)) {
    const workload = await presentedWorkload(services, request, parameters);
    if (workload !== undefined) return authenticateWorkload(services, request, parameters, workload);
  }
  const presented = readPresented(request, parameters);
  if (!presented.ok) return refuseClient(services, request, reply, presented);
  const known = peekClient(services.cache, tenant.id, presented.clientId);
  const client = known === undefined ? await findCachedClient(services.cache, tenant.id, presented.clientId) : known.value;
  const path = request.url.split('?', 1)[0] ?? '';
  const grant = parameters.get('grant_type');
  // What CIBA began is refreshed as it was asked for: which refresh token it is is known only after its client.
  const refreshesCiba = grant === refreshGrantType && client?.grantTypes.includes(cibaGrantType) === true;
  const isCiba = path.endsWith('/bc-authorize') || grant === cibaGrantType || refreshesCiba;
  const finding = findFault(services, request, client, presented, { path, isCiba });
  const fault = (finding instanceof Promise ? await finding : finding) ?? findPublic(client, requirement.confidentialOnly);
  if (client === undefined || fault !== undefined) {
    // A cached look-up reads the database all the same: a refusal costs the same for known, unknown, cached and new ids.
    if (known !== undefined) await services.database.read(tenant.id, (queries) => touchClient(queries, tenant.id, presented.clientId));
    return refuseClient(services, request, reply, fault ?? { reason: 'unknown_client', received: presented.clientId });
  }
  request.auditActor = `client:${client.clientId}`;
  return client;
}

/** The token of a workload that stands alone as the assertion of a client. */
async function presentedWorkload(
  services: ClientAuthDeps,
  request: FastifyRequest,
  parameters: RequestParameters,
): Promise<PresentedWorkload | undefined> {
  const text = parameters.get('client_assertion');
  if (text === undefined || parameters.get('client_assertion_type') !== jwtBearerAssertionType) return undefined;
  if (request.headers.authorization !== undefined || presentsSecret(parameters)) return undefined;
  return readWorkload(services, request.tenant, text);
}

async function authenticateWorkload(
  services: ClientAuthDeps,
  request: FastifyRequest,
  parameters: RequestParameters,
  workload: PresentedWorkload,
): Promise<Client> {
  const found = await findWorkloadClient(services, request.tenant, workload, parameters.get('client_id'));
  if ('reason' in found) return refuseClient(services, request, undefined, found);
  if (found.tokenEndpointAuthMethod !== federatedMethod)
    return refuseClient(services, request, undefined, {
      reason: 'method_not_registered',
      received: federatedMethod,
      expected: found.tokenEndpointAuthMethod,
    });
  request.auditActor = `client:${found.clientId}`;
  return found;
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
  if (authorization !== undefined) return readBasic(authorization, clientId);
  if (presentsAssertion(parameters)) {
    const assertion = readAssertion(parameters);
    return 'jwt' in assertion ? { ok: true, mechanism: 'assertion', ...assertion } : { ok: false, ...assertion };
  }
  if (clientId === undefined) return { ok: false, reason: 'client_id_missing' };
  if (!presentsSecret(parameters)) return { ok: true, mechanism: 'none', clientId };
  return { ok: true, mechanism: 'secret', method: 'client_secret_post', clientId, secret: parameters.get('client_secret') ?? '' };
}

const basicSyntax = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

/** RFC 6749 2.3.1: both halves are form-encoded before they are joined and encoded in base64. */
function readBasic(authorization: string, bodyClientId: string | undefined): Presented {
  if (authorization === repeatedCredentials) return { ok: false, reason: 'multiple_mechanisms', received: 'Authorization twice' };
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

/** Why a client may not pass with what it presented; undefined when it may. The work does not depend on who the client is. */
function findFault(
  services: AssertionDeps,
  request: FastifyRequest,
  client: Client | undefined,
  presented: Presented & { ok: true },
  called: CalledEndpoint,
): Promise<Cause | undefined> | Cause | undefined {
  const mismatch = findMismatch(request.tenant, client, presented);
  switch (presented.mechanism) {
    case 'none':
      return mismatch === undefined && client !== undefined && isCertificateMethod(client.tokenEndpointAuthMethod)
        ? findCertificateFault(services, request.tenant.id, client, request.clientCertificate)
        : mismatch;
    case 'secret': {
      const verified = verifySecret(presented.secret, client?.secretHash);
      return mismatch ?? (verified ? undefined : { reason: 'wrong_secret', received: presented.clientId });
    }
    case 'assertion': {
      const usable = mismatch === undefined ? client : undefined;
      return verifyAssertion(services, request.tenant, called, usable, presented).then((fault) => mismatch ?? fault);
    }
    default:
      return presented satisfies never;
  }
}

/** Why the registration does not admit the mechanism at all. */
function findMismatch(tenant: Tenant, client: Client | undefined, presented: Presented & { ok: true }): Cause | undefined {
  if (client === undefined) return { reason: 'unknown_client', received: presented.clientId };
  if (!client.enabled) return { reason: 'client_disabled', received: client.clientId };
  const unwelcome = hostFault(client, tenant.settings.client_hosts);
  if (unwelcome !== undefined) return { reason: unwelcome, received: client.clientId };
  const registered = client.tokenEndpointAuthMethod;
  const received = presented.mechanism === 'secret' ? presented.method : presented.mechanism;
  if (registered === 'none' && received !== 'none') return { reason: 'public_client_with_credential', received };
  if (received === 'none' && isCertificateMethod(registered)) return undefined; // the connection is the credential
  const admitted = received === 'assertion' ? isAssertionMethod(registered) : acceptsAuthMethod(registered, received);
  return admitted ? undefined : { reason: 'method_not_registered', received, expected: registered };
}

const findPublic = (client: Client | undefined, confidentialOnly: boolean): Cause | undefined =>
  confidentialOnly && client?.type === 'public' ? { reason: 'public_client', received: client.clientId } : undefined;

const isAssertionMethod = (method: RegisteredAuthMethod): boolean => method === 'client_secret_jwt' || method === 'private_key_jwt';

/** Counts a failure of the address. @throws client.invalid_client */
export async function refuseClient(
  { rateLimiter }: Parts<'rateLimiter'>,
  request: FastifyRequest,
  reply: FastifyReply | undefined,
  cause: Cause,
): Promise<never> {
  await countFailure(rateLimiter, request.tenant, request.clientAddress);
  if (request.headers.authorization !== undefined) reply?.header('www-authenticate', challenge);
  throw reject('client.invalid_client', { reason: cause.reason, received: cause.received, expected: cause.expected });
}
