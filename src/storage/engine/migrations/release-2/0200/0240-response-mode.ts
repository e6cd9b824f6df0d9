// How the authorization response of a sign-in is to travel; null is the query.
import { addColumn, type MigrationContext } from '../../table.ts';

export async function responseMode(context: MigrationContext): Promise<void> {
  await addColumn(context, 'login_transactions', 'response_mode', 'text?');
}
