// Which tenant a request belongs to (design 02, "Tenants and base_url"): by custom domain, else by slug. Cached like
// configuration; unknown names are remembered too, apart and bounded (unknown-names.ts).

import { unknownTenantNameBytesMax, unknownTenantNamesMax } from '../../contract/limits.ts';
import { readLoginTexts } from '../../domain/appearance/login-texts.ts';
import type { TenantId } from '../../domain/ids.ts';
import { noMappings } from '../../domain/mappings/rule.ts';
import { noOrganizations } from '../../domain/organizations/tenant-organizations.ts';
import { mergeSettings, sendsMail } from '../../domain/tenant/settings.ts';
import { baseUrlOf, type Tenant, tenantFields } from '../../domain/tenant/tenant.ts';
import type { ConfigCache } from '../engine/config/config-cache.ts';
import type { Database, Queries } from '../engine/database.ts';
import { fromRow } from '../engine/rows/row-codec.ts';
import { listCustomAttributes } from './custom-attributes.ts';
import { listCustomizations } from './customizations.ts';
import { findTenantHooks } from './extending/hooks.ts';
import { readMappings } from './extending/mapping-tables.ts';
import { readTenantOrganizations } from './organizations.ts';
import { findTenantByDomain, findTenantById, findTenantBySlug, type StoredTenant } from './tenants.ts';
import { createUnknownNames } from './unknown-names.ts';

export interface LookUp {
  /** How old memory may be while the database is away, as of ConfigCache.get. */
  readonly ageMsMax?: number | undefined;
  /** Called before the database is asked; throws to refuse. What it gives is called when the name turns out to have a tenant. */
  readonly admit?: () => () => void;
}

export interface TenantDirectory {
  readonly bySlug: (slug: string, lookUp?: LookUp) => Promise<Tenant | undefined>;
  /** `origin` is a scheme and host, e.g. `https://login.acme.example`. */
  readonly byDomain: (origin: string, lookUp?: LookUp) => Promise<Tenant | undefined>;
  readonly byId: (id: TenantId) => Promise<Tenant | undefined>;
  /** What the database says now, whatever is remembered. */
  readonly reload: (id: TenantId) => Promise<Tenant | undefined>;
  /** What bySlug and byDomain would give, if it is known without waiting: from memory that is young, or at most `ageMsMax` old. */
  readonly peekSlug: (slug: string, ageMsMax?: number) => { readonly tenant: Tenant | undefined } | undefined;
  readonly peekDomain: (origin: string, ageMsMax?: number) => { readonly tenant: Tenant | undefined } | undefined;
}

/** What a tenant depends on beside its own row. */
export interface Deployment {
  readonly publicUrl: string;
  /** Whether a mail reaches somebody where a tenant has no server of its own. */
  readonly canMail: boolean;
  /** Of what serves requests; nobody else counts. */
  readonly areLimitsLifted?: boolean;
}

const namesMax = 20_000;

export function createTenantDirectory(database: Database, cache: ConfigCache, at: Deployment): TenantDirectory {
  const names = new Map<string, { readonly tenant: Tenant }>();
  const unknown = createUnknownNames(unknownTenantNamesMax, unknownTenantNameBytesMax);
  const asked = new Map<string, Promise<Tenant | undefined>>();
  let forgotten = 0;
  // A new or renamed tenant may turn any unknown name into a known one, and any change may be of this tenant.
  cache.onForget((changed) => {
    forgotten += 1;
    unknown.clear();
    asked.clear();
    if (changed === undefined) names.clear();
    for (const [name, { tenant }] of names) if (tenant.id === changed) names.delete(name);
  });
  const known = (name: string): { readonly tenant: Tenant | undefined } | undefined =>
    names.get(name) ?? (unknown.has(name) ? { tenant: undefined } : undefined);
  type Load = (queries: Queries) => Promise<StoredTenant | undefined>;
  const load = async (name: string, read: Load): Promise<Tenant | undefined> => {
    const before = forgotten;
    const row = await database.systemRead(read);
    const tenant = row === undefined ? undefined : await loadTenant(database, row, at);
    if (forgotten !== before) return tenant; // a row read before a change must not be kept after it
    if (tenant === undefined) unknown.add(name);
    else {
      if (names.size >= namesMax) names.delete(names.keys().next().value!);
      names.set(name, { tenant });
    }
    return tenant;
  };
  const find = async (name: string, read: Load, { ageMsMax, admit }: LookUp = {}): Promise<Tenant | undefined> => {
    if (!cache.isFresh()) await cache.settle(ageMsMax);
    const found = known(name);
    if (found !== undefined) return found.tenant;
    // Requests that come together for one name ask once.
    const before = asked.get(name);
    if (before !== undefined) return before;
    const giveBack = admit?.();
    const asking = load(name, read).finally(() => asked.get(name) === asking && asked.delete(name));
    asked.set(name, asking);
    // A look-up that failed says nothing of the name.
    const isUnknown = await asking.then(
      (tenant) => tenant === undefined,
      () => false,
    );
    if (!isUnknown) giveBack?.();
    return asking;
  };
  const peek = (name: string, ageMsMax = 0): { readonly tenant: Tenant | undefined } | undefined =>
    cache.isFresh() || cache.ageMs() <= ageMsMax ? known(name) : undefined;
  return {
    bySlug: (slug, lookUp) => find(`slug:${slug}`, (queries) => findTenantBySlug(queries, slug), lookUp),
    byDomain: (origin, lookUp) => find(`domain:${origin}`, (queries) => findTenantByDomain(queries, origin), lookUp),
    byId: (id) => find(`id:${id}`, (queries) => findTenantById(queries, id)),
    reload: (id) => load(`id:${id}`, (queries) => findTenantById(queries, id)),
    peekSlug: (slug, ageMsMax) => peek(`slug:${slug}`, ageMsMax),
    peekDomain: (origin, ageMsMax) => peek(`domain:${origin}`, ageMsMax),
  };
}

/** The tenant of a row, with its custom attributes, mappings, hooks and texts, and what it knows of its organisations. */
export async function loadTenant(database: Database, row: StoredTenant, at: Deployment): Promise<Tenant> {
  const { tenant_id: id } = row;
  const { worded, ...own } = await database.read(id, async (queries) => ({
    customAttributes: await listCustomAttributes(queries, id),
    mappings: await readMappings(queries, id),
    organizations: await readTenantOrganizations(queries, id),
    hooks: await findTenantHooks(queries, id),
    worded: await listCustomizations(queries, id, 'texts'),
  }));
  const texts = worded.flatMap(({ name, published }) => (published === null ? [] : [[name, readLoginTexts(JSON.parse(published))]]));
  return { ...tenantFromRow(row, at), ...own, texts: Object.fromEntries(texts) };
}

/** The tenant of a row alone, for those who need no person of it. */
export function tenantFromRow(row: StoredTenant, { publicUrl, canMail, areLimitsLifted = false }: Deployment): Tenant {
  const baseUrl = baseUrlOf(publicUrl, row.slug, row.domain);
  const settings = mergeSettings(JSON.parse(row.settings), canMail);
  return {
    id: row.tenant_id,
    ...fromRow(tenantFields, row),
    baseUrl,
    managementApi: `${baseUrl}/v1/management`,
    settings,
    canMail: sendsMail(settings, canMail),
    areLimitsLifted,
    isMoving: row.moving !== null,
    customAttributes: [],
    mappings: noMappings,
    organizations: noOrganizations,
    hooks: {},
    texts: {},
  };
}
