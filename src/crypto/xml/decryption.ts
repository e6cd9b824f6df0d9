// Opens what another identity provider encrypted for our key (XML Encryption 1.1): AES in Galois counter mode, whose content nobody
// can change unseen, under a key carried by RSA-OAEP. CBC and RSA 1.5 are refused: both tell whoever asks often enough.
// Gives bytes; whoever calls reads them as a document of their own and verifies the signature in them.
import { constants, createDecipheriv, type KeyObject, privateDecrypt } from 'node:crypto';
import { namespaceUris } from './algorithms.ts';
import { parseBase64 } from './characters.ts';
import { attributeOf, childElements, childrenNamed, isNamed, textOf, type XmlElement } from './tree.ts';

type DecryptionRefusal = 'encryption_shape' | 'encryption_algorithm' | 'decryption_failed';
export type Decryption =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly reason: DecryptionRefusal; readonly received?: string | undefined };

const { ds, xenc, xenc11 } = namespaceUris;
const contentCiphers: ReadonlyMap<string, { readonly cipher: 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm'; readonly keyBytes: number }> =
  new Map([
    [`${xenc11}aes256-gcm`, { cipher: 'aes-256-gcm', keyBytes: 32 }],
    [`${xenc11}aes192-gcm`, { cipher: 'aes-192-gcm', keyBytes: 24 }],
    [`${xenc11}aes128-gcm`, { cipher: 'aes-128-gcm', keyBytes: 16 }],
  ]);
const oaepMgf1p = `${xenc}rsa-oaep-mgf1p`;
const oaep11 = `${xenc11}rsa-oaep`;
const sha1Digest = `${ds}sha1`;
const [ivBytes, tagBytes] = [12, 16];
const encryptedKeysMax = 5;

/** What our metadata says we can open, best first. */
export const decryptionMethods = [...contentCiphers.keys(), oaepMgf1p, oaep11];

/** The plain bytes in an element that holds one EncryptedData, its EncryptedKeys in it or beside it; opened by one of our keys. */
export function decryptIn(holder: XmlElement, privateKeys: readonly KeyObject[]): Decryption {
  const [data, ...others] = childrenNamed(holder, xenc, 'EncryptedData');
  if (data === undefined || others.length > 0) return { ok: false, reason: 'encryption_shape' };
  const algorithm = methodOf(data);
  const content = contentCiphers.get(algorithm ?? '');
  if (content === undefined) return { ok: false, reason: 'encryption_algorithm', received: algorithm };
  const bytes = cipherValueOf(data);
  const inside = childrenNamed(data, ds, 'KeyInfo').flatMap((info) => childrenNamed(info, xenc, 'EncryptedKey'));
  const wrapped = [...inside, ...childrenNamed(holder, xenc, 'EncryptedKey')];
  if (bytes === undefined || bytes.length < ivBytes + tagBytes || wrapped.length === 0 || wrapped.length > encryptedKeysMax)
    return { ok: false, reason: 'encryption_shape' };
  const known = wrapped.flatMap((one) => {
    const hash = oaepHashOf(one);
    const value = cipherValueOf(one);
    return hash === undefined || value === undefined ? [] : [{ hash, value }];
  });
  if (known.length === 0) return { ok: false, reason: 'encryption_algorithm', received: methodOf(wrapped[0]!) };
  for (const { hash, value } of known)
    for (const key of privateKeys) {
      const plain = open(content, bytes, () => privateDecrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: hash }, value));
      if (plain !== undefined) return { ok: true, bytes: plain };
    }
  return { ok: false, reason: 'decryption_failed' };
}

type Content = { readonly cipher: 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm'; readonly keyBytes: number };

function open({ cipher, keyBytes }: Content, bytes: Buffer, unwrap: () => Buffer): Buffer | undefined {
  try {
    const key = unwrap();
    if (key.length !== keyBytes) return undefined;
    const decipher = createDecipheriv(cipher, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]);
  } catch {
    return undefined; // not our key, or not what was encrypted
  }
}

/** OpenSSL takes one hash for digest and mask: those pairs of XML Encryption 1.1 (5.5.2) that are one. */
function oaepHashOf(encryptedKey: XmlElement): 'sha1' | 'sha256' | undefined {
  const [method] = childrenNamed(encryptedKey, xenc, 'EncryptionMethod');
  const algorithm = methodOf(encryptedKey);
  if (method === undefined) return undefined;
  const partOf = (namespace: string, name: string): string | undefined => {
    const found = childElements(method).find((child) => isNamed(child, namespace, name));
    return found && attributeOf(found, 'Algorithm');
  };
  const digest = partOf(ds, 'DigestMethod') ?? sha1Digest;
  if (algorithm === oaepMgf1p) return digest === sha1Digest ? 'sha1' : undefined;
  if (algorithm !== oaep11) return undefined;
  const mask = partOf(xenc11, 'MGF') ?? `${xenc11}mgf1sha1`;
  if (digest === sha1Digest && mask === `${xenc11}mgf1sha1`) return 'sha1';
  return digest === `${xenc}sha256` && mask === `${xenc11}mgf1sha256` ? 'sha256' : undefined;
}

const methodOf = (element: XmlElement): string | undefined => {
  const [method] = childrenNamed(element, xenc, 'EncryptionMethod');
  return method && attributeOf(method, 'Algorithm');
};

function cipherValueOf(element: XmlElement): Buffer | undefined {
  const [data] = childrenNamed(element, xenc, 'CipherData');
  const [value] = data === undefined ? [] : childrenNamed(data, xenc, 'CipherValue');
  const text = value && textOf(value);
  return text === undefined ? undefined : parseBase64(text, 'allowed');
}
