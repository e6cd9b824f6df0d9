// Redeeming an enrolment token an administrator made: the other way to begin a registration (contract 7.17).
import { loadPinPepper, sendPin } from '../../approvals/mailed/pin.ts';
import { reject } from '../../contract/contract-error.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import { foldKey } from '../../domain/fold.ts';
import type { UserId } from '../../domain/ids.ts';
import { type Language, languageFor } from '../../domain/language.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import { randomSecret, uuidV7 } from '../../platform/random.ts';
import { insertRegistration, type NewRegistration, renewRegistrationToken } from '../../storage/device/device-registrations.ts';
import { findRecentRedemption, isEnrollmentTokenOf, redeemEnrollmentToken } from '../../storage/device/enrollment-tokens.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { listUserEmails } from '../../storage/people/user-lists.ts';
import { findUser } from '../../storage/people/users.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { findActivePin } from '../../storage/sign-in/pins.ts';
import { type Fields, requireText } from '../body-fields.ts';
import { findDeviceCaller, type SignedRequest } from '../signed-call.ts';
import { isoTime } from '../times.ts';
import { describeAttestation, makeChallenge } from './challenge.ts';
import { type FirstCall, parseFirstCall } from './first-call.ts';
import { askerOf, describePin } from './pin.ts';
import { tokenInvalid } from './registration-token.ts';

const tokenCharsMax = 200;
/** How long the phone that redeemed a token may repeat the call, because the answer was lost. */
const repeatableMs = 600_000;

interface Redeemed {
  readonly userId: UserId;
  readonly requirePin: boolean;
  readonly email: string | null;
  readonly language: Language;
}

/** POST /enrollment/redeem */
export async function redeemEnrollment(signed: SignedRequest): Promise<{ readonly status: 200 | 202; readonly body: object }> {
  const readToken = (body: Fields) => ({ token: requireText(body, 'enrollment_token', tokenCharsMax) });
  const first = await parseFirstCall(signed, readToken, ({ token }) => refuseUsedByThisDevice(signed, token));
  const { services, tenant } = signed;
  const pepper = await loadPinPepper(services, tenant);
  const registrationToken = randomSecret();
  const id = uuidV7(services.clock.nowMs());
  const outcome = await services.database.write(tenant.id, async (queries) => {
    const redeemed = await redeem(queries, signed, first.fields.token, id);
    if (!redeemed.ok && redeemed.reason === 'used') return repeat(queries, signed, first.fields.token, registrationToken);
    if (!redeemed.ok) return redeemed;
    // Refused for want of sends, the token is not used up: throwing rolls back.
    const pinDigits = redeemed.requirePin ? await sendFirstPin(queries, signed, pepper, id, redeemed) : undefined;
    const { registration_token_lifetime_seconds: unverifiedSeconds, verified_token_lifetime_seconds: verifiedSeconds } = tenant.settings;
    const lifetimeMs = (redeemed.requirePin ? unverifiedSeconds : verifiedSeconds) * 1000;
    const registration = newRegistration(signed, first, id, registrationToken, redeemed);
    const expiresAt = await insertRegistration(queries, tenant.id, registration, lifetimeMs);
    const challenge = redeemed.requirePin ? undefined : (await makeChallenge(queries, tenant, signed.headers.deviceId)).challenge;
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: 'enrollment_token.redeemed',
      requestId: signed.requestId,
      actor: `device:${signed.headers.deviceId}`,
      target: `user:${redeemed.userId}`,
    });
    return { ok: true, expiresAt, challenge, pinDigits } as const;
  });
  if (!outcome.ok)
    throw outcome.reason === 'expired' ? reject('registration.token_expired', 'enrollment_token_expired') : tokenInvalid(outcome.reason);
  const base = { registration_token: registrationToken, expires_at: isoTime(outcome.expiresAt) };
  const pin = describePin(tenant, outcome.pinDigits ?? tenant.settings.pin.length);
  if (outcome.challenge === undefined) return { status: 202, body: { ...base, status: 'unverified', pin } };
  return { status: 200, body: { ...base, status: 'verified', attestation: describeAttestation(tenant, outcome.challenge) } };
}

