import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { type ApplePolicy, verifyAppleAssertion, verifyAppleAttestation } from '../../src/device/attestation/apple-appattest.ts';
import { appleRoots } from '../../src/device/attestation/roots.ts';
import { type AppleOverrides, makeAppleKey, makeAuthority, sha256 } from '../support/attestation-ca.ts';
import { cbor } from '../support/cbor-build.ts';

const vectors = new URL('../vectors/attestation/apple/', import.meta.url);
const appId = 'TEAM123456.org.example.app';
const authority = makeAuthority('Apple');
const policy: ApplePolicy = {
  roots: [new X509Certificate(authority.root.certificate)],
  at: new Date('2026-06-01'),
  appIds: [appId],
  environments: ['production'],
};
const clientData = Buffer.from('client data');

function attempt(overrides: AppleOverrides = {}, changed: Partial<ApplePolicy> = {}): string {
  const key = makeAppleKey(authority, appId);
  const outcome = verifyAppleAttestation(
    { attestationObject: key.attest(clientData, overrides), keyId: key.keyId, clientDataHash: sha256(clientData) },
    { ...policy, ...changed },
  );
  return outcome.ok ? 'ok' : outcome.subreason;
}

for (const environment of ['production', 'development'] as const) {
  test(`7.18 apple-appattest: the genuine ${environment} sample verifies, at its time only`, () => {
    const sample = JSON.parse(readFileSync(new URL(`attestation-${environment}.json`, vectors), 'utf8'));
    const input = {
      attestationObject: Buffer.from(sample.attestation, 'base64'),
      keyId: Buffer.from(sample.keyId, 'base64'),
      clientDataHash: sha256(Buffer.from(sample.challenge, 'base64')),
    };
    const genuine: ApplePolicy = {
      roots: appleRoots(),
      at: new Date('2024-02-08T12:00:00Z'),
      appIds: ['V8H6LQ9448.io.uebelacker.AppAttestExample'],
      environments: [environment],
    };
    const outcome = verifyAppleAttestation(input, genuine);
    assert.equal(outcome.ok ? outcome.evidence.environment : outcome.subreason, environment);
    const late = verifyAppleAttestation(input, { ...genuine, at: new Date('2026-01-01') });
    assert.deepEqual(late, { ok: false, subreason: 'chain_expired' });
    const other = environment === 'production' ? 'development' : 'production';
    const wrong = verifyAppleAttestation(input, { ...genuine, environments: [other] });
    assert.deepEqual(wrong, { ok: false, subreason: 'environment_not_allowed' });
    const foreign = verifyAppleAttestation(input, { ...genuine, roots: policy.roots });
    assert.deepEqual(foreign, { ok: false, subreason: 'chain_root_unknown' });
  });
}

test('7.18 apple-appattest: the genuine iOS 14.4 attestation and its assertion verify', () => {
  const text = readFileSync(new URL('attestation-and-assertion-ios-14.4.yaml', vectors), 'utf8');
  const documents = text
    .split(/^---$/m)
    .filter((part) => part.trim() !== '')
    .map((part) => parse(part));
  const byType = (type: string) => documents.find((document) => document.type === type);
  const attestation = byType('attestation');
  const assertion = byType('assertion');
  const genuine = `${attestation.teamIdentifier}.${attestation.bundleIdentifier}`;
  const outcome = verifyAppleAttestation(
    {
      attestationObject: Buffer.from(attestation.attestationBase64, 'base64'),
      keyId: Buffer.from(attestation.keyIdBase64, 'base64'),
      clientDataHash: sha256(Buffer.from(attestation.clientDataBase64, 'base64')),
    },
    { roots: appleRoots(), at: new Date('2021-01-23T13:00:00Z'), appIds: [genuine], environments: ['development'] },
  );
  assert.ok(outcome.ok);
  const check = verifyAppleAssertion({
    assertion: Buffer.from(assertion.assertionBase64, 'base64'),
    publicKey: outcome.evidence.publicKey,
    clientDataHash: sha256(Buffer.from(assertion.clientDataBase64, 'base64')),
    appId: genuine,
  });
  assert.deepEqual(check, { ok: true, evidence: { counter: 1 } });
});

test('7.18 apple-appattest: an attestation of the test authority verifies', () => {
  assert.equal(attempt(), 'ok');
});

