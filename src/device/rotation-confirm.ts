// Confirming a key rotation: all slots or none, in one transaction, checks in the documented order (contract 7.16,
// design 05 "Rotation codes"). An identical retry of a confirmation that succeeded gets the same answer.
import { reject } from '../contract/contract-error.ts';
import { decodeBase64, decodeBase64Url } from '../crypto/base64.ts';
import { parseDevicePublicKey } from '../crypto/device-algorithms.ts';
import { isPlatformCredentialAlg } from '../crypto/platform-credential.ts';
import { rotationProofBytes, sha256Hex } from '../crypto/signed-string.ts';
import { confirmRotation, findRotation, lockRotations, type Rotation } from '../storage/device/device-rotations.ts';
import { areFingerprintsKnown, claimKeyFingerprints, type DeviceSlot, listDeviceKeys, rotateDeviceKey } from '../storage/device/devices.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { type Fields, isObject, own, parseBody } from './body-fields.ts';
import { verifyWithStoredKey } from './public-keys.ts';
import { demandCurrentKey } from './rotation-start.ts';
import type { DeviceCaller, SignedRequest } from './signed-call.ts';
import { isoTime } from './times.ts';

interface NewKey {
  readonly slot: DeviceSlot;
  readonly alg: string;
  readonly publicKey: string;
  readonly fingerprint: string;
  readonly fields: Fields;
}

/** POST /keys/rotate/confirm */
export async function rotateConfirm(signed: SignedRequest, caller: DeviceCaller): Promise<object> {
  const { services, tenant } = signed;
  const body = parseBody(signed.bodyBytes);
  const confirmSha256 = sha256Hex(signed.bodyBytes);
  // A refusal throws and rolls back: nothing was written, and the rotation stays open.
  return services.database.write(tenant.id, async (queries) => {
    // A phone that heard nothing sends the same again while the first is under way; this waits for it and tells its answer.
    await lockRotations(queries, services.database.dialect, tenant.id, caller.deviceId);
    const rotation = await findRotation(queries, tenant.id, caller.deviceId);
    if (rotation?.confirm_sha256 === confirmSha256 && rotation.answer !== null) return JSON.parse(rotation.answer) as object; // written below
    demandCurrentKey(caller);
    const nonce = parseNonce(body);
    const open = demandOpen(rotation, nonce);
    const slots = await listDeviceKeys(queries, tenant.id, caller.deviceId);
    const items = demandExactSet(body, open, slots);
    const allowedAlgs = slots.some((slot) => isPlatformCredentialAlg(slot.alg)) ? ['ES256'] : tenant.settings.device.allowed_algs;
    const keys = items.map(({ slot, fields }) => parseNewKey(slot, fields, allowedAlgs));
    await demandNeverUsed(queries, signed, keys);
    for (const key of keys) demandProofs(signed, nonce, key);
    return store(queries, signed, caller, { rotation: open, keys, confirmSha256 });
  });
}

function parseNonce(body: Fields): string {
  const nonce = own(body, 'nonce');
  if (typeof nonce === 'string' && nonce.length === 43 && decodeBase64Url(nonce)?.byteLength === 32) return nonce;
  throw reject('rotation.bad_nonce', 'nonce_form');
}

function demandOpen(rotation: Rotation | undefined, nonce: string): Rotation {
  if (rotation === undefined || rotation.state !== 'open')
    throw reject('rotation.no_rotation_in_progress', { reason: 'no_open_rotation', received: rotation?.state });
  if (rotation.expired === 1) throw reject('rotation.rotation_nonce_expired', 'nonce_expired');
  if (rotation.nonce !== nonce) throw reject('rotation.rotation_nonce_mismatch', 'other_nonce');
  return rotation;
}

// Exactly the slots of the snapshot, each once, and none revoked since.
function demandExactSet(
  body: Fields,
  rotation: Rotation,
  slots: readonly DeviceSlot[],
): readonly { readonly slot: DeviceSlot; readonly fields: Fields }[] {
  const set = JSON.parse(rotation.key_ids) as readonly string[]; // written by startRotation
  const list = own(body, 'keys');
  const items = Array.isArray(list) ? list.filter(isObject) : [];
  const mismatch = (reason: string): Error => reject('rotation.rotation_set_mismatch', { reason, expected: set.join(' ') });
  if (!Array.isArray(list) || items.length !== list.length || items.length !== set.length) throw mismatch('number_of_keys');
  const named = items.map((fields) => ({ fields, keyId: String(own(fields, 'key_id')).toLowerCase() }));
  if (new Set(named.map((item) => item.keyId)).size !== set.length) throw mismatch('repeated_key');
  return named.map(({ fields, keyId }) => {
    const slot = slots.find((candidate) => candidate.key_id === keyId);
    if (slot === undefined || !set.includes(keyId)) throw mismatch('not_in_the_set');
    if (slot.revoked_at !== null) throw mismatch('slot_revoked');
    return { slot, fields };
  });
}

