// What administration needs beside the foundation: one current and one next OIDC key per algorithm, decided by the database,
// and the links that make administrators.
import { createIndex, createTable, type MigrationContext } from '../table.ts';

export async function management(context: MigrationContext): Promise<void> {
  await createIndex(context, 'signing_keys', {
    columns: ['tenant_id', 'alg', 'state'],
    where: "use = 'oidc' AND state <> 'retired'",
    unique: true,
  });
  await createTable(context, 'setup_tokens', {
    columns: {
      tenant_id: 'text',
      token_hash: 'text',
      user_id: 'text?',
      created_at: 'integer',
      expires_at: 'integer',
      used_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'token_hash'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
    foreignKeys: [{ columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] }],
  });
}
