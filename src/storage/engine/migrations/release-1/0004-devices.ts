// The device plane: devices and their key slots, registrations on the way to one, rotations, and the sets that make
// requests, challenges and enrolment tokens single use.
import { createTable, type MigrationContext } from '../table.ts';

const user = { columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] } as const;
const device = { columns: ['tenant_id', 'device_id'], table: 'devices', references: ['tenant_id', 'id'] } as const;

export async function devices(context: MigrationContext): Promise<void> {
  await createDeviceTables(context);
  await createRegistrationTables(context);
  await createTable(context, 'device_requests', {
    columns: { tenant_id: 'text', digest: 'text', expires_at: 'integer' },
    primaryKey: ['tenant_id', 'digest'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
  await createTable(context, 'device_rotations', {
    columns: {
      tenant_id: 'text',
      device_id: 'text',
      id: 'text',
      nonce: 'text',
      key_ids: 'text',
      state: 'text',
      confirm_sha256: 'text?',
      answer: 'text?',
      started_at: 'integer',
      expires_at: 'integer',
    },
    primaryKey: ['tenant_id', 'device_id'],
    foreignKeys: [device],
    checks: ["state IN ('open', 'confirmed', 'ended')"],
  });
}

async function createDeviceTables(context: MigrationContext): Promise<void> {
  // Identifiers of devices and key slots that were ever enrolled, over all tenants and for ever: none is given twice.
  await createTable(context, 'device_identifiers', { columns: { id: 'text', claimed_at: 'integer' }, primaryKey: ['id'] });
  await createTable(context, 'devices', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      user_id: 'text',
      state: 'text',
      platform: 'text',
      name: 'text',
      model: 'text?',
      os_version: 'text?',
      app_version: 'text?',
      push_provider: "text='none'",
      push_token_encrypted: 'text?',
      attestation_format: 'text?',
      attestation_app_id: 'text?',
      attestation_public_key: 'text?',
      attestation_counter: 'integer?',
      created_at: 'integer',
      revoked_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'id'],
    indexes: [{ columns: ['tenant_id', 'user_id'] }],
    foreignKeys: [user],
    checks: ["state IN ('active', 'revoked')", "push_provider IN ('apns', 'fcm', 'none')"],
  });
  await createTable(context, 'device_keys', {
    columns: {
      tenant_id: 'text',
      device_id: 'text',
      key_id: 'text',
      purpose: 'text',
      alg: 'text',
      public_key: 'text',
      previous_alg: 'text?',
      previous_public_key: 'text?',
      previous_until: 'integer?',
      created_at: 'integer',
      rotated_at: 'integer?',
      revoked_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'device_id', 'key_id'],
    foreignKeys: [device],
    checks: ["purpose IN ('pop', 'uv')"],
  });
  // Every public key a tenant has ever enrolled, so that none comes back.
  await createTable(context, 'device_key_fingerprints', {
    columns: { tenant_id: 'text', fingerprint: 'text', created_at: 'integer' },
    primaryKey: ['tenant_id', 'fingerprint'],
  });
}

async function createRegistrationTables(context: MigrationContext): Promise<void> {
  await createTable(context, 'device_registrations', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      token_hash: 'text',
      kind: 'text',
      email: 'text?',
      email_key: 'text?',
      user_id: 'text?',
      given_name: 'text?',
      family_name: 'text?',
      locale: 'text?',
      device_id: 'text',
      device: 'text',
      keys: 'text',
      state: 'text',
      attestation_failures: 'integer=0',
      challenge: 'text?',
      approval_id: 'text?',
      created_at: 'integer',
      expires_at: 'integer',
      purge_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'token_hash']],
    indexes: [{ columns: ['tenant_id', 'device_id'] }, { columns: ['tenant_id', 'purge_at'] }],
    checks: ["kind IN ('registration', 'signup', 'enrollment')", "state IN ('unverified', 'verified', 'pending_approval', 'consumed')"],
  });
  await createTable(context, 'attestation_challenges', {
    columns: { tenant_id: 'text', challenge: 'text', device_id: 'text', created_at: 'integer', expires_at: 'integer', used_at: 'integer?' },
    primaryKey: ['tenant_id', 'challenge'],
    indexes: [{ columns: ['tenant_id', 'device_id', 'created_at'] }, { columns: ['tenant_id', 'expires_at'] }],
  });
  await createTable(context, 'enrollment_tokens', {
    columns: {
      tenant_id: 'text',
      token_hash: 'text',
      id: 'text',
      user_id: 'text',
      require_pin: 'integer',
      created_at: 'integer',
      expires_at: 'integer',
      used_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'token_hash'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }, { columns: ['tenant_id', 'user_id'] }],
    foreignKeys: [user],
  });
}
