// Roles of administrators (design 13, 4): those a tenant adds, who holds which, and the roles a set-up link gives.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

export async function roles(context: MigrationContext): Promise<void> {
  await createTable(context, 'roles', {
    columns: { tenant_id: 'text', name: 'text', description: 'text?', capabilities: 'text', created_at: 'integer', updated_at: 'integer' },
    primaryKey: ['tenant_id', 'name'],
  });
  await createTable(context, 'user_roles', {
    columns: { tenant_id: 'text', user_id: 'text', role: 'text', custom_role: 'text?', created_at: 'integer' },
    primaryKey: ['tenant_id', 'user_id', 'role'],
    indexes: [{ columns: ['tenant_id', 'role', 'user_id'] }, { columns: ['tenant_id', 'custom_role'] }],
    foreignKeys: [
      { columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] },
      { columns: ['tenant_id', 'custom_role'], table: 'roles', references: ['tenant_id', 'name'] },
    ],
  });
  await addColumn(context, 'setup_tokens', 'roles', 'text?');
}
