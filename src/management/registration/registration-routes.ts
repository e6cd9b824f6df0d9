// POST /register with an initial access token (RFC 7591 3), and GET, PUT, DELETE of what was registered with the token it gave
// (RFC 7592 2). Order: the tenant offers it, the token, the metadata, its policy, the rules of every client. 404 while it is off.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Administration } from '../../administration/administration.ts';
import { registerClient } from '../../administration/clients/client-registration.ts';
import { changeClient, removeClient } from '../../administration/clients/clients.ts';
import { registerOpenClient } from '../../administration/clients/open-registration.ts';
import { creationOf } from '../../administration/schema-pieces.ts';
import { reject } from '../../contract/contract-error.ts';
import { openRegistrationBytesMax } from '../../contract/limits.ts';
import { equalText, hashSecret, verifySecret } from '../../crypto/secret-hash.ts';
import { type Client, type ClientChange, clientFields } from '../../domain/client/client.ts';
import { changeOfMetadata, keepNarrowed, metadataNameOf, metadataOfClient } from '../../domain/client/client-metadata.ts';
import { policyFault, type RegistrationPolicy } from '../../domain/client/registration-policy.ts';
import { hostFault, openRedirectUrisMax, openRegistrationsPerHourMax } from '../../domain/client/stranger.ts';
import { openRegistrationFault, strangerChange } from '../../domain/client/stranger-metadata.ts';
import type { FieldFault } from '../../domain/field.ts';
import type { ClientId, TenantId } from '../../domain/ids.ts';
import { codeGrantType, registrationName } from '../../domain/oidc/grant-types.ts';
import { rateLimited, takeFixedRate } from '../../http/budgets/rate-limits.ts';
import { addressBlock } from '../../http/client-address.ts';
import type { DefineRoutes } from '../../http/lazy-surface.ts';
import type { Parts } from '../../http/services.ts';
import type { Handler } from '../../http/surface.ts';
import { type ClientRegistration, findClientRegistration, findUsableToken } from '../../storage/registry/clients/client-registrations.ts';
import { findClient } from '../../storage/registry/clients/clients.ts';
import { listOpenResources } from '../../storage/registry/clients/resources.ts';
import { bearerTokenOf } from '../../tokens/bearer.ts';
import { decryptClientSecret } from '../../tokens/client-secret.ts';
import { checkBody } from '../validation.ts';

type Json = Readonly<Record<string, unknown>>;

type RegistrationDeps = Administration & Parts<'rateLimiter'>;

export function registrationRoutes(services: RegistrationDeps): DefineRoutes {
  return (route) => {
    route('', { POST: offered(register(services)) });
    route('/:id', { GET: offered(read(services)), PUT: offered(replace(services)), DELETE: offered(remove(services)) });
  };
}

/** The handler of a tenant that lets clients register. */
const offered =
  (handler: Handler): Handler =>
  (request, reply) => {
    if (!request.tenant.settings.extra_grants.includes(registrationName)) throw reject('oauth.not_found', 'registration_off');
    return handler(request, reply);
  };

const invalidToken = (reason: string): Error => reject('register.invalid_token', reason, { challenge: 'Bearer error="invalid_token"' });

function register(services: RegistrationDeps): Handler {
  return async (request, reply) => {
    const { tenant } = request;
    const token = bearerTokenOf(request.headers.authorization);
    if (token === undefined) return registerOpen(services, request, reply);
    const initial = await services.database.read(tenant.id, (queries) => findUsableToken(queries, tenant.id, hashSecret(token)));
    if (initial === undefined) throw invalidToken('initial_access_token');
    request.auditActor = `initial_access_token:${initial.id}`;
    const change = await changeOf(bodyOf(request), initial.policy);
    const made = await registerClient(services, tenant.id, initial, change, request.id);
    if (!made.ok) throw made.reason === 'spent' ? invalidToken('initial_access_token_spent') : refusal(made.fault);
    return answer(request, reply.code(201), made.client, { secret: made.secret, registrationToken: made.registrationToken });
  };
}

