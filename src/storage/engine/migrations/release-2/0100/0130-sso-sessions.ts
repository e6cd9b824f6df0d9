// Single sign-on sessions (design 14, 1): a row for each account a browser is signed in to, and what was made from one.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

const user = { columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] } as const;

// biome-ignore format: tables, a few columns a line
export async function ssoSessions(context: MigrationContext): Promise<void> {
  await createTable(context, 'sso_sessions', {
    columns: {
      tenant_id: 'text', id: 'text', browser_hash: 'text', user_id: 'text', auth_time: 'integer', acr: 'text?', method: 'text', amr: 'text', device_id: 'text?', passkey_id: 'text?',
      user_agent: 'text?', ip: 'text?', created_at: 'integer', used_at: 'integer', idle_seconds: 'integer', expires_at: 'integer', absolute_at: 'integer', ended_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'id'],
    indexes: [{ columns: ['tenant_id', 'browser_hash'] }, { columns: ['tenant_id', 'user_id'] }, { columns: ['tenant_id', 'expires_at'] }],
    foreignKeys: [user],
  });
  await addColumn(context, 'login_transactions', 'id_token_hint_user', 'text?');
  await addColumn(context, 'login_transactions', 'sso_session_id', 'text?');
  await addColumn(context, 'login_transactions', 'sso_declined', 'integer=0');
  await addColumn(context, 'login_transactions', 'keeps_session', 'integer=1');
  for (const table of ['authorization_codes', 'grants']) {
    await addColumn(context, table, 'sso_session_id', 'text?');
    await addColumn(context, table, 'authorized_at', 'integer?');
  }
  await addColumn(context, 'saml_sessions', 'sso_session_id', 'text?');
}
