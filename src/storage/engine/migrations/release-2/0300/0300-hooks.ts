// Hooks (design 16, 3): an endpoint of the tenant for each point, and the claims one added to a sign-in until its tokens are issued.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

// biome-ignore format: a table, a few columns a line
export async function hooks(context: MigrationContext): Promise<void> {
  await createTable(context, 'hooks', {
    columns: {
      tenant_id: 'text', id: 'text', point: 'text', url: 'text', on_failure: 'text', deadline_ms: 'integer', clients: "text='[]'", enabled: 'integer=1',
      secret_encrypted: 'text', previous_secret_encrypted: 'text?', previous_until: 'integer?', created_at: 'integer', updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'point']],
  });
  for (const table of ['authorization_codes', 'grants', 'ciba_requests']) await addColumn(context, table, 'hook_claims', 'text?');
}
