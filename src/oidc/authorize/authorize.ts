// GET and POST /authorize (contract 7.3): validates the request, direct or pushed, and starts the sign-in. What is wrong is
// answered here, or by redirect for the codes of RFC 6749 4.1.2.1 and for clients that asked for it; never to an
// address that is not registered.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type DeliveryDeps, destinationOf } from '../../approvals/authorization-delivery.ts';
import { type OidcLoginRequest, startLogin } from '../../approvals/start-login.ts';
import { catalogue } from '../../contract/catalogue.ts';
import { type Cause, ContractError, reject } from '../../contract/contract-error.ts';
import { stateCharsMax } from '../../contract/limits.ts';
import type { Client } from '../../domain/client/client.ts';
import { hostFault, isDocumentId } from '../../domain/client/stranger.ts';
import type { TransactionId } from '../../domain/ids.ts';
import { negotiateLanguage } from '../../domain/language.ts';
import { type AuthorizationResponse, isResponseMode, type ResponseMode } from '../../domain/oidc/authorization-response.ts';
import { ssoPolicyOf } from '../../domain/sign-in/sso-session.ts';
import { enforceRateLimit } from '../../http/budgets/rate-limits.ts';
import { addressBlock } from '../../http/client-address.ts';
import type { Parts } from '../../http/services.ts';
import type { Handler } from '../../http/surface.ts';
import { type RefusalDeps, recordRefusal } from '../../http/surface-errors.ts';
import { formPostPage, isFormPost } from '../../pages/form-post-page.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { consumePushedRequest } from '../../storage/oidc/pushed-requests.ts';
import { findCachedClient } from '../../storage/registry/clients/clients.ts';
import { parametersFailureText, parseForm, parseQuery, type RequestParameters } from '../parameters.ts';
import { requestedResource, wantedScopes } from '../scopes.ts';
import { findAddressFault, findAuthorizationFault } from './authorization-checks.ts';
import { meetableAcr, readClaims, refuseUnmeetableAcr } from './claims-parameter.ts';
import { clientOfUrl, type FoundClient } from './client-document.ts';
import { parseMaxAge } from './max-age.ts';
import { askedOrganization } from './organization-parameter.ts';
import { loadPushedRequest, type PushedRequest } from './pushed-request.ts';
import { isRegisteredRedirectUri } from './redirect-uri.ts';
import { type ReadRequest, type RequestObjectDeps, readSignedRequest } from './request-object.ts';
import { answerBySession, readIdTokenHint, type SessionAnswerDeps } from './session-answer.ts';

type AuthorizeDeps = SessionAnswerDeps &
  RefusalDeps &
  DeliveryDeps &
  RequestObjectDeps &
  Parts<'cache' | 'keyRings' | 'outbound' | 'rateLimiter'>;

interface Authorization extends ReadRequest {
  readonly client: Client;
  /** See OidcLoginRequest. */
  readonly isNewClient: boolean;
  readonly pushed: PushedRequest | undefined;
  /** As they came, beside a pushed or signed request. */
  readonly sent: RequestParameters;
}

export function authorize(services: AuthorizeDeps): Handler {
  return async (request, reply) => {
    const sent = parametersOf(request);
    const { client, isNew: isNewClient } = await loadClient(services, request, sent);
    const pushed = sent.has('request_uri')
      ? await loadPushedRequest(services, request.tenant, client, sent, request.headers.cookie)
      : undefined;
    if (pushed !== undefined && 'location' in pushed) return redirect(reply, pushed.location);
    const read =
      pushed === undefined
        ? await readSignedRequest(services, request.tenant, client, sent)
        : { parameters: pushed.parameters, isSigned: true };
    const { parameters } = read;
    try {
      return await start(services, request, reply, { client, isNewClient, pushed, sent, ...read });
    } catch (error) {
      if (!(error instanceof ContractError) || !isDeliveredByRedirect(error, client, parameters)) throw error;
      return redirectError(services, request, reply, { client, parameters, error });
    }
  };
}

