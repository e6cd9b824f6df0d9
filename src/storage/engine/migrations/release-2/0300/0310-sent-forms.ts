// Forms of the console that were sent: each acts once.
import { createTable, type MigrationContext } from '../../table.ts';

export async function sentForms(context: MigrationContext): Promise<void> {
  await createTable(context, 'sent_forms', {
    columns: { tenant_id: 'text', form_hash: 'text', location: 'text?', expires_at: 'integer' },
    primaryKey: ['tenant_id', 'form_hash'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
}
