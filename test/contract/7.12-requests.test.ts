import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import type { RowId } from '../../src/contract/catalogue.ts';
import { listAuditEventsOfRequest } from '../../src/storage/records/audit-events.ts';
import { databases } from '../support/databases.ts';
import { assertRefusal } from '../support/refusal.ts';
import { rsaKeys } from '../support/rsa-keys.ts';
import { assertStarted, openSamlIdp, type SamlIdp, samlFlags } from '../support/saml-idp.ts';
import { buildRedirectQuery } from '../support/saml-requests.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const plain = 'https://plain.example/metadata';
const signing = 'https://signing.example/metadata';
const keys = rsaKeys();
const urn = 'urn:oasis:names:tc:SAML:2.0:status:InvalidNameIDPolicy';
const encode = (bytes: Buffer | string): string => encodeURIComponent(Buffer.from(bytes).toString('base64'));
const deflated = (xml: string): string => encode(deflateRawSync(Buffer.from(xml)));

for (const database of databases) {
  suite(`7.12 SAML requests on ${database}`, () => {
    let server: TestServer;
    let idp: SamlIdp;
    before(async () => {
      server = await startTestServer(database, { flags: samlFlags });
      idp = await openSamlIdp(server);
      await idp.register({ entity_id: plain, acs: [{ url: 'https://plain.example/acs' }, { url: 'https://plain.example/two', index: 7 }] });
      await idp.register({ entity_id: signing, signing_keys: [keys.publicPem] });
      await idp.register({ entity_id: 'https://off.example', enabled: false });
      await idp.register({ entity_id: 'https://start.example', idp_initiated_allowed: true, relay_states: ['/home', '/other'] });
      await idp.register({
        entity_id: 'https://email.example',
        name_id_formats: ['urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'],
      });
    });
    after(() => server.close());

    const refused = (what: string, row: RowId, send: () => Promise<Response>): void => {
      test(`7.12 ${row}: ${what}`, async () => {
        const body = await assertRefusal(await send(), row);
        if (row === 'saml.name_id_policy') assert.equal(body, `{"error":"invalid_request","error_description":"${urn}"}`);
        else assert.doesNotMatch(body, /error_description/); // one body for every trigger
      });
    };
    const withParts = (parts: Parameters<SamlIdp['request']>[0]) => () => idp.redirect(idp.request({ issuer: plain, ...parts }));
    const raw = (make: () => string) => () => idp.get(make());

    test('a right request starts a sign-in, over both bindings', async () => {
      await assertStarted(await idp.redirect(idp.request({ issuer: plain })));
      await assertStarted(await idp.postXml(idp.request({ issuer: plain })));
      await assertStarted(await idp.redirect(idp.request({ issuer: signing }), { privateKey: keys.privateKey, relayState: 'a b&c' }));
      await assertStarted(await idp.postSigned({ issuer: signing }, keys.privateKey));
      const browser = await idp.get(buildRedirectQuery(idp.request({ issuer: plain })), { accept: 'text/html,*/*;q=0.8' });
      assert.equal(browser.status, 303);
      assert.match(browser.headers.get('location') ?? '', new RegExp(`^${idp.base}/login/`));
    });

    const unauthorized = 'saml.unauthorized';
    refused('unknown entityID', unauthorized, withParts({ issuer: 'https://nobody.example' }));
    refused('disabled service provider', unauthorized, withParts({ issuer: 'https://off.example' }));
    refused('unknown entityID with a stale, misaddressed, signed request', unauthorized, () =>
      idp.redirect(
        idp.request({ issuer: 'https://nobody.example', destination: 'https://x.example', issueInstant: '2020-01-01T00:00:00Z' }),
        keys,
      ),
    );
    refused(
      'sp: unknown entityID',
      unauthorized,
      raw(() => 'sp=https%3A%2F%2Fnobody.example'),
    );
    refused(
      'sp: IdP-initiated not allowed',
      unauthorized,
      raw(() => `sp=${encodeURIComponent(plain)}`),
    );
    refused(
      'sp: disabled',
      unauthorized,
      raw(() => 'sp=https%3A%2F%2Foff.example'),
    );

    const invalid = 'saml.invalid_request';
    refused(
      'neither SAMLRequest nor sp',
      invalid,
      raw(() => ''),
    );
    refused('neither, by POST', invalid, () => idp.post(''));
    refused(
      'an empty sp',
      invalid,
      raw(() => 'sp='),
    );
    refused('an empty sp and an empty SAMLRequest, by POST', invalid, () => idp.post({ sp: '', SAMLRequest: '' }));
    test('an empty value counts as absent: the other one decides', async () => {
      await assertStarted(await idp.get(`${buildRedirectQuery(idp.request({ issuer: plain }))}&sp=`));
      await assertStarted(await idp.get(`SAMLRequest=&sp=${encodeURIComponent('https://start.example')}`));
    });
    refused(
      'SAMLRequest and sp',
      invalid,
      raw(() => `${buildRedirectQuery(idp.request({ issuer: plain }))}&sp=x`),
    );
    refused(
      'empty SAMLRequest',
      invalid,
      raw(() => 'SAMLRequest='),
    );
    refused(
      'not base64',
      invalid,
      raw(() => 'SAMLRequest=%25%25'),
    );
    refused(
      'base64 without padding',
      invalid,
      raw(() => 'SAMLRequest=AAA'),
    );
    refused(
      'white space in Redirect base64',
      invalid,
      raw(() => `SAMLRequest=${deflated(idp.request({ issuer: plain })).replace(/^(.{8})/, '$1%0A')}`),
    );
    refused(
      'not DEFLATE',
      invalid,
      raw(() => `SAMLRequest=${encode('hello')}`),
    );
    refused(
      'DEFLATE of a bomb',
      invalid,
      raw(() => `SAMLRequest=${encode(deflateRawSync(Buffer.alloc(10_000_000, 0x20)))}`),
    );
    refused(
      'bytes after the DEFLATE stream',
      invalid,
      raw(() => `SAMLRequest=${encode(Buffer.concat([deflateRawSync(Buffer.from(idp.request({ issuer: plain }))), Buffer.from('x')]))}`),
    );
    refused(
      'another SAMLEncoding',
      invalid,
      raw(() => `${buildRedirectQuery(idp.request({ issuer: plain }))}&SAMLEncoding=urn%3Ax`),
    );
    refused(
      'bad percent-encoding',
      invalid,
      raw(() => 'SAMLRequest=%ZZ'),
    );
    refused(
      'RelayState that is not UTF-8',
      invalid,
      raw(() => `${buildRedirectQuery(idp.request({ issuer: plain }))}&RelayState=%FF`),
    );
    refused('query with a POST', invalid, () =>
      fetch(`${idp.ssoUrl}?RelayState=x`, {
        method: 'POST',
        body: new URLSearchParams({ SAMLRequest: Buffer.from(idp.request({ issuer: plain })).toString('base64') }),
      }),
    );
    refused('POST that is DEFLATEd', invalid, () => idp.post(`SAMLRequest=${deflated(idp.request({ issuer: plain }))}`));
    refused('not XML', invalid, () => idp.postXml('hello'));
    refused('a Response', invalid, () => idp.postXml(idp.request({ issuer: plain }).replaceAll('AuthnRequest', 'Response')));
    refused('a LogoutRequest', invalid, () => idp.postXml(idp.request({ issuer: plain }).replaceAll('AuthnRequest', 'LogoutRequest')));
    refused('Version 1.1', invalid, () => idp.postXml(idp.request({ issuer: plain }).replace('Version="2.0"', 'Version="1.1"')));
    refused('ID that is no NCName', invalid, withParts({ id: '1x' }));
    refused('ID with markup', invalid, withParts({ id: '_&lt;script&gt;' }));
    refused('ID of 257 characters', invalid, withParts({ id: `_${'x'.repeat(256)}` }));
    test('ID of 256 characters is fine', async () => {
      await assertStarted(await withParts({ id: `_${'\u{10000}'.repeat(240)}${Date.now()}-`.padEnd(496, 'x') })());
    });
    refused('no Issuer', invalid, () => idp.postXml(idp.request({ issuer: plain }).replace(/<saml:Issuer>.*<\/saml:Issuer>/, '')));
    refused('two Issuers', invalid, () => idp.postXml(idp.request({ issuer: plain }).replace(/(<saml:Issuer>.*<\/saml:Issuer>)/, '$1$1')));
    refused('Issuer in another namespace', invalid, () =>
      idp.postXml(idp.request({ issuer: plain }).replaceAll('saml:Issuer', 'samlp:Issuer')),
    );
    refused('Issuer that is not first', invalid, () =>
      idp.postXml(idp.request({ issuer: plain }).replace(/(<saml:Issuer>.*<\/saml:Issuer>)/, '<samlp:NameIDPolicy/>$1')),
    );
    refused('comment in Issuer', invalid, () => idp.postXml(idp.request({ issuer: plain }).replace('plain', 'pl<!-- -->ain')));
    refused('an element the schema does not place there', invalid, withParts({ content: '<samlp:Extensions/><samlp:Extensions/>' }));
    refused('Destination of another endpoint', invalid, withParts({ destination: 'https://evil.example/sso' }));
    refused('stale: 5 minutes and a second old', invalid, () =>
      withParts({ issueInstant: new Date(Date.now() - 301_000).toISOString() })(),
    );
    refused('from the future: 2 minutes and some', invalid, () =>
      withParts({ issueInstant: new Date(Date.now() + 125_000).toISOString() })(),
    );
    refused('IssueInstant without a zone', invalid, withParts({ issueInstant: '2026-01-01T00:00:00' }));
    refused('IsPassive', invalid, withParts({ attributes: ' IsPassive="true"' }));
    refused('IsPassive that is no boolean', invalid, withParts({ attributes: ' IsPassive="yes"' }));
    refused('a Subject', invalid, withParts({ content: '<saml:Subject><saml:NameID>x</saml:NameID></saml:Subject>' }));
    refused(
      'an authentication context nobody meets',
      invalid,
      withParts({
        content:
          '<samlp:RequestedAuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Kerberos</saml:AuthnContextClassRef></samlp:RequestedAuthnContext>',
      }),
    );
    refused(
      'ProtocolBinding other than POST',
      invalid,
      withParts({ attributes: ' ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact"' }),
    );
    refused(
      'ACS URL and index together',
      invalid,
      withParts({ attributes: ' AssertionConsumerServiceURL="https://plain.example/acs" AssertionConsumerServiceIndex="7"' }),
    );
    refused('RelayState of 1025 bytes', invalid, () => idp.redirect(idp.request({ issuer: plain }), { relayState: 'x'.repeat(1025) }));
    test('RelayState of 1024 bytes and an Issuer of 1024 characters are fine', async () => {
      const issuer = `u:${'\u{10000}'.repeat(1022)}`;
      await idp.register({ entity_id: issuer });
      await assertStarted(await idp.postXml(idp.request({ issuer }), 'é'.repeat(512)));
    });
    test('a query of 16 KiB and a body of 128 KiB are read, a byte more is not', async () => {
      await server.clock.advance(60_000); // of one kind a few are stored whole, and more after a while
      const reasonOf = async (response: Response): Promise<string | null | undefined> => {
        await server.gatehouse.services.refusals.flush();
        const id = response.headers.get('x-request-id') ?? '';
        const [event] = await server.gatehouse.services.database.read(idp.tenant.id, (queries) =>
          listAuditEventsOfRequest(queries, idp.tenant.id, id),
        );
        return event?.reason;
      };
      const filler = (size: number): string => `SAMLRequest=${'A'.repeat(size - 'SAMLRequest='.length)}`;
      assert.notEqual(await reasonOf(await idp.get(filler(16 * 1024))), 'query_too_large');
      assert.equal(await reasonOf(await idp.get(filler(16 * 1024 + 1))), 'query_too_large');
      assert.notEqual(await reasonOf(await idp.post(filler(128 * 1024))), 'body_too_large');
      assert.equal(await reasonOf(await idp.post(filler(128 * 1024 + 1))), 'body_too_large');
    });
    refused(
      'query over 16 KiB',
      invalid,
      raw(() => `SAMLRequest=${'A'.repeat(16 * 1024)}`),
    );
    refused('body over 128 KiB', invalid, () => idp.post(`SAMLRequest=${'A'.repeat(128 * 1024)}`));
    refused('body over 10 MiB', invalid, () => idp.post(`SAMLRequest=${'A'.repeat(10 * 1024 * 1024)}`));
    refused('the same request again', invalid, async () => {
      const xml = idp.request({ issuer: plain });
      await assertStarted(await idp.redirect(xml));
      return idp.postXml(xml);
    });

    const acs = 'saml.acs_unregistered';
    refused('unregistered URL', acs, withParts({ attributes: ' AssertionConsumerServiceURL="https://evil.example/acs"' }));
    refused('registered URL in another case', acs, withParts({ attributes: ' AssertionConsumerServiceURL="https://plain.example/ACS"' }));
    refused(
      'registered URL with more behind',
      acs,
      withParts({ attributes: ' AssertionConsumerServiceURL="https://plain.example/acs?x"' }),
    );
    refused("another provider's URL", acs, withParts({ attributes: ' AssertionConsumerServiceURL="https://sp.example/acs"' }));
    refused('javascript:', acs, withParts({ attributes: ' AssertionConsumerServiceURL="javascript:alert(1)"' }));
    refused('unregistered index', acs, withParts({ attributes: ' AssertionConsumerServiceIndex="9"' }));
    test('a registered URL and a registered index are fine', async () => {
      await assertStarted(await withParts({ attributes: ' AssertionConsumerServiceURL="https://plain.example/two"' })());
      await assertStarted(await withParts({ attributes: ' AssertionConsumerServiceIndex="7"' })());
    });

    const policy = (attributes: string, issuer = plain) => withParts({ issuer, content: `<samlp:NameIDPolicy ${attributes}/>` });
    refused('unknown format', 'saml.name_id_policy', policy('Format="urn:x"'));
    refused('encrypted format', 'saml.name_id_policy', policy('Format="urn:oasis:names:tc:SAML:2.0:nameid-format:encrypted"'));
    refused(
      'format not enabled',
      'saml.name_id_policy',
      policy('Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"', 'https://email.example'),
    );
    refused('foreign SPNameQualifier', 'saml.name_id_policy', policy(`SPNameQualifier="${signing}"`));
    test('enabled, unspecified and absent formats are fine', async () => {
      await assertStarted(await policy('Format="urn:oasis:names:tc:SAML:2.0:nameid-format:transient" AllowCreate="true"')());
      await assertStarted(await policy(`Format="urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified" SPNameQualifier="${plain}"`)());
    });

    test('IdP-initiated starts a sign-in by GET and POST', async () => {
      await assertStarted(await idp.get('sp=https%3A%2F%2Fstart.example'));
      await assertStarted(await idp.post({ sp: 'https://start.example', RelayState: '/other' }));
    });
    test('an answer to a browser is a page that says no more', async () => {
      const response = await idp.get('sp=x', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
      const html = await response.text();
      assert.equal(response.status, 401);
      assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.ok(html.includes('unauthorized') && html.includes(response.headers.get('x-request-id') ?? '-'));
    });
    test('429 rate_limited beyond the starts an address has', async () => {
      const headers = { 'x-forwarded-for': '203.0.113.9' };
      for (let sent = 0; sent < 60; sent += 1) assert.equal((await idp.get('', headers)).status, 400);
      await assertRefusal(await idp.get('', headers), 'oauth.rate_limited', { fields: { retry_after_seconds: /^\d+$/ } });
    });
    test('other methods are 405, a HEAD starts nothing', async () => {
      await assertRefusal(await fetch(idp.ssoUrl, { method: 'PUT' }), 'oauth.method_not_allowed');
      assert.equal((await fetch(`${idp.ssoUrl}?sp=https%3A%2F%2Fstart.example`, { method: 'HEAD' })).status, 405);
    });
    test('POST of another content type is 415', async () => {
      const response = await fetch(idp.ssoUrl, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
      await assertRefusal(response, 'oauth.unsupported_media_type');
    });
  });
}
