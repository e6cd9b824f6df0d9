// Tenants: the one table every request starts from. Not under row-level security: it is what names the tenant.
import type { Generated, Selectable } from 'kysely';
import type { TenantId } from '../../domain/ids.ts';
import { type TenantValues, tenantFields } from '../../domain/tenant/tenant.ts';
import type { Dialect, Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { type RowOf, toCells, toRow } from '../engine/rows/row-codec.ts';

export interface TenantTable extends RowOf<typeof tenantFields> {
  tenant_id: TenantId;
  /** Differences from the default settings, JSON. */
  settings: string;
  /** Random secret of the tenant under the master key: pairwise identifiers, PIN pepper, cursor signatures derive from it. */
  secret_encrypted: string;
  created_at: number;
  updated_at: number;
  /** On its way to another deployment (`to:`) or from one (`from:`), and the id of the move: it is closed. */
  moving: string | null;
  /** 1 since there was a webhook. */
  has_webhooks: Generated<number>;
  has_streams: Generated<number>;
  has_connectors: Generated<number>;
  /** When the first of its directories of LDAP may be due; there is no run before. */
  directories_due_at: Generated<number | null>;
  /** Asked for and not in force yet; the time says since when DNS shows that it is the tenant's. */
  pending_domain: Generated<string | null>;
  pending_verified_at: Generated<number | null>;
}

export type StoredTenant = Readonly<Selectable<TenantTable>>;

/** Inserts a tenant; gives false when the slug or domain is taken. */
export async function insertTenant(
  queries: Queries,
  tenant: TenantId,
  values: TenantValues,
  own: Pick<StoredTenant, 'settings' | 'secret_encrypted'>,
): Promise<boolean> {
  const rows = await queries
    .insertInto('tenants')
    .values({ tenant_id: tenant, ...toRow(tenantFields, values), ...own, created_at: databaseNowMs, updated_at: databaseNowMs })
    .onConflict((on) => on.doNothing())
    .returning('tenant_id')
    .execute();
  return rows.length === 1;
}

export async function findTenantBySlug(queries: Queries, slug: string): Promise<StoredTenant | undefined> {
  return queries.selectFrom('tenants').selectAll().where('slug', '=', slug).executeTakeFirst();
}

export async function findTenantByDomain(queries: Queries, domain: string): Promise<StoredTenant | undefined> {
  return queries.selectFrom('tenants').selectAll().where('domain', '=', domain).executeTakeFirst();
}

export async function findTenantById(queries: Queries, id: TenantId): Promise<StoredTenant | undefined> {
  return queries.selectFrom('tenants').selectAll().where('tenant_id', '=', id).executeTakeFirst();
}

/** A page of tenants in slug order, after the given slug, whose slugs start with `slugStart`. */
export async function listTenants(
  queries: Queries,
  page: { readonly afterSlug: string; readonly limit: number; readonly slugStart?: string | undefined },
): Promise<readonly StoredTenant[]> {
  const query = queries.selectFrom('tenants').selectAll().where('slug', '>', page.afterSlug).orderBy('slug').limit(page.limit);
  if (page.slugStart === undefined) return query.execute();
  return query.where('slug', '>=', page.slugStart).where('slug', '<', `${page.slugStart}\u{10ffff}`).execute();
}

/** Writes the values a change names; undefined when there is no such tenant. Throws a unique violation when another has the domain. */
export async function updateTenant(queries: Queries, tenant: TenantId, change: Partial<TenantValues>): Promise<StoredTenant | undefined> {
  return setColumns(queries, tenant, toCells(tenantFields, change));
}

/** Whether a tenant may be served at an origin: it is its domain, or it asked for it and DNS shows that it is its own. */
export async function isDomainOfTenant(queries: Queries, domain: string): Promise<boolean> {
  const row = await queries
    .selectFrom('tenants')
    .select('tenant_id')
    .where((either) =>
      either.or([
        either('domain', '=', domain),
        either.and([either('pending_domain', '=', domain), either('pending_verified_at', 'is not', null)]),
      ]),
    )
    .executeTakeFirst();
  return row !== undefined;
}

/** Notes the domain a tenant asks for, or none; nothing is verified yet. */
export async function setPendingDomain(queries: Queries, tenant: TenantId, domain: string | null): Promise<StoredTenant> {
  return changed(await setColumns(queries, tenant, { pending_domain: domain, pending_verified_at: null }));
}

/** Notes whether DNS shows that this pending domain is the tenant's; undefined when it is not the one it asks for, or it was noted already. */
export async function setPendingVerified(
  queries: Queries,
  tenant: TenantId,
  { domain, isVerified }: { readonly domain: string; readonly isVerified: boolean },
): Promise<StoredTenant | undefined> {
  return queries
    .updateTable('tenants')
    .set({ pending_verified_at: isVerified ? databaseNowMs : null, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('pending_domain', '=', domain)
    .where('pending_verified_at', isVerified ? 'is' : 'is not', null)
    .returningAll()
    .executeTakeFirst();
}

/** Puts this pending domain in force if it is verified; undefined when it is not. Throws a unique violation when another has it. */
export async function activatePendingDomain(queries: Queries, tenant: TenantId, domain: string): Promise<StoredTenant | undefined> {
  return queries
    .updateTable('tenants')
    .set({ domain, pending_domain: null, pending_verified_at: null, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('pending_domain', '=', domain)
    .where('pending_verified_at', 'is not', null)
    .returningAll()
    .executeTakeFirst();
}

function changed(row: StoredTenant | undefined): StoredTenant {
  if (row === undefined) throw new Error('expected the tenant of this transaction');
  return row;
}

/** Writes the settings: differences from the defaults, JSON. */
export async function updateTenantSettings(queries: Queries, tenant: TenantId, settings: string): Promise<void> {
  await setColumns(queries, tenant, { settings });
}

async function setColumns(queries: Queries, tenant: TenantId, columns: Partial<StoredTenant>): Promise<StoredTenant | undefined> {
  return queries
    .updateTable('tenants')
    .set({ ...columns, updated_at: databaseNowMs })
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
