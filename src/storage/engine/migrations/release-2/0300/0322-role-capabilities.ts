// Clients that have every capability of before have those of roles, invitations and, in the root tenant, tenants too: they may still do
// what asks for all of them.
import { sql } from 'kysely';
import type { TenantId } from '../../../../../domain/ids.ts';
import type { Queries } from '../../../database.ts';

const resources = ['clients', 'resources', 'users', 'groups', 'devices', 'service-providers', 'signing-keys', 'settings', 'events', 'scim'];
const bothOf = (names: readonly string[]): readonly string[] => names.flatMap((name) => [`${name}:read`, `${name}:write`]);
const before = [...bothOf(resources), 'users:recover'];
const added = bothOf(['administrators', 'invitations']);
const ofRoot = bothOf(['tenants']);

export async function addRoleCapabilities(queries: Queries, tenant: TenantId, rows: number): Promise<number> {
  const slug = (await queries.selectFrom('tenants').select('slug').where('tenant_id', '=', tenant).executeTakeFirst())?.slug;
  const wanted = slug === 'main' ? [...added, ...ofRoot] : added;
  const clients = await queries.selectFrom('clients').select(['client_id', 'scopes']).where('tenant_id', '=', tenant).execute();
  let changed = 0;
  for (const { client_id: id, scopes: text } of clients) {
    if (changed >= rows) break;
    const scopes = JSON.parse(text) as readonly string[]; // a list, as every writer stores it
    const missing = wanted.filter((scope) => !scopes.includes(scope));
    if (missing.length === 0 || !before.every((scope) => scopes.includes(scope))) continue;
    const longer = JSON.stringify([...scopes, ...missing]);
    const done =
      await sql`UPDATE clients SET scopes = ${longer} WHERE tenant_id = ${tenant} AND client_id = ${id} AND scopes = ${text}`.execute(
        queries,
      );
    changed += Number(done.numAffectedRows ?? 0n);
  }
  return changed;
}
