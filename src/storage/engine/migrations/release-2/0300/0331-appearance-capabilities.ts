// Clients that have every capability of before have those for branding, mail and domain too: they may still do what asks for all of them.
import { sql } from 'kysely';
import type { TenantId } from '../../../../../domain/ids.ts';
import type { Queries } from '../../../database.ts';

const resources = ['clients', 'resources', 'users', 'groups', 'devices', 'service-providers', 'signing-keys', 'settings', 'events', 'scim'];
const before = [...resources.flatMap((resource) => [`${resource}:read`, `${resource}:write`]), 'users:recover'];
const added = ['branding', 'mail', 'domain'].flatMap((resource) => [`${resource}:read`, `${resource}:write`]);

export async function addAppearanceCapabilities(queries: Queries, tenant: TenantId, rows: number): Promise<number> {
  const clients = await queries.selectFrom('clients').select(['client_id', 'scopes']).where('tenant_id', '=', tenant).execute();
  const lacking = clients.flatMap(({ client_id: id, scopes: text }) => {
    const scopes = JSON.parse(text) as readonly string[]; // a list, as every writer stores it
    const missing = added.filter((scope) => !scopes.includes(scope));
    return missing.length > 0 && before.every((scope) => scopes.includes(scope)) ? [{ id, text, longer: [...scopes, ...missing] }] : [];
  });
  let changed = 0;
  for (const { id, text, longer } of lacking.slice(0, rows)) {
    const done =
      await sql`UPDATE clients SET scopes = ${JSON.stringify(longer)} WHERE tenant_id = ${tenant} AND client_id = ${id} AND scopes = ${text}`.execute(
        queries,
      );
    changed += Number(done.numAffectedRows ?? 0n);
  }
  return changed;
}
