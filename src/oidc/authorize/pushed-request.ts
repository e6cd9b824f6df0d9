// Pushed authorization requests (RFC 9126): POST /par stores a checked request (contract 7.4), /authorize loads it.
// It is used up where the interaction starts, in oidc/authorize.ts.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { holdsTransactionCookie } from '../../approvals/session/transaction-cookie.ts';
import { type Cause, reject } from '../../contract/contract-error.ts';
import { pushedRequestBytesMax } from '../../contract/limits.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { Client } from '../../domain/client/client.ts';
import { pushedRequestLifetimeSeconds } from '../../domain/client/fapi2.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { enforceRateLimit, rateLimited } from '../../http/budgets/rate-limits.ts';
import { addressBlock } from '../../http/client-address.ts';
import type { Parts } from '../../http/services.ts';
import type { Handler } from '../../http/surface.ts';
import { randomSecret } from '../../platform/random.ts';
import { findLoginOfPushedRequest, findPushedRequest, insertPushedRequest } from '../../storage/oidc/pushed-requests.ts';
import { findCachedClient } from '../../storage/registry/clients/clients.ts';
import { findLoginTransaction } from '../../storage/sign-in/login-transactions.ts';
import { authenticateClient, type ClientAuthDeps, presentsCredential, refuseClient } from '../client/client-authentication.ts';
import { countFailure } from '../client/client-failures.ts';
import { hasProof } from '../dpop/dpop-proof.ts';
import { requireProof } from '../dpop/dpop-refusal.ts';
import { parametersFailureText, parseForm, parseParameters, type RequestParameters } from '../parameters.ts';
import { findAuthorizationFault, noRequestUri } from './authorization-checks.ts';
import { authorizationParameters } from './authorization-parameters.ts';
import { askedOrganization, unknownOrganizationText } from './organization-parameter.ts';
import { readSignedRequest } from './request-object.ts';

const requestUriPrefix = 'urn:ietf:params:oauth:request_uri:';
const referenceSyntax = /^[A-Za-z0-9_-]{43}$/;
/** Waiting for a request to expire helps who has too many; this is when to look again. */
const tooManyRetrySeconds = 10;

