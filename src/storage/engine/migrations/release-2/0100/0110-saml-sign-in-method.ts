// How the person of a SAML session signed in: it decides which authentication context class is stated.
import { addColumn, type MigrationContext } from '../../table.ts';

export async function samlSignInMethod(context: MigrationContext): Promise<void> {
  await addColumn(context, 'saml_sessions', 'method', 'text?');
}
