// What ends single sign-on sessions (design 14, 1), and the setting that allows them.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { createUser, type TestUser } from '../support/fixtures.ts';
import { exchange, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { openSsoWorld } from '../support/sso.ts';

for (const database of databases) {
  describe(`The ends of single sign-on sessions on ${database}`, async () => {
    const world = await openSsoWorld(database);
    const { settings, authorize, locationOf, signIn, signedIn, manager, asksToSignIn, signOutButton, server, tenant, client } = world;
    let ada: TestUser;
    after(() => server.close());
    beforeEach(async () => {
      ada = await createUser(server.gatehouse.services, tenant);
    });

    const codeOf = (redirect: URL): string => redirect.searchParams.get('code') ?? '';

    it('logout ends the session, its unused codes and its online grants; offline access stays', async () => {
      const browser = openBrowser();
      const code = (redirect: URL): string => redirect.searchParams.get('code') ?? '';
      const first = await tokensOf(await exchange(tenant, client, code(await signIn(browser, ada))));
      const offline = await tokensOf(await exchange(tenant, client, code(locationOf(await authorize(browser)))));
      const online = await tokensOf(await exchange(tenant, client, code(locationOf(await authorize(browser, { scope: 'openid' })))));
      const unused = code(locationOf(await authorize(browser)));
      const out = await browser.send(
        `${tenant.baseUrl}/v1/idp/oidc/logout?${new URLSearchParams({ id_token_hint: first.id_token ?? '' })}`,
      );
      assert.equal(out.status, 200);
      asksToSignIn(await authorize(browser));
      await assertRefusal(await exchange(tenant, client, unused), 'token.code_invalid');
      const userinfo = (token: string | undefined): Promise<Response> =>
        fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${token}` } });
      await assertRefusal(await userinfo(first.access_token), 'userinfo.unauthorized', { fields: { reason: 'token_revoked' } });
      await assertRefusal(await userinfo(online.access_token), 'userinfo.unauthorized', { fields: { reason: 'token_revoked' } });
      assert.equal((await userinfo(offline.access_token)).status, 200);
    });

    /** Of a sign-in or a session, for an application without offline access. */
    const idTokenOf = async (redirect: URL): Promise<string> =>
      (await tokensOf(await exchange(tenant, client, codeOf(redirect)))).id_token ?? '';
    const logOut = async (browser: TestBrowser, hint: string): Promise<void> => {
      const out = await browser.send(`${tenant.baseUrl}/v1/idp/oidc/logout?${new URLSearchParams({ id_token_hint: hint })}`);
      assert.equal(out.status, 200);
    };
    it('logout days after the last token ends the session all the same, when nothing is left of the grant', async () => {
      const month = 30 * 86_400;
      await settings({ sso_session: { idle_seconds: month, absolute_seconds: month } });
      const browser = openBrowser();
      const hint = await idTokenOf(await signIn(browser, ada, { scope: 'openid' }));
      await server.clock.advance(3 * 86_400_000);
      await server.gatehouse.services.jobs.runNow('purge');
      assert.ok(codeOf(locationOf(await authorize(browser))));
      await logOut(browser, hint);
      asksToSignIn(await authorize(browser));
      await settings({});
    });
    it('logout ends the session of the browser that asks, where the hint is of an earlier one; not that of somebody else', async () => {
      const hint = await idTokenOf(await signIn(openBrowser(), ada, { scope: 'openid' }));
      const again = await signedIn(ada);
      const bob = await signedIn(await createUser(server.gatehouse.services, tenant));
      for (const browser of [again, bob]) await logOut(browser, hint);
      asksToSignIn(await authorize(again));
      assert.ok(codeOf(locationOf(await authorize(bob))));
    });

    it('a logout without hint offers a button that ends the sessions of this browser, and only from our own page', async () => {
      const browser = await signedIn(ada);
      const press = await signOutButton(browser);
      await assertRefusal(await press('https://evil.example'), 'logout.invalid_request');
      assert.ok(locationOf(await authorize(browser)).searchParams.has('code'));
      const cookie = browser.cookies.get('gh-sso-sso') ?? '';
      assert.equal((await press(new URL(tenant.baseUrl).origin)).status, 200);
      assert.equal(browser.cookies.has('gh-sso-sso'), false);
      browser.cookies.set('gh-sso-sso', cookie);
      asksToSignIn(await authorize(browser));
    });

    it('administrators list and end sessions of browsers; unknown ones are 404', async () => {
      const browser = await signedIn(ada);
      const list = async (): Promise<Record<string, unknown>[]> =>
        ((await (await (await manager()).call('GET', `/users/${ada.id}/browser-sessions`)).json()) as { items: Record<string, unknown>[] })
          .items;
      const [session] = await list();
      assert.deepEqual(Object.keys(session ?? {}), [
        'id',
        'user_id',
        'acr',
        'amr',
        'ip',
        'user_agent',
        'signed_in_at',
        'last_used_at',
        'expires_at',
      ]);
      assert.equal(session?.['acr'], 'otp');
      await assertRefusal(await (await manager()).call('DELETE', `/users/${ada.id}/browser-sessions/nothing`), 'management.not_found');
      assert.equal((await (await manager()).call('DELETE', `/users/${ada.id}/browser-sessions/${session?.['id']}`)).status, 204);
      assert.deepEqual(await list(), []);
      asksToSignIn(await authorize(browser));
      const again = await signedIn(ada);
      assert.equal((await (await manager()).call('DELETE', `/users/${ada.id}/browser-sessions`)).status, 204);
      asksToSignIn(await authorize(again));
    });

    it('the setting: bounds, order, and the switch of before', async () => {
      const set = async (value: unknown): Promise<Response> => (await manager()).call('PATCH', '/settings', { sso_session: value });
      const seconds = { idle_seconds: 60, absolute_seconds: 90 * 86_400 }; // ssoSecondsMin, ssoSecondsMax
      for (const value of ['browser', seconds]) {
        const answer = await set(value);
        assert.equal(answer.status, 200);
        assert.deepEqual(((await answer.json()) as Record<string, unknown>)['sso_session'], value);
      }
      assert.equal(((await (await set(false)).json()) as Record<string, unknown>)['sso_session'], 'off');
      for (const value of [
        true,
        'on',
        { ...seconds, idle_seconds: 59 },
        { ...seconds, absolute_seconds: 90 * 86_400 + 1 },
        { idle_seconds: 61, absolute_seconds: 60 },
      ])
        assert.equal((await set(value)).status, 400, JSON.stringify(value));
      await settings({});
    });
  });
}
