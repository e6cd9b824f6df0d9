// Registered resources as the protocol reads them: configuration, from the cache.
import { type Resource, registeredSpelling, resourceKind, spellingsOf } from '../../../domain/client/resource.ts';
import type { TenantId } from '../../../domain/ids.ts';
import type { ConfigCache } from '../../engine/config/config-cache.ts';
import type { Queries } from '../../engine/database.ts';
import { fromRow } from '../../engine/rows/row-codec.ts';
import type { KindTable } from '../kind-rows.ts';

type ResourceTable = KindTable<typeof resourceKind.fields>;

/** The resource that is registered under a spelling of this one (RFC 8707). */
export async function findCachedResource(cache: ConfigCache, tenant: TenantId, asked: string): Promise<Resource | undefined> {
  return cache.get(tenant, `resource:${asked}`, async (queries) => {
    const rows = await all(queries, tenant).where('identifier', 'in', spellingsOf(asked)).execute();
    const registered = registeredSpelling(
      rows.map(({ identifier }) => identifier),
      asked,
    );
    return rows.filter(({ identifier }) => identifier === registered).map(resourceOf)[0];
  });
}

/**
 * The resources that clients nobody registered may ask for, by their identifiers.
 * @param ageMsMax see ConfigCache
 */
export async function listOpenResources(cache: ConfigCache, tenant: TenantId, ageMsMax?: number): Promise<readonly Resource[]> {
  const load = async (queries: Queries): Promise<readonly Resource[]> => {
    const rows = await all(queries, tenant).where('clients', '=', 'any').execute();
    // Sorted here: the collation of PostgreSQL is the operator's.
    return rows.map(resourceOf).toSorted((one, other) => (one.identifier < other.identifier ? -1 : 1));
  };
  return cache.get(tenant, 'open-resources', load, ageMsMax);
}

const all = (queries: Queries, tenant: TenantId) => queries.selectFrom('resources').selectAll().where('tenant_id', '=', tenant);

const resourceOf = (row: ResourceTable): Resource => ({
  id: row.id,
  ...fromRow(resourceKind.fields, row),
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
});
