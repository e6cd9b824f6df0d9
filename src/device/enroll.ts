// Enrolment: proofs of every key, attestation, second-device policy, then one transaction that makes the device
// (design 05, contract 7.17, 7.18).
import { reject } from '../contract/contract-error.ts';
import { decodeBase64 } from '../crypto/base64.ts';
import { enrollProofBytes } from '../crypto/signed-string.ts';
import type { DeviceId, UserId } from '../domain/ids.ts';
import { consumeChallenge, listLiveChallenges } from '../storage/attestation-challenges.ts';
import { insertAuditEvent } from '../storage/audit-events.ts';
import type { Queries } from '../storage/database.ts';
import { consumeRegistration, countAttestationFailure, type Registration } from '../storage/device-registrations.ts';
import { claimDeviceIdentifiers, claimKeyFingerprints, type DeviceAttestation, insertDevice, type NewSlot } from '../storage/devices.ts';
import { checkAttestation } from './attestation-check.ts';
import type { AttestationTrust } from './attestation-trust.ts';
import { type Fields, own, parseBody, requireObjects, requireText } from './body-fields.ts';
import { type DeviceDescription, readStoredSlots } from './payloads.ts';
import { verifyWithStoredKey } from './public-keys.ts';
import { loadRegistration, tokenInvalid } from './registration-token.ts';
import { describeUser } from './self.ts';
import { keyRevoked, type RegistrationCaller, type SignedRequest } from './signed-call.ts';

const attestationFailuresMax = 5;
const liveChallengesMax = 4;
const signatureCharsMax = 1024;
const proofsMax = 8;

/** POST /enroll */
export async function enroll(signed: SignedRequest, caller: RegistrationCaller, trust: AttestationTrust): Promise<object> {
  const body = parseBody(signed.bodyBytes);
  const registration = await loadRegistration(signed, caller, body, ['verified', 'pending_approval']);
  const slots = readStoredSlots(registration.keys);
  const proofs = parseProofs(body);
  const challenge = await findProvenChallenge(signed, registration, slots, proofs);
  await consumeProvenChallenge(signed, challenge);
  const attestation = await judgeAttestation(signed, registration, asSent(slots, proofs), challenge, own(body, 'attestation'), trust);
  return activate(signed, registration, slots, attestation);
}

/** By lower-case key id: the id as the phone writes it, which is what it signed, and the signature. */
type Proofs = ReadonlyMap<string, { readonly sentKeyId: string; readonly signature: Buffer | undefined }>;

function parseProofs(body: Fields): Proofs {
  const items = requireObjects(body, 'proofs', proofsMax).map((item) => ({
    sentKeyId: requireText(item, 'key_id', 36),
    signature: decodeBase64(requireText(item, 'signature', signatureCharsMax)),
  }));
  return new Map(items.map((item) => [item.sentKeyId.toLowerCase(), item]));
}

// The body names no challenge: the live ones of this device are tried, newest first.
async function findProvenChallenge(
  signed: SignedRequest,
  registration: Registration,
  slots: readonly NewSlot[],
  proofs: Proofs,
): Promise<string> {
  const { services, tenant, headers } = signed;
  const live = await services.database.read(tenant.id, (queries) =>
    listLiveChallenges(queries, tenant.id, headers.deviceId, liveChallengesMax),
  );
  const complete = proofs.size === slots.length && slots.every((slot) => proofs.get(slot.keyId)?.signature !== undefined);
  const proven = complete ? live.find((challenge) => slots.every((slot) => isProven(signed, slot, proofs, challenge))) : undefined;
  if (proven === undefined) throw reject('device.bad_proof', { reason: complete ? 'proof' : 'proof_missing', received: registration.id });
  return proven;
}

function isProven(signed: SignedRequest, slot: NewSlot, proofs: Proofs, challenge: string): boolean {
  const proof = proofs.get(slot.keyId);
  if (proof?.signature === undefined) return false;
  const spki = Buffer.from(slot.publicKey, 'base64');
  const deviceId = signed.headers.sentDeviceId;
  const text = enrollProofBytes({ issuer: signed.tenant.baseUrl, deviceId, keyId: proof.sentKeyId, spki, challenge });
  return verifyWithStoredKey(slot.alg, slot.publicKey, text, proof.signature);
}

