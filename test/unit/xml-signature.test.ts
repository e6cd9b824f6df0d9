import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { suite, test } from 'node:test';
import { readXml } from '../../src/crypto/xml/reader.ts';
import { verifyEnvelopedSignature, verifyMetadataSignature } from '../../src/crypto/xml/signature.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import {
  buildAuthnRequest,
  exclusiveC14nUri,
  type PostSignature,
  sha256Uri,
  signMetadata,
  signPostRequest,
} from '../support/saml-requests.ts';

const limits = {
  bytesMax: 65_536,
  depthMax: 20,
  elementsMax: 500,
  attributesPerElementMax: 32,
  namespaceDeclarationsMax: 64,
};
const keys = rsaKeys();
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
const signed = (options?: PostSignature) => signPostRequest(buildAuthnRequest({}), keys.privateKey, options);

function outcomeOf(xml: string, registered: readonly KeyObject[] = [keys.publicKey]): string {
  const reading = readXml(Buffer.from(xml), { limits, comments: 'refused' });
  if (!reading.ok) return reading.reason;
  const verification = verifyEnvelopedSignature(reading.root, registered);
  return verification.ok ? 'verified' : verification.reason;
}

const signatureOf = (xml: string) => /<ds:Signature .*<\/ds:Signature>/s.exec(xml)?.[0] ?? assert.fail('no signature');
const unsignedOf = (xml: string) => xml.replace(signatureOf(xml), '');

suite('XML signature: accepted', () => {
  for (const bits of [256, 384, 512]) {
    test(`rsa-sha${bits} with a sha${bits} digest`, () => {
      const digestAlgorithm =
        bits === 384 ? 'http://www.w3.org/2001/04/xmldsig-more#sha384' : `http://www.w3.org/2001/04/xmlenc#sha${bits}`;
      const signatureAlgorithm = `http://www.w3.org/2001/04/xmldsig-more#rsa-sha${bits}`;
      if (bits === 384) return assert.equal(outcomeOf(signByHand({ hash: 'sha384', digestAlgorithm, signatureAlgorithm })), 'verified');
      assert.equal(outcomeOf(signed({ signatureAlgorithm, digestAlgorithm })), 'verified');
    });
  }
  test('the second of two registered keys', () => {
    assert.equal(outcomeOf(signed(), [rsaKeys('second').publicKey, keys.publicKey]), 'verified');
  });
  test('white space inside the base64 values', () => {
    assert.equal(outcomeOf(signed().replace(/(<ds:SignatureValue>.{20})/, '$1\n ')), 'verified');
  });
  test('any KeyInfo, unread', async () => {
    const attacker = await certificatePem(rsaKeys('attacker'));
    const keyInfo = `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${attacker.replace(/-.*-\n|\n/g, '')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`;
    assert.equal(outcomeOf(signed().replace('</ds:SignatureValue>', `</ds:SignatureValue>${keyInfo}`)), 'verified');
  });
});

// xml-crypto has no sha384, so this one is put together here.
function signByHand(options: { hash: string; digestAlgorithm: string; signatureAlgorithm: string }): string {
  const xml = buildAuthnRequest({}); // already in canonical form but for the saml declaration, which moves to the Issuer
  const canonical = xml
    .replace(' xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"', '')
    .replace('<saml:Issuer>', '<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">')
    .replace(/<samlp:AuthnRequest (\S+) (.*?)>/, (_, ns, rest) => `<samlp:AuthnRequest ${ns} ${String(rest).split(' ').sort().join(' ')}>`);
  const digest = createHash(options.hash).update(canonical).digest('base64');
  const signedInfo =
    `<ds:SignedInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:CanonicalizationMethod Algorithm="${exclusiveC14nUri}"></ds:CanonicalizationMethod>` +
    `<ds:SignatureMethod Algorithm="${options.signatureAlgorithm}"></ds:SignatureMethod><ds:Reference URI="#_request-1"><ds:Transforms>` +
    `<ds:Transform Algorithm="${enveloped}"></ds:Transform><ds:Transform Algorithm="${exclusiveC14nUri}"></ds:Transform></ds:Transforms>` +
    `<ds:DigestMethod Algorithm="${options.digestAlgorithm}"></ds:DigestMethod><ds:DigestValue>${digest}</ds:DigestValue></ds:Reference></ds:SignedInfo>`;
  const value = sign(options.hash, Buffer.from(signedInfo), keys.privateKey).toString('base64');
  const signature = `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#">${signedInfo}<ds:SignatureValue>${value}</ds:SignatureValue></ds:Signature>`;
  return canonical.replace('</saml:Issuer>', `</saml:Issuer>${signature}`);
}

