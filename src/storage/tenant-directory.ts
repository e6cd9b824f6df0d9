// Which tenant a request belongs to (design 02, "Tenants and base_url"): by custom domain, else by slug. Cached like
// configuration; unknown names are remembered too, in a bounded map.

import type { TenantId } from '../domain/ids.ts';
import { mergeSettings } from '../domain/settings.ts';
import { baseUrlOf, type Tenant } from '../domain/tenant.ts';
import type { ConfigCache } from './config-cache.ts';
import type { Database, Queries } from './database.ts';
import { findTenantByDomain, findTenantById, findTenantBySlug, type TenantTable } from './tenants.ts';

export interface TenantDirectory {
  readonly bySlug: (slug: string) => Promise<Tenant | undefined>;
  /** `origin` is a scheme and host, e.g. `https://login.acme.example`. */
  readonly byDomain: (origin: string) => Promise<Tenant | undefined>;
  readonly byId: (id: TenantId) => Promise<Tenant | undefined>;
  /** What bySlug and byDomain would give, if it is known without waiting. */
  readonly peekSlug: (slug: string) => { readonly tenant: Tenant | undefined } | undefined;
  readonly peekDomain: (origin: string) => { readonly tenant: Tenant | undefined } | undefined;
}

const namesMax = 20_000;

export function createTenantDirectory(database: Database, cache: ConfigCache, publicUrl: string): TenantDirectory {
  const names = new Map<string, { readonly tenant: Tenant | undefined }>();
  // A new or renamed tenant may turn any unknown name into a known one, and any change may be of this tenant.
  cache.onForget((changed) => {
    for (const [name, { tenant }] of names) if (tenant === undefined || tenant.id === changed) names.delete(name);
  });
  const find = async (name: string, load: (queries: Queries) => Promise<TenantTable | undefined>): Promise<Tenant | undefined> => {
    const known = names.get(name);
    if (known !== undefined) return known.tenant;
    const row = await database.systemRead(load);
    const tenant = row === undefined ? undefined : tenantFromRow(row, publicUrl);
    if (names.size >= namesMax) names.delete(names.keys().next().value!);
    names.set(name, { tenant });
    return tenant;
  };
  return {
    bySlug: (slug) => find(`slug:${slug}`, (queries) => findTenantBySlug(queries, slug)),
    byDomain: (origin) => find(`domain:${origin}`, (queries) => findTenantByDomain(queries, origin)),
    byId: (id) => find(`id:${id}`, (queries) => findTenantById(queries, id)),
    peekSlug: (slug) => names.get(`slug:${slug}`),
    peekDomain: (origin) => names.get(`domain:${origin}`),
  };
}

export function tenantFromRow(row: TenantTable, publicUrl: string): Tenant {
  const baseUrl = baseUrlOf(publicUrl, row.slug, row.domain);
  return {
    id: row.tenant_id,
    slug: row.slug,
    name: row.name,
    domain: row.domain ?? undefined,
    enabled: row.enabled === 1,
    baseUrl,
    managementApi: `${baseUrl}/v1/management`,
    settings: mergeSettings(JSON.parse(row.settings)),
  };
}
