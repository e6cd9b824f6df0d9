// Tokens that directories provision with: long-lived, for SCIM alone, kept by their hash.
import { createTable, type MigrationContext } from '../../table.ts';

export async function scimTokens(context: MigrationContext): Promise<void> {
  await createTable(context, 'scim_tokens', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      name: 'text',
      token_hash: 'text',
      created_by: 'text',
      created_at: 'integer',
      expires_at: 'integer?',
      last_used_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'token_hash']],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
}
