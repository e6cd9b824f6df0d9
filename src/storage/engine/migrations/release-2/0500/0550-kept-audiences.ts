// Tenants of before keep what tokens for a resource were: with `openid` they open UserInfo too. A new tenant's do not.
import { sql } from 'kysely';
import type { TenantId } from '../../../../../domain/ids.ts';
import type { Queries } from '../../../database.ts';

export async function keepAudiences(queries: Queries, tenant: TenantId): Promise<number> {
  const row = await queries.selectFrom('tenants').select('settings').where('tenant_id', '=', tenant).executeTakeFirst();
  if (row === undefined) return 0;
  const settings = JSON.parse(row.settings) as Readonly<Record<string, unknown>>; // an object, as every writer stores it
  if (Object.hasOwn(settings, 'userinfo_with_resource')) return 0;
  // Somebody may change them beside us: then the next look decides anew.
  const { rows } = await sql`UPDATE tenants SET settings = ${JSON.stringify({ ...settings, userinfo_with_resource: true })}
    WHERE tenant_id = ${tenant} AND settings = ${row.settings} RETURNING tenant_id`.execute(queries);
  return rows.length === 1 ? 1 : keepAudiences(queries, tenant);
}
