// Asks a person for a decision: writes the approval that a phone (or the sign-in page) resolves through resolve-approval.ts.
// Used by sign-in, CIBA and the device plane. Caps what waits for one person, in the budgets of asker.ts; somebody who said `not_me`
// twice is left in peace by whoever asked: the approval is written and answered as ever, but no device sees it, so they learn nothing.

import { countMax, farTimesNear, openedTimesFar } from '../contract/limits.ts';
import type { ApprovalId, ClientId, ServiceProviderId, TransactionId, UserId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { randomDigits, randomId } from '../platform/random.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertPushMessages } from '../storage/records/push-messages.ts';
import {
  type ApprovalKind,
  type AskedApprovals,
  countPendingApprovals,
  insertApproval,
  listNotMeTimes,
} from '../storage/sign-in/approvals.ts';
import { takeSend } from '../storage/sign-in/pins.ts';
import { isSignInOpen } from '../storage/sign-in/sign-in-openings.ts';
import { type Asker, nobody, ownBudgetOf, strangerFrom } from './asker.ts';

export interface ApprovalRequest {
  readonly kind: ApprovalKind;
  /** Undefined makes a decoy that nobody can decide. */
  readonly userId: UserId | undefined;
  /** typedSubjectKey(...) or subjectKeyOf(...): what refusals of pending approvals are counted by. */
  readonly subjectKey: string;
  /** False: only the page that made it decides (email PIN, passkey); no caps apply. */
  readonly onDevices: boolean;
  /** Whose budget it is counted in; without devices it is in none. */
  readonly asker?: Asker;
  /** True: nobody is asked, and the one who asks is not told. */
  readonly isCapped?: boolean;
  /** True: two digits must be typed on the phone. CIBA and device_add choose for themselves. */
  readonly withNumber: boolean;
  readonly clientId?: ClientId | undefined;
  readonly serviceProviderId?: ServiceProviderId | undefined;
  readonly newDeviceId?: string | undefined;
  /** The sign-in it decides. */
  readonly transactionId?: TransactionId | undefined;
  readonly scope?: string | undefined;
  readonly bindingMessage?: string | undefined;
  readonly initiatedIp?: string | undefined;
  readonly initiatedUserAgent?: string | undefined;
  /** From now; or use `expiresAtMs`, the end of what it decides. */
  readonly lifetimeSeconds?: number | undefined;
  readonly expiresAtMs?: number | undefined;
}

interface CreatedApproval {
  readonly approvalId: ApprovalId;
  readonly number: string | undefined;
  /** True: the person was asked too often under several names, so nobody is asked. */
  readonly isCapped: boolean;
}

const notMeToBlock = 2;
const notMeWindowMs = 10 * 60 * 1000;
const blockMs = 15 * 60 * 1000;
export const approvalNumberDigits = 2;

/** The subject of a user nobody typed an identifier for. */
export const subjectKeyOf = (userId: UserId | undefined, identifierKey: string): string =>
  userId === undefined ? typedSubjectKey(identifierKey) : `user:${userId}`;

/** The subject of a typed identifier (folded), whether or not somebody has it. */
export const typedSubjectKey = (identifierKey: string): string => `identifier:${identifierKey}`;

/** Whether a subject was typed, and not known from elsewhere. */
export const isTypedSubject = (subjectKey: string): boolean => subjectKey.startsWith(typedSubjectKey(''));

/**
 * Writes a pending approval in the caller's transaction. `too_many_pending`: the cap of approvals waiting on the subject's
 * devices is reached (`approvals_pending_per_user`); the caller answers contract 7.19. The hourly cap
 * (`approvals_per_user`, a rate limit) is the caller's too. A person who is asked too often under several names is left in peace
 * in silence (`isCapped`): a refusal would tell that the names are of one person.
 */
export async function createApproval(
  queries: Queries,
  tenant: Tenant,
  request: ApprovalRequest,
): Promise<Outcome<CreatedApproval, 'too_many_pending'>> {
  const userId = request.userId ?? nobody;
  const asker = request.asker ?? strangerFrom('');
  const pending = request.onDevices ? await judgePending(queries, tenant, { asker, subjectKey: request.subjectKey, userId }) : 'free';
  if (pending === 'refused') return fail('too_many_pending');
  const isCapped = pending === 'capped' || request.isCapped === true;
  const isHidden =
    isCapped ||
    ((await isPersonBlocked(queries, tenant, userId, ownBudgetOf(asker.key))) && !(await isOpenTo(queries, tenant, asker, userId)));
  const approvalId = randomId() as ApprovalId; // made here
  const number = request.withNumber ? randomDigits(approvalNumberDigits) : undefined;
  await insertApproval(queries, tenant.id, {
    id: approvalId,
    kind: request.kind,
    user_id: request.userId ?? null,
    subject_key: request.subjectKey,
    on_devices: Number(request.onDevices && !isHidden),
    client_id: request.clientId ?? null,
    service_provider_id: request.serviceProviderId ?? null,
    new_device_id: request.newDeviceId ?? null,
    transaction_id: request.transactionId ?? null,
    asked_by: request.asker?.key ?? null,
    scope: request.scope ?? null,
    binding_message: request.bindingMessage ?? null,
    number: number ?? null,
    initiated_ip: request.initiatedIp ?? null,
    initiated_user_agent: request.initiatedUserAgent ?? null,
    expires_at: request.expiresAtMs ?? null,
    lifetime_ms: (request.lifetimeSeconds ?? 0) * 1000,
  });
  if (request.onDevices) await insertPushMessages(queries, tenant.id, isHidden ? undefined : request.userId, approvalId);
  return { ok: true, approvalId, number, isCapped: isCapped && request.userId !== undefined };
}

async function judgePending(
  queries: Queries,
  tenant: Tenant,
  { asker, subjectKey, userId }: { readonly asker: Asker; readonly subjectKey: string; readonly userId: UserId },
): Promise<'free' | 'capped' | 'refused'> {
  const cap = tenant.settings.rate_limits.approvals_pending_per_user;
  if (tenant.areLimitsLifted) return 'free';
  // Who asks the same person at the same moment is counted one after the other: each must see the approvals of those before.
  const held = `pending:${userId === nobody ? subjectKey : subjectKeyOf(userId, '')}`;
  await takeSend(queries, tenant.id, held, { cooldownSeconds: 0, sendsPerHourMax: countMax });
  const periodMs = cap.period_seconds * 1000;
  const times = (await isOpenTo(queries, tenant, asker, userId)) ? openedTimesFar : 1;
  const isOver = ({ byAsker, byStrangers }: AskedApprovals): boolean =>
    byAsker >= cap.limit || (asker.isStranger && byStrangers >= cap.limit * farTimesNear * times);
  const askedBy = asker.key;
  const ofSubject = await countPendingApprovals(queries, tenant.id, { subjectKey, askedBy }, periodMs);
  if (isOver(ofSubject)) return 'refused';
  const ofPerson = await countPendingApprovals(queries, tenant.id, { userId, askedBy }, periodMs);
  if (!isOver(ofPerson)) return 'free';
  return subjectKey === subjectKeyOf(userId, '') ? 'refused' : 'capped';
}

/** The person lets strangers in for a while, and this is one. */
const isOpenTo = async (queries: Queries, tenant: Tenant, { isStranger }: Asker, userId: UserId): Promise<boolean> =>
  isStranger && isSignInOpen(queries, tenant.id, userId);

/** Two `not_me` within ten minutes to strangers (null), or to one who has a budget of its own, block them for fifteen from the second one. */
export async function isPersonBlocked(queries: Queries, tenant: Tenant, userId: UserId, askedBy: string | null): Promise<boolean> {
  const times = await listNotMeTimes(queries, tenant.id, userId, blockMs + notMeWindowMs, askedBy);
  return times.some((newer, index) => {
    const older = times[index + notMeToBlock - 1];
    return older !== undefined && newer.decided_at - older.decided_at <= notMeWindowMs && newer.now_ms - newer.decided_at < blockMs;
  });
}
