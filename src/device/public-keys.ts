// Public keys of phones as key objects, parsed once per key and process. Called by the signed-request checks.
import type { KeyObject } from 'node:crypto';
import { decodeBase64 } from '../crypto/base64.ts';
import { type DeviceAlgorithm, findDeviceAlgorithm, parseDevicePublicKey } from '../crypto/device-algorithms.ts';
import { credentialKeyAlg, type PlatformCredentialAlg, verifyPlatformSignature } from '../crypto/platform-credential.ts';

const keysCachedMax = 10_000;
const keys = new Map<string, KeyObject>();

/** Whether `signature` over `message` is by this stored key; false also when the key cannot be read. */
export function verifyWithStoredKey(alg: string, publicKey: string, message: Uint8Array, signature: Uint8Array): boolean {
  const algorithm = findDeviceAlgorithm(alg);
  const key = algorithm && loadKey(alg, publicKey);
  return algorithm !== undefined && key !== undefined && verifies(algorithm, key, message, signature);
}

/** As verifyWithStoredKey for a platform credential, which signs beside one of the silent keys of its device at this base_url. */
export function verifyWithCredential(
  credential: { readonly alg: PlatformCredentialAlg; readonly publicKey: string },
  pops: readonly string[],
  signed: { readonly baseUrl: string; readonly text: Uint8Array; readonly signature: Buffer },
): boolean {
  const key = loadKey(credentialKeyAlg(credential.alg), credential.publicKey);
  const popKeys = pops.flatMap((publicKey) => loadKey('ES256', publicKey) ?? []);
  if (key === undefined) return false;
  try {
    return verifyPlatformSignature({ alg: credential.alg, credential: key, pops: popKeys }, signed.baseUrl, signed.text, signed.signature);
  } catch {
    return false; // OpenSSL throws for some malformed signatures instead of answering
  }
}

function verifies(algorithm: DeviceAlgorithm, key: KeyObject, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    return algorithm.verify(key, message, signature);
  } catch {
    return false; // OpenSSL throws for some malformed signatures instead of answering
  }
}

function loadKey(alg: string, publicKey: string): KeyObject | undefined {
  const id = `${alg}:${publicKey}`;
  const known = keys.get(id);
  if (known !== undefined) return known;
  const spki = decodeBase64(publicKey);
  const key = spki && parseDevicePublicKey(alg, spki);
  if (key === undefined) return undefined;
  if (keys.size >= keysCachedMax) keys.delete(keys.keys().next().value!); // not empty at this size
  keys.set(id, key);
  return key;
}
