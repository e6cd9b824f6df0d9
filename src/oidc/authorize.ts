// GET and POST /authorize (contract 7.3): validates the request, direct or pushed, and starts the sign-in. What is wrong is
// answered here, or by redirect for the codes of RFC 6749 4.1.2.1 and for clients that asked for it; never to an
// address that is not registered.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { startLogin } from '../approvals/start-login.ts';
import { catalogue } from '../contract/catalogue.ts';
import { ContractError, reject } from '../contract/contract-error.ts';
import { stateCharsMax } from '../contract/limits.ts';
import type { Client } from '../domain/client.ts';
import { addressBlock } from '../http/client-address.ts';
import { enforceRateLimit } from '../http/rate-limits.ts';
import type { Services } from '../http/services.ts';
import type { Handler } from '../http/surface.ts';
import { recordRefusal } from '../http/surface-errors.ts';
import { findCachedClient } from '../storage/clients.ts';
import { consumePushedRequest } from '../storage/pushed-requests.ts';
import { findAuthorizationFault } from './authorization-checks.ts';
import { parseMaxAge } from './max-age.ts';
import { parametersFailureText, parseForm, parseQuery, type RequestParameters } from './parameters.ts';
import { loadPushedRequest, type PushedRequest } from './pushed-request.ts';
import { isRegisteredRedirectUri, redirectWith } from './redirect-uri.ts';
import { parseScopes, requestedAudiences } from './scopes.ts';

export function authorize(services: Services): Handler {
  return async (request, reply) => {
    const sent = parametersOf(request);
    const client = await loadClient(services, request, sent);
    const pushed = sent.has('request_uri') ? await loadPushedRequest(services, request.tenant, client, sent) : undefined;
    const parameters = pushed?.parameters ?? sent;
    try {
      return await start(services, request, reply, client, parameters, pushed);
    } catch (error) {
      if (!(error instanceof ContractError) || !isDeliveredByRedirect(error, client, parameters)) throw error;
      return redirectError(services, request, reply, parameters, error);
    }
  };
}

function parametersOf(request: FastifyRequest): RequestParameters {
  const parsed = request.method === 'POST' ? parseForm(request) : parseQuery(request);
  if (parsed.ok) return parsed.parameters;
  throw reject(
    'authorize.invalid_request',
    { reason: parsed.reason, received: parsed.parameter },
    { text: parametersFailureText[parsed.reason] },
  );
}

/** Unknown, foreign and disabled clients are one answer with a wrong redirect_uri. */
async function loadClient({ cache }: Services, request: FastifyRequest, parameters: RequestParameters): Promise<Client> {
  const clientId = parameters.get('client_id');
  if (clientId === undefined) throw reject('authorize.unauthorized', 'client_id_missing');
  const client = await findCachedClient(cache, request.tenant.id, clientId);
  if (client === undefined) throw reject('authorize.unauthorized', { reason: 'unknown_client', received: clientId });
  if (!client.enabled) throw reject('authorize.unauthorized', { reason: 'client_disabled', received: clientId });
  request.auditActor = `client:${client.clientId}`;
  return client;
}

async function start(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  client: Client,
  parameters: RequestParameters,
  pushed: PushedRequest | undefined,
): Promise<FastifyReply> {
  const { tenant } = request;
  const fault = findAuthorizationFault('authorize', { client, parameters, isPushed: pushed !== undefined });
  if (fault !== undefined) throw fault;
  if (parameters.get('prompt') === 'none') throw reject('authorize.login_required', 'prompt_none');
  if (request.method === 'HEAD') return reply.code(204).send(); // a preview must not start or use up anything
  await enforceRateLimit(services.rateLimiter, tenant, 'oauth', 'login_starts_per_ip', addressBlock(request.clientAddress));
  const maxAge = parameters.get('max_age');
  const started = await startLogin(
    services,
    tenant,
    {
      kind: 'oidc',
      clientId: client.clientId,
      redirectUri: parameters.get('redirect_uri') ?? '',
      scope: (parseScopes(parameters.get('scope')) ?? []).join(' '),
      resource: requestedAudiences(parameters)[0],
      state: parameters.get('state'),
      nonce: parameters.get('nonce'),
      codeChallenge: parameters.get('code_challenge'),
      dpopJkt: parameters.get('dpop_jkt'),
      maxAgeSeconds: maxAge === undefined ? undefined : parseMaxAge(maxAge),
      acrValues: parameters.get('acr_values'),
      prompt: parameters.get('prompt'),
      loginHint: parameters.get('login_hint'),
      uiLocales: parameters.get('ui_locales'),
    },
    { ip: request.clientAddress, userAgent: request.headers['user-agent'] },
    // The first start of the interaction uses the pushed request up; a loser's transaction is rolled back by this throw.
    async (queries) => {
      if (pushed !== undefined && !(await consumePushedRequest(queries, tenant.id, client.clientId, pushed.referenceHash)))
        throw reject('authorize.invalid_request_uri', 'request_uri_consumed');
    },
  );
  return reply
    .code(303)
    .headers({ location: started.location, 'set-cookie': started.setCookie, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    .send();
}

/** Rows that answer the browser itself whatever the client asked for: there is no trustworthy address, or it must look alike. */
const neverRedirected: ReadonlySet<string> = new Set(['authorize.unauthorized', 'authorize.invalid_request_uri']);

function isDeliveredByRedirect(error: ContractError, client: Client, parameters: RequestParameters): boolean {
  if (!error.row.startsWith('authorize.') || neverRedirected.has(error.row)) return false;
  const isAlways = catalogue[error.row].status === 303;
  return (
    (isAlways || client.authorizeErrorDelivery === 'redirect') && isRegisteredRedirectUri(client, parameters.get('redirect_uri') ?? '')
  );
}

function redirectError(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  parameters: RequestParameters,
  error: ContractError,
): FastifyReply {
  const { tenant } = request;
  recordRefusal(services, request, error);
  const state = parameters.get('state');
  const location = redirectWith(parameters.get('redirect_uri') ?? '', {
    error: catalogue[error.row].code,
    error_description: error.detail.text,
    state: state !== undefined && state.length <= stateCharsMax ? state : undefined,
    iss: tenant.baseUrl,
  });
  return reply.code(303).headers({ location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).send();
}