// Client data holds the ids as the phone writes them.
function asSent(slots: readonly NewSlot[], proofs: Proofs): readonly NewSlot[] {
  return slots.map((slot) => ({ ...slot, keyId: proofs.get(slot.keyId)?.sentKeyId ?? slot.keyId }));
}

async function consumeProvenChallenge(signed: SignedRequest, challenge: string): Promise<void> {
  const { services, tenant, headers } = signed;
  const consumed = await services.database.write(tenant.id, (queries) => consumeChallenge(queries, tenant.id, headers.deviceId, challenge));
  if (!consumed) throw reject('device.bad_proof', 'challenge_used_meanwhile');
}

async function judgeAttestation(
  signed: SignedRequest,
  registration: Registration,
  slots: readonly NewSlot[],
  challenge: string,
  member: unknown,
  trust: AttestationTrust,
): Promise<DeviceAttestation | undefined> {
  const { services, tenant } = signed;
  const { attestation: settings } = tenant.settings;
  if (settings.mode === 'off') return undefined;
  const nowMs = services.clock.nowMs();
  const outcome = checkAttestation(member, {
    settings,
    trust,
    issuer: tenant.baseUrl,
    deviceId: signed.headers.sentDeviceId,
    challenge,
    slots,
    at: new Date(nowMs),
  });
  if (outcome.ok) return outcome.evidence;
  await services.database.write(tenant.id, async (queries) => {
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

/** The one transaction that makes a device: consumes the token, claims identifiers and keys, activates, audits. */
async function activate(
  signed: SignedRequest,
  registration: Registration,
  slots: readonly NewSlot[],
  attestation: DeviceAttestation | undefined,
): Promise<object> {
  const { services, tenant } = signed;
  // A refusal throws and rolls the whole enrolment back.
  return services.database.write(tenant.id, async (queries) => {
    const consumed = await consumeRegistration(queries, tenant.id, registration.id, ['verified', 'pending_approval']);
    if (!consumed) throw tokenInvalid('consumed_meanwhile');
    const userId = await enrolledUser(registration);
    const deviceId = signed.headers.deviceId as DeviceId; // becomes one here
    if (!(await claimDeviceIdentifiers(queries, [deviceId, ...slots.map((slot) => slot.keyId)])))
      throw keyRevoked('identifier_used_before');
    const fresh = await claimKeyFingerprints(
      queries,
      tenant.id,
      slots.map((slot) => slot.fingerprint),
    );
    if (!fresh) throw reject('device.bad_proof', 'key_used_before');
    const device = JSON.parse(registration.device) as DeviceDescription; // written from parseDevice
    await insertDevice(queries, tenant.id, {
      id: deviceId,
      userId,
      platform: device.platform,
      name: device.name,
      model: device.model,
      osVersion: device.os_version,
      appVersion: device.app_version,
      attestation,
      slots,
    });
    await auditEnrollment(queries, signed, userId, registration, attestation);
    return {
      device_id: deviceId,
      user: await describeUser(queries, signed, userId),
      keys: slots.map((slot) => ({ key_id: slot.keyId, purpose: slot.purpose, alg: slot.alg })),
      server_time: services.clock.nowMs(),
    };
  });
}

async function enrolledUser(registration: Registration): Promise<UserId> {
  if (registration.user_id === null) throw tokenInvalid('no_user');
  return registration.user_id;
}

async function auditEnrollment(
  queries: Queries,
  signed: SignedRequest,
  userId: UserId,
  registration: Registration,
  attestation: DeviceAttestation | undefined,
): Promise<void> {
  await insertAuditEvent(queries, signed.tenant.id, signed.services.clock.nowMs(), {
    type: 'device.enrolled',
    requestId: signed.requestId,
    actor: `user:${userId}`,
    target: `device:${signed.headers.deviceId}`,
    data: { kind: registration.kind, attestation: attestation?.format ?? null },
  });
}
