// People whom the receiver of a stream does not want to be told of (SSF 1.0, 8.1.3), and when a stream last delivered anything: in a table of
// its own, because whoever ends a delivery holds the stream's place in the queue, and the feeder locks stream and place the other way round.
import { createTable, type MigrationContext } from '../../table.ts';

export async function ssfSubjects(context: MigrationContext): Promise<void> {
  await createTable(context, 'ssf_removed_subjects', {
    columns: { tenant_id: 'text', stream_id: 'text', user_id: 'text', created_at: 'integer' },
    primaryKey: ['tenant_id', 'stream_id', 'user_id'],
    indexes: [{ columns: ['tenant_id', 'user_id'] }],
    foreignKeys: [
      { columns: ['tenant_id', 'stream_id'], table: 'ssf_streams', references: ['tenant_id', 'id'] },
      { columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] },
    ],
  });
  await createTable(context, 'ssf_deliveries', {
    columns: { tenant_id: 'text', stream_id: 'text', delivered_at: 'integer' },
    primaryKey: ['tenant_id', 'stream_id'],
    foreignKeys: [{ columns: ['tenant_id', 'stream_id'], table: 'ssf_streams', references: ['tenant_id', 'id'] }],
  });
}
