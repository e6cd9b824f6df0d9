// `/custom-attributes`: the attributes a tenant adds to its people. The fields are in domain/people/custom-attributes.ts; name, type, list
// and unique are fixed once made. An attribute is named by its id or its name.
import Type from 'typebox';
import { changeOf, creationOf, propertiesOf } from '../../administration/schema-pieces.ts';
import { unlessTaken } from '../../administration/taken.ts';
import { customAttributesPerTenantMax } from '../../contract/limits.ts';
import { type Json, overlay, takenAt, toJson, type ValuesOf, valueFault } from '../../domain/field.ts';
import { type CustomAttribute, customAttributeFault, customAttributeFields as fields } from '../../domain/people/custom-attributes.ts';
import { uuidV7 } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { listMatching } from '../../storage/engine/matching-rows.ts';
import { ValueTaken } from '../../storage/engine/unique-violation.ts';
import {
  deleteCustomAttribute,
  insertCustomAttribute,
  listCustomAttributes,
  updateCustomAttribute,
} from '../../storage/registry/custom-attributes.ts';
import { lockTenantSettings } from '../../storage/registry/tenants.ts';
import { audit, type Call, conflict, type Endpoint, endpoint, invalidField, notFound } from '../endpoint.ts';
import { listOf, pageOf } from '../paging.ts';
import { listAnswer, searchQuery } from '../schemas.ts';

const answer = Type.Object({ id: Type.String(), ...propertiesOf(fields) });
const unknown = (): Error => notFound('unknown_attribute');
const toAnswer = (attribute: CustomAttribute): Json => ({ id: attribute.id, ...toJson(fields, attribute) });
const named = (attributes: readonly CustomAttribute[], { params }: Pick<Call<unknown, unknown>, 'params'>): CustomAttribute => {
  const found = attributes.find(({ id, name }) => id === params['id'] || name === params['id']);
  if (found === undefined) throw unknown();
  return found;
};

export const customAttributeEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/custom-attributes',
    capability: 'settings:write',
    summary: 'Add an attribute to the people of the tenant',
    body: creationOf(takenAt(fields, 'create')),
    answer,
    status: 201,
    handle: (call) =>
      write(call, async (queries, all) => {
        if (all.length >= customAttributesPerTenantMax)
          throw invalidField('name', `A tenant has at most ${customAttributesPerTenantMax} attributes.`);
        const made = { id: uuidV7(call.services.clock.nowMs()), ...accepted(call.body as Json) };
        requireFree(all, made);
        await insertCustomAttribute(queries, call.tenant.id, made);
        const data = { name: made.name, type: made.type };
        await audit(call, queries, { type: 'custom_attribute.created', target: `custom_attribute:${made.id}`, data });
        return made;
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/custom-attributes',
    capability: 'settings:read',
    summary: 'List the attributes of the tenant by name; `search` is a part of a name or label',
    query: searchQuery,
    answer: listAnswer(answer),
    status: 200,
    handle: async (call) => {
      const page = pageOf(call.query);
      const all = await list(call);
      const rows = await listMatching(
        { ...page, limit: page.limit + 1, search: call.query.search },
        async ({ after, limit }) => all.filter(({ name }) => name > after).slice(0, limit),
        ({ name }) => name,
        ({ name, label }) => [name, label ?? ''],
      );
      return listOf(page, rows, ({ name }) => name, toAnswer);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/custom-attributes/:id',
    capability: 'settings:read',
    summary: 'Read an attribute by its id or name',
    answer,
    status: 200,
    handle: async (call) => toAnswer(named(await list(call), call)),
  }),
  endpoint({
    method: 'PATCH',
    path: '/custom-attributes/:id',
    capability: 'settings:write',
    summary: 'Change an attribute; values that people have stay until they are written again',
    body: changeOf(propertiesOf(takenAt(fields, 'change'))),
    answer,
    status: 200,
    handle: (call) =>
      write(call, async (queries, all) => {
        const given = call.body as Json;
        const before = named(all, call);
        const changed = { id: before.id, ...accepted(given, before) };
        requireFree(all, changed);
        await updateCustomAttribute(queries, call.tenant.id, before.id, changed);
        const data = { fields: Object.keys(given) };
        await audit(call, queries, { type: 'custom_attribute.updated', target: `custom_attribute:${before.id}`, data });
        return changed;
      }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/custom-attributes/:id',
    capability: 'settings:write',
    summary: 'Delete an attribute and what people have of it',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const { services, tenant } = call;
      await services.cache.write(tenant.id, async (queries) => {
        const { id, name } = named(await listCustomAttributes(queries, tenant.id), call);
        if (!(await deleteCustomAttribute(queries, tenant.id, id))) throw unknown();
        await audit(call, queries, { type: 'custom_attribute.deleted', target: `custom_attribute:${id}`, data: { name } });
      });
    },
  }),
];

type Writing = Pick<Call<unknown, unknown>, 'services' | 'tenant' | 'actor' | 'requestId'>;

const list = ({ services, tenant }: Pick<Writing, 'services' | 'tenant'>) =>
  services.database.read(tenant.id, (queries) => listCustomAttributes(queries, tenant.id));

/** Writers of one tenant's attributes take turns, so that what one of them counts is what there is. */
async function write(
  { services, tenant }: Writing,
  work: (queries: Queries, all: readonly CustomAttribute[]) => Promise<CustomAttribute>,
): Promise<Json> {
  const done = await unlessTaken('name', () =>
    services.cache.write(tenant.id, async (queries) => {
      await lockTenantSettings(queries, services.database.dialect, tenant.id);
      return work(queries, await listCustomAttributes(queries, tenant.id));
    }),
  );
  if (!done.ok) throw conflict(done.field ?? 'name', `The ${done.field} is in use.`);
  return toAnswer(done.value);
}

function accepted(given: Json, before?: CustomAttribute): ValuesOf<typeof fields> {
  const values = overlay(fields, given, before);
  const fault = valueFault(fields, given) ?? customAttributeFault(values);
  if (fault !== undefined) throw invalidField(fault.field, `This field ${fault.text}.`);
  return values;
}

function requireFree(all: readonly CustomAttribute[], made: CustomAttribute): void {
  for (const field of ['name', 'claim'] as const)
    if (made[field] !== undefined && all.some((one) => one.id !== made.id && one[field] === made[field])) throw new ValueTaken(field);
}
