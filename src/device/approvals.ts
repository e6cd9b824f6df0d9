// Approvals on the phone: what waits for the user, approve and deny. The decision itself is made by resolveApproval, the one
// place for every consumer (design 04, 05).
import { setTimeout as pause } from 'node:timers/promises';
import { approvalNumberDigits } from '../approvals/approval.ts';
import { openApprovalCode } from '../approvals/approval-code.ts';
import { reportSignIn } from '../approvals/reported-sign-in.ts';
import { type Decision, resolveApproval } from '../approvals/resolve-approval.ts';
import { holdsTransactionCookie } from '../approvals/session/transaction-cookie.ts';
import { hookedDecision } from '../approvals/sign-in-hook.ts';
import { reject } from '../contract/contract-error.ts';
import { approvalCodeCharsMax } from '../contract/limits.ts';
import { equalText } from '../crypto/secret-hash.ts';
import { sha256Hex } from '../crypto/signed-string.ts';
import { factualName } from '../domain/client/stranger.ts';
import type { ClientId, TenantId } from '../domain/ids.ts';
import { phoneUvWay, phoneWebWay } from '../domain/sign-in/login-methods.ts';
import { hookFailed } from '../http/hook-failed.ts';
import { listRegistrationsOfDevice } from '../storage/device/device-registrations.ts';
import { findSigningKey } from '../storage/device/devices.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { findClientOrDocument } from '../storage/registry/clients/client-documents.ts';
import { findServiceProvider } from '../storage/registry/service-providers.ts';
import {
  type ApprovalNow,
  approvalStateOf,
  type ClaimedAs,
  claimApproval,
  findApproval,
  hasSeenThePage,
  listPendingApprovals,
} from '../storage/sign-in/approvals.ts';
import { findLoginTransaction } from '../storage/sign-in/login-transactions.ts';
import { badField, optionalFlag, parseBody, requireOneOf, requireText } from './body-fields.ts';
import type { DeviceDescription } from './payloads.ts';
import { demandUserVerification } from './self.ts';
import { type DeviceCaller, demandStillInForce, keyRevoked, type SignedRequest } from './signed-call.ts';
import { isoTime } from './times.ts';
import { demandWebPhonesAllowed } from './web-phone.ts';

const waitSecondsMax = 25;
const pollEveryMs = 500;

/** GET /approvals?state=pending[&wait=25]: with `wait` the answer is held until there is something, at most that long. */
export async function listApprovals(signed: SignedRequest, caller: DeviceCaller): Promise<object> {
  const waitSeconds = parseQuery(signed.rawQuery);
  const until = performance.now() + waitSeconds * 1000;
  for (let tick = 0; ; tick += 1) {
    // Whoever was let in at the start of a long poll may have lost the right since.
    if (tick > 0 && !(await isStillInForce(signed, caller))) throw keyRevoked('revoked_while_waiting');
    const items = await readPending(signed, caller);
    if (items.length > 0 || performance.now() >= until || signed.isGone()) return { items };
    await pause(Math.min(pollEveryMs, Math.max(0, until - performance.now())));
  }
}

/**
 * POST /approvals/claim: the code a phone scanned or was opened with. The approval it names is this device's alone from then
 * on. It needs no number where the phone has seen the page: an app by its own camera (`scanned`), a web phone if it is the
 * browser that signs in, which that sign-in's cookie shows. A link may have been sent by whoever waits at that page. One
 * refusal for every code that does not work, whatever the cause.
 */
export async function claim(signed: SignedRequest, caller: DeviceCaller): Promise<object> {
  const { services, tenant } = signed;
  const body = parseBody(signed.bodyBytes);
  const scanned = optionalFlag(body, 'scanned');
  const code = await openApprovalCode(services, tenant, requireText(body, 'code', approvalCodeCharsMax));
  const { approvalId, expiresAtMs } = code ?? { approvalId: '', expiresAtMs: 0 };
  const claimed = await services.database.write(tenant.id, async (queries) => {
    const isApp = caller.platform !== 'web';
    const as = isApp ? (scanned ? 'camera' : 'app') : await browserOf(queries, signed, approvalId);
    const by = { user: caller.userId, device: caller.deviceId, as };
    const row = await claimApproval(queries, tenant.id, { approvalId, expiresAtMs, ...by });
    if (row === undefined) return undefined;
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: 'approval.claimed',
      requestId: signed.requestId,
      actor: `user:${caller.userId}`,
      target: `approval:${row.id}`,
      data: { device: caller.deviceId, ...(isApp ? { scanned } : { same_browser: as === 'same_browser' }) },
    });
    return describe(queries, signed, caller, row);
  });
  if (claimed === undefined) throw reject('device.not_found', code === undefined ? 'not_a_code' : 'code_does_not_work');
  return claimed;
}

