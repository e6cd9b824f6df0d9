// Pushed authorization requests (RFC 9126), and the keys and replay set of DPoP (RFC 9449).
import { addColumn, createTable, type MigrationContext } from '../table.ts';

export async function oidc(context: MigrationContext): Promise<void> {
  await createTable(context, 'pushed_requests', {
    columns: {
      tenant_id: 'text',
      reference_hash: 'text',
      client_id: 'text',
      parameters: 'text',
      created_at: 'integer',
      expires_at: 'integer',
      used_at: 'integer?',
    },
    primaryKey: ['tenant_id', 'reference_hash'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }, { columns: ['tenant_id', 'client_id'] }],
    foreignKeys: [{ columns: ['tenant_id', 'client_id'], table: 'clients', references: ['tenant_id', 'client_id'] }],
  });
  await createTable(context, 'dpop_proofs', {
    columns: { tenant_id: 'text', proof_hash: 'text', expires_at: 'integer' },
    primaryKey: ['tenant_id', 'proof_hash'],
    indexes: [{ columns: ['tenant_id', 'expires_at'] }],
  });
  await addColumn(context, 'authorization_codes', 'dpop_jkt', 'text?');
  await addColumn(context, 'grants', 'dpop_jkt', 'text?');
}
