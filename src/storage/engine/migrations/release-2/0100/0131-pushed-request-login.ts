// The sign-in a pushed request started, so that a reload of its address finds the way back (design 14, 5).
import { addColumn, type MigrationContext } from '../../table.ts';

export async function pushedRequestLogin(context: MigrationContext): Promise<void> {
  await addColumn(context, 'pushed_requests', 'transaction_id', 'text?');
}
