// SAML service providers: rows to and from the domain's ServiceProvider. Lists are JSON text; they are read whole and
// never queried. An entityID names one provider of a tenant; it is looked up by its hash, because it may be longer than
// an index takes.
import { hash } from 'node:crypto';
import type { ServiceProviderId, TenantId } from '../domain/ids.ts';
import type { ServiceProvider } from '../domain/service-provider.ts';
import type { Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';

export interface ServiceProviderTable {
  tenant_id: TenantId;
  id: ServiceProviderId;
  entity_id: string;
  entity_id_hash: string;
  name: string;
  acs: string;
  signing_keys: string;
  encryption_key: string | null;
  require_signed_requests: number;
  signing: string;
  encrypt_assertions: number;
  encryption: string;
  name_id_formats: string;
  idp_initiated_allowed: number;
  relay_states: string;
  attribute_map: string;
  access_policy: string;
  enabled: number;
  created_at: number;
  updated_at: number;
}

export async function findServiceProvider(queries: Queries, tenant: TenantId, id: string): Promise<ServiceProvider | undefined> {
  const row = await queries
    .selectFrom('service_providers')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as ServiceProviderId) // a look-up key, not yet known to be an id
    .executeTakeFirst();
  return row === undefined ? undefined : providerFromRow(row);
}

/** The provider of an entityID, compared byte for byte. */
export async function findServiceProviderByEntityId(
  queries: Queries,
  tenant: TenantId,
  entityId: string,
): Promise<ServiceProvider | undefined> {
  const row = await queries
    .selectFrom('service_providers')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('entity_id_hash', '=', hashEntityId(entityId))
    .executeTakeFirst();
  return row === undefined ? undefined : providerFromRow(row);
}

/** A page of providers in id order, after the given id. */
export async function listServiceProviders(
  queries: Queries,
  tenant: TenantId,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly ServiceProvider[]> {
  const rows = await queries
    .selectFrom('service_providers')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '>', page.after as ServiceProviderId)
    .orderBy('id')
    .limit(page.limit)
    .execute();
  return rows.map(providerFromRow);
}

/** Inserts a provider; false when its entityID is taken. */
export async function insertServiceProvider(queries: Queries, tenant: TenantId, provider: ServiceProvider): Promise<boolean> {
  const rows = await queries
    .insertInto('service_providers')
    .values({ ...providerToRow(tenant, provider), created_at: databaseNowMs, updated_at: databaseNowMs })
    .onConflict((on) => on.columns(['tenant_id', 'entity_id_hash']).doNothing())
    .returning('id')
    .execute();
  return rows.length === 1;
}

export type ServiceProviderUpdate = 'updated' | 'unknown' | 'entity_id_taken';

/** Replaces every registered value of a provider. */
export async function updateServiceProvider(queries: Queries, tenant: TenantId, provider: ServiceProvider): Promise<ServiceProviderUpdate> {
  const { created_at: _created, ...values } = providerToRow(tenant, provider);
  // The condition is in the statement, so that a name taken meanwhile is an outcome and not a broken transaction.
  const rows = await queries
    .updateTable('service_providers')
    .set({ ...values, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', provider.id)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('service_providers as other')
            .select('other.id')
            .where('other.tenant_id', '=', tenant)
            .where('other.entity_id_hash', '=', hashEntityId(provider.entityId))
            .where('other.id', '<>', provider.id),
        ),
      ),
    )
    .returning('id')
    .execute();
  if (rows.length === 1) return 'updated';
  return (await findServiceProvider(queries, tenant, provider.id)) === undefined ? 'unknown' : 'entity_id_taken';
}

/** Deletes a provider and who was assigned to it; sessions under way stay, and are refused. */
export async function deleteServiceProvider(queries: Queries, tenant: TenantId, id: ServiceProviderId): Promise<boolean> {
  await queries
    .deleteFrom('access_assignments')
    .where('tenant_id', '=', tenant)
    .where('target_kind', '=', 'service_provider')
    .where('target_id', '=', id)
    .execute();
  const rows = await queries.deleteFrom('service_providers').where('tenant_id', '=', tenant).where('id', '=', id).returning('id').execute();
  return rows.length === 1;
}

function hashEntityId(entityId: string): string {
  return hash('sha256', entityId, 'base64url');
}

function providerFromRow(row: ServiceProviderTable): ServiceProvider {
  // The unions below are checked by the table's own constraints and by validation before every write.
  return {
    id: row.id,
    entityId: row.entity_id,
    name: row.name,
    acs: JSON.parse(row.acs),
    signingKeys: JSON.parse(row.signing_keys),
    encryptionKey: row.encryption_key ?? undefined,
    requireSignedRequests: row.require_signed_requests === 1,
    signing: row.signing as ServiceProvider['signing'],
    encryptAssertions: row.encrypt_assertions === 1,
    encryption: JSON.parse(row.encryption),
    nameIdFormats: JSON.parse(row.name_id_formats),
    idpInitiatedAllowed: row.idp_initiated_allowed === 1,
    relayStates: JSON.parse(row.relay_states),
    attributeMap: JSON.parse(row.attribute_map),
    accessPolicy: row.access_policy as ServiceProvider['accessPolicy'],
    enabled: row.enabled === 1,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  };
}

function providerToRow(tenant: TenantId, provider: ServiceProvider): ServiceProviderTable {
  return {
    tenant_id: tenant,
    id: provider.id,
    entity_id: provider.entityId,
    entity_id_hash: hashEntityId(provider.entityId),
    name: provider.name,
    acs: JSON.stringify(provider.acs),
    signing_keys: JSON.stringify(provider.signingKeys),
    encryption_key: provider.encryptionKey ?? null,
    require_signed_requests: Number(provider.requireSignedRequests),
    signing: provider.signing,
    encrypt_assertions: Number(provider.encryptAssertions),
    encryption: JSON.stringify(provider.encryption),
    name_id_formats: JSON.stringify(provider.nameIdFormats),
    idp_initiated_allowed: Number(provider.idpInitiatedAllowed),
    relay_states: JSON.stringify(provider.relayStates),
    attribute_map: JSON.stringify(provider.attributeMap),
    access_policy: provider.accessPolicy,
    enabled: Number(provider.enabled),
    created_at: provider.createdAtMs,
    updated_at: provider.updatedAtMs,
  };
}
