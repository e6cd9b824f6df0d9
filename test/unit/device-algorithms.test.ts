import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeBase64, decodeBase64Url } from '../../src/crypto/base64.ts';
import { deviceAlgorithms, findDeviceAlgorithm, parseDevicePublicKey } from '../../src/crypto/device-algorithms.ts';

const message = Buffer.from('message');
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed25519 = generateKeyPairSync('ed25519');
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const spki = (key: KeyObject) => key.export({ format: 'der', type: 'spki' });
const signatures = {
  ES256: { key: p256.publicKey, bytes: sign('sha256', message, { key: p256.privateKey, dsaEncoding: 'ieee-p1363' }) },
  EdDSA: { key: ed25519.publicKey, bytes: sign(null, message, ed25519.privateKey) },
  RS256: { key: rsa.publicKey, bytes: sign('sha256', message, rsa.privateKey) },
} as const;
const names = ['ES256', 'EdDSA', 'RS256'] as const;

for (const name of names) {
  test(`device algorithm ${name}: its signature verifies, and no flipped bit of message or signature does`, () => {
    const { key, bytes } = signatures[name];
    const { verify } = deviceAlgorithms[name];
    assert.equal(verify(key, message, bytes), true);
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), fc.nat(message.length * 8 - 1), (inSignature, inMessage) => {
        assert.equal(verify(key, message, flipBit(bytes, inSignature)), false);
        assert.equal(verify(key, flipBit(message, inMessage), bytes), false);
      }),
      { numRuns: 200 },
    );
    assert.equal(verify(key, message, bytes.subarray(1)), false);
    assert.equal(verify(key, message, Buffer.concat([bytes, Buffer.of(0)])), false);
    assert.equal(verify(key, message, Buffer.alloc(0)), false);
  });
}

test('device algorithm ES256: strict DER and P1363 of the same signature verify, lenient DER does not', () => {
  const { verify } = deviceAlgorithms.ES256;
  for (let round = 0; round < 400; round += 1) {
    const der = sign('sha256', message, p256.privateKey);
    assert.equal(verify(p256.publicKey, message, der), true);
    assert.equal(verify(p256.publicKey, message, p1363(der)), true);
  }
  const der = sign('sha256', message, p256.privateKey);
  const longForm = Buffer.concat([Buffer.of(0x30, 0x81, der[1]!), der.subarray(2)]);
  const padded = Buffer.concat([Buffer.of(0x30, der[1]! + 1, 2, der[3]! + 1, 0), der.subarray(4)]);
  for (const bad of [longForm, padded, Buffer.concat([der, Buffer.of(0)]), p1363(der).subarray(1)]) {
    assert.equal(verify(p256.publicKey, message, bad), false);
  }
});

test('device algorithm ES256: r or s of zero or beyond the order never verifies', () => {
  const { verify } = deviceAlgorithms.ES256;
  const good = signatures.ES256.bytes;
  const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');
  for (const part of [Buffer.alloc(32), order, Buffer.alloc(32, 0xff)]) {
    assert.equal(verify(p256.publicKey, message, Buffer.concat([part, good.subarray(32)])), false);
    assert.equal(verify(p256.publicKey, message, Buffer.concat([good.subarray(0, 32), part])), false);
  }
});

test('device public keys: the canonical SPKI of the right type only', () => {
  for (const name of names) {
    const der = spki(signatures[name].key);
    assert.ok(parseDevicePublicKey(name, der));
    assert.equal(parseDevicePublicKey(name, Buffer.concat([der, Buffer.of(0)])), undefined);
    assert.equal(parseDevicePublicKey(name, der.subarray(0, -1)), undefined);
    for (const other of names) if (other !== name) assert.equal(parseDevicePublicKey(other, der), undefined);
  }
  assert.equal(parseDevicePublicKey('none', spki(p256.publicKey)), undefined);
  assert.equal(findDeviceAlgorithm('toString'), undefined);
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  assert.equal(parseDevicePublicKey('ES256', spki(p384.publicKey)), undefined);
  const compressed = Buffer.concat([
    Buffer.from('3039301306072a8648ce3d020106082a8648ce3d030107032200', 'hex'),
    Buffer.of(2 + (spki(p256.publicKey).at(-1)! & 1)),
    spki(p256.publicKey).subarray(27, 59),
  ]);
  assert.equal(parseDevicePublicKey('ES256', compressed), undefined);
});

test('device public keys: RSA from 2048 to 4096 bits with exponent 65537', () => {
  const make = (modulusLength: number, publicExponent = 65537) =>
    spki(generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey);
  assert.equal(parseDevicePublicKey('RS256', make(2047)), undefined);
  assert.equal(parseDevicePublicKey('RS256', make(1024)), undefined);
  assert.equal(parseDevicePublicKey('RS256', make(2048, 3)), undefined);
  assert.ok(parseDevicePublicKey('RS256', make(3072)));
  const pss = generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
  assert.equal(parseDevicePublicKey('RS256', spki(pss.publicKey)), undefined);
});

test('device public keys: Ed25519 points of small order, off the curve or not canonical are refused', () => {
  const prefix = Buffer.from('302a300506032b6570032100', 'hex');
  const small = [
    '0100000000000000000000000000000000000000000000000000000000000000',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0000000000000000000000000000000000000000000000000000000000000080',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '0200000000000000000000000000000000000000000000000000000000000000',
  ];
  for (const point of small) {
    assert.equal(parseDevicePublicKey('EdDSA', Buffer.concat([prefix, Buffer.from(point, 'hex')])), undefined, point);
  }
  for (let round = 0; round < 20; round += 1) {
    assert.ok(parseDevicePublicKey('EdDSA', spki(generateKeyPairSync('ed25519').publicKey)));
  }
});

test('base64 is strict: canonical and padded, or canonical and unpadded in the URL alphabet', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64');
      assert.deepEqual(decodeBase64(text), Buffer.from(bytes));
      assert.deepEqual(decodeBase64Url(Buffer.from(bytes).toString('base64url')), Buffer.from(bytes));
    }),
  );
  for (const bad of ['AA', 'AA=', 'AB==', 'AA==\n', ' AA==', 'AA-_', 'A===', 'AA==AA==', 'é===']) {
    assert.equal(decodeBase64(bad), undefined, bad);
  }
  for (const bad of ['AA==', 'AB', 'AA+/', 'A', 'AA ']) assert.equal(decodeBase64Url(bad), undefined, bad);
});

function flipBit(bytes: Uint8Array, bit: number): Buffer {
  const out = Buffer.from(bytes);
  out[bit >> 3] = out[bit >> 3]! ^ (1 << (bit & 7));
  return out;
}

function p1363(der: Uint8Array): Buffer {
  const rLength = der[3]!;
  const part = (from: number, length: number) => {
    const value = Buffer.from(der.subarray(from, from + length));
    return Buffer.concat([Buffer.alloc(32), value]).subarray(-32);
  };
  return Buffer.concat([part(4, rLength), part(6 + rLength, der[5 + rLength]!)]);
}