export function pushRequest(services: ClientAuthDeps): Handler {
  return async (request, reply) => {
    const parsed = parseForm(request);
    if (!parsed.ok)
      throw reject(
        'par.invalid_request',
        { reason: parsed.reason, received: parsed.parameter },
        { text: parametersFailureText[parsed.reason] },
      );
    const client = await clientOf(services, request, reply, parsed.parameters);
    const foreign = parsed.parameters.has('request') ? noRequestUri(parsed) : undefined;
    if (foreign !== undefined) throw reject('par.invalid_request', foreign, { text: foreign.text });
    const { parameters, isSigned, fault: objectFault } = await readSignedRequest(services, request.tenant, client, parsed.parameters);
    if (objectFault !== undefined) throw reject('par.invalid_request_object', objectFault);
    const fault = findAuthorizationFault('par', { client, parameters, isPushed: true, isSigned });
    if (fault !== undefined) throw fault;
    const organization = await askedOrganization(services, request.tenant, parameters);
    if (!organization.ok)
      throw reject(
        'par.invalid_request',
        { reason: organization.reason, received: organization.received },
        { text: unknownOrganizationText },
      );
    const proofKey = hasProof(request) ? await requireProof(services, request, reply, client, 'par') : undefined;
    const named = parameters.get('dpop_jkt');
    if (proofKey !== undefined && named !== undefined && named !== proofKey)
      throw reject(
        'par.invalid_request',
        { reason: 'dpop_jkt_differs', received: named, expected: proofKey },
        { text: 'dpop_jkt is not the key of the proof.' },
      );
    const reference = await store(services, request.tenant, client, encodeParameters(parameters, proofKey));
    const lifetimeSeconds = pushedRequestLifetimeSeconds(client, request.tenant.settings.par_lifetime_seconds);
    return reply
      .code(201)
      .headers({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
      .send(JSON.stringify({ request_uri: `${requestUriPrefix}${reference}`, expires_in: lifetimeSeconds }));
  };
}

/** Gives the reference of the stored request. Its size and how many of a client wait are bounded. */
async function store({ database }: Parts<'database'>, tenant: Tenant, client: Client, parameters: string): Promise<string> {
  if (parameters.length > pushedRequestBytesMax)
    throw reject(
      'par.invalid_request',
      { reason: 'request_too_large', received: parameters.length, expected: pushedRequestBytesMax },
      { text: 'The request is too large.' },
    );
  const reference = randomSecret();
  const isStored = await database.write(tenant.id, (queries) =>
    insertPushedRequest(queries, tenant.id, {
      referenceHash: hashSecret(reference),
      clientId: client.clientId,
      parameters,
      lifetimeSeconds: pushedRequestLifetimeSeconds(client, tenant.settings.par_lifetime_seconds),
    }),
  );
  if (!isStored) throw rateLimited('oauth', 'pushed_requests_per_client', tooManyRetrySeconds);
  return reference;
}

/** Contract 7.4: without a credential an unknown client is an invalid request; everything else is client authentication. */
async function clientOf(
  services: ClientAuthDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  parameters: RequestParameters,
): Promise<Client> {
  const clientId = parameters.get('client_id');
  if (clientId !== undefined && !presentsCredential(request, parameters)) {
    const client = await findCachedClient(services.cache, request.tenant.id, clientId);
    if (client === undefined || !client.enabled)
      return refuseUnproven(services, request, { reason: client === undefined ? 'unknown_client' : 'client_disabled', received: clientId });
  }
  const client = await authenticateClient(services, request, reply, parameters);
  if (client.type === 'public')
    await enforceRateLimit(services.rateLimiter, request.tenant, 'oauth', 'par_requests_per_ip', addressBlock(request.clientAddress));
  return client;
}

async function refuseUnproven({ rateLimiter }: Parts<'rateLimiter'>, request: FastifyRequest, cause: Cause): Promise<never> {
  await countFailure(rateLimiter, request.tenant, request.clientAddress);
  throw reject('par.invalid_request', cause, { text: 'The client is unknown.' });
}

/** What a client that is unknown hears, by what it presents. */
export async function refusePusher(
  services: Parts<'rateLimiter'>,
  request: FastifyRequest,
  reply: FastifyReply,
  cause: Cause,
): Promise<never> {
  const parsed = parseForm(request);
  const isUnproven = parsed.ok && !presentsCredential(request, parsed.parameters);
  return isUnproven ? refuseUnproven(services, request, cause) : refuseClient(services, request, reply, cause);
}

export interface PushedRequest {
  readonly parameters: RequestParameters;
  readonly referenceHash: string;
}

/** The request behind the `request_uri` of an authorization request. Gives the address of the sign-in it started where this
 * browser is in the middle of it (a reload); everything else but a waiting request of this client is one answer. */
export async function loadPushedRequest(
  services: Parts<'database'>,
  tenant: Tenant,
  client: Client,
  sent: RequestParameters,
  cookies: string | undefined,
): Promise<PushedRequest | { readonly location: string }> {
  const requestUri = sent.get('request_uri') ?? '';
  const reference = requestUri.startsWith(requestUriPrefix) ? requestUri.slice(requestUriPrefix.length) : '';
  if (!referenceSyntax.test(reference))
    throw reject('authorize.invalid_request_uri', { reason: 'request_uri_malformed', received: requestUri });
  const referenceHash = hashSecret(reference);
  const stored = await services.database.read(tenant.id, (queries) =>
    findPushedRequest(queries, tenant.id, client.clientId, referenceHash),
  );
  if (stored === undefined) {
    const location = await findOpenLogin(services, tenant, client, referenceHash, cookies);
    if (location === undefined) throw reject('authorize.invalid_request_uri', 'request_uri_unknown_consumed_or_expired');
    return { location };
  }
  return { parameters: decodeParameters(stored), referenceHash };
}

/** The sign-in a used-up request started, while it lasts and only for the browser that holds its cookie. */
async function findOpenLogin(
  { database }: Parts<'database'>,
  tenant: Tenant,
  client: Client,
  referenceHash: string,
  cookies: string | undefined,
): Promise<string | undefined> {
  const login = await database.read(tenant.id, async (queries) => {
    const id = await findLoginOfPushedRequest(queries, tenant.id, client.clientId, referenceHash);
    return id === undefined ? undefined : findLoginTransaction(queries, tenant.id, id);
  });
  if (login === undefined || login.finished_at !== null || login.expires_at <= login.now_ms) return undefined;
  return holdsTransactionCookie(cookies, tenant.baseUrl, login.id, login.binding_hash) ? `${tenant.baseUrl}/login/${login.id}` : undefined;
}

/** What is known to authorize, and so neither credentials nor anything invented. RFC 9449 10.1: a proof sent with the push binds the code to its key, as dpop_jkt would. */
function encodeParameters(parameters: RequestParameters, proofKey: string | undefined): string {
  const pairs = authorizationParameters.flatMap((name) => parameters.getAll(name).map((value): [string, string] => [name, value]));
  if (proofKey !== undefined && parameters.get('dpop_jkt') === undefined) pairs.push(['dpop_jkt', proofKey]);
  return new URLSearchParams(pairs).toString();
}

function decodeParameters(text: string): RequestParameters {
  const parsed = parseParameters(text);
  if (!parsed.ok) throw new Error(`a stored pushed request cannot be read: ${parsed.reason}`);
  return parsed.parameters;
}
