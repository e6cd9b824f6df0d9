// Proving the mailbox of a registration: verifying its PIN and sending another (contract 7.17). The engine is approvals/mailed/pin.ts.
import { type Asker, ownAsker, strangerFrom } from '../../approvals/asker.ts';
import { examinePin, loadPinPepper, mailBudgetSpent, type PinSubject, redeemPin, sendPin } from '../../approvals/mailed/pin.ts';
import { reject } from '../../contract/contract-error.ts';
import { languageFor } from '../../domain/language.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { enforceRateLimit } from '../../http/budgets/rate-limits.ts';
import { addressBlock } from '../../http/client-address.ts';
import { consumeRegistration, type Registration, verifyRegistration } from '../../storage/device/device-registrations.ts';
import { findUser, findUserOfEmail } from '../../storage/people/users.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { parseBody, requireText } from '../body-fields.ts';
import type { RegistrationCaller, SignedRequest } from '../signed-call.ts';
import { isoTime } from '../times.ts';
import { describeAttestation, makeChallenge } from './challenge.ts';
import { loadRegistration, tokenInvalid } from './registration-token.ts';

const pinCharsMax = 32;

/** POST /pin/verify */
export async function verifyPin(signed: SignedRequest, caller: RegistrationCaller): Promise<object> {
  const { services, tenant } = signed;
  await enforceRateLimit(services.rateLimiter, tenant, 'management', 'pin_attempts_per_ip', addressBlock(signed.clientAddress));
  const body = parseBody(signed.bodyBytes);
  const presented = requireText(body, 'pin', pinCharsMax);
  const registration = await loadRegistration(signed, caller, body, ['unverified', 'verified', 'pending_approval']);
  const asking = { asker: askerOf(signed, registration), userId: registration.user_id ?? undefined, requestId: signed.requestId };
  // Nobody can prove the mailbox of a decoy, whatever is typed.
  const verdict = await examinePin(services, tenant, subjectOf(registration), isDecoy(registration) ? '' : presented, asking);
  if (!verdict.ok) {
    const person = { userId: registration.user_id ?? undefined, asked: signed.acceptLanguage };
    if (verdict.reason === 'locked' && verdict.isTold === true)
      await services.database.write(tenant.id, (queries) => mailBudgetSpent(queries, services, tenant, person));
    throw pinRefusal(verdict);
  }
  const outcome = await services.database.write(tenant.id, async (queries) => {
    const redeemed = await redeemPin(queries, tenant, verdict);
    if (!redeemed.ok) return redeemed;
    if (registration.kind === 'signup' && (await findUserOfEmail(queries, tenant.id, registration.email_key ?? '')) !== undefined) {
      await consumeRegistration(queries, tenant.id, registration.id, ['unverified']);
      return { ok: false, reason: 'email_exists' } as const;
    }
    const expiresAt = await verifyRegistration(queries, tenant.id, registration.id, tenant.settings.verified_token_lifetime_seconds * 1000);
    if (expiresAt === undefined) return { ok: false, reason: 'consumed' } as const;
    const { challenge } = await makeChallenge(queries, tenant, signed.headers.deviceId);
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: 'device.mailbox_proven',
      requestId: signed.requestId,
      actor: `device:${signed.headers.deviceId}`,
      target: `registration:${registration.id}`,
    });
    return { ok: true, expiresAt, challenge } as const;
  });
  if (!outcome.ok) throw outcomeRefusal(outcome.reason);
  return { status: 'verified', expires_at: isoTime(outcome.expiresAt), attestation: describeAttestation(tenant, outcome.challenge) };
}

/** POST /pin/resend */
export async function resendPin(signed: SignedRequest, caller: RegistrationCaller): Promise<object> {
  const { services, tenant } = signed;
  const registration = await loadRegistration(signed, caller, parseBody(signed.bodyBytes), ['unverified']);
  const pepper = await loadPinPepper(services, tenant);
  const sent = await services.database.write(tenant.id, async (queries) => {
    const user = await findUser(queries, tenant.id, registration.user_id ?? '');
    return sendPin(queries, services, tenant, pepper, {
      ...subjectOf(registration),
      asker: askerOf(signed, registration),
      userId: registration.user_id ?? undefined,
      requestId: signed.requestId,
      mailKey: registration.email_key ?? '',
      to: isDecoy(registration) ? undefined : (registration.email ?? undefined),
      purposeName: tenant.name,
      language: languageFor(user, registration.locale, signed.acceptLanguage),
    });
  });
  if (!sent.ok)
    throw reject(
      'pin.cooldown_active',
      { reason: 'resend_cooldown', expected: sent.budget },
      { retryAfterSeconds: sent.retryAfterSeconds },
    );
  return { pin: describePin(tenant, sent.digits) };
}

/** The `pin` member: what the phone shows while it waits for one. */
export function describePin(tenant: Tenant, length: number): object {
  const { lifetime_seconds: ttl, resend_cooldown_seconds: resend } = tenant.settings.pin;
  return { length, ttl_seconds: ttl, resend_after_seconds: resend };
}

/** Whoever redeemed an enrolment token was let in by an administrator: strangers spend nothing of theirs. */
export const askerOf = ({ clientAddress }: SignedRequest, { kind, id }: { readonly kind: string; readonly id: string }): Asker =>
  kind === 'enrollment' ? ownAsker(`enrollment:${id}`) : strangerFrom(addressBlock(clientAddress));

function subjectOf(registration: Registration): PinSubject {
  return { purpose: registration.kind as PinSubject['purpose'], subjectId: registration.id }; // the kinds are purposes; checked by the table
}

function isDecoy(registration: Registration): boolean {
  return registration.kind !== 'signup' && registration.user_id === null;
}

function pinRefusal(verdict: Exclude<Awaited<ReturnType<typeof examinePin>>, { readonly ok: true }>): Error {
  if (verdict.reason === 'wrong') return reject('pin.invalid', 'wrong_pin', { fields: { attempts_left: verdict.attemptsLeft } });
  const { budget: expected } = verdict;
  if (verdict.reason === 'locked') return reject('pin.locked', { reason: 'attempts_or_budget_spent', expected });
  return reject('pin.expired', { reason: 'no_active_pin', expected });
}

function outcomeRefusal(reason: 'used' | 'email_exists' | 'consumed'): Error {
  if (reason === 'email_exists') return reject('registration.email_exists', 'email_of_a_user');
  return reason === 'used' ? reject('pin.expired', 'used_meanwhile') : tokenInvalid('consumed_meanwhile');
}
