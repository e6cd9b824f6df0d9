// What tenants make pages and mails look like (design 13, 3): pictures by their SHA-256 (bytes as base64), and drafts, what is published and
// what was before, by kind and name.
import { createTable, type MigrationContext } from '../../table.ts';

// biome-ignore format: tables, a few columns a line
export async function appearance(context: MigrationContext): Promise<void> {
  await createTable(context, 'images', {
    columns: {
      tenant_id: 'text', sha256: 'text', type: 'text', width: 'integer', height: 'integer', size_bytes: 'integer', content: 'text', created_at: 'integer',
    },
    primaryKey: ['tenant_id', 'sha256'],
  });
  await createTable(context, 'customizations', {
    columns: {
      tenant_id: 'text', kind: 'text', name: 'text', draft: 'text?', published: 'text?', previous: 'text?', updated_at: 'integer',
    },
    primaryKey: ['tenant_id', 'kind', 'name'],
  });
}
