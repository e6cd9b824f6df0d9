// Which device scanned the code of a waiting sign-in: from then on the approval is that device's alone.
import { addColumn, type MigrationContext } from '../table.ts';

export async function approvalClaims(context: MigrationContext): Promise<void> {
  await addColumn(context, 'approvals', 'claimed_by', 'text?');
}
