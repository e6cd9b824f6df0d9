// The feed of audit records (design 16, section 2): a record has a number once it was read in its tenant's feed, and the feed knows the last.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

export async function eventFeed(context: MigrationContext): Promise<void> {
  await addColumn(context, 'audit_events', 'seq', 'integer?');
  await createTable(context, 'event_feeds', { columns: { tenant_id: 'text', last_seq: 'integer=0' }, primaryKey: ['tenant_id'] });
}
