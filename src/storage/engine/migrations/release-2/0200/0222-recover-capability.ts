// Clients that have every capability of before have `users:recover` too: they may still do what asks for all of them.
import { sql } from 'kysely';
import type { TenantId } from '../../../../../domain/ids.ts';
import type { Queries } from '../../../database.ts';

const resources = ['clients', 'resources', 'users', 'groups', 'devices', 'service-providers', 'signing-keys', 'settings', 'events', 'scim'];
export const capabilitiesBefore = resources.flatMap((resource) => [`${resource}:read`, `${resource}:write`]);

export const addRecoverCapability = (queries: Queries, tenant: TenantId, rows: number): Promise<number> =>
  addCapabilities(queries, tenant, { before: capabilitiesBefore, added: ['users:recover'], rows });

/** Adds capabilities to some of the clients that have all of those before and lack some; gives how many changed. */
export async function addCapabilities(
  queries: Queries,
  tenant: TenantId,
  { before, added, rows }: { readonly before: readonly string[]; readonly added: readonly string[]; readonly rows: number },
): Promise<number> {
  const clients = await queries.selectFrom('clients').select(['client_id', 'scopes']).where('tenant_id', '=', tenant).execute();
  const lacking = clients.filter(({ scopes: text }) => {
    const scopes = JSON.parse(text) as readonly string[]; // a list, as every writer stores it
    return !added.every((scope) => scopes.includes(scope)) && before.every((scope) => scopes.includes(scope));
  });
  let changed = 0;
  for (const { client_id: id, scopes } of lacking.slice(0, rows)) {
    const longer = JSON.stringify([...new Set([...(JSON.parse(scopes) as readonly string[]), ...added])]);
    const done =
      await sql`UPDATE clients SET scopes = ${longer} WHERE tenant_id = ${tenant} AND client_id = ${id} AND scopes = ${scopes}`.execute(
        queries,
      );
    changed += Number(done.numAffectedRows ?? 0n);
  }
  return changed;
}
