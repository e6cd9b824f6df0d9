// `/service-providers/{id}/metadata-refresh`: how the metadata read from the provider's own address stands, reading it now, and the
// approval of addresses at hosts not seen before.
import Type from 'typebox';
import { approveAcs, hostsOf, refreshMetadata, waitingAcs } from '../../administration/saml/sp-refresh.ts';
import { samlAcsPerProviderMax } from '../../contract/limits.ts';
import type { ServiceProviderId, TenantId } from '../../domain/ids.ts';
import { findRefresh } from '../../storage/registry/metadata-refreshes.ts';
import { findServiceProvider } from '../../storage/registry/service-providers.ts';
import {
  type Call,
  conflict,
  type Endpoint,
  endpoint,
  invalidField,
  isoTime,
  type Json,
  type ManagementDeps,
  notFound,
} from '../endpoint.ts';
import { closed, dateTime, nullable } from '../schemas.ts';
import { countReading } from './provider-import.ts';

const path = '/service-providers/:id/metadata-refresh';
const read = 'service-providers:read';
const write = 'service-providers:write';

const remarks = Type.Object({
  left_out: Type.Array(Type.Object({ item: Type.String(), reason: Type.String() })),
  warnings: Type.Array(Type.String()),
});
const answer = Type.Object({
  metadata_url: nullable(Type.String()),
  next_at: nullable(dateTime),
  tried_at: nullable(dateTime),
  refreshed_at: nullable(dateTime),
  failure: nullable(Type.String({ description: 'why the last reading was not taken; the copy before it stays' })),
  remarks: nullable(remarks),
  waiting: Type.Array(Type.Object({ url: Type.String(), index: Type.Integer(), default: Type.Boolean() }), {
    description: 'consumer services at hosts the registration has none of; they are used once their host is approved',
  }),
  waiting_hosts: Type.Array(Type.String()),
});
const approval = closed({ hosts: Type.Array(Type.String(), { minItems: 1, maxItems: samlAcsPerProviderMax }) });

export const providerMetadataEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    capability: read,
    summary: "How a service provider's metadata address stands",
    answer,
    status: 200,
    handle: ({ services, tenant, params }) => stateOf(services, tenant.id, params['id']!),
  }),
  endpoint({
    method: 'POST',
    path,
    capability: write,
    summary: "Read a service provider's metadata address now",
    answer,
    status: 200,
    handle: refresh,
  }),
  endpoint({
    method: 'POST',
    path: `${path}/approve`,
    capability: write,
    summary: 'Approve consumer services at hosts not seen before',
    body: approval,
    answer,
    status: 200,
    handle: approve,
  }),
];

async function refresh(call: Call<undefined, undefined>): Promise<Json> {
  const { services, tenant, params, actor, requestId } = call;
  const id = params['id']!;
  const { metadata_url: url } = await stateOf(services, tenant.id, id);
  if (url === null) throw conflict('metadata_url', 'It has no metadata_url to read from. Set one first.');
  await countReading(call);
  await refreshMetadata(services, tenant.id, id as ServiceProviderId, { when: 'now', by: { actor, requestId } }); // it was found
  return stateOf(services, tenant.id, id);
}

async function approve({ services, tenant, params, body, actor, requestId }: Call<undefined, Type.Static<typeof approval>>): Promise<Json> {
  const id = params['id']!;
  const outcome = await approveAcs(services, tenant.id, id, body.hosts, { actor, requestId });
  if (outcome.ok) return stateOf(services, tenant.id, id);
  if (outcome.reason === 'unknown') throw notFound('unknown_service_provider');
  const { waiting } = outcome;
  throw invalidField(
    'hosts',
    waiting.length === 0 ? 'No host waits for approval.' : `These hosts wait for approval: ${waiting.join(', ')}.`,
  );
}

async function stateOf({ database }: Pick<ManagementDeps, 'database'>, tenant: TenantId, id: string): Promise<Json> {
  const [provider, state] = await database.read(tenant, async (queries) => [
    await findServiceProvider(queries, tenant, id),
    await findRefresh(queries, tenant, id),
  ]);
  if (provider === undefined) throw notFound('unknown_service_provider');
  const time = (epochMs: number | null | undefined): string | null => (epochMs == null ? null : isoTime(epochMs));
  const waiting = state === undefined ? [] : waitingAcs(provider, state);
  return {
    metadata_url: provider.metadataUrl ?? null,
    next_at: time(state?.due_at),
    tried_at: time(state?.tried_at),
    refreshed_at: time(state?.refreshed_at),
    failure: state?.failure ?? null,
    remarks: state?.report == null ? null : JSON.parse(state.report),
    waiting,
    waiting_hosts: hostsOf(waiting),
  };
}
