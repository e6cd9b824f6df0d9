// Asks a person for a decision: writes the approval that a phone (or the sign-in page) resolves through resolve-approval.ts.
// Used by sign-in, CIBA and the device plane. Caps what waits for one person; somebody who said `not_me` twice is left in
// peace: the approval is written and answered as ever, but no device sees it, so the one who asks learns nothing.

import type { ApprovalId, ClientId, ServiceProviderId, UserId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant.ts';
import { randomDigits, randomId } from '../platform/random.ts';
import { type ApprovalKind, countPendingApprovals, insertApproval, listNotMeTimes } from '../storage/approvals.ts';
import type { Queries } from '../storage/database.ts';
import { insertPushMessages } from '../storage/push-messages.ts';

export interface ApprovalRequest {
  readonly kind: ApprovalKind;
  /** Undefined makes a decoy that nobody can decide. */
  readonly userId: UserId | undefined;
  /** subjectKeyOf(...): whom pending approvals are counted by. */
  readonly subjectKey: string;
  /** False: only the page that made it decides (email PIN, passkey); no caps apply. */
  readonly onDevices: boolean;
  /** True: two digits must be typed on the phone. CIBA and device_add choose for themselves. */
  readonly withNumber: boolean;
  readonly clientId?: ClientId | undefined;
  readonly serviceProviderId?: ServiceProviderId | undefined;
  readonly newDeviceId?: string | undefined;
  readonly scope?: string | undefined;
  readonly bindingMessage?: string | undefined;
  readonly initiatedIp?: string | undefined;
  readonly initiatedUserAgent?: string | undefined;
  /** From now; or use `expiresAtMs`, the end of what it decides. */
  readonly lifetimeSeconds?: number | undefined;
  readonly expiresAtMs?: number | undefined;
}

export interface CreatedApproval {
  readonly approvalId: ApprovalId;
  readonly number: string | undefined;
}

const notMeToBlock = 2;
const notMeWindowMs = 10 * 60 * 1000;
const blockMs = 15 * 60 * 1000;
export const approvalNumberDigits = 2;

/** The subject of a user, or of an identifier that nobody has (already folded). */
export const subjectKeyOf = (userId: UserId | undefined, identifierKey: string): string =>
  userId === undefined ? `identifier:${identifierKey}` : `user:${userId}`;

/**
 * Writes a pending approval in the caller's transaction. `too_many_pending`: the cap of approvals waiting on the subject's
 * devices is reached (`approvals_pending_per_user`); the caller answers contract 7.19. The hourly cap
 * (`approvals_per_user`, a rate limit) is the caller's too.
 */
export async function createApproval(
  queries: Queries,
  tenant: Tenant,
  request: ApprovalRequest,
): Promise<Outcome<CreatedApproval, 'too_many_pending'>> {
  const cap = tenant.settings.rate_limits.approvals_pending_per_user;
  if (request.onDevices && cap !== null) {
    const pending = await countPendingApprovals(queries, tenant.id, request.subjectKey, cap.period_seconds * 1000);
    if (pending >= cap.limit) return fail('too_many_pending');
  }
  const isBlocked = await isSubjectBlocked(queries, tenant, request.subjectKey);
  const approvalId = randomId() as ApprovalId; // made here
  const number = request.withNumber ? randomDigits(approvalNumberDigits) : undefined;
  await insertApproval(queries, tenant.id, {
    id: approvalId,
    kind: request.kind,
    user_id: request.userId ?? null,
    subject_key: request.subjectKey,
    on_devices: Number(request.onDevices && !isBlocked),
    client_id: request.clientId ?? null,
    service_provider_id: request.serviceProviderId ?? null,
    new_device_id: request.newDeviceId ?? null,
    scope: request.scope ?? null,
    binding_message: request.bindingMessage ?? null,
    number: number ?? null,
    initiated_ip: request.initiatedIp ?? null,
    initiated_user_agent: request.initiatedUserAgent ?? null,
    expires_at: request.expiresAtMs ?? null,
    lifetime_ms: (request.lifetimeSeconds ?? 0) * 1000,
  });
  if (request.onDevices) await insertPushMessages(queries, tenant.id, isBlocked ? undefined : request.userId, approvalId);
  return { ok: true, approvalId, number };
}

/** Two `not_me` within ten minutes block for fifteen from the second one. */
export async function isSubjectBlocked(queries: Queries, tenant: Tenant, subjectKey: string): Promise<boolean> {
  const times = await listNotMeTimes(queries, tenant.id, subjectKey, blockMs + notMeWindowMs);
  return times.some((newer, index) => {
    const older = times[index + notMeToBlock - 1];
    return older !== undefined && newer.decided_at - older.decided_at <= notMeWindowMs && newer.now_ms - newer.decided_at < blockMs;
  });
}
