// The push queue of the device plane.
import { createTable, type MigrationContext } from '../table.ts';

export async function push(context: MigrationContext): Promise<void> {
  await createTable(context, 'push_messages', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      device_id: 'text',
      provider: 'text',
      attempts: 'integer=0',
      next_attempt_at: 'integer',
      expires_at: 'integer',
    },
    primaryKey: ['id'],
    indexes: [{ columns: ['next_attempt_at'] }, { columns: ['expires_at'] }],
    checks: ["provider IN ('apns', 'fcm')"],
  });
}
