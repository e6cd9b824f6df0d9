// RSA keys for tests: making one costs 100 ms, so each is made once a process. Certificates are ours, made in memory.

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { makeSelfSignedCertificate, toPem } from '../../src/crypto/certificate.ts';

export type RsaKeys = { readonly privateKey: KeyObject; readonly publicKey: KeyObject; readonly publicPem: string };

const made = new Map<string, RsaKeys>();

/** The key pair of this name; the same for the same name within a process. */
export function rsaKeys(name = 'first', modulusLength = 2048, publicExponent = 65537): RsaKeys {
  const id = `${name} ${modulusLength} ${publicExponent}`;
  const known = made.get(id);
  if (known !== undefined) return known;
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength, publicExponent });
  const keys = { privateKey, publicKey, publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString() };
  made.set(id, keys);
  return keys;
}

/** A self-signed certificate of a key pair, as PEM. */
export async function certificatePem(keys: RsaKeys, commonName = 'Test'): Promise<string> {
  const der = await makeSelfSignedCertificate({
    ...keys,
    commonName,
    notBefore: new Date('2026-01-01T00:00:00Z'),
    notAfter: new Date('2036-01-01T00:00:00Z'),
    serialNumber: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8),
  });
  return toPem(der);
}
