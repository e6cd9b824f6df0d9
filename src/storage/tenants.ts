// Tenants: the one table every request starts from. Not under row-level security: it is what names the tenant.
import type { TenantId } from '../domain/ids.ts';
import type { Dialect, Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';

export interface TenantTable {
  tenant_id: TenantId;
  slug: string;
  name: string;
  domain: string | null;
  enabled: number;
  /** Differences from the default settings, JSON. */
  settings: string;
  /** Random secret of the tenant under the master key: pairwise identifiers, PIN pepper, cursor signatures derive from it. */
  secret_encrypted: string;
  created_at: number;
  updated_at: number;
}

export interface NewTenant {
  readonly tenant_id: TenantId;
  readonly slug: string;
  readonly name: string;
  readonly domain: string | null;
  readonly settings: string;
  readonly secret_encrypted: string;
}

/** Inserts a tenant; gives false when the slug or domain is taken. */
export async function insertTenant(queries: Queries, tenant: NewTenant): Promise<boolean> {
  const rows = await queries
    .insertInto('tenants')
    .values({ ...tenant, enabled: 1, created_at: databaseNowMs, updated_at: databaseNowMs })
    .onConflict((on) => on.doNothing())
    .returning('tenant_id')
    .execute();
  return rows.length === 1;
}

export async function findTenantBySlug(queries: Queries, slug: string): Promise<TenantTable | undefined> {
  return queries.selectFrom('tenants').selectAll().where('slug', '=', slug).executeTakeFirst();
}

export async function findTenantByDomain(queries: Queries, domain: string): Promise<TenantTable | undefined> {
  return queries.selectFrom('tenants').selectAll().where('domain', '=', domain).executeTakeFirst();
}

export async function findTenantById(queries: Queries, id: TenantId): Promise<TenantTable | undefined> {
  return queries.selectFrom('tenants').selectAll().where('tenant_id', '=', id).executeTakeFirst();
}

/** A page of tenants in slug order, after the given slug, whose slugs start with `slugStart`. */
export async function listTenants(
  queries: Queries,
  page: { readonly afterSlug: string; readonly limit: number; readonly slugStart?: string | undefined },
): Promise<readonly TenantTable[]> {
  const query = queries.selectFrom('tenants').selectAll().where('slug', '>', page.afterSlug).orderBy('slug').limit(page.limit);
  if (page.slugStart === undefined) return query.execute();
  return query.where('slug', '>=', page.slugStart).where('slug', '<', `${page.slugStart}\u{10ffff}`).execute();
}

export interface TenantChange {
  readonly name?: string;
  readonly domain?: string | null;
  readonly enabled?: boolean;
  /** Differences from the default settings, JSON. */
  readonly settings?: string;
}

/** Changes a tenant; undefined when there is none. Throws a unique violation when another tenant has the domain. */
export async function updateTenant(queries: Queries, tenant: TenantId, change: TenantChange): Promise<TenantTable | undefined> {
  const { enabled, ...values } = change;
  return queries
    .updateTable('tenants')
    .set({ ...values, ...(enabled === undefined ? {} : { enabled: Number(enabled) }), updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .returningAll()
    .executeTakeFirst();
}

/** Replaces the settings unless they changed meanwhile; gives false then. */
export async function replaceTenantSettings(queries: Queries, tenant: TenantId, before: string, after: string): Promise<boolean> {
  const rows = await queries
    .updateTable('tenants')
    .set({ settings: after, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('settings', '=', before)
    .returning('tenant_id')
    .execute();
  return rows.length === 1;
}

/** The settings column, locked until the transaction ends, for read-merge-write. */
export async function lockTenantSettings(queries: Queries, dialect: Dialect, tenant: TenantId): Promise<string | undefined> {
  const query = queries.selectFrom('tenants').select('settings').where('tenant_id', '=', tenant);
  return (await (dialect === 'postgres' ? query.forUpdate() : query).executeTakeFirst())?.settings;
}

/** Deletes the tenant itself; its rows elsewhere went before (tenant-rows.ts). */
export async function deleteTenant(queries: Queries, tenant: TenantId): Promise<boolean> {
  const rows = await queries.deleteFrom('tenants').where('tenant_id', '=', tenant).returning('tenant_id').execute();
  return rows.length === 1;
}
