// Organisations whose members may use a client, service provider or resource (design 19).
import { createTable, type MigrationContext } from '../../table.ts';

export async function organizationAssignments(context: MigrationContext): Promise<void> {
  await createTable(context, 'organization_assignments', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      target_kind: 'text',
      target_id: 'text',
      organization_id: 'text',
      created_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'target_kind', 'target_id', 'organization_id']],
    indexes: [{ columns: ['tenant_id', 'organization_id'] }],
    foreignKeys: [{ columns: ['tenant_id', 'organization_id'], table: 'organizations', references: ['tenant_id', 'id'] }],
  });
}