function parseNewKey(slot: DeviceSlot, fields: Fields, allowedAlgs: readonly string[]): NewKey {
  const alg = own(fields, 'alg');
  const publicKey = own(fields, 'public_key');
  const bad = (reason: string): Error => reject('rotation.bad_new_key_bytes', { reason, received: slot.key_id });
  if (typeof alg !== 'string' || !allowedAlgs.includes(alg)) throw bad('alg_not_allowed');
  const spki = typeof publicKey === 'string' ? decodeBase64(publicKey) : undefined;
  if (typeof publicKey !== 'string' || spki === undefined || parseDevicePublicKey(alg, spki) === undefined)
    throw bad('not_a_canonical_key');
  return { slot, alg, publicKey, fingerprint: sha256Hex(spki), fields };
}

async function demandNeverUsed(queries: Queries, signed: SignedRequest, keys: readonly NewKey[]): Promise<void> {
  const fingerprints = keys.map((key) => key.fingerprint);
  const repeated = new Set(fingerprints).size !== fingerprints.length;
  if (repeated || (await areFingerprintsKnown(queries, signed.tenant.id, fingerprints)))
    throw reject('rotation.bad_new_key_bytes', 'key_used_before');
}

// The new key proves itself; a uv slot also needs the old one, so that the user's consent carries over.
function demandProofs(signed: SignedRequest, nonce: string, key: NewKey): void {
  const spki = Buffer.from(key.publicKey, 'base64');
  const text = rotationProofBytes({
    issuer: signed.tenant.baseUrl,
    deviceId: signed.headers.sentDeviceId,
    keyId: String(own(key.fields, 'key_id')),
    nonce,
    alg: key.alg,
    spki,
  });
  const proves = (member: string, alg: string, publicKey: string): boolean => {
    const value = own(key.fields, member);
    const signature = typeof value === 'string' ? decodeBase64(value) : undefined;
    return signature !== undefined && verifyWithStoredKey(alg, publicKey, text, signature);
  };
  if (!proves('signature', key.alg, key.publicKey))
    throw reject('rotation.bad_new_key_signature', { reason: 'new_key_proof', received: key.slot.key_id });
  if (key.slot.purpose === 'uv' && !proves('old_signature', key.slot.alg, key.slot.public_key)) {
    throw reject('rotation.bad_new_key_signature', { reason: 'old_uv_key_proof', received: key.slot.key_id });
  }
}

interface Confirmation {
  readonly rotation: Rotation;
  readonly keys: readonly NewKey[];
  readonly confirmSha256: string;
}

async function store(
  queries: Queries,
  signed: SignedRequest,
  caller: DeviceCaller,
  { rotation, keys, confirmSha256 }: Confirmation,
): Promise<object> {
  const { services, tenant } = signed;
  const overlapMs = tenant.settings.device.rotation_overlap_seconds * 1000;
  const nowMs = services.clock.nowMs();
  const answer = {
    rotation_id: rotation.id,
    keys: keys.map((key) => ({ key_id: key.slot.key_id, purpose: key.slot.purpose, alg: key.alg })),
    overlap_expires_at: isoTime(nowMs + overlapMs),
  };
  if (!(await confirmRotation(queries, tenant.id, caller.deviceId, rotation.id, { confirmSha256, answer: JSON.stringify(answer) }))) {
    throw reject('rotation.no_rotation_in_progress', 'confirmed_meanwhile');
  }
  if (
    !(await claimKeyFingerprints(
      queries,
      tenant.id,
      keys.map((key) => key.fingerprint),
    ))
  )
    throw reject('rotation.bad_new_key_bytes', 'key_used_before');
  for (const { slot, alg, publicKey } of keys) {
    const rotated = await rotateDeviceKey(queries, tenant.id, caller.deviceId, { keyId: slot.key_id, alg, publicKey, overlapMs });
    if (!rotated) throw reject('rotation.rotation_set_mismatch', 'slot_revoked');
  }
  await insertAuditEvent(queries, tenant.id, nowMs, {
    type: 'device.keys_rotated',
    requestId: signed.requestId,
    actor: `device:${caller.deviceId}`,
    target: `device:${caller.deviceId}`,
    data: { key_ids: keys.map((key) => key.slot.key_id) },
  });
  return answer;
}
