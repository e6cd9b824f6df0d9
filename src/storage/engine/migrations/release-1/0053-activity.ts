// How often what happened in a tenant, by the hour: what overviews are drawn from without reading the audit trail.
import { createTable, type MigrationContext } from '../table.ts';

export async function activity(context: MigrationContext): Promise<void> {
  await createTable(context, 'activity_counts', {
    columns: { tenant_id: 'text', id: 'text', hour_at: 'integer', name: 'text', n: 'integer' },
    primaryKey: ['tenant_id', 'id'],
    indexes: [{ columns: ['tenant_id', 'hour_at'] }],
  });
}
