// SAML service providers: rows to and from the domain's ServiceProvider. An entityID names one provider of a tenant; it is looked up by its hash, because it may be longer than
// an index takes.

import { hash } from 'node:crypto';
import type { ServiceProviderId, TenantId } from '../../domain/ids.ts';
import { ownUse, type ServiceProvider, serviceProviderFields } from '../../domain/saml/service-provider.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import type { Page } from '../engine/matching-rows.ts';
import { fromRow, type RowOf, toRow } from '../engine/row-codec.ts';
import { forgetSignIns } from './last-sign-ins.ts';
import { planRefresh } from './metadata-refreshes.ts';

export interface ServiceProviderTable extends RowOf<typeof serviceProviderFields> {
  tenant_id: TenantId;
  id: ServiceProviderId;
  entity_id_hash: string;
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

/** A provider to be changed by what it is now: its row is locked until the transaction ends. */
export async function lockServiceProvider(
  queries: Queries,
  dialect: Dialect,
  tenant: TenantId,
  id: string,
): Promise<ServiceProvider | undefined> {
  const query = queries
    .selectFrom('service_providers')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as ServiceProviderId); // a look-up key, not yet known to be an id
  const row = await (dialect === 'postgres' ? query.forUpdate() : query).executeTakeFirst();
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
export async function listServiceProviders(queries: Queries, tenant: TenantId, page: Page): Promise<readonly ServiceProvider[]> {
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
  if (rows.length !== 1) return false;
  await planRefresh(queries, tenant, provider);
  return true;
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
  if (rows.length === 1) {
    await planRefresh(queries, tenant, provider);
    return 'updated';
  }
  return (await findServiceProvider(queries, tenant, provider.id)) === undefined ? 'unknown' : 'entity_id_taken';
}

/** Deletes a provider, its own keys and who was assigned to it; sessions under way stay, and are refused. */
export async function deleteServiceProvider(queries: Queries, tenant: TenantId, id: ServiceProviderId): Promise<boolean> {
  await queries
    .deleteFrom('access_assignments')
    .where('tenant_id', '=', tenant)
    .where('target_kind', '=', 'service_provider')
    .where('target_id', '=', id)
    .execute();
  await queries.deleteFrom('signing_keys').where('tenant_id', '=', tenant).where('use', '=', ownUse(id)).execute();
  await forgetSignIns(queries, tenant, 'service_provider', id);
  const rows = await queries.deleteFrom('service_providers').where('tenant_id', '=', tenant).where('id', '=', id).returning('id').execute();
  return rows.length === 1;
}

function hashEntityId(entityId: string): string {
  return hash('sha256', entityId, 'base64url');
}

function providerFromRow(row: ServiceProviderTable): ServiceProvider {
  return { id: row.id, ...fromRow(serviceProviderFields, row), createdAtMs: row.created_at, updatedAtMs: row.updated_at };
}

function providerToRow(tenant: TenantId, provider: ServiceProvider): ServiceProviderTable {
  return {
    tenant_id: tenant,
    id: provider.id,
    ...toRow(serviceProviderFields, provider),
    entity_id_hash: hashEntityId(provider.entityId),
    created_at: provider.createdAtMs,
    updated_at: provider.updatedAtMs,
  };
}
