// Claims asked for one by one, and the acr values a sign-in must meet (OpenID Connect Core 5.5).
import { addColumn, type MigrationContext } from '../../table.ts';

export async function requestedClaims(context: MigrationContext): Promise<void> {
  for (const table of ['login_transactions', 'authorization_codes', 'grants']) await addColumn(context, table, 'claims', 'text?');
  await addColumn(context, 'login_transactions', 'essential_acr', 'text?');
}
