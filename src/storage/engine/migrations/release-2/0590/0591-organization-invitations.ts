// Invitations into organisations, each to an address: whoever has it may have an account or not.
import { createTable, type MigrationContext } from '../../table.ts';

export async function organizationInvitations(context: MigrationContext): Promise<void> {
  await createTable(context, 'organization_invitations', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      organization_id: 'text',
      email: 'text',
      email_key: 'text',
      roles: 'text',
      token_hash: 'text',
      mailed: 'integer',
      invited_by: 'text?',
      created_at: 'integer',
      expires_at: 'integer',
      used_at: 'integer?',
      revoked_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'token_hash']],
    indexes: [
      { columns: ['tenant_id', 'organization_id', 'id'] },
      { columns: ['tenant_id', 'organization_id', 'email_key'] },
      { columns: ['tenant_id', 'expires_at'] },
    ],
    foreignKeys: [{ columns: ['tenant_id', 'organization_id'], table: 'organizations', references: ['tenant_id', 'id'] }],
  });
}
