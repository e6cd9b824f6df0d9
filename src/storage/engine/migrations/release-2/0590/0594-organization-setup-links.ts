// Links by which somebody without an account sets an organisation up, and when its providers were tried.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

export async function organizationSetupLinks(context: MigrationContext): Promise<void> {
  await createTable(context, 'organization_setup_links', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      organization_id: 'text',
      token_hash: 'text',
      created_by: 'text',
      created_at: 'integer',
      expires_at: 'integer',
      used_at: 'integer?',
      revoked_at: 'integer?',
      visit_hash: 'text?',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [
      ['tenant_id', 'token_hash'],
      ['tenant_id', 'visit_hash'],
    ],
    indexes: [{ columns: ['tenant_id', 'organization_id', 'id'] }, { columns: ['tenant_id', 'expires_at'] }],
    foreignKeys: [{ columns: ['tenant_id', 'organization_id'], table: 'organizations', references: ['tenant_id', 'id'] }],
  });
  await addColumn(context, 'organization_providers', 'tested_at', 'integer?');
}
