// For which organisation people sign in at a service provider, and a sign-in that is under way.
import { addColumn, type MigrationContext } from '../../table.ts';

export async function organizationsOfServiceProviders(context: MigrationContext): Promise<void> {
  await addColumn(context, 'service_providers', 'organization', 'text?');
  await addColumn(context, 'saml_sessions', 'organization_id', 'text?');
}
