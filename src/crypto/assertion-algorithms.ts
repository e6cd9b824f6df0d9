// Algorithms by which clients sign (RFC 7518, RFC 8037): used for client assertions and DPoP proofs, verified by jose. HMACs take
// the client's secret, the others a public JWK; which family a client may use is its registration's choice, never the token's.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { rsaJwkFault } from '../domain/rsa-public-key.ts';

const rsa = (key: KeyObject): boolean => key.asymmetricKeyType === 'rsa' && rsaJwkFault(key) === undefined;
const ec =
  (namedCurve: string) =>
  (key: KeyObject): boolean =>
    key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === namedCurve;

/** The public keys each algorithm takes. */
const asymmetric: Readonly<Record<string, (key: KeyObject) => boolean>> = {
  ES256: ec('prime256v1'),
  ES384: ec('secp384r1'),
  RS256: rsa,
  PS256: rsa,
  EdDSA: (key) => key.asymmetricKeyType === 'ed25519',
};

export const assertionPublicKeyAlgs: readonly string[] = Object.keys(asymmetric);
export const assertionSecretAlgs: readonly string[] = ['HS256', 'HS384', 'HS512'];

/** A public key of a JWK that may verify signatures of `alg`; undefined when it may not or is no such key. */
export function publicKeyFor(alg: string, jwk: Readonly<Record<string, unknown>>): KeyObject | undefined {
  if (!Object.hasOwn(asymmetric, alg)) return undefined;
  if (jwk['use'] !== undefined && jwk['use'] !== 'sig' && jwk['use'] !== 'jwt-svid') return undefined; // the last one: SPIFFE bundles
  if (Array.isArray(jwk['key_ops']) && !jwk['key_ops'].includes('verify')) return undefined;
  if (jwk['alg'] !== undefined && jwk['alg'] !== alg && !(alg === 'EdDSA' && jwk['alg'] === 'Ed25519')) return undefined;
  const key = importedKey(jwk);
  return key !== undefined && asymmetric[alg]!(key) ? key : undefined;
}

/** Whether a compact JWS (RFC 7515) is signed with `key` by exactly `alg`, which the caller chose. */
export async function isSignedBy(token: string, alg: string, key: KeyObject | Uint8Array): Promise<boolean> {
  const { compactVerify } = await import('jose/jws/compact/verify'); // most servers see few of these: not at start
  try {
    await compactVerify(token, key, { algorithms: [alg] });
    return true;
  } catch {
    return false; // jose throws for whatever it does not take, keys it cannot use included
  }
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
