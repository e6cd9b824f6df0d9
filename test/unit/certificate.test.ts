import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { suite, test } from 'node:test';
import { makeSelfSignedCertificate, toPem } from '../../src/crypto/certificate.ts';
import { readRsaPublicKey } from '../../src/domain/rsa-public-key.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';

const keys = rsaKeys();
const request = {
  ...keys,
  commonName: 'https://idp.example/t/acme',
  notBefore: new Date('2026-01-01T00:00:00.750Z'),
  notAfter: new Date('2055-06-07T08:09:10Z'),
  serialNumber: Buffer.alloc(16, 0xff),
};

suite('self-signed certificate', () => {
  test('reads back with the key, names, times and usage it was made with', async () => {
    const certificate = new X509Certificate(await makeSelfSignedCertificate(request));
    assert.equal(certificate.verify(keys.publicKey), true);
    assert.equal(certificate.publicKey.equals(keys.publicKey), true);
    assert.equal(certificate.subject, 'CN=https://idp.example/t/acme');
    assert.equal(certificate.issuer, certificate.subject);
    assert.equal(certificate.ca, false);
    assert.equal(certificate.serialNumber, `7F${'FF'.repeat(15)}`);
    assert.equal(certificate.validFrom, 'Jan  1 00:00:00 2026 GMT');
    assert.equal(certificate.validTo, 'Jun  7 08:09:10 2055 GMT');
  });
  test('a common name beyond 64 characters is cut', async () => {
    const certificate = new X509Certificate(await makeSelfSignedCertificate({ ...request, commonName: `${'\u{1F600}'.repeat(64)}x` }));
    assert.equal(certificate.subject, `CN=${'\u{1F600}'.repeat(64)}`);
  });
  const openssl = findJudge('openssl');
  if (openssl !== undefined) {
    test('openssl reads it and verifies its own signature', async () => {
      const pem = toPem(await makeSelfSignedCertificate(request));
      const text = execFileSync(openssl, ['x509', '-noout', '-text', '-nameopt', 'utf8'], {
        input: pem,
        encoding: 'utf8',
      });
      assert.match(text, /Version: 3 \(0x2\)/);
      assert.match(text, /Basic Constraints: critical\s+CA:FALSE/);
      assert.match(text, /Key Usage: critical\s+Digital Signature\n/);
      assert.match(text, /Signature Algorithm: sha256WithRSAEncryption/);
    });
  }
});

suite('registered RSA keys', () => {
  const reasonOf = (pem: string) => {
    const reading = readRsaPublicKey(pem);
    return reading.ok ? 'accepted' : reading.reason;
  };
  const { publicKey: ecKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { publicKey: pssKey } = generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
  const spki = (key: typeof ecKey) => key.export({ type: 'spki', format: 'pem' }).toString();
  test('a certificate and an SPKI name the same key', async () => {
    const pem = await certificatePem(keys);
    for (const text of [pem, keys.publicPem]) {
      const reading = readRsaPublicKey(text);
      assert.ok(reading.ok && reading.key.equals(keys.publicKey));
    }
    assert.equal(reasonOf(pem + pem), 'not_a_key');
  });
  test('EC', () => assert.equal(reasonOf(spki(ecKey)), 'not_rsa'));
  test('RSA-PSS', () => assert.equal(reasonOf(spki(pssKey)), 'not_rsa'));
  test('RSA of 2047 bits', () => assert.equal(reasonOf(rsaKeys('small', 2047).publicPem), 'modulus_too_small'));
  test('RSA with exponent 3', () => assert.equal(reasonOf(rsaKeys('three', 2048, 3).publicPem), 'exponent_too_small'));
  test('no key', () => {
    const privatePem = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const cut = keys.publicPem.replace(/\n.{64}\n/, '\n');
    for (const text of ['', 'x', privatePem, cut, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----']) {
      assert.equal(reasonOf(text), 'not_a_key');
    }
  });
});
