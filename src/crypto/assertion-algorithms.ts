// Algorithms by which clients sign (RFC 7518, RFC 8037): one entry each, used for client assertions. HMACs take the client's
// secret, the others a public JWK; which family a client may use is its registration's choice, never the token's.
import { constants, createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto';

interface AsymmetricEntry {
  readonly matches: (key: KeyObject) => boolean;
  readonly verify: (key: KeyObject, data: Buffer, signature: Buffer) => boolean;
}

const rsa = (key: KeyObject): boolean => key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048;
const ec =
  (namedCurve: string) =>
  (key: KeyObject): boolean =>
    key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === namedCurve;

const asymmetric: Readonly<Record<string, AsymmetricEntry>> = {
  ES256: {
    matches: ec('prime256v1'),
    verify: (key, data, signature) => verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, signature),
  },
  ES384: {
    matches: ec('secp384r1'),
    verify: (key, data, signature) => verify('sha384', data, { key, dsaEncoding: 'ieee-p1363' }, signature),
  },
  RS256: { matches: rsa, verify: (key, data, signature) => verify('sha256', data, key, signature) },
  PS256: {
    matches: rsa,
    verify: (key, data, signature) => verify('sha256', data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }, signature),
  },
  EdDSA: {
    matches: (key) => key.asymmetricKeyType === 'ed25519',
    verify: (key, data, signature) => verify(null, data, key, signature),
  },
};

const hmacs: Readonly<Record<string, string>> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' };

export const assertionPublicKeyAlgs: readonly string[] = Object.keys(asymmetric);
export const assertionSecretAlgs: readonly string[] = Object.keys(hmacs);

/** A public key of a JWK that may verify signatures of `alg`; undefined when it may not or is no such key. */
export function publicKeyFor(alg: string, jwk: Readonly<Record<string, unknown>>): KeyObject | undefined {
  if (!Object.hasOwn(asymmetric, alg)) return undefined;
  if (jwk['use'] !== undefined && jwk['use'] !== 'sig') return undefined;
  if (Array.isArray(jwk['key_ops']) && !jwk['key_ops'].includes('verify')) return undefined;
  if (jwk['alg'] !== undefined && jwk['alg'] !== alg && !(alg === 'EdDSA' && jwk['alg'] === 'Ed25519')) return undefined;
  const key = importedKey(jwk);
  return key !== undefined && asymmetric[alg]!.matches(key) ? key : undefined;
}

export const verifyWithPublicKey = (alg: string, key: KeyObject, data: Buffer, signature: Buffer): boolean =>
  Object.hasOwn(asymmetric, alg) && asymmetric[alg]!.verify(key, data, signature);

/** Verifies an HMAC in time that does not depend on where it differs. */
export function verifyWithSecret(alg: string, secret: Uint8Array, data: Buffer, signature: Buffer): boolean {
  const digest = Object.hasOwn(hmacs, alg) ? hmacs[alg] : undefined;
  if (digest === undefined) return false;
  const expected = createHmac(digest, secret).update(data).digest();
  return expected.length === signature.length && timingSafeEqual(expected, signature);
}

/** Importing costs more than verifying, and registered keys are the same objects from one request to the next. */
const imported = new WeakMap<object, KeyObject | 'unusable'>();

function importedKey(jwk: Readonly<Record<string, unknown>>): KeyObject | undefined {
  let key = imported.get(jwk);
  if (key === undefined) {
    try {
      key = createPublicKey({ key: jwk, format: 'jwk' });
    } catch {
      key = 'unusable';
    }
    imported.set(jwk, key);
  }
  return key === 'unusable' ? undefined : key;
}