/** POST /approvals/{id}/approve */
export async function approve(signed: SignedRequest, caller: DeviceCaller, id: string): Promise<object> {
  demandUserVerification(caller);
  demandWebPhonesAllowed(signed.tenant, caller.platform);
  const body = parseBody(signed.bodyBytes);
  const contextSha256 = requireText(body, 'context_sha256', 64);
  const { approval, shown } = await loadPending(signed, caller, id);
  if (contextSha256 !== shown.context_sha256)
    throw reject('approval.context_changed', { reason: 'context_sha256', received: contextSha256, expected: shown.context_sha256 });
  if (asksForNumber(approval, caller) && !equalText(requireText(body, 'match', 8), approval.number ?? '')) {
    // One try: a wrong number denies, and that stays whatever is answered.
    await decide(signed, caller, approval.id, { verdict: 'deny', reason: 'match_failed', deviceId: caller.deviceId });
    throw reject('approval.match_failed', 'wrong_number');
  }
  const { services, tenant, requestId } = signed;
  const method = caller.platform === 'web' ? phoneWebWay : phoneUvWay;
  const approving = { verdict: 'approve', method, deviceId: caller.deviceId } as const;
  const hooked = await hookedDecision(services, tenant, approval, approving, requestId);
  if ('failed' in hooked) throw hookFailed(hooked.failed);
  await decide(signed, caller, approval.id, hooked.decision);
  return { id: approval.id, state: hooked.decision.verdict === 'approve' ? 'approved' : 'denied' };
}

/** POST /approvals/{id}/deny */
export async function deny(signed: SignedRequest, caller: DeviceCaller, id: string): Promise<object> {
  const reason = requireOneOf(parseBody(signed.bodyBytes), 'reason', ['not_me', 'mistake', 'other']);
  const { approval } = await loadPending(signed, caller, id);
  await decide(signed, caller, approval.id, { verdict: 'deny', reason, deviceId: caller.deviceId });
  return { id: approval.id, state: 'denied' };
}

async function isStillInForce({ services, tenant }: SignedRequest, caller: DeviceCaller): Promise<boolean> {
  const key = await services.database.read(tenant.id, (queries) => findSigningKey(queries, tenant.id, caller.deviceId, caller.keyId));
  return key !== undefined;
}

async function readPending(signed: SignedRequest, caller: DeviceCaller): Promise<readonly object[]> {
  const { services, tenant } = signed;
  return services.database.read(tenant.id, async (queries) => {
    const rows = await listPendingApprovals(queries, tenant.id, caller.userId, caller.deviceId);
    return Promise.all(rows.map((row) => describe(queries, signed, caller, row)));
  });
}

// Rows of other users, decoys and rows no device may see are not there.
async function loadPending(signed: SignedRequest, caller: DeviceCaller, id: string) {
  const { services, tenant } = signed;
  const found = await services.database.read(tenant.id, async (queries) => {
    const approval = await findApproval(queries, tenant.id, id);
    if (approval === undefined || approval.user_id !== caller.userId || approval.on_devices !== 1) return undefined;
    if (approval.claimed_by !== null && approval.claimed_by !== caller.deviceId) return undefined;
    return { approval, shown: await describe(queries, signed, caller, approval) };
  });
  if (found === undefined) throw reject('device.not_found', 'no_such_approval');
  const state = approvalStateOf(found.approval);
  if (state !== 'pending') throw stateRefusal(state === 'expired' ? 'expired' : 'not_pending');
  return found;
}

