// Until when a person lets unknown browsers in (storage/sign-in/sign-in-openings.ts).
import { createTable, type MigrationContext } from '../../table.ts';

export async function signInOpenings(context: MigrationContext): Promise<void> {
  await createTable(context, 'sign_in_openings', {
    columns: { tenant_id: 'text', user_id: 'text', expires_at: 'integer' },
    primaryKey: ['tenant_id', 'user_id'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
    foreignKeys: [{ columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] }],
  });
}
