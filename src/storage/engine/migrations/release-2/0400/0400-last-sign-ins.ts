// When each person and application was last signed in with (registry/last-sign-ins.ts).
import { createTable, type MigrationContext } from '../../table.ts';

export async function lastSignIns(context: MigrationContext): Promise<void> {
  await createTable(context, 'last_sign_ins', {
    columns: { tenant_id: 'text', kind: 'text', id: 'text', at: 'integer' },
    primaryKey: ['tenant_id', 'kind', 'id'],
  });
}
