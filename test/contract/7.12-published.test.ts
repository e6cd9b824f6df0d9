import assert from 'node:assert/strict';
import { hash, X509Certificate } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { readXml } from '../../src/crypto/xml/reader.ts';
import { allElements, attributeOf, textOf } from '../../src/crypto/xml/tree.ts';
import { rotateSamlKeys } from '../../src/tokens/saml-keys.ts';
import { databases } from '../support/databases.ts';
import { assertRefusal } from '../support/refusal.ts';
import { rsaKeys } from '../support/rsa-keys.ts';
import { openSamlIdp, type SamlIdp } from '../support/saml-idp.ts';
import { openSchemaJudge } from '../support/saml-schema.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const judge = openSchemaJudge();
const limits = { bytesMax: 1 << 20, depthMax: 40, elementsMax: 5000, attributesPerElementMax: 64, namespaceDeclarationsMax: 500 };
const kidOf = (certificate: X509Certificate): string =>
  hash('sha256', certificate.publicKey.export({ type: 'spki', format: 'der' }), 'base64url');

for (const database of databases) {
  suite(`SAML metadata and certificates on ${database}`, () => {
    let server: TestServer;
    let idp: SamlIdp;
    before(async () => {
      server = await startTestServer(database);
      idp = await openSamlIdp(server);
    });
    after(() => server.close());

    const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      fetch(`${idp.base}/v1/idp/saml/${path}`, { headers });
    const published = async (): Promise<readonly X509Certificate[]> => {
      const reading = readXml(Buffer.from(await (await get('metadata')).arrayBuffer()), { limits, comments: 'refused' });
      assert.ok(reading.ok);
      const certificates = allElements(reading.root).filter((element) => element.localName === 'X509Certificate');
      return certificates.map((element) => new X509Certificate(Buffer.from(textOf(element) ?? '', 'base64')));
    };
    const rotate = async (): Promise<string | undefined> => {
      const rotation = await rotateSamlKeys(server.gatehouse.services, idp.tenant, {
        actor: 'operator',
        requestId: undefined,
        force: true,
      });
      return rotation.ok ? rotation.kid : undefined;
    };

    test('the first requests, all at once, see one pair of keys', async () => {
      const bodies = await Promise.all(Array.from({ length: 20 }, async () => (await get('metadata')).text()));
      assert.equal(new Set(bodies).size, 1);
    });
    test('metadata: valid, cacheable, with the current and the next certificate', async () => {
      const response = await get('metadata');
      const xml = await response.text();
      assert.equal(response.status, 200);
      assert.match(response.headers.get('content-type') ?? '', /^application\/samlmetadata\+xml/);
      assert.doesNotMatch(response.headers.get('cache-control') ?? '', /no-store/);
      if (judge !== undefined) assert.equal(judge(xml, 'metadata'), '');
      const reading = readXml(Buffer.from(xml), { limits, comments: 'refused' });
      assert.ok(reading.ok);
      assert.equal(attributeOf(reading.root, 'entityID'), `${idp.base}/v1/idp/saml/metadata`);
      const services = allElements(reading.root).filter((element) => element.localName === 'SingleSignOnService');
      assert.deepEqual(
        services.map((element) => [attributeOf(element, 'Binding')?.split(':').at(-1), attributeOf(element, 'Location')]),
        [
          ['HTTP-Redirect', idp.ssoUrl],
          ['HTTP-POST', idp.ssoUrl],
        ],
      );
      assert.doesNotMatch(xml, /SingleLogoutService/);
      assert.equal((await published()).length, 2);
      const etag = response.headers.get('etag') ?? assert.fail();
      const unchanged = await get('metadata', { 'if-none-match': `"x", W/${etag}` });
      assert.equal(unchanged.status, 304);
      assert.equal(await unchanged.text(), '');
    });
    test('certificate: the current one by default, any published one by kid', async () => {
      const [current, next] = await published();
      assert.ok(current && next);
      const response = await get('certificate');
      assert.match(response.headers.get('content-type') ?? '', /^application\/x-pem-file/);
      assert.equal(new X509Certificate(await response.text()).fingerprint256, current.fingerprint256);
      for (const certificate of [current, next]) {
        const named = new X509Certificate(await (await get(`certificate?kid=${kidOf(certificate)}`)).text());
        assert.equal(named.fingerprint256, certificate.fingerprint256);
        assert.equal(certificate.verify(certificate.publicKey), true);
        assert.equal(certificate.publicKey.asymmetricKeyDetails?.modulusLength, 2048);
      }
    });
    test('7.12 saml.certificate_not_found: kid names no published certificate', async () => {
      const bodies = [];
      for (const kid of ['x', '', 'A'.repeat(43), '..%2F..', '%00', 'x%00', '%', '%ZZ', '%FF', '%C3%28'])
        bodies.push(await assertRefusal(await get(`certificate?kid=${kid}`), 'saml.certificate_not_found'));
      assert.equal(new Set(bodies).size, 1);
      await assertRefusal(await get('certificate?kid=x&kid=y'), 'saml.invalid_request');
    });
    test('metadata names the algorithms we verify, and asks nobody for signatures', async () => {
      const xml = await (await get('metadata')).text();
      for (const [kind, algorithm] of [
        ['SigningMethod', 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'],
        ['SigningMethod', 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha384'],
        ['SigningMethod', 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512'],
        ['DigestMethod', 'http://www.w3.org/2001/04/xmlenc#sha256'],
        ['DigestMethod', 'http://www.w3.org/2001/04/xmldsig-more#sha384'],
        ['DigestMethod', 'http://www.w3.org/2001/04/xmlenc#sha512'],
      ])
        assert.match(xml, new RegExp(`<alg:${kind}[^>]* Algorithm="${algorithm}"></alg:${kind}>`));
      assert.doesNotMatch(xml, /sha1"/);
      assert.match(xml, / WantAuthnRequestsSigned="false"/);
    });
    test('metadata of a provider: the same entityID, its own formats and demands; an unknown one is not found', async () => {
      const transient = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
      const signing = await idp.register({
        entity_id: 'https://signs.example',
        signing_keys: [rsaKeys().publicPem],
        name_id_formats: [transient],
      });
      const plain = await idp.register({ entity_id: 'https://plain.example' });
      const shared = await (await get('metadata')).text();
      const own = await get(`metadata/${signing.id}`);
      const xml = await own.text();
      assert.match(own.headers.get('content-type') ?? '', /^application\/samlmetadata\+xml/);
      if (judge !== undefined) assert.equal(judge(xml, 'metadata'), '');
      const formats = [...shared.matchAll(/<md:NameIDFormat>[^<]*<\/md:NameIDFormat>/g)].map(([text]) => text);
      const expected = shared
        .replace('WantAuthnRequestsSigned="false"', 'WantAuthnRequestsSigned="true"')
        .replace(formats.join(''), `<md:NameIDFormat>${transient}</md:NameIDFormat>`);
      assert.equal(xml, expected);
      assert.equal(await (await get(`metadata/${plain.id}`)).text(), shared);
      assert.equal((await get(`metadata/${signing.id}`, { 'if-none-match': own.headers.get('etag') ?? '' })).status, 304);
      await idp.change({ ...signing, requireSignedRequests: false });
      assert.match(await (await get(`metadata/${signing.id}`)).text(), / WantAuthnRequestsSigned="false"/);
      for (const id of ['x', '00000000-0000-7000-8000-000000000000', 'A'.repeat(100), '%00', '%E2%98%83', 'signs.example/x'])
        await assertRefusal(await get(`metadata/${id}`), id === '%00' ? 'oauth.malformed' : 'oauth.not_found');
    });
    test('rollover: next becomes current, the former stays in the metadata for a day and its certificate for 30', async () => {
      const [current, next] = await published();
      assert.ok(current && next);
      assert.equal(await rotate(), kidOf(next));
      const [newCurrent, newNext, former, ...more] = await published();
      assert.equal(newCurrent?.fingerprint256, next.fingerprint256);
      assert.ok(newNext !== undefined && newNext.fingerprint256 !== current.fingerprint256);
      assert.deepEqual([former?.fingerprint256, more], [current.fingerprint256, []]);
      const retired = (): Promise<Response> => get(`certificate?kid=${kidOf(current)}`);
      assert.equal(new X509Certificate(await (await retired()).text()).fingerprint256, current.fingerprint256);
      await server.clock.advance(23 * 3_600_000);
      assert.equal((await published()).length, 3);
      await server.clock.advance(2 * 3_600_000);
      assert.deepEqual(
        (await published()).map(({ fingerprint256 }) => fingerprint256),
        [newCurrent.fingerprint256, newNext.fingerprint256],
      );
      await server.clock.advance(28 * 86_400_000);
      assert.equal((await retired()).status, 200);
      await server.clock.advance(2 * 86_400_000);
      await assertRefusal(await retired(), 'saml.certificate_not_found');
    });
    test('parallel rotations leave one current and one next key', async () => {
      const kids = await Promise.all([rotate(), rotate(), rotate()]);
      const rotations = kids.filter((kid) => kid !== undefined).length;
      assert.ok(rotations >= 1);
      assert.equal((await published()).length, 2 + rotations);
    });
    test('7.12 not_found: no single logout endpoint', async () => {
      for (const path of ['slo', 'logout', 'sso/logout', '']) await assertRefusal(await get(path), 'oauth.not_found');
    });
  });
}
