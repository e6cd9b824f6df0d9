// RFC 9053 7: which COSE keys a passkey may have, and that responses by each of their algorithms verify.
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, it } from 'node:test';
import { algorithmOfCoseKey } from '../../src/crypto/cose-key.ts';
import { parseAssertion, verifyAssertion } from '../../src/crypto/webauthn.ts';
import { cbor } from '../support/cbor-build.ts';

type Entry = readonly [number, number | Uint8Array];
const bytes = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64url');
const coseKey = (...entries: readonly Entry[]): Buffer => cbor(new Map(entries));

function ecKey(key: KeyObject, alg = -7, curve = 1): Buffer {
  const { x, y } = key.export({ format: 'jwk' });
  return coseKey([1, 2], [3, alg], [-1, curve], [-2, bytes(x)], [-3, bytes(y)]);
}

function rsaKey(key: KeyObject): Buffer {
  const { n, e } = key.export({ format: 'jwk' });
  return coseKey([1, 3], [3, -257], [-1, bytes(n)], [-2, bytes(e)]);
}

const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const ed25519 = generateKeyPairSync('ed25519');
const rsa2048 = generateKeyPairSync('rsa', { modulusLength: 2048 });
const rsa1024 = generateKeyPairSync('rsa', { modulusLength: 1024 });
const edKey = (x: Uint8Array): Buffer => coseKey([1, 1], [3, -8], [-1, 6], [-2, x]);
const ed = bytes(ed25519.publicKey.export({ format: 'jwk' }).x);

const good: readonly (readonly [string, Buffer, KeyObject, string | null])[] = [
  ['ES256', ecKey(p256.publicKey), p256.privateKey, 'sha256'],
  ['EdDSA', edKey(ed), ed25519.privateKey, null],
  ['RS256', rsaKey(rsa2048.publicKey), rsa2048.privateKey, 'sha256'],
];

describe('COSE keys of passkeys', () => {
  for (const [name, key, privateKey, digest] of good)
    it(`${name} is taken, and its responses verify`, async () => {
      assert.equal(algorithmOfCoseKey(key), name);
      const party = { id: 'id.example', origin: 'https://id.example' };
      const clientData = Buffer.from(JSON.stringify({ type: 'webauthn.get', challenge: 'AAAA', origin: party.origin }));
      const authData = Buffer.concat([createHash('sha256').update(party.id).digest(), Buffer.of(5, 0, 0, 0, 0)]);
      const signed = Buffer.concat([authData, createHash('sha256').update(clientData).digest()]);
      const outcomeOf = async (signature: Buffer): Promise<string> => {
        const assertion = parseAssertion({
          id: 'AAAA',
          rawId: 'AAAA',
          type: 'public-key',
          response: {
            clientDataJSON: clientData.toString('base64url'),
            authenticatorData: authData.toString('base64url'),
            signature: signature.toString('base64url'),
          },
        });
        assert.ok(assertion);
        const credential = { credentialId: 'AAAA', publicKey: key.toString('base64url'), counter: 0 };
        const verdict = await verifyAssertion(party, credential, assertion, () => true);
        return verdict.ok ? 'ok' : verdict.reason;
      };
      const signature = sign(digest, signed, privateKey);
      assert.equal(await outcomeOf(signature), 'ok');
      assert.equal(await outcomeOf(sign(digest, Buffer.from('another message'), privateKey)), 'signature');
      assert.equal(await outcomeOf(Buffer.concat([signature, Buffer.of(0)])), 'signature');
    });

  const bad: Readonly<Record<string, Buffer>> = {
    'another curve': ecKey(p384.publicKey, -35, 2),
    'P-384 under ES256': ecKey(p384.publicKey, -7, 2),
    'a point that is not on the curve': coseKey([1, 2], [3, -7], [-1, 1], [-2, Buffer.alloc(32, 1)], [-3, Buffer.alloc(32, 2)]),
    'a point without y': coseKey([1, 2], [3, -7], [-1, 1], [-2, Buffer.alloc(32, 1)]),
    'Ed25519 of small order': edKey(Buffer.concat([Buffer.of(1), Buffer.alloc(31)])),
    'Ed25519 of 31 bytes': edKey(ed.subarray(1)),
    'RSA of 1024 bits': rsaKey(rsa1024.publicKey),
    'an algorithm nobody asked for': ecKey(p256.publicKey, -47, 8),
    'bytes after the key': Buffer.concat([ecKey(p256.publicKey), Buffer.of(0)]),
    'no map': cbor([1, 2]),
    'no CBOR': Buffer.from('ff', 'hex'),
  };
  for (const [name, key] of Object.entries(bad)) it(`refused: ${name}`, () => assert.equal(algorithmOfCoseKey(key), undefined));
});
