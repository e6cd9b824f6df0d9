// `/service-providers`: SAML service providers, and their making from metadata (design 02, 06). The rules of the fields are
// in service-provider-fields.ts. A change is configuration: it acts at once here and within a second on other nodes.
import Type from 'typebox';
import { type ProviderReading, parseNewProvider, parseProviderChange, providerToJson } from '../administration/service-provider-fields.ts';
import type { ServiceProviderId } from '../domain/ids.ts';
import { attributeFields, type ServiceProvider } from '../domain/service-provider.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/database.ts';
import { listMatching } from '../storage/matching-rows.ts';
import {
  deleteServiceProvider,
  findServiceProvider,
  findServiceProviderByEntityId,
  insertServiceProvider,
  listServiceProviders,
  updateServiceProvider,
} from '../storage/service-providers.ts';
import { assignmentEndpoints } from './assignments.ts';
import { audit, type Call, conflict, type Endpoint, endpoint, invalidField, type Json, notFound, withStatus } from './endpoint.ts';
import { listOf, pageOf } from './paging.ts';
import { closed, dateTime, listAnswer, nullable, searchQuery } from './schemas.ts';
import { parseSpMetadata, type SpMetadata } from './sp-metadata.ts';

const read = 'service-providers:read';
const write = 'service-providers:write';

// Shapes alone: what each field may hold is checked, and told, by service-provider-fields.ts.
const fields = {
  entity_id: Type.String(),
  name: Type.String(),
  acs: Type.Array(Type.Object({ url: Type.String(), index: Type.Optional(Type.Integer()), default: Type.Optional(Type.Boolean()) })),
  signing_keys: Type.Array(Type.String()),
  encryption_key: nullable(Type.String()),
  require_signed_requests: Type.Boolean(),
  signing: Type.String(),
  encrypt_assertions: Type.Boolean(),
  encryption: Type.Object({}, { description: 'algorithm: aes256-gcm or aes256-cbc; key_transport: rsa-oaep-mgf1p or rsa-oaep-sha256' }),
  name_id_formats: Type.Array(Type.String()),
  idp_initiated_allowed: Type.Boolean(),
  relay_states: Type.Array(Type.String()),
  attribute_map: Type.Object({}, { description: `attribute Name by user field: ${attributeFields.join(', ')}` }),
  access_policy: Type.String(),
  enabled: Type.Boolean(),
};
const { entity_id, acs, ...others } = fields;
const optional = Type.Partial(Type.Object(others)).properties;
const newProvider = closed({ entity_id, acs, ...optional });
const providerChange = closed({ entity_id: Type.Optional(entity_id), acs: Type.Optional(acs), ...optional });
const providerAnswer = Type.Object({ id: Type.String(), ...fields, created_at: dateTime, updated_at: dateTime });

