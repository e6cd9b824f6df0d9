// Whose key signs for a service provider: the tenant's, or one of its own.
import { addColumn, type MigrationContext } from '../../table.ts';

export async function ownSamlKeys(context: MigrationContext): Promise<void> {
  await addColumn(context, 'service_providers', 'signing_key', "text='tenant'");
}
