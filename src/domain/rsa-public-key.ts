// Reads the RSA public keys partners register as PEM (certificate or SPKI) and sets the floor and ceiling of what we
// accept. Called where a key is registered and where stored keys are loaded. Must not decide what a key is for.

import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';

type RsaPublicKeyRefusal = 'not_a_key' | 'not_rsa' | 'modulus_too_small' | 'modulus_too_large' | 'exponent_too_small';

type RsaPublicKeyReading =
  | { readonly ok: true; readonly key: KeyObject; readonly certificate: X509Certificate | undefined }
  | { readonly ok: false; readonly reason: RsaPublicKeyRefusal };

const modulusBitsMin = 2048;
const modulusBitsMax = 8192;
const publicExponentMin = 65537n;

/** The key of one PEM certificate or PEM SubjectPublicKeyInfo, RSA of 2048 to 8192 bits and exponent 65537 or more. */
export function readRsaPublicKey(pem: string): RsaPublicKeyReading {
  const parsed = parsePem(pem);
  if (parsed === undefined) return { ok: false, reason: 'not_a_key' };
  const { key } = parsed;
  if (key.asymmetricKeyType !== 'rsa') return { ok: false, reason: 'not_rsa' };
  const { modulusLength = 0, publicExponent = 0n } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < modulusBitsMin) return { ok: false, reason: 'modulus_too_small' };
  if (modulusLength > modulusBitsMax) return { ok: false, reason: 'modulus_too_large' };
  if (publicExponent < publicExponentMin) return { ok: false, reason: 'exponent_too_small' };
  return { ok: true, ...parsed };
}

/** Bits of an exponent; real ones have 17. A verification with one as long as the modulus takes twenty times as long. */
const publicExponentBitsMax = 33n;

/** What is wrong with an RSA key that somebody gives as a JWK: of those a request may bring or name a hundred. */
export function rsaJwkFault({ asymmetricKeyDetails }: KeyObject): string | undefined {
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {};
  if (modulusLength < modulusBitsMin) return `must hold RSA keys of ${modulusBitsMin} bits or more`;
  return modulusLength > modulusBitsMax || publicExponent >> publicExponentBitsMax > 0n
    ? `must hold RSA keys of ${modulusBitsMin} to ${modulusBitsMax} bits, with an exponent of at most ${publicExponentBitsMax}`
    : undefined;
}

function parsePem(pem: string): { key: KeyObject; certificate: X509Certificate | undefined } | undefined {
  const labels = [...pem.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----/g)].map((match) => match[1]);
  const [label] = labels;
  if (labels.length !== 1) return undefined; // one key at a time: a chain would leave open which one counts
  try {
    if (label === 'CERTIFICATE') {
      const certificate = new X509Certificate(pem);
      return { key: certificate.publicKey, certificate };
    }
    if (label === 'PUBLIC KEY') {
      return { key: createPublicKey({ key: pem, format: 'pem', type: 'spki' }), certificate: undefined };
    }
    return undefined;
  } catch {
    return undefined; // OpenSSL could not read it; its text is never shown
  }
}
