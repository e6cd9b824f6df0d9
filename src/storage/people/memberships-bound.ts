// Whether more may be in organisations of a tenant, by the count that triggers keep.
import { membershipsMax } from '../../contract/organization-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { dialectOf } from '../engine/rows/id-list.ts';
import { lockTenantSettings } from '../registry/tenants.ts';
import { loadDirectoryCount } from './directory-counts.ts';

/** So near the bound whoever adds somebody goes one after another; before, the kept count is enough. */
const nearMemberships = membershipsMax / 100;

/** Whether so many more would be too many memberships of the tenant: by the kept count, which costs the same for one as for a million. */
export async function isTenantFull(queries: Queries, tenant: TenantId, added = 1): Promise<boolean> {
  if ((await loadDirectoryCount(queries, tenant, 'memberships')) + added <= membershipsMax - nearMemberships) return false;
  await lockTenantSettings(queries, dialectOf(queries), tenant);
  return (await loadDirectoryCount(queries, tenant, 'memberships')) + added > membershipsMax;
}
