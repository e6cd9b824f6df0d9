// Sign-in with another OpenID provider (design 14, 2): the way there and back, who is signed in, who is asked for a proof.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { openExternalWorld, type Visit } from '../support/external.ts';
import { createUser } from '../support/fixtures.ts';
import { mailsTo, otherPin, pinOf } from '../support/mailbox.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startUpstream } from '../support/upstream.ts';

for (const database of databases) {
  describe(`Sign-in with another provider on ${database}`, async () => {
    const world = await openExternalWorld(database);
    const { server, managed, tenant, upstream, register, begin, post, jsonOf, leave, visit, finish, links } = world;
    after(async () => {
      await upstream.close();
      await server.close();
    });
    let people = 0;
    const newcomer = (claims: object = {}) => {
      people += 1;
      return { sub: `sub-${people}`, email: `person${people}@acme.example`, email_verified: true, given_name: 'Grace', ...claims };
    };
    const stateOf = async ({ browser, login }: Visit): Promise<string> => String((await jsonOf(await browser.send(login)))['state']);

    it('nothing is offered while nothing is registered', async () => {
      const at = await begin();
      assert.deepEqual(Object.keys(await jsonOf(await at.browser.send(at.login))), ['state', 'client', 'methods', 'expires_at']);
      await assertRefusal(await post(at.browser, `${at.login}/external`, { alias: 'acme' }), 'login.invalid_request', {
        kind: 'alias',
        text: 'alias: expected one of the providers shown.',
      });
      await assertRefusal(await at.browser.send(`${tenant.baseUrl}/login/callback/acme?code=1&state=2`), 'login.not_found');
    });

    it('registration: what is shown, what is kept back, what is refused', async () => {
      const made = await register();
      assert.equal(made['client_secret'], undefined);
      assert.equal(made['callback_uri'], `${tenant.baseUrl}/login/callback/acme`);
      const read = await managed.make('GET', `/identity-providers/${made.id}`);
      assert.deepEqual(read, made);
      assert.deepEqual((await managed.make('GET', '/identity-providers?search=acm'))['items'], [made]);
      for (const [kind, fields] of [
        ['alias', { alias: 'Acme' }],
        ['issuer', { alias: 'b', issuer: 'http://acme.example' }],
        ['issuer', { alias: 'b', issuer: undefined }],
        ['client_secret', { alias: 'b', kind: 'github', client_secret: undefined }],
        ['tenants', { alias: 'b', issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0' }],
        ['tenants', { alias: 'b', tenants: ['0e8fa1a5-0000-4000-8000-000000000001'] }],
        ['acr_map', { alias: 'b', acr_map: { strong: 'strongest' } }],
        ['attribute_map', { alias: 'b', attribute_map: { role: 'role' } }],
      ] as const)
        await assertRefusal(
          await managed.call('POST', '/identity-providers', {
            kind: 'oidc',
            name: 'B',
            issuer: 'https://b.example',
            client_id: 'x',
            ...fields,
          }),
          'management.invalid_request',
          { kind, text: /.+/ as never },
        );
      await assertRefusal(
        await managed.call('POST', '/identity-providers', {
          alias: 'acme',
          kind: 'oidc',
          name: 'B',
          issuer: 'https://b.example',
          client_id: 'x',
        }),
        'management.conflict',
        { kind: 'alias', text: 'The alias is in use.' },
      );
    });

    it('a person with a link is signed in, as weak as `fed`, and the page and its JSON offer the provider', async () => {
      await managed.make('PATCH', `/identity-providers/${await idOf('acme')}`, { create_users: true });
      const at = await begin();
      assert.deepEqual((await jsonOf(await at.browser.send(at.login)))['providers'], [{ alias: 'acme', name: 'Acme' }]);
      const page = await (await at.browser.send(at.login, { headers: { accept: 'text/html' } })).text();
      assert.match(
        page,
        /<button class="plain" id="idp-acme" name="alias" value="acme" formaction="[^"]+\/external" formnovalidate>Continue with Acme</,
      );
      const ada = newcomer();
      assert.deepEqual(await jsonOf(await visit(at, ada)), { state: 'approved' });
      const first = await finish(at);
      assert.equal(first['acr'], 'fed');
      assert.deepEqual(first['amr'], ['fed']);
      const account = async () => {
        const { last_sign_in_at: _, ...rest } = await managed.make('GET', `/users/${first['sub']}`);
        return rest;
      };
      const made = await account();
      assert.deepEqual([made['user_name'], made['name']], [ada.email, { given_name: 'Grace' }]);
      const again = await begin();
      await jsonOf(await visit(again, { ...ada, email: 'changed@elsewhere.example' }));
      const second = await finish(again);
      assert.equal(second['sub'], first['sub']);
      assert.deepEqual(await account(), made, 'an email changed upstream changes nothing here');
      assert.match((await mailsTo(server, ada.email))[0]?.subject ?? '', /^Acme can now sign you in to /);
    });

    it('a browser is sent there and back by 303', async () => {
      const at = await begin();
      const html = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' };
      const out = await at.browser.send(`${at.login}/external`, { method: 'POST', headers: html, body: 'alias=acme&identifier=grace' });
      assert.equal(out.status, 303);
      const there = new URL(out.headers.get('location') ?? '');
      assert.equal(there.origin, upstream.origin);
      assert.equal(there.searchParams.get('login_hint'), 'grace');
      assert.equal(there.searchParams.get('scope'), 'openid profile email');
      const back = await at.browser.send(upstream.signIn(there.href, newcomer()).href, { headers: { accept: 'text/html' } });
      assert.equal(back.status, 303);
      assert.equal(back.headers.get('location'), at.login);
      assert.equal(await stateOf(at), 'approved');
    });

    it('acr_values above `fed`: the same person proves more here, and no more is linked', async () => {
      const ada = newcomer();
      await jsonOf(await visit(await begin(), ada));
      const before = (await links()).length;
      const at = await begin({ acr_values: 'otp' });
      assert.deepEqual(await jsonOf(await visit(at, ada)), { state: 'choose', methods: ['phone', 'passkey', 'email_pin'] });
      await jsonOf(await post(at.browser, `${at.login}/method`, { method: 'email_pin' }));
      await jsonOf(await post(at.browser, `${at.login}/pin`, { pin: await pinOf(server, ada.email) }));
      assert.equal((await finish(at))['acr'], 'otp');
      assert.equal((await links()).length, before);
    });

    it('acr_map says what the provider is worth; values it does not name are worth nothing', async () => {
      await managed.make('PATCH', `/identity-providers/${await idOf('acme')}`, { acr_map: { 'urn:acme:strong': 'phone' } });
      const ada = newcomer({ acr: 'urn:acme:strong' });
      const at = await begin({ acr_values: 'phone' });
      assert.deepEqual(await jsonOf(await visit(at, ada)), { state: 'approved' });
      assert.equal((await finish(at))['acr'], 'phone');
      assert.equal((await jsonOf(await visit(await begin({ acr_values: 'phone' }), { ...ada, acr: 'phone' })))['state'], 'choose');
      assert.equal((await jsonOf(await visit(await begin({ acr_values: 'phr' }), ada)))['state'], 'choose');
    });

    it('max_age goes along and needs a young auth_time', async () => {
      const now = () => Math.floor(server.clock.nowMs() / 1000);
      const ada = newcomer();
      const at = await begin({ max_age: '100' });
      const there = await leave(at);
      assert.equal(new URL(there).searchParams.get('max_age'), '100');
      await assertRefusal(await at.browser.send(upstream.signIn(there, ada).href), 'login.external_refused');
      await assertRefusal(await visit(at, { ...ada, auth_time: now() - 200 }), 'login.external_refused');
      assert.deepEqual(await jsonOf(await visit(at, { ...ada, auth_time: now() - 50 })), { state: 'approved' });
    });

    it('somebody has the email: they prove their account first, and the finish links', async () => {
      const ada = await createUser(server.gatehouse.services, tenant, 'ada@acme.example');
      const claims = newcomer({ email: 'ada@acme.example' });
      const at = await begin();
      assert.deepEqual(await jsonOf(await visit(at, claims)), { state: 'choose', methods: ['email_pin'] });
      assert.equal(await stateOf(at), 'choose');
      await jsonOf(await post(at.browser, `${at.login}/method`, { method: 'email_pin' }));
      const pin = await pinOf(server, ada.email);
      await assertRefusal(await post(at.browser, `${at.login}/pin`, { pin: otherPin(pin) }), 'pin.invalid');
      assert.deepEqual(await linkOf(claims.sub), undefined);
      await jsonOf(await post(at.browser, `${at.login}/pin`, { pin }));
      assert.deepEqual(await linkOf(claims.sub), undefined, 'not before the finish');
      assert.equal((await finish(at))['sub'], ada.id);
      assert.equal((await linkOf(claims.sub))?.user_id, ada.id);
      const next = await begin();
      assert.deepEqual(await jsonOf(await visit(next, claims)), { state: 'approved' });
      assert.equal((await finish(next))['sub'], ada.id);
    });

    it('an email nobody vouches for is proven by PIN, the same for a stranger and for somebody', async () => {
      await managed.make('PATCH', `/identity-providers/${await idOf('acme')}`, { trust_email: false });
      const bob = await createUser(server.gatehouse.services, tenant, 'bob@acme.example');
      for (const email of [bob.email, 'stranger@acme.example']) {
        const claims = newcomer({ email });
        const at = await begin();
        assert.deepEqual(await jsonOf(await visit(at, claims)), { state: 'pin' });
        assert.deepEqual(Object.keys(await jsonOf(await at.browser.send(at.login))), [
          'state',
          'client',
          'methods',
          'providers',
          'expires_at',
        ]);
        await assertRefusal(await post(at.browser, `${at.login}/finish`), 'login.conflict');
        const pin = await pinOf(server, email);
        await assertRefusal(await post(at.browser, `${at.login}/pin`, { pin: otherPin(pin) }), 'pin.invalid');
        await server.clock.advance(2000);
        await jsonOf(await post(at.browser, `${at.login}/pin/resend`));
        assert.deepEqual(await jsonOf(await post(at.browser, `${at.login}/pin`, { pin: await pinOf(server, email) })), {
          state: 'approved',
        });
        const { sub } = await finish(at);
        assert.equal((await linkOf(claims.sub))?.user_id, sub);
        if (email === bob.email) assert.equal(sub, bob.id);
      }
    });

    it('without create_users a stranger is refused, before a PIN or after', async () => {
      const id = await idOf('acme');
      await managed.make('PATCH', `/identity-providers/${id}`, { trust_email: true, create_users: false });
      await assertRefusal(await visit(await begin(), newcomer()), 'login.external_refused');
      await assertRefusal(await visit(await begin(), newcomer({ email: undefined })), 'login.external_refused');
      await managed.make('PATCH', `/identity-providers/${id}`, { trust_email: false });
      const at = await begin();
      const claims = newcomer();
      await jsonOf(await visit(at, claims));
      await assertRefusal(await post(at.browser, `${at.login}/pin`, { pin: await pinOf(server, claims.email) }), 'login.external_refused');
      assert.equal(await linkOf(claims.sub), undefined);
      await managed.make('PATCH', `/identity-providers/${id}`, { trust_email: true, create_users: true });
    });

    it('a refusal there, or an answer that is wrong, shows the other ways on a page', async () => {
      const at = await begin();
      const there = new URL(await leave(at));
      const callback = `${tenant.baseUrl}/login/callback/acme?error=access_denied&state=${there.searchParams.get('state')}&iss=${encodeURIComponent(upstream.issuer)}`;
      const page = await at.browser.send(callback, { headers: { accept: 'text/html' } });
      assert.equal(page.status, 401);
      const markup = await page.text();
      assert.match(markup, /The sign-in with the other provider was not accepted/);
      assert.match(markup, /id="identifier"/);
      assert.equal(await stateOf(at), 'identify');
    });

    it('a provider that does not answer: 503, and the page offers the other ways', async () => {
      const silent = await startUpstream(server.clock.nowMs);
      await register({ alias: 'silent', name: 'Silent' }, silent);
      const at = await begin();
      silent.setDown(true);
      await assertRefusal(await post(at.browser, `${at.login}/external`, { alias: 'silent' }), 'login.external_unavailable');
      silent.setDown(false);
      const there = await leave(at, 'silent');
      silent.setDown(true);
      const callback = silent.signIn(there, newcomer()).href;
      const page = await at.browser.send(callback, { headers: { accept: 'text/html' } });
      assert.equal(page.status, 503);
      assert.match(await page.text(), /The other provider does not answer/);
      // The id of the page leads to the try, which says why.
      type Explained = {
        readonly sign_in: { readonly check: string; readonly says: string; readonly lines: readonly { readonly type: string }[] };
      };
      const { sign_in: told } = await managed.make<Explained>('GET', `/events/${page.headers.get('x-request-id')}`);
      assert.deepEqual([told.check, told.says], ['provider_does_not_answer', 'Not let in: The other provider does not answer.']);
      assert.deepEqual(
        told.lines.map(({ type }) => type),
        ['login.refused', 'login.started', 'login.refused'],
      );
      await silent.close();
      await managed.make('DELETE', `/identity-providers/${await idOf('silent')}`);
    });

    it('a disabled provider is not offered, and its answers are worth nothing', async () => {
      const at = await begin();
      const callback = upstream.signIn(await leave(at), newcomer()).href;
      await managed.make('PATCH', `/identity-providers/${await idOf('acme')}`, { enabled: false });
      await assertRefusal(await at.browser.send(callback), 'login.not_found');
      assert.equal((await jsonOf(await at.browser.send(at.login)))['providers'], undefined);
      await managed.make('PATCH', `/identity-providers/${await idOf('acme')}`, { enabled: true });
    });

    it('a suspended or deleted person is refused; a deleted one has no link any more', async () => {
      const claims = newcomer();
      await jsonOf(await visit(await begin(), claims));
      const { user_id: id } = (await linkOf(claims.sub))!;
      await managed.make('POST', `/users/${id}/suspend`);
      await assertRefusal(await visit(await begin(), claims), 'login.external_refused');
      await managed.make('DELETE', `/users/${id}`);
      assert.equal(await linkOf(claims.sub), undefined);
    });

    if (database === 'postgres')
      it('where no mail can be sent, nobody is left waiting for a code', async () => {
        const silent = await openExternalWorld(database, { dev: '0' });
        await silent.register({ create_users: true });
        const ada = await createUser(silent.server.gatehouse.services, silent.tenant, 'ada@acme.example');
        await assertRefusal(await silent.visit(await silent.begin(), newcomer({ email_verified: false })), 'login.external_refused');
        await assertRefusal(await silent.visit(await silent.begin(), newcomer({ email: ada.email })), 'login.external_refused');
        assert.deepEqual(await jsonOf(await silent.visit(await silent.begin(), newcomer())), { state: 'approved' });
        await silent.upstream.close();
        await silent.server.close();
      });

    const linkOf = async (subject: string) => (await links()).find((link) => link.subject === subject);
    const idOf = async (alias: string): Promise<string> => {
      const { items } = await managed.make<{ readonly items: readonly { readonly id: string; readonly alias: string }[] }>(
        'GET',
        '/identity-providers',
      );
      return items.find((one) => one.alias === alias)?.id ?? '';
    };
  });
}
