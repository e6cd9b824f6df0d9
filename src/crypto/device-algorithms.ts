// The signature algorithms a phone's key may use: one table entry holds everything the code knows about one of them.
// Called by the device plane. The algorithm always comes from the key's row, never from the request.
import { createPublicKey, type KeyObject, verify as verifySignature } from 'node:crypto';

export interface DeviceAlgorithm {
  /** Whether a parsed key is of this algorithm's type, curve and size. */
  readonly accepts: (key: KeyObject, spki: Uint8Array) => boolean;
  readonly verify: (key: KeyObject, message: Uint8Array, signature: Uint8Array) => boolean;
}

export type DeviceAlgorithmName = 'ES256' | 'EdDSA' | 'RS256';

/** Every algorithm of this build (RFC 7518 section 3, RFC 8037). */
export const deviceAlgorithms: Readonly<Record<DeviceAlgorithmName, DeviceAlgorithm>> = {
  ES256: {
    accepts: (key, spki) =>
      key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1' && spki.byteLength === p256SpkiBytes,
    verify: (key, message, signature) => {
      const der = ecdsaSignatureDer(signature);
      return der !== undefined && verifySignature('sha256', message, key, der);
    },
  },
  EdDSA: {
    accepts: (key, spki) =>
      key.asymmetricKeyType === 'ed25519' && spki.byteLength === ed25519SpkiBytes && isEd25519PointOfLargeOrder(spki.subarray(-32)),
    verify: (key, message, signature) => signature.byteLength === 64 && verifySignature(null, message, key, signature),
  },
  RS256: {
    accepts: (key) => {
      const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
      return key.asymmetricKeyType === 'rsa' && bits >= 2048 && bits <= 4096 && key.asymmetricKeyDetails?.publicExponent === 65537n;
    },
    verify: (key, message, signature) => verifySignature('sha256', message, key, signature),
  },
};

/** The table entry of a stored or received algorithm name, or undefined when this build has none. */
export function findDeviceAlgorithm(name: string): DeviceAlgorithm | undefined {
  return Object.hasOwn(deviceAlgorithms, name) ? deviceAlgorithms[name as DeviceAlgorithmName] : undefined; // key checked just before
}

/** A public key from its canonical SPKI DER, or undefined when the bytes are not exactly one key of that algorithm. */
export function parseDevicePublicKey(name: string, spki: Uint8Array): KeyObject | undefined {
  const algorithm = findDeviceAlgorithm(name);
  if (algorithm === undefined || spki.byteLength > spkiBytesMax) return undefined;
  const key = readSpki(spki);
  if (key === undefined || !algorithm.accepts(key, spki)) return undefined;
  return key;
}

const p256SpkiBytes = 91;
const ed25519SpkiBytes = 44;
const spkiBytesMax = 600;

function readSpki(spki: Uint8Array): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
    // OpenSSL accepts trailing bytes and other encodings of the same key: only its own encoding passes.
    return key.export({ format: 'der', type: 'spki' }).equals(spki) ? key : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The strict DER of an ES256 signature given as 64-byte P1363 (RFC 7518 section 3.4) or as strict DER, or undefined.
 * The conversion exists because verifying with the key object alone is measurably faster than with an options object.
 */
export function ecdsaSignatureDer(signature: Uint8Array): Uint8Array | undefined {
  if (signature.byteLength === 64) return p1363ToDer(signature);
  return isStrictEcdsaDer(signature) ? signature : undefined;
}

function p1363ToDer(signature: Uint8Array): Uint8Array {
  const out = new Uint8Array(72);
  let end = writeInteger(out, 2, signature, 0);
  end = writeInteger(out, end, signature, 32);
  out[0] = 0x30;
  out[1] = end - 2;
  return out.subarray(0, end);
}

function writeInteger(out: Uint8Array, at: number, source: Uint8Array, from: number): number {
  let start = from;
  const end = from + 32;
  while (start < end - 1 && source[start] === 0) start += 1;
  const pad = (source[start] ?? 0) >= 0x80 ? 1 : 0;
  out[at] = 0x02;
  out[at + 1] = end - start + pad;
  out.set(source.subarray(start, end), at + 2 + pad);
  return at + 2 + pad + end - start;
}

/** Whether the bytes are the one DER encoding of an ES256 signature (RFC 3279 section 2.2.3). */
export function isStrictEcdsaDer(bytes: Uint8Array): boolean {
  if (bytes.byteLength < 8 || bytes.byteLength > 72) return false;
  if (bytes[0] !== 0x30 || bytes[1] !== bytes.byteLength - 2) return false;
  const second = strictIntegerEnd(bytes, 2);
  return second !== undefined && strictIntegerEnd(bytes, second) === bytes.byteLength;
}

// The end of a minimal, positive INTEGER of at most 256 bits that starts at `at`.
function strictIntegerEnd(bytes: Uint8Array, at: number): number | undefined {
  const length = bytes[at + 1] ?? 0;
  const end = at + 2 + length;
  if (bytes[at] !== 0x02 || length < 1 || length > 33 || end > bytes.byteLength) return undefined;
  const first = bytes[at + 2] ?? 0;
  const next = bytes[at + 3] ?? 0;
  if (first >= 0x80) return undefined;
  if (length > 1 && first === 0 && next < 0x80) return undefined;
  if (length === 33 && first !== 0) return undefined;
  return end;
}

// RFC 8032 section 5.1: the field and the curve constant of edwards25519.
const fieldPrime = 2n ** 255n - 19n;
const edwardsD = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

// A point of order 1, 2, 4 or 8 verifies signatures over any message, so such a key proves nothing (RFC 8032 section 8.9).
function isEd25519PointOfLargeOrder(encoded: Uint8Array): boolean {
  let y = 0n;
  for (let index = 31; index >= 0; index -= 1) {
    const byte = encoded[index] ?? 0;
    y = (y << 8n) | BigInt(index === 31 ? byte & 0x7f : byte);
  }
  if (y >= fieldPrime) return false;
  const ySquared = mod(y * y);
  const xSquared = mod((ySquared - 1n) * invert(mod(edwardsD * ySquared + 1n)));
  if (xSquared === 0n || ySquared === 0n) return false; // orders 1, 2 and 4
  if (power(xSquared, (fieldPrime - 1n) / 2n) !== 1n) return false; // not on the curve
  // Order 8: doubling gives a point of order 4, whose y is 0. y(2P) = (y^2 + x^2) / (2 + x^2 - y^2) on this curve.
  return mod(ySquared + xSquared) !== 0n;
}

function mod(value: bigint): bigint {
  const rest = value % fieldPrime;
  return rest < 0n ? rest + fieldPrime : rest;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = mod(base);
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = mod(result * square);
    square = mod(square * square);
  }
  return result;
}

function invert(value: bigint): bigint {
  return power(value, fieldPrime - 2n);
}
