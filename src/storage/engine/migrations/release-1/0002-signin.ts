// Sign-in: approvals, login transactions, PINs with their mailboxes' budgets, remembered consents, the mail outbox.
import { createTable, type MigrationContext } from '../table.ts';

const client = { columns: ['tenant_id', 'client_id'], table: 'clients', references: ['tenant_id', 'client_id'] } as const;
const user = { columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] } as const;

// biome-ignore format: tables, a few columns a line
export async function signin(context: MigrationContext): Promise<void> {
  await createTable(context, 'approvals', {
    columns: {
      tenant_id: 'text', id: 'text', kind: 'text', state: "text='pending'", user_id: 'text?', subject_key: 'text', client_id: 'text?', service_provider_id: 'text?',
      new_device_id: 'text?', scope: 'text?', binding_message: 'text?', number: 'text?', on_devices: 'integer=0', initiated_ip: 'text?', initiated_user_agent: 'text?',
      created_at: 'integer', expires_at: 'integer', decided_at: 'integer?', method: 'text?', acr: 'text?', amr: 'text?', decided_by: 'text?', deny_reason: 'text?',
    },
    primaryKey: ['tenant_id', 'id'],
    indexes: [{ columns: ['tenant_id', 'user_id', 'expires_at'] }, { columns: ['tenant_id', 'subject_key', 'created_at'] }, { columns: ['tenant_id', 'expires_at'] }],
    foreignKeys: [user],
    checks: ["kind IN ('oidc_login', 'saml_login', 'ciba', 'device_add')", "state IN ('pending', 'approved', 'denied', 'expired')"],
  });
  await createTable(context, 'login_transactions', {
    columns: {
      tenant_id: 'text', id: 'text', kind: 'text', binding_hash: 'text', step: "text='identify'", client_id: 'text?', service_provider_id: 'text?', display_name: 'text?',
      redirect_uri: 'text?', scope: 'text?', resource: 'text?', request_state: 'text?', nonce: 'text?', code_challenge: 'text?', dpop_jkt: 'text?', max_age: 'integer?',
      acr_values: 'text?', prompt: 'text?', login_hint: 'text?', ui_locales: 'text?', saml_session_sealed: 'text?', identifier: 'text?', user_id: 'text?', subject_key: 'text?', mail_key: 'text?',
      methods: "text='[]'", approval_id: 'text?', initiated_ip: 'text?', initiated_user_agent: 'text?', lifetime_seconds: 'integer', created_at: 'integer',
      expires_at: 'integer', finished_at: 'integer?', outcome: 'text?',
    },
    primaryKey: ['tenant_id', 'id'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }, { columns: ['tenant_id', 'client_id'] }, { columns: ['tenant_id', 'user_id'] }],
    foreignKeys: [client, user],
    checks: ["kind IN ('oidc', 'saml')", "step IN ('identify', 'choose', 'waiting', 'pin', 'passkey')"],
  });
  await createTable(context, 'pins', {
    columns: {
      tenant_id: 'text', id: 'text', purpose: 'text', subject_id: 'text', mail_key: 'text', pin_hmac: 'text', attempts: 'integer=0', attempts_max: 'integer',
      created_at: 'integer', expires_at: 'integer', replaced_at: 'integer?', used_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'id'],
    indexes: [{ columns: ['tenant_id', 'purpose', 'subject_id'] }, { columns: ['tenant_id', 'expires_at'] }],
  });
  await createTable(context, 'pin_mailboxes', {
    columns: {
      tenant_id: 'text', mail_key: 'text', last_sent_at: 'integer?', sends: 'integer=0', sends_since: 'integer=0', failures: 'integer=0', failures_since: 'integer=0',
      expires_at: 'integer',
    },
    primaryKey: ['tenant_id', 'mail_key'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
  await createTable(context, 'consents', {
    columns: { tenant_id: 'text', user_id: 'text', client_id: 'text', scope_set: 'text', created_at: 'integer' },
    primaryKey: ['tenant_id', 'user_id', 'client_id', 'scope_set'],
    indexes: [{ columns: ['tenant_id', 'client_id'] }],
    foreignKeys: [client, user],
  });
  // One mail queue for the deployment: the sender and the operator's outbox read it across tenants.
  await createTable(context, 'outbox_messages', {
    columns: {
      tenant_id: 'text', id: 'text', recipient: 'text', recipient_key: 'text', subject: 'text', text: 'text', html: 'text', state: "text='waiting'", attempts: 'integer=0',
      next_attempt_at: 'integer', created_at: 'integer', expires_at: 'integer',
    },
    primaryKey: ['id'],
    indexes: [{ columns: ['recipient_key', 'id'] }, { columns: ['next_attempt_at'], where: "state = 'waiting'" }, { columns: ['expires_at'] }],
    checks: ["state IN ('waiting', 'kept', 'discarded')"],
  });
}
