// Tenants, keys, clients, resources, users, groups, grants with their codes and tokens, audit.
import { createTable, type MigrationContext } from '../table.ts';

const client = { columns: ['tenant_id', 'client_id'], table: 'clients', references: ['tenant_id', 'client_id'] } as const;
const user = { columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] } as const;
const group = { columns: ['tenant_id', 'group_id'], table: 'groups', references: ['tenant_id', 'id'] } as const;
const grant = { columns: ['tenant_id', 'grant_id'], table: 'grants', references: ['tenant_id', 'id'] } as const;

export async function foundation(context: MigrationContext): Promise<void> {
  await createSystemTables(context);
  await createClientTables(context);
  await createPeopleTables(context);
  await createGrantTables(context);
  await createTokenTables(context);
  await createTable(context, 'audit_events', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      created_at: 'integer',
      type: 'text',
      request_id: 'text?',
      actor: 'text?',
      target: 'text?',
      row_id: 'text?',
      reason: 'text?',
      received: 'text?',
      expected: 'text?',
      data: 'text?',
    },
    primaryKey: ['tenant_id', 'id'],
    indexes: [
      { columns: ['tenant_id', 'request_id'], where: 'request_id IS NOT NULL' },
      { columns: ['tenant_id', 'type', 'id'] },
      { columns: ['tenant_id', 'created_at'] },
    ],
  });
}

// biome-ignore format: tables, a few columns a line
async function createSystemTables(context: MigrationContext): Promise<void> {
  await createTable(context, 'instance', { columns: { key: 'text', value: 'text' }, primaryKey: ['key'] });
  await createTable(context, 'config_epochs', {
    columns: { tenant_id: 'text', version: 'integer', changed_at: 'integer' },
    primaryKey: ['tenant_id'],
    indexes: [{ columns: ['changed_at'] }],
  });
  await createTable(context, 'tenants', {
    columns: {
      tenant_id: 'text', slug: 'text', name: 'text', domain: 'text?', enabled: 'integer=1', settings: "text='{}'", secret_encrypted: 'text',
      created_at: 'integer', updated_at: 'integer',
    },
    primaryKey: ['tenant_id'],
    unique: [['slug'], ['domain']],
  });
  await createTable(context, 'signing_keys', {
    columns: {
      tenant_id: 'text', kid: 'text', use: 'text', alg: 'text', state: 'text', private_key_encrypted: 'text', public_jwk: 'text', certificate: 'text?',
      created_at: 'integer', activated_at: 'integer?', retired_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'kid'],
    checks: ["state IN ('next', 'current', 'retired')"],
  });
}

// biome-ignore format: tables, a few columns a line
async function createClientTables(context: MigrationContext): Promise<void> {
  await createTable(context, 'clients', {
    columns: {
      tenant_id: 'text', client_id: 'text', name: 'text', type: 'text', token_endpoint_auth_method: 'text', secret_hash: 'text?', secret_encrypted: 'text?',
      jwks: 'text?', jwks_uri: 'text?', redirect_uris: 'text', post_logout_redirect_uris: 'text', grant_types: 'text', scopes: 'text', resources: 'text',
      require_pkce: 'integer', require_par: 'integer', require_consent: 'integer', authorize_error_delivery: 'text', id_token_signed_response_alg: 'text',
      backchannel_token_delivery_mode: 'text?', backchannel_client_notification_endpoint: 'text?', access_policy: 'text',
      refresh_reuse_leeway_seconds: 'integer', logo_uri: 'text?', enabled: 'integer', created_at: 'integer', updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'client_id'],
    checks: ["type IN ('confidential', 'public')", "access_policy IN ('everyone', 'assigned')", "authorize_error_delivery IN ('direct', 'redirect')"],
  });
  await createTable(context, 'resources', {
    columns: {
      tenant_id: 'text', id: 'text', identifier: 'text', name: 'text', scopes: 'text', access_token_lifetime_seconds: 'integer?', created_at: 'integer', updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'identifier']],
  });
}

