// Clients that must sign their authorization requests (RFC 9101).
import { addColumn, type MigrationContext } from '../../table.ts';

export async function signedRequests(context: MigrationContext): Promise<void> {
  await addColumn(context, 'clients', 'require_signed_request_object', 'integer=0');
}
