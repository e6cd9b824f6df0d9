// The parts of bodies that several endpoints share: what a phone says about itself and the keys it brings.
import { deviceNameCharsMax } from '../contract/limits.ts';
import { decodeBase64 } from '../crypto/base64.ts';
import { parseDevicePublicKey } from '../crypto/device-algorithms.ts';
import { keyAlgOf } from '../crypto/platform-credential.ts';
import { sha256Hex } from '../crypto/signed-string.ts';
import type { NewSlot } from '../storage/device/devices.ts';
import { badField, type Fields, optionalText, requireObject, requireObjects, requireOneOf, requireText } from './body-fields.ts';

export const deviceFactCharsMax = 100;
const publicKeyCharsMax = 800;
const slotsMax = 2;

export interface DeviceDescription {
  readonly platform: 'ios' | 'android' | 'web' | 'other';
  readonly name: string;
  readonly model: string | null;
  readonly os_version: string | null;
  readonly app_version: string | null;
}

/** The `device` member. */
export function parseDevice(body: Fields): DeviceDescription {
  const fields = requireObject(body, 'device');
  return {
    platform: requireOneOf(fields, 'platform', ['ios', 'android', 'web', 'other']),
    name: requireText(fields, 'name', deviceNameCharsMax),
    model: optionalText(fields, 'model', deviceFactCharsMax) ?? null,
    os_version: optionalText(fields, 'os_version', deviceFactCharsMax) ?? null,
    app_version: optionalText(fields, 'app_version', deviceFactCharsMax) ?? null,
  };
}

/** The `keys` member: one `pop` slot and at most one `uv` slot, ids and keys all different. */
export function parseKeys(body: Fields, deviceId: string, allowedAlgs: readonly string[]): readonly NewSlot[] {
  const slots = requireObjects(body, 'keys', slotsMax).map((fields) => parseSlot(fields, allowedAlgs));
  const ids = new Set([deviceId, ...slots.map((slot) => slot.keyId)]);
  if (ids.size !== slots.length + 1) throw badField('keys', 'slots with ids of their own');
  if (new Set(slots.map((slot) => slot.fingerprint)).size !== slots.length) throw badField('keys', 'different public keys');
  if (new Set(slots.map((slot) => slot.purpose)).size !== slots.length || !slots.some((slot) => slot.purpose === 'pop')) {
    throw badField('keys', 'one pop slot and at most one uv slot');
  }
  return slots;
}

/** Stored keys of a registration, as parseKeys gave them. */
export function readStoredSlots(json: string): readonly NewSlot[] {
  return JSON.parse(json) as readonly NewSlot[]; // written by this surface from parseKeys
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function parseSlot(fields: Fields, allowedAlgs: readonly string[]): NewSlot {
  const keyId = requireText(fields, 'key_id', 36).toLowerCase();
  if (!uuidPattern.test(keyId)) throw badField('key_id', 'a UUID');
  const purpose = requireOneOf(fields, 'purpose', ['pop', 'uv']);
  const alg = requireOneOf(fields, 'alg', allowedAlgs);
  const publicKey = requireText(fields, 'public_key', publicKeyCharsMax);
  const spki = decodeBase64(publicKey);
  if (spki === undefined || parseDevicePublicKey(keyAlgOf(alg), spki) === undefined)
    throw badField('public_key', `a canonical ${alg} key, SPKI DER in base64`);
  return { keyId, purpose, alg, publicKey, fingerprint: sha256Hex(spki) };
}