// biome-ignore format: tables, a few columns a line
async function createPeopleTables(context: MigrationContext): Promise<void> {
  await createTable(context, 'users', {
    columns: {
      tenant_id: 'text', id: 'text', user_name: 'text?', user_name_key: 'text?', state: 'text', external_id: 'text?', display_name: 'text?', given_name: 'text?',
      family_name: 'text?', middle_name: 'text?', honorific_prefix: 'text?', honorific_suffix: 'text?', name_formatted: 'text?', nick_name: 'text?',
      profile_url: 'text?', title: 'text?', user_type: 'text?', preferred_language: 'text?', locale: 'text?', timezone: 'text?', origin: 'text',
      role: "text='user'", version: 'integer=1', created_at: 'integer', updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'user_name_key']],
    checks: ["state IN ('active', 'suspended', 'deleted')", "role IN ('user', 'admin')"],
  });
  await createTable(context, 'user_emails', {
    columns: { tenant_id: 'text', user_id: 'text', position: 'integer', value: 'text', value_key: 'text', type: 'text?', display: 'text?', is_primary: 'integer=0' },
    primaryKey: ['tenant_id', 'user_id', 'position'],
    unique: [['tenant_id', 'value_key']],
    foreignKeys: [user],
  });
  await createTable(context, 'groups', {
    columns: {
      tenant_id: 'text', id: 'text', display_name: 'text', display_name_key: 'text', origin: 'text', external_id: 'text?', version: 'integer=1',
      created_at: 'integer', updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'display_name_key']],
    checks: ["origin IN ('console', 'scim')"],
  });
  await createTable(context, 'group_members', {
    columns: { tenant_id: 'text', group_id: 'text', user_id: 'text', created_at: 'integer' },
    primaryKey: ['tenant_id', 'group_id', 'user_id'],
    indexes: [{ columns: ['tenant_id', 'user_id'] }],
    foreignKeys: [user, group],
  });
  await createTable(context, 'access_assignments', {
    columns: { tenant_id: 'text', id: 'text', target_kind: 'text', target_id: 'text', user_id: 'text?', group_id: 'text?', created_at: 'integer' },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'target_kind', 'target_id', 'user_id'], ['tenant_id', 'target_kind', 'target_id', 'group_id']],
    foreignKeys: [user, group],
    checks: ['(user_id IS NULL) <> (group_id IS NULL)', "target_kind IN ('client', 'service_provider')"],
  });
}

// biome-ignore format: tables, a few columns a line
async function createGrantTables(context: MigrationContext): Promise<void> {
  await createTable(context, 'grants', {
    columns: {
      tenant_id: 'text', id: 'text', client_id: 'text', user_id: 'text', scope: 'text', resource: 'text?', auth_time: 'integer', acr: 'text?', amr: 'text',
      nonce: 'text?', max_age: 'integer?', created_at: 'integer', expires_at: 'integer', revoked_at: 'integer?', revoked_reason: 'text?',
    },
    primaryKey: ['tenant_id', 'id'],
    indexes: [{ columns: ['tenant_id', 'user_id'] }, { columns: ['tenant_id', 'client_id'] }, { columns: ['tenant_id', 'expires_at'] }],
    foreignKeys: [client, user],
  });
  await createTable(context, 'authorization_codes', {
    columns: {
      tenant_id: 'text', code_hash: 'text', grant_id: 'text', client_id: 'text', user_id: 'text', redirect_uri: 'text', scope: 'text', resource: 'text?',
      nonce: 'text?', code_challenge: 'text?', max_age: 'integer?', auth_time: 'integer', acr: 'text?', amr: 'text', created_at: 'integer', expires_at: 'integer',
      used_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'code_hash'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }, { columns: ['tenant_id', 'client_id'] }, { columns: ['tenant_id', 'user_id'] }],
    foreignKeys: [client, user],
  });
}

// biome-ignore format: tables, a few columns a line
async function createTokenTables(context: MigrationContext): Promise<void> {
  await createTable(context, 'refresh_tokens', {
    columns: {
      tenant_id: 'text', token_hash: 'text', grant_id: 'text', generation: 'integer', created_at: 'integer', expires_at: 'integer', used_at: 'integer?',
      successor_encrypted: 'text?',
    },
    primaryKey: ['tenant_id', 'token_hash'],
    unique: [['tenant_id', 'grant_id', 'generation']],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
    foreignKeys: [grant],
  });
  await createTable(context, 'revoked_tokens', {
    columns: { tenant_id: 'text', jti: 'text', expires_at: 'integer' },
    primaryKey: ['tenant_id', 'jti'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
}
