// Whoever changes who is in an organisation, or who is asked into it, goes one after another: its row is written first.
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';

/** Waits for whoever did so first, until the transaction ends; false: there is no such organisation. */
export async function holdOrganization(queries: Queries, tenant: TenantId, id: string): Promise<boolean> {
  const { numUpdatedRows: rows } = await queries
    .updateTable('organizations')
    .set((eb) => ({ members: eb.ref('members') }))
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .executeTakeFirst();
  return rows === 1n;
}
