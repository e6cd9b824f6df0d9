// `/clients`: registration, change, secrets. The fields and their rules are in domain/client/client.ts.
import Type from 'typebox';
import { changeClient, createClient, removeClient, rotateClientSecret } from '../../administration/clients/clients.ts';
import { changeOf, creationOf, propertiesOf } from '../../administration/schema-pieces.ts';
import { reject } from '../../contract/contract-error.ts';
import { type Client, type ClientChange, clientFields } from '../../domain/client/client.ts';
import { clientToJson } from '../../domain/client/client-json.ts';
import { isOwnClient } from '../../domain/client/own-clients.ts';
import { hostOfStranger } from '../../domain/client/stranger.ts';
import { findClient, listClients, listStrangers } from '../../storage/registry/clients/clients.ts';
import { type Call, conflict, type Endpoint, endpoint, type Json, notFound } from '../endpoint.ts';
import { actingOf, faultRefusal } from '../kind-endpoints.ts';
import { answerSearched } from '../paging.ts';
import { assignmentEndpoints } from '../people/assignments.ts';
import { closed, dateTime, listAnswer, nullable, searchQuery } from '../schemas.ts';
import { usedClient, withLastSignIn, withLastSignIns } from '../sign-in/last-sign-in.ts';

const fields = propertiesOf(clientFields);
const changeBody = changeOf(fields);
const createBody = creationOf(clientFields);
const origin = Type.Union([Type.Literal('document'), Type.Literal('open'), Type.Null()], {
  description: 'where one comes from that nobody registered: `document`, at its client_id, or `open`, by a registration without a token',
});
const madeBy = {
  created_by: nullable(
    Type.String({
      description:
        'who made it: `user:<id>`, `client:<id>`, `initial_access_token:<id>`, `operator` (the command line), `system` (a document at a start)',
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
  ...usedClient,
});
const clientKey = { kind: 'client', idName: 'client_id' } as const;
const shownSecret = { client_secret: Type.Optional(Type.String()) };

const unknownClient = (): Error => notFound('unknown_client');

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
    handle: async (call) => {
      const given = call.body as ClientChange; // checked by the schema of the same fields
      const created = await createClient(call.services, actingOf(call), given);
      if (!created.ok) throw faultRefusal(created.fault);
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
      const id = call.params['id']!;
      const given = call.body as ClientChange; // checked by the schema of the same fields
      const changed = await changeClient(call.services, actingOf(call), id, given);
      if (!changed.ok) throw changed.reason === 'invalid' ? faultRefusal(changed.fault) : notToWrite(id, changed.reason);
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
      const id = call.params['id']!;
      const removed = await removeClient(call.services, actingOf(call), id);
      if (!removed.ok) throw notToWrite(id, removed.reason);
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
      const id = call.params['id']!;
      const rotated = await rotateClientSecret(call.services, actingOf(call), id);
      if (rotated.ok) return { client_id: rotated.client.clientId, client_secret: rotated.secret };
      if (rotated.reason === 'stranger') throw conflict('client_id', 'Nobody registered the client: its secret is its own.');
      if (rotated.reason === 'no_secret') throw conflict('token_endpoint_auth_method', 'The client has no secret.');
      throw notToWrite(id, rotated.reason);
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

const notToWrite = (id: string, reason: 'unknown' | 'own'): Error => (reason === 'own' ? ownClient(id) : unknownClient());

/** Our own pages are registered by the server itself: whoever could change one would shut it or take it over. */
const ownClient = (clientId: string): Error =>
  reject(
    'management.forbidden',
    { reason: 'own_client', expected: 'a client that is not of Gatehouse itself', received: clientId },
    { text: `The client ${clientId} is Gatehouse’s own: it is shown, never changed or deleted.` },
  );

/** @throws management.forbidden */
function requireForeign(clientId: string): void {
  if (isOwnClient({ clientId })) throw ownClient(clientId);
}
