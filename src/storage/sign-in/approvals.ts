// Approvals: one row per decision a person is asked for (design 04). pending -> approved | denied | expired, once, by one
// conditional UPDATE. Written by approvals/; the device plane lists and decides, OIDC, SAML and CIBA read the result.
import { type RawBuilder, sql } from 'kysely';
import type { ApprovalId, ClientId, DeviceId, ServiceProviderId, TenantId, TransactionId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { dialectOf } from '../engine/rows/id-list.ts';
import { type Row, statement } from '../engine/statement.ts';

export type ApprovalKind = 'oidc_login' | 'saml_login' | 'ciba' | 'device_add';
export type ApprovalState = 'pending' | 'approved' | 'denied' | 'expired';
export type ClaimedAs = 'camera' | 'app' | 'same_browser' | 'browser';
export type DenyReason = 'not_me' | 'mistake' | 'other' | 'match_failed' | 'hook_denied';

export interface ApprovalTable {
  tenant_id: TenantId;
  id: ApprovalId;
  kind: string;
  state: string;
  /** Null for a decoy: somebody typed an identifier that nobody has. */
  user_id: UserId | null;
  /** What a refusal of pending approvals is counted by: the identifier as it was typed, or the user where nobody typed one. */
  subject_key: string;
  client_id: ClientId | null;
  service_provider_id: ServiceProviderId | null;
  /** Of `device_add`: the device asking to be added. */
  new_device_id: string | null;
  scope: string | null;
  binding_message: string | null;
  /** The two digits shown where the request came from; null when none need be typed. */
  number: string | null;
  /** 1: the user's devices list and decide it. */
  on_devices: number;
  initiated_ip: string | null;
  initiated_user_agent: string | null;
  created_at: number;
  expires_at: number;
  decided_at: number | null;
  /** phone_uv | phone_pop | passkey | email_pin */
  method: string | null;
  acr: string | null;
  /** JSON list. */
  amr: string | null;
  /** Id of the device or passkey; null for a PIN. */
  decided_by: string | null;
  deny_reason: string | null;
  /** The device that claimed the code of the waiting page: nobody else's devices list or decide it. */
  claimed_by: string | null;
  /** The sign-in it decides, if it decides one. */
  transaction_id: TransactionId | null;
  /** camera (of an app) | app (opened by a link) | same_browser (a web phone that is the browser of the sign-in) | browser (one elsewhere). */
  claimed_as: string | null;
  /** Whose budget it is counted in: an address block, a known browser, a client; null for approvals of before. */
  asked_by: string | null;
}

export type Approval = Readonly<ApprovalTable>;

type NewApproval = Pick<
  Approval,
  | 'id'
  | 'user_id'
  | 'subject_key'
  | 'on_devices'
  | 'client_id'
  | 'service_provider_id'
  | 'new_device_id'
  | 'scope'
  | 'binding_message'
  | 'number'
  | 'initiated_ip'
  | 'initiated_user_agent'
  | 'transaction_id'
  | 'asked_by'
> & {
  readonly kind: ApprovalKind;
  /** Epoch milliseconds of the database's clock; null: `lifetime_ms` from now. */
  readonly expires_at: number | null;
  readonly lifetime_ms: number;
};

/** Whether who claimed it shows that the page was in front of them, so that its number need not be typed. */
export const hasSeenThePage = (claimedAs: string | null): boolean => claimedAs === 'camera' || claimedAs === 'same_browser';

const insertStatement = statement((queries, { expires_at, lifetime_ms, ...row }: Row<NewApproval & { tenant_id: TenantId }>) =>
  queries.insertInto('approvals').values({
    ...row,
    state: 'pending',
    created_at: databaseNowMs,
    expires_at: sql<number>`coalesce(${expires_at}, ${databaseNowMs} + ${lifetime_ms})`,
  }),
);

export async function insertApproval(queries: Queries, tenant: TenantId, approval: NewApproval): Promise<void> {
  await insertStatement(queries, { ...approval, tenant_id: tenant });
}

/** An approval row with the database's time, so that `expired` needs no clock of the process. */
export type ApprovalNow = Approval & { readonly now_ms: number };

const findStatement = statement((queries, { tenant, id }: { readonly tenant: TenantId; readonly id: ApprovalId }) =>
  queries.selectFrom('approvals').selectAll().select(databaseNowMs.as('now_ms')).where('tenant_id', '=', tenant).where('id', '=', id),
);

export async function findApproval(queries: Queries, tenant: TenantId, id: string): Promise<ApprovalNow | undefined> {
  return (await findStatement(queries, { tenant, id: id as ApprovalId })).rows[0]; // a look-up key, not yet known to be an id
}

/** The state now: a pending approval past its lifetime is expired, whether or not anybody wrote that down. */
export function approvalStateOf(approval: ApprovalNow): ApprovalState {
  if (approval.state === 'pending' && approval.expires_at <= approval.now_ms) return 'expired';
  return approval.state as ApprovalState; // a constraint of the table
}

const pendingOfUser = statement<{ readonly tenant: TenantId; readonly user: UserId; readonly device: DeviceId }, ApprovalNow>(
  (queries, values) =>
    queries
      .selectFrom('approvals')
      .selectAll()
      .select(databaseNowMs.as('now_ms'))
      .where('tenant_id', '=', values.tenant)
      .where('user_id', '=', values.user)
      .where('on_devices', '=', 1)
      .where('state', '=', 'pending')
      .where('expires_at', '>', databaseNowMs)
      .where((eb) => eb.or([eb('claimed_by', 'is', null), eb('claimed_by', '=', values.device)]))
      .orderBy('created_at')
      .orderBy('id'),
);

/** What a device of a user may decide now, oldest first. Phones poll this. */
export async function listPendingApprovals(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  device: DeviceId,
): Promise<readonly ApprovalNow[]> {
  return (await pendingOfUser(queries, { tenant, user, device })).rows;
}

/**
 * Gives an approval to the device that scanned its code: once, while it waits and the code works. Undefined for everybody
 * else, whatever the reason.
 */
export async function claimApproval(
  queries: Queries,
  tenant: TenantId,
  claim: {
    readonly approvalId: string;
    readonly expiresAtMs: number;
    readonly user: UserId;
    readonly device: DeviceId;
    readonly as: ClaimedAs;
  },
): Promise<ApprovalNow | undefined> {
  return queries
    .updateTable('approvals')
    .set({ claimed_by: claim.device, claimed_as: claim.as })
    .where('tenant_id', '=', tenant)
    .where('id', '=', claim.approvalId as ApprovalId) // a look-up key, not yet known to be an id
    .where('user_id', '=', claim.user)
    .where('on_devices', '=', 1)
    .where('state', '=', 'pending')
    .where('expires_at', '>', databaseNowMs)
    .where('claimed_by', 'is', null)
    .where(sql<boolean>`${databaseNowMs} < ${claim.expiresAtMs}`)
    .returningAll()
    .returning(databaseNowMs.as('now_ms'))
    .executeTakeFirst();
}

/** Approvals counted by who asked. */
export interface AskedApprovals {
  /** Asked for by this very budget. */
  readonly byAsker: number;
  /** Asked for by whoever has none of its own. */
  readonly byStrangers: number;
}

const byStrangers = sql<boolean>`(asked_by IS NULL OR asked_by LIKE 'near:%')`;

/** How many approvals wait on devices and are younger than `periodMs`: of a subject as it was named, or of a person by whatever name. */
export async function countPendingApprovals(
  queries: Queries,
  tenant: TenantId,
  of: ({ readonly subjectKey: string } | { readonly userId: UserId }) & { readonly askedBy: string },
  periodMs: number,
): Promise<AskedApprovals> {
  const pending = queries
    .selectFrom('approvals')
    .select([
      sql<number>`count(CASE WHEN asked_by = ${of.askedBy} THEN 1 END)`.as('byAsker'),
      sql<number>`count(CASE WHEN ${byStrangers} THEN 1 END)`.as('byStrangers'),
    ])
    .where('tenant_id', '=', tenant)
    .where('on_devices', '=', 1)
    .where('state', '=', 'pending')
    .where('expires_at', '>', databaseNowMs)
    .where('created_at', '>', sql<number>`${databaseNowMs} - ${periodMs}`);
  const own = 'userId' in of ? pending.where('user_id', '=', of.userId) : pending.where('subject_key', '=', of.subjectKey);
  return own.executeTakeFirstOrThrow();
}

/** Withdraws what waits on the devices of a user; gives how many. */
export async function withdrawApprovalsOfUser(queries: Queries, tenant: TenantId, user: UserId): Promise<number> {
  const rows = await queries
    .updateTable('approvals')
    .set({ state: 'expired', decided_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('on_devices', '=', 1)
    .where('state', '=', 'pending')
    .where('expires_at', '>', databaseNowMs)
    .returning('id')
    .execute();
  return rows.length;
}

/**
 * Ends what was approved for a person and nobody redeemed yet: all of it, or what these phones, passkeys or links approved. What was
 * redeemed stays as it is.
 */
export async function endApproved(queries: Queries, tenant: TenantId, user: UserId, by?: readonly string[]): Promise<void> {
  const approved = queries
    .updateTable('approvals')
    .set({ state: 'expired' })
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('expires_at', '>', databaseNowMs)
    .where('state', '=', 'approved');
  await (by === undefined ? approved : approved.where('decided_by', 'in', by)).execute();
}

/** Whether the approval of a row is approved, which it stays: whoever ends it (endApproved) waits until the transaction ends. */
export function holdsApproval(queries: Queries, table: 'login_transactions' | 'ciba_requests'): RawBuilder<boolean> {
  const lock = dialectOf(queries) === 'postgres' ? sql`FOR SHARE` : sql``;
  const [tenant, approval] = [sql.ref(`${table}.tenant_id`), sql.ref(`${table}.approval_id`)];
  return sql<boolean>`EXISTS (SELECT 1 FROM approvals AS a WHERE a.tenant_id = ${tenant} AND a.id = ${approval} AND a.state = 'approved' ${lock})`;
}

type NotMeValues = {
  readonly tenant: TenantId;
  readonly user: UserId;
  readonly periodMs: number;
  /** Null: any stranger. */
  readonly askedBy: string | null;
};

const notMeStatement = statement((queries, { tenant, user, periodMs, askedBy }: NotMeValues) =>
  queries
    .selectFrom('approvals')
    .select(['decided_at', databaseNowMs.as('now_ms')])
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('deny_reason', '=', 'not_me')
    .where(sql<boolean>`CASE WHEN CAST(${askedBy} AS text) IS NULL THEN ${byStrangers} ELSE asked_by = ${askedBy} END`)
    .where('decided_at', '>', sql<number>`${databaseNowMs} - ${periodMs}`)
    .orderBy('decided_at', 'desc'),
);

/** When the person denied with `not_me` what one budget, or strangers (null), asked for: newest first, within the last `periodMs`. */
export async function listNotMeTimes(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  periodMs: number,
  askedBy: string | null,
): Promise<readonly { readonly decided_at: number; readonly now_ms: number }[]> {
  const { rows } = await notMeStatement(queries, { tenant, user, periodMs, askedBy });
  return rows.map((row) => ({ decided_at: row.decided_at ?? 0, now_ms: row.now_ms }));
}

interface ApprovalDecision {
  readonly state: 'approved' | 'denied' | 'expired';
  readonly method?: string;
  readonly acr?: string;
  readonly amr?: readonly string[];
  readonly decidedBy?: string | undefined;
  readonly denyReason?: DenyReason;
}

/** pending -> decided, once. Gives the decided row, or undefined when it is not pending any more or has expired. */
export async function decideApproval(
  queries: Queries,
  tenant: TenantId,
  id: ApprovalId,
  decision: ApprovalDecision,
): Promise<Approval | undefined> {
  const { rows } = await decideStatement(queries, {
    tenant_id: tenant,
    id,
    state: decision.state,
    method: decision.method ?? null,
    acr: decision.acr ?? null,
    amr: decision.amr === undefined ? null : JSON.stringify(decision.amr),
    decided_by: decision.decidedBy ?? null,
    deny_reason: decision.denyReason ?? null,
  });
  return rows[0];
}

type Decided = Pick<Approval, 'tenant_id' | 'id' | 'state' | 'method' | 'acr' | 'amr' | 'decided_by' | 'deny_reason'>;

const decideStatement = statement((queries, { tenant_id, id, ...decided }: Row<Decided>) =>
  queries
    .updateTable('approvals')
    .set({ ...decided, decided_at: databaseNowMs })
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .where('expires_at', '>', databaseNowMs)
    .returningAll(),
);
