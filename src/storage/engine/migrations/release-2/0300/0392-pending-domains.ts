// The domain a tenant asked for and is not served at yet, and since when a TXT record shows that it is its own (design 13, 3).
import { addColumn, type MigrationContext } from '../../table.ts';

export async function pendingDomains(context: MigrationContext): Promise<void> {
  await addColumn(context, 'tenants', 'pending_domain', 'text?');
  await addColumn(context, 'tenants', 'pending_verified_at', 'integer?');
}
