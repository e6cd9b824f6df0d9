// Client assertions already used.
import { createTable, type MigrationContext } from './table.ts';

export async function oidcClients(context: MigrationContext): Promise<void> {
  await createTable(context, 'client_assertions', {
    columns: { tenant_id: 'text', jti_hash: 'text', expires_at: 'integer' },
    primaryKey: ['tenant_id', 'jti_hash'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
}
