// `/clients`: registration, change, secrets. The fields and their rules are in domain/client/client.ts.
import Type from 'typebox';
import { changeClient, createClient, removeClient, rotateClientSecret } from '../../administration/clients/clients.ts';
import { changeOf, creationOf, propertiesOf } from '../../administration/schema-pieces.ts';
import { reject } from '../../contract/contract-error.ts';
import { type Client, type ClientChange, clientFields, shownAuthMethod } from '../../domain/client/client.ts';
import { isOwnClient } from '../../domain/client/own-clients.ts';
import { hostOfStranger } from '../../domain/client/stranger.ts';
import { type FieldFault, toJson } from '../../domain/field.ts';
import { capabilitiesIn } from '../../domain/people/capabilities.ts';
import { findClient, listClients, listStrangers } from '../../storage/registry/clients/clients.ts';
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
} from '../endpoint.ts';
import { requireAttributes } from '../extending/mappings.ts';
import { answerSearched } from '../paging.ts';
import { assignmentEndpoints } from '../people/assignments.ts';
import { closed, dateTime, listAnswer, nullable, searchQuery } from '../schemas.ts';
import { signedIn, withLastSignIn, withLastSignIns } from '../sign-in/last-sign-in.ts';

const fields = propertiesOf(clientFields);
const changeBody = changeOf(fields);
const createBody = creationOf(clientFields);
const origin = Type.Union([Type.Literal('document'), Type.Literal('open'), Type.Null()], {
  description: 'where one comes from that nobody registered: `document`, at its client_id, or `open`, by a registration without a token',
});
const madeBy = {
  created_by: nullable(
    Type.String({
      description: 'who made it: `user:<id>`, `client:<id>`, `initial_access_token:<id>`, `system` (a document or the command line)',
    }),
  ),
  secret_by: nullable(Type.String({ description: 'who made its secret, or gave its keys, last, and so knows it' })),
  secret_at: nullable(dateTime),
};
const listQuery = closed({
  ...searchQuery.properties,
  origin: Type.Optional(Type.Union([Type.Literal('document'), Type.Literal('open')], { description: 'as in the answer' })),
});
const listOf = (from: 'document' | 'open' | undefined): typeof listClients =>
  from === undefined ? listClients : (queries, tenant, page) => listStrangers(queries, tenant, from, page);
const clientAnswer = Type.Object({
  client_id: Type.String(),
  ...fields,
  origin,
  ...madeBy,
  created_at: dateTime,
  updated_at: dateTime,
  ...signedIn,
});
const clientKey = { kind: 'client', idName: 'client_id' } as const;
const shownSecret = { client_secret: Type.Optional(Type.String()) };

const unknownClient = (): Error => notFound('unknown_client');
const invalid = ({ field, text }: FieldFault): Error => invalidField(field, `This field ${text}.`);

/** Whoever could take over a client through the API must have its capabilities already. */
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
      const given = body as ClientChange; // checked by the schema of the same fields
      requireCapabilities(capabilitiesIn(given.scopes), own);
      requireAttributes(tenant, 'oidc', 'mappings', given.mappings ?? []);
      const created = await createClient(services, tenant.id, given, { actor, requestId });
      if (!created.ok) throw invalid(created.fault);
      return { ...clientToJson(created.client), ...secretOf(created.secret) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/clients',
    capability: 'clients:read',
    summary: 'List clients by client_id; `search` is a part of a name, or a client_id; `origin`: those that nobody registered',
    query: listQuery,
    answer: listAnswer(clientAnswer),
    status: 200,
    handle: async (call) =>
      withLastSignIns(
        call,
        clientKey,
        await answerSearched(call, listOf(call.query.origin), {
          key: (client) => client.clientId,
          texts: (client) => [client.name, ...(client.origin === undefined ? [] : [hostOfStranger(client) ?? ''])],
          json: clientToJson,
        }),
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/clients/:id',
    capability: 'clients:read',
    summary: 'Read a client',
    answer: clientAnswer,
    status: 200,
    handle: async (call) => withLastSignIn(call, clientKey, clientToJson(await loadClient(call))),
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
      const { services, tenant, params, scopes: own, actor, requestId } = call;
      const given = call.body as ClientChange; // checked by the schema of the same fields
      const before = await loadForeign(call);
      requireCapabilities(capabilitiesIn([...before.scopes, ...(given.scopes ?? [])]), own);
      requireStrangerFields(before, given);
      requireAttributes(tenant, 'oidc', 'mappings', given.mappings ?? []);
      const changed = await changeClient(services, tenant.id, params['id']!, given, { actor, requestId });
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
    handle: async (call) => {
      const { services, tenant, params, scopes: own, actor, requestId } = call;
      requireCapabilities(capabilitiesIn((await loadForeign(call)).scopes), own);
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
      const before = await loadForeign(call);
      requireCapabilities(capabilitiesIn(before.scopes), own);
      if (before.origin !== undefined) throw conflict('client_id', 'Nobody registered the client: its secret is its own.');
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
    requireForeign,
  }),
];

const secretOf = (secret: string | undefined): Json => (secret === undefined ? {} : { client_secret: secret });

async function loadClient({ services, tenant, params }: Call<unknown, unknown>): Promise<Client> {
  const client = await services.database.read(tenant.id, (queries) => findClient(queries, tenant.id, params['id']!));
  if (client === undefined) throw unknownClient();
  return client;
}

/** A client that is not one of our own pages. @throws management.not_found, management.forbidden */
async function loadForeign(call: Call<unknown, unknown>): Promise<Client> {
  const client = await loadClient(call);
  requireForeign(client.clientId);
  return client;
}

/** What an administrator says of a client that nobody registered; the rest is what it says itself. */
const strangerFields: ReadonlySet<string> = new Set([clientFields.enabled.name, clientFields.accessPolicy.name]);

/** What stays as it is may be said. @throws management.invalid_request */
function requireStrangerFields(before: Client, given: Json): void {
  const is = clientToJson(before);
  const isOther = (name: string): boolean => !strangerFields.has(name) && JSON.stringify(given[name]) !== JSON.stringify(is[name]);
  const foreign = before.origin === undefined ? undefined : Object.keys(given).find(isOther);
  if (foreign !== undefined) throw invalidField(foreign, 'Nobody registered the client: what it is, it says itself.');
}

/** Our own pages are registered by the server itself: whoever could change one would shut it or take it over. */
function requireForeign(clientId: string): void {
  if (!isOwnClient({ clientId })) return;
  throw reject(
    'management.forbidden',
    { reason: 'own_client', expected: 'a client that is not of Gatehouse itself', received: clientId },
    { text: `The client ${clientId} is Gatehouse’s own: it is shown, never changed or deleted.` },
  );
}

/** The client as the API shows it, without its secret. */
const clientToJson = (client: Client): Json => ({
  client_id: client.clientId,
  ...toJson(clientFields, { ...client, tokenEndpointAuthMethod: shownAuthMethod(client.tokenEndpointAuthMethod) }),
  origin: client.origin ?? null,
  created_by: client.createdBy ?? null,
  secret_by: client.secretBy?.actor ?? null,
  secret_at: client.secretBy === undefined ? null : isoTime(client.secretBy.atMs),
  created_at: isoTime(client.createdAtMs),
  updated_at: isoTime(client.updatedAtMs),
});
