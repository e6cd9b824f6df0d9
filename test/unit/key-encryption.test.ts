// Issue 27, hole 11: what is handed out has a key of its purpose, what is stored has another. Keys are derived here anew (RFC 5869).
import assert from 'node:assert/strict';
import { createDecipheriv, hkdfSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { createKeyEncryption } from '../../src/crypto/key-encryption.ts';

const masterKey = Buffer.alloc(32, 7);
const encryption = createKeyEncryption(masterKey);

/** Opens a value under the key that HKDF gives for an info. */
function openUnder(info: string, value: string, purpose: string): string {
  const [, iv, body] = value.split('.').map((part) => Buffer.from(part, 'base64url'));
  const key = Buffer.from(hkdfSync('sha256', masterKey, '', info, 32));
  const decipher = createDecipheriv('aes-256-gcm', key, iv!, { authTagLength: 16 }).setAAD(Buffer.from(purpose));
  decipher.setAuthTag(body!.subarray(-16));
  return Buffer.concat([decipher.update(body!.subarray(0, -16)), decipher.final()]).toString();
}

describe('encryption under the master key', () => {
  it('what is stored has one key, as since 0.1.0', () => {
    const value = encryption.encrypt('secret', 'client-secret:t:c');
    assert.match(value, /^v1\./);
    assert.equal(openUnder('gatehouse key encryption v1', value, 'client-secret:t:c'), 'secret');
    assert.equal(encryption.decrypt(value, 'client-secret:t:c').toString(), 'secret');
  });

  it('what is handed out has a key a purpose', () => {
    const value = encryption.seal('17', 'dpop-nonce:t');
    assert.match(value, /^v2\./);
    assert.equal(openUnder('gatehouse sealed value v2 dpop-nonce:t', value, 'dpop-nonce:t'), '17');
    assert.equal(encryption.open(value, 'dpop-nonce:t'), '17');
    for (const info of ['gatehouse key encryption v1', 'gatehouse sealed value v2 dpop-nonce:other'])
      assert.throws(() => openUnder(info, value, 'dpop-nonce:t'));
  });

  it('another purpose, another master key, another kind or a changed value opens nothing', () => {
    const sealed = encryption.seal('17', 'dpop-nonce:t');
    const stored = encryption.encrypt('17', 'dpop-nonce:t');
    const other = createKeyEncryption(Buffer.alloc(32, 8));
    assert.throws(() => encryption.open(sealed, 'dpop-nonce:other'));
    assert.throws(() => other.open(sealed, 'dpop-nonce:t'));
    assert.throws(() => encryption.decrypt(sealed, 'dpop-nonce:t'));
    assert.throws(() => encryption.decrypt(`v1${sealed.slice(2)}`, 'dpop-nonce:t'));
    assert.throws(() => encryption.open(`v1${sealed.slice(2)}`, 'dpop-nonce:t'));
    assert.throws(() => encryption.open(`v2${stored.slice(2)}`, 'dpop-nonce:t'));
    assert.throws(() => encryption.open(`${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`, 'dpop-nonce:t'));
    for (const value of ['', 'v2', 'v2.', 'v2..', 'v3.a.b', 'a.b.c']) assert.throws(() => encryption.open(value, 'dpop-nonce:t'), value);
  });

  it('what release 0.1.0 handed out still comes back', () => {
    assert.equal(encryption.open(encryption.encrypt('17', 'dpop-nonce:t'), 'dpop-nonce:t'), '17');
  });
});
