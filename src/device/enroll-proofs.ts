// The proofs of an enrolment: every key of the registration signed one live challenge. Called by enroll.ts only.
import { reject } from '../contract/contract-error.ts';
import { decodeBase64 } from '../crypto/base64.ts';
import { enrollProofBytes } from '../crypto/signed-string.ts';
import { consumeChallenge, listLiveChallenges } from '../storage/attestation-challenges.ts';
import type { Registration } from '../storage/device-registrations.ts';
import type { NewSlot } from '../storage/devices.ts';
import { type Fields, requireObjects, requireText } from './body-fields.ts';
import { verifyWithStoredKey } from './public-keys.ts';
import type { SignedRequest } from './signed-call.ts';

const liveChallengesMax = 4;
const signatureCharsMax = 1024;
const proofsMax = 8;

/** By lower-case key id: the id as the phone writes it, which is what it signed, and the signature. */
export type Proofs = ReadonlyMap<string, { readonly sentKeyId: string; readonly signature: Buffer | undefined }>;

/** The `proofs` member. */
export function parseProofs(body: Fields): Proofs {
  const items = requireObjects(body, 'proofs', proofsMax).map((item) => ({
    sentKeyId: requireText(item, 'key_id', 36),
    signature: decodeBase64(requireText(item, 'signature', signatureCharsMax)),
  }));
  return new Map(items.map((item) => [item.sentKeyId.toLowerCase(), item]));
}

/**
 * The challenge every key signed, now consumed. The body names none: the one a waiting registration was parked with and the
 * live ones of this device are tried, newest first.
 */
export async function takeProvenChallenge(
  signed: SignedRequest,
  registration: Registration,
  slots: readonly NewSlot[],
  proofs: Proofs,
): Promise<string> {
  const complete = proofs.size === slots.length && slots.every((slot) => proofs.get(slot.keyId)?.signature !== undefined);
  if (!complete) throw reject('device.bad_proof', { reason: 'proof_missing', received: registration.id });
  const proves = (challenge: string): boolean => slots.every((slot) => isProven(signed, slot, proofs, challenge));
  if (registration.challenge !== null && proves(registration.challenge)) return registration.challenge;
  const { services, tenant, headers } = signed;
  const live = await services.database.read(tenant.id, (queries) =>
    listLiveChallenges(queries, tenant.id, headers.deviceId, liveChallengesMax),
  );
  const challenge = live.find(proves);
  if (challenge === undefined) throw reject('device.bad_proof', { reason: 'proof', received: registration.id });
  const consumed = await services.database.write(tenant.id, (queries) => consumeChallenge(queries, tenant.id, headers.deviceId, challenge));
  if (!consumed) throw reject('device.bad_proof', 'challenge_used_meanwhile');
  return challenge;
}

/** The slots with their ids as the phone writes them, which is how its client data holds them. */
export function asSent(slots: readonly NewSlot[], proofs: Proofs): readonly NewSlot[] {
  return slots.map((slot) => ({ ...slot, keyId: proofs.get(slot.keyId)?.sentKeyId ?? slot.keyId }));
}

function isProven(signed: SignedRequest, slot: NewSlot, proofs: Proofs, challenge: string): boolean {
  const proof = proofs.get(slot.keyId);
  if (proof?.signature === undefined) return false;
  const spki = Buffer.from(slot.publicKey, 'base64');
  const deviceId = signed.headers.sentDeviceId;
  const text = enrollProofBytes({ issuer: signed.tenant.baseUrl, deviceId, keyId: proof.sentKeyId, spki, challenge });
  return verifyWithStoredKey(slot.alg, slot.publicKey, text, proof.signature);
}
