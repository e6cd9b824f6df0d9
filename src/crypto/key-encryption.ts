// Encryption under the master key: AES-256-GCM, the purpose bound as additional data, so that a value copied into another row, column or
// cookie does not decrypt. What is stored in the database has one key (`v1.<iv>.<ciphertext and tag>`, base64url). What is handed out and comes
// back within hours (cookies, nonces, addresses) has a key a purpose (`v2.`): there are as many of them as requests, and one key takes
// 2^32 random ivs (NIST SP 800-38D 8.3).
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { takeRandom } from '../platform/random.ts';

export interface KeyEncryption {
  /** Encrypts what is stored, for one purpose, e.g. `signing-key:<tenant>:<kid>`. */
  readonly encrypt: (plain: Uint8Array | string, purpose: string) => string;
  /** Gives the plain bytes; throws when the key, the purpose or the value is not the one it was encrypted with. */
  readonly decrypt: (encrypted: string, purpose: string) => Buffer;
  /** Encrypts what is handed out, under the key of its purpose, e.g. `dpop-nonce:<tenant>`. */
  readonly seal: (plain: string, purpose: string) => string;
  /** Gives what was sealed; throws as `decrypt` does. */
  readonly open: (sealed: string, purpose: string) => string;
}

const ivBytes = 12;
const tagBytes = 16;

/** @param masterKey 32 random bytes. */
export function createKeyEncryption(masterKey: Uint8Array): KeyEncryption {
  if (masterKey.length !== 32) throw new Error(`the master key must be 32 bytes, found ${masterKey.length}`);
  const keyOf = (info: string): KeyObject => createSecretKey(Buffer.from(hkdfSync('sha256', masterKey, '', info, 32)));
  const stored = keyOf('gatehouse key encryption v1');
  const keyFor = (purpose: string): KeyObject => keyOf(`gatehouse sealed value v2 ${purpose}`);
  const decrypt = (encrypted: string, purpose: string): Buffer => decryptUnder(stored, 'v1', encrypted, purpose);
  return {
    encrypt: (plain, purpose) => encryptUnder(stored, 'v1', plain, purpose),
    decrypt,
    seal: (plain, purpose) => encryptUnder(keyFor(purpose), 'v2', plain, purpose),
    open: (sealed, purpose) => {
      // What release 0.1.0 handed out, which may come back for hours after an upgrade.
      const opened = sealed.startsWith('v1.') ? decrypt(sealed, purpose) : decryptUnder(keyFor(purpose), 'v2', sealed, purpose);
      return opened.toString();
    },
  };
}

type Version = 'v1' | 'v2';

function encryptUnder(key: KeyObject, version: Version, plain: Uint8Array | string, purpose: string): string {
  const iv = takeRandom(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(purpose));
  const body = Buffer.concat([
    typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return `${version}.${iv.toString('base64url')}.${body.toString('base64url')}`;
}

function decryptUnder(key: KeyObject, version: Version, encrypted: string, purpose: string): Buffer {
  const [found, iv, body] = encrypted.split('.');
  if (found !== version || iv === undefined || body === undefined) throw new Error(`not an encrypted value (${purpose})`);
  const bytes = Buffer.from(body, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]);
}
