// The proofs of an enrolment: every key of the registration signed one live challenge. Called by enroll.ts only.
import { reject } from '../../contract/contract-error.ts';
import { deviceSignatureCharsMax } from '../../contract/limits.ts';
import { decodeBase64 } from '../../crypto/base64.ts';
import { isPlatformCredentialAlg } from '../../crypto/platform-credential.ts';
import { enrollProofBytes } from '../../crypto/signed-string.ts';
import { listLiveChallenges } from '../../storage/device/attestation-challenges.ts';
import { findRegistration, type Registration } from '../../storage/device/device-registrations.ts';
import type { NewSlot } from '../../storage/device/devices.ts';
import { type Fields, requireObjects, requireText } from '../body-fields.ts';
import { verifyWithCredential, verifyWithStoredKey } from '../public-keys.ts';
import type { SignedRequest } from '../signed-call.ts';
import { tokenInvalid } from './registration-token.ts';

const liveChallengesMax = 4;
const proofsMax = 8;

/** By lower-case key id: the id as the phone writes it, which is what it signed, and the signature. */
type Proofs = ReadonlyMap<string, { readonly sentKeyId: string; readonly signature: Buffer | undefined }>;

/** The `proofs` member. */
export function parseProofs(body: Fields): Proofs {
  const items = requireObjects(body, 'proofs', proofsMax).map((item) => ({
    sentKeyId: requireText(item, 'key_id', 36),
    signature: decodeBase64(requireText(item, 'signature', deviceSignatureCharsMax)),
  }));
  return new Map(items.map((item) => [item.sentKeyId.toLowerCase(), item]));
}

/**
 * The challenge every key signed, still to be consumed. The body names none: the one a waiting registration was parked with
 * and the live ones of this device are tried, newest first.
 */
export async function findProvenChallenge(
  signed: SignedRequest,
  registration: Registration,
  slots: readonly NewSlot[],
  proofs: Proofs,
): Promise<string> {
  const complete = proofs.size === slots.length && slots.every((slot) => proofs.get(slot.keyId)?.signature !== undefined);
  if (!complete) throw reject('device.bad_proof', { reason: 'proof_missing', received: registration.id });
  const pops = slots.filter((slot) => slot.purpose === 'pop').map((slot) => slot.publicKey);
  const proves = (challenge: string): boolean => slots.every((slot) => isProven(signed, slot, proofs, challenge, pops));
  if (registration.challenge !== null && proves(registration.challenge)) return registration.challenge;
  const { services, tenant, headers } = signed;
  const live = await services.database.read(tenant.id, (queries) =>
    listLiveChallenges(queries, tenant.id, headers.deviceId, liveChallengesMax),
  );
  const challenge = live.find(proves);
  if (challenge !== undefined) return challenge;
  // A parallel enrolment consumed the challenge together with the registration, or left the registration waiting with it.
  const now = await services.database.read(tenant.id, (queries) => findRegistration(queries, tenant.id, registration.id));
  if (now === undefined || now.state === 'consumed') throw tokenInvalid('consumed_meanwhile');
  if (now.challenge !== null && proves(now.challenge)) return now.challenge;
  throw reject('device.bad_proof', { reason: 'proof', received: registration.id });
}

/** The slots with their ids as the phone writes them, which is how its client data holds them. */
export function asSent(slots: readonly NewSlot[], proofs: Proofs): readonly NewSlot[] {
  return slots.map((slot) => ({ ...slot, keyId: proofs.get(slot.keyId)?.sentKeyId ?? slot.keyId }));
}

function isProven(signed: SignedRequest, slot: NewSlot, proofs: Proofs, challenge: string, pops: readonly string[]): boolean {
  const proof = proofs.get(slot.keyId);
  if (proof?.signature === undefined) return false;
  const spki = Buffer.from(slot.publicKey, 'base64');
  const deviceId = signed.headers.sentDeviceId;
  const text = enrollProofBytes({ issuer: signed.tenant.baseUrl, deviceId, keyId: proof.sentKeyId, spki, challenge });
  const { alg, publicKey } = slot;
  if (!isPlatformCredentialAlg(alg)) return verifyWithStoredKey(alg, publicKey, text, proof.signature);
  return verifyWithCredential({ alg, publicKey }, pops, { baseUrl: signed.tenant.baseUrl, text, signature: proof.signature });
}