suite('XML signature of long metadata', () => {
  const items = Array.from({ length: 2500 }, (_, at) => `<i n="${at}"/>`).join('');
  const metadata = signMetadata(`<md:r xmlns:md="urn:md" ID="_r">${items}</md:r>`, keys.privateKey);
  /** What came of it, and how often others were let go on. */
  const outcome = async (xml: string): Promise<readonly [string, number]> => {
    const reading = readXml(Buffer.from(xml), { limits: { ...limits, bytesMax: 1 << 20, elementsMax: 5000 }, comments: 'refused' });
    assert.ok(reading.ok);
    let paces = 0;
    const pace = async (): Promise<void> => {
      paces += 1;
    };
    const verification = await verifyMetadataSignature(reading.root, [keys.publicKey], pace);
    return [verification.ok ? 'verified' : verification.reason, paces];
  };
  test('is digested in pieces, its end too', async () => {
    assert.deepEqual(await outcome(metadata), ['verified', 3]);
    assert.deepEqual(await outcome(metadata.replace('n="2499"', 'n="2498"')), ['digest_mismatch', 3]);
  });
  test('is digested only when a key has signed what is digested', async () => {
    const other = metadata.replace(/(<ds:DigestValue>)../, '$1AA');
    assert.deepEqual(await outcome(other), ['signature_mismatch', 0]);
  });
  test('has its one signature first', async () => {
    const [signature] = /<ds:Signature .*<\/ds:Signature>/s.exec(metadata)!;
    const without = metadata.replace(signature, '');
    assert.deepEqual(await outcome(without), ['signature_missing', 0]);
    assert.deepEqual(await outcome(without.replace('<i n="1"', `${signature}<i n="1"`)), ['signature_misplaced', 0]);
    assert.deepEqual(await outcome(metadata.replace('<i n="1"', `${signature}<i n="1"`)), ['signature_misplaced', 0]);
  });
});

