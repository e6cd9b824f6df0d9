// What `/service-providers` does beside the endpoints of its kind: SAML service providers are made from their metadata (design 02, 06), and
// people assigned to them. A change is configuration: it acts at once here and within a second on other nodes.
import Type from 'typebox';
import { changeThing, createThing } from '../../administration/kinds.ts';
import { registered } from '../../administration/registered.ts';
import { planImport } from '../../administration/saml/sp-import.ts';
import { parseSpMetadata } from '../../administration/saml/sp-metadata.ts';
import { thingToJson } from '../../domain/kind.ts';
import { findServiceProvider, findServiceProviderByEntityId } from '../../storage/registry/service-providers.ts';
import { type Call, type Endpoint, endpoint, invalidField, withStatus } from '../endpoint.ts';
import { actingOf, answerOf, shown } from '../kind-endpoints.ts';
import { assignmentEndpoints } from '../people/assignments.ts';
import { closed } from '../schemas.ts';

const of = registered.service_provider;
const { kind } = of;
export const besideServiceProvider = { signsIn: 'service_provider' } as const;

const importQuery = closed({ entity_id: Type.Optional(Type.String({ description: 'which one of an EntitiesDescriptor' })) });
export const importAnswer = Type.Object({
  ...answerOf(of, besideServiceProvider).properties,
  import: Type.Object({
    applied: Type.Array(Type.String(), { description: 'fields that were set' }),
    left_out: Type.Array(Type.Object({ item: Type.String(), reason: Type.String() })),
    warnings: Type.Array(Type.String()),
  }),
});

export const serviceProviderEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/service-providers/import',
    capability: kind.power.write,
    summary: 'Register or update a service provider from its SAML metadata',
    takesBytes: true,
    query: importQuery,
    answer: importAnswer,
    status: 201,
    isLong: true,
    handle: (call) => importMetadata(call),
  }),
  ...assignmentEndpoints({
    kind: 'service_provider',
    path: '/service-providers',
    ...kind.power,
    exists: async (queries, tenant, id) => (await findServiceProvider(queries, tenant, id)) !== undefined,
  }),
];

async function importMetadata(call: Call<Type.Static<typeof importQuery>, unknown>): Promise<unknown> {
  const { services, tenant, body, query, pace } = call;
  if (!Buffer.isBuffer(body))
    throw invalidField('metadata', 'Expected SAML metadata as application/samlmetadata+xml, application/xml or text/xml.');
  const reading = await parseSpMetadata(body, { nowMs: services.clock.nowMs(), entityId: query.entity_id, pace });
  if (!reading.ok) throw invalidField(reading.field, reading.text, reading.reason);
  const { metadata } = reading;
  const known = await services.database.read(tenant.id, (queries) => findServiceProviderByEntityId(queries, tenant.id, metadata.entityId));
  let plan = planImport(metadata, known);
  const done =
    known === undefined
      ? await createThing(of, services, actingOf(call), plan.fields)
      : await changeThing(of, services, actingOf(call), known.id, (before) => {
          plan = planImport(metadata, before);
          return plan.fields;
        });
  const json = { ...shown(kind, done, (provider) => thingToJson(kind, provider)), import: plan.report };
  return known === undefined ? json : withStatus(200, json);
}
