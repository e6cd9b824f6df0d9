// Whether one more may be in an organisation of a tenant, by the count that triggers keep.
import { membershipsMax } from '../../contract/organization-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { dialectOf } from '../engine/rows/id-list.ts';
import { lockTenantSettings } from '../registry/tenants.ts';
import { loadDirectoryCount } from './directory-counts.ts';

/** So near the bound whoever adds somebody goes one after another; before, the kept count is enough. */
const nearMemberships = membershipsMax / 100;

/** Whether the tenant has as many memberships as it may: the kept count, which costs the same for one as for a million. */
export async function isTenantFull(queries: Queries, tenant: TenantId): Promise<boolean> {
  if ((await loadDirectoryCount(queries, tenant, 'memberships')) < membershipsMax - nearMemberships) return false;
  await lockTenantSettings(queries, dialectOf(queries), tenant);
  return (await loadDirectoryCount(queries, tenant, 'memberships')) >= membershipsMax;
}
