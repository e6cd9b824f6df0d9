// JWS signing and verification with node:crypto (RFC 7515, 7518, 8037): one table entry per algorithm.
// Signing runs on the thread pool. Keys are passed as KeyObjects, not in options objects: Node copies the latter at every call.
import { createPublicKey, generateKeyPair, hash, type JsonWebKey, type KeyObject, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { SigningAlg } from '../../domain/client/client.ts';

interface AlgorithmEntry {
  readonly digest: 'sha256' | null;
  readonly generate: () => Promise<{ publicKey: KeyObject; privateKey: KeyObject }>;
  /** OpenSSL's encoding of a signature to the JWS one, and back. */
  readonly encode: (signature: Buffer) => Buffer;
  readonly decode: (signature: Buffer) => Buffer | undefined;
  /** Hash of at_hash and its relatives (OpenID Connect Core 3.1.3.6): the algorithm's own hash. */
  readonly halfHash: 'sha256' | 'sha512';
  readonly matches: (key: KeyObject) => boolean;
}

const generate = promisify(generateKeyPair);
const same = (signature: Buffer): Buffer => signature;

export const signingAlgorithms: Readonly<Record<SigningAlg, AlgorithmEntry>> = {
  ES256: {
    digest: 'sha256',
    generate: () => generate('ec', { namedCurve: 'P-256' }),
    encode: p1363FromDer,
    decode: derFromP1363,
    halfHash: 'sha256',
    matches: (key) => key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1',
  },
  RS256: {
    digest: 'sha256',
    generate: () => generate('rsa', { modulusLength: 2048, publicExponent: 65537 }),
    encode: same,
    decode: same,
    halfHash: 'sha256',
    matches: (key) => key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048,
  },
  EdDSA: {
    digest: null,
    generate: () => generate('ed25519'),
    encode: same,
    decode: same,
    halfHash: 'sha512',
    matches: (key) => key.asymmetricKeyType === 'ed25519',
  },
};

/** Signs on the thread pool; gives the JWS signature bytes. */
export function signBytes(alg: SigningAlg, key: KeyObject, data: Buffer): Promise<Buffer> {
  const { digest, encode } = signingAlgorithms[alg];
  return new Promise((resolve, reject) => {
    sign(digest, data, key, (error, signature) => (error === null ? resolve(encode(signature)) : reject(error)));
  });
}

/** Signs on the calling thread; for the fast algorithms and the signing thread only. */
export function signBytesNow(alg: SigningAlg, key: KeyObject, data: Buffer): Buffer {
  const { digest, encode } = signingAlgorithms[alg];
  return encode(sign(digest, data, key));
}

/** True when the JWS signature verifies under the key; false for any malformed signature. */
export function verifyBytes(alg: SigningAlg, key: KeyObject, data: Buffer, signature: Buffer): boolean {
  const { digest, decode } = signingAlgorithms[alg];
  const decoded = decode(signature);
  return decoded !== undefined && verify(digest, data, key, decoded);
}

/** RFC 7638 thumbprint of a public key, base64url SHA-256: the `kid` of OIDC keys. */
export function thumbprint(key: KeyObject): string {
  const jwk = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' });
  return hash('sha256', JSON.stringify(thumbprintMembers(jwk)), 'base64url');
}

function thumbprintMembers(jwk: JsonWebKey): JsonWebKey {
  const { crv, e, kty, n, x, y } = jwk;
  switch (kty) {
    case 'EC':
      return { crv: crv!, kty, x: x!, y: y! };
    case 'RSA':
      return { e: e!, kty, n: n! };
    case 'OKP':
      return { crv: crv!, kty, x: x! };
    default:
      throw new Error(`no thumbprint for key type ${kty}`);
  }
}

const coordinateBytes = 32;

/** ECDSA-Sig-Value (DER) of OpenSSL to the fixed-length form of RFC 7518 3.4. */
function p1363FromDer(der: Buffer): Buffer {
  const out = Buffer.alloc(2 * coordinateBytes);
  let offset = 2;
  for (let part = 1; part <= 2; part += 1) {
    let length = der[offset + 1]!;
    let start = offset + 2;
    offset = start + length;
    while (length > coordinateBytes) {
      start += 1;
      length -= 1;
    }
    der.copy(out, part * coordinateBytes - length, start, start + length);
  }
  return out;
}

function derFromP1363(signature: Buffer): Buffer | undefined {
  if (signature.length !== 2 * coordinateBytes) return undefined;
  const r = derInteger(signature.subarray(0, coordinateBytes));
  const s = derInteger(signature.subarray(coordinateBytes));
  return Buffer.concat([Buffer.from([0x30, r.length + s.length]), r, s]);
}

function derInteger(unsigned: Buffer): Buffer {
  let start = 0;
  while (start < unsigned.length - 1 && unsigned[start] === 0) start += 1;
  const body = unsigned.subarray(start);
  const pad = body[0]! >= 0x80 ? [0] : [];
  return Buffer.concat([Buffer.from([0x02, body.length + pad.length, ...pad]), body]);
}
