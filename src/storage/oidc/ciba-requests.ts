// CIBA requests (contract 3: pending, approved, denied, expired, already used): one row each, looked up by the hash of the
// auth_req_id, decided by its approval. A row outlives its request by a day, so that late polls get the right answer.
import { sql } from 'kysely';
import type { DeliveryMode } from '../../domain/client/client.ts';
import { type HookClaims, loadHookClaims, storeHookClaims } from '../../domain/extending/hook.ts';
import type { ApprovalId, ClientId, GrantId, TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { type ApprovalState, holdsApproval } from '../sign-in/approvals.ts';
import { notedPoll } from './polling.ts';

export interface CibaRequestTable {
  tenant_id: TenantId;
  auth_req_id_hash: string;
  /** UUID: how audit records and deliveries name it. */
  id: string;
  client_id: ClientId;
  user_id: UserId;
  approval_id: ApprovalId;
  scope: string;
  resource: string | null;
  /** The organisation it is for. */
  organization_id: string | null;
  /** poll | ping | push, as registered when it started. */
  delivery_mode: string;
  /** What ping and push need, under the master key: auth_req_id and client_notification_token. Gone after delivery. */
  notification_encrypted: string | null;
  /** The body of a push that was minted, under the master key, so that each attempt sends the same. Gone after delivery. */
  payload_encrypted: string | null;
  interval_seconds: number;
  last_polled_at: number | null;
  /** 1 when the last poll came sooner than the interval. */
  polled_early: number;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  grant_id: GrantId | null;
  /** SHA-256 of the secret of the approval page, when its address was mailed. */
  mail_token_hash: string | null;
  /** JSON of the claims a hook added when the person approved. */
  hook_claims: string | null;
}

type NewCibaRequest = Pick<
  CibaRequestTable,
  | 'auth_req_id_hash'
  | 'id'
  | 'client_id'
  | 'user_id'
  | 'approval_id'
  | 'scope'
  | 'resource'
  | 'organization_id'
  | 'notification_encrypted'
  | 'interval_seconds'
  | 'mail_token_hash'
> & { readonly delivery_mode: DeliveryMode };

export async function insertCibaRequest(
  queries: Queries,
  tenant: TenantId,
  request: NewCibaRequest,
  lifetimeSeconds: number,
): Promise<void> {
  const expiresAt = sql<number>`${databaseNowMs} + ${lifetimeSeconds * 1000}`;
  await queries
    .insertInto('ciba_requests')
    .values({ ...request, tenant_id: tenant, polled_early: 0, created_at: databaseNowMs, expires_at: expiresAt })
    .execute();
}

/** A request with what its approval and user say now. */
export interface StoredCibaRequest {
  readonly authReqIdHash: string;
  readonly id: string;
  readonly clientId: ClientId;
  readonly userId: UserId;
  readonly scope: string;
  readonly resource: string | undefined;
  readonly organizationId: string | undefined;
  readonly deliveryMode: DeliveryMode;
  readonly notificationEncrypted: string | undefined;
  readonly payloadEncrypted: string | undefined;
  readonly state: ApprovalState;
  readonly isUsed: boolean;
  readonly isExpired: boolean;
  readonly expiresAtMs: number;
  readonly nowMs: number;
  readonly grantId: GrantId | undefined;
  readonly decidedAtMs: number;
  readonly acr: string | undefined;
  readonly amr: readonly string[];
  readonly userState: string;
  readonly hookClaims: HookClaims | undefined;
}

/** The request of an auth_req_id, whatever its state and client. */
export function findCibaRequest(queries: Queries, tenant: TenantId, authReqIdHash: string): Promise<StoredCibaRequest | undefined> {
  return findBy(queries, tenant, 'auth_req_id_hash', authReqIdHash);
}

/** The approval a mailed approval page is for; undefined for a secret nobody was sent. */
export async function findApprovalOfMailToken(queries: Queries, tenant: TenantId, mailTokenHash: string): Promise<ApprovalId | undefined> {
  const row = await queries
    .selectFrom('ciba_requests')
    .select('approval_id')
    .where('tenant_id', '=', tenant)
    .where('mail_token_hash', '=', mailTokenHash)
    .executeTakeFirst();
  return row?.approval_id;
}

/** The organisation that the request of an approval names. */
export async function findOrganizationOfApproval(queries: Queries, tenant: TenantId, approval: ApprovalId): Promise<string | undefined> {
  const query = queries
    .selectFrom('ciba_requests')
    .select('organization_id')
    .where('tenant_id', '=', tenant)
    .where('approval_id', '=', approval);
  return (await query.executeTakeFirst())?.organization_id ?? undefined;
}

export function findCibaRequestById(queries: Queries, tenant: TenantId, id: string): Promise<StoredCibaRequest | undefined> {
  return findBy(queries, tenant, 'id', id);
}

async function findBy(
  queries: Queries,
  tenant: TenantId,
  column: 'auth_req_id_hash' | 'id',
  value: string,
): Promise<StoredCibaRequest | undefined> {
  const row = await queries
    .selectFrom('ciba_requests as c')
    .innerJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'c.tenant_id').onRef('u.id', '=', 'c.user_id'))
    .leftJoin('approvals as a', (join) => join.onRef('a.tenant_id', '=', 'c.tenant_id').onRef('a.id', '=', 'c.approval_id'))
    .selectAll('c')
    .select(['u.state as user_state', 'a.state as approval_state', 'a.decided_at', 'a.acr', 'a.amr', databaseNowMs.as('now_ms')])
    .where('c.tenant_id', '=', tenant)
    .where(`c.${column}`, '=', value)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    authReqIdHash: row.auth_req_id_hash,
    id: row.id,
    clientId: row.client_id,
    userId: row.user_id,
    scope: row.scope,
    resource: row.resource ?? undefined,
    organizationId: row.organization_id ?? undefined,
    deliveryMode: row.delivery_mode as DeliveryMode, // a constraint of the table
    notificationEncrypted: row.notification_encrypted ?? undefined,
    payloadEncrypted: row.payload_encrypted ?? undefined,
    state: (row.approval_state ?? 'expired') as ApprovalState, // a constraint of the approvals table; a purged approval is over
    isUsed: row.used_at !== null,
    isExpired: row.expires_at <= row.now_ms,
    expiresAtMs: row.expires_at,
    nowMs: row.now_ms,
    grantId: row.grant_id ?? undefined,
    decidedAtMs: row.decided_at ?? 0,
    acr: row.acr ?? undefined,
    amr: JSON.parse(row.amr ?? '[]'),
    userState: row.user_state,
    hookClaims: loadHookClaims(row.hook_claims),
  };
}

