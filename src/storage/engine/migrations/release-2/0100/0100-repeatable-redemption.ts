// Which registration an enrolment token began, so that a phone whose answer was lost may redeem it once more.
import { addColumn, type MigrationContext } from '../../table.ts';

export async function repeatableRedemption(context: MigrationContext): Promise<void> {
  await addColumn(context, 'enrollment_tokens', 'registration_id', 'text?');
}
