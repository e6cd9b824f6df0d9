// From when a SAML key that is next may sign, and when each service provider last read its metadata.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

export async function samlKeyReaders(context: MigrationContext): Promise<void> {
  await addColumn(context, 'signing_keys', 'signs_from', 'integer?');
  await createTable(context, 'saml_metadata_reads', {
    columns: { tenant_id: 'text', service_provider_id: 'text', read_at: 'integer' },
    primaryKey: ['tenant_id', 'service_provider_id'],
    foreignKeys: [{ columns: ['tenant_id', 'service_provider_id'], table: 'service_providers', references: ['tenant_id', 'id'] }],
  });
}
