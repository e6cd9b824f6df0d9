// Organisations, the roles of their members, and who is a member (design 19).
import { createTable, type MigrationContext } from '../../table.ts';

const times = { created_at: 'integer', updated_at: 'integer' } as const;

export async function organizations(context: MigrationContext): Promise<void> {
  await createTable(context, 'organization_roles', {
    columns: { tenant_id: 'text', name: 'text', description: 'text?', scopes: 'text', ...times },
    primaryKey: ['tenant_id', 'name'],
  });
  await createTable(context, 'organizations', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      name: 'text',
      display_name: 'text?',
      metadata: 'text',
      enabled: 'integer',
      members: 'integer',
      search_key: 'text',
      ...times,
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'name']],
  });
  await createTable(context, 'organization_members', {
    columns: { tenant_id: 'text', organization_id: 'text', user_id: 'text', roles: 'text', created_at: 'integer' },
    primaryKey: ['tenant_id', 'organization_id', 'user_id'],
    indexes: [{ columns: ['tenant_id', 'user_id', 'organization_id'] }],
    foreignKeys: [
      { columns: ['tenant_id', 'organization_id'], table: 'organizations', references: ['tenant_id', 'id'] },
      { columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] },
    ],
  });
}
