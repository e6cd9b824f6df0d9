// Security event tokens (design 16, 2): the streams of receivers, what waits for each, the queue of streams that something is to be posted
// for, which is read across tenants (and therefore has no column tenant_id, see 0280), and the emails of people before and after a change.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

// biome-ignore format: tables, a few columns a line
export async function ssf(context: MigrationContext): Promise<void> {
  await createTable(context, 'ssf_streams', {
    columns: {
      tenant_id: 'text', id: 'text', client_id: 'text', method: 'text', url: 'text?', authorization_encrypted: 'text?', events_requested: 'text?', description: 'text?',
      status: "text='enabled'", status_reason: 'text?', status_at: 'integer', position: 'integer', created_at: 'integer', updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'client_id']],
    foreignKeys: [{ columns: ['tenant_id', 'client_id'], table: 'clients', references: ['tenant_id', 'client_id'] }],
  });
  await createTable(context, 'ssf_events', {
    columns: { tenant_id: 'text', id: 'text', stream_id: 'text', type: 'text', seq: 'integer', claims: 'text', created_at: 'integer' },
    primaryKey: ['tenant_id', 'id'],
    indexes: [{ columns: ['tenant_id', 'stream_id', 'created_at', 'seq'] }],
    foreignKeys: [{ columns: ['tenant_id', 'stream_id'], table: 'ssf_streams', references: ['tenant_id', 'id'] }],
  });
  await createTable(context, 'ssf_queue', {
    columns: { tenant: 'text', id: 'text', due_at: 'integer', attempts: 'integer=0' },
    primaryKey: ['tenant', 'id'],
    indexes: [{ columns: ['id', 'due_at'] }],
    foreignKeys: [{ columns: ['tenant', 'id'], table: 'ssf_streams', references: ['tenant_id', 'id'] }],
  });
  await createTable(context, 'email_changes', {
    columns: { tenant_id: 'text', user_id: 'text', version: 'integer', before: 'text?', after: 'text?', created_at: 'integer' },
    primaryKey: ['tenant_id', 'user_id', 'version'],
    indexes: [{ columns: ['tenant_id', 'created_at'] }],
    foreignKeys: [{ columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] }],
  });
  await addColumn(context, 'tenants', 'has_streams', 'integer=0');
}
