// What the account page shows: when a device was last seen, and whose account an audit record is about.
import { addColumn, createIndex, type MigrationContext } from '../table.ts';

export async function account(context: MigrationContext): Promise<void> {
  await addColumn(context, 'devices', 'last_seen_at', 'integer?');
  await addColumn(context, 'audit_events', 'user_id', 'text?');
  await createIndex(context, 'audit_events', { columns: ['tenant_id', 'user_id', 'id'], where: 'user_id IS NOT NULL' });
}
