import assert from 'node:assert/strict';
import { constants, createDecipheriv, privateDecrypt, randomBytes, X509Certificate } from 'node:crypto';
import { suite, test } from 'node:test';
import { DOMParser } from '@xmldom/xmldom';
import fc from 'fast-check';
import { SignedXml } from 'xml-crypto';
import { canonicalize } from '../../src/crypto/xml/canonical.ts';
import { encryptElement, type XmlEncryption } from '../../src/crypto/xml/encryption.ts';
import { readXml } from '../../src/crypto/xml/reader.ts';
import { verifyEnvelopedSignature } from '../../src/crypto/xml/signature.ts';
import { signEnveloped } from '../../src/crypto/xml/signing.ts';
import { allElements, childElements, textOf } from '../../src/crypto/xml/tree.ts';
import { type CanonicalXml, element, type WrittenElement, writeCanonical } from '../../src/crypto/xml/writer.ts';
import { xmlText } from '../support/random-xml.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { openXmlSec } from '../support/xmlsec.ts';

const limits = {
  bytesMax: 1 << 20,
  depthMax: 30,
  elementsMax: 500,
  attributesPerElementMax: 32,
  namespaceDeclarationsMax: 64,
};
const keys = rsaKeys();
const signer = { privateKey: keys.privateKey, certificate: new X509Certificate(await certificatePem(keys)).raw };

function read(xml: string) {
  const reading = readXml(Buffer.from(xml), { limits, comments: 'refused' });
  assert.ok(reading.ok, xml);
  return reading.root;
}

function assertionOf(value: string): WrittenElement {
  return element(
    'saml:Assertion',
    { Version: '2.0', ID: '_a1', IssueInstant: '2026-01-01T00:00:00Z' },
    element('saml:Issuer', {}, 'https://idp.example'),
    element('saml:Subject', {}, element('saml:NameID', { Format: value, NameQualifier: undefined }, value)),
  );
}

async function responseOf(assertion: CanonicalXml | WrittenElement): Promise<string> {
  const root = element('samlp:Response', { ID: '_r1' }, element('saml:Issuer', {}, 'https://idp.example'), assertion);
  return (await signEnveloped(root, '_r1', signer)).canonical;
}

const wellEncrypted: readonly XmlEncryption[] = [
  { algorithm: 'aes256-gcm', keyTransport: 'rsa-oaep-mgf1p' },
  { algorithm: 'aes256-gcm', keyTransport: 'rsa-oaep-sha256' },
  { algorithm: 'aes256-cbc', keyTransport: 'rsa-oaep-mgf1p' },
  { algorithm: 'aes256-cbc', keyTransport: 'rsa-oaep-sha256' },
];
const encrypted = (plain: CanonicalXml, encryption: XmlEncryption) =>
  element('saml:EncryptedAssertion', {}, encryptElement(plain, keys.publicKey, encryption, randomBytes));

function openContent(algorithm: XmlEncryption['algorithm'], key: Buffer, content: Buffer): string {
  if (algorithm === 'aes256-cbc') {
    const cipher = createDecipheriv('aes-256-cbc', key, content.subarray(0, 16));
    return cipher.update(content.subarray(16), undefined, 'utf8') + cipher.final('utf8');
  }
  const cipher = createDecipheriv('aes-256-gcm', key, content.subarray(0, 12), { authTagLength: 16 });
  cipher.setAuthTag(content.subarray(-16));
  return cipher.update(content.subarray(12, -16), undefined, 'utf8') + cipher.final('utf8');
}