// `device_key_revoked` has a phone wipe itself. One that is enrolled by this very token, and whose answer was lost, has a good account.
async function refuseUsedByThisDevice(signed: SignedRequest, token: string): Promise<void> {
  const { services, tenant, headers } = signed;
  const isUsed = await services.database.read(tenant.id, (queries) =>
    isEnrollmentTokenOf(queries, tenant.id, hashSecret(token), headers.deviceId),
  );
  // A device in force signs by the keys it has; for every other the answer stays what it is.
  if (isUsed && (await findDeviceCaller(signed)) !== undefined) throw tokenInvalid('used_by_this_device');
}

async function redeem(
  queries: Queries,
  signed: SignedRequest,
  token: string,
  registrationId: string,
): Promise<Outcome<Redeemed, 'unknown' | 'used' | 'expired'>> {
  const { tenant } = signed;
  const redeemed = await redeemEnrollmentToken(queries, tenant.id, hashSecret(token), registrationId);
  if (!redeemed.ok) return redeemed;
  const user = await findUser(queries, tenant.id, redeemed.userId);
  // Of a suspended person the token is not used up either.
  if (user?.state !== 'active') throw tokenInvalid('user_gone');
  const emails = await listUserEmails(queries, tenant.id, redeemed.userId);
  const email = (emails.find((candidate) => candidate.is_primary === 1) ?? emails[0])?.value ?? null;
  const language = languageFor(user, signed.acceptLanguage);
  return { ok: true, userId: redeemed.userId, requirePin: redeemed.requirePin, email, language };
}

interface Renewed {
  readonly expiresAt: number;
  readonly challenge: string | undefined;
  readonly pinDigits: number | undefined;
}

// The first call established that this device id comes with the very keys of its registrations, and its signature.
async function repeat(
  queries: Queries,
  signed: SignedRequest,
  token: string,
  registrationToken: string,
): Promise<Outcome<Renewed, 'used' | 'user_gone'>> {
  const { tenant, headers } = signed;
  const redemption = await findRecentRedemption(queries, tenant.id, hashSecret(token), repeatableMs);
  if (redemption === undefined) return fail('used');
  if ((await findUser(queries, tenant.id, redemption.userId))?.state !== 'active') return fail('user_gone');
  const renewal = { id: redemption.registrationId, deviceId: headers.deviceId, tokenHash: hashSecret(registrationToken) };
  const renewed = await renewRegistrationToken(queries, tenant.id, renewal);
  if (renewed === undefined) return fail('used');
  const challenge = renewed.state === 'unverified' ? undefined : (await makeChallenge(queries, tenant, headers.deviceId)).challenge;
  const pin = await findActivePin(queries, tenant.id, 'enrollment', redemption.registrationId);
  return { ok: true, expiresAt: renewed.expires_at, challenge, pinDigits: pin?.digits };
}

async function sendFirstPin(queries: Queries, signed: SignedRequest, pepper: Buffer, id: string, redeemed: Redeemed): Promise<number> {
  if (redeemed.email === null) throw tokenInvalid('no_email_for_the_pin');
  const sent = await sendPin(queries, signed.services, signed.tenant, pepper, {
    purpose: 'enrollment',
    subjectId: id,
    asker: askerOf(signed, { kind: 'enrollment', id }),
    userId: redeemed.userId,
    requestId: signed.requestId,
    mailKey: foldKey(redeemed.email),
    to: redeemed.email,
    purposeName: signed.tenant.name,
    language: redeemed.language,
    isFirst: true,
  });
  if (sent.ok) return sent.digits;
  const cause = { reason: 'sends_of_this_mailbox', expected: sent.budget };
  throw reject('pin.cooldown_active', cause, { retryAfterSeconds: sent.retryAfterSeconds });
}

function newRegistration(signed: SignedRequest, first: FirstCall<unknown>, id: string, token: string, redeemed: Redeemed): NewRegistration {
  return {
    id,
    token_hash: hashSecret(token),
    kind: 'enrollment',
    email: redeemed.email,
    email_key: redeemed.email === null ? null : foldKey(redeemed.email),
    user_id: redeemed.userId,
    given_name: null,
    family_name: null,
    locale: null,
    device_id: signed.headers.deviceId,
    device: JSON.stringify(first.device),
    keys: JSON.stringify(first.slots),
    state: redeemed.requirePin ? 'unverified' : 'verified',
  };
}
