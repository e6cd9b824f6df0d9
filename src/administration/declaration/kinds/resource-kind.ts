// Resource servers in a document.
import Type from 'typebox';
import { type Resource, type ResourceChange, type ResourceValues, resourceFields } from '../../../domain/client/resource.ts';
import { overlay, toJson, valueFault } from '../../../domain/field.ts';
import { isOwnAudience } from '../../../domain/tenant/tenant.ts';
import { uuidV7 } from '../../../platform/random.ts';
import { ValueTaken } from '../../../storage/engine/unique-violation.ts';
import {
  deleteResource,
  insertResource,
  listResources,
  listResourcesByIdOrIdentifier,
  updateResource,
} from '../../../storage/registry/resources.ts';
import { recordAct } from '../../administration.ts';
import { closed, creationOf } from '../../schema-pieces.ts';
import { compact, faultAt, type Json, type Kind, pageRows, type Stored } from '../document.ts';
import { uuid } from './uuid.ts';

const schema = closed({ id: Type.Optional(uuid), ...creationOf(resourceFields).properties });

export const resourceKind: Kind = {
  section: 'resources',
  noun: 'resource',
  schema,
  uniqueField: 'identifier',
  isConfiguration: true,
  examine: ({ tenant }, declared) => {
    const { id, ...item } = declared.value as ResourceChange & { readonly id?: string }; // checked by the schema
    const fault = valueFault(resourceFields, item);
    if (fault !== undefined) throw faultAt(declared, [fault.field], `a value that ${fault.text}`, item[fault.field as keyof typeof item]);
    const values = overlay(resourceFields, item);
    if (isOwnAudience(tenant, values.identifier))
      throw faultAt(declared, ['identifier'], 'an audience that is not one of this service itself', values.identifier);
    return { id, title: values.identifier, fields: fieldsOf(values), declared };
  },
  newId: ({ administration }) => uuidV7(administration.clock.nowMs()),
  find: async (queries, { tenant }, items) => {
    const rows = await listResourcesByIdOrIdentifier(queries, tenant.id, {
      ids: items.flatMap(({ id }) => id ?? []),
      identifiers: items.map(({ title }) => title),
    });
    return items.map(({ id, title }) => {
      const named = rows.find((row) => row.identifier === title);
      const row = id === undefined ? named : rows.find((candidate) => candidate.id === id);
      if (id !== undefined && named !== undefined && named.id !== id) return { conflict: `identifier is in use by resource ${named.id}` };
      return { stored: row === undefined ? undefined : storedOf(row) };
    });
  },
  create: async (queries, { administration, tenant, by }, items) => {
    for (const { id, desired } of items) {
      if ((await insertResource(queries, tenant.id, id, overlay(resourceFields, desired.fields))) === undefined)
        throw new ValueTaken('identifier');
      const data = { identifier: desired.title };
      await recordAct(queries, administration, tenant.id, by, { type: 'resource.created', target: `resource:${id}`, data });
    }
  },
  update: async (queries, { administration, tenant, by }, items) => {
    for (const { stored, desired, changed } of items) {
      await updateResource(queries, tenant.id, stored.id, overlay(resourceFields, desired.fields));
      const data = { fields: [...changed] };
      await recordAct(queries, administration, tenant.id, by, { type: 'resource.updated', target: `resource:${stored.id}`, data });
    }
  },
  page: async (queries, { tenant }, after) => (await listResources(queries, tenant.id, { after, limit: pageRows })).map(storedOf),
  remove: async (queries, { administration, tenant, by }, { id }) => {
    await deleteResource(queries, tenant.id, id);
    await recordAct(queries, administration, tenant.id, by, { type: 'resource.deleted', target: `resource:${id}` });
  },
  write: (_session, { id, fields }) => ({ id, ...fields }),
};

const storedOf = (resource: Resource): Stored => ({ id: resource.id, title: resource.identifier, fields: fieldsOf(resource) });

function fieldsOf(values: ResourceValues): Json {
  return compact({ ...toJson(resourceFields, values), scopes: values.scopes.map((scope) => compact({ ...scope })) });
}
