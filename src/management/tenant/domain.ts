// `/domain`: the tenant's own domain, asked for, verified by DNS and put in force (design 13, 3). The records are in
// domain/tenant/tenant-domain.ts.
import Type from 'typebox';
import { closed, nullable } from '../../administration/schema-pieces.ts';
import { activateDomain, checkDomain, requestDomain, withdrawDomain } from '../../administration/tenant-domain.ts';
import { urlCharsMax } from '../../contract/limits.ts';
import { baseUrlOf, parseDomain } from '../../domain/tenant/tenant.ts';
import { domainRecords } from '../../domain/tenant/tenant-domain.ts';
import { findTenantById, type StoredTenant } from '../../storage/registry/tenants.ts';
import { type Call, conflict, type Endpoint, endpoint, invalidField, type Json, notFound } from '../endpoint.ts';

const record = Type.Object({ type: Type.String(), name: Type.String(), value: Type.String() });
const state = {
  domain: nullable(Type.String({ description: 'In force: base URL and issuer of the tenant' })),
  default_base_url: Type.String({ description: 'Where the tenant is without a domain' }),
  pending: nullable(
    Type.Object({ domain: Type.String(), verified_at: nullable(Type.String({ format: 'date-time' })), records: Type.Array(record) }),
  ),
};
const answer = Type.Object(state);
const write = 'domain:write';

export const domainEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/domain',
    capability: 'domain:read',
    summary: 'Read the tenant’s own domain, and the one it asks for with its DNS records',
    answer,
    status: 200,
    handle: async ({ services, tenant: { id } }) => {
      const row = await services.database.read(id, (queries) => findTenantById(queries, id));
      if (row === undefined) throw notFound('unknown_tenant');
      return toJson(row, services);
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/domain',
    capability: write,
    summary: 'Ask for a domain; the one in force stays until it is activated',
    body: closed({ domain: Type.String({ maxLength: urlCharsMax }) }),
    answer,
    status: 200,
    handle: request,
  }),
  endpoint({
    method: 'POST',
    path: '/domain/check',
    capability: write,
    summary: 'Look at the domain that is asked for: its TXT record, and whether this server answers there by https',
    answer: Type.Object({ ...state, txt: Type.String(), https: Type.String() }),
    status: 200,
    handle: async ({ services, tenant, actor, requestId }) => {
      const checked = await checkDomain(services, tenant.id, { actor, requestId });
      if (checked === undefined) throw nonePending();
      const { row, ...found } = checked;
      return { ...toJson(row, services), ...found };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/domain/activate',
    capability: write,
    summary: 'Put the domain that is asked for in force: base URL and issuer change, and passkeys of the old address stop working',
    answer,
    status: 200,
    handle: async ({ services, tenant, actor, requestId }) => {
      const done = await activateDomain(services, tenant.id, { actor, requestId });
      if (done.ok) return toJson(done.row, services);
      if (done.reason === 'none') throw nonePending();
      throw conflict('domain', done.reason === 'taken' ? 'The domain is in use.' : 'The TXT record of the domain is not there.');
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/domain',
    capability: write,
    summary: 'Withdraw the domain that is asked for; without one, give up the one in force',
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, actor, requestId }) => {
      if (!(await withdrawDomain(services, tenant.id, { actor, requestId }))) throw notFound('no_domain');
    },
  }),
];

const nonePending = () => conflict('domain', 'No domain is asked for.');

async function request(call: Call<undefined, { readonly domain: string }>): Promise<Json> {
  const { services, tenant, body, actor, requestId } = call;
  const domain = parseDomain(body.domain);
  if (domain === undefined) throw invalidField('domain', 'This field must be an https origin such as https://login.acme.example.');
  const asked = await requestDomain(services, tenant.id, domain, { actor, requestId });
  if (asked.ok) return toJson(asked.row, services);
  throw conflict('domain', 'This is the public URL of the server.');
}

function toJson(row: StoredTenant, { publicUrl }: { readonly publicUrl: string }): Json {
  const { tenant_id: id, slug, domain, pending_domain: pending, pending_verified_at: verifiedAt } = row;
  const asked = pending !== null && {
    domain: pending,
    verified_at: verifiedAt === null ? null : new Date(verifiedAt).toISOString(),
    records: domainRecords(id, pending, publicUrl),
  };
  return { domain: domain ?? null, default_base_url: baseUrlOf(publicUrl, slug, null), pending: asked || null };
}
