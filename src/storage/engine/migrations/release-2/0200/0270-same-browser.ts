// Which sign-in an approval decides, so that a phone that is the very browser of it needs no number; null for approvals of before.
import { addColumn, type MigrationContext } from '../../table.ts';

export async function sameBrowser(context: MigrationContext): Promise<void> {
  await addColumn(context, 'approvals', 'transaction_id', 'text?');
  await addColumn(context, 'approvals', 'claimed_as', 'text?');
}