suite('canonical writer', () => {
  test('namespaces first, attributes in order, no empty-element tag, no undefined attribute', () => {
    assert.equal(
      writeCanonical(
        element('samlp:Response', { b: '2', a: '1', c: undefined }, element('saml:Issuer', {}, 'x'), element('samlp:Status', {})),
      ).canonical,
      '<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" a="1" b="2"><saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">x</saml:Issuer><samlp:Status></samlp:Status></samlp:Response>',
    );
  });
  test('what is written is its own canonical form and reads back equal, for any Unicode', () => {
    fc.assert(
      fc.property(xmlText, (value) => {
        const { canonical } = writeCanonical(assertionOf(value));
        const root = read(canonical);
        assert.equal(canonicalize(root), canonical);
        const nameId = childElements(childElements(root)[1] ?? assert.fail())[0] ?? assert.fail();
        assert.equal(textOf(nameId), value);
        assert.equal(nameId.attributes[0]?.value, value);
      }),
      { numRuns: 300 },
    );
  });
  for (const value of ['\u0000', '\u0008', '\uFFFE', '\uD800', 'a\uDC00b']) {
    test(`refuses what XML cannot carry: ${JSON.stringify(value)}`, () => {
      assert.throws(() => writeCanonical(element('saml:Issuer', {}, value)));
      assert.throws(() => writeCanonical(element('saml:Issuer', { a: value })));
    });
  }
  test('canonical text cannot stand where its prefix is in scope', () => {
    const inner = writeCanonical(element('saml:Issuer', {}, 'x'));
    assert.throws(() => writeCanonical(element('saml:Assertion', {}, inner)));
    assert.ok(writeCanonical(element('samlp:Response', {}, inner)).canonical.includes(inner.canonical));
  });
});

suite('signing', () => {
  test('our own verification and xml-crypto accept both signatures; the signature follows the Issuer', async () => {
    const assertion = await signEnveloped(assertionOf('x'), '_a1', signer);
    assert.deepEqual(verifyEnvelopedSignature(read(assertion.canonical), [keys.publicKey]), { ok: true });
    const xml = await responseOf(assertion);
    const document = new DOMParser().parseFromString(xml, 'text/xml');
    const signatures = [...document.getElementsByTagNameNS('http://www.w3.org/2000/09/xmldsig#', 'Signature')];
    assert.equal(signatures.length, 2);
    for (const signature of signatures) {
      assert.equal(signature.previousSibling?.nodeName, 'saml:Issuer');
      const judge = new SignedXml({ publicCert: keys.publicPem, getCertFromKeyInfo: () => null });
      judge.loadSignature(signature.toString());
      assert.equal(judge.checkSignature(xml), true);
    }
  });
  test('any Unicode stays signed', async () => {
    await fc.assert(
      fc.asyncProperty(xmlText, async (value) => {
        const signed = await signEnveloped(assertionOf(value), '_a1', signer);
        assert.deepEqual(verifyEnvelopedSignature(read(signed.canonical), [keys.publicKey]), { ok: true });
        assert.equal(canonicalize(read(signed.canonical)), signed.canonical);
      }),
      { numRuns: 60 },
    );
  });
});

suite('encryption', () => {
  for (const encryption of wellEncrypted) {
    const { algorithm, keyTransport } = encryption;
    test(`${algorithm} under ${keyTransport} opens by the steps of XML Encryption 1.1`, () => {
      const plain = writeCanonical(assertionOf('Zo\u00eb'));
      const { canonical } = writeCanonical(encrypted(plain, encryption));
      const [wrapped, content] = [...canonical.matchAll(/CipherValue>([^<]+)</g)].map(([, text]) => Buffer.from(text ?? '', 'base64'));
      assert.ok(wrapped && content);
      const oaepHash = keyTransport === 'rsa-oaep-sha256' ? 'sha256' : 'sha1';
      const key = privateDecrypt({ key: keys.privateKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash }, wrapped);
      assert.equal(key.length, 32);
      assert.equal(openContent(algorithm, key, content), plain.canonical);
      assert.ok(
        canonical.includes(
          `Algorithm="${keyTransport === 'rsa-oaep-sha256' ? 'http://www.w3.org/2009/xmlenc11#rsa-oaep' : 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p'}"`,
        ),
      );
    });
  }
  test('never the same bytes twice, never the plain text', () => {
    const plain = writeCanonical(assertionOf('secret-value'));
    for (const encryption of wellEncrypted) {
      const [first, second] = [0, 1].map(() => writeCanonical(encrypted(plain, encryption)).canonical);
      assert.notEqual(first, second);
      assert.ok(!first?.includes('secret-value') && !first?.includes(Buffer.from(plain.canonical).toString('base64').slice(0, 40)));
      assert.ok(!first?.includes('rsa-1_5'));
    }
  });
});

