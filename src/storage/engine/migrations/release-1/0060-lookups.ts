// Indexes that deletions and look-ups need: every foreign key is found from its parent without reading the tenant.
import { createIndex, type MigrationContext } from '../table.ts';

export async function lookups(context: MigrationContext): Promise<void> {
  await createIndex(context, 'access_assignments', { columns: ['tenant_id', 'user_id'], where: 'user_id IS NOT NULL' });
  await createIndex(context, 'access_assignments', { columns: ['tenant_id', 'group_id'], where: 'group_id IS NOT NULL' });
  await createIndex(context, 'setup_tokens', { columns: ['tenant_id', 'user_id'], where: 'user_id IS NOT NULL' });
}
