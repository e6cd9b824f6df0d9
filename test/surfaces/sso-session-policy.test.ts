// Sessions of browsers when the setting changes, when they end while a page waits on them, and for an acr that nobody here can meet
// (issue 31, 9 and 10).
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, type TestUser } from '../support/fixtures.ts';
import { assertRefusal } from '../support/refusal.ts';
import { openSsoWorld } from '../support/sso.ts';

const hour = 3600;

for (const database of databases) {
  describe(`The setting of single sign-on sessions on ${database}`, async () => {
    const world = await openSsoWorld(database);
    const { settings, authorize, locationOf, step, signIn, signInAt, signedIn, claimsOf, asksToSignIn, manager, server, tenant } = world;
    let ada: TestUser;
    beforeEach(async () => {
      ada = await createUser(server.gatehouse.services, tenant);
    });
    after(() => server.close());
    const set = async (sso: unknown): Promise<void> => {
      const response = await (await manager()).call('PATCH', '/settings', { sso_session: sso });
      assert.equal(response.status, 200, (await response.text()) + server.logLines.join());
    };
    const isSignedIn = async (browser: TestBrowser): Promise<boolean> =>
      locationOf(await authorize(browser, { prompt: 'none' })).searchParams.has('code');
    const lives = (idle: number, absolute: number): object => ({ idle_seconds: idle, absolute_seconds: absolute });

    it('off ends the sessions that are there, and on again revives none', async () => {
      const browser = await signedIn(ada);
      assert.ok(await isSignedIn(browser));
      await set('off');
      await set('browser');
      assert.equal(await isSignedIn(browser), false);
    });

    it('a shorter life holds for sessions that are there, idle and absolute; a longer one does not lengthen them', async () => {
      await set(lives(8 * hour, 24 * hour));
      const browser = await signedIn(ada);
      await server.clock.advance(2 * hour * 1000);
      assert.ok(await isSignedIn(browser));
      await set(lives(hour, 24 * hour));
      await server.clock.advance((hour - 5) * 1000);
      assert.ok(await isSignedIn(browser), 'an hour since its last use is not over');
      await set(lives(8 * hour, 24 * hour));
      await server.clock.advance((hour + 5) * 1000);
      assert.equal(await isSignedIn(browser), false, 'its own idle time stays the shorter one');

      await set(lives(8 * hour, 24 * hour));
      const other = await signedIn(ada);
      await server.clock.advance(2 * hour * 1000);
      await set(lives(hour, hour));
      assert.equal(await isSignedIn(other), false, 'older than it may become');
      await settings({});
    });

    it('a change of another setting leaves sessions alone', async () => {
      const browser = await signedIn(ada);
      const response = await (await manager()).call('PATCH', '/settings', { login_lifetime_seconds: 600 });
      assert.equal(response.status, 200, await response.text());
      assert.ok(await isSignedIn(browser));
      await settings({});
    });

    it('a page that waits on a session which ended asks who it is', async () => {
      const asking = await createClient(server.gatehouse.services, tenant, { requireConsent: true });
      const browser = await signedIn(ada);
      const login = asksToSignIn(await authorize(browser, {}, asking));
      const stateOf = async (): Promise<string> => ((await (await browser.send(login)).json()) as { state: string }).state;
      assert.equal(await stateOf(), 'approved');
      await set('off');
      await set('browser');
      await assertRefusal(await browser.send(`${login}/finish`, { method: 'POST' }), 'login.conflict');
      const page = await browser.send(login, { headers: { accept: 'text/html' } });
      assert.match(await page.text(), /id="identifier"/);
      assert.equal(await stateOf(), 'identify');
      assert.equal((await claimsOf(await signInAt(browser, login, ada), asking))['sub'], ada.id);
    });

    it('so does one with a picked account, with no page in between', async () => {
      const bob = await createUser(server.gatehouse.services, tenant);
      const browser = await signedIn(ada);
      await signIn(browser, bob, { prompt: 'login' });
      const login = asksToSignIn(await authorize(browser, { prompt: 'select_account' }));
      const { accounts } = (await (await browser.send(login)).json()) as { accounts: readonly { id: string }[] };
      assert.equal((await step(browser, login, 'account', { account: accounts[0]?.id ?? '' }))['state'], 'approved');
      await set('off');
      await set('browser');
      await assertRefusal(await browser.send(`${login}/finish`, { method: 'POST' }), 'login.conflict');
      assert.equal((await step(browser, login, 'identify', { identifier: bob.email }))['state'], 'choose');
      assert.equal(((await (await browser.send(login)).json()) as { state: string }).state, 'choose');
    });

    it('OpenID Connect Core 5.5.1.1: a voluntary acr that no method here meets is answered with the sign-in’s own', async () => {
      const asked = [
        { acr_values: 'phr' },
        { claims: JSON.stringify({ id_token: { acr: { values: ['phr'] } } }) },
        { acr_values: 'phr urn:x' },
      ];
      for (const changes of asked) {
        ada = await createUser(server.gatehouse.services, tenant); // a mailbox takes few codes an hour
        const fresh = await signIn(openBrowser(), ada, changes);
        assert.equal((await claimsOf(fresh))['acr'], 'otp', JSON.stringify(changes));
        const browser = await signedIn(ada);
        const silent = locationOf(await authorize(browser, { ...changes, prompt: 'none' }));
        assert.equal((await claimsOf(silent))['acr'], 'otp', JSON.stringify(changes));
      }
      ada = await createUser(server.gatehouse.services, tenant);
      const essential = await authorize(await signedIn(ada), {
        claims: JSON.stringify({ id_token: { acr: { essential: true, values: ['phr'] } } }),
      });
      assert.equal(locationOf(essential).searchParams.get('error'), 'unmet_authentication_requirements');
      await settings({});
    });
  });
}
