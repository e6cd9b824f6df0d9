// Tenants as the system API and `gatehouse tenant` handle them: names that are allowed, change, deletion with all rows.
import type { TenantId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { rootTenantSlug } from '../domain/tenant.ts';
import { deleteTenantRows } from '../storage/tenant-rows.ts';
import { deleteTenant, findTenantById, findTenantBySlug, type TenantChange, type TenantTable, updateTenant } from '../storage/tenants.ts';
import { isUniqueViolation } from '../storage/unique-violation.ts';
import { type Administration, type By, recordAct } from './administration.ts';

/** A slug is a DNS label, so that it can become a host name one day. */
export const slugPattern = '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$';

/** The origin of a custom domain, e.g. `https://login.acme.example`; a bare host is taken as https. Undefined when it is none. */
export function parseDomain(text: string): string | undefined {
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`);
  if (url === null || url.protocol !== 'https:' || url.hostname === '' || url.username !== '' || url.password !== '') return undefined;
  return url.pathname === '/' && url.search === '' && url.hash === '' && !text.endsWith('#') && !text.endsWith('?')
    ? url.origin
    : undefined;
}

/** Changes name, domain or whether it is enabled. The domain was parsed by parseDomain. */
export async function changeTenant(
  administration: Administration,
  id: TenantId,
  change: Omit<TenantChange, 'settings'>,
  by: By,
): Promise<Outcome<{ readonly row: TenantTable }, 'unknown' | 'taken'>> {
  try {
    const row = await administration.cache.write(id, async (queries) => {
      const updated = await updateTenant(queries, id, change);
      const type = change.enabled === undefined ? 'tenant.updated' : change.enabled ? 'tenant.enabled' : 'tenant.disabled';
      if (updated !== undefined) await recordAct(queries, administration, id, by, { type, target: `tenant:${id}`, data: { ...change } });
      return updated;
    });
    return row === undefined ? fail('unknown') : { ok: true, row };
  } catch (error) {
    if (isUniqueViolation(error)) return fail('taken');
    throw error;
  }
}

/** Deletes a tenant with all its rows; the root tenant stays. It is disabled first, so a half-done deletion serves nothing. */
export async function removeTenant(administration: Administration, id: TenantId, by: By): Promise<Outcome<object, 'unknown' | 'root'>> {
  const { database, cache } = administration;
  const tenant = await database.systemRead((queries) => findTenantById(queries, id));
  if (tenant === undefined) return fail('unknown');
  if (tenant.slug === rootTenantSlug) return fail('root');
  await cache.write(id, (queries) => updateTenant(queries, id, { enabled: false }));
  await deleteTenantRows(database, id);
  const deleted = await cache.write(id, (queries) => deleteTenant(queries, id));
  if (!deleted) return fail('unknown');
  const root = await database.systemRead((queries) => findTenantBySlug(queries, rootTenantSlug));
  if (root !== undefined) {
    await database.write(root.tenant_id, (queries) =>
      recordAct(queries, administration, root.tenant_id, by, {
        type: 'tenant.deleted',
        target: `tenant:${id}`,
        data: { slug: tenant.slug },
      }),
    );
  }
  return { ok: true };
}
