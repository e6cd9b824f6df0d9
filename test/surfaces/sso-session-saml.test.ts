// Single sign-on sessions and SAML (design 14, 1): one session for both protocols, ForceAuthn, IsPassive, and starts at our side.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { createUser, type TestUser } from '../support/fixtures.ts';
import { assertRefusal } from '../support/refusal.ts';
import { assertDelivered, openSamlIdp } from '../support/saml-idp.ts';
import { type AuthnRequestParts, buildRedirectQuery } from '../support/saml-requests.ts';
import { openSsoWorld } from '../support/sso.ts';

const issuer = 'https://sp.example';

for (const database of databases) {
  describe(`Single sign-on sessions and SAML on ${database}`, async () => {
    const { server, signInAt, signedIn, authorize, locationOf, asksToSignIn, manager, signOutButton } = await openSsoWorld(database);
    const idp = await openSamlIdp(server, 'sso');
    await idp.register({ entity_id: issuer, name: 'Payroll', idp_initiated_allowed: true, attribute_map: { emails: 'mail' } });
    let ada: TestUser;
    after(() => server.close());
    beforeEach(async () => {
      ada = await createUser(server.gatehouse.services, idp.tenant);
    });

    const request = (parts: AuthnRequestParts = {}): string => buildRedirectQuery(idp.request({ issuer, ...parts }));
    const ask = (browser: TestBrowser, query: string): Promise<Response> =>
      browser.send(`${idp.ssoUrl}?${query}`, { headers: { accept: 'text/html' } });
    const stateAt = async (browser: TestBrowser, login: string): Promise<string> =>
      ((await (await browser.send(login)).json()) as { state: string }).state;
    const finish = async (browser: TestBrowser, login: string): Promise<string> => {
      const response = await browser.send(`${login}/finish`, { method: 'POST', body: new URLSearchParams() });
      return ((await response.json()) as { redirect_to: string }).redirect_to;
    };
    const delivers = async (browser: TestBrowser, postback: string): Promise<void> => {
      const { xml } = await assertDelivered(await browser.send(postback));
      assert.ok(xml.includes(`>${ada.email}<`));
    };

    it('a sign-in at an application of one protocol answers the other', async () => {
      const browser = await signedIn(ada);
      const login = asksToSignIn(await ask(browser, request()));
      assert.equal(await stateAt(browser, login), 'approved');
      await delivers(browser, await finish(browser, login));
      const other = openBrowser();
      await signInAt(other, asksToSignIn(await ask(other, request())), ada);
      assert.ok(locationOf(await authorize(other)).searchParams.has('code'));
    });

    it('ForceAuthn asks again; a class the session did not meet is raised by the same person', async () => {
      const browser = await signedIn(ada);
      const forced = asksToSignIn(await ask(browser, request({ attributes: ' ForceAuthn="true"' })));
      assert.equal(await stateAt(browser, forced), 'identify');
      const classRef = '<saml:AuthnContextClassRef>https://refeds.org/profile/mfa</saml:AuthnContextClassRef>';
      const strong = request({ content: `<samlp:RequestedAuthnContext>${classRef}</samlp:RequestedAuthnContext>` });
      const login = asksToSignIn(await ask(browser, strong));
      const now = (await (await browser.send(login, { headers: { accept: 'text/html' } })).text()).includes('use-phone');
      assert.ok(now, 'the phone is offered to the person of the session');
      assert.equal(await stateAt(browser, login), 'choose');
    });

    it('IsPassive is answered from a session and is 400 without one, with ForceAuthn too', async () => {
      const passive = (more = ''): string => request({ attributes: ` IsPassive="true"${more}` });
      const browser = await signedIn(ada);
      const page = await browser.send(asksToSignIn(await ask(browser, passive())), { headers: { accept: 'text/html' } });
      await delivers(browser, locationOf(page).href);
      await assertRefusal(await idp.get(passive()), 'saml.invalid_request');
      const both = await browser.send(`${idp.ssoUrl}?${passive(' ForceAuthn="true"')}`);
      await assertRefusal(both, 'saml.invalid_request');
    });

    it('IsPassive by POST, without a cookie: the sign-in page answers, or the post-back refuses', async () => {
      const passive = (): string => Buffer.from(idp.request({ issuer, attributes: ' IsPassive="true"' })).toString('base64');
      const silently = async (browser: TestBrowser): Promise<Response> => {
        const started = await idp.post({ SAMLRequest: passive() }, { accept: 'text/html' });
        const [pair = ''] = (started.headers.get('set-cookie') ?? '').split(';');
        browser.cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
        const page = await browser.send(asksToSignIn(started), { headers: { accept: 'text/html' } });
        return browser.send(locationOf(page).href);
      };
      const { xml } = await assertDelivered(await silently(await signedIn(ada)));
      assert.ok(xml.includes(`>${ada.email}<`));
      await assertRefusal(await silently(openBrowser()), 'saml.invalid_grant');
    });

    it('a start at our side asks whether to continue as the person of the session', async () => {
      const browser = await signedIn(ada);
      const login = asksToSignIn(await ask(browser, new URLSearchParams({ sp: issuer }).toString()));
      const { state, accounts } = (await (await browser.send(login)).json()) as {
        state: string;
        accounts: { id: string; email: string }[];
      };
      assert.deepEqual([state, accounts.map(({ email }) => email)], ['account', [ada.email]]);
      await browser.send(`${login}/account`, { method: 'POST', body: new URLSearchParams({ account: accounts[0]!.id }) });
      await delivers(browser, await finish(browser, login));
    });

    /** Up to the address of the answer, which is not fetched yet. */
    const waiting = async (browser: TestBrowser): Promise<string> => {
      const login = asksToSignIn(await ask(browser, request()));
      assert.equal(await stateAt(browser, login), 'approved');
      return finish(browser, login);
    };
    const manage = async (method: string, path: string): Promise<unknown> => {
      const response = await (await manager()).call(method, `/users/${ada.id}${path}`);
      assert.ok(response.ok);
      return response.status === 204 ? undefined : response.json();
    };
    const ends: Readonly<Record<string, (browser: TestBrowser) => Promise<unknown>>> = {
      'an administrator ends this session': async () => {
        const { items } = (await manage('GET', '/browser-sessions')) as { items: { id: string }[] };
        assert.equal(items.length, 1);
        await manage('DELETE', `/browser-sessions/${items[0]!.id}`);
      },
      'an administrator ends the sessions in every browser': () => manage('DELETE', '/browser-sessions'),
      'an administrator ends everything': () => manage('DELETE', '/sessions'),
      'the person signs out in this browser': async (browser) => {
        const press = await signOutButton(browser);
        assert.equal((await press(new URL(idp.base).origin)).status, 200);
      },
    };
    for (const [name, end] of Object.entries(ends))
      it(`an answer that waits goes with its session, and nobody else's: ${name}`, async () => {
        const browser = await signedIn(ada);
        const postback = await waiting(browser);
        const bob = await createUser(server.gatehouse.services, idp.tenant);
        const another = await signedIn(bob);
        const ofAnother = await waiting(another);
        await end(browser);
        await assertRefusal(await browser.send(postback), 'saml.session_not_found');
        const { xml } = await assertDelivered(await another.send(ofAnother));
        assert.ok(xml.includes(`>${bob.email}<`));
      });
    it('an answer of a sign-in that opened no session is gone when everything of the person is ended', async () => {
      const browser = openBrowser();
      const login = asksToSignIn(await ask(browser, request()));
      const postback = await signInAt(browser, login, ada, { not_my_computer: '1' });
      await manage('DELETE', '/sessions');
      await assertRefusal(await browser.send(postback.href), 'saml.session_not_found');
    });
  });
}
