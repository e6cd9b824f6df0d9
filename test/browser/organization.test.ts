// The choice of an organisation in a real browser: clean by axe in both schemes and widths, by keyboard alone, and without scripts.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { createClient, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { approveByPin, beginLogin } from '../support/login.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { assertAccessible, inViews, keepScreenshot, openWatched } from '../support/page-check.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

if (hasChromium)
  describe('Choosing an organisation in Chromium', () => {
    let server: TestServer;
    let browser: Browser;
    let managed: Managed;
    let client: TestClient;
    before(async () => {
      server = await startTestServer('sqlite');
      browser = await launchChromium();
      managed = await createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
      await managed.make('POST', '/organizations', { name: 'acme', display_name: 'Acme Ltd' });
      const long = 'Globex Gesellschaft für ausgesprochen langlebige Bestellbücher und Lagerhaltung mbH';
      await managed.make('POST', '/organizations', { name: 'globex', display_name: long });
      await managed.make('POST', '/organizations', { name: `w${'o'.repeat(61)}w` });
      client = await createClient(server.gatehouse.services, await tenant(), {
        name: 'Order book',
        scopes: ['openid', 'organization'],
        redirectUris: [`${server.url}/docs`],
      });
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });
    const tenant = async () => (await server.gatehouse.services.tenants.bySlug(managed.slug))!;

    /** The chooser of somebody who is in all of them and has signed in. */
    const open = async (
      options: BrowserContextOptions,
    ): Promise<{ readonly page: Page; readonly seen: readonly string[]; readonly user: TestUser }> => {
      const user = await createUser(server.gatehouse.services, await tenant());
      const { items } = await managed.make<{ items: readonly { readonly id: string }[] }>('GET', '/organizations');
      for (const { id } of items) await managed.make('PUT', `/organizations/${id}/members/${user.id}`, {});
      const login = await beginLogin(server, await tenant(), client, { scope: 'openid organization', redirectUri: `${server.url}/docs` });
      await approveByPin(server, login, user.email);
      const { page, seen } = await openWatched(browser, server.url, options);
      const [name, value] = login.cookie.split('=') as [string, string];
      await page.context().addCookies([{ name, value, url: server.url, httpOnly: true, sameSite: 'Lax' }]);
      await page.goto(login.location);
      return { page, seen, user };
    };

    it('is clean in every view', async () => {
      const { page, seen } = await open({});
      await inViews(page, 'all', async (view) => {
        await assertAccessible(page, view);
        await keepScreenshot(page, `organization ${view}`);
      });
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('the pages of a customer with its brand and providers of its own are clean in every view, with long names too', async () => {
      const providers = ['one', 'two'].map((alias) => ({ alias, name: `The sign-in of ${'very '.repeat(8)}long-named works, ${alias}` }));
      for (const { alias, name } of providers)
        await managed.make('POST', '/identity-providers', {
          alias,
          name,
          kind: 'oidc',
          issuer: `https://${alias}.example`,
          client_id: 'x',
        });
      const { id: organizationId } = await managed.make<{ id: string }>('POST', '/organizations', {
        name: 'branded',
        identity_providers: ['one', 'two'],
        sign_in: 'own_providers',
        branding: { name: 'Branded Gesellschaft für Bestellbücher', accent: '#0a5c36' },
      });
      const login = await beginLogin(server, await tenant(), client, { redirectUri: `${server.url}/docs`, organizationId });
      const { page, seen } = await openWatched(browser, server.url, {});
      const [name, value] = login.cookie.split('=') as [string, string];
      await page.context().addCookies([{ name, value, url: server.url, httpOnly: true, sameSite: 'Lax' }]);
      await page.goto(login.location);
      for (const step of ['identify', 'choose']) {
        if (step === 'choose') {
          await page.fill('#identifier', 'ada@branded.example');
          await page.click('#continue');
          await page.waitForSelector('.who');
        }
        assert.equal(await page.locator('[id^="idp-"]').count(), 2, step);
        await inViews(page, 'all', async (view) => {
          await assertAccessible(page, view);
          await keepScreenshot(page, `customer ${step} ${view}`);
        });
      }
      assert.deepEqual(seen, []);
      assert.equal((await managed.call('DELETE', `/organizations/${organizationId}`)).status, 204);
      await page.context().close();
    });

    for (const javaScriptEnabled of [true, false])
      it(`by keyboard alone, scripts ${javaScriptEnabled ? 'on' : 'off'}`, async () => {
        const { page } = await open({ javaScriptEnabled });
        assert.equal(await page.locator('h1').textContent(), 'Choose an organisation');
        await page.locator('button.choice').nth(1).focus();
        await page.keyboard.press('Enter');
        if (!javaScriptEnabled) await page.click('#continue');
        await page.waitForURL(`${server.url}/docs?*`);
        assert.ok(new URL(page.url()).searchParams.has('code'));
        await page.context().close();
      });
  });
