// `/identity-providers`: who else may sign people in (design 14, 2). The fields and their rules are in domain/sign-in/identity-provider.ts.
import Type from 'typebox';
import { changeIdentityProvider, createIdentityProvider, removeIdentityProvider } from '../../administration/identity-providers.ts';
import { checkDomains, proofsOf } from '../../administration/provider-domains.ts';
import { changeOf, creationOf, propertiesOf } from '../../administration/schema-pieces.ts';
import { providersPerTenantMax } from '../../contract/limits.ts';
import { type FieldFault, takenAt, toJson } from '../../domain/field.ts';
import { type IdentityProvider, type IdentityProviderChange, identityProviderFields } from '../../domain/sign-in/identity-provider.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { spEntityId } from '../../federation/saml/sp-metadata.ts';
import type { Parts } from '../../http/services.ts';
import { listMatching } from '../../storage/engine/matching-rows.ts';
import { findIdentityProvider, listIdentityProviders } from '../../storage/registry/identity-providers.ts';
import { listProvenDomains, type ProvenDomain } from '../../storage/registry/provider-domains.ts';
import { conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound } from '../endpoint.ts';
import { requireAttributes } from '../extending/mappings.ts';
import { listOf, pageOf } from '../paging.ts';
import { dateTime, listAnswer, nullable, searchQuery } from '../schemas.ts';

const { client_secret: _secret, ...shown } = propertiesOf(identityProviderFields);
const providerAnswer = Type.Object({
  id: Type.String(),
  ...shown,
  callback_uri: Type.String({ description: 'what to register at the provider' }),
  backchannel_logout_uri: Type.String({ description: 'where it may tell that somebody signed out there' }),
  sp_metadata_uri: nullable(
    Type.String({ description: 'our SAML metadata, to upload at the provider; its address is our entityID there' }),
  ),
  domain_proofs: Type.Array(
    Type.Object({
      domain: Type.String(),
      name: Type.String({ description: 'where the TXT record stands' }),
      value: Type.String({ description: 'its text' }),
      proven_at: nullable(dateTime),
    }),
  ),
  created_at: dateTime,
  updated_at: dateTime,
});

const unknownProvider = (): Error => notFound('unknown_identity_provider');
const invalid = ({ field, text }: FieldFault): Error => invalidField(field, `This field ${text}.`);

export const identityProviderEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/identity-providers',
    capability: 'settings:write',
    summary: 'Register another provider people may sign in with',
    body: creationOf(takenAt(identityProviderFields, 'create')),
    answer: providerAnswer,
    status: 201,
    handle: async ({ services, tenant, body, actor, requestId }) => {
      const given = body as IdentityProviderChange; // checked by the schema of the same fields
      requireAttributes(tenant, 'inbound', 'mappings', given.mappings ?? []);
      const created = await createIdentityProvider(services, tenant.id, given, { actor, requestId });
      if (created.ok) return providerToJson(tenant, created.provider, []);
      if (created.reason === 'invalid') throw invalid(created.fault);
      if (created.reason === 'too_many') throw invalidField('alias', `A tenant has at most ${providersPerTenantMax} providers.`);
      throw conflict('alias', 'The alias is in use.');
    },
  }),
  endpoint({
    method: 'GET',
    path: '/identity-providers',
    capability: 'settings:read',
    summary: 'List other providers, oldest first; `search` is a part of a name or alias',
    query: searchQuery,
    answer: listAnswer(providerAnswer),
    status: 200,
    handle: async ({ services, tenant, query }) => {
      const page = pageOf(query);
      const [rows, proven] = await services.database.read(
        tenant.id,
        async (queries) =>
          [
            await listMatching(
              { ...page, limit: page.limit + 1, search: query.search },
              (batch) => listIdentityProviders(queries, tenant.id, batch),
              (row) => row.id,
              (row) => [row.name, row.alias],
            ),
            await listProvenDomains(queries, tenant.id),
          ] as const,
      );
      return listOf(
        page,
        rows,
        (row) => row.id,
        (row) => providerToJson(tenant, row, proven),
      );
    },
  }),
  endpoint({
    method: 'GET',
    path: '/identity-providers/:id',
    capability: 'settings:read',
    summary: 'Read a provider',
    answer: providerAnswer,
    status: 200,
    handle: async ({ services, tenant, params }) => {
      return loadProvider(services, tenant, params['id']!);
    },
  }),
  endpoint({
    method: 'PATCH',
    path: '/identity-providers/:id',
    capability: 'settings:write',
    summary: 'Change a provider; null clears a field',
    body: changeOf(propertiesOf(takenAt(identityProviderFields, 'change'))),
    answer: providerAnswer,
    status: 200,
    handle: async ({ services, tenant, params, body, actor, requestId }) => {
      const given = body as IdentityProviderChange; // checked by the schema of the same fields
      requireAttributes(tenant, 'inbound', 'mappings', given.mappings ?? []);
      const changed = await changeIdentityProvider(services, tenant.id, params['id']!, given, { actor, requestId });
      if (!changed.ok) throw changed.reason === 'invalid' ? invalid(changed.fault) : unknownProvider();
      return loadProvider(services, tenant, changed.provider.id);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/identity-providers/:id/check-domains',
    capability: 'settings:write',
    summary: 'Look the TXT records of its domains up: one that is there proves its domain, one that is gone no longer does',
    answer: providerAnswer,
    status: 200,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      const provider = await services.database.read(tenant.id, (queries) =>
        findIdentityProvider(queries, tenant.id, { id: params['id']! }),
      );
      if (provider === undefined || !(await checkDomains(services, tenant.id, provider, { actor, requestId }))) throw unknownProvider();
      return loadProvider(services, tenant, provider.id);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/identity-providers/:id',
    capability: 'settings:write',
    summary: 'Delete a provider with its links; sessions it opened end',
    answer: undefined,
    status: 204,
    handle: async ({ services, tenant, params, actor, requestId }) => {
      const by = { actor, requestId };
      const isDone = await services.cache.write(tenant.id, (queries) =>
        removeIdentityProvider(queries, services, tenant.id, params['id']!, by),
      );
      if (!isDone) throw unknownProvider();
    },
  }),
];

async function loadProvider({ database }: Parts<'database'>, tenant: Tenant, id: string): Promise<Json> {
  return database.read(tenant.id, async (queries) => {
    const provider = await findIdentityProvider(queries, tenant.id, { id });
    if (provider === undefined) throw unknownProvider();
    return providerToJson(tenant, provider, await listProvenDomains(queries, tenant.id));
  });
}

/** The provider as the API shows it, without its secret. */
function providerToJson(tenant: Tenant, provider: IdentityProvider, proven: readonly ProvenDomain[]): Json {
  const { client_secret: _sealed, ...fields } = toJson(identityProviderFields, provider);
  return {
    id: provider.id,
    ...fields,
    callback_uri: `${tenant.baseUrl}/login/callback/${provider.alias}`,
    backchannel_logout_uri: `${tenant.baseUrl}/login/callback/${provider.alias}/logout`,
    sp_metadata_uri: provider.kind === 'saml' ? spEntityId(`${tenant.baseUrl}/login/callback/${provider.alias}`) : null,
    domain_proofs: proofsOf(tenant.id, provider, proven).map(({ provenAtMs, ...record }) => ({
      ...record,
      proven_at: provenAtMs === undefined ? null : isoTime(provenAtMs),
    })),
    created_at: isoTime(provider.createdAtMs),
    updated_at: isoTime(provider.updatedAtMs),
  };
}
