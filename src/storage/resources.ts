// Resource servers: audiences a client may be allowed to request (RFC 8707), with the scopes they define.
import type { TenantId } from '../domain/ids.ts';
import type { Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';

export interface ResourceTable {
  tenant_id: TenantId;
  id: string;
  identifier: string;
  name: string;
  /** JSON list of {name, description}. */
  scopes: string;
  access_token_lifetime_seconds: number | null;
  created_at: number;
  updated_at: number;
}

export type NewResource = Pick<ResourceTable, 'id' | 'identifier' | 'name' | 'scopes' | 'access_token_lifetime_seconds'>;

/** Inserts a resource; undefined when the identifier is taken. */
export async function insertResource(queries: Queries, tenant: TenantId, resource: NewResource): Promise<ResourceTable | undefined> {
  return queries
    .insertInto('resources')
    .values({ ...resource, tenant_id: tenant, created_at: databaseNowMs, updated_at: databaseNowMs })
    .onConflict((on) => on.doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function findResource(queries: Queries, tenant: TenantId, id: string): Promise<ResourceTable | undefined> {
  return queries.selectFrom('resources').selectAll().where('tenant_id', '=', tenant).where('id', '=', id).executeTakeFirst();
}

/** A page of resources in order of their ids. */
export async function listResources(
  queries: Queries,
  tenant: TenantId,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly ResourceTable[]> {
  return queries
    .selectFrom('resources')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('id', '>', page.after)
    .orderBy('id')
    .limit(page.limit)
    .execute();
}

/** Changes a resource. Throws a unique violation for a taken identifier. */
export async function updateResource(
  queries: Queries,
  tenant: TenantId,
  id: string,
  change: Partial<Omit<NewResource, 'id'>>,
): Promise<ResourceTable | undefined> {
  return queries
    .updateTable('resources')
    .set({ ...change, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

export async function deleteResource(queries: Queries, tenant: TenantId, id: string): Promise<boolean> {
  const rows = await queries.deleteFrom('resources').where('tenant_id', '=', tenant).where('id', '=', id).returning('id').execute();
  return rows.length === 1;
}
