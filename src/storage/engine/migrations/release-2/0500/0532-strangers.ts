// Clients that nobody registered (design 18, part 2): where a client comes from, the documents that are fetched of them, sign-ins to one
// that is no client yet, and what of a consent is said of a resource.
import { addColumn, createTable, type MigrationContext } from '../../table.ts';

export async function strangers(context: MigrationContext): Promise<void> {
  await addColumn(context, 'clients', 'origin', 'text?');
  await addColumn(context, 'clients', 'expires_at', 'integer?');
  await addColumn(context, 'consents', 'resource', 'text?');
  await addColumn(context, 'login_transactions', 'document_client_id', 'text?');
  await createTable(context, 'client_documents', {
    columns: {
      tenant_id: 'text',
      client_id: 'text',
      document: 'text',
      fetched_at: 'integer',
      fresh_until: 'integer',
      used_at: 'integer',
    },
    primaryKey: ['tenant_id', 'client_id'],
    indexes: [{ columns: ['tenant_id', 'used_at'] }],
  });
}
