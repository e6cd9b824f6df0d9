// Directories of LDAP that people are copied from (design 20, 1): the directories, where each stands, and who here each of their entries is.
// When the first of a tenant's may be due is a column of the tenant, so that nothing here is read across tenants.
import { addColumn, createIndex, createTable, type MigrationContext } from '../../table.ts';

const directory = { columns: ['tenant_id', 'directory_id'], table: 'directories', references: ['tenant_id', 'id'] } as const;

// biome-ignore format: tables, a few columns a line
export async function directories(context: MigrationContext): Promise<void> {
  await createTable(context, 'directories', {
    columns: {
      tenant_id: 'text', id: 'text', name: 'text', enabled: 'integer=1', kind: 'text', url: 'text', starttls: 'integer=0', ca: 'text?', bind_dn: 'text',
      bind_password: 'text?', base_dn: 'text', user_filter: 'text?', id_attribute: 'text?', groups: "text='none'", group_base_dn: 'text?', group_filter: 'text?',
      mappings: "text='[]'", match: "text='none'", deprovision: "text='suspend'", every_minutes: 'integer=15', full_every_hours: 'integer=24',
      created_at: 'integer', updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'name']],
  });
  await createTable(context, 'directory_states', {
    columns: {
      tenant_id: 'text', directory_id: 'text', change_mark: 'text?', change_server: 'text?', next_at: 'integer?', asked_at: 'integer?', asked_full: 'integer=0',
      full_at: 'integer?', run: 'integer=0', run_began_at: 'integer?', run_full: 'integer=0', held_since: 'integer?', approved_at: 'integer=0', last_run: 'text?',
      failure: 'text?', failure_detail: 'text?', failed_at: 'integer?', failures: 'integer=0',
    },
    primaryKey: ['tenant_id', 'directory_id'],
    indexes: [{ columns: ['tenant_id', 'next_at'], where: 'next_at IS NOT NULL' }],
    foreignKeys: [directory],
  });
  await createTable(context, 'directory_links', {
    columns: {
      tenant_id: 'text', directory_id: 'text', remote_id: 'text', kind: 'text', local_id: 'text?', dn: 'text', dn_hash: 'text', hash: 'text?', run: 'integer=0',
      state: 'text', reason: 'text?', leaving: 'integer=0', left_at: 'integer?', creates: 'integer=0', created_at: 'integer', updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'directory_id', 'remote_id'],
    indexes: [
      { columns: ['tenant_id', 'directory_id', 'state', 'remote_id'] },
      { columns: ['tenant_id', 'directory_id', 'dn_hash'] },
      { columns: ['tenant_id', 'directory_id', 'leaving', 'remote_id'], where: 'leaving > 0' },
    ],
    foreignKeys: [directory],
  });
  // Nobody here is two entries, whatever directories they stand in.
  await createIndex(context, 'directory_links', { columns: ['tenant_id', 'local_id'], where: 'local_id IS NOT NULL', unique: true });
  await addColumn(context, 'tenants', 'directories_due_at', 'integer?');
}
