// What the first steps of a tenant's administrators were shown by: a code that came by mail and was typed in, a sign-in that was seen.
import { createTable, type MigrationContext } from '../../table.ts';

export async function firstSteps(context: MigrationContext): Promise<void> {
  await createTable(context, 'first_steps', {
    columns: { tenant_id: 'text', id: 'text', code_hash: 'text?', expires_at: 'integer?', proven_at: 'integer=0' },
    primaryKey: ['tenant_id', 'id'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
}
