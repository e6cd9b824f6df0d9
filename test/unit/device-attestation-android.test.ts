import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readCertificateExtensions } from '../../src/crypto/der/certificate-extensions.ts';
import { type AndroidPolicy, verifyAndroidKey } from '../../src/device/attestation/android-key.ts';
import { keyDescriptionOid, readKeyDescription } from '../../src/device/attestation/key-description.ts';
import { androidRoots } from '../../src/device/attestation/roots.ts';
import { type AndroidOverrides, makeAndroidChain, makeAuthority, newP256, spkiOf } from '../support/attestation-ca.ts';

const vectors = new URL('../vectors/attestation/android/', import.meta.url);
const authority = makeAuthority('Android');
const packageName = 'org.example.app';
const signingDigest = Buffer.alloc(32, 5);
const challenge = 'vG9sHk0kQ2c';
const policy: AndroidPolicy = {
  roots: [new X509Certificate(authority.root.certificate)],
  at: new Date('2026-06-01'),
  packages: [packageName],
  signingDigests: [signingDigest.toString('hex')],
  isRevokedSerial: () => false,
};
const keys = newP256();
const key = { publicKey: keys.publicKey, challenge, packageName, signingDigest };

function attempt(overrides: AndroidOverrides = {}, changed: Partial<AndroidPolicy> = {}, uv = false): string {
  const outcome = verifyAndroidKey(
    {
      chain: makeAndroidChain(authority, key, overrides),
      spki: spkiOf(keys.publicKey),
      challenge: Buffer.from(challenge),
      userAuthenticationRequired: uv,
    },
    { ...policy, ...changed },
  );
  return outcome.ok ? 'ok' : outcome.subreason;
}

