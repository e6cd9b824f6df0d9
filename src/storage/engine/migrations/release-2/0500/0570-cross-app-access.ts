// At which other servers a client speaks for people, and which providers speak for theirs here (design 18, part 5).
import { addColumn, type MigrationContext } from '../../table.ts';

export async function crossAppAccess(context: MigrationContext): Promise<void> {
  await addColumn(context, 'clients', 'cross_app_access', "text='[]'");
}

export async function crossAppProviders(context: MigrationContext): Promise<void> {
  await addColumn(context, 'identity_providers', 'cross_app', 'integer=0');
}