test('7.18 apple-appattest: the extension map that iOS 27 appends is accepted, with and without its flag', () => {
  const extensionMap = cbor(new Map([['risk', 1]]));
  assert.equal(attempt({ extensionMap }), 'ok');
  assert.equal(attempt({ extensionMap, flags: 0xc0 }), 'ok');
  assert.equal(attempt({ extensionMap: Buffer.concat([extensionMap, extensionMap]) }), 'auth_data_trailing_bytes');
  assert.equal(attempt({ extensionMap: cbor(1) }), 'expected a CBOR map');
  assert.equal(attempt({ flags: 0xc0 }), 'auth_data_flags');
});

const refusals: readonly [string, AppleOverrides, string][] = [
  ['another format name', { format: 'packed' }, 'format_mismatch'],
  ['another nonce', { nonce: Buffer.alloc(32) }, 'nonce_mismatch'],
  ['a counter that is not 0', { counter: 1 }, 'counter_not_zero'],
  ['another aaguid', { aaguid: Buffer.alloc(16) }, 'environment_not_allowed'],
  ['another credential id', { credentialId: Buffer.alloc(32) }, 'credential_id_mismatch'],
  ['no attested credential data', { flags: 0 }, 'auth_data_flags'],
  ['a leaf past its date', { leafNotAfter: new Date('2026-05-31') }, 'chain_expired'],
  ['a COSE key of other values', { coseKey: cbor(new Map([[1, 2]])) }, 'credential_key_shape'],
];
for (const [name, overrides, subreason] of refusals) {
  test(`7.18 apple-appattest refuses ${name}`, () => assert.equal(attempt(overrides), subreason));
}

test('7.18 apple-appattest refuses another app, another authority and another key id', () => {
  assert.equal(attempt({}, { appIds: ['TEAM123456.org.example.other'] }), 'app_id_mismatch');
  const other = makeAuthority('Apple'); // same names, other keys
  assert.equal(attempt({}, { roots: [new X509Certificate(other.root.certificate)] }), 'chain_root_unknown');
  const key = makeAppleKey(authority, appId);
  const outcome = verifyAppleAttestation(
    { attestationObject: key.attest(clientData), keyId: Buffer.alloc(32), clientDataHash: sha256(clientData) },
    policy,
  );
  assert.deepEqual(outcome, { ok: false, subreason: 'key_id_mismatch' });
});

test('7.18 apple-appattest: flipping any one bit, cutting any end or adding one byte fails', () => {
  const key = makeAppleKey(authority, appId);
  const object = key.attest(clientData);
  const input = { keyId: key.keyId, clientDataHash: sha256(clientData) };
  for (let at = 0; at < object.length; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const flipped = Buffer.from(object);
      flipped[at] = flipped[at]! ^ (1 << bit);
      assert.equal(verifyAppleAttestation({ ...input, attestationObject: flipped }, policy).ok, false, `byte ${at}, bit ${bit}`);
    }
    const cut = object.subarray(0, at);
    assert.equal(verifyAppleAttestation({ ...input, attestationObject: cut }, policy).ok, false, `cut at ${at}`);
  }
  const longer = Buffer.concat([object, Buffer.of(0)]);
  assert.equal(verifyAppleAttestation({ ...input, attestationObject: longer }, policy).ok, false);
});

test('7.18 apple-appattest assertions: the counter is returned, every changed byte fails', () => {
  const key = makeAppleKey(authority, appId);
  const publicKey = key.publicKey.export({ format: 'der', type: 'spki' });
  const assertion = key.assert(clientData, 41);
  const verify = (bytes: Uint8Array, data: Uint8Array = clientData, app = appId) =>
    verifyAppleAssertion({ assertion: bytes, publicKey, clientDataHash: sha256(data), appId: app });
  assert.deepEqual(verify(assertion), { ok: true, evidence: { counter: 41 } });
  assert.deepEqual(verify(assertion, Buffer.from('other')), { ok: false, subreason: 'assertion_signature' });
  assert.deepEqual(verify(assertion, clientData, 'X.y'), { ok: false, subreason: 'app_id_mismatch' });
  for (let at = 0; at < assertion.length; at += 1) {
    const flipped = Buffer.from(assertion);
    flipped[at] = flipped[at]! ^ 1;
    assert.equal(verify(flipped).ok, false, `byte ${at}`);
  }
});
