// `/service-providers`: SAML service providers, and their making from metadata (design 02, 06). The rules of the fields are
// in domain/saml/service-provider.ts. A change is configuration: it acts at once here and within a second on other nodes.
import Type from 'typebox';
import { changeOf, propertiesOf, typesOf } from '../../administration/schema-pieces.ts';
import { changedFields, planImport } from '../../administration/sp-import.ts';
import { parseSpMetadata } from '../../administration/sp-metadata.ts';
import type { ServiceProviderId } from '../../domain/ids.ts';
import { isCustomPath, nameIdAttribute, unknownCustomPath } from '../../domain/people/custom-attributes.ts';
import {
  type ProviderReading,
  parseNewProvider,
  parseProviderChange,
  providerToJson,
  type ServiceProvider,
  serviceProviderFields,
} from '../../domain/saml/service-provider.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { uuidV7 } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import {
  deleteServiceProvider,
  findServiceProvider,
  findServiceProviderByEntityId,
  insertServiceProvider,
  listServiceProviders,
  lockServiceProvider,
  updateServiceProvider,
} from '../../storage/registry/service-providers.ts';
import { audit, type Call, conflict, type Endpoint, endpoint, invalidField, type Json, notFound, withStatus } from '../endpoint.ts';
import { requireAttributes } from '../extending/mappings.ts';
import { answerSearched } from '../paging.ts';
import { assignmentEndpoints } from '../people/assignments.ts';
import { closed, dateTime, listAnswer, searchQuery } from '../schemas.ts';
import { signedIn, withLastSignIn, withLastSignIns } from '../sign-in/last-sign-in.ts';

const read = 'service-providers:read';
const write = 'service-providers:write';

// Types alone: what else each field may hold is checked, and told, by domain/saml/service-provider.ts.
const fields = typesOf(propertiesOf(serviceProviderFields));
const { entity_id, acs, ...others } = fields;
const newProvider = closed({ entity_id: entity_id!, acs: acs!, ...changeOf(others).properties });
const providerChange = changeOf({ entity_id: entity_id!, acs: acs!, ...others });
const providerAnswer = Type.Object({ id: Type.String(), ...fields, created_at: dateTime, updated_at: dateTime, ...signedIn });
const providerKey = { kind: 'service_provider', idName: 'id' } as const;

const importQuery = closed({ entity_id: Type.Optional(Type.String({ description: 'which one of an EntitiesDescriptor' })) });
const importAnswer = Type.Object({
  ...providerAnswer.properties,
  import: Type.Object({
    applied: Type.Array(Type.String(), { description: 'fields that were set' }),
    left_out: Type.Array(Type.Object({ item: Type.String(), reason: Type.String() })),
    warnings: Type.Array(Type.String()),
  }),
});

export const serviceProviderEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/service-providers',
    capability: write,
    summary: 'Register a service provider',
    body: newProvider,
    answer: providerAnswer,
    status: 201,
    handle: (call) => create(call, (id, nowMs) => parseNewProvider(call.body as Json, id, nowMs)),
  }),
  endpoint({
    method: 'GET',
    path: '/service-providers',
    capability: read,
    summary: 'List service providers, oldest first; `search` is a part of a name or entityID',
    query: searchQuery,
    answer: listAnswer(providerAnswer),
    status: 200,
    handle: async (call) =>
      withLastSignIns(
        call,
        providerKey,
        await answerSearched(call, listServiceProviders, {
          key: (provider) => provider.id,
          texts: (provider) => [provider.name, provider.entityId],
          json: providerToJson,
        }),
      ),
  }),
  endpoint({
    method: 'POST',
    path: '/service-providers/import',
    capability: write,
    summary: 'Register or update a service provider from its SAML metadata',
    takesBytes: true,
    query: importQuery,
    answer: importAnswer,
    status: 201,
    handle: (call) => importMetadata(call),
  }),
  endpoint({
    method: 'GET',
    path: '/service-providers/:id',
    capability: read,
    summary: 'Read a service provider',
    answer: providerAnswer,
    status: 200,
    handle: async (call) => {
      const { services, tenant, params } = call;
      const provider = await services.database.read(tenant.id, (queries) => loadProvider(queries, tenant.id, params['id']!));
      return withLastSignIn(call, providerKey, providerToJson(provider));
    },
  }),
  endpoint({
    method: 'PATCH',
    path: '/service-providers/:id',
    capability: write,
    summary: 'Change a service provider',
    body: providerChange,
    answer: providerAnswer,
    status: 200,
    handle: (call) => change(call, call.params['id']!, (before, nowMs) => parseProviderChange(call.body as Json, before, nowMs)),
  }),
  endpoint({
    method: 'DELETE',
    path: '/service-providers/:id',
    capability: write,
    summary: 'Delete a service provider; sign-ins under way are refused',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const { services, tenant, params } = call;
      await services.cache.write(tenant.id, async (queries) => {
        const { id } = await loadProvider(queries, tenant.id, params['id']!);
        await deleteServiceProvider(queries, tenant.id, id);
        await audit(call, queries, { type: 'service_provider.deleted', target: `service_provider:${id}` });
      });
    },
  }),
  ...assignmentEndpoints({
    kind: 'service_provider',
    path: '/service-providers',
    read,
    write,
    exists: async (queries, tenant, id) => (await findServiceProvider(queries, tenant, id)) !== undefined,
  }),
];

