// SAML service providers in a document. The rules of their fields are those of the Management API.
import Type from 'typebox';
import type { ServiceProviderId } from '../../../domain/ids.ts';
import { parseNewProvider, providerToJson, type ServiceProvider } from '../../../domain/saml/service-provider.ts';
import { uuidV7 } from '../../../platform/random.ts';
import { ValueTaken } from '../../../storage/engine/unique-violation.ts';
import {
  deleteServiceProvider,
  findServiceProvider,
  findServiceProviderByEntityId,
  insertServiceProvider,
  listServiceProviders,
  updateServiceProvider,
} from '../../../storage/registry/service-providers.ts';
import { recordAct } from '../../administration.ts';
import { canonical, compact, type Declared, type Desired, faultAt, type Json, type Kind, pageRows, type Stored } from '../document.ts';
import { requireAttributes } from './mapping-kind.ts';
import { uuid } from './uuid.ts';

// What each field may hold is checked, and told, by domain/saml/service-provider.ts.
const schema = Type.Object({ id: Type.Optional(uuid), entity_id: Type.String() });
// A document releases what it names: one written before there was a default release must not start to release.
const released = { attribute_map: {} };
const noId = '' as ServiceProviderId; // replaced before it is stored

export const providerKind: Kind = {
  section: 'service_providers',
  noun: 'service provider',
  schema,
  uniqueField: 'entity_id',
  isConfiguration: true,
  examine: (session, declared) => {
    const { id } = declared.value as { readonly id?: string }; // checked by the schema
    const provider = parse(declared);
    requireAttributes(session, declared, { kind: 'saml', field: 'mappings' }, provider.mappings);
    return { id, title: provider.entityId, fields: fieldsOf(provider), declared };
  },
  newId: ({ administration }) => uuidV7(administration.clock.nowMs()),
  find: async (queries, { tenant }, items) =>
    Promise.all(
      items.map(async ({ id, title }) => {
        const named = await findServiceProviderByEntityId(queries, tenant.id, title);
        const provider = id === undefined ? named : await findServiceProvider(queries, tenant.id, id);
        if (id !== undefined && named !== undefined && named.id !== id)
          return { conflict: `entity_id is in use by service provider ${named.id}` };
        return { stored: provider === undefined ? undefined : storedOf(provider) };
      }),
    ),
  remember: ({ providers }, id, { title }) => void providers.set(id, id).set(title, id),
  create: async (queries, { administration, tenant, by }, items) => {
    for (const { id, desired } of items) {
      const nowMs = administration.clock.nowMs();
      const provider = { ...parse(desired.declared), id: id as ServiceProviderId, createdAtMs: nowMs, updatedAtMs: nowMs };
      if (!(await insertServiceProvider(queries, tenant.id, provider))) throw new ValueTaken('entity_id');
      const data = { entity_id: provider.entityId };
      await recordAct(queries, administration, tenant.id, by, { type: 'service_provider.created', target: `service_provider:${id}`, data });
    }
  },
  update: async (queries, { administration, tenant, by }, items) => {
    for (const { stored, desired, changed } of items) {
      const id = stored.id as ServiceProviderId; // read from the table
      if ((await updateServiceProvider(queries, tenant.id, { ...parse(desired.declared), id })) === 'entity_id_taken')
        throw new ValueTaken('entity_id');
      const data = { fields: [...changed] };
      await recordAct(queries, administration, tenant.id, by, { type: 'service_provider.updated', target: `service_provider:${id}`, data });
    }
  },
  page: async (queries, { tenant }, after) => (await listServiceProviders(queries, tenant.id, { after, limit: pageRows })).map(storedOf),
  remove: async (queries, { administration, tenant, by }, { id }) => {
    await deleteServiceProvider(queries, tenant.id, id as ServiceProviderId);
    await recordAct(queries, administration, tenant.id, by, { type: 'service_provider.deleted', target: `service_provider:${id}` });
  },
  write: (_session, { id, fields }) => {
    const { entity_id, acs, signing_keys, encryption_key } = fields;
    const base = parseNewProvider(compact({ ...released, entity_id, acs, signing_keys, encryption_key }), noId, 0);
    const defaults = base.ok ? fieldsOf(base.provider) : {};
    const needed = new Set(['entity_id', 'name', 'acs', 'signing_keys', 'encryption_key']);
    const written = Object.entries(fields).filter(([name, value]) => needed.has(name) || canonical(value) !== canonical(defaults[name]));
    return { id, ...Object.fromEntries(written) };
  },
};

function parse(declared: Declared | Desired['declared']): ServiceProvider {
  const { id: _id, ...body } = declared.value as Json; // an object, by the schema
  const read = parseNewProvider({ ...released, ...body }, noId, 0);
  if (!read.ok) throw faultAt(declared, [read.field], `another value: ${read.text}`, body[read.field]);
  return read.provider;
}

function fieldsOf(provider: ServiceProvider): Json {
  const { id: _id, created_at: _created, updated_at: _updated, ...fields } = providerToJson(provider);
  return compact(fields);
}

const storedOf = (provider: ServiceProvider): Stored => ({ id: provider.id, title: provider.entityId, fields: fieldsOf(provider) });
