// Which link to another provider a grant came by (design 17, 2.2).
import { addColumn, type MigrationContext } from '../../table.ts';

export async function providersOfGrants(context: MigrationContext): Promise<void> {
  for (const table of ['authorization_codes', 'grants']) await addColumn(context, table, 'external_identity_id', 'text?');
}