export function refuseUnauthorized(_services: unknown, _request: unknown, _reply: unknown, cause: Cause): never {
  throw reject('authorize.unauthorized', cause);
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
async function loadClient(
  services: AuthorizeDeps,
  request: FastifyRequest,
  parameters: RequestParameters,
): Promise<{ readonly client: Client; readonly isNew: boolean }> {
  const clientId = parameters.get('client_id');
  if (clientId === undefined) throw reject('authorize.unauthorized', 'client_id_missing');
  const found = isDocumentId(clientId)
    ? await clientOfUrl(services, request, clientId)
    : await registeredClient(services, request, clientId);
  if (!found.ok) {
    const { reason, received, expected } = found;
    throw reject('authorize.unauthorized', { reason, received, expected });
  }
  const { client, isNew } = found;
  const fault = client.enabled ? hostFault(client, request.tenant.settings.client_hosts) : 'client_disabled';
  if (fault !== undefined) throw reject('authorize.unauthorized', { reason: fault, received: clientId });
  request.auditActor = `client:${client.clientId}`;
  return { client, isNew };
}

async function registeredClient({ cache }: Parts<'cache'>, { tenant }: FastifyRequest, clientId: string): Promise<FoundClient> {
  const client = await findCachedClient(cache, tenant.id, clientId);
  return client === undefined ? { ok: false, reason: 'unknown_client', received: clientId } : { ok: true, client, isNew: false };
}

async function start(
  services: AuthorizeDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { client, isNewClient, parameters, pushed, sent, isSigned, fault: objectFault }: Authorization,
): Promise<FastifyReply> {
  const { tenant } = request;
  const input = { client, parameters, isPushed: pushed !== undefined, isSigned };
  if (objectFault !== undefined) throw findAddressFault(input) ?? reject('authorize.invalid_request_object', objectFault);
  const fault = findAuthorizationFault('authorize', input);
  if (fault !== undefined) throw fault;
  const organization = await askedOrganization(services, tenant, parameters, sent);
  if (!organization.ok) throw reject('authorize.unauthorized', { reason: organization.reason, received: organization.received });
  const hasSessions = ssoPolicyOf(tenant.settings.sso_session) !== undefined;
  const hintedUser = await readIdTokenHint(services, tenant, client, parameters);
  const claims = readClaims(tenant, client, parameters);
  if (hintedUser !== undefined && claims.idTokenHintUser !== undefined && claims.idTokenHintUser !== hintedUser)
    throw reject('authorize.login_required', 'claims_sub_is_not_of_the_hint');
  const scopes = await wantedScopes(services, tenant, client, parameters);
  const asked = {
    ...requestOf(client, parameters, hintedUser),
    scope: scopes.join(' '),
    organizationId: organization.id,
    isNewClient,
    ...claims,
  };
  const { essentialAcr, organizationId } = asked;
  if (essentialAcr !== undefined) await refuseUnmeetableAcr(services, tenant, { essentialAcr, organizationId });
  const login = essentialAcr !== undefined ? asked : { ...asked, acrValues: await meetableAcr(services, tenant, asked) };
  if (!hasSessions && login.prompt?.split(' ').includes('none') === true) throw reject('authorize.login_required', 'prompt_none');
  if (request.method === 'HEAD') return reply.code(204).send(); // a preview must not start or use up anything
  await enforceRateLimit(services.rateLimiter, tenant, 'oauth', 'login_starts_per_ip', addressBlock(request.clientAddress));
  // The first start of the interaction uses the pushed request up; a loser's transaction is rolled back by this throw.
  const alongside = async (queries: Queries, transactionId?: TransactionId): Promise<void> => {
    if (pushed === undefined) return;
    const use = { clientId: client.clientId, referenceHash: pushed.referenceHash, transactionId };
    if (!(await consumePushedRequest(queries, tenant.id, use))) throw reject('authorize.invalid_request_uri', 'request_uri_consumed');
  };
  const answered = hasSessions ? await answerBySession(services, request, client, login, alongside) : undefined;
  if (answered?.response !== undefined) return answer(services, request, reply, answered.response);
  const started = await startLogin(
    services,
    tenant,
    { ...login, ...answered?.start },
    { ip: request.clientAddress, userAgent: request.headers['user-agent'] },
    async (queries, { transactionId }) => {
      await alongside(queries, transactionId);
      await answered?.prepare?.(queries, transactionId);
    },
  );
  reply.header('set-cookie', started.setCookie);
  return redirect(reply, started.location);
}

const redirect = (reply: FastifyReply, location: string): FastifyReply =>
  reply.code(303).headers({ location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).send();

/** Carries a response to the client: by redirect, or by a page that posts it. */
async function answer(
  services: DeliveryDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  response: AuthorizationResponse,
): Promise<FastifyReply> {
  const destination = await destinationOf(services, request.tenant, response);
  if (!isFormPost(destination)) return redirect(reply, destination.location);
  const page = formPostPage(request.tenant, negotiateLanguage(request.headers['accept-language']), destination);
  return reply.headers(page.headers).send(page.markup);
}

function responseModeOf(parameters: RequestParameters): ResponseMode | undefined {
  const mode = parameters.get('response_mode');
  return mode !== undefined && isResponseMode(mode) ? mode : undefined;
}

/** What the sign-in is asked for. `max_age=0` is `prompt=login` by another name (design 14, M5). */
function requestOf(client: Client, parameters: RequestParameters, idTokenHintUser: string | undefined): Omit<OidcLoginRequest, 'scope'> {
  const maxAge = parseMaxAge(parameters.get('max_age') ?? '');
  const prompt = parameters.get('prompt');
  return {
    kind: 'oidc',
    clientId: client.clientId,
    redirectUri: parameters.get('redirect_uri') ?? '',
    resource: requestedResource(client, parameters),
    state: parameters.get('state'),
    nonce: parameters.get('nonce'),
    codeChallenge: parameters.get('code_challenge'),
    dpopJkt: parameters.get('dpop_jkt'),
    maxAgeSeconds: maxAge === 0 ? undefined : maxAge,
    acrValues: parameters.get('acr_values'),
    prompt: maxAge === 0 && prompt?.includes('login') !== true ? `${prompt ?? ''} login`.trim() : prompt,
    loginHint: parameters.get('login_hint'),
    idTokenHintUser,
    uiLocales: parameters.get('ui_locales'),
    responseMode: responseModeOf(parameters),
  };
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

interface Redirected {
  readonly client: Client;
  readonly parameters: RequestParameters;
  readonly error: ContractError;
}

function redirectError(
  services: RefusalDeps & DeliveryDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { client, parameters, error }: Redirected,
): Promise<FastifyReply> {
  recordRefusal(services, request, error);
  const state = parameters.get('state');
  const { text } = error.detail;
  return answer(services, request, reply, {
    clientId: client.clientId,
    redirectUri: parameters.get('redirect_uri') ?? '',
    mode: responseModeOf(parameters) ?? 'query',
    parameters: {
      error: catalogue[error.row].code,
      ...(text === undefined ? {} : { error_description: text }),
      ...(state === undefined || state.length > stateCharsMax ? {} : { state }),
      iss: request.tenant.baseUrl,
    },
  });
}
