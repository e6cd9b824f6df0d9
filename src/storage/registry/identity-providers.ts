// Other providers people may sign in with: rows to and from the domain's IdentityProvider. The client secret is stored as it is
// given here: sealed by tokens/provider-secret.ts.

import type { IdentityProviderId, TenantId } from '../../domain/ids.ts';
import { type IdentityProvider, identityProviderFields } from '../../domain/sign-in/identity-provider.ts';
import type { ConfigCache } from '../engine/config-cache.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { fromRow, type RowOf, toRow } from '../engine/row-codec.ts';
import { dropUnnamedDomains } from './provider-domains.ts';

export interface IdentityProviderTable extends RowOf<typeof identityProviderFields> {
  tenant_id: TenantId;
  id: IdentityProviderId;
  created_at: number;
  updated_at: number;
}

/** Every provider of a tenant, from memory where nothing changed. */
export async function listCachedProviders(cache: ConfigCache, tenant: TenantId): Promise<readonly IdentityProvider[]> {
  return cache.get(tenant, 'identity-providers', (queries) => listIdentityProviders(queries, tenant, { after: '', limit: allRows }));
}

/** More than a tenant may have. */
const allRows = 1000;

export async function findIdentityProvider(
  queries: Queries,
  tenant: TenantId,
  by: { readonly id: string } | { readonly alias: string },
): Promise<IdentityProvider | undefined> {
  const select = queries.selectFrom('identity_providers').selectAll().where('tenant_id', '=', tenant);
  const row = await ('id' in by
    ? select.where('id', '=', by.id as IdentityProviderId) // a look-up key, not yet known to be an id
    : select.where('alias', '=', by.alias)
  ).executeTakeFirst();
  return row && providerFromRow(row);
}

/** A page of providers in id order, after the given id. */
export async function listIdentityProviders(
  queries: Queries,
  tenant: TenantId,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly IdentityProvider[]> {
  const rows = await queries
    .selectFrom('identity_providers')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '>', page.after as IdentityProviderId)
    .orderBy('id')
    .limit(page.limit)
    .execute();
  return rows.map(providerFromRow);
}

/** Inserts a provider; false when its alias is taken. */
export async function insertIdentityProvider(queries: Queries, tenant: TenantId, provider: IdentityProvider): Promise<boolean> {
  const rows = await queries
    .insertInto('identity_providers')
    .values({
      ...toRow(identityProviderFields, provider),
      tenant_id: tenant,
      id: provider.id,
      created_at: databaseNowMs,
      updated_at: databaseNowMs,
    })
    .onConflict((on) => on.columns(['tenant_id', 'alias']).doNothing())
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Replaces every registered value of a provider but its alias, and forgets proofs of domains it no longer names; false when there is no such provider. */
export async function updateIdentityProvider(queries: Queries, tenant: TenantId, provider: IdentityProvider): Promise<boolean> {
  const { alias: _alias, ...values } = toRow(identityProviderFields, provider);
  const rows = await queries
    .updateTable('identity_providers')
    .set({ ...values, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', provider.id)
    .returning('id')
    .execute();
  await dropUnnamedDomains(queries, tenant, provider);
  return rows.length === 1;
}

/** Makes others who hold this provider wait until the transaction ends; false when it is gone. */
export async function holdIdentityProvider(queries: Queries, tenant: TenantId, id: IdentityProviderId): Promise<boolean> {
  const rows = await queries
    .updateTable('identity_providers')
    .set((eb) => ({ updated_at: eb.ref('updated_at') }))
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Deletes a provider; links to it and sign-ins under way go by foreign key. */
export async function deleteIdentityProvider(queries: Queries, tenant: TenantId, id: string): Promise<boolean> {
  const rows = await queries
    .deleteFrom('identity_providers')
    .where('tenant_id', '=', tenant)
    .where('id', '=', id as IdentityProviderId) // a look-up key, not yet known to be an id
    .returning('id')
    .execute();
  return rows.length === 1;
}

const providerFromRow = (row: IdentityProviderTable): IdentityProvider => ({
  id: row.id,
  ...fromRow(identityProviderFields, row),
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
});
