// Mapping rules (design 16, 1): the tenant's own table of each kind, and what clients and service providers lay over it.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

export async function mappings(context: MigrationContext): Promise<void> {
  await createTable(context, 'mapping_tables', {
    columns: { tenant_id: 'text', kind: 'text', rules: 'text', updated_at: 'integer' },
    primaryKey: ['tenant_id', 'kind'],
  });
  await addColumn(context, 'clients', 'mappings', "text='[]'");
  await addColumn(context, 'service_providers', 'mappings', "text='[]'");
}
