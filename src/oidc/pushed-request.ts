// Pushed authorization requests (RFC 9126): POST /par stores a checked request (contract 7.4), /authorize loads it.
// It is used up where the interaction starts, in oidc/authorize.ts.
import { reject } from '../contract/contract-error.ts';
import { hashSecret } from '../crypto/secret-hash.ts';
import type { Client } from '../domain/client.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Endpoint, EndpointReply, EndpointRequest } from '../http/endpoint.ts';
import type { Services } from '../http/services.ts';
import { randomSecret } from '../platform/random.ts';
import { findCachedClient } from '../storage/clients.ts';
import { findPushedRequest, insertPushedRequest } from '../storage/pushed-requests.ts';
import { findAuthorizationFault } from './authorization-checks.ts';
import { authenticateClient, presentsCredential } from './client-authentication.ts';
import { countFailure } from './client-failures.ts';
import { hasProof } from './dpop-proof.ts';
import { requireProof } from './dpop-refusal.ts';
import { parametersFailureText, parseForm, parseParameters, type RequestParameters } from './parameters.ts';

const requestUriPrefix = 'urn:ietf:params:oauth:request_uri:';
const referenceSyntax = /^[A-Za-z0-9_-]{43}$/;
/** What authenticates the client is not part of the request it pushes. */
const credentials: ReadonlySet<string> = new Set(['client_secret', 'client_assertion', 'client_assertion_type']);

export function pushRequest(services: Services): Endpoint {
  return async (request, reply) => {
    const parsed = parseForm(request);
    if (!parsed.ok)
      throw reject(
        'par.invalid_request',
        { reason: parsed.reason, received: parsed.parameter },
        { text: parametersFailureText[parsed.reason] },
      );
    const { parameters } = parsed;
    const client = await clientOf(services, request, reply, parameters);
    const fault = findAuthorizationFault('par', { client, parameters, isPushed: true });
    if (fault !== undefined) throw fault;
    const { tenant } = request;
    const proofKey = hasProof(request) ? await requireProof(services, request, reply, 'par') : undefined;
    const named = parameters.get('dpop_jkt');
    if (proofKey !== undefined && named !== undefined && named !== proofKey)
      throw reject(
        'par.invalid_request',
        { reason: 'dpop_jkt_differs', received: named, expected: proofKey },
        { text: 'dpop_jkt is not the key of the proof.' },
      );
    const reference = randomSecret();
    const lifetimeSeconds = tenant.settings.par_lifetime_seconds;
    await services.database.write(tenant.id, (queries) =>
      insertPushedRequest(queries, tenant.id, {
        referenceHash: hashSecret(reference),
        clientId: client.clientId,
        parameters: encodeParameters(parameters, proofKey),
        lifetimeSeconds,
      }),
    );
    return reply
      .code(201)
      .headers({ 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8' })
      .send(JSON.stringify({ request_uri: `${requestUriPrefix}${reference}`, expires_in: lifetimeSeconds }));
  };
}

/** Contract 7.4: without a credential an unknown client is an invalid request; everything else is client authentication. */
async function clientOf(
  services: Services,
  request: EndpointRequest,
  reply: EndpointReply,
  parameters: RequestParameters,
): Promise<Client> {
  const clientId = parameters.get('client_id');
  if (clientId !== undefined && !presentsCredential(request, parameters)) {
    const client = await findCachedClient(services.cache, request.tenant.id, clientId);
    if (client === undefined || !client.enabled) {
      await countFailure(services, request.tenant, request.clientAddress);
      const cause = { reason: client === undefined ? 'unknown_client' : 'client_disabled', received: clientId };
      throw reject('par.invalid_request', cause, { text: 'The client is unknown.' });
    }
  }
  return authenticateClient(services, request, reply, parameters);
}

export interface PushedRequest {
  readonly parameters: RequestParameters;
  readonly referenceHash: string;
}

/** The request behind the `request_uri` of an authorization request; everything but a waiting one of this client is one answer. */
export async function loadPushedRequest(
  services: Services,
  tenant: Tenant,
  client: Client,
  sent: RequestParameters,
): Promise<PushedRequest> {
  const requestUri = sent.get('request_uri') ?? '';
  const reference = requestUri.startsWith(requestUriPrefix) ? requestUri.slice(requestUriPrefix.length) : '';
  if (!referenceSyntax.test(reference))
    throw reject('authorize.invalid_request_uri', { reason: 'request_uri_malformed', received: requestUri });
  const referenceHash = hashSecret(reference);
  const stored = await services.database.read(tenant.id, (queries) =>
    findPushedRequest(queries, tenant.id, client.clientId, referenceHash),
  );
  if (stored === undefined) throw reject('authorize.invalid_request_uri', 'request_uri_unknown_consumed_or_expired');
  return { parameters: decodeParameters(stored), referenceHash };
}

/** RFC 9449 10.1: a proof sent with the push binds the code to its key, as dpop_jkt would. */
function encodeParameters(parameters: RequestParameters, proofKey: string | undefined): string {
  const pairs = parameters
    .names()
    .filter((name) => !credentials.has(name))
    .flatMap((name) => parameters.getAll(name).map((value): [string, string] => [name, value]));
  if (proofKey !== undefined && parameters.get('dpop_jkt') === undefined) pairs.push(['dpop_jkt', proofKey]);
  return new URLSearchParams(pairs).toString();
}

function decodeParameters(text: string): RequestParameters {
  const parsed = parseParameters(text);
  if (!parsed.ok) throw new Error(`a stored pushed request cannot be read: ${parsed.reason}`);
  return parsed.parameters;
}
