// The system API's tenants: the operator makes, lists, changes and deletes them.
import Type from 'typebox';
import { createSetupToken, setupLink } from '../../administration/admin-setup.ts';
import { changeOf, creationOf, propertiesOf } from '../../administration/schema-pieces.ts';
import { changeTenant, removeTenant } from '../../administration/tenants.ts';
import { takenAt, toJson, valueFault } from '../../domain/field.ts';
import type { TenantId } from '../../domain/ids.ts';
import { capabilities } from '../../domain/people/capabilities.ts';
import { rootTenantSlug, type TenantChange, tenantFields } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import { tenantFromRow } from '../../storage/registry/tenant-directory.ts';
import { findTenantById, listTenants, type StoredTenant } from '../../storage/registry/tenants.ts';
import { moveOf } from '../../storage/tenant-moves.ts';
import { createTenant } from '../../tokens/tenant-creation.ts';
import {
  type Call,
  conflict,
  type Endpoint,
  endpoint,
  invalidField,
  isoTime,
  type Json,
  notFound,
  requireCapabilities,
} from '../endpoint.ts';
import { listOf, pageOf } from '../paging.ts';
import { closed, dateTime, listAnswer, nullable, oneOf, searchQuery } from '../schemas.ts';

const tenantAnswer = Type.Object({
  id: Type.String(),
  ...propertiesOf(tenantFields),
  slug: Type.String(),
  base_url: Type.String(),
  management_api: Type.String(),
  moving: nullable(oneOf(['to', 'from'])),
  created_at: dateTime,
  updated_at: dateTime,
});
const adminClient = Type.Object({ client_id: Type.String(), client_secret: Type.String() });

export const tenantEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/tenants',
    capability: 'tenants:write',
    summary: 'Create a tenant; its admin client’s secret is shown once',
    body: creationOf(takenAt(tenantFields, 'create')),
    answer: Type.Object({ ...tenantAnswer.properties, admin_client: adminClient }),
    status: 201,
    handle: async ({ services, body, actor, requestId }) => {
      const { slug, name, domain } = accepted(body) as { readonly slug: string; readonly name: string; readonly domain?: string | null }; // required by the schema
      const created = await createTenant(services, { slug, name, domain, actor, requestId });
      if (!created.ok) throw created.reason === 'own' ? refusedChange.own() : conflict('slug', 'The slug or domain is in use.');
      services.cache.forget(created.tenant.id);
      const { clientId, clientSecret } = created.adminClient;
      const stored = await loadTenant(services, created.tenant.id);
      return { ...tenantToJson(services, stored), admin_client: { client_id: clientId, client_secret: clientSecret } };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/tenants',
    capability: 'tenants:read',
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
    capability: 'tenants:read',
    summary: 'Read a tenant',
    answer: tenantAnswer,
    status: 200,
    handle: async ({ services, params }) => tenantToJson(services, await loadTenant(services, params['id']!)),
  }),
  endpoint({
    method: 'PATCH',
    path: '/tenants/:id',
    capability: 'tenants:write',
    summary: 'Change name or domain, disable or enable',
    body: changeOf(propertiesOf(takenAt(tenantFields, 'change'))),
    answer: tenantAnswer,
    status: 200,
    handle: async ({ services, params, body, actor, requestId }) => {
      const given = accepted(body);
      const { tenant_id: id } = await loadTenant(services, params['id']!);
      const changed = await changeTenant(services, id, given, { actor, requestId });
      if (!changed.ok) throw refusedChange[changed.reason]();
      return tenantToJson(services, changed.row);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/tenants/:id/invitations',
    capability: 'tenants:write',
    summary: 'Make a link that sets up an administrator of the tenant; it works once and is shown once',
    body: Type.Union([closed({}), Type.Undefined()]),
    answer: Type.Object({ setup_url: Type.String() }),
    status: 201,
    handle: async ({ services, params, scopes, actor, requestId }) => {
      const row = await loadTenant(services, params['id']!);
      if (row.slug === rootTenantSlug) requireCapabilities(capabilities, scopes); // the link makes an owner of the very tenant
      const token = await createSetupToken(services, row.tenant_id, { user: null }, { actor, requestId });
      return { setup_url: setupLink(tenantFromRow(row, services).baseUrl, token) };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/tenants/:id',
    capability: 'tenants:write',
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

const refusedChange = {
  unknown: () => notFound('unknown_tenant'),
  taken: () => conflict('domain', 'The domain is in use.'),
  own: () => conflict('domain', 'This is the public URL of the server.'),
  root_domain: () => conflict('domain', 'The root tenant changes its domain by /domain of its Management API, with a DNS record.'),
  root_disabled: () => conflict('enabled', 'The root tenant cannot be disabled.'),
} as const;

/** A body whose shape was checked, with values that may stand. */
function accepted(body: unknown): TenantChange {
  const given = body as TenantChange;
  const fault = valueFault(tenantFields, given);
  if (fault !== undefined) throw invalidField(fault.field, `This field ${fault.text}.`);
  return given;
}

async function loadTenant(services: Parts<'database'>, id: string): Promise<StoredTenant> {
  const row = await services.database.systemRead((queries) => findTenantById(queries, id as TenantId)); // a look-up key, not yet known to be an id
  if (row === undefined) throw notFound('unknown_tenant');
  return row;
}

function tenantToJson(services: Parts<'publicUrl' | 'canMail'>, row: StoredTenant): Json {
  const tenant = tenantFromRow(row, services);
  return {
    id: tenant.id,
    ...toJson(tenantFields, tenant),
    base_url: tenant.baseUrl,
    management_api: tenant.managementApi,
    moving: row.moving === null ? null : moveOf(row.moving).way,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}
