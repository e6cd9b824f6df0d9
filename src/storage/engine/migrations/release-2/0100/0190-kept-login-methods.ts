// Tenants of before keep the ways to sign in they had by default: a new tenant's have PINs by mail among them.
import { sql } from 'kysely';
import type { TenantId } from '../../../../../domain/ids.ts';
import type { Queries } from '../../../database.ts';

/** The default until then, written where nobody chose. */
const methodsOfBefore = ['phone', 'passkey'];

export async function keepLoginMethods(queries: Queries, tenant: TenantId): Promise<number> {
  const row = await queries.selectFrom('tenants').select('settings').where('tenant_id', '=', tenant).executeTakeFirst();
  if (row === undefined) return 0;
  const settings = JSON.parse(row.settings) as Readonly<Record<string, unknown>>; // an object, as every writer stores it
  if (Object.hasOwn(settings, 'login_methods')) return 0;
  // Somebody may change them beside us: then the next look decides anew.
  const { rows } = await sql`UPDATE tenants SET settings = ${JSON.stringify({ ...settings, login_methods: methodsOfBefore })}
    WHERE tenant_id = ${tenant} AND settings = ${row.settings} RETURNING tenant_id`.execute(queries);
  return rows.length === 1 ? 1 : keepLoginMethods(queries, tenant);
}
