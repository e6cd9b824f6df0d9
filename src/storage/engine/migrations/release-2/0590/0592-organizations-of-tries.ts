// The organisation somebody tried to sign in for, for those who manage it.
import { addColumn, type MigrationContext } from '../../table.ts';

export const organizationsOfTries = (context: MigrationContext): Promise<void> =>
  addColumn(context, 'sign_in_tries', 'organization_id', 'text?');
