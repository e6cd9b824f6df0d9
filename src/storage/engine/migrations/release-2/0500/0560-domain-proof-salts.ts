// What makes the records that prove a provider's domains others whenever the provider becomes somebody else. Of before: none, so that
// records that are published go on.
import { addColumn, type MigrationContext } from '../../table.ts';

export const domainProofSalts = (context: MigrationContext): Promise<void> =>
  addColumn(context, 'identity_providers', 'domain_proof_salt', 'text?');
