// Webhooks (design 16, 2): the webhooks, how far each has read in the feed, its deliveries, and the queue of those that wait, which is read
// across tenants and holds nothing of them. An ended delivery stays for a while; its row in the queue does not. The queue has no column
// tenant_id: nodes of 0.1.0 start only where every table with one is held to its tenant, but for those they know.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

const webhook = { columns: ['tenant_id', 'webhook_id'], table: 'webhooks', references: ['tenant_id', 'id'] } as const;

// biome-ignore format: tables, a few columns a line
export async function webhooks(context: MigrationContext): Promise<void> {
  await createTable(context, 'webhooks', {
    columns: {
      tenant_id: 'text', id: 'text', url: 'text', types: "text='[]'", enabled: 'integer=1', secret: 'text?', previous_secret: 'text?', previous_until: 'integer?',
      failing_since: 'integer?', disabled_reason: 'text?', created_at: 'integer', updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'url']],
  });
  await createTable(context, 'webhook_positions', {
    columns: { tenant_id: 'text', webhook_id: 'text', position: 'integer' },
    primaryKey: ['tenant_id', 'webhook_id'],
    foreignKeys: [webhook],
  });
  await createTable(context, 'webhook_deliveries', {
    columns: {
      tenant_id: 'text', id: 'text', webhook_id: 'text', event_id: 'text', seq: 'integer', type: 'text', body: 'text', state: 'text', attempts: 'integer=0',
      status: 'integer?', reason: 'text?', answer: 'text?', duration_ms: 'integer?', attempted_at: 'integer?', created_at: 'integer', expires_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'webhook_id', 'event_id']],
    indexes: [{ columns: ['tenant_id', 'webhook_id', 'id'] }, { columns: ['tenant_id', 'webhook_id', 'state', 'id'] }, { columns: ['tenant_id', 'expires_at'] }],
    foreignKeys: [webhook],
  });
  await createTable(context, 'webhook_queue', {
    columns: { tenant: 'text', id: 'text', lane: 'text', due_at: 'integer', attempts: 'integer=0' },
    primaryKey: ['tenant', 'id'],
    indexes: [{ columns: ['lane', 'due_at'] }],
    foreignKeys: [{ columns: ['tenant', 'id'], table: 'webhook_deliveries', references: ['tenant_id', 'id'] }],
  });
  await addColumn(context, 'tenants', 'has_webhooks', 'integer=0');
}