export const serviceProviderEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/service-providers',
    capability: write,
    summary: 'Register a service provider',
    body: newProvider,
    answer: providerAnswer,
    status: 201,
    handle: (call) => create(call, (id, nowMs) => parseNewProvider(call.body, id, nowMs)),
  }),
  endpoint({
    method: 'GET',
    path: '/service-providers',
    capability: read,
    summary: 'List service providers, oldest first; `search` is a part of a name or entityID',
    query: searchQuery,
    answer: listAnswer(providerAnswer),
    status: 200,
    handle: async ({ services, tenant, query }) => {
      const page = pageOf(query);
      const rows = await services.database.read(tenant.id, (queries) =>
        listMatching(
          { ...page, limit: page.limit + 1, search: query.search },
          (batch) => listServiceProviders(queries, tenant.id, batch),
          (provider) => provider.id,
          ({ name, entityId }) => [name, entityId],
        ),
      );
      return listOf(page, rows, (row) => row.id, providerToJson);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/service-providers/import',
    capability: write,
    summary: 'Register or update a service provider from its SAML metadata',
    takesBytes: true,
    answer: providerAnswer,
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
    handle: async ({ services, tenant, params }) =>
      providerToJson(await services.database.read(tenant.id, (queries) => loadProvider(queries, tenant.id, params['id']!))),
  }),
  endpoint({
    method: 'PATCH',
    path: '/service-providers/:id',
    capability: write,
    summary: 'Change a service provider',
    body: providerChange,
    answer: providerAnswer,
    status: 200,
    handle: (call) => change(call, call.params['id']!, (before, nowMs) => parseProviderChange(call.body, before, nowMs)),
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

async function loadProvider(queries: Queries, tenant: AnyCall['tenant']['id'], id: string): Promise<ServiceProvider> {
  const provider = await findServiceProvider(queries, tenant, id);
  if (provider === undefined) throw notFound('unknown_service_provider');
  return provider;
}

async function create(call: AnyCall, parse: (id: ServiceProviderId, nowMs: number) => ProviderReading): Promise<Json> {
  const { services, tenant } = call;
  const nowMs = services.clock.nowMs();
  const provider = accepted(parse(uuidV7(nowMs) as ServiceProviderId, nowMs)); // made here
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
    const before = await loadProvider(queries, tenant.id, id);
    const provider = accepted(parse(before, services.clock.nowMs()));
    const outcome = await updateServiceProvider(queries, tenant.id, provider);
    if (outcome === 'entity_id_taken') throw entityIdTaken();
    if (outcome === 'unknown') throw notFound('unknown_service_provider');
    await audit(call, queries, { type: 'service_provider.changed', target: `service_provider:${id}`, data: changesOf(before, provider) });
    return providerToJson(await loadProvider(queries, tenant.id, id));
  });
}

async function importMetadata(call: AnyCall): Promise<unknown> {
  const { services, tenant, body } = call;
  if (!Buffer.isBuffer(body)) throw invalidField('metadata', 'Expected SAML metadata as application/samlmetadata+xml or application/xml.');
  const reading = parseSpMetadata(body, services.clock.nowMs());
  if (!reading.ok) throw invalidField(reading.field, metadataTexts[reading.field], reading.reason);
  const { metadata } = reading;
  const before = await services.database.read(tenant.id, (queries) => findServiceProviderByEntityId(queries, tenant.id, metadata.entityId));
  if (before === undefined) return create(call, (id, nowMs) => parseNewProvider(fieldsOf(metadata), id, nowMs));
  return withStatus(200, await change(call, before.id, (stored, nowMs) => parseProviderChange(fieldsOf(metadata), stored, nowMs)));
}

// What metadata does not say stays as it is; it never takes a key away or lowers require_signed_requests.
function fieldsOf(metadata: SpMetadata): Json {
  return {
    entity_id: metadata.entityId,
    acs: metadata.acs,
    ...(metadata.signingKeys.length > 0 ? { signing_keys: metadata.signingKeys } : {}),
    ...(metadata.encryptionKey === undefined ? {} : { encryption_key: metadata.encryptionKey }),
    ...(metadata.nameIdFormats.length > 0 ? { name_id_formats: metadata.nameIdFormats } : {}),
    ...(metadata.authnRequestsSigned ? { require_signed_requests: true } : {}),
  };
}

const metadataTexts = {
  metadata: 'Expected the metadata of one SAML 2.0 service provider: one EntityDescriptor that has not expired.',
  entity_id: 'The EntityDescriptor has no entityID.',
  acs: 'The metadata names no AssertionConsumerService with the HTTP-POST binding.',
  signing_keys: 'A KeyDescriptor holds no X.509 certificate.',
  encryption_key: 'A KeyDescriptor holds no X.509 certificate.',
} as const;

function accepted(reading: ProviderReading): ServiceProvider {
  if (!reading.ok) throw invalidField(reading.field, reading.text);
  return reading.provider;
}

const entityIdTaken = (): Error => conflict('entity_id', 'This entityID is registered already.');

function changesOf(before: ServiceProvider, after: ServiceProvider): Json {
  const names = Object.keys(after) as (keyof ServiceProvider)[]; // both have exactly these members
  const changed = names.filter((name) => name !== 'updatedAtMs' && JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return { changed };
}
