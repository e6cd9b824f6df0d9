// Pushed authorization requests (RFC 9126): validated parameters under the SHA-256 of their reference, consumed once.
import { sql } from 'kysely';
import type { ClientId, TenantId } from '../domain/ids.ts';
import type { Queries } from './database.ts';
import { databaseNowMs } from './instance.ts';

export interface PushedRequestTable {
  tenant_id: TenantId;
  reference_hash: string;
  client_id: ClientId;
  /** JSON object of the parameters as they were pushed. */
  parameters: string;
  created_at: number;
  expires_at: number;
  used_at: number | null;
}

export interface NewPushedRequest {
  readonly referenceHash: string;
  readonly clientId: ClientId;
  readonly parameters: string;
  readonly lifetimeSeconds: number;
}

export async function insertPushedRequest(queries: Queries, tenant: TenantId, request: NewPushedRequest): Promise<void> {
  await queries
    .insertInto('pushed_requests')
    .values({
      tenant_id: tenant,
      reference_hash: request.referenceHash,
      client_id: request.clientId,
      parameters: request.parameters,
      created_at: databaseNowMs,
      expires_at: sql<number>`${databaseNowMs} + ${request.lifetimeSeconds * 1000}`,
      used_at: null,
    })
    .execute();
}

/** The parameters of a request this client pushed, while it can still be used. */
export async function findPushedRequest(
  queries: Queries,
  tenant: TenantId,
  clientId: ClientId,
  referenceHash: string,
): Promise<string | undefined> {
  const row = await queries
    .selectFrom('pushed_requests')
    .select('parameters')
    .where('tenant_id', '=', tenant)
    .where('reference_hash', '=', referenceHash)
    .where('client_id', '=', clientId)
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .executeTakeFirst();
  return row?.parameters;
}

/** Uses the request up, in the transaction that starts the interaction. Gives false when somebody else did or it expired. */
export async function consumePushedRequest(
  queries: Queries,
  tenant: TenantId,
  clientId: ClientId,
  referenceHash: string,
): Promise<boolean> {
  const rows = await queries
    .updateTable('pushed_requests')
    .set({ used_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('reference_hash', '=', referenceHash)
    .where('client_id', '=', clientId)
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .returning('reference_hash')
    .execute();
  return rows.length === 1;
}
