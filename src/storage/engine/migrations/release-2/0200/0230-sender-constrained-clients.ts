// Clients whose tokens are bound to a key, and the profile they keep to (design 14, 5).
import { addColumn, type MigrationContext } from '../../table.ts';

export async function senderConstrainedClients(context: MigrationContext): Promise<void> {
  await addColumn(context, 'clients', 'profile', 'text?');
  await addColumn(context, 'clients', 'dpop_bound_access_tokens', 'integer=0');
}
