// Outbound SCIM connectors (design 16, 4): the connectors, where each stands, what each person and group is at its target, and which
// members of a group the target was told of. Who has connectors is a column of the tenant, so that nothing here is read across tenants.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

const connector = { columns: ['tenant_id', 'connector_id'], table: 'connectors', references: ['tenant_id', 'id'] } as const;

// biome-ignore format: tables, a few columns a line
export async function connectors(context: MigrationContext): Promise<void> {
  await createTable(context, 'connectors', {
    columns: {
      tenant_id: 'text', id: 'text', name: 'text', enabled: 'integer=1', base_url: 'text', auth: 'text', secret: 'text?', users: "text='all'", groups: "text='[]'",
      mappings: "text='[]'", match: "text='userName'", deprovision: "text='deactivate'", rate: 'integer=10', created_at: 'integer', updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'name']],
  });
  await createTable(context, 'connector_states', {
    columns: {
      tenant_id: 'text', connector_id: 'text', position: 'integer', sync_after: 'text?', not_before: 'integer?', quarantined_at: 'integer?',
      quarantine_reason: 'text?', probe_at: 'integer?', approval_since: 'integer?', approved_at: 'integer=0', window_total: 'integer=0', window_failed: 'integer=0',
      reconcile_at: 'integer', reconciled_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'connector_id'],
    foreignKeys: [connector],
  });
  await createTable(context, 'connector_links', {
    columns: {
      tenant_id: 'text', connector_id: 'text', local_id: 'text', kind: 'text', remote_id: 'text?', hash: 'text?', sent_paths: 'text?', state: 'text',
      mark: 'integer=0', due_at: 'integer?', claimed_until: 'integer=0', attempts: 'integer=0', leaving: 'integer=0', left_at: 'integer?', creates: 'integer=0',
      reason: 'text?', request: 'text?', answer: 'text?', seen_at: 'integer?', created_at: 'integer', updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'connector_id', 'local_id'],
    indexes: [
      { columns: ['tenant_id', 'connector_id', 'kind', 'due_at'], where: 'due_at IS NOT NULL' },
      { columns: ['tenant_id', 'connector_id', 'state', 'local_id'] },
      { columns: ['tenant_id', 'connector_id', 'remote_id'] },
    ],
    foreignKeys: [connector],
  });
  await createTable(context, 'connector_members', {
    columns: { tenant_id: 'text', connector_id: 'text', group_id: 'text', user_id: 'text' },
    primaryKey: ['tenant_id', 'connector_id', 'group_id', 'user_id'],
    indexes: [{ columns: ['tenant_id', 'connector_id', 'user_id'] }],
    foreignKeys: [connector],
  });
  await addColumn(context, 'tenants', 'has_connectors', 'integer=0');
}
