// The organisation a request names, the one a person chose, and the one a code, a CIBA request and their grants are of (design 19).
import { addColumn, type MigrationContext } from '../../table.ts';

export async function organizationsOfGrants(context: MigrationContext): Promise<void> {
  await addColumn(context, 'login_transactions', 'organization_id', 'text?');
  await addColumn(context, 'login_transactions', 'chosen_organization_id', 'text?');
  for (const table of ['authorization_codes', 'ciba_requests', 'grants']) await addColumn(context, table, 'organization_id', 'text?');
}
