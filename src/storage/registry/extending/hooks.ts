// The hooks of a tenant that are asked. Their rows are those of their kind.
import { hookKind, type TenantHooks } from '../../../domain/extending/hook.ts';
import type { ClientId, TenantId } from '../../../domain/ids.ts';
import type { Queries } from '../../engine/database.ts';
import { hashOf, rowsOf } from '../kind-rows.ts';

const rows = rowsOf(hookKind);
/** More than there are points. */
const allRows = 100;

export async function findTenantHooks(queries: Queries, tenant: TenantId): Promise<TenantHooks> {
  const hooks = await rows.page(queries, tenant, { after: '', limit: allRows });
  return Object.fromEntries(hooks.filter(({ enabled }) => enabled).map((hook) => [hook.point, hook]));
}

/** Which of these are client ids or entity IDs of service providers here. */
export async function findApplications(queries: Queries, tenant: TenantId, named: readonly string[]): Promise<ReadonlySet<string>> {
  if (named.length === 0) return new Set();
  const clients = await queries
    .selectFrom('clients')
    .select('client_id')
    .where('tenant_id', '=', tenant)
    .where('client_id', 'in', named as readonly ClientId[]) // look-up keys, not yet known to be ids
    .execute();
  const providers = await queries
    .selectFrom('service_providers')
    .select('entity_id')
    .where('tenant_id', '=', tenant)
    .where('entity_id_hash', 'in', named.map(hashOf))
    .execute();
  return new Set([...clients.map(({ client_id: id }) => id), ...providers.map(({ entity_id: id }) => id)]);
}
