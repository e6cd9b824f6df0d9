// Issuers whose tokens stand for the secrets of programs, and which of them a client is (design 18, part 3).
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

export async function workloads(context: MigrationContext): Promise<void> {
  await createTable(context, 'workload_issuers', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      name: 'text',
      issuer: 'text',
      keys: 'text',
      audiences: 'text',
      lifetime_seconds_max: 'integer',
      enabled: 'integer',
      created_at: 'integer',
      updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'issuer']],
  });
  await addColumn(context, 'clients', 'workloads', "text='[]'");
  await createTable(context, 'client_workloads', {
    columns: { tenant_id: 'text', client_id: 'text', issuer_hash: 'text', subject_hash: 'text' },
    primaryKey: ['tenant_id', 'client_id', 'issuer_hash', 'subject_hash'],
    indexes: [{ columns: ['tenant_id', 'issuer_hash', 'subject_hash', 'client_id'] }],
    foreignKeys: [{ columns: ['tenant_id', 'client_id'], table: 'clients', references: ['tenant_id', 'client_id'] }],
  });
}
