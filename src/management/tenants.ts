// The system API's tenants: the operator makes, lists, changes and deletes them.
import Type from 'typebox';
import { createSetupToken, setupLink } from '../administration/admin-setup.ts';
import { changeTenant, parseDomain, removeTenant, slugPattern } from '../administration/tenants.ts';
import { urlCharsMax } from '../contract/limits.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Services } from '../http/services.ts';
import { tenantFromRow } from '../storage/tenant-directory.ts';
import { findTenantById, listTenants, type TenantTable } from '../storage/tenants.ts';
import { createTenant } from '../tokens/tenant-creation.ts';
import { type Call, conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound } from './endpoint.ts';
import { listOf, pageOf } from './paging.ts';
import { closed, dateTime, listAnswer, name, nullable, searchQuery } from './schemas.ts';

const domain = Type.String({ minLength: 1, maxLength: urlCharsMax });
const tenantAnswer = Type.Object({
  id: Type.String(),
  slug: Type.String(),
  name,
  domain: nullable(domain),
  enabled: Type.Boolean(),
  base_url: Type.String(),
  management_api: Type.String(),
  created_at: dateTime,
  updated_at: dateTime,
});
const adminClient = Type.Object({ client_id: Type.String(), client_secret: Type.String() });

export const tenantEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/tenants',
    summary: 'Create a tenant; its admin client’s secret is shown once',
    body: closed({ slug: Type.String({ pattern: slugPattern }), name, domain: Type.Optional(nullable(domain)) }),
    answer: Type.Object({ ...tenantAnswer.properties, admin_client: adminClient }),
    status: 201,
    handle: async ({ services, body, actor, requestId }) => {
      const { database, encryption, clock, publicUrl } = services;
      const origin = domainOf(body.domain);
      const input = { slug: body.slug, name: body.name, domain: origin ?? undefined, actor, requestId };
      const created = await createTenant(database, encryption, clock, publicUrl, input);
      if (!created.ok) throw conflict('slug', 'The slug or domain is in use.');
      services.cache.forget(created.tenant.id);
      const { clientId, clientSecret } = created.adminClient;
      const stored = await loadTenant(services, created.tenant.id);
      return { ...tenantToJson(services, stored), admin_client: { client_id: clientId, client_secret: clientSecret } };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/tenants',
    summary: 'List tenants by slug; `search` is the start of a slug',
    query: searchQuery,
    answer: listAnswer(tenantAnswer),
    status: 200,
    handle: async ({ services, query }) => {
      const page = pageOf(query);
      const rows = await services.database.systemRead((queries) =>
        listTenants(queries, { afterSlug: page.after, limit: page.limit + 1, slugStart: query.search?.toLowerCase() }),
      );
      return listOf(
        page,
        rows,
        (row) => row.slug,
        (row) => tenantToJson(services, row),
      );
    },
  }),
  endpoint({
    method: 'GET',
    path: '/tenants/:id',
    summary: 'Read a tenant',
    answer: tenantAnswer,
    status: 200,
    handle: async ({ services, params }) => tenantToJson(services, await loadTenant(services, params['id']!)),
  }),
  endpoint({
    method: 'PATCH',
    path: '/tenants/:id',
    summary: 'Change name or domain, disable or enable',
    body: closed({ name: Type.Optional(name), domain: Type.Optional(nullable(domain)), enabled: Type.Optional(Type.Boolean()) }),
    answer: tenantAnswer,
    status: 200,
    handle: async ({ services, params, body, actor, requestId }) => {
      const { domain: wanted, ...change } = body;
      const origin = wanted === undefined ? {} : { domain: domainOf(wanted) ?? null };
      const { tenant_id: id } = await loadTenant(services, params['id']!);
      const changed = await changeTenant(services, id, { ...change, ...origin }, { actor, requestId });
      if (!changed.ok) throw changed.reason === 'taken' ? conflict('domain', 'The domain is in use.') : notFound('unknown_tenant');
      return tenantToJson(services, changed.row);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/tenants/:id/invitations',
    summary: 'Make a link that sets up an administrator of the tenant; it works once and is shown once',
    body: Type.Union([closed({}), Type.Undefined()]),
    answer: Type.Object({ setup_url: Type.String() }),
    status: 201,
    handle: async ({ services, params, actor, requestId }) => {
      const row = await loadTenant(services, params['id']!);
      const token = await createSetupToken(services, row.tenant_id, null, { actor, requestId });
      return { setup_url: setupLink(tenantFromRow(row, services.publicUrl).baseUrl, token) };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/tenants/:id',
    summary: 'Delete a tenant with all its rows',
    answer: undefined,
    status: 204,
    handle: remove,
  }),
];

async function remove({ services, params, actor, requestId }: Call<undefined, undefined>): Promise<void> {
  const removed = await removeTenant(services, params['id'] as TenantId, { actor, requestId }); // a look-up key, not yet known to be an id
  if (removed.ok) return;
  throw removed.reason === 'root' ? conflict('id', 'The root tenant cannot be deleted.') : notFound('unknown_tenant');
}

function domainOf(text: string | null | undefined): string | undefined {
  if (text === null || text === undefined) return undefined;
  const origin = parseDomain(text);
  if (origin === undefined) throw invalidField('domain', 'This field must be an https origin such as https://login.acme.example.');
  return origin;
}

async function loadTenant(services: Services, id: string): Promise<TenantTable> {
  const row = await services.database.systemRead((queries) => findTenantById(queries, id as TenantId)); // a look-up key, not yet known to be an id
  if (row === undefined) throw notFound('unknown_tenant');
  return row;
}

function tenantToJson(services: Services, row: TenantTable): Json {
  const tenant = tenantFromRow(row, services.publicUrl);
  return {
    id: tenant.id,
    slug: tenant.slug,
    name: tenant.name,
    domain: tenant.domain ?? null,
    enabled: tenant.enabled,
    base_url: tenant.baseUrl,
    management_api: tenant.managementApi,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}
