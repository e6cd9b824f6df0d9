import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { CompactEncrypt, CompactSign } from 'jose';
import { type PlayIntegrityPolicy, parsePlayVerificationKey, verifyPlayIntegrity } from '../../src/device/attestation/play-integrity.ts';
import { newP256, spkiOf } from '../support/attestation-ca.ts';

const decryptionKey = randomBytes(32);
const signer = newP256();
const at = new Date('2026-06-01T12:00:00Z');
const nonce = 'bm9uY2Utbm9uY2Utbm9uY2U';
const digest = Buffer.alloc(32, 9);
const policy: PlayIntegrityPolicy = {
  decryptionKey,
  verificationKey: parsePlayVerificationKey(spkiOf(signer.publicKey).toString('base64'))!,
  at,
  packages: ['org.example.app'],
  signingDigests: [digest.toString('hex')],
};
const genuine = {
  requestDetails: { requestPackageName: 'org.example.app', nonce, timestampMillis: String(at.getTime() - 1000) },
  appIntegrity: {
    appRecognitionVerdict: 'PLAY_RECOGNIZED',
    packageName: 'org.example.app',
    certificateSha256Digest: [digest.toString('base64url')],
    versionCode: '42',
  },
  deviceIntegrity: { deviceRecognitionVerdict: ['MEETS_DEVICE_INTEGRITY'] },
  accountDetails: { appLicensingVerdict: 'LICENSED' },
};

async function makeToken(payload: object, signKey = signer.privateKey, alg = 'A256KW'): Promise<string> {
  const jws = await new CompactSign(Buffer.from(JSON.stringify(payload))).setProtectedHeader({ alg: 'ES256' }).sign(signKey);
  return new CompactEncrypt(Buffer.from(jws)).setProtectedHeader({ alg, enc: 'A256GCM' }).encrypt(createSecretKey(decryptionKey));
}

async function attempt(payload: object): Promise<string> {
  const outcome = await verifyPlayIntegrity({ token: await makeToken(payload), nonce }, policy);
  return outcome.ok ? 'ok' : outcome.subreason;
}

test('7.18 play-integrity: a token made by an independent JOSE library verifies', async () => {
  assert.equal(await attempt(genuine), 'ok');
});

const refusals: readonly [string, object, string][] = [
  ['another package', { requestDetails: { ...genuine.requestDetails, requestPackageName: 'x' } }, 'package_not_allowed'],
  ['another nonce', { requestDetails: { ...genuine.requestDetails, nonce: 'x' } }, 'nonce_mismatch'],
  ['a stale token', { requestDetails: { ...genuine.requestDetails, timestampMillis: String(at.getTime() - 300_001) } }, 'token_not_fresh'],
  [
    'an app Play does not recognise',
    { appIntegrity: { ...genuine.appIntegrity, appRecognitionVerdict: 'UNRECOGNIZED_VERSION' } },
    'app_not_recognized',
  ],
  [
    'another signer of the app',
    { appIntegrity: { ...genuine.appIntegrity, certificateSha256Digest: ['AAAA'] } },
    'signing_digest_not_allowed',
  ],
  ['a device without integrity', { deviceIntegrity: { deviceRecognitionVerdict: [] } }, 'device_verdict'],
  ['no device verdict', { deviceIntegrity: {} }, 'device_verdict'],
];
for (const [name, change, subreason] of refusals) {
  test(`7.18 play-integrity refuses ${name}`, async () => {
    assert.equal(await attempt({ ...genuine, ...change }), subreason);
  });
}

test('7.18 play-integrity refuses another signer, another key wrap, another key and every changed character', async () => {
  const foreign = await makeToken(genuine, newP256().privateKey);
  assert.deepEqual(await verifyPlayIntegrity({ token: foreign, nonce }, policy), { ok: false, subreason: 'jws_signature' });
  const wrapped = await makeToken(genuine, signer.privateKey, 'A256GCMKW');
  assert.deepEqual(await verifyPlayIntegrity({ token: wrapped, nonce }, policy), { ok: false, subreason: 'jwe_algorithm' });
  const token = await makeToken(genuine);
  const otherKey = { ...policy, decryptionKey: randomBytes(32) };
  assert.deepEqual(await verifyPlayIntegrity({ token, nonce }, otherKey), { ok: false, subreason: 'jwe_decryption' });
  for (let index = 0; index < token.length; index += 1) {
    const changed = token[index] === 'A' ? 'B' : 'A';
    const flipped = token.slice(0, index) + changed + token.slice(index + 1);
    assert.equal((await verifyPlayIntegrity({ token: flipped, nonce }, policy)).ok, false, `character ${index}`);
  }
});

test('7.18 play-integrity refuses compression, critical headers and a second text of the same bytes', async () => {
  const jws = await new CompactSign(Buffer.from(JSON.stringify(genuine)))
    .setProtectedHeader({ alg: 'ES256', crit: ['b64'], b64: true })
    .sign(signer.privateKey);
  const wrap = (text: string, more = {}): Promise<string> =>
    new CompactEncrypt(Buffer.from(text))
      .setProtectedHeader({ alg: 'A256KW', enc: 'A256GCM', ...more })
      .encrypt(createSecretKey(decryptionKey));
  const critical = await verifyPlayIntegrity({ token: await wrap(jws), nonce }, policy);
  assert.deepEqual(critical, { ok: false, subreason: 'jws_algorithm' });
  const packed = await verifyPlayIntegrity({ token: await wrap(jws, { zip: 'DEF' }), nonce }, policy);
  assert.deepEqual(packed, { ok: false, subreason: 'jwe_algorithm' });
  const token = await makeToken(genuine);
  const padded = await verifyPlayIntegrity({ token: `${token}==`, nonce }, policy);
  assert.deepEqual(padded, { ok: false, subreason: 'jwe_shape' });
});