const xmlsec = openXmlSec();
if (xmlsec !== undefined) {
  suite('judged by xmlsec1', () => {
    const responseSignature = "/*[local-name()='Response']/*[local-name()='Signature']";
    test('verifies the response and the assertion in it, and refuses both once changed', async () => {
      const xml = await responseOf(await signEnveloped(assertionOf('Zo\u00eb \u{1F600}'), '_a1', signer));
      const assertionSignature = "/*/*[local-name()='Assertion']/*[local-name()='Signature']";
      for (const node of [responseSignature, assertionSignature]) {
        assert.equal(xmlsec.verify(xml, keys.publicPem, node), true);
        assert.equal(xmlsec.verify(xml.replace('>Zo\u00eb', '>Xo\u00eb'), keys.publicPem, node), false);
        assert.equal(xmlsec.verify(xml, rsaKeys('second').publicPem, node), false);
      }
    });
    // xmlsec1 before 1.3 does not know xmlenc11#rsa-oaep; the suite above decrypts that one step by step.
    for (const encryption of wellEncrypted.filter(({ keyTransport }) => keyTransport === 'rsa-oaep-mgf1p')) {
      test(`decrypts ${encryption.algorithm} under ${encryption.keyTransport}`, async () => {
        const plain = await signEnveloped(assertionOf('Zo\u00eb'), '_a1', signer);
        const xml = await responseOf(encrypted(plain, encryption));
        assert.equal(xmlsec.verify(xml, keys.publicPem, responseSignature), true);
        assert.ok(xmlsec.decrypt(xml, keys.privateKey).includes(plain.canonical.slice(0, 60)));
      });
    }
    test('any Unicode verifies, and comes back out of the encryption', async () => {
      await fc.assert(
        fc.asyncProperty(xmlText, async (value) => {
          const plain = await signEnveloped(assertionOf(value), '_a1', signer);
          assert.equal(xmlsec.verify(plain.canonical, keys.publicPem, "/*/*[local-name()='Signature']"), true);
          const opened = xmlsec.decrypt(await responseOf(encrypted(plain, wellEncrypted[0]!)), keys.privateKey);
          const nameId = allElements(read(opened)).find((element) => element.localName === 'NameID') ?? assert.fail();
          assert.equal(textOf(nameId), value);
        }),
        { numRuns: 15 },
      );
    });
    test('a request signed by xmlsec1 with a PrefixList verifies here', () => {
      const inclusive = '<ec:InclusiveNamespaces xmlns:ec="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="xs saml"/>';
      const method = (name: string, uri: string, content = '') => `<ds:${name} Algorithm="${uri}">${content}</ds:${name}>`;
      const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
      const template =
        `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_x"><saml:Issuer>sp</saml:Issuer>` +
        `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#">\n<ds:SignedInfo>\n${method('CanonicalizationMethod', exclusive, inclusive)}` +
        `${method('SignatureMethod', 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha384')}<ds:Reference URI="#_x"><ds:Transforms>` +
        `${method('Transform', 'http://www.w3.org/2000/09/xmldsig#enveloped-signature')}${method('Transform', exclusive, inclusive)}</ds:Transforms>` +
        `${method('DigestMethod', 'http://www.w3.org/2001/04/xmldsig-more#sha384')}<ds:DigestValue/></ds:Reference></ds:SignedInfo><ds:SignatureValue/></ds:Signature></samlp:AuthnRequest>`;
      const signed = xmlsec.sign(template, keys.privateKey, 'urn:oasis:names:tc:SAML:2.0:protocol:AuthnRequest');
      assert.deepEqual(verifyEnvelopedSignature(read(signed), [keys.publicKey]), { ok: true });
      const renamed = read(signed.replaceAll('xs', 'xt'));
      assert.deepEqual(verifyEnvelopedSignature(renamed, [keys.publicKey]), {
        ok: false,
        reason: 'signature_mismatch',
      });
    });
  });
}
