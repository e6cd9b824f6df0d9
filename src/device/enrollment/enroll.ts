// Enrolment: proofs of every key, attestation, second-device policy, then one transaction that makes the device or leaves it
// waiting for a person's word on another device (design 05, contract 7.17, 7.18).
import { reject } from '../../contract/contract-error.ts';
import type { UserId } from '../../domain/ids.ts';
import { consumeChallenge } from '../../storage/device/attestation-challenges.ts';
import {
  countAttestationFailure,
  lockRegistration,
  type Registration,
  replaceParkedChallenge,
} from '../../storage/device/device-registrations.ts';
import type { DeviceAttestation, NewSlot } from '../../storage/device/devices.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { lockUser } from '../../storage/people/users.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { openPlayDecryptionKey } from '../../tokens/secret-settings.ts';
import { checkAttestation } from '../attestation/attestation-check.ts';
import type { AttestationTrust } from '../attestation/attestation-trust.ts';
import { own, parseBody } from '../body-fields.ts';
import { readStoredSlots } from '../payloads.ts';
import type { RegistrationCaller, SignedRequest } from '../signed-call.ts';
import { keyProtectionOf } from '../web-phone.ts';
import { asSent, findProvenChallenge, parseProofs } from './enroll-proofs.ts';
import { activateDevice, createSignupUser } from './enrolled-device.ts';
import { loadRegistration, tokenInvalid } from './registration-token.ts';
import { judgeSecondDevice, limitDeviceApprovals, parkForApproval, type Waiting } from './second-device.ts';

const attestationFailuresMax = 5;

interface EnrollAnswer {
  readonly status: 201 | 202;
  readonly body: object;
}

/** POST /enroll */
export async function enroll(signed: SignedRequest, caller: RegistrationCaller, trust: AttestationTrust): Promise<EnrollAnswer> {
  const { services, tenant } = signed;
  const body = parseBody(signed.bodyBytes);
  const registration = await loadRegistration(signed, caller, body, ['verified', 'pending_approval']);
  const slots = readStoredSlots(registration.keys);
  const proofs = parseProofs(body);
  const challenge = await findProvenChallenge(signed, registration, slots, proofs);
  const attestation = await judgeAttestation(
    signed,
    registration,
    { slots: asSent(slots, proofs), challenge, member: own(body, 'attestation') },
    trust,
  );
  await limitDeviceApprovals(signed, registration);
  const uvProof = proofs.get(slots.find((slot) => slot.purpose === 'uv')?.keyId ?? '')?.signature;
  // A refusal by error rolls everything back; the outcomes below have effects that must stay, so they are refused afterwards.
  const outcome = await services.database.write(tenant.id, async (queries): Promise<EnrollAnswer | Waiting | 'refused'> => {
    const current = await takeChallenge(queries, signed, registration, challenge);
    const userId = await settleUser(queries, signed, current);
    const verdict = await judgeSecondDevice(queries, signed, current, userId);
    if (verdict === 'denied') return 'refused';
    if (verdict === 'needs_approval') return parkForApproval(queries, signed, current, userId, challenge);
    const protection = keyProtectionOf(slots, uvProof, attestation !== undefined);
    return { status: 201, body: await activateDevice(queries, signed, { registration: current, userId, slots, attestation, protection }) };
  });
  if (outcome === 'refused') throw reject('device.device_denied', 'denied_on_another_device');
  if (!('number' in outcome)) return outcome;
  return { status: 202, body: { status: 'pending_approval', device_id: signed.headers.deviceId, ...outcome } };
}

// The registration is locked and the challenge consumed with what it is for, so that of parallel enrolments one succeeds and
// the others find the registration gone, never a challenge gone whose registration still stands.
async function takeChallenge(queries: Queries, signed: SignedRequest, loaded: Registration, challenge: string): Promise<Registration> {
  const { services, tenant, headers } = signed;
  const registration = await lockRegistration(queries, services.database.dialect, tenant.id, loaded.id);
  if (registration === undefined || registration.state === 'consumed') throw tokenInvalid('consumed_meanwhile');
  if (registration.challenge === challenge) return registration;
  if (!(await consumeChallenge(queries, tenant.id, headers.deviceId, challenge)))
    throw reject('device.bad_proof', 'challenge_used_meanwhile');
  if (registration.state === 'pending_approval') await replaceParkedChallenge(queries, tenant.id, registration.id, challenge);
  return registration;
}

// The user's row is locked, so that two first devices cannot both be first.
async function settleUser(queries: Queries, signed: SignedRequest, registration: Registration): Promise<UserId> {
  if (registration.kind === 'signup') return createSignupUser(queries, signed, registration);
  const { services, tenant } = signed;
  const user =
    registration.user_id === null ? undefined : await lockUser(queries, services.database.dialect, tenant.id, registration.user_id);
  if (user?.state !== 'active') throw tokenInvalid('user_gone');
  return user.id;
}

interface Attested {
  readonly slots: readonly NewSlot[];
  readonly challenge: string;
  readonly member: unknown;
}

async function judgeAttestation(
  signed: SignedRequest,
  registration: Registration,
  { slots, challenge, member }: Attested,
  trust: AttestationTrust,
): Promise<DeviceAttestation | undefined> {
  const { services, tenant } = signed;
  const { attestation: settings } = tenant.settings;
  if (settings.mode === 'off') return undefined;
  const nowMs = services.clock.nowMs();
  const deviceId = signed.headers.sentDeviceId;
  const playDecryptionKey = () => openPlayDecryptionKey(services.encryption, tenant.id, settings.play_integrity);
  const context = { settings, trust, playDecryptionKey, issuer: tenant.baseUrl, deviceId, challenge, slots, at: new Date(nowMs) };
  const outcome = await checkAttestation(member, context);
  if (outcome.ok) return outcome.evidence;
  await services.database.write(tenant.id, async (queries) => {
    if (settings.mode === 'enforce') await consumeChallenge(queries, tenant.id, signed.headers.deviceId, challenge);
    if (settings.mode === 'enforce') await countAttestationFailure(queries, tenant.id, registration.id, attestationFailuresMax);
    await insertAuditEvent(queries, tenant.id, nowMs, {
      type: 'attestation.failed',
      requestId: signed.requestId,
      actor: `device:${signed.headers.deviceId}`,
      target: `registration:${registration.id}`,
      reason: outcome.subreason,
      data: { mode: settings.mode },
    });
  });
  if (settings.mode === 'enforce') throw reject('attestation.failed', outcome.subreason);
  return undefined;
}
