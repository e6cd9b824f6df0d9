// Devices without a browser that wait for somebody to sign in (RFC 8628).
import { createTable, type MigrationContext } from '../../table.ts';

// biome-ignore format: a table, a few columns a line
export async function deviceAuthorizations(context: MigrationContext): Promise<void> {
  await createTable(context, 'device_authorizations', {
    columns: {
      tenant_id: 'text', device_code_hash: 'text', id: 'text', user_code: 'text', client_id: 'text', scope: 'text', resource: 'text?', state: "text='pending'",
      user_id: 'text?', auth_time: 'integer?', acr: 'text?', amr: 'text?', decided_at: 'integer?', initiated_ip: 'text?', initiated_user_agent: 'text?',
      interval_seconds: 'integer', last_polled_at: 'integer?', polled_early: 'integer=0', created_at: 'integer', expires_at: 'integer', used_at: 'integer?', grant_id: 'text?',
    },
    primaryKey: ['tenant_id', 'device_code_hash'],
    unique: [['tenant_id', 'user_code']],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }, { columns: ['tenant_id', 'client_id'] }, { columns: ['tenant_id', 'user_id'] }],
    foreignKeys: [
      { columns: ['tenant_id', 'client_id'], table: 'clients', references: ['tenant_id', 'client_id'] },
      { columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] },
    ],
    checks: ["state IN ('pending', 'approved', 'denied')"],
  });
}