/** Without a token: where a resource is open to clients nobody registered. */
async function registerOpen(services: RegistrationDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant } = request;
  const { authorization } = request.headers;
  const open = authorization === undefined ? await listOpenResources(services.cache, tenant.id) : [];
  if (open.length === 0) throw invalidToken('token_missing');
  const limit = { limit: openRegistrationsPerHourMax, periodSeconds: 3600 };
  const waitSeconds = await takeFixedRate(
    services.rateLimiter,
    tenant,
    'open_registrations_per_ip',
    addressBlock(request.clientAddress),
    limit,
  );
  if (waitSeconds !== undefined) throw rateLimited('oauth', 'open_registrations_per_ip', waitSeconds);
  const metadata = bodyOf(request);
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  if (bytes > openRegistrationBytesMax)
    throw refusal({ field: 'client_metadata', text: `must have at most ${openRegistrationBytesMax} bytes` });
  const asked = strangerChange(metadata);
  if (!asked.ok) throw refusal(asked.fault);
  const unfit = await checkBody(schema, asked.change);
  if (unfit !== undefined) throw refusal({ field: unfit.detail.kind ?? '', text: 'has not the right form' });
  const fault = openRegistrationFault(asked.change, openRedirectUrisMax);
  if (fault !== undefined) throw refusal(fault);
  const { redirect_uris: uris = [] } = asked.change;
  const unwelcome = hostFault({ clientId: '' as ClientId, origin: 'open', redirectUris: uris }, tenant.settings.client_hosts);
  if (unwelcome !== undefined) throw refusal({ field: 'redirect_uris', text: 'has an address that this registration may not use' });
  const made = await registerOpenClient(services, tenant.id, asked.change, request.id);
  if (!made.ok) throw made.reason === 'full' ? rateLimited('oauth', 'open_clients', fullRetrySeconds) : refusal(made.fault);
  return answer(request, reply.code(201), made.client, { secret: made.secret, registrationToken: undefined });
}

/** When strangers' clients have been cleared away that nobody used. */
const fullRetrySeconds = 3600;

function read(services: Administration): Handler {
  return async (request, reply) => {
    const { client, token } = await authenticate(services, request);
    return answer(request, reply, client, { secret: undefined, registrationToken: token });
  };
}

/** RFC 7592 2.2: the metadata sent is all the client has afterwards. */
function replace(services: Administration): Handler {
  return async (request, reply) => {
    const { client, registration, token } = await authenticate(services, request);
    const metadata = bodyOf(request);
    if (metadata['client_id'] !== client.clientId) throw refusal({ field: 'client_id', text: 'must be that of the client' });
    const own = managedMembers.find((name) => metadata[name] !== undefined);
    if (own !== undefined) throw refusal({ field: own, text: 'may not be sent' });
    const presented = metadata['client_secret'];
    if (presented !== undefined && !isSecretOf(services, request.tenant.id, client, presented))
      throw refusal({ field: 'client_secret', text: 'must be the one the client has' });
    // Nothing an administrator took away comes back by the client's own hand.
    const policy = { ...registration.policy, scopes: registration.policy.scopes.filter((scope) => client.scopes.includes(scope)) };
    const asked = await changeOf(metadata, policy);
    const scopesOf = (before: Client) => asked.scopes && { scopes: asked.scopes.filter((scope) => before.scopes.includes(scope)) };
    const change = (before: Client) => keepNarrowed(before, { ...asked, ...scopesOf(before) });
    const by = { actor: `client:${client.clientId}`, requestId: request.id };
    const changed = await changeClient(services, { tenant: request.tenant, by }, client.clientId, change);
    if (!changed.ok) throw changed.reason === 'invalid' ? refusal(changed.fault) : invalidToken('client_gone');
    return answer(request, reply, changed.client, { secret: changed.secret, registrationToken: token });
  };
}

/** RFC 7592 2.2. A secret is kept by its hash, or itself where signatures are verified with it. */
function isSecretOf({ encryption }: Administration, tenant: TenantId, client: Client, presented: unknown): boolean {
  if (typeof presented !== 'string') return false;
  const { clientId, secretHash, secretEncrypted } = client;
  if (secretEncrypted === undefined) return secretHash !== undefined && verifySecret(presented, secretHash);
  return equalText(presented, decryptClientSecret(encryption, tenant, clientId, secretEncrypted).toString());
}

