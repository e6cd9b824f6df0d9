// Encrypts canonical XML for one RSA key (XML Encryption 1.1): a fresh AES key per message, carried by RSA-OAEP.
// Called by the SAML response builder. RSA 1.5 does not exist here, and nothing falls back to plain text.

import { constants, createCipheriv, type KeyObject, publicEncrypt } from 'node:crypto';
import { base64Text, type CanonicalXml, element, type WrittenElement } from './writer.ts';

export type XmlEncryption = {
  readonly algorithm: 'aes256-gcm' | 'aes128-gcm' | 'aes256-cbc';
  readonly keyTransport: 'rsa-oaep-mgf1p' | 'rsa-oaep-sha256';
};

const contentAlgorithms = {
  'aes256-gcm': { uri: 'http://www.w3.org/2009/xmlenc11#aes256-gcm', keyBytes: 32, ivBytes: 12, cipher: 'aes-256-gcm' },
  'aes128-gcm': { uri: 'http://www.w3.org/2009/xmlenc11#aes128-gcm', keyBytes: 16, ivBytes: 12, cipher: 'aes-128-gcm' },
  'aes256-cbc': { uri: 'http://www.w3.org/2001/04/xmlenc#aes256-cbc', keyBytes: 32, ivBytes: 16, cipher: 'aes-256-cbc' },
} as const;

const keyTransports = {
  // XML Encryption 1.1 section 5.5.2: the name fixes MGF1 with SHA-1; OAEP does not rest on its collision resistance.
  'rsa-oaep-mgf1p': {
    uri: 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
    hash: 'sha1',
    digestUri: 'http://www.w3.org/2000/09/xmldsig#sha1',
    mgfUri: undefined,
  },
  'rsa-oaep-sha256': {
    uri: 'http://www.w3.org/2009/xmlenc11#rsa-oaep',
    hash: 'sha256',
    digestUri: 'http://www.w3.org/2001/04/xmlenc#sha256',
    mgfUri: 'http://www.w3.org/2009/xmlenc11#mgf1sha256',
  },
} as const;

/** An xenc:EncryptedData that replaces the element; `randomBytes` is the process's source of randomness. */
export function encryptElement(
  plain: CanonicalXml,
  publicKey: KeyObject,
  encryption: XmlEncryption,
  randomBytes: (size: number) => Buffer,
): WrittenElement {
  const content = contentAlgorithms[encryption.algorithm];
  const transport = keyTransports[encryption.keyTransport];
  const key = randomBytes(content.keyBytes);
  const iv = randomBytes(content.ivBytes);
  const cipher = encryptContent(content.cipher, key, iv, plain.canonical);
  const wrapped = publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: transport.hash }, key);
  const digest = element('ds:DigestMethod', { Algorithm: transport.digestUri });
  const mgf = transport.mgfUri === undefined ? [] : [element('xenc11:MGF', { Algorithm: transport.mgfUri })];
  const encryptedKey = element(
    'xenc:EncryptedKey',
    {},
    element('xenc:EncryptionMethod', { Algorithm: transport.uri }, digest, ...mgf),
    cipherData(wrapped),
  );
  return element(
    'xenc:EncryptedData',
    { Type: 'http://www.w3.org/2001/04/xmlenc#Element' },
    element('xenc:EncryptionMethod', { Algorithm: content.uri }),
    element('ds:KeyInfo', {}, encryptedKey),
    cipherData(cipher),
  );
}

function encryptContent(algorithm: 'aes-256-gcm' | 'aes-128-gcm' | 'aes-256-cbc', key: Buffer, iv: Buffer, plain: string): Buffer {
  if (algorithm === 'aes-256-cbc') {
    // PKCS #7 padding is one of the paddings XML Encryption 1.1 section 5.2 allows: only its last byte is defined.
    const cipher = createCipheriv(algorithm, key, iv);
    return Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final()]);
  }
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: 16 });
  return Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

function cipherData(bytes: Buffer): WrittenElement {
  return element('xenc:CipherData', {}, element('xenc:CipherValue', {}, base64Text(bytes)));
}