suite('XML signature: refused', () => {
  const good = signed();
  const signature = signatureOf(good);
  const inner = unsignedOf(good);
  const evil = buildAuthnRequest({ id: '_evil', issuer: 'https://evil.example' });
  const wrapIn = (where: string, what: string) => evil.replace(where, what);
  const method = (uri: string) => good.replace(/(<ds:SignatureMethod Algorithm=")[^"]*/, `$1${uri}`);
  const cases: readonly (readonly [string, string, string])[] = [
    ['no signature', inner, 'signature_missing'],
    [
      'stripped to an empty Signature',
      good.replace(signature, '<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"/>'),
      'signature_shape',
    ],
    ['a changed Issuer', good.replace('sp.example', 'xp.example'), 'digest_mismatch'],
    [
      'a changed SignedInfo',
      good.replace(/<ds:DigestValue>[^<]*/, `<ds:DigestValue>${createHash('sha256').update('x').digest('base64')}`),
      'signature_mismatch',
    ],
    ['a changed value', good.replace(/<ds:SignatureValue>..../, '<ds:SignatureValue>AAAA'), 'signature_mismatch'],
    ['two signatures', good.replace(signature, signature + signature), 'signature_misplaced'],
    ['a signature before the Issuer', inner.replace('<saml:Issuer>', `${signature}<saml:Issuer>`), 'signature_misplaced'],
    [
      'a signature at the end',
      inner.replace('</samlp:AuthnRequest>', `<samlp:NameIDPolicy/>${signature}</samlp:AuthnRequest>`),
      'signature_misplaced',
    ],
    [
      'XSW 1: evil root, signed original in the signature',
      wrapIn('</saml:Issuer>', `</saml:Issuer>${signature.replace('</ds:Signature>', `<ds:Object>${inner}</ds:Object></ds:Signature>`)}`),
      'signature_shape',
    ],
    [
      'XSW 2: signed original before a detached signature',
      wrapIn('</saml:Issuer>', `</saml:Issuer>${signature}${inner}`),
      'signature_reference',
    ],
    ['XSW 3: signed original, signature in it, first child', wrapIn('</saml:Issuer>', `</saml:Issuer>${good}`), 'signature_misplaced'],
    [
      'XSW 4: evil root takes the same id',
      wrapIn('</saml:Issuer>', `</saml:Issuer>${signature}${inner}`).replace('_evil', '_request-1'),
      'duplicate_id',
    ],
    [
      'XSW 5: original moved into Extensions',
      wrapIn('</saml:Issuer>', `</saml:Issuer>${signature}<samlp:Extensions>${inner}</samlp:Extensions>`),
      'signature_reference',
    ],
    [
      'XSW 6: signed original in KeyInfo',
      wrapIn('</saml:Issuer>', `</saml:Issuer>${signature.replace('</ds:Signature>', `<ds:KeyInfo>${inner}</ds:KeyInfo></ds:Signature>`)}`),
      'signature_reference',
    ],
    [
      'XSW 7: signed original whole in Extensions',
      wrapIn('</saml:Issuer>', `</saml:Issuer><samlp:Extensions>${good}</samlp:Extensions>`),
      'signature_misplaced',
    ],
    [
      'XSW 8: signature of the original around an Object',
      good.replace('</ds:Signature>', `<ds:Object>${evil}</ds:Object></ds:Signature>`),
      'signature_shape',
    ],
    ['two SignedInfo', good.replace(/(<ds:SignedInfo>.*<\/ds:SignedInfo>)/s, '$1$1'), 'signature_shape'],
    ['two References', good.replace(/(<ds:Reference .*<\/ds:Reference>)/s, '$1$1'), 'signature_shape'],
    ['a comment in DigestValue', good.replace('<ds:DigestValue>', '<ds:DigestValue><!-- x -->'), 'comment'],
    ['an element in DigestValue', good.replace('<ds:DigestValue>', '<ds:DigestValue><ds:X/>'), 'signature_shape'],
    ['text between the parts', good.replace('</ds:SignedInfo>', '</ds:SignedInfo>x'), 'signature_shape'],
    ['an empty Reference URI', good.replace('URI="#_request-1"', 'URI=""'), 'signature_reference'],
    ['no Reference URI', good.replace(' URI="#_request-1"', ''), 'signature_reference'],
    ['an external Reference URI', good.replace('URI="#_request-1"', 'URI="http://evil.example/x"'), 'signature_reference'],
    ['an XPointer', good.replace('URI="#_request-1"', 'URI="#xpointer(/)"'), 'signature_reference'],
    ['a Reference Type', good.replace('<ds:Reference ', '<ds:Reference Type="urn:x" '), 'signature_shape'],
    ['an unknown attribute', good.replace('<ds:SignedInfo>', '<ds:SignedInfo x="1">'), 'signature_shape'],
    [
      'a foreign Signature beside it',
      good.replace('</samlp:AuthnRequest>', '<x:Signature xmlns:x="urn:x"/></samlp:AuthnRequest>'),
      'foreign_signature',
    ],
    ['SHA-1', method('http://www.w3.org/2000/09/xmldsig#rsa-sha1'), 'signature_algorithm'],
    ['HMAC', method('http://www.w3.org/2000/09/xmldsig#hmac-sha1'), 'signature_algorithm'],
    ['an empty algorithm', method(''), 'signature_algorithm'],
    ['an unknown algorithm', method('urn:none'), 'signature_algorithm'],
    [
      'an HMACOutputLength',
      good.replace(/(<ds:SignatureMethod [^>]*)\/>/, '$1><ds:HMACOutputLength>0</ds:HMACOutputLength></ds:SignatureMethod>'),
      'signature_algorithm',
    ],
    ['a SHA-1 digest', good.replace(sha256Uri, 'http://www.w3.org/2000/09/xmldsig#sha1'), 'signature_algorithm'],
    [
      'inclusive canonicalisation',
      good.replace(exclusiveC14nUri, 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'),
      'signature_algorithm',
    ],
    ['canonicalisation with comments', good.replace(exclusiveC14nUri, `${exclusiveC14nUri}WithComments`), 'signature_algorithm'],
    ['an XSLT transform', good.replace(enveloped, 'http://www.w3.org/TR/1999/REC-xslt-19991116'), 'signature_transforms'],
    ['an XPath transform', good.replace(enveloped, 'http://www.w3.org/TR/1999/REC-xpath-19991116'), 'signature_transforms'],
    ['one transform', signed({ transforms: [enveloped] }), 'signature_transforms'],
    ['transforms the other way round', signed({ transforms: [exclusiveC14nUri, enveloped] }), 'signature_transforms'],
    ['three transforms', signed({ transforms: [enveloped, exclusiveC14nUri, exclusiveC14nUri] }), 'signature_transforms'],
    [
      'void canonicalisation by a relative namespace',
      good.replace('<samlp:AuthnRequest', '<samlp:AuthnRequest xmlns:v="1"'),
      'relative_namespace',
    ],
    ['a polluted ID', good.replace('ID="_request-1"', 'xmlns:x="urn:x" x:ID="_request-1" ID="_evil"'), 'ambiguous_id'],
    ['an ID with a fragment of a path', good.replaceAll('_request-1', "_a')"), 'signature_reference'],
  ];
  for (const [what, xml, reason] of cases) {
    test(what, () => {
      assert.notEqual(xml, good);
      assert.equal(outcomeOf(xml), reason);
    });
  }
  test('an unregistered key, its certificate in KeyInfo', async () => {
    const attacker = rsaKeys('attacker');
    const pem = await certificatePem(attacker);
    const keyInfo = `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${pem.replace(/-.*-\n|\n/g, '')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`;
    const xml = signPostRequest(buildAuthnRequest({}), attacker.privateKey).replace(
      '</ds:SignatureValue>',
      `</ds:SignatureValue>${keyInfo}`,
    );
    assert.equal(outcomeOf(xml), 'signature_mismatch');
  });
  test('no registered key', () => assert.equal(outcomeOf(good, []), 'signature_mismatch'));
  test('a value as long as an RSA key of another size', () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 3072 });
    assert.equal(outcomeOf(good, [publicKey]), 'signature_mismatch');
  });
  test('every flipped bit of a signed request is refused', () => {
    const bytes = Buffer.from(good);
    for (let at = 0; at < bytes.length; at += 7) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      assert.notEqual(outcomeOf(flipped.toString('latin1')), 'verified', `byte ${at}`);
    }
  });
});
