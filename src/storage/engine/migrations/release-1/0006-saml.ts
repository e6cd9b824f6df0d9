// Service providers, SAML sessions, request ids already used, and at most one current and one next SAML key of a kind.
import { createIndex, createTable, type MigrationContext } from '../table.ts';

export async function saml(context: MigrationContext): Promise<void> {
  await createTable(context, 'service_providers', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      entity_id: 'text',
      entity_id_hash: 'text',
      name: 'text',
      acs: 'text',
      signing_keys: 'text',
      encryption_key: 'text?',
      require_signed_requests: 'integer',
      signing: 'text',
      encrypt_assertions: 'integer',
      encryption: 'text',
      name_id_formats: 'text',
      idp_initiated_allowed: 'integer',
      relay_states: 'text',
      attribute_map: 'text',
      access_policy: 'text',
      enabled: 'integer',
      created_at: 'integer',
      updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'entity_id_hash']],
    checks: ["signing IN ('both', 'assertion', 'response')", "access_policy IN ('everyone', 'assigned')"],
  });
  await createTable(context, 'saml_sessions', {
    columns: {
      tenant_id: 'text',
      session_hash: 'text',
      service_provider_id: 'text',
      state: 'text',
      binding_hash: 'text',
      acs_url: 'text',
      in_response_to: 'text?',
      idp_initiated: 'integer',
      relay_state: 'text?',
      name_id_format: 'text',
      authn_context_class: 'text',
      user_id: 'text?',
      auth_time: 'integer?',
      created_at: 'integer',
      expires_at: 'integer',
      delivered_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'session_hash'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
    checks: ["state IN ('pending', 'ready', 'delivered')"],
  });
  await createTable(context, 'saml_request_ids', {
    columns: { tenant_id: 'text', request_hash: 'text', expires_at: 'integer' },
    primaryKey: ['tenant_id', 'request_hash'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
  await createIndex(context, 'signing_keys', {
    columns: ['tenant_id', 'use', 'alg', 'state'],
    where: "use = 'saml' AND state <> 'retired'",
    unique: true,
  });
}
