// What a chain of attestation certificates may look like (RFC 5280 sections 4.2, 6.1): who may stand below whom, and that nothing
// critical is passed over.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { readPathLength } from '../../src/crypto/der/certificate-extensions.ts';
import { MalformedBytes } from '../../src/crypto/malformed.ts';
import { verifyCertificateChain } from '../../src/device/attestation/certificate-chain.ts';
import { type CertificateOptions, type Issuer, makeAuthority, makeCertificate, makeIssuer, newP256 } from '../support/attestation-ca.ts';
import { boolean, integer, octets, sequence } from '../support/der-build.ts';

const { root } = makeAuthority('Chain');
const vendorOid = '1.2.840.113635.100.8.2';
const policy = { at: new Date('2026-06-01'), leafDatesIgnored: false, extensionRead: vendorOid };

/** Leaf, then the authorities from the lowest up. */
function judge(authorities: readonly Issuer[], leaf: Partial<CertificateOptions> = {}, top: Issuer = root): string {
  const issuer = authorities[0] ?? top;
  const made = makeCertificate({ subject: 'Leaf', publicKey: newP256().publicKey, issuer, ...leaf });
  const chain = [made, ...authorities.map(({ certificate }) => certificate)];
  try {
    verifyCertificateChain(chain, { ...policy, roots: [new X509Certificate(top.certificate)] });
    return 'ok';
  } catch (error) {
    assert.ok(error instanceof MalformedBytes);
    return error.message;
  }
}

test('pathLen: as many authorities below as an authority says, and no more', () => {
  for (const pathLength of [0, 1, 2])
    for (const below of [0, 1, 2, 3]) {
      let issuer = makeIssuer(root, 'Top', { pathLength });
      const authorities = [issuer];
      for (let index = 0; index < below; index += 1) {
        issuer = makeIssuer(issuer, `Below ${index}`);
        authorities.unshift(issuer);
      }
      assert.equal(judge(authorities), below <= pathLength ? 'ok' : 'chain_path_too_long', `${below} below pathLen ${pathLength}`);
    }
});

test('pathLen of the trusted root counts, sent along or not; who issued itself does not', () => {
  const keys = newP256();
  const name = 'Narrow Root';
  const issuer = { name, key: keys.privateKey };
  const certificate = makeCertificate({ subject: name, publicKey: keys.publicKey, issuer, authority: true, pathLength: 1 });
  const top = { ...issuer, certificate };
  const first = makeIssuer(top, 'First');
  const second = makeIssuer(first, 'Second');
  assert.equal(judge([first], {}, top), 'ok');
  assert.equal(judge([first, top], {}, top), 'ok');
  assert.equal(judge([second, first], {}, top), 'chain_path_too_long');
  assert.equal(judge([second, first, top], {}, top), 'chain_path_too_long');
  const again = makeIssuer(first, 'First'); // a new key of the same authority
  assert.equal(judge([again, first], {}, top), 'ok');
});

test('critical extensions nobody here understands are refused, on leaf and authority; others pass', () => {
  const unknown = { oid: '1.3.6.1.4.1.99999.1', value: octets('x') };
  const nameConstraints = { oid: '2.5.29.30', value: sequence(), critical: true };
  const refused = 'chain_critical_extension_unknown';
  assert.equal(judge([makeIssuer(root, 'A')], { extensions: [unknown] }), 'ok');
  assert.equal(judge([makeIssuer(root, 'A')], { extensions: [{ ...unknown, critical: false }] }), 'ok');
  assert.equal(judge([makeIssuer(root, 'A')], { extensions: [{ ...unknown, critical: true }] }), refused);
  assert.equal(judge([makeIssuer(root, 'A')], { extensions: [nameConstraints] }), refused);
  assert.equal(judge([makeIssuer(root, 'A', { extensions: [nameConstraints] })]), refused);
  assert.equal(judge([makeIssuer(root, 'A')], { extensions: [{ oid: vendorOid, value: octets('x'), critical: true }] }), 'ok');
});

test('basic constraints that say nothing clear are none', () => {
  const made = (value: Buffer): Buffer =>
    makeCertificate({
      subject: 'Odd',
      publicKey: newP256().publicKey,
      issuer: root,
      basicConstraints: value,
    });
  assert.equal(readPathLength(made(sequence(boolean(true), integer(7)))), 7n);
  assert.equal(readPathLength(made(sequence())), undefined);
  for (const odd of [
    sequence(boolean(false), integer(1)),
    sequence(boolean(true), integer(1), integer(2)),
    sequence(boolean(true), Buffer.of(2, 1, 0xff)),
  ])
    assert.throws(() => readPathLength(made(odd)), MalformedBytes);
});