type AnyCall = Call<unknown, unknown>;
type ImportCall = Call<Type.Static<typeof importQuery>, unknown>;

async function loadProvider(queries: Queries, tenant: AnyCall['tenant']['id'], id: string): Promise<ServiceProvider> {
  const provider = await findServiceProvider(queries, tenant, id);
  if (provider === undefined) throw notFound('unknown_service_provider');
  return provider;
}

async function create(call: AnyCall, parse: (id: ServiceProviderId, nowMs: number) => ProviderReading): Promise<Json> {
  const { services, tenant } = call;
  const nowMs = services.clock.nowMs();
  const provider = accepted(tenant, parse(uuidV7(nowMs) as ServiceProviderId, nowMs)); // made here
  return services.cache.write(tenant.id, async (queries) => {
    if (!(await insertServiceProvider(queries, tenant.id, provider))) throw entityIdTaken();
    await audit(call, queries, {
      type: 'service_provider.created',
      target: `service_provider:${provider.id}`,
      data: { entity_id: provider.entityId },
    });
    return providerToJson(await loadProvider(queries, tenant.id, provider.id));
  });
}

async function change(call: AnyCall, id: string, parse: (before: ServiceProvider, nowMs: number) => ProviderReading): Promise<Json> {
  const { services, tenant } = call;
  return services.cache.write(tenant.id, async (queries) => {
    const before = await lockServiceProvider(queries, services.database.dialect, tenant.id, id);
    if (before === undefined) throw notFound('unknown_service_provider');
    const provider = accepted(tenant, parse(before, services.clock.nowMs()), before);
    const outcome = await updateServiceProvider(queries, tenant.id, provider);
    if (outcome === 'entity_id_taken') throw entityIdTaken();
    if (outcome === 'unknown') throw notFound('unknown_service_provider');
    await audit(call, queries, {
      type: 'service_provider.changed',
      target: `service_provider:${id}`,
      data: { changed: changedFields(before, provider) },
    });
    return providerToJson(await loadProvider(queries, tenant.id, id));
  });
}

async function importMetadata(call: ImportCall): Promise<unknown> {
  const { services, tenant, body, query } = call;
  if (!Buffer.isBuffer(body))
    throw invalidField('metadata', 'Expected SAML metadata as application/samlmetadata+xml, application/xml or text/xml.');
  const reading = parseSpMetadata(body, { nowMs: services.clock.nowMs(), entityId: query.entity_id });
  if (!reading.ok) throw invalidField(reading.field, reading.text, reading.reason);
  const { metadata } = reading;
  const before = await services.database.read(tenant.id, (queries) => findServiceProviderByEntityId(queries, tenant.id, metadata.entityId));
  let plan = planImport(metadata, before);
  if (before === undefined)
    return { ...(await create(call, (id, nowMs) => parseNewProvider(plan.fields, id, nowMs))), import: plan.report };
  const changed = await change(call, before.id, (stored, nowMs) => {
    plan = planImport(metadata, stored);
    return parseProviderChange(plan.fields, stored, nowMs);
  });
  return withStatus(200, { ...changed, import: plan.report });
}

function accepted(tenant: Tenant, reading: ProviderReading, before?: ServiceProvider): ServiceProvider {
  if (!reading.ok) throw invalidField(reading.field, reading.text);
  const { customAttributes } = tenant;
  const named = Object.keys(reading.provider.attributeMap).filter((path) => before?.attributeMap[path] === undefined);
  const unknown = unknownCustomPath(customAttributes, named);
  if (unknown !== undefined) throw invalidField('attribute_map', unknown);
  if (reading.provider.mappings !== before?.mappings) requireAttributes(tenant, 'saml', 'mappings', reading.provider.mappings);
  const nobody = Object.values(reading.provider.nameIdSources).find(
    (path) => isCustomPath(path) && nameIdAttribute(customAttributes, path) === undefined,
  );
  if (nobody !== undefined)
    throw invalidField(
      'name_id_sources',
      `"${nobody}" names nobody: it is no attribute of one value that administrators or provisioning write.`,
    );
  return reading.provider;
}

const entityIdTaken = (): Error => conflict('entity_id', 'This entityID is registered already.');