async function decide(signed: SignedRequest, caller: DeviceCaller, id: string, decision: Decision): Promise<void> {
  const { services, tenant } = signed;
  const context = { nowMs: services.clock.nowMs(), requestId: signed.requestId };
  const outcome = await services.database.write(tenant.id, async (queries) => {
    // A hook may have been asked since the request was let in.
    if (decision.verdict === 'approve') await demandStillInForce(queries, signed, caller);
    const resolved = await resolveApproval(queries, tenant, id, decision, context);
    if (resolved.ok && decision.verdict === 'deny' && decision.reason === 'not_me')
      await reportSignIn(queries, services, tenant, resolved.approval, context);
    return resolved;
  });
  if (!outcome.ok) throw outcome.reason === 'unknown' ? reject('device.not_found', 'no_such_approval') : stateRefusal(outcome.reason);
}

/**
 * A phone whose camera read the page's code has shown that it is in front of the page, and so has the browser of the sign-in
 * itself. Whoever opened a link may have been sent it, and types the number.
 */
function asksForNumber(approval: ApprovalNow, caller: DeviceCaller): boolean {
  return approval.number !== null && !(approval.claimed_by === caller.deviceId && hasSeenThePage(approval.claimed_as));
}

async function browserOf(queries: Queries, signed: SignedRequest, approvalId: string): Promise<ClaimedAs> {
  const { tenant, cookies } = signed;
  const approval = await findApproval(queries, tenant.id, approvalId);
  const login = approval?.transaction_id && (await findLoginTransaction(queries, tenant.id, approval.transaction_id));
  return login && holdsTransactionCookie(cookies, tenant.baseUrl, login.id, login.binding_hash) ? 'same_browser' : 'browser';
}

function stateRefusal(reason: 'expired' | 'not_pending'): Error {
  return reason === 'expired' ? reject('approval.expired', 'expired') : reject('approval.not_pending', 'decided_before');
}

// What the person sees is what the hash covers, so that a phone approves exactly that.
async function describe(queries: Queries, signed: SignedRequest, caller: DeviceCaller, row: ApprovalNow) {
  const shown = {
    id: row.id,
    type: row.kind,
    client: await describeRequester(queries, signed.tenant.id, row.client_id, row.service_provider_id),
    binding_message: row.binding_message,
    scopes: row.scope === null || row.scope === '' ? [] : row.scope.split(' '),
    initiated: { at: isoTime(row.created_at), ip: row.initiated_ip, user_agent: row.initiated_user_agent },
    match: { required: asksForNumber(row, caller), digits: approvalNumberDigits },
    expires_at: isoTime(row.expires_at),
    ...(row.new_device_id === null ? {} : { device: await describeNewDevice(queries, signed, row.new_device_id) }),
  };
  return { ...shown, context_sha256: sha256Hex(JSON.stringify(shown)) };
}

/** Who asked, as a phone shows it: a client, a service provider, or nobody when a device asks to be added. */
export async function describeRequester(
  queries: Queries,
  tenant: TenantId,
  clientId: string | null,
  providerId: string | null,
): Promise<object | null> {
  if (clientId !== null) {
    const client = await findClientOrDocument(queries, tenant, clientId as ClientId); // of a row of ours
    return { client_id: clientId, name: client === undefined ? null : factualName(client), logo_uri: client?.logoUri ?? null };
  }
  if (providerId === null) return null;
  const provider = await findServiceProvider(queries, tenant, providerId);
  return { entity_id: provider?.entityId ?? null, name: provider?.name ?? null, logo_uri: null };
}

async function describeNewDevice(queries: Queries, signed: SignedRequest, deviceId: string): Promise<object> {
  const [registration] = await listRegistrationsOfDevice(queries, signed.tenant.id, deviceId);
  const device = registration === undefined ? undefined : (JSON.parse(registration.device) as DeviceDescription); // written from parseDevice
  return { id: deviceId, platform: device?.platform ?? null, name: device?.name ?? null, model: device?.model ?? null };
}

function parseQuery(rawQuery: string): number {
  const parameters = new URLSearchParams(rawQuery);
  const state = parameters.get('state') ?? 'pending';
  if (state !== 'pending') throw badField('state', 'pending');
  const wait = parameters.get('wait') ?? '0';
  if (!/^\d{1,2}$/.test(wait) || Number(wait) > waitSecondsMax) throw badField('wait', `a number of seconds from 0 to ${waitSecondsMax}`);
  return Number(wait);
}
