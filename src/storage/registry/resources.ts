// Resource servers (RFC 8707): rows to and from the domain's Resource.

import { type Resource, type ResourceValues, resourceFields } from '../../domain/client/resource.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import type { Page } from '../engine/matching-rows.ts';
import { fromRow, type RowOf, toCells, toRow } from '../engine/row-codec.ts';

export interface ResourceTable extends RowOf<typeof resourceFields> {
  tenant_id: TenantId;
  id: string;
  created_at: number;
  updated_at: number;
}

/** Inserts a resource; undefined when the identifier is taken. */
export async function insertResource(
  queries: Queries,
  tenant: TenantId,
  id: string,
  values: ResourceValues,
): Promise<Resource | undefined> {
  const row = await queries
    .insertInto('resources')
    .values({ ...toRow(resourceFields, values), tenant_id: tenant, id, created_at: databaseNowMs, updated_at: databaseNowMs })
    .onConflict((on) => on.doNothing())
    .returningAll()
    .executeTakeFirst();
  return row && resourceFromRow(row);
}

export async function findResource(queries: Queries, tenant: TenantId, id: string): Promise<Resource | undefined> {
  const row = await queries.selectFrom('resources').selectAll().where('tenant_id', '=', tenant).where('id', '=', id).executeTakeFirst();
  return row && resourceFromRow(row);
}

/** The resources with one of these ids or identifiers. */
export async function listResourcesByIdOrIdentifier(
  queries: Queries,
  tenant: TenantId,
  wanted: { readonly ids: readonly string[]; readonly identifiers: readonly string[] },
): Promise<readonly Resource[]> {
  const rows = await queries
    .selectFrom('resources')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where((eb) => eb.or([eb('identifier', 'in', wanted.identifiers), ...(wanted.ids.length > 0 ? [eb('id', 'in', wanted.ids)] : [])]))
    .execute();
  return rows.map(resourceFromRow);
}

/** A page of resources in order of their ids. */
export async function listResources(queries: Queries, tenant: TenantId, page: Page): Promise<readonly Resource[]> {
  const rows = await queries
    .selectFrom('resources')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '>', page.after)
    .orderBy('id')
    .limit(page.limit)
    .execute();
  return rows.map(resourceFromRow);
}

/** Writes the values a change names. Throws a unique violation for a taken identifier. */
export async function updateResource(
  queries: Queries,
  tenant: TenantId,
  id: string,
  change: Partial<ResourceValues>,
): Promise<Resource | undefined> {
  const row = await queries
    .updateTable('resources')
    .set({ ...toCells(resourceFields, change), updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row && resourceFromRow(row);
}

export async function deleteResource(queries: Queries, tenant: TenantId, id: string): Promise<boolean> {
  const rows = await queries.deleteFrom('resources').where('tenant_id', '=', tenant).where('id', '=', id).returning('id').execute();
  return rows.length === 1;
}

const resourceFromRow = (row: ResourceTable): Resource => ({
  id: row.id,
  ...fromRow(resourceFields, row),
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
});
