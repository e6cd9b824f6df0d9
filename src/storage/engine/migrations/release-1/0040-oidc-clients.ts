// Client assertions already used; CIBA requests and the outbox of their deliveries; back-channel logout.
import { addColumn, createTable, type MigrationContext } from '../table.ts';

export async function oidcClients(context: MigrationContext): Promise<void> {
  await createTable(context, 'client_assertions', {
    columns: { tenant_id: 'text', jti_hash: 'text', expires_at: 'integer' },
    primaryKey: ['tenant_id', 'jti_hash'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
  await createCibaTables(context);
  await addColumn(context, 'clients', 'backchannel_logout_uri', 'text?');
  // Read across tenants by one job: it says which grant is due when and holds no secret.
  await createTable(context, 'logout_notices', {
    columns: { tenant_id: 'text', grant_id: 'text', due_at: 'integer', attempts: 'integer=0' },
    primaryKey: ['tenant_id', 'grant_id'],
    indexes: [{ columns: ['due_at'] }, { columns: ['grant_id'] }],
  });
}

// biome-ignore format: tables, a few columns a line
async function createCibaTables(context: MigrationContext): Promise<void> {
  await createTable(context, 'ciba_requests', {
    columns: {
      tenant_id: 'text', auth_req_id_hash: 'text', id: 'text', client_id: 'text', user_id: 'text', approval_id: 'text', scope: 'text', resource: 'text?',
      delivery_mode: 'text', notification_encrypted: 'text?', payload_encrypted: 'text?', interval_seconds: 'integer', last_polled_at: 'integer?',
      polled_early: 'integer=0', created_at: 'integer', expires_at: 'integer', used_at: 'integer?', grant_id: 'text?', mail_token_hash: 'text?',
    },
    primaryKey: ['tenant_id', 'auth_req_id_hash'],
    unique: [['tenant_id', 'id'], ['tenant_id', 'approval_id'], ['tenant_id', 'mail_token_hash']],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }, { columns: ['tenant_id', 'client_id'] }, { columns: ['tenant_id', 'user_id'] }],
    foreignKeys: [
      { columns: ['tenant_id', 'client_id'], table: 'clients', references: ['tenant_id', 'client_id'] },
      { columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] },
    ],
    checks: ["delivery_mode IN ('poll', 'ping', 'push')"],
  });
  // Read across tenants by one job: it says who is due when and holds no secret.
  await createTable(context, 'ciba_deliveries', {
    columns: { tenant_id: 'text', request_id: 'text', due_at: 'integer', attempts: 'integer=0' },
    primaryKey: ['tenant_id', 'request_id'],
    indexes: [{ columns: ['due_at'] }, { columns: ['request_id'] }],
  });
}
