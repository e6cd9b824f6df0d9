// Challenges a phone proves its keys with and attests to: 32 random bytes, five minutes, single use.
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { randomSecret } from '../../platform/random.ts';
import { insertChallenge } from '../../storage/device/attestation-challenges.ts';
import { findDevice } from '../../storage/device/devices.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { configuredFormats } from '../attestation/attestation-check.ts';
import { parseBody } from '../body-fields.ts';
import { authenticateRegistration, findDeviceCaller, keyRevoked, type SignedRequest } from '../signed-call.ts';
import { isoTime } from '../times.ts';
import { loadRegistration } from './registration-token.ts';

const challengeLifetimeMs = 300_000;

/** POST /attestation/challenge: for a verified registration, or for an enrolled device. */
export async function freshChallenge(signed: SignedRequest): Promise<object> {
  const { services, tenant } = signed;
  const device = await findDeviceCaller(signed);
  if (device === undefined) {
    // A device whose registration is still kept is no registration any more.
    if (await services.database.read(tenant.id, (queries) => findDevice(queries, tenant.id, signed.headers.deviceId)))
      throw keyRevoked('revoked');
    const caller = await authenticateRegistration(signed);
    await loadRegistration(signed, caller, parseBody(signed.bodyBytes), ['verified', 'pending_approval']);
  }
  const made = await services.database.write(tenant.id, (queries) => makeChallenge(queries, tenant, signed.headers.deviceId));
  return { challenge: made.challenge, expires_at: isoTime(made.expiresAt) };
}

/** Makes and stores a challenge in the caller's transaction. */
export async function makeChallenge(
  queries: Queries,
  tenant: Tenant,
  deviceId: string,
): Promise<{ readonly challenge: string; readonly expiresAt: number }> {
  const challenge = randomSecret();
  return { challenge, expiresAt: await insertChallenge(queries, tenant.id, deviceId, challenge, challengeLifetimeMs) };
}

/** The `attestation` member that tells a phone what to attest. */
export function describeAttestation(tenant: Tenant, challenge: string): object {
  const { attestation } = tenant.settings;
  return { challenge, formats: configuredFormats(attestation), required: attestation.mode === 'enforce' };
}
