// Challenges a phone proves its keys with and attests to: 32 random bytes, five minutes, single use.
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { randomSecret } from '../../platform/random.ts';
import { insertChallenge } from '../../storage/device/attestation-challenges.ts';
import { findDevice, findSigningKey } from '../../storage/device/devices.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { configuredFormats } from '../attestation/attestation-check.ts';
import { parseBody } from '../body-fields.ts';
import {
  authenticateDevice,
  authenticateRegistration,
  findDeviceCaller,
  keyRevoked,
  type RegistrationCaller,
  type SignedRequest,
} from '../signed-call.ts';
import { isoTime } from '../times.ts';
import { judgeRegistration, registrationTokenOf } from './registration-token.ts';

const challengeLifetimeMs = 300_000;

/** POST /attestation/challenge: for a verified registration, or for an enrolled device. */
export async function freshChallenge(signed: SignedRequest): Promise<object> {
  const { services, tenant, headers } = signed;
  const registering = (await findDeviceCaller(signed)) === undefined ? await findRegistering(signed) : undefined;
  const made = await services.database.write(tenant.id, async (queries) => {
    if (registering !== undefined) await demandRegistering(queries, signed, registering);
    return makeChallenge(queries, tenant, headers.deviceId);
  });
  return { challenge: made.challenge, expires_at: isoTime(made.expiresAt) };
}

interface Registering {
  readonly caller: RegistrationCaller;
  readonly token: string;
}

/** The registration key that signed, and what the call names; undefined where its device was enrolled since it was looked for. */
async function findRegistering(signed: SignedRequest): Promise<Registering | undefined> {
  const { services, tenant, headers } = signed;
  // A device whose registration is still kept is no registration any more.
  if (await services.database.read(tenant.id, (queries) => findDevice(queries, tenant.id, headers.deviceId))) {
    await authenticateDevice(signed);
    return undefined;
  }
  const caller = await authenticateRegistration(signed);
  return { caller, token: registrationTokenOf(parseBody(signed.bodyBytes)) };
}

// An enrolment may commit at any time before. The registration is looked at first: what made a device of it is seen after it.
async function demandRegistering(queries: Queries, { tenant, headers }: SignedRequest, { caller, token }: Registering): Promise<void> {
  const found = await judgeRegistration(queries, tenant, { token, caller, states: ['verified', 'pending_approval'] });
  if (!(found instanceof Error) || (await findSigningKey(queries, tenant.id, headers.deviceId, headers.keyId))) return;
  throw (await findDevice(queries, tenant.id, headers.deviceId)) === undefined ? found : keyRevoked('revoked');
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