function genuine(file: string, at: string, challengeBase64: string): string {
  const pem = readFileSync(new URL(file, vectors), 'utf8');
  const chain = (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((block) => new X509Certificate(block));
  assert.ok(chain.length >= 3);
  const outcome = verifyAndroidKey(
    {
      chain: chain.map((certificate) => certificate.raw),
      spki: spkiOf(chain[0]!.publicKey),
      challenge: Buffer.from(challengeBase64, 'base64'),
      userAuthenticationRequired: false,
    },
    {
      roots: androidRoots(),
      at: new Date(at),
      packages: ['com.google.android.attestation', 'com.google.wireless.android.security.attestationverifier.collector'],
      signingDigests: ['103938ee4537e59e8ee792f654504fb8346fc6b346d0bbc4415fc339fcfc8ec1'],
      isRevokedSerial: () => false,
    },
  );
  return outcome.ok ? outcome.evidence.securityLevel : outcome.subreason;
}

const caimanChallenge = 'N2NjYWMxZWEtNDg0NS00ODJlLTg1OGQtZjZmYTlhYThjMjk1';
const samples: readonly [string, string, string, string][] = [
  ['caiman-sdk36-SB_EC_RKP.pem', '2025-09-28', caimanChallenge, 'strongbox'],
  ['caiman-sdk36-SB_EC_RKP.pem', '2025-12-28', caimanChallenge, 'chain_expired'],
  ['caiman-sdk36-SB_EC_RKP.pem', '2025-09-28', 'b3RoZXI=', 'challenge_mismatch'],
  ['tegu-sdk36-TEE_EC_2026_ROOT.pem', '2026-02-25', 'NjQxN2Y5MmMtZGFlZi00Y2MxLTg4MjgtNWJiMzkzMzhmZmQ1', 'tee'],
  ['akita-sdk34-TEE_EC_NONE.pem', '2024-09-20', 'Y2hhbGxlbmdl', 'boot_loader_unlocked'],
  ['blueline-sdk28-SB_RSA_NONE_USERAUTH.pem', '2024-09-20', 'Y2hhbGxlbmdl', 'boot_loader_unlocked'],
  ['marlin-sdk29-TEE_EC_NONE.pem', '2020-09-20', 'Y2hhbGxlbmdl', 'chain_root_unknown'],
  ['invalid-tags_not_in_ascending_order.pem', '2024-09-20', 'Y2hhbGxlbmdl', 'chain_signature'],
];
for (const [file, at, text, expected] of samples) {
  test(`7.18 android-key: genuine ${file} at ${at} with ${text}: ${expected}`, () => {
    assert.equal(genuine(file, at, text), expected);
  });
}

test('7.18 android-key: the published leaf whose tags are out of order is refused for that', () => {
  const leaf = new X509Certificate(readFileSync(new URL('invalid-tags_not_in_ascending_order.pem', vectors)));
  const value = readCertificateExtensions(leaf.raw).get(keyDescriptionOid);
  assert.ok(value);
  assert.throws(() => readKeyDescription(value), { name: 'MalformedBytes', message: 'authorization_list_order' });
});

test('7.18 android-key: one unlocking may serve a uv key for 30 s, and no longer, wherever the phone says so', () => {
  for (const authTimeoutInSoftware of [false, true]) {
    const lasts = (authTimeout: number) => attempt({ userAuthType: 2, authTimeout, authTimeoutInSoftware }, {}, true);
    assert.deepEqual([lasts(0), lasts(30), lasts(31)], ['ok', 'ok', 'user_authentication_lasts_too_long']);
    assert.equal(attempt({ userAuthType: 2, authTimeout: 31, authTimeoutInSoftware }), 'ok'); // a pop key
  }
});

test('7.18 android-key: a critical extension nobody knows is refused, the key description may be critical', () => {
  assert.equal(
    attempt({ extension: { oid: '1.3.6.1.4.1.99999.1', value: Buffer.of(5, 0), critical: true } }),
    'chain_critical_extension_unknown',
  );
  assert.equal(attempt({ extension: { oid: '1.3.6.1.4.1.99999.1', value: Buffer.of(5, 0) } }), 'ok');
});

test('7.18 android-key: a chain of the test authority verifies, with and without its root', () => {
  assert.equal(attempt(), 'ok');
  assert.equal(attempt({ withRoot: true }), 'ok');
  assert.equal(attempt({ attestationSecurityLevel: 2, keyMintSecurityLevel: 2 }), 'ok');
});

const refusals: readonly [string, AndroidOverrides, string][] = [
  ['a software security level', { attestationSecurityLevel: 0 }, 'security_level'],
  ['a software KeyMint level', { keyMintSecurityLevel: 0 }, 'security_level'],
  ['an unknown security level', { attestationSecurityLevel: 3 }, 'security_level'],
  ['a key that may not sign', { purposes: [3] }, 'purpose_not_sign'],
  ['an imported key', { origin: 2 }, 'key_not_generated'],
  ['an unlocked boot loader', { locked: false }, 'boot_loader_unlocked'],
  ['a self-signed boot', { bootState: 1 }, 'boot_not_verified'],
  ['another package', { packageName: 'org.example.other' }, 'package_not_allowed'],
  ['another signer of the app', { signingDigest: Buffer.alloc(32, 6) }, 'signing_digest_not_allowed'],
  ['tags out of order', { unorderedTags: true }, 'authorization_list_order'],
  ['a root of trust not vouched for by hardware', { rootOfTrustInSoftware: true }, 'expected DER type 16'],
  ['an attested key that issues certificates', { intermediateExtension: true }, 'key_description_above_leaf'],
];
for (const [name, overrides, subreason] of refusals) {
  test(`7.18 android-key refuses ${name}`, () => assert.equal(attempt(overrides), subreason));
}

test('7.18 android-key: a uv slot needs user authentication, a pop slot does not', () => {
  assert.equal(attempt({ userAuthType: 2 }, {}, true), 'ok');
  assert.equal(attempt({}, {}, true), 'user_authentication_not_required');
  assert.equal(attempt({ userAuthType: 0 }, {}, true), 'user_authentication_not_required');
});

test('7.18 android-key refuses a revoked serial, another root and another enrolled key', () => {
  assert.equal(attempt({ serial: 0xabcn }, { isRevokedSerial: (serial) => serial === 'abc' }), 'certificate_revoked');
  const other = makeAuthority('Android');
  assert.equal(attempt({}, { roots: [new X509Certificate(other.root.certificate)] }), 'chain_root_unknown');
  const outcome = verifyAndroidKey(
    {
      chain: makeAndroidChain(authority, key),
      spki: spkiOf(newP256().publicKey),
      challenge: Buffer.from(challenge),
      userAuthenticationRequired: false,
    },
    policy,
  );
  assert.deepEqual(outcome, { ok: false, subreason: 'leaf_key_mismatch' });
});

test('7.18 android-key: flipping any one bit of any certificate fails', () => {
  const chain = makeAndroidChain(authority, key, { withRoot: true });
  const input = { spki: spkiOf(keys.publicKey), challenge: Buffer.from(challenge), userAuthenticationRequired: false };
  for (const [index, certificate] of chain.entries()) {
    for (let at = 0; at < certificate.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const flipped = Buffer.from(certificate);
        flipped[at] = flipped[at]! ^ (1 << bit);
        const outcome = verifyAndroidKey({ ...input, chain: chain.with(index, flipped) }, policy);
        assert.equal(outcome.ok, false, `certificate ${index}, byte ${at}, bit ${bit}`);
      }
    }
  }
});
