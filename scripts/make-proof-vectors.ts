// Writes sdk/vectors/proofs.json: what a phone signs besides its requests (enrolment, rotation, app attestation, and a request by
// a platform credential of WebAuthn), good ones and ones that are wrong in one way. Run by hand when the protocol grows; the keys are published.
import { writeFileSync } from 'node:fs';
import { signText } from '../sdk/node.ts';
import { attestationText, enrollText, requestText, rotateText } from '../sdk/signing.ts';
import { makeKey, type PhoneKey, sha256Hex, spkiSha256 } from '../test/support/phone.ts';
import { type CredentialLies, credentialFlags, makeCredential } from '../test/support/web-phone.ts';

const issuer = 'https://login.example/t/acme';
const deviceId = 'b61a2d67-1c4f-4c59-9f6e-0d6a2f3b8c11';
const challenge = 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA';
const nonce = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

const algs = ['ES256', 'EdDSA', 'RS256'] as const;
const proofs = algs.flatMap((alg) => [...enrolment(alg), ...rotation(alg)]);
const cases = [...proofs, ...attestation(), ...platformCredential('WebAuthn-ES256'), ...platformCredential('WebAuthn-RS256')];
writeFileSync(new URL('../sdk/vectors/proofs.json', import.meta.url), `${JSON.stringify({ version: 1, cases }, null, 1)}\n`);

function enrolment(alg: (typeof algs)[number]) {
  const key = makeKey('pop', alg);
  const fields = { issuer, device_id: deviceId, key_id: key.keyId, public_key: key.publicKey, challenge };
  const sign = (over: object = {}) =>
    base64(
      signText(key.privateKey, enrollText({ issuer, deviceId, keyId: key.keyId, publicKeySha256: spkiSha256(key), challenge, ...over })),
    );
  const text = enrollText({ issuer, deviceId, keyId: key.keyId, publicKeySha256: spkiSha256(key), challenge });
  const one = (name: string, signature: string, expect: string) => ({
    name: `enrol ${alg}: ${name}`,
    kind: 'enroll',
    alg,
    fields,
    text,
    signature,
    expect,
  });
  return [
    one('good', sign(), 'valid'),
    one('another tenant', sign({ issuer: 'https://login.example/t/other' }), 'invalid'),
    one('another device', sign({ deviceId: '00000000-0000-4000-8000-000000000000' }), 'invalid'),
    one('another key', sign({ publicKeySha256: sha256Hex('') }), 'invalid'),
    one('another challenge', sign({ challenge: nonce }), 'invalid'),
  ];
}

function rotation(alg: (typeof algs)[number]) {
  const key = makeKey('uv', alg);
  const parts = { issuer, deviceId, keyId: key.keyId, nonce, alg, publicKeySha256: spkiSha256(key) };
  const fields = { issuer, device_id: deviceId, key_id: key.keyId, nonce, public_key: key.publicKey };
  const sign = (over: object = {}) => base64(signText(key.privateKey, rotateText({ ...parts, ...over })));
  const one = (name: string, signature: string, expect: string) => ({
    name: `rotate ${alg}: ${name}`,
    kind: 'rotate',
    alg,
    fields,
    text: rotateText(parts),
    signature,
    expect,
  });
  return [
    one('good', sign(), 'valid'),
    one('another nonce', sign({ nonce: challenge }), 'invalid'),
    one('another algorithm', sign({ alg: 'ES999' }), 'invalid'),
    one('the text of an enrolment', base64(signText(key.privateKey, enrollText({ ...parts, challenge }))), 'invalid'),
  ];
}

function attestation() {
  const keys = [makeKey('pop', 'ES256'), makeKey('uv', 'ES256')];
  const lines = keys.map((key) => ({ keyId: key.keyId, publicKeySha256: spkiSha256(key) }));
  const fields = { issuer, device_id: deviceId, challenge, keys: keys.map((key) => ({ key_id: key.keyId, public_key: key.publicKey })) };
  const good = attestationText({ issuer, deviceId, challenge, keys: lines });
  const one = (name: string, text: string, expect: string) => ({ name: `attestation: ${name}`, kind: 'attestation', fields, text, expect });
  const sorted = good.split('\n');
  return [
    one('keys are sorted by id', good, 'valid'),
    one('keys the other way round', [...sorted.slice(0, 4), ...sorted.slice(4).reverse()].join('\n'), 'invalid'),
    one('a key left out', sorted.slice(0, -1).join('\n'), 'invalid'),
    one('another challenge', attestationText({ issuer, deviceId, challenge: nonce, keys: lines }), 'invalid'),
    one('another tenant', attestationText({ issuer: 'https://login.example/t/other', deviceId, challenge, keys: lines }), 'invalid'),
    one('a line feed at the end', `${good}\n`, 'invalid'),
  ];
}

function platformCredential(alg: 'WebAuthn-ES256' | 'WebAuthn-RS256') {
  const pop = makeKey('pop', 'ES256');
  let lies: CredentialLies = {};
  const credential = makeCredential(
    issuer,
    alg,
    () => pop,
    () => lies,
  );
  const text = requestText({
    protocolVersion: '1',
    issuer,
    method: 'POST',
    path: '/v1/device/approvals/01a/approve',
    query: '',
    timestamp: '1767225600000',
    deviceId,
    keyId: credential.keyId,
    bodySha256: sha256Hex('{}'),
  });
  const fields = { issuer, public_key: credential.publicKey, pop_public_key: pop.publicKey };
  const one = (name: string, told: CredentialLies, expect: string) => {
    lies = told;
    const signature = base64(credential.sign!(text));
    return { name: `${alg}: ${name}`, kind: 'webauthn', alg, fields, text, signature, expect };
  };
  const other: PhoneKey = makeKey('pop', 'ES256');
  const { userPresent, userVerified } = credentialFlags;
  return [
    one('good', {}, 'valid'),
    one('another text', { text: 'another' }, 'invalid'),
    one('another origin', { origin: 'https://evil.example' }, 'invalid'),
    one('another site', { rpId: 'evil.example' }, 'invalid'),
    one('framed', { crossOrigin: true }, 'invalid'),
    one('a registration', { type: 'webauthn.create' }, 'invalid'),
    one('nobody verified', { flags: userPresent }, 'invalid'),
    one('nobody present', { flags: userVerified }, 'invalid'),
    one('another silent key', { pop: other }, 'invalid'),
    one('a byte more', { spoil: (whole) => Buffer.concat([whole, Buffer.of(0)]) }, 'invalid'),
  ];
}
