// Web Push subscriptions of devices (the constraint of push_provider is older than them) and whose push service they are of, what became of each device's last push, the
// key a tenant shows to push services, and credentials that a vendor refused.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

export async function pushResults(context: MigrationContext): Promise<void> {
  await addColumn(context, 'devices', 'web_push_encrypted', 'text?');
  await addColumn(context, 'devices', 'web_push_vendor', 'text?');
  await addColumn(context, 'devices', 'push_tried_at', 'integer?');
  await addColumn(context, 'devices', 'push_outcome', 'text?');
  await addColumn(context, 'devices', 'push_reason', 'text?');
  await createTable(context, 'vapid_keys', {
    columns: { tenant_id: 'text', public_key: 'text', private_key_encrypted: 'text', created_at: 'integer' },
    primaryKey: ['tenant_id'],
  });
  await createTable(context, 'push_refusals', {
    columns: { tenant_id: 'text', provider: 'text', reason: 'text', refused_at: 'integer' },
    primaryKey: ['tenant_id', 'provider'],
  });
}
