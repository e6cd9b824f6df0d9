// Tenants as the system API and `gatehouse tenant` handle them: names that are allowed, change, deletion with all rows.
import { readChange } from '../domain/field.ts';
import type { TenantId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { isPublicHost, rootTenantSlug, type TenantChange, tenantFields } from '../domain/tenant/tenant.ts';
import { bumpConfigEpoch } from '../storage/engine/config/config-changes.ts';
import type { Queries } from '../storage/engine/database.ts';
import { deleteTenantRows } from '../storage/engine/rows/tenant-rows.ts';
import { isUniqueViolation } from '../storage/engine/unique-violation.ts';
import { deleteTenant, findTenantById, findTenantBySlug, type StoredTenant, updateTenant } from '../storage/registry/tenants.ts';
import { endReading } from '../storage/tenant-moves.ts';
import { type Administration, type By, recordAct } from './administration.ts';

/** Changes name, domain or whether it is enabled. What is given was found right by the table of fields. */
export async function changeTenant(
  administration: Administration,
  id: TenantId,
  given: TenantChange,
  by: By,
): Promise<Outcome<{ readonly row: StoredTenant }, 'unknown' | 'taken' | 'own' | 'root_domain' | 'root_disabled'>> {
  const change = readChange(tenantFields, given);
  if (change.domain !== undefined && isPublicHost(change.domain, administration.publicUrl)) return fail('own');
  const before = await administration.database.systemRead((queries) => findTenantById(queries, id));
  if (before?.slug === rootTenantSlug) {
    // Who manages tenants would take the operators' console to a host of their own, or shut it.
    if (change.enabled === false) return fail('root_disabled');
    if ('domain' in given && (change.domain ?? null) !== (before.domain ?? null)) return fail('root_domain');
  }
  try {
    const row = await administration.cache.write(id, async (queries) => {
      const updated = await updateTenant(queries, id, change);
      const type = change.enabled === undefined ? 'tenant.updated' : change.enabled ? 'tenant.enabled' : 'tenant.disabled';
      if (updated !== undefined)
        await recordAct(queries, administration, id, by, {
          type,
          target: `tenant:${id}`,
          data: { ...given, ...('domain' in given && { domain: change.domain ?? null }) },
        });
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
  const { database } = administration;
  const tenant = await database.systemRead((queries) => findTenantById(queries, id));
  if (tenant === undefined) return fail('unknown');
  if (tenant.slug === rootTenantSlug) return fail('root');
  await writeSurely(administration, id, async (queries) => {
    await endReading(queries, id);
    await updateTenant(queries, id, { enabled: false });
  });
  await deleteTenantRows(database, id);
  const deleted = await writeSurely(administration, id, (queries) => deleteTenant(queries, id));
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

/** As a write of configuration, also to a tenant that is closed. */
async function writeSurely<T>(
  { database, cache }: Pick<Administration, 'database' | 'cache'>,
  id: TenantId,
  work: (queries: Queries) => Promise<T>,
): Promise<T> {
  const result = await database.writeClosed(id, async (queries) => {
    const value = await work(queries);
    await bumpConfigEpoch(queries, id);
    return value;
  });
  cache.forget(id);
  return result;
}
