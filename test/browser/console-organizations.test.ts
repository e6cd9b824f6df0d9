// The pages of one organisation in the console, in Chromium: clean by axe in both widths and schemes, within their policy, no wider than the
// narrowest screen, under 60 kB; and a link that was made can be copied.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { pageBytesMax } from '../../journeys/page-bounds.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { createConsoleTenant, signInInBrowser } from '../support/console.ts';
import { type ConsoleIds, fillTenant, pagesOf } from '../support/console-pages.ts';
import type { Managed } from '../support/management.ts';
import { assertAccessible, assertFits, inViews, keepScreenshot, narrowView, openWatched, type WatchedPage } from '../support/page-check.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

if (hasChromium)
  describe('Organisations of the console in Chromium', () => {
    let server: TestServer;
    let browser: Browser;
    let tenant: Managed;
    let ids: ConsoleIds;
    let watched: WatchedPage;
    before(async () => {
      server = await startTestServer('sqlite');
      browser = await launchChromium();
      const made = await createConsoleTenant(server, { role: 'user', admin_roles: ['owner'] });
      tenant = made.tenant;
      ids = await fillTenant(server, tenant, 'Acme Manufacturing and Trading');
      await tenant.make('PATCH', `/organizations/${ids.organization}`, { domains: ['acme.example'] });
      watched = await openWatched(browser, server.url, { bypassCSP: true });
      const { page } = watched;
      await signInInBrowser(server, page, made);
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    const look = async (where: string): Promise<void> => {
      const { page } = watched;
      assert.ok(Buffer.byteLength(await page.content()) <= pageBytesMax, `${where}: ${Buffer.byteLength(await page.content())} bytes`);
      await inViews(page, 'all', async (view) => {
        await assertAccessible(page, `${where} ${view}`);
        await keepScreenshot(page, `console ${where} ${view}`);
      });
      const before = page.viewportSize();
      await page.setViewportSize(narrowView);
      await assertFits(page, where);
      if (before !== null) await page.setViewportSize(before);
    };

    it('every page of one', async () => {
      const own = `/organizations/${ids.organization}`;
      for (const path of ['/organizations', ...pagesOf(ids).filter((one) => one.startsWith(own))]) {
        await watched.page.goto(`${tenant.baseUrl}/console${path}`);
        await look(path.replace(ids.organization, 'one').replace(ids.user, 'person'));
      }
      assert.deepEqual(watched.seen, []);
    });

    it('a link of either kind is shown once made, with a button that copies it', async () => {
      const { page } = watched;
      const own = `${tenant.baseUrl}/console/organizations/${ids.organization}`;
      await page.goto(`${own}/setup-links`);
      await page.click('#make-link');
      await page.waitForSelector('#setup-link + .copier');
      await look('set-up link made');
      await page.goto(`${own}/invitations`);
      await page.fill('#email', 'ada@acme.example');
      await page.click('#invite-link');
      await page.waitForSelector('#invitation-link + .copier');
      await look('invitation made');
    });
  });
