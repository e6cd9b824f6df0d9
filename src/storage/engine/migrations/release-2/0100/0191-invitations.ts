// Invitations (design 13, section 1): the links by which people come to their first passkey or phone.
import { createTable, type MigrationContext } from '../../table.ts';

// biome-ignore format: a table, a few columns a line
export async function invitations(context: MigrationContext): Promise<void> {
  await createTable(context, 'invitations', {
    columns: {
      tenant_id: 'text', id: 'text', user_id: 'text', token_hash: 'text', mailed_to: 'text?', created_at: 'integer', expires_at: 'integer', used_at: 'integer?', revoked_at: 'integer?',
      visit_hash: 'text?', visit_expires_at: 'integer?', enrollment_encrypted: 'text?',
    },
    primaryKey: ['tenant_id', 'id'],
    indexes: [
      { columns: ['tenant_id', 'token_hash'] }, { columns: ['tenant_id', 'visit_hash'], where: 'visit_hash IS NOT NULL' },
      { columns: ['tenant_id', 'user_id'] }, { columns: ['tenant_id', 'expires_at'] },
    ],
    foreignKeys: [{ columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] }],
  });
}
