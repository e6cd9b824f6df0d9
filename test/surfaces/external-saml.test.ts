// Sign-in with a SAML provider (design 14, 2) over HTTP: what we ask, what we take, what the person ends as.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { openSamlWorld } from '../support/external-saml.ts';
import { createUser } from '../support/fixtures.ts';
import { pinOf } from '../support/mailbox.ts';
import type { Json } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import {
  buildResponse,
  certificatesIn,
  encryptAssertion,
  idpEntityId,
  idpMetadata,
  idpSsoUrl,
  isQuerySigned,
  signElement,
} from '../support/saml-upstream.ts';

for (const database of databases) {
  describe(`Sign-in with a SAML provider on ${database}`, async () => {
    const world = await openSamlWorld(database);
    const { server, managed, tenant, callback, registerSaml, begin, ask, deliver, bring, come, finish, jsonOf, post, links, nowMs } = world;
    after(() => server.close());
    let id = '';

    it('is registered by its metadata alone, and told what to give the provider', async () => {
      const provider = await registerSaml({ create_users: true });
      id = provider.id;
      assert.deepEqual(
        [provider['kind'], provider['issuer'], provider['callback_uri'], provider['sp_metadata_uri']],
        ['saml', null, callback, `${callback}/metadata`],
      );
    });

    it('our metadata says entityID, consumer service, keys, and that assertions must be signed', async () => {
      const response = await fetch(`${callback}/metadata`);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'application/samlmetadata+xml; charset=utf-8');
      const xml = await response.text();
      assert.match(xml, new RegExp(`entityID="${callback}/metadata"`));
      assert.match(xml, /AuthnRequestsSigned="false" WantAssertionsSigned="true"/);
      assert.ok(xml.includes(`Location="${callback}" index="0" isDefault="true"`));
      const signing = certificatesIn(xml, 'signing');
      assert.deepEqual([signing.length, new Set(signing).size, signing[0]], [3, 2, signing[2]]);
      assert.equal(certificatesIn(xml, 'encryption').length, 1);
      await assertRefusal(await fetch(`${tenant.baseUrl}/login/callback/nobody/metadata`), 'login.not_found');
    });

    it('asks by Redirect, unsigned where the metadata wants nothing else', async () => {
      const asked = await ask(await begin());
      assert.match(asked.xml, /^<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" /);
      assert.equal(asked.acsUrl, callback);
      assert.equal(asked.issuer, `${callback}/metadata`);
      assert.ok(asked.xml.includes('Destination="https://idp.acme.example/sso?app=1"'));
      assert.ok(asked.xml.includes('AllowCreate="true" Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"'));
      assert.doesNotMatch(asked.xml, /ForceAuthn/);
      assert.equal(asked.query.get('Signature'), null);
      assert.ok(asked.relayState.length <= 80, 'SAML bindings 3.4.3');
      assert.match((await ask(await begin({ prompt: 'login' }))).xml, /ForceAuthn="true"/);
    });

    it('asks signed where the metadata wants that', async () => {
      await registerSaml({ alias: 'signed', metadata: await idpMetadata({ wantsSigned: true, formats: 'urn:other' }) });
      const asked = await ask(await begin(), 'signed');
      const metadata = await (await fetch(`${tenant.baseUrl}/login/callback/signed/metadata`)).text();
      assert.match(metadata, /AuthnRequestsSigned="true"/);
      assert.ok(isQuerySigned(asked, certificatesIn(metadata, 'signing')));
      assert.ok(asked.xml.includes('<samlp:NameIDPolicy AllowCreate="true"></samlp:NameIDPolicy>'));
    });

    it('the answer is kept, the browser that brought it fetches it, and a new person has an account', async () => {
      const at = await begin();
      const asked = await ask(at);
      const attributes =
        '<saml:Attribute Name="givenName"><saml:AttributeValue>Ada</saml:AttributeValue></saml:Attribute><saml:Attribute Name="sn"><saml:AttributeValue>Lovelace</saml:AttributeValue></saml:Attribute>';
      const xml = signElement(buildResponse(asked, nowMs(), { nameId: 'ada-1', email: 'ada@corp.example', attributes }), 'Assertion');
      const kept = await deliver(xml, asked.relayState);
      assert.equal(kept.status, 303);
      const location = new URL(kept.headers.get('location') ?? '');
      assert.equal(`${location.origin}${location.pathname}`, at.login);
      assert.deepEqual([...location.searchParams.keys()], ['state', 'answer']);
      assert.deepEqual(await jsonOf(await at.browser.send(location.href)), { state: 'approved' });
      const { sub } = await finish(at);
      const user = await managed.make('GET', `/users/${sub}`);
      assert.deepEqual(user['name'], { given_name: 'Ada', family_name: 'Lovelace' });
      assert.deepEqual(
        (await managed.make<{ items: readonly Json[] }>('GET', `/users/${sub}/external-identities`)).items[0]?.['issuer'],
        idpEntityId,
      );
    });

    it('browsers get pages: 303 to the sign-in without the answer in its address', async () => {
      const at = await begin();
      const asked = await ask(at);
      const kept = await deliver(signElement(buildResponse(asked, nowMs(), { nameId: 'ada-1' }), 'Assertion'), asked.relayState);
      const page = await at.browser.send(kept.headers.get('location') ?? '', { headers: { accept: 'text/html' } });
      assert.deepEqual([page.status, page.headers.get('location')], [303, at.login]);
    });

    it('signed Response and Assertion, or an assertion encrypted for us, are taken too', async () => {
      const metadata = await (await fetch(`${callback}/metadata`)).text();
      const [certificate = ''] = certificatesIn(metadata, 'encryption');
      const { publicKey } = new X509Certificate(Buffer.from(certificate, 'base64'));
      const both = (xml: string): string => signElement(signElement(xml, 'Assertion'), 'Response');
      const encrypted = (xml: string): string => encryptAssertion(signElement(xml, 'Assertion'), publicKey);
      const all: readonly ((xml: string) => string)[] = [
        both,
        encrypted,
        (xml) => encryptAssertion(signElement(xml, 'Assertion'), publicKey, { algorithm: 'aes-128-gcm' }),
        (xml) => signElement(encrypted(xml), 'Response'),
      ];
      for (const make of all) {
        const at = await begin();
        const asked = await ask(at);
        assert.deepEqual(await jsonOf(await bring(at, asked, make(buildResponse(asked, nowMs(), { nameId: 'ada-1' })))), {
          state: 'approved',
        });
      }
    });

    it('an email of an account here links nothing by itself; the account is proven first', async () => {
      const { id: userId, email } = await createUser(server.gatehouse.services, tenant, 'grace@corp.example');
      const at = await begin();
      assert.deepEqual(await jsonOf(await come(at, { nameId: 'grace-1', email })), { state: 'choose', methods: ['email_pin'] });
      assert.deepEqual(
        (await links()).filter((link) => link.user_id === userId),
        [],
      );
      await jsonOf(await post(at.browser, `${at.login}/method`, { method: 'email_pin' }));
      await jsonOf(await post(at.browser, `${at.login}/pin`, { pin: await pinOf(server, email) }));
      assert.equal((await finish(at))['sub'], userId);
      const again = await begin();
      assert.deepEqual(await jsonOf(await come(again, { nameId: 'grace-1', email: 'renamed@corp.example' })), { state: 'approved' });
      assert.equal((await finish(again))['sub'], userId);
    });

    it('without trust_email the address is proven by PIN first, known here or not', async () => {
      await managed.make('PATCH', `/identity-providers/${id}`, { trust_email: false });
      for (const email of ['grace@corp.example', 'nobody@corp.example']) {
        await server.clock.advance(2000);
        assert.deepEqual(await jsonOf(await come(await begin(), { email })), { state: 'pin' });
      }
      await managed.make('PATCH', `/identity-providers/${id}`, { trust_email: true });
    });

    it('one name in two formats is two people', async () => {
      const email = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
      const at = await begin();
      await jsonOf(await come(at, { nameId: 'ada-1', format: undefined, email: 'other@corp.example' }));
      const other = (await finish(at))['sub'];
      const same = await begin();
      await jsonOf(await come(same, { nameId: 'ada-1' }));
      assert.notEqual((await finish(same))['sub'], other);
      const named = await begin();
      await jsonOf(await come(named, { nameId: 'by-mail@corp.example', format: email }));
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', `/users/${(await finish(named))['sub']}/external-identities`);
      assert.deepEqual([items[0]?.['subject'], items[0]?.['email']], ['emailAddress:by-mail@corp.example', 'by-mail@corp.example']);
    });

    it('a persistent name that is spelled as one of another format is somebody else', async () => {
      const email = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
      const byMail = await begin();
      await jsonOf(await come(byMail, { nameId: 'spelled@corp.example', format: email }));
      const victim = (await finish(byMail))['sub'];
      const chosen = await begin();
      await jsonOf(await come(chosen, { nameId: 'emailAddress:spelled@corp.example', email: 'chooser@corp.example' }));
      const chooser = (await finish(chosen))['sub'];
      assert.notEqual(chooser, victim);
      const again = await begin();
      await jsonOf(await come(again, { nameId: 'persistent:emailAddress:spelled@corp.example', email: 'second@corp.example' }));
      assert.ok(![victim, chooser].includes((await finish(again))['sub']));
      const colon = await begin();
      await jsonOf(await come(colon, { nameId: 'urn:person:7', email: 'seven@corp.example' }));
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', `/users/${(await finish(colon))['sub']}/external-identities`);
      assert.equal(items[0]?.['subject'], 'urn:person:7', 'a persistent name is the subject as it was');
    });

    it('acr_map judges by its authentication context', async () => {
      await managed.make('PATCH', `/identity-providers/${id}`, { acr_map: { 'https://refeds.org/profile/mfa': 'phone' } });
      const strong = await begin({ acr_values: 'phone' });
      assert.deepEqual(await jsonOf(await come(strong, { nameId: 'ada-1', context: 'https://refeds.org/profile/mfa' })), {
        state: 'approved',
      });
      const weak = await begin({ acr_values: 'phone' });
      assert.equal((await jsonOf(await come(weak, { nameId: 'ada-1' })))['state'], 'choose');
    });

    it('max_age is judged by when they signed in there', async () => {
      const late = { nameId: 'ada-1', authnInstantMs: nowMs() - 200_000 };
      assert.deepEqual(await jsonOf(await come(await begin({ max_age: '300' }), late)), { state: 'approved' });
      await assertRefusal(await come(await begin({ max_age: '60' }), late), 'login.external_refused');
    });

    it('metadata that could not be used is refused when it is given', async () => {
      const good = await idpMetadata();
      const cases: readonly (readonly [string, string, RegExp])[] = [
        ['no XML', 'metadata', /well-formed/],
        ['a DOCTYPE', `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${good.slice(good.indexOf('<md:'))}`, /doctype/],
        ['a service provider', await (await fetch(`${callback}/metadata`)).text(), /describes 0/],
        [
          'two identity providers',
          good.replace('</md:IDPSSODescriptor>', `</md:IDPSSODescriptor>${/<md:IDPSSO.*<\/md:IDPSSODescriptor>/s.exec(good)?.[0]}`),
          /describes 2/,
        ],
        ['no keys', good.replace(/<md:KeyDescriptor.*<\/md:KeyDescriptor>/s, ''), /certificate/],
        ['POST alone', good.replace('HTTP-Redirect', 'HTTP-POST'), /HTTP-Redirect/],
        ['a plain http address', good.replace(idpSsoUrl, 'http://idp.acme.example/sso'), /https/],
        ['no entityID', good.replace(idpEntityId, ''), /entityID/],
        ['expired', good.replace(' entityID', ' validUntil="2020-01-01T00:00:00Z" entityID'), /expired/],
      ];
      for (const [what, metadata, text] of cases) {
        const refused = await managed.call('POST', '/identity-providers', { alias: 'bad', kind: 'saml', name: 'Bad', metadata });
        assert.equal(refused.status, 400, what);
        assert.match(((await refused.json()) as { message: string }).message, text, what);
      }
      for (const [field, body] of [
        ['metadata', {}],
        ['issuer', { metadata: good, issuer: 'https://idp.acme.example' }],
        ['response_mode', { metadata: good, response_mode: 'form_post' }],
      ] as const)
        await assertRefusal(
          await managed.call('POST', '/identity-providers', { alias: 'bad', kind: 'saml', name: 'Bad', ...body }),
          'management.invalid_request',
          {
            kind: field,
            text: /./ as never,
          },
        );
    });

    it('an OpenID provider that answers by form post goes the same way', async () => {
      const { startUpstream } = await import('../support/upstream.ts');
      const apple = await startUpstream(nowMs);
      await world.register({ alias: 'apple', response_mode: 'form_post', create_users: true }, apple);
      const at = await begin();
      const there = await world.leave(at, 'apple');
      assert.equal(new URL(there).searchParams.get('response_mode'), 'form_post');
      const back = apple.signIn(there, { sub: 'a-1', email: 'a@apple.example', email_verified: true });
      await assertRefusal(await at.browser.send(back.href), 'login.external_refused');
      const kept = await fetch(`${back.origin}${back.pathname}`, { method: 'POST', redirect: 'manual', body: back.searchParams });
      assert.equal(kept.status, 303);
      assert.deepEqual(await jsonOf(await at.browser.send(kept.headers.get('location') ?? '')), { state: 'approved' });
      await apple.close();
    });
  });
}
