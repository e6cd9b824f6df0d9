// Single sign-on sessions of browsers (design 14, 1): what they answer, what they ask, what ends them, and what is worth nothing.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, type TestUser } from '../support/fixtures.ts';
import { exchange, redirectUri, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { openSsoWorld, scope } from '../support/sso.ts';

for (const database of databases) {
  describe(`Single sign-on sessions on ${database}`, async () => {
    const world = await openSsoWorld(database);
    const {
      settings,
      query,
      authorize,
      locationOf,
      step,
      signInAt,
      signIn,
      signedIn,
      claimsOf,
      errorOf,
      manager,
      refusedSilently,
      asksToSignIn,
      server,
      tenant,
      client,
    } = world;
    let ada: TestUser;
    after(() => server.close());
    beforeEach(async () => {
      ada = await createUser(server.gatehouse.services, tenant);
    });

    it('a second request is answered at once, with the time, acr and amr of the sign-in', async () => {
      const browser = openBrowser();
      const first = await claimsOf(await signIn(browser, ada));
      await server.clock.advance(120_000);
      const redirect = locationOf(await authorize(browser));
      assert.equal(redirect.origin + redirect.pathname, redirectUri);
      assert.equal(redirect.searchParams.get('state'), 'state-1');
      assert.equal(redirect.searchParams.get('iss'), tenant.baseUrl);
      const second = await claimsOf(redirect);
      for (const claim of ['sub', 'auth_time', 'acr', 'amr']) assert.deepEqual(second[claim], first[claim], claim);
      assert.notEqual(second['sid'], first['sid']);
      const other = await createClient(server.gatehouse.services, tenant);
      assert.equal((await claimsOf(locationOf(await authorize(browser, { prompt: 'none' }, other)), other))['sub'], ada.id);
    });

    it('off: the sign-in sets no session, and a cookie of before answers nothing', async () => {
      const browser = await signedIn(ada);
      await settings({ sso_session: 'off' });
      asksToSignIn(await authorize(browser));
      await refusedSilently(await authorize(browser, { prompt: 'none' }), 'authorize.login_required');
      const fresh = openBrowser();
      await signIn(fresh, ada);
      assert.deepEqual(
        [...fresh.cookies.keys()].filter((name) => name.startsWith('gh-sso')),
        [],
      );
      await settings({});
    });

    it('the cookie: per tenant, HttpOnly, Lax, without an age for `browser`, with the absolute one else, and new at every sign-in', async () => {
      const lineOf = async (browser: TestBrowser): Promise<string> => {
        const login = asksToSignIn(await authorize(browser, { prompt: 'login' }));
        const lines: string[] = [];
        const watched: TestBrowser = {
          cookies: browser.cookies,
          send: async (url, init) => {
            const response = await browser.send(url, init);
            lines.push(...response.headers.getSetCookie().filter((line) => line.includes('gh-sso')));
            return response;
          },
        };
        await signInAt(watched, login, ada);
        assert.equal(lines.length, 1);
        return lines[0] ?? '';
      };
      const browser = openBrowser();
      const first = await lineOf(browser);
      assert.match(first, /^gh-sso-sso=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
      assert.notEqual((await lineOf(browser)).split(';')[0], first.split(';')[0]);
      await settings({ sso_session: { idle_seconds: 600, absolute_seconds: 1200 } });
      assert.match(await lineOf(openBrowser()), /; Path=\/; Max-Age=1200; HttpOnly/);
      await settings({});
    });

    it('idle and absolute ends, each extended by use or not', async () => {
      await settings({ sso_session: { idle_seconds: 600, absolute_seconds: 1000 } });
      const browser = await signedIn(ada);
      await server.clock.advance(500_000);
      assert.ok(locationOf(await authorize(browser)).searchParams.has('code'));
      await server.clock.advance(430_000); // used less than ten minutes ago
      assert.ok(locationOf(await authorize(browser)).searchParams.has('code'));
      await server.clock.advance(90_000); // past the absolute end
      asksToSignIn(await authorize(browser));
      const idle = await signedIn(ada);
      await server.clock.advance(601_000);
      asksToSignIn(await authorize(idle));
      await settings({});
    });

    it('prompt=login, max_age=0 and an exceeded max_age ask again; an age within max_age does not', async () => {
      const browser = await signedIn(ada);
      await server.clock.advance(100_000);
      for (const changes of [{ prompt: 'login' }, { max_age: '0' }, { max_age: '99' }] as const) {
        asksToSignIn(await authorize(browser, changes));
        assert.equal(
          errorOf(locationOf(await authorize(browser, { ...changes, prompt: 'none' }))),
          'prompt' in changes ? null : 'login_required',
        );
      }
      const redirect = locationOf(await authorize(browser, { max_age: '300' }));
      await claimsOf(redirect); // and the exchange counts from now, not from the sign-in
      const again = await signIn(browser, ada, { max_age: '0' });
      await claimsOf(again);
    });

    it('id_token_hint names the account: hers is answered, another signing in is login_required, a foreign token is refused', async () => {
      const browser = openBrowser();
      const tokens = await tokensOf(await exchange(tenant, client, (await signIn(browser, ada)).searchParams.get('code') ?? ''));
      const hint = { id_token_hint: tokens.id_token ?? '' };
      assert.ok(locationOf(await authorize(browser, hint)).searchParams.has('code'));
      const other = openBrowser();
      const bob = await createUser(server.gatehouse.services, tenant);
      assert.equal(errorOf(locationOf(await authorize(other, { ...hint, prompt: 'none' }))), 'login_required');
      assert.equal(errorOf(await signIn(other, bob, hint)), 'login_required');
      assert.ok((await signIn(openBrowser(), ada, hint)).searchParams.has('code'));
      const foreign = await createClient(server.gatehouse.services, tenant);
      for (const [of, text] of [
        [foreign, hint.id_token_hint],
        [client, 'x.y.z'],
      ] as const)
        await assertRefusal(await authorize(browser, { id_token_hint: text }, of), 'authorize.invalid_request', {
          text: 'id_token_hint is not an ID token of this client.',
        });
    });

    it('several accounts are chosen from; login_hint picks; select_account asks even for one', async () => {
      const bob = await createUser(server.gatehouse.services, tenant);
      const browser = await signedIn(ada);
      const one = asksToSignIn(await authorize(browser, { prompt: 'select_account' }));
      const shown = (await (await browser.send(one)).json()) as { state: string; accounts: { id: string; email: string }[] };
      assert.equal(shown.state, 'account');
      assert.deepEqual(
        shown.accounts.map(({ email }) => email),
        [ada.email],
      );
      await signInAt(browser, one, bob);
      await refusedSilently(await authorize(browser, { prompt: 'none' }), 'authorize.account_selection_required');
      const login = asksToSignIn(await authorize(browser));
      const both = (await (await browser.send(login)).json()) as typeof shown;
      assert.deepEqual(new Set(both.accounts.map(({ email }) => email)), new Set([ada.email, bob.email]));
      await assertRefusal(
        await browser.send(`${login}/account`, { method: 'POST', body: new URLSearchParams({ account: 'nobody' }) }),
        'login.invalid_request',
        { kind: 'account', text: 'account: expected one of the accounts shown.' },
      );
      const page = await (await browser.send(login, { headers: { accept: 'text/html' } })).text();
      assert.match(page, /id="other-account"/);
      const picked = both.accounts.find(({ email }) => email === ada.email);
      assert.deepEqual(await step(browser, login, 'account', { account: picked?.id ?? '' }), { state: 'approved' });
      assert.equal((await claimsOf(new URL((await step(browser, login, 'finish'))['redirect_to'] ?? '')))['sub'], ada.id);
      assert.equal((await claimsOf(locationOf(await authorize(browser, { login_hint: bob.email }))))['sub'], bob.id);
      asksToSignIn(await authorize(browser, { login_hint: 'somebody.else@example.com' }));
    });

    it('a session too weak for acr_values is raised by the same person, and prompt=none says interaction_required', async () => {
      const browser = await signedIn(ada);
      await refusedSilently(await authorize(browser, { acr_values: 'phone', prompt: 'none' }), 'authorize.interaction_required');
      const login = asksToSignIn(await authorize(browser, { acr_values: 'phone' }));
      const now = (await (await browser.send(login)).json()) as { state: string; methods: string[] };
      assert.deepEqual([now.state, now.methods], ['choose', ['phone']]);
      assert.ok(locationOf(await authorize(browser, { acr_values: 'otp' })).searchParams.has('code'));
    });

    it('consent is asked for from a session, remembered, and consent_required for prompt=none', async () => {
      const asking = await createClient(server.gatehouse.services, tenant, { requireConsent: true });
      const browser = await signedIn(ada);
      await refusedSilently(await authorize(browser, { prompt: 'none' }, asking), 'authorize.consent_required');
      const login = asksToSignIn(await authorize(browser, {}, asking));
      const now = (await (await browser.send(login)).json()) as { state: string; consent: object };
      assert.deepEqual([now.state, now.consent], ['approved', { scopes: scope.split(' ') }]);
      const redirect = new URL((await step(browser, login, 'finish'))['redirect_to'] ?? '');
      assert.equal((await claimsOf(redirect, asking))['sub'], ada.id);
      assert.ok(locationOf(await authorize(browser, { prompt: 'none' }, asking)).searchParams.has('code'));
      asksToSignIn(await authorize(browser, { prompt: 'consent' }, asking));
    });

    it('a cross-site post brings no cookie: the sign-in page answers, silently for prompt=none', async () => {
      const browser = await signedIn(ada);
      const post = (changes: Readonly<Record<string, string>>): Promise<Response> =>
        fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize`, {
          method: 'POST',
          body: query(changes),
          redirect: 'manual',
          headers: { cookie: 'other=1' },
        });
      const open = async (response: Response): Promise<Response> => {
        const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';');
        browser.cookies.set(cookie.slice(0, cookie.indexOf('=')), cookie.slice(cookie.indexOf('=') + 1));
        return browser.send(asksToSignIn(response), { headers: { accept: 'text/html' } });
      };
      const silent = await open(await post({ prompt: 'none' }));
      assert.equal((await claimsOf(locationOf(silent)))['sub'], ada.id);
      assert.match(await (await open(await post({}))).text(), /\/finish" data-auto/);
      const stranger = await post({ prompt: 'none' });
      const refused = await fetch(asksToSignIn(stranger), {
        headers: { accept: 'text/html', cookie: (stranger.headers.get('set-cookie') ?? '').split(';')[0] ?? '' },
        redirect: 'manual',
      });
      assert.equal(errorOf(locationOf(refused)), 'login_required');
    });

    it('the gate and the state of the user are read again', async () => {
      const gated = await createClient(server.gatehouse.services, tenant, { accessPolicy: 'assigned' });
      const browser = await signedIn(ada);
      assert.equal(errorOf(locationOf(await authorize(browser, {}, gated))), 'access_denied');
      await (await manager()).call('POST', `/users/${ada.id}/suspend`, {});
      asksToSignIn(await authorize(browser));
      await (await manager()).call('POST', `/users/${ada.id}/activate`, {});
      asksToSignIn(await authorize(browser));
    });

    it('worth nothing: a planted cookie after the next sign-in, two cookies of the name, another tenant, a computer of others', async () => {
      const attacker = await signedIn(await createUser(server.gatehouse.services, tenant));
      const planted = attacker.cookies.get('gh-sso-sso') ?? '';
      const victim = openBrowser();
      victim.cookies.set('gh-sso-sso', planted);
      await signIn(victim, ada, { prompt: 'login' });
      assert.notEqual(victim.cookies.get('gh-sso-sso'), planted);
      asksToSignIn(await authorize(attacker));
      const own = await signedIn(ada);
      const twice = `gh-sso-sso=${own.cookies.get('gh-sso-sso')}; gh-sso-sso=${own.cookies.get('gh-sso-sso')}`;
      asksToSignIn(await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query()}`, { headers: { cookie: twice }, redirect: 'manual' }));
      const careful = openBrowser();
      await signInAt(careful, asksToSignIn(await authorize(careful)), ada, { not_my_computer: 'on' });
      assert.equal(careful.cookies.has('gh-sso-sso'), false);
    });

    it('at most five accounts a browser: the one used longest ago leaves', async () => {
      const browser = openBrowser();
      const users: TestUser[] = [];
      for (let count = 0; count < 6; count += 1) {
        users.push(await createUser(server.gatehouse.services, tenant));
        await signIn(browser, users[count]!, { prompt: 'login' });
      }
      asksToSignIn(await authorize(browser, { login_hint: users[0]!.email }));
      for (const user of users.slice(1))
        assert.equal((await claimsOf(locationOf(await authorize(browser, { login_hint: user.email }))))['sub'], user.id);
    });
  });
}
