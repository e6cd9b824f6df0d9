// The attributes tenants add to their people: all of them, and what is left of deleted ones until the values people have of them are
// gone (purge). The rest is of every kind (kind-rows.ts).
import { sql } from 'kysely';
import { customAttributesPerTenantMax } from '../../contract/limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import { type CustomAttribute, type customAttributeFields, customAttributeKind } from '../../domain/people/custom-attributes.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { type KindTable, rowsOf } from './kind-rows.ts';

export type CustomAttributeTable = KindTable<typeof customAttributeFields> & { deleted_at: number | null };

const attributes = rowsOf(customAttributeKind);

/** Every attribute of a tenant by name. */
export const listCustomAttributes = (queries: Queries, tenant: TenantId): Promise<readonly CustomAttribute[]> =>
  attributes.page(queries, tenant, { after: '', limit: customAttributesPerTenantMax });

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
