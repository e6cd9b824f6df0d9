// Passkeys of users and the challenges of their ceremonies.
import { createTable, type MigrationContext } from '../table.ts';

// biome-ignore format: tables, a few columns a line
export async function passkeys(context: MigrationContext): Promise<void> {
  await createTable(context, 'passkeys', {
    columns: {
      tenant_id: 'text', id: 'text', user_id: 'text', credential_id: 'text', public_key: 'text', counter: 'integer', transports: "text='[]'",
      backup_eligible: 'integer', backed_up: 'integer', aaguid: 'text', name: 'text', created_at: 'integer', last_used_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'credential_id']],
    indexes: [{ columns: ['tenant_id', 'user_id'] }],
    foreignKeys: [{ columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] }],
    checks: ['backup_eligible IN (0, 1)', 'backed_up IN (0, 1)'],
  });
  await createTable(context, 'passkey_challenges', {
    columns: { tenant_id: 'text', subject: 'text', challenge_hash: 'text', expires_at: 'integer', used_at: 'integer?' },
    primaryKey: ['tenant_id', 'subject'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
}
