// The signing keys of one tenant, decrypted once and held as KeyObjects once used: which key signs, which verify, what JWKS shows.
import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { SigningAlg } from '../domain/client/client.ts';
import type { KeyEncryption } from './key-encryption.ts';
import { signingKeyPurpose } from './sealed-columns.ts';
import type { SigningKey, VerificationKey } from './signing/jwt.ts';
import { signingAlgorithms, thumbprint } from './signing/signing.ts';

/** A key as stored; storage/signing-keys has the row, this module does not know SQL. */
interface StoredKey {
  readonly kid: string;
  readonly use: string;
  readonly alg: string;
  readonly state: string;
  readonly private_key_encrypted: string;
  readonly public_jwk: string;
}

export interface KeyRing {
  /** The current key of an algorithm; undefined when the tenant has none. */
  readonly signing: (alg: SigningAlg) => SigningKey | undefined;
  readonly verification: (kid: string) => VerificationKey | undefined;
  /** Every published key: next, current and retired. */
  readonly jwks: { readonly keys: readonly JsonWebKey[] };
}

/**
 * Opens the `oidc` keys of a tenant. Each is decrypted, which shows that it is as it was stored, and kept as a key once it is used: OpenSSL
 * takes a while to make one, and the next and retired ones are hardly used. Throws, naming the kid, when one cannot be decrypted; a key that
 * is not what its kid says throws when it is used.
 */
export function openKeyRing(tenant: string, stored: readonly StoredKey[], encryption: KeyEncryption): KeyRing {
  const keys = stored.filter((key) => key.use === 'oidc');
  const signing = new Map<SigningAlg, () => SigningKey>();
  const verification = new Map<string, () => VerificationKey>();
  for (const key of keys) {
    const alg = key.alg as SigningAlg; // only this module and its migration write the column
    const decrypt = (): Buffer => encryption.decrypt(key.private_key_encrypted, signingKeyPurpose(tenant, key.kid));
    opening(tenant, key, decrypt);
    const privateKey = once(() => opening(tenant, key, () => privateKeyOf(key.kid, decrypt())));
    const signingKey = once(() => ({ kid: key.kid, alg, privateKey: privateKey() }));
    const verificationKey = once(() => ({ kid: key.kid, alg, publicKey: createPublicKey(privateKey()) }));
    if (key.state === 'current') signing.set(alg, signingKey);
    verification.set(key.kid, verificationKey);
  }
  return {
    signing: (alg) => signing.get(alg)?.(),
    verification: (kid) => verification.get(kid)?.(),
    jwks: { keys: keys.map((key) => ({ ...JSON.parse(key.public_jwk), kid: key.kid, alg: key.alg, use: 'sig' })) },
  };
}

function privateKeyOf(kid: string, der: Buffer): KeyObject {
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  if (thumbprint(privateKey) !== kid) throw new Error('the key is not the one its kid names');
  return privateKey;
}

/** Works something out at its first use; again when that failed. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function opening<T>(tenant: string, { kid }: StoredKey, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw new Error(`signing key ${kid} of tenant ${tenant} cannot be opened; restore it, or remove it with: gatehouse key rotate`, {
      cause: error,
    });
  }
}

/** Makes a new key pair for OIDC, encrypted and ready to store. */
export async function generateSigningKey(
  tenant: string,
  alg: SigningAlg,
  state: 'current' | 'next',
  encryption: KeyEncryption,
): Promise<StoredKey> {
  const { privateKey, publicKey } = await signingAlgorithms[alg].generate();
  const kid = thumbprint(publicKey);
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  return {
    kid,
    use: 'oidc',
    alg,
    state,
    private_key_encrypted: encryption.encrypt(der, signingKeyPurpose(tenant, kid)),
    public_jwk: JSON.stringify(publicKey.export({ format: 'jwk' })),
  };
}
