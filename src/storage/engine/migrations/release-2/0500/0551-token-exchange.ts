// What a client may trade tokens for (design 18, part 4).
import { addColumn, type MigrationContext } from '../../table.ts';

export async function tokenExchange(context: MigrationContext): Promise<void> {
  await addColumn(context, 'clients', 'serves', "text='[]'");
  await addColumn(context, 'clients', 'exchange', "text='[]'");
}