/**
 * Notes a poll of a pending request, and lengthens its interval when it came sooner than the interval after the last one;
 * the first is free. One statement, so that parallel polls are each judged once.
 * @returns true when the poll came too early.
 */
export async function recordCibaPoll(queries: Queries, tenant: TenantId, authReqIdHash: string): Promise<boolean> {
  const row = await queries
    .updateTable('ciba_requests')
    .set(notedPoll)
    .where('tenant_id', '=', tenant)
    .where('auth_req_id_hash', '=', authReqIdHash)
    .returning('polled_early')
    .executeTakeFirst();
  return row?.polled_early === 1;
}

/**
 * Takes the one use of an approved request (R1) for the grant it becomes. `payloadEncrypted` is what a push will send.
 * Gives false when it was used, has expired or is not approved. Who ends the approval waits for the caller's transaction.
 */
export async function redeemCibaRequest(
  queries: Queries,
  tenant: TenantId,
  authReqIdHash: string,
  grantId: GrantId,
  payloadEncrypted: string | null,
): Promise<boolean> {
  const rows = await queries
    .updateTable('ciba_requests')
    .set({ used_at: databaseNowMs, grant_id: grantId, payload_encrypted: payloadEncrypted })
    .where('tenant_id', '=', tenant)
    .where('auth_req_id_hash', '=', authReqIdHash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', databaseNowMs)
    .where(holdsApproval(queries, 'ciba_requests'))
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Keeps the claims a hook added while the person approved, until the request's tokens are issued. */
export async function setCibaHookClaims(queries: Queries, tenant: TenantId, approvalId: ApprovalId, claims: HookClaims): Promise<void> {
  await queries
    .updateTable('ciba_requests')
    .set({ hook_claims: storeHookClaims(claims) })
    .where('tenant_id', '=', tenant)
    .where('approval_id', '=', approvalId)
    .execute();
}

/** Forgets what a finished delivery no longer needs. */
export async function clearCibaNotification(queries: Queries, tenant: TenantId, id: string): Promise<void> {
  await queries
    .updateTable('ciba_requests')
    .set({ notification_encrypted: null, payload_encrypted: null })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .execute();
}
