// Encryption at rest under the master key: AES-256-GCM, the purpose bound as additional data, so that a value copied
// into another row or column does not decrypt. Format: `v1.<iv>.<ciphertext and tag>`, base64url.
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { takeRandom } from '../platform/random.ts';

export interface KeyEncryption {
  /** Encrypts for one purpose, e.g. `signing-key:<tenant>:<kid>`. */
  readonly encrypt: (plain: Uint8Array | string, purpose: string) => string;
  /** Gives the plain bytes; throws when the key, the purpose or the value is not the one it was encrypted with. */
  readonly decrypt: (encrypted: string, purpose: string) => Buffer;
}

const ivBytes = 12;
const tagBytes = 16;

/** @param masterKey 32 random bytes. */
export function createKeyEncryption(masterKey: Uint8Array): KeyEncryption {
  if (masterKey.length !== 32) throw new Error(`the master key must be 32 bytes, found ${masterKey.length}`);
  const key: KeyObject = createSecretKey(Buffer.from(hkdfSync('sha256', masterKey, '', 'gatehouse key encryption v1', 32)));
  return {
    encrypt: (plain, purpose) => {
      const iv = takeRandom(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(purpose));
      const body = Buffer.concat([
        typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return `v1.${iv.toString('base64url')}.${body.toString('base64url')}`;
    },
    decrypt: (encrypted, purpose) => {
      const [version, iv, body] = encrypted.split('.');
      if (version !== 'v1' || iv === undefined || body === undefined) throw new Error(`not an encrypted value (${purpose})`);
      const bytes = Buffer.from(body, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'), { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-tagBytes));
      return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]);
    },
  };
}
