// Pages of the console's first days in Chromium: accessible in light and dark from 320 px on, within the policy, usable without
// scripts. Screenshots go where GATEHOUSE_TEST_SCREENSHOTS says.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { createConsoleTenant, signInInBrowser } from '../support/console.ts';
import { fillTenant } from '../support/console-pages.ts';
import { arrivalCodeOf } from '../support/mailbox.ts';
import type { Managed } from '../support/management.ts';
import { assertAccessible, inViews, keepScreenshot, narrowView, openWatched } from '../support/page-check.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

if (hasChromium)
  describe('first days at the console in Chromium', () => {
    let server: TestServer;
    let browser: Browser;
    before(async () => {
      server = await startTestServer('sqlite');
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    const open = async (options: BrowserContextOptions = {}): Promise<{ page: Page; tenant: Managed; seen: readonly string[] }> => {
      const { tenant, email } = await createConsoleTenant(server);
      const { page, seen } = await openWatched(browser, new URL(server.url).origin, options);
      await signInInBrowser(server, page, { tenant, email }, { withButton: options.javaScriptEnabled === false });
      return { page, tenant, seen };
    };

    const check = async (page: Page, name: string): Promise<void> => {
      await inViews(page, 'all', async (view) => {
        await assertAccessible(page, `${name}, ${view}`);
        await keepScreenshot(page, `console-${name}-${view}`);
      });
      await page.setViewportSize(narrowView);
      await assertAccessible(page, `${name}, 320 px`);
      await page.setViewportSize({ width: 1280, height: 900 });
    };

    it('the pages of an application', async () => {
      const { page, tenant, seen } = await open();
      const { client } = await fillTenant(server, tenant, 'Engineers');
      for (const tab of ['', 'credentials', 'sign-in', 'tokens', 'logout', 'access']) {
        await page.goto(`${tenant.baseUrl}/console/clients/${client}/${tab}`.replace(/\/$/, ''));
        await check(page, `application-${tab === '' ? 'settings' : tab}`);
      }
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('the overview with its first steps, and the page that invites', async () => {
      const { page, tenant, seen } = await open();
      await check(page, 'overview-first');
      await page.click('#next-step');
      await page.waitForURL('**/console/mail/arrival');
      await check(page, 'mail-arrival');
      await page.click('#send');
      await page.waitForSelector('#code');
      await check(page, 'mail-arrival-sent');
      await page.fill('#code', await arrivalCodeOf(server, `admin@${tenant.slug}.example`));
      await page.click('#it-arrived');
      await page.waitForSelector('#arrived');
      await check(page, 'mail-arrived');
      await page.goto(`${tenant.baseUrl}/console`);
      await page.click('#next-step');
      await page.waitForURL('**/console/clients/new');
      await fillTenant(server, tenant, 'Engineers');
      await page.goto(`${tenant.baseUrl}/console`);
      await check(page, 'overview');
      await page.goto(`${tenant.baseUrl}/console/users`);
      await check(page, 'people');
      await page.click('#primary');
      await page.waitForURL('**/console/users/invite');
      await check(page, 'invite');
      await page.fill('#field-emails', 'one@invited.example\ntwo@invited.example');
      await page.click('#invite-link');
      await page.waitForSelector('#secret');
      await check(page, 'invited');
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('without scripts: scopes are ticked, PAR is required, the delivery of CIBA chosen, and a logout address typed', async () => {
      const { page, tenant, seen } = await open({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
      const { client } = await fillTenant(server, tenant, 'Engineers');
      await page.goto(`${tenant.baseUrl}/console/clients/${client}`);
      await page.click('nav.tabs a:text-is("Sign-in")');
      await page.check('input[name=scopes][value=email]');
      await page.click('summary:has-text("Management API and SCIM")');
      await page.check('input[name=scopes][value="users:read"]');
      await page.check('#field-require_par');
      await page.check('input[value="urn:openid:params:grant-type:ciba"]');
      await page.selectOption('#field-backchannel_token_delivery_mode', 'poll');
      await page.click('#save');
      assert.equal(await page.textContent('#notice'), 'Engineers is saved.');
      await page.click('nav.tabs a:text-is("Logout")');
      await page.fill('#field-backchannel_logout_uri', 'https://engineers.example/out');
      await page.click('#save');
      const saved = await tenant.make('GET', `/clients/${client}`);
      assert.deepEqual(
        ['scopes', 'require_par', 'backchannel_token_delivery_mode', 'backchannel_logout_uri', 'access_policy'].map((name) => saved[name]),
        [['email', 'users:read'], true, 'poll', 'https://engineers.example/out', 'assigned'],
      );
      assert.deepEqual(seen, []);
      await page.context().close();
    });
  });
