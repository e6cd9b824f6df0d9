// Sign-in with other providers (design 14, 2): the providers, the answers we wait for, and who is linked to whom.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

const provider = { columns: ['tenant_id', 'provider_id'], table: 'identity_providers', references: ['tenant_id', 'id'] } as const;
const user = { columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] } as const;

// biome-ignore format: tables, a few columns a line
export async function identityProviders(context: MigrationContext): Promise<void> {
  await createTable(context, 'identity_providers', {
    columns: {
      tenant_id: 'text', id: 'text', alias: 'text', kind: 'text', name: 'text', issuer: 'text?', client_id: 'text?', client_secret: 'text?', scopes: "text='[]'", tenants: "text='[]'",
      trust_email: 'integer=0', create_users: 'integer=0', attribute_map: "text='{}'", acr_map: "text='{}'", enabled: 'integer=1', created_at: 'integer', updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'alias']],
  });
  await createTable(context, 'external_logins', {
    columns: {
      tenant_id: 'text', state_hash: 'text', provider_id: 'text', transaction_id: 'text', sealed: 'text', created_at: 'integer', expires_at: 'integer', used_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'state_hash'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }, { columns: ['tenant_id', 'provider_id'] }],
    foreignKeys: [provider],
  });
  await createTable(context, 'external_identities', {
    columns: {
      tenant_id: 'text', id: 'text', provider_id: 'text', issuer: 'text', subject: 'text', identity_hash: 'text', user_id: 'text', email: 'text?', created_at: 'integer', used_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'identity_hash']],
    indexes: [{ columns: ['tenant_id', 'user_id'] }, { columns: ['tenant_id', 'provider_id'] }],
    foreignKeys: [provider, user],
  });
  await addColumn(context, 'login_transactions', 'external_identity', 'text?');
  await addColumn(context, 'sso_sessions', 'external_identity_id', 'text?');
  await addColumn(context, 'sso_sessions', 'external_session_id', 'text?');
}
