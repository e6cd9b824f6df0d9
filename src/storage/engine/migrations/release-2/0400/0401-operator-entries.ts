// Operators in other tenants than their own (records/operator-entries.ts).
import { createTable, type MigrationContext } from '../../table.ts';

export async function operatorEntries(context: MigrationContext): Promise<void> {
  await createTable(context, 'operator_entries', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      secret_hash: 'text',
      is_open: 'integer',
      user_id: 'text',
      grant_id: 'text',
      entered_id: 'text',
      created_at: 'integer',
      expires_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
}
