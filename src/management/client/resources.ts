// `/resources`: the audiences clients may be allowed to request, with the scopes they define (RFC 8707). The fields are in
// domain/client/resource.ts.
import Type from 'typebox';
import { changeOf, creationOf, propertiesOf } from '../../administration/schema-pieces.ts';
import { unlessTaken } from '../../administration/taken.ts';
import { type Resource, type ResourceChange, resourceFields } from '../../domain/client/resource.ts';
import { overlay, readChange, toJson, valueFault } from '../../domain/field.ts';
import { isOwnAudience, type Tenant } from '../../domain/tenant/tenant.ts';
import { uuidV7 } from '../../platform/random.ts';
import { deleteResource, findResource, insertResource, listResources, updateResource } from '../../storage/registry/resources.ts';
import { audit, type Call, conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound } from '../endpoint.ts';
import { answerSearched } from '../paging.ts';
import { dateTime, listAnswer, searchQuery } from '../schemas.ts';

const fields = propertiesOf(resourceFields);
const resourceAnswer = Type.Object({ id: Type.String(), ...fields, created_at: dateTime, updated_at: dateTime });

const unknownResource = (): Error => notFound('unknown_resource');
const identifierTaken = (): Error => conflict('identifier', 'The identifier is in use.');

export const resourceEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/resources',
    capability: 'resources:write',
    summary: 'Register a resource',
    body: creationOf(resourceFields),
    answer: resourceAnswer,
    status: 201,
    handle: async (call) => {
      const { services, tenant } = call;
      const given = accepted(tenant, call.body);
      const id = uuidV7(services.clock.nowMs());
      return services.cache.write(tenant.id, async (queries) => {
        const resource = await insertResource(queries, tenant.id, id, overlay(resourceFields, given));
        if (resource === undefined) throw identifierTaken();
        const data = { identifier: resource.identifier };
        await audit(call, queries, { type: 'resource.created', target: `resource:${id}`, data });
        return resourceToJson(resource);
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
    handle: (call) =>
      answerSearched(call, listResources, {
        key: (resource) => resource.id,
        texts: (resource) => [resource.name, resource.identifier],
        json: resourceToJson,
      }),
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
    body: changeOf(fields),
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

async function change(call: Call<unknown, unknown>): Promise<Json> {
  const { services, tenant, params } = call;
  const given = accepted(tenant, call.body);
  const done = await unlessTaken('identifier', () =>
    services.cache.write(tenant.id, async (queries) => {
      const resource = await updateResource(queries, tenant.id, params['id']!, readChange(resourceFields, given));
      if (resource === undefined) throw unknownResource();
      await audit(call, queries, { type: 'resource.updated', target: `resource:${resource.id}`, data: { fields: Object.keys(given) } });
      return resource;
    }),
  );
  if (!done.ok) throw identifierTaken();
  return resourceToJson(done.value);
}

/** A body whose shape was checked, with values that may stand. */
function accepted(tenant: Tenant, body: unknown): ResourceChange {
  const given = body as ResourceChange;
  const fault = valueFault(resourceFields, given);
  if (fault !== undefined) throw invalidField(fault.field, `This field ${fault.text}.`);
  if (given.identifier !== undefined && isOwnAudience(tenant, given.identifier)) throw identifierTaken();
  return given;
}

const resourceToJson = (resource: Resource): Json => ({
  id: resource.id,
  ...toJson(resourceFields, resource),
  created_at: isoTime(resource.createdAtMs),
  updated_at: isoTime(resource.updatedAtMs),
});
