// A further device of a user: the tenant's policy says who must vouch for it (design 05, `additional_device`). Under
// `existing_device` the registration waits, with a number, for an approval on one of the user's devices. Nor does mail alone add
// the first phone beside a passkey (design 14, 3), or of an administrator whom a mailed code would not let in (design 17, 2.2).

import { createApproval, subjectKeyOf } from '../../approvals/approval.ts';
import { ownAsker } from '../../approvals/asker.ts';
import { strongMethodsOf } from '../../approvals/link-identity.ts';
import { reject } from '../../contract/contract-error.ts';
import { ownTimesNear } from '../../contract/limits.ts';
import type { UserId } from '../../domain/ids.ts';
import { emailPinMethod } from '../../domain/sign-in/login-methods.ts';
import type { Settings } from '../../domain/tenant/settings.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { rateLimited, takeRate } from '../../http/budgets/rate-limits.ts';
import { consumeRegistration, parkRegistration, type Registration } from '../../storage/device/device-registrations.ts';
import { countActiveDevices } from '../../storage/device/devices.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { findUser } from '../../storage/people/users.ts';
import { type ApprovalNow, approvalStateOf, findApproval } from '../../storage/sign-in/approvals.ts';
import type { SignedRequest } from '../signed-call.ts';
import { isoTime } from '../times.ts';
import { tokenInvalid } from './registration-token.ts';

/** Whoever asks proved the mailbox: strangers spend nothing of theirs. */
const proven = ownAsker('device_add');

/** What a phone shows while its user approves it elsewhere. */
export interface Waiting {
  readonly number: string;
  readonly expires_at: string;
}

/** Whether the device may be made now, must wait, or was denied. The first device of a user needs nobody's word, unless mail alone would add it where it is not enough. */
export async function judgeSecondDevice(
  queries: Queries,
  signed: SignedRequest,
  registration: Registration,
  userId: UserId,
): Promise<'enrol' | 'needs_approval' | 'denied'> {
  const { tenant } = signed;
  const policy = await policyFor(queries, tenant, userId);
  if (registration.state === 'pending_approval') return judgeApproval(queries, signed, registration);
  if (policy === emailPinMethod) return 'enrol';
  const isFirst = (await countActiveDevices(queries, tenant.id, userId)) === 0;
  if (isFirst && registration.kind === 'registration' && !(await isMailEnough(queries, tenant, userId)))
    throw reject('device.admin_enrollment_required', { reason: 'mail_alone', received: registration.kind });
  if (isFirst) return 'enrol';
  if (policy === 'existing_device') return 'needs_approval';
  if (registration.kind === 'enrollment') return 'enrol';
  throw reject('device.admin_enrollment_required', { reason: 'additional_device', expected: policy, received: registration.kind });
}

/** Whether a mailbox adds the first phone: of who has no passkey, and of who administers only where a mailed code would let them in anyway. */
async function isMailEnough(queries: Queries, tenant: Tenant, userId: UserId): Promise<boolean> {
  if ((await strongMethodsOf(queries, tenant, userId)).length > 0) return false;
  return tenant.settings.login_methods.includes(emailPinMethod) || (await findUser(queries, tenant.id, userId))?.role !== 'admin';
}

/** Who must vouch for a further device. A mailbox alone adds none for whoever administers (design 17, 2.2). */
async function policyFor(queries: Queries, { id, settings }: Tenant, userId: UserId): Promise<Settings['device']['additional_device']> {
  const { additional_device: policy } = settings.device;
  if (policy !== emailPinMethod) return policy;
  return (await findUser(queries, id, userId))?.role === 'admin' ? 'existing_device' : policy;
}

/** Counts a request for an approval before it is made (contract 7.19). */
export async function limitDeviceApprovals(signed: SignedRequest, registration: Registration): Promise<void> {
  const { services, tenant } = signed;
  if (registration.state !== 'verified' || registration.user_id === null || tenant.settings.device.additional_device === 'admin') return;
  const { database, rateLimiter } = services;
  const userId = registration.user_id;
  const asks = await database.read(
    tenant.id,
    async (queries) =>
      (await policyFor(queries, tenant, userId)) === 'existing_device' && (await countActiveDevices(queries, tenant.id, userId)) > 0,
  );
  if (!asks) return;
  const waitSeconds = await takeRate(rateLimiter, tenant, 'approvals_per_user', `${proven.key}:${subjectKeyOf(userId, '')}`, ownTimesNear);
  if (waitSeconds !== undefined) throw rateLimited('management', 'approvals_per_user', waitSeconds);
}

/** Asks the user's devices, once per registration, and says what to show meanwhile. */
export async function parkForApproval(
  queries: Queries,
  signed: SignedRequest,
  registration: Registration,
  userId: UserId,
  challenge: string,
): Promise<Waiting> {
  const { tenant } = signed;
  if (registration.approval_id !== null) return describeWaiting(await loadApproval(queries, signed, registration));
  const created = await createApproval(queries, tenant, {
    kind: 'device_add',
    userId,
    subjectKey: subjectKeyOf(userId, ''),
    asker: proven,
    onDevices: true,
    withNumber: true,
    newDeviceId: signed.headers.deviceId,
    initiatedIp: signed.clientAddress,
    expiresAtMs: registration.expires_at,
  });
  if (!created.ok) {
    const waitSeconds = tenant.settings.rate_limits.approvals_pending_per_user.period_seconds;
    const cause = { reason: 'too_many_pending', expected: 'approvals_pending_per_user' };
    throw reject('management.rate_limited', cause, { retryAfterSeconds: waitSeconds, fields: { retry_after_seconds: waitSeconds } });
  }
  const parked = await parkRegistration(queries, tenant.id, registration.id, { challenge, approvalId: created.approvalId });
  if (!parked) throw tokenInvalid('parked_meanwhile');
  return { number: created.number ?? '', expires_at: isoTime(registration.expires_at) };
}

async function judgeApproval(
  queries: Queries,
  signed: SignedRequest,
  registration: Registration,
): Promise<'enrol' | 'needs_approval' | 'denied'> {
  const state = approvalStateOf(await loadApproval(queries, signed, registration));
  if (state === 'approved') return 'enrol';
  if (state === 'pending') return 'needs_approval';
  await consumeRegistration(queries, signed.tenant.id, registration.id, ['pending_approval']);
  return 'denied';
}

async function loadApproval(queries: Queries, signed: SignedRequest, registration: Registration): Promise<ApprovalNow> {
  const approval = await findApproval(queries, signed.tenant.id, registration.approval_id ?? '');
  if (approval === undefined) throw tokenInvalid('approval_gone');
  return approval;
}

function describeWaiting(approval: ApprovalNow): Waiting {
  return { number: approval.number ?? '', expires_at: isoTime(approval.expires_at) };
}
