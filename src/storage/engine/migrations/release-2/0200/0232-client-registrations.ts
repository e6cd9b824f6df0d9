// Clients that register themselves (RFC 7591, 7592): the tokens that let them, and the token of each to manage itself.
import { createTable, type MigrationContext } from '../../table.ts';

// biome-ignore format: tables, a few columns a line
export async function clientRegistrations(context: MigrationContext): Promise<void> {
  await createTable(context, 'initial_access_tokens', {
    columns: {
      tenant_id: 'text', id: 'text', token_hash: 'text', count: 'integer', used: 'integer=0', hosts: 'text', grant_types: 'text', scopes: 'text', created_at: 'integer', expires_at: 'integer',
    },
    primaryKey: ['tenant_id', 'id'],
    unique: [['tenant_id', 'token_hash']],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
  await createTable(context, 'client_registrations', {
    columns: {
      tenant_id: 'text', client_id: 'text', token_hash: 'text', hosts: 'text', grant_types: 'text', scopes: 'text', created_at: 'integer',
    },
    primaryKey: ['tenant_id', 'client_id'],
    foreignKeys: [{ columns: ['tenant_id', 'client_id'], table: 'clients', references: ['tenant_id', 'client_id'] }],
  });
}
