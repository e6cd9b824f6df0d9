// What administration needs beside the foundation: one current and one next OIDC key per algorithm, decided by the database.
import { createIndex, type MigrationContext } from './table.ts';

export async function management(context: MigrationContext): Promise<void> {
  await createIndex(context, 'signing_keys', {
    columns: ['tenant_id', 'alg', 'state'],
    where: "use = 'oidc' AND state <> 'retired'",
    unique: true,
  });
}
