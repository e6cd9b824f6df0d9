// Pushed authorization requests (RFC 9126): validated parameters under the SHA-256 of their reference, consumed once.
import { sql } from 'kysely';
import { pushedRequestsPerClientMax } from '../../contract/limits.ts';
import type { ClientId, TenantId, TransactionId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface PushedRequestTable {
  tenant_id: TenantId;
  reference_hash: string;
  client_id: ClientId;
  /** JSON object of the parameters as they were pushed. */
  parameters: string;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  /** The sign-in that used it up; null when a session answered at once. */
  transaction_id: TransactionId | null;
}

interface NewPushedRequest {
  readonly referenceHash: string;
  readonly clientId: ClientId;
  readonly parameters: string;
  readonly lifetimeSeconds: number;
}

/** Gives false, and stores nothing, when as many requests of the client wait as may. */
export async function insertPushedRequest(queries: Queries, tenant: TenantId, request: NewPushedRequest): Promise<boolean> {
  const { referenceHash, clientId, parameters, lifetimeSeconds } = request;
  const { numAffectedRows } =
    await sql`INSERT INTO pushed_requests (tenant_id, reference_hash, client_id, parameters, created_at, expires_at)
    SELECT ${tenant}, ${referenceHash}, ${clientId}, ${parameters}, ${databaseNowMs}, ${databaseNowMs} + ${lifetimeSeconds * 1000}
    WHERE (SELECT count(*) FROM (SELECT 1 FROM pushed_requests WHERE tenant_id = ${tenant} AND client_id = ${clientId}
      AND used_at IS NULL AND expires_at > ${databaseNowMs} LIMIT ${sql.lit(pushedRequestsPerClientMax)}) AS waiting)
      < ${sql.lit(pushedRequestsPerClientMax)}`.execute(queries);
  return numAffectedRows === 1n;
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
  {
    clientId,
    referenceHash,
    transactionId,
  }: { readonly clientId: ClientId; readonly referenceHash: string; readonly transactionId: TransactionId | undefined },
): Promise<boolean> {
  const rows = await queries
    .updateTable('pushed_requests')
    .set({ used_at: databaseNowMs, transaction_id: transactionId ?? null })
    .where('tenant_id', '=', tenant)
    .where('reference_hash', '=', referenceHash)
    .where('client_id', '=', clientId)
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .returning('reference_hash')
    .execute();
  return rows.length === 1;
}

/** The sign-in a used-up request of this client started, if it did start one. */
export async function findLoginOfPushedRequest(
  queries: Queries,
  tenant: TenantId,
  clientId: ClientId,
  referenceHash: string,
): Promise<TransactionId | undefined> {
  const row = await queries
    .selectFrom('pushed_requests')
    .select('transaction_id')
    .where('tenant_id', '=', tenant)
    .where('reference_hash', '=', referenceHash)
    .where('client_id', '=', clientId)
    .executeTakeFirst();
  return row?.transaction_id ?? undefined;
}
