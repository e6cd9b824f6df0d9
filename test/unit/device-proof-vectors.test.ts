// sdk/vectors/proofs.json against both sides: the SDK builds the same texts, the server builds them on its own and judges every
// signature as the vector says.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { attestationText, enrollText, rotateText } from '../../sdk/signing.ts';
import { decodeBase64 } from '../../src/crypto/base64.ts';
import { isPlatformCredentialAlg } from '../../src/crypto/platform-credential.ts';
import { attestationClientData, enrollProofBytes, rotationProofBytes, sha256Hex } from '../../src/crypto/signed-string.ts';
import { verifyWithCredential, verifyWithStoredKey } from '../../src/device/public-keys.ts';

interface Fields {
  readonly issuer: string;
  readonly device_id: string;
  readonly key_id: string;
  readonly public_key: string;
  readonly pop_public_key: string;
  readonly challenge: string;
  readonly nonce: string;
  readonly keys: readonly { readonly key_id: string; readonly public_key: string }[];
}
interface Vector {
  readonly name: string;
  readonly kind: 'enroll' | 'rotate' | 'attestation' | 'webauthn';
  readonly alg: string;
  readonly fields: Fields;
  readonly text: string;
  readonly signature?: string;
  readonly expect: 'valid' | 'invalid';
}

const { cases } = JSON.parse(readFileSync(new URL('../../sdk/vectors/proofs.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly Vector[];
};
const spki = (key: string): Buffer => Buffer.from(key, 'base64');

test('there are enough proof vectors, good and bad of every kind', () => {
  assert.ok(cases.length >= 48, `found ${cases.length}`);
  assert.ok(cases.filter((vector) => vector.expect === 'invalid').length > 30);
});

for (const vector of cases)
  test(`proof vector: ${vector.name}: ${vector.expect}`, () => {
    const built = textsOf(vector);
    const isText = vector.signature !== undefined || vector.expect === 'valid'; // a vector without a signature is judged by its text
    for (const text of built) assert.equal(text === vector.text, isText, text);
    if (vector.signature === undefined) return;
    const signature = decodeBase64(vector.signature);
    assert.ok(signature);
    assert.equal(judge(vector, signature), vector.expect === 'valid');
  });

/** By the SDK and by the server. */
function textsOf({ kind, alg, fields }: Vector): readonly string[] {
  const { issuer, device_id: deviceId, key_id: keyId, challenge, nonce, public_key: key } = fields;
  if (kind === 'enroll') {
    const ours = enrollProofBytes({ issuer, deviceId, keyId, spki: spki(key), challenge }).toString();
    return [ours, enrollText({ issuer, deviceId, keyId, publicKeySha256: sha256Hex(spki(key)), challenge })];
  }
  if (kind === 'rotate') {
    const ours = rotationProofBytes({ issuer, deviceId, keyId, nonce, alg, spki: spki(key) }).toString();
    return [ours, rotateText({ issuer, deviceId, keyId, nonce, alg, publicKeySha256: sha256Hex(spki(key)) })];
  }
  if (kind === 'webauthn') return [];
  const keys = fields.keys.map((one) => ({ keyId: one.key_id, spki: spki(one.public_key) }));
  const named = keys.map((one) => ({ keyId: one.keyId, publicKeySha256: sha256Hex(one.spki) }));
  return [
    attestationClientData({ issuer, deviceId, challenge, keys }).toString(),
    attestationText({ issuer, deviceId, challenge, keys: named }),
  ];
}

function judge({ alg, fields, text }: Vector, signature: Buffer): boolean {
  const bytes = Buffer.from(text);
  if (!isPlatformCredentialAlg(alg)) return verifyWithStoredKey(alg, fields.public_key, bytes, signature);
  const about = { baseUrl: fields.issuer, text: bytes, signature };
  return verifyWithCredential({ alg, publicKey: fields.public_key }, [fields.pop_public_key], about);
}
