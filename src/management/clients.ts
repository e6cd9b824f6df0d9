// `/clients`: registration, change, secrets. What the fields mean together is checked by administration/client-fields.ts.
import Type from 'typebox';
import type { ClientFields, FieldFault } from '../administration/client-fields.ts';
import { clientSchema } from '../administration/client-schema.ts';
import { changeClient, createClient, removeClient, rotateClientSecret } from '../administration/clients.ts';
import { capabilities } from '../domain/capabilities.ts';
import { type Client, shownAuthMethod, tokenEndpointAuthMethods } from '../domain/client.ts';
import { findClient, listClients } from '../storage/clients.ts';
import { listMatching } from '../storage/matching-rows.ts';
import { assignmentEndpoints } from './assignments.ts';
import {
  type Call,
  conflict,
  type Endpoint,
  endpoint,
  invalidField,
  isoTime,
  type Json,
  notFound,
  requireCapabilities,
} from './endpoint.ts';
import { listOf, pageOf } from './paging.ts';
import { closed, dateTime, listAnswer, name, oneOf, searchQuery } from './schemas.ts';

const fields = {
  name,
  type: oneOf(['confidential', 'public']),
  token_endpoint_auth_method: oneOf(tokenEndpointAuthMethods),
  ...clientSchema,
};
const changeBody = Type.Partial(closed(fields), { additionalProperties: false });
const createBody = closed({ ...changeBody.properties, name });
const clientAnswer = Type.Object({ client_id: Type.String(), ...fields, created_at: dateTime, updated_at: dateTime });
const shownSecret = { client_secret: Type.Optional(Type.String()) };

const unknownClient = (): Error => notFound('unknown_client');
const invalid = ({ field, text }: FieldFault): Error => invalidField(field, `This field ${text}.`);
const capabilitySet: ReadonlySet<string> = new Set(capabilities);

export const clientEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/clients',
    capability: 'clients:write',
    summary: 'Register a client; its secret is shown once',
    body: createBody,
    answer: Type.Object({ ...clientAnswer.properties, ...shownSecret }),
    status: 201,
    handle: async ({ services, tenant, body, scopes: own, actor, requestId }) => {
      requireCapabilities(capabilitiesIn(body.scopes), own);
      const created = await createClient(services, tenant.id, body as ClientFields, { actor, requestId });
      if (!created.ok) throw invalid(created.fault);
      return { ...clientToJson(created.client), ...secretOf(created.secret) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/clients',
    capability: 'clients:read',
    summary: 'List clients by client_id; `search` is a part of a name, or a client_id',
    query: searchQuery,
    answer: listAnswer(clientAnswer),
    status: 200,
    handle: async ({ services, tenant, query }) => {
      const page = pageOf(query);
      const rows = await services.database.read(tenant.id, (queries) =>
        listMatching(
          { ...page, limit: page.limit + 1, search: query.search },
          (batch) => listClients(queries, tenant.id, batch),
          (client) => client.clientId,
          (client) => [client.name],
        ),
      );
      return listOf(page, rows, (client) => client.clientId, clientToJson);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/clients/:id',
    capability: 'clients:read',
    summary: 'Read a client',
    answer: clientAnswer,
    status: 200,
    handle: async (call) => clientToJson(await loadClient(call)),
  }),
  endpoint({
    method: 'PATCH',
    path: '/clients/:id',
    capability: 'clients:write',
    summary: 'Change a client; null clears a field; a new auth method may answer a new secret',
    body: changeBody,
    answer: Type.Object({ ...clientAnswer.properties, ...shownSecret }),
    status: 200,
    handle: async (call) => {
      const { services, tenant, params, body, scopes: own, actor, requestId } = call;
      const before = await loadClient(call);
      requireCapabilities(capabilitiesIn([...before.scopes, ...(body.scopes ?? [])]), own);
      const changed = await changeClient(services, tenant.id, params['id']!, body as ClientFields, { actor, requestId });
      if (!changed.ok) throw changed.reason === 'invalid' ? invalid(changed.fault) : unknownClient();
      return { ...clientToJson(changed.client), ...secretOf(changed.secret) };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/clients/:id',
    capability: 'clients:write',
    summary: 'Delete a client with its grants and tokens',
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      if (!(await removeClient(services, tenant.id, params['id']!, { actor, requestId }))) throw unknownClient();
    },
  }),
  endpoint({
    method: 'POST',
    path: '/clients/:id/secret',
    capability: 'clients:write',
    summary: 'Make a new secret, shown once; the old one fails at once',
    answer: Type.Object({ client_id: Type.String(), client_secret: Type.String() }),
    status: 201,
    handle: async (call) => {
      const { services, tenant, params, scopes: own, actor, requestId } = call;
      requireCapabilities(capabilitiesIn((await loadClient(call)).scopes), own);
      const rotated = await rotateClientSecret(services, tenant.id, params['id']!, { actor, requestId });
      if (rotated.ok) return { client_id: rotated.client.clientId, client_secret: rotated.secret };
      if (rotated.reason === 'unknown') throw unknownClient();
      throw conflict('token_endpoint_auth_method', 'The client has no secret.');
    },
  }),
  ...assignmentEndpoints({
    kind: 'client',
    path: '/clients',
    read: 'clients:read',
    write: 'clients:write',
    exists: async (queries, tenant, id) => (await findClient(queries, tenant, id)) !== undefined,
  }),
];

/** Whoever could take over a client through the API must have its capabilities already. */
const capabilitiesIn = (names: readonly string[] | undefined): readonly string[] =>
  (names ?? []).filter((scope) => capabilitySet.has(scope));

const secretOf = (secret: string | undefined): Json => (secret === undefined ? {} : { client_secret: secret });

async function loadClient({ services, tenant, params }: Call<unknown, unknown>): Promise<Client> {
  const client = await services.database.read(tenant.id, (queries) => findClient(queries, tenant.id, params['id']!));
  if (client === undefined) throw unknownClient();
  return client;
}

/** The client as the API shows it, without its secret. */
export function clientToJson(client: Client): Json {
  return {
    client_id: client.clientId,
    name: client.name,
    type: client.type,
    token_endpoint_auth_method: shownAuthMethod(client.tokenEndpointAuthMethod),
    jwks: client.jwks ?? null,
    jwks_uri: client.jwksUri ?? null,
    redirect_uris: client.redirectUris,
    post_logout_redirect_uris: client.postLogoutRedirectUris,
    grant_types: client.grantTypes,
    scopes: client.scopes,
    resources: client.resources,
    require_pkce: client.requirePkce,
    require_par: client.requirePar,
    require_consent: client.requireConsent,
    authorize_error_delivery: client.authorizeErrorDelivery,
    id_token_signed_response_alg: client.idTokenSignedResponseAlg,
    backchannel_token_delivery_mode: client.backchannelTokenDeliveryMode ?? null,
    backchannel_client_notification_endpoint: client.backchannelClientNotificationEndpoint ?? null,
    backchannel_logout_uri: client.backchannelLogoutUri ?? null,
    access_policy: client.accessPolicy,
    refresh_reuse_leeway_seconds: client.refreshReuseLeewaySeconds,
    logo_uri: client.logoUri ?? null,
    enabled: client.enabled,
    created_at: isoTime(client.createdAtMs),
    updated_at: isoTime(client.updatedAtMs),
  };
}
