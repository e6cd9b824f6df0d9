// `/resources`: the audiences clients may be allowed to request, with the scopes they define (RFC 8707).
import Type from 'typebox';
import { audienceFault } from '../administration/client-uris.ts';
import { unlessTaken } from '../administration/taken.ts';
import { lifetimeSecondsMax, scopeNameCharsMax, scopesPerListMax, textCharsMax, urlCharsMax } from '../contract/limits.ts';
import type { Tenant } from '../domain/tenant.ts';
import { uuidV7 } from '../platform/random.ts';
import { listMatching } from '../storage/matching-rows.ts';
import {
  deleteResource,
  findResource,
  insertResource,
  listResources,
  type NewResource,
  type ResourceTable,
  updateResource,
} from '../storage/resources.ts';
import { audit, type Call, conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound } from './endpoint.ts';
import { listOf, pageOf } from './paging.ts';
import { closed, dateTime, listAnswer, name, nullable, searchQuery } from './schemas.ts';

const scope = closed({
  name: Type.String({ minLength: 1, maxLength: scopeNameCharsMax, pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' }),
  description: Type.Optional(nullable(Type.String({ maxLength: textCharsMax }))),
});
const fields = {
  identifier: Type.String({ minLength: 1, maxLength: urlCharsMax }),
  name,
  scopes: Type.Array(scope, { maxItems: scopesPerListMax }),
  access_token_lifetime_seconds: nullable(Type.Integer({ minimum: 1, maximum: lifetimeSecondsMax })),
};
const changeBody = Type.Partial(closed(fields), { additionalProperties: false });
const createBody = closed({ ...changeBody.properties, identifier: fields.identifier, name });
const resourceAnswer = Type.Object({ id: Type.String(), ...fields, created_at: dateTime, updated_at: dateTime });

const unknownResource = (): Error => notFound('unknown_resource');
const identifierTaken = (): Error => conflict('identifier', 'The identifier is in use.');

export const resourceEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/resources',
    capability: 'resources:write',
    summary: 'Register a resource',
    body: createBody,
    answer: resourceAnswer,
    status: 201,
    handle: async (call) => {
      const { services, tenant, body } = call;
      const { identifier, name: ownName } = body;
      const fresh = { identifier, name: ownName, scopes: '[]', access_token_lifetime_seconds: null, ...readFields(tenant, body) };
      const id = uuidV7(services.clock.nowMs());
      return services.cache.write(tenant.id, async (queries) => {
        const row = await insertResource(queries, tenant.id, { ...fresh, id });
        if (row === undefined) throw identifierTaken();
        await audit(call, queries, { type: 'resource.created', target: `resource:${row.id}`, data: { identifier } });
        return resourceToJson(row);
      });
    },
  }),
  endpoint({
    method: 'GET',
    path: '/resources',
    capability: 'resources:read',
    summary: 'List resources, oldest first; `search` is a part of a name or identifier',
    query: searchQuery,
    answer: listAnswer(resourceAnswer),
    status: 200,
    handle: async ({ services, tenant, query }) => {
      const page = pageOf(query);
      const rows = await services.database.read(tenant.id, (queries) =>
        listMatching(
          { ...page, limit: page.limit + 1, search: query.search },
          (batch) => listResources(queries, tenant.id, batch),
          (row) => row.id,
          (row) => [row.name, row.identifier],
        ),
      );
      return listOf(page, rows, (row) => row.id, resourceToJson);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/resources/:id',
    capability: 'resources:read',
    summary: 'Read a resource',
    answer: resourceAnswer,
    status: 200,
    handle: async ({ services, tenant, params }) => {
      const row = await services.database.read(tenant.id, (queries) => findResource(queries, tenant.id, params['id']!));
      if (row === undefined) throw unknownResource();
      return resourceToJson(row);
    },
  }),
  endpoint({
    method: 'PATCH',
    path: '/resources/:id',
    capability: 'resources:write',
    summary: 'Change a resource; `scopes` replaces the list',
    body: changeBody,
    answer: resourceAnswer,
    status: 200,
    handle: change,
  }),
  endpoint({
    method: 'DELETE',
    path: '/resources/:id',
    capability: 'resources:write',
    summary: 'Delete a resource; clients keep the audience in their list until it is taken off',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const { services, tenant, params } = call;
      await services.cache.write(tenant.id, async (queries) => {
        if (!(await deleteResource(queries, tenant.id, params['id']!))) throw unknownResource();
        await audit(call, queries, { type: 'resource.deleted', target: `resource:${params['id']}` });
      });
    },
  }),
];

type Body = Type.Static<typeof changeBody>;

async function change(call: Call<undefined, Body>): Promise<Json> {
  const { services, tenant, params, body } = call;
  const fresh = readFields(tenant, body);
  const done = await unlessTaken('identifier', () =>
    services.cache.write(tenant.id, async (queries) => {
      const row = await updateResource(queries, tenant.id, params['id']!, fresh);
      if (row === undefined) throw unknownResource();
      await audit(call, queries, { type: 'resource.updated', target: `resource:${row.id}`, data: { fields: Object.keys(body) } });
      return row;
    }),
  );
  if (!done.ok) throw identifierTaken();
  return resourceToJson(done.value);
}

function readFields(tenant: Tenant, body: Body): Partial<Omit<NewResource, 'id'>> {
  const { scopes, identifier, ...plain } = body;
  const fault = identifier === undefined ? undefined : audienceFault(identifier);
  if (fault !== undefined) throw invalidField('identifier', `This field ${fault}.`);
  // The issuer and the Management API are audiences of our own; a resource must not stand in for them.
  if (identifier === tenant.baseUrl || identifier === tenant.managementApi) throw identifierTaken();
  if (scopes !== undefined && new Set(scopes.map((item) => item.name)).size < scopes.length)
    throw invalidField('scopes', 'This field must hold each scope once.');
  return {
    ...plain,
    ...(identifier === undefined ? {} : { identifier }),
    ...(scopes === undefined ? {} : { scopes: JSON.stringify(scopes) }),
  };
}

function resourceToJson(row: ResourceTable): Json {
  return {
    id: row.id,
    identifier: row.identifier,
    name: row.name,
    scopes: JSON.parse(row.scopes),
    access_token_lifetime_seconds: row.access_token_lifetime_seconds,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}
