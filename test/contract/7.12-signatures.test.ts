import assert from 'node:assert/strict';
import { createHmac, sign } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { listAuditEventsOfRequest } from '../../src/storage/records/audit-events.ts';
import { databases } from '../support/databases.ts';
import { assertRefusal } from '../support/refusal.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { assertStarted, openSamlIdp, type SamlIdp, samlFlags } from '../support/saml-idp.ts';
import { buildRedirectQuery, exclusiveC14nUri, rsaSha256Uri, sha256Uri, signPostRequest } from '../support/saml-requests.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const keys = rsaKeys();
const attacker = rsaKeys('attacker');
const signing = 'https://signing.example/metadata';
const plain = 'https://plain.example/metadata';
const optional = 'https://optional.example/metadata';
const rotating = 'https://rotating.example/metadata';
const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
const dsNamespace = 'xmlns:ds="http://www.w3.org/2000/09/xmldsig#"';

for (const database of databases) {
  suite(`7.12 saml.signature_invalid on ${database}`, () => {
    let server: TestServer;
    let idp: SamlIdp;
    const bodies = new Map<string, string>();
    before(async () => {
      server = await startTestServer(database, { flags: samlFlags });
      idp = await openSamlIdp(server);
      await idp.register({ entity_id: signing, signing_keys: [keys.publicPem] });
      await idp.register({ entity_id: plain });
      await idp.register({ entity_id: optional, signing_keys: [keys.publicPem], require_signed_requests: false });
      await idp.register({ entity_id: rotating, signing_keys: [rsaKeys('second').publicPem, await certificatePem(keys)] });
    });
    after(() => server.close());

    const good = (): string => signPostRequest(idp.request({ issuer: signing }), keys.privateKey);
    const signatureOf = (xml: string): string => /<ds:Signature .*<\/ds:Signature>/s.exec(xml)?.[0] ?? assert.fail('unsigned');
    const evil = (): string => idp.request({ issuer: signing, attributes: ' AssertionConsumerServiceIndex="0"' });
    const afterIssuer = (xml: string, what: string): string => xml.replace('</saml:Issuer>', `</saml:Issuer>${what}`);

    test('signatures that hold are accepted, by either of two registered keys, required or not', async () => {
      await assertStarted(await idp.postXml(good()));
      await assertStarted(await idp.postSigned({ issuer: rotating }, keys.privateKey));
      await assertStarted(await idp.postSigned({ issuer: rotating }, rsaKeys('second').privateKey));
      await assertStarted(await idp.redirect(idp.request({ issuer: rotating }), { privateKey: keys.privateKey, relayState: '' }));
      await assertStarted(await idp.redirect(idp.request({ issuer: optional })));
      await assertStarted(await idp.postSigned({ issuer: optional }, keys.privateKey));
      for (const hash of ['sha384', 'sha512'] as const) {
        await assertStarted(await idp.get(buildRedirectQuery(idp.request({ issuer: signing }), { privateKey: keys.privateKey, hash })));
      }
    });
    test('a query signed over lower-case percent-encoding holds: nothing is encoded anew', async () => {
      const xml = deflateRawSync(Buffer.from(idp.request({ issuer: signing }))).toString('base64');
      const lower = (text: string): string => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase());
      const signed = `SAMLRequest=${lower(xml)}&RelayState=a+b%7Ec&SigAlg=${lower(rsaSha256Uri)}`;
      const signature = encodeURIComponent(sign('sha256', Buffer.from(signed), keys.privateKey).toString('base64'));
      await assertStarted(await idp.get(`${signed}&Signature=${signature}`));
    });

    const refused = (what: string, send: () => Promise<Response>): void => {
      test(what, async () => void bodies.set(what, await assertRefusal(await send(), 'saml.signature_invalid')));
    };
    refused('unsigned where signatures are required, POST', () => idp.postXml(idp.request({ issuer: signing })));
    refused('unsigned where signatures are required, Redirect', () => idp.redirect(idp.request({ issuer: signing })));
    refused('signed by a provider without a key, POST', () => idp.postSigned({ issuer: plain }, keys.privateKey));
    refused('signed by a provider without a key, Redirect', () =>
      idp.redirect(idp.request({ issuer: plain }), { privateKey: keys.privateKey }),
    );
    refused('a wrong signature where none is required', () => idp.postSigned({ issuer: optional }, attacker.privateKey));
    refused('another key, POST', () => idp.postSigned({ issuer: signing }, attacker.privateKey));
    refused('another key, Redirect', () => idp.redirect(idp.request({ issuer: signing }), { privateKey: attacker.privateKey }));
    refused('signature stripping', () => idp.postXml(good().replace(/<ds:Signature .*<\/ds:Signature>/s, '')));
    refused('a changed Issuer', () => idp.postXml(good().replace('signing.example', 'rotating.example')));
    refused('an embedded signature in Redirect', () => idp.redirect(good()));
    refused('an embedded and a query signature in Redirect', () => idp.redirect(good(), { privateKey: keys.privateKey }));
    refused('a query signature in POST', () =>
      idp.post({ SAMLRequest: Buffer.from(good()).toString('base64'), SigAlg: rsaSha256Uri, Signature: 'AAAA' }),
    );

    const query = (): URLSearchParams =>
      new URLSearchParams(buildRedirectQuery(idp.request({ issuer: signing }), { privateKey: keys.privateKey, relayState: 'r' }));
    const edited = (edit: (text: string, parameters: URLSearchParams) => string) => () => {
      const text = buildRedirectQuery(idp.request({ issuer: signing }), { privateKey: keys.privateKey, relayState: 'r' });
      return idp.get(edit(text, query()));
    };
    refused(
      'SigAlg without Signature',
      edited((text) => text.replace(/&Signature=.*/, '')),
    );
    refused(
      'Signature without SigAlg',
      edited((text) => text.replace(/&SigAlg=[^&]*/, '')),
    );
    refused(
      'a changed RelayState',
      edited((text) => text.replace('RelayState=r', 'RelayState=s')),
    );
    refused(
      'a dropped RelayState',
      edited((text) => text.replace('&RelayState=r', '')),
    );
    refused(
      'a re-encoded query',
      edited((text) => text.replace('RelayState=r', 'RelayState=%72')),
    );
    refused(
      '%53AMLRequest',
      edited((text) => text.replace('SAMLRequest', '%53AMLRequest')),
    );
    refused(
      'a second SAMLRequest',
      edited((text, other) => `${text}&SAMLRequest=${encodeURIComponent(other.get('SAMLRequest') ?? '')}`),
    );
    refused(
      'a second RelayState',
      edited((text) => `${text}&RelayState=r`),
    );
    refused(
      'a second Signature',
      edited((text) => `${text}&Signature=AAAA`),
    );
    refused(
      'SHA-1 in SigAlg',
      edited((text) => text.replace('rsa-sha256', 'rsa-sha1')),
    );
    refused(
      'an empty SigAlg',
      edited((text) => text.replace(/SigAlg=[^&]*/, 'SigAlg=')),
    );
    refused(
      'a Signature that is not base64',
      edited((text) => text.replace(/Signature=[^&]*/, 'Signature=%25')),
    );
    refused('HMAC with the public key as secret, Redirect', () => {
      const xml = deflateRawSync(Buffer.from(idp.request({ issuer: signing }))).toString('base64');
      const text = `SAMLRequest=${encodeURIComponent(xml)}&SigAlg=${encodeURIComponent('http://www.w3.org/2001/04/xmldsig-more#hmac-sha256')}`;
      return idp.get(`${text}&Signature=${encodeURIComponent(createHmac('sha256', keys.publicPem).update(text).digest('base64'))}`);
    });

    const post = (make: (xml: string) => string) => () => idp.postXml(make(good()));
    const inner = (xml: string): string => xml.replace(signatureOf(xml), '');
    refused(
      'XSW 1: the signed original in an Object of the signature',
      post((xml) =>
        afterIssuer(evil(), signatureOf(xml).replace('</ds:Signature>', `<ds:Object>${inner(xml)}</ds:Object></ds:Signature>`)),
      ),
    );
    refused(
      'XSW 2: a signature beside the original in Extensions',
      post((xml) => afterIssuer(evil(), `${signatureOf(xml)}<samlp:Extensions>${inner(xml)}</samlp:Extensions>`)),
    );
    refused(
      'XSW 3: the signed original whole in Extensions',
      post((xml) => afterIssuer(evil(), `<samlp:Extensions>${xml}</samlp:Extensions>`)),
    );
    refused(
      'XSW 6: the original in KeyInfo',
      post((xml) =>
        afterIssuer(evil(), signatureOf(xml).replace('</ds:Signature>', `<ds:KeyInfo>${inner(xml)}</ds:KeyInfo></ds:Signature>`)),
      ),
    );
    refused(
      'XSW 8: the evil request in an Object',
      post((xml) => xml.replace('</ds:Signature>', `<ds:Object>${evil()}</ds:Object></ds:Signature>`)),
    );
    refused(
      'several SignedInfo',
      post((xml) => xml.replace(/(<ds:SignedInfo>.*<\/ds:SignedInfo>)/s, '$1$1')),
    );
    refused(
      'two signatures',
      post((xml) => xml.replace(signatureOf(xml), signatureOf(xml) + signatureOf(xml))),
    );
    refused(
      'a signature at the end',
      post((xml) => inner(xml).replace('</samlp:AuthnRequest>', `<samlp:NameIDPolicy/>${signatureOf(xml)}</samlp:AuthnRequest>`)),
    );
    refused(
      'an empty Reference URI',
      post((xml) => xml.replace(/URI="#[^"]*"/, 'URI=""')),
    );
    refused(
      'an external Reference URI',
      post((xml) => xml.replace(/URI="#[^"]*"/, 'URI="http://127.0.0.1:1/x"')),
    );
    refused(
      'SHA-1',
      post((xml) => xml.replace(rsaSha256Uri, 'http://www.w3.org/2000/09/xmldsig#rsa-sha1')),
    );
    refused(
      'a SHA-1 digest',
      post((xml) => xml.replace(sha256Uri, 'http://www.w3.org/2000/09/xmldsig#sha1')),
    );
    refused(
      'HMAC',
      post((xml) => xml.replace(rsaSha256Uri, 'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256')),
    );
    refused(
      'an XSLT transform',
      post((xml) => xml.replace(enveloped, 'http://www.w3.org/TR/1999/REC-xslt-19991116')),
    );
    refused(
      'inclusive canonicalisation',
      post((xml) => xml.replaceAll(exclusiveC14nUri, 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315')),
    );
    refused("KeyInfo with an attacker's certificate", () => {
      const keyInfo = `<ds:KeyInfo><ds:KeyValue><ds:RSAKeyValue><ds:Modulus>AQAB</ds:Modulus></ds:RSAKeyValue></ds:KeyValue></ds:KeyInfo>`;
      return idp.postXml(
        signPostRequest(idp.request({ issuer: signing }), attacker.privateKey).replace('</ds:Signature>', `${keyInfo}</ds:Signature>`),
      );
    });
    refused(
      'an empty Signature',
      post((xml) => xml.replace(signatureOf(xml), `<ds:Signature ${dsNamespace}/>`)),
    );

    test('the audit record of a signature inside a Redirect request says where the signature belongs', async () => {
      await server.clock.advance(60_000); // of one kind a few are stored whole, and more after a while
      for (const options of [{}, { privateKey: keys.privateKey }]) {
        const response = await idp.redirect(good(), options);
        const requestId = response.headers.get('x-request-id') ?? assert.fail('no request id');
        await server.gatehouse.services.refusals.flush();
        const events = await server.gatehouse.services.database.read(idp.tenant.id, (queries) =>
          listAuditEventsOfRequest(queries, idp.tenant.id, requestId),
        );
        const event = events.find(({ reason }) => reason === 'embedded_signature_in_redirect');
        assert.match(String(event?.expected), /^no signature inside the XML/);
      }
    });
    test('the audit record of a refused algorithm holds what was received and what is accepted', async () => {
      await server.clock.advance(60_000); // of one kind a few are stored whole, and more after a while
      const sha1 = 'http://www.w3.org/2000/09/xmldsig#';
      const c14n = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
      const sent: readonly (readonly [string, string, () => Promise<Response>])[] = [
        ['signature_algorithm', `${sha1}rsa-sha1`, () => idp.postXml(good().replace(rsaSha256Uri, `${sha1}rsa-sha1`))],
        ['signature_algorithm', `${sha1}sha1`, () => idp.postXml(good().replace(sha256Uri, `${sha1}sha1`))],
        ['signature_algorithm', c14n, () => idp.postXml(good().replace(`CanonicalizationMethod Algorithm="${exclusiveC14nUri}`, `CanonicalizationMethod Algorithm="${c14n}`))],
        ['signature_transforms', `${enveloped} ${c14n}`, () => idp.postXml(good().replace(`Transform Algorithm="${exclusiveC14nUri}`, `Transform Algorithm="${c14n}`))],
        ['signature_algorithm', rsaSha256Uri.replace('sha256', 'sha224'), edited((text) => text.replace('rsa-sha256', 'rsa-sha224'))],
      ]; // biome-ignore format: a table
      for (const [reason, received, send] of sent) {
        const id = (await send()).headers.get('x-request-id') ?? assert.fail();
        await server.gatehouse.services.refusals.flush();
        const [event] = await server.gatehouse.services.database.read(idp.tenant.id, (queries) =>
          listAuditEventsOfRequest(queries, idp.tenant.id, id),
        );
        assert.deepEqual([event?.reason, event?.received], [reason, received]);
        assert.match(String(event?.expected), /^enveloped-signature xml-exc-c14n (?:[a-z0-9-]+ )*rsa-sha256 (?:[a-z0-9-]+ )*sha256/);
      }
    });
    test('every refusal of a signature has the same bytes', () => {
      assert.ok(bodies.size >= 40);
      assert.deepEqual([...new Set(bodies.values())], ['{"error":"invalid_request"}']);
    });
    test('XSW 4 and 7, ID pollution, comments, entities and other forbidden XML have them too', async () => {
      const xml = good();
      const id = / ID="([^"]*)"/.exec(xml)?.[1] ?? assert.fail();
      const forbidden: readonly string[] = [
        afterIssuer(evil().replace(/ ID="[^"]*"/, ` ID="${id}"`), `${signatureOf(xml)}<samlp:Extensions>${inner(xml)}</samlp:Extensions>`),
        xml.replace(' ID="', ' xmlns:x="urn:x" x:ID="_evil" ID="'),
        xml.replace('<ds:DigestValue>', '<ds:DigestValue><!-- x -->'),
        xml.replace('<samlp:AuthnRequest', '<samlp:AuthnRequest xmlns:void="1"'),
        xml.replace('</samlp:AuthnRequest>', '<samlp:Extensions><x:Signature xmlns:x="urn:x"/></samlp:Extensions></samlp:AuthnRequest>'),
        `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${xml}`,
        `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>${xml.replace('sign', '&b;')}`,
        xml.replace('signing.example', '&amp;e;'.replace('&amp;', '&')),
        xml.replace('<saml:Issuer>', '<saml:Issuer><![CDATA[x]]>'),
        `<?xml-stylesheet href="x"?>${xml}`,
        `\u{FEFF}${xml}`,
      ];
      for (const text of forbidden) {
        assert.notEqual(text, xml);
        const response = await idp.postXml(text);
        assert.equal(response.status, 400);
        assert.equal(await response.text(), '{"error":"invalid_request"}', text.slice(0, 200));
      }
      const utf16 = await idp.post({ SAMLRequest: Buffer.from(`\u{FEFF}${xml}`, 'utf16le').toString('base64') });
      assert.equal(await utf16.text(), '{"error":"invalid_request"}');
    });
  });
}
