// Who made a client and an initial access token, and who made or gave a client's secret or keys last (design 17): they know it, also once
// they are suspended. Of before, nobody is named.
import { addColumn, type MigrationContext } from '../../table.ts';

export async function makers(context: MigrationContext): Promise<void> {
  await addColumn(context, 'clients', 'created_by', 'text?');
  await addColumn(context, 'clients', 'secret_by', 'text?');
  await addColumn(context, 'clients', 'secret_at', 'integer?');
  await addColumn(context, 'initial_access_tokens', 'created_by', 'text?');
}
