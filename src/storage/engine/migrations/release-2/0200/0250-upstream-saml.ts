// SAML providers and answers by form post (design 14, 2): the provider's metadata, how an OpenID provider answers, and the answer that
// waits for the browser of the sign-in, under the hash of a key only that browser is given.
import { addColumn, type MigrationContext } from '../../table.ts';

export async function upstreamSaml(context: MigrationContext): Promise<void> {
  await addColumn(context, 'identity_providers', 'metadata', 'text?');
  await addColumn(context, 'identity_providers', 'response_mode', "text='query'");
  await addColumn(context, 'external_logins', 'answer', 'text?');
  await addColumn(context, 'external_logins', 'answer_hash', 'text?');
}
