// SAML signing keys, a tenant's or a provider's own: RSA-2048 with a self-signed certificate, named by the hash of their SPKI. Opened once and
// held as KeyObjects. Called by tokens/saml-keys.ts and own-saml-keys.ts. Must not know SQL.
import { createPrivateKey, createPublicKey, hash, type KeyObject, X509Certificate } from 'node:crypto';
import { takeRandom } from '../platform/random.ts';
import { makeSelfSignedCertificate, toPem } from './certificate.ts';
import type { KeyEncryption } from './key-encryption.ts';
import { signingKeyPurpose } from './sealed-columns.ts';
import { signingAlgorithms } from './signing/signing.ts';

interface StoredSamlKey {
  readonly kid: string;
  readonly alg: 'RS256';
  readonly state: 'current' | 'next';
  readonly private_key_encrypted: string;
  readonly public_jwk: string;
  /** PEM. */
  readonly certificate: string;
}

export interface SamlKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly certificatePem: string;
  /** The certificate's DER. */
  readonly certificate: Buffer;
}

const certificateYears = 10;

/** Makes a key with its certificate, encrypted and ready to store. Slow (RSA): call it outside a transaction. */
export async function generateSamlKey(
  tenant: string,
  commonName: string,
  state: 'current' | 'next',
  encryption: KeyEncryption,
  nowMs: number,
): Promise<StoredSamlKey> {
  const { privateKey, publicKey } = await signingAlgorithms.RS256.generate();
  const notBefore = new Date(nowMs - 60 * 60_000); // an hour for partners whose clock is behind
  const notAfter = new Date(notBefore);
  notAfter.setUTCFullYear(notBefore.getUTCFullYear() + certificateYears);
  const der = await makeSelfSignedCertificate({ privateKey, publicKey, commonName, notBefore, notAfter, serialNumber: takeRandom(16) });
  const kid = kidOf(publicKey);
  return {
    kid,
    alg: 'RS256',
    state,
    private_key_encrypted: encryption.encrypt(privateKey.export({ format: 'der', type: 'pkcs8' }), signingKeyPurpose(tenant, kid)),
    public_jwk: JSON.stringify(publicKey.export({ format: 'jwk' })),
    certificate: toPem(der),
  };
}

/** Opens a stored key. Throws, naming the kid, when it cannot be decrypted or is not the key it claims to be. */
export function openSamlKey(
  tenant: string,
  stored: { readonly kid: string; readonly private_key_encrypted: string; readonly certificate: string | null },
  encryption: KeyEncryption,
): SamlKey {
  try {
    if (stored.certificate === null) throw new Error('the key has no certificate');
    const privateKey = createPrivateKey({
      key: encryption.decrypt(stored.private_key_encrypted, signingKeyPurpose(tenant, stored.kid)),
      format: 'der',
      type: 'pkcs8',
    });
    const certificate = new X509Certificate(stored.certificate);
    if (kidOf(createPublicKey(privateKey)) !== stored.kid || kidOf(certificate.publicKey) !== stored.kid)
      throw new Error('the key is not the one its kid names');
    return { kid: stored.kid, privateKey, certificatePem: stored.certificate, certificate: certificate.raw };
  } catch (error) {
    throw new Error(
      `SAML signing key ${stored.kid} of tenant ${tenant} cannot be opened; restore it, or remove it with: gatehouse key rotate`,
      { cause: error },
    );
  }
}

function kidOf(publicKey: KeyObject): string {
  return hash('sha256', publicKey.export({ format: 'der', type: 'spki' }), 'base64url');
}
