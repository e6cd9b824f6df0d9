// Resource servers in a document.
import Type from 'typebox';
import { lifetimeSecondsMax, nameCharsMax, scopeNameCharsMax, scopesPerListMax, textCharsMax, urlCharsMax } from '../../contract/limits.ts';
import { uuidV7 } from '../../platform/random.ts';
import { deleteResource, insertResource, listResources, type ResourceTable, updateResource } from '../../storage/resources.ts';
import { recordAct } from '../administration.ts';
import { audienceFault } from '../client-uris.ts';
import { closed, nullable } from '../schema-pieces.ts';
import { ValueTaken } from '../taken.ts';
import { compact, faultAt, type Json, type Kind, pageRows, type Stored } from './document.ts';
import { uuid } from './uuid.ts';

const scope = closed({
  name: Type.String({ minLength: 1, maxLength: scopeNameCharsMax, pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' }),
  description: Type.Optional(nullable(Type.String({ maxLength: textCharsMax }))),
});
const schema = closed({
  id: Type.Optional(uuid),
  identifier: Type.String({ minLength: 1, maxLength: urlCharsMax }),
  name: Type.String({ minLength: 1, maxLength: nameCharsMax }),
  scopes: Type.Optional(Type.Array(scope, { maxItems: scopesPerListMax })),
  access_token_lifetime_seconds: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: lifetimeSecondsMax }))),
});
type Item = Type.Static<typeof schema>;

export const resourceKind: Kind = {
  section: 'resources',
  noun: 'resource',
  schema,
  uniqueField: 'identifier',
  isConfiguration: true,
  examine: ({ tenant }, declared) => {
    const { id, ...item } = declared.value as Item; // checked by the schema
    const fault = audienceFault(item.identifier);
    if (fault !== undefined) throw faultAt(declared, ['identifier'], `a value that ${fault}`, item.identifier);
    if (item.identifier === tenant.baseUrl || item.identifier === tenant.managementApi)
      throw faultAt(declared, ['identifier'], 'an audience that is not one of this service itself', item.identifier);
    const scopes = item.scopes ?? [];
    if (new Set(scopes.map(({ name }) => name)).size < scopes.length) throw faultAt(declared, ['scopes'], 'each scope once', scopes);
    return { id, title: item.identifier, fields: compact({ ...item, scopes: scopes.map(compact) }), declared };
  },
  newId: ({ administration }) => uuidV7(administration.clock.nowMs()),
  find: async (queries, { tenant }, items) => {
    const identifiers = items.map(({ title }) => title);
    const ids = items.flatMap(({ id }) => id ?? []);
    const rows = await queries
      .selectFrom('resources')
      .selectAll()
      .where('tenant_id', '=', tenant.id)
      .where((eb) => eb.or([eb('identifier', 'in', identifiers), ...(ids.length > 0 ? [eb('id', 'in', ids)] : [])]))
      .execute();
    return items.map(({ id, title }) => {
      const named = rows.find((row) => row.identifier === title);
      const row = id === undefined ? named : rows.find((candidate) => candidate.id === id);
      if (id !== undefined && named !== undefined && named.id !== id) return { conflict: `identifier is in use by resource ${named.id}` };
      return { stored: row === undefined ? undefined : storedOf(row) };
    });
  },
  create: async (queries, { administration, tenant, by }, items) => {
    for (const { id, desired } of items) {
      if ((await insertResource(queries, tenant.id, { id, ...columns(desired.fields) })) === undefined) throw new ValueTaken('identifier');
      const data = { identifier: desired.title };
      await recordAct(queries, administration, tenant.id, by, { type: 'resource.created', target: `resource:${id}`, data });
    }
  },
  update: async (queries, { administration, tenant, by }, items) => {
    for (const { stored, desired, changed } of items) {
      await updateResource(queries, tenant.id, stored.id, columns(desired.fields));
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

function storedOf(row: ResourceTable): Stored {
  const { id, identifier, name } = row;
  const scopes = (JSON.parse(row.scopes) as readonly Json[]).map(compact); // written by this service
  return {
    id,
    title: identifier,
    fields: compact({ identifier, name, scopes, access_token_lifetime_seconds: row.access_token_lifetime_seconds }),
  };
}

function columns(fields: Json) {
  const item = fields as Partial<Item>; // made by examine
  return {
    identifier: item.identifier!,
    name: item.name!,
    scopes: JSON.stringify(item.scopes ?? []),
    access_token_lifetime_seconds: item.access_token_lifetime_seconds ?? null,
  };
}
