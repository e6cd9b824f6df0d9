// Tries to sign in, each with what happened in it (storage/sign-in/sign-in-tries.ts).
import { createTable, type MigrationContext } from '../../table.ts';

export async function signInTries(context: MigrationContext): Promise<void> {
  await createTable(context, 'sign_in_tries', {
    columns: {
      tenant_id: 'text',
      id: 'text',
      user_id: 'text',
      typed: 'text?',
      typed_key: 'text?',
      subject_check: 'text?',
      application: 'text',
      ip: 'text?',
      address_block: 'text',
      user_agent: 'text?',
      type: 'text',
      failed_check: 'text?',
      request_id: 'text?',
      started_at: 'integer',
      updated_at: 'integer',
      expires_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    indexes: [
      { columns: ['tenant_id', 'started_at', 'id'] },
      { columns: ['tenant_id', 'user_id', 'started_at', 'id'] },
      { columns: ['tenant_id', 'address_block', 'started_at', 'id'] },
      { columns: ['tenant_id', 'application', 'started_at', 'id'] },
      { columns: ['tenant_id', 'expires_at'] },
    ],
  });
  await createTable(context, 'sign_in_lines', {
    columns: {
      tenant_id: 'text',
      try_id: 'text',
      position: 'integer',
      at: 'integer',
      type: 'text',
      failed_check: 'text?',
      detail: 'text?',
      request_id: 'text?',
    },
    primaryKey: ['tenant_id', 'try_id', 'position'],
    indexes: [{ columns: ['tenant_id', 'request_id'], where: 'request_id IS NOT NULL' }],
    foreignKeys: [{ columns: ['tenant_id', 'try_id'], table: 'sign_in_tries', references: ['tenant_id', 'id'] }],
  });
}
