// Where the metadata of a service provider is read from, and how that went. Apart from the provider, so that a look at an unchanged
// address is no change of configuration.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

export async function metadataRefreshes(context: MigrationContext): Promise<void> {
  await addColumn(context, 'service_providers', 'metadata_url', 'text?');
  await addColumn(context, 'service_providers', 'metadata_certificate', 'text?');
  await createTable(context, 'saml_metadata_refreshes', {
    columns: {
      tenant_id: 'text',
      service_provider_id: 'text',
      source: 'text',
      due_at: 'integer',
      every_ms: 'integer',
      etag: 'text?',
      tried_at: 'integer?',
      refreshed_at: 'integer?',
      failure: 'text?',
      acs: 'text?',
      report: 'text?',
    },
    primaryKey: ['tenant_id', 'service_provider_id'],
    indexes: [{ columns: ['tenant_id', 'due_at'] }],
    foreignKeys: [{ columns: ['tenant_id', 'service_provider_id'], table: 'service_providers', references: ['tenant_id', 'id'] }],
  });
}
