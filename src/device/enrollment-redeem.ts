// Redeeming an enrolment token an administrator made: the other way to begin a registration (contract 7.17).
import { reject } from '../contract/contract-error.ts';
import { hashSecret } from '../crypto/secret-hash.ts';
import { randomSecret, uuidV7 } from '../platform/random.ts';
import { insertAuditEvent } from '../storage/audit-events.ts';
import { insertRegistration } from '../storage/device-registrations.ts';
import { redeemEnrollmentToken } from '../storage/enrollment-tokens.ts';
import { findUser } from '../storage/users.ts';
import { requireText } from './body-fields.ts';
import { describeAttestation, makeChallenge } from './challenge.ts';
import { parseFirstCall } from './first-call.ts';
import { tokenInvalid } from './registration-token.ts';
import type { SignedRequest } from './signed-call.ts';
import { isoTime } from './times.ts';

const tokenCharsMax = 200;

/** POST /enrollment/redeem */
export async function redeemEnrollment(signed: SignedRequest): Promise<object> {
  const first = await parseFirstCall(signed, (body) => ({ token: requireText(body, 'enrollment_token', tokenCharsMax) }));
  const { services, tenant } = signed;
  const registrationToken = randomSecret();
  const id = uuidV7(services.clock.nowMs());
  const outcome = await services.database.write(tenant.id, async (queries) => {
    const redeemed = await redeemEnrollmentToken(queries, tenant.id, hashSecret(first.fields.token));
    if (!redeemed.ok) return redeemed;
    const user = await findUser(queries, tenant.id, redeemed.userId);
    if (user?.state !== 'active') return { ok: false, reason: 'user_gone' } as const;
    const lifetimeSeconds = tenant.settings.verified_token_lifetime_seconds;
    const expiresAt = await insertRegistration(queries, tenant.id, {
      id,
      tokenHash: hashSecret(registrationToken),
      kind: 'enrollment',
      email: null,
      emailKey: null,
      userId: redeemed.userId,
      givenName: null,
      familyName: null,
      locale: null,
      deviceId: signed.headers.deviceId,
      device: JSON.stringify(first.device),
      keys: JSON.stringify(first.slots),
      state: 'verified',
      lifetimeMs: lifetimeSeconds * 1000,
    });
    const { challenge } = await makeChallenge(queries, tenant, signed.headers.deviceId);
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: 'enrollment_token.redeemed',
      requestId: signed.requestId,
      actor: `device:${signed.headers.deviceId}`,
      target: `user:${redeemed.userId}`,
    });
    return { ok: true, expiresAt, challenge } as const;
  });
  if (!outcome.ok)
    throw outcome.reason === 'expired' ? reject('registration.token_expired', 'enrollment_token_expired') : tokenInvalid(outcome.reason);
  return {
    registration_token: registrationToken,
    status: 'verified',
    expires_at: isoTime(outcome.expiresAt),
    attestation: describeAttestation(tenant, outcome.challenge),
  };
}
