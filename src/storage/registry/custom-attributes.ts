// The attributes tenants add to their people: rows to and from the domain's CustomAttribute. A deleted one stays as a row, which
// nobody reads, until the values people have of it are gone (purge).
import { sql } from 'kysely';
import { customAttributesPerTenantMax } from '../../contract/limits.ts';
import type { ValuesOf } from '../../domain/field.ts';
import type { TenantId } from '../../domain/ids.ts';
import { type CustomAttribute, customAttributeFields } from '../../domain/people/custom-attributes.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { fromRow, type RowOf, toCells, toRow } from '../engine/row-codec.ts';

export interface CustomAttributeTable extends RowOf<typeof customAttributeFields> {
  tenant_id: TenantId;
  id: string;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

type Values = ValuesOf<typeof customAttributeFields>;

/** Every attribute of a tenant by name. */
export async function listCustomAttributes(queries: Queries, tenant: TenantId): Promise<readonly CustomAttribute[]> {
  const rows = await queries
    .selectFrom('custom_attributes')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .limit(customAttributesPerTenantMax)
    .execute();
  const byName = rows.toSorted((one, other) => (one.name < other.name ? -1 : 1)); // here: the collation of PostgreSQL is the operator's
  return byName.map((row) => ({ id: row.id, ...fromRow(customAttributeFields, row) }));
}

/** Inserts an attribute. Throws a unique violation for a name or claim that another has. */
export async function insertCustomAttribute(queries: Queries, tenant: TenantId, { id, ...values }: CustomAttribute): Promise<void> {
  const times = { created_at: databaseNowMs, updated_at: databaseNowMs };
  await queries
    .insertInto('custom_attributes')
    .values({ ...toRow(customAttributeFields, values), tenant_id: tenant, id, ...times })
    .execute();
}

/** Writes the values a change names. Throws a unique violation for a claim that another has. */
export async function updateCustomAttribute(queries: Queries, tenant: TenantId, id: string, change: Partial<Values>): Promise<void> {
  await queries
    .updateTable('custom_attributes')
    .set({ ...toCells(customAttributeFields, change), updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .execute();
}

/** From now on nobody reads it; false when there is none. */
export async function deleteCustomAttribute(queries: Queries, tenant: TenantId, id: string): Promise<boolean> {
  const rows = await queries
    .updateTable('custom_attributes')
    .set({ deleted_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Attributes deleted so long ago that every process has heard of it. */
export async function listDeletedAttributes(queries: Queries, tenant: TenantId): Promise<readonly string[]> {
  const rows = await queries
    .selectFrom('custom_attributes')
    .select('id')
    .where('tenant_id', '=', tenant)
    .where('deleted_at', '<', sql<number>`${databaseNowMs} - 60000`)
    .limit(customAttributesPerTenantMax)
    .execute();
  return rows.map(({ id }) => id);
}

/** Takes away the row of a deleted attribute. */
export async function dropCustomAttribute(queries: Queries, tenant: TenantId, id: string): Promise<void> {
  await queries.deleteFrom('custom_attributes').where('tenant_id', '=', tenant).where('id', '=', id).execute();
}