function remove(services: Administration): Handler {
  return async (request, reply) => {
    const { client } = await authenticate(services, request);
    const by = { actor: `client:${client.clientId}`, requestId: request.id };
    const removed = await removeClient(services, { tenant: request.tenant, by }, client.clientId);
    if (!removed.ok) throw invalidToken('client_gone');
    return reply.code(204).header('cache-control', 'no-store').send();
  };
}

/** RFC 7592 2.2: what a client must not send back. */
const managedMembers = ['registration_access_token', 'registration_client_uri', 'client_secret_expires_at', 'client_id_issued_at'] as const;

interface Registered {
  readonly client: Client;
  readonly registration: ClientRegistration;
  readonly token: string;
}

/** The client of the path, by the token of its registration. */
async function authenticate({ database }: Administration, request: FastifyRequest): Promise<Registered> {
  const { tenant } = request;
  const { id } = request.params as { id: string }; // the route has this parameter
  const token = bearerTokenOf(request.headers.authorization);
  if (token === undefined) throw invalidToken('token_missing');
  const found = await database.read(tenant.id, async (queries) => ({
    registration: await findClientRegistration(queries, tenant.id, id),
    client: await findClient(queries, tenant.id, id),
  }));
  const { registration, client } = found;
  const isRight = equalText(hashSecret(token), registration?.tokenHash ?? '');
  if (registration === undefined || client === undefined || !isRight) throw invalidToken('registration_access_token');
  if (!client.enabled) throw invalidToken('client_disabled');
  request.auditActor = `client:${client.clientId}`;
  return { client, registration, token };
}

function bodyOf({ body }: FastifyRequest): Json {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Json; // read as JSON
  throw reject('register.invalid_client_metadata', 'not_an_object', { text: 'The body must be a JSON object.' });
}

const schema = creationOf(clientFields);

/** The registration that the metadata asks for, within the policy and of the right shape. */
async function changeOf(metadata: Json, policy: RegistrationPolicy): Promise<ClientChange> {
  const asked = changeOfMetadata(metadata, policy.scopes);
  if (!asked.ok) throw refusal(asked.fault);
  const unfit = await checkBody(schema, asked.change);
  if (unfit !== undefined) throw refusal({ field: unfit.detail.kind ?? '', text: 'has not the right form' });
  const fault = policyFault(asked.change, policy) ?? codeFault(asked.change);
  if (fault !== undefined) throw refusal(fault);
  return asked.change;
}

/** RFC 7591 5: a client that is sent codes says where. */
function codeFault({ grant_types: grants, redirect_uris: uris }: ClientChange): FieldFault | undefined {
  const isSentCodes = (grants ?? [codeGrantType]).includes(codeGrantType);
  return isSentCodes && (uris ?? []).length === 0 ? { field: 'redirect_uris', text: `is required for ${codeGrantType}` } : undefined;
}

function refusal({ field, text }: FieldFault): Error {
  const name = metadataNameOf(field);
  const row = name === 'redirect_uris' ? 'register.invalid_redirect_uri' : 'register.invalid_client_metadata';
  return reject(row, { reason: 'invalid_metadata', expected: `${name}: ${text}` }, { text: `${name} ${text}.` });
}

/** RFC 7591 3.2.1, RFC 7592 3. A secret is shown when it was made and never again. */
function answer(
  { tenant }: FastifyRequest,
  reply: FastifyReply,
  client: Client,
  { secret, registrationToken }: { readonly secret: string | undefined; readonly registrationToken: string | undefined },
): FastifyReply {
  const body = {
    client_id: client.clientId,
    client_id_issued_at: Math.floor(client.createdAtMs / 1000),
    ...(secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
    ...(registrationToken !== undefined && {
      registration_access_token: registrationToken,
      registration_client_uri: `${tenant.baseUrl}/v1/idp/oidc/register/${client.clientId}`,
    }),
    ...metadataOfClient(client),
  };
  return reply
    .headers({ 'cache-control': 'no-store', pragma: 'no-cache', 'content-type': 'application/json; charset=utf-8' })
    .send(JSON.stringify(body));
}
