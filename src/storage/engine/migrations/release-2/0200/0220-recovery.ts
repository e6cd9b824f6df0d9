// Recovery (design 14, 3): a person's codes, and the invitations that are a recovery: why, and the token that stops it.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

export async function recovery(context: MigrationContext): Promise<void> {
  await createTable(context, 'recovery_codes', {
    columns: { tenant_id: 'text', user_id: 'text', code_hmac: 'text', created_at: 'integer', used_at: 'integer?' },
    primaryKey: ['tenant_id', 'user_id', 'code_hmac'],
    foreignKeys: [{ columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] }],
  });
  await addColumn(context, 'invitations', 'recovery_reason', 'text?');
  await addColumn(context, 'invitations', 'stop_hash', 'text?');
  await addColumn(context, 'invitations', 'stopped_at', 'integer?');
}
