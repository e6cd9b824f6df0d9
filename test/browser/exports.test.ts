// Lists saved as CSV in Chromium: with scripts how many rows came is counted and it can be stopped, without them the link saves the same
// file. What breaks off saves nothing.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Download, Page } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { createConsoleTenant, signInInBrowser } from '../support/console.ts';
import { createTestUser, type Managed } from '../support/management.ts';
import { assertAccessible, inViews, keepScreenshot, openWatched } from '../support/page-check.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

if (hasChromium)
  describe('Lists as CSV in Chromium', () => {
    let server: TestServer;
    let browser: Browser;
    let tenant: Managed;
    let email: string;
    const people = 230;
    before(async () => {
      server = await startTestServer('sqlite');
      browser = await launchChromium();
      ({ tenant, email } = await createConsoleTenant(server));
      for (let at = 1; at < people; at += 1)
        await createTestUser(tenant, `person${at}@list.example`, {
          display_name: at % 7 === 0 ? `A "quoted\nname", ${at}` : `Person ${at}`,
        });
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    const open = async (options: BrowserContextOptions = {}): Promise<{ readonly page: Page; readonly seen: readonly string[] }> => {
      const { page, seen } = await openWatched(browser, server.url, options);
      await signInInBrowser(server, page, { tenant, email }, { path: '/users' });
      await server.clock.advance(61_000);
      await server.gatehouse.services.activity.flush();
      return { page, seen };
    };
    const saved = async (page: Page): Promise<string> => {
      const [download] = await Promise.all([page.waitForEvent('download') as Promise<Download>, page.click('#csv')]);
      assert.equal(download.suggestedFilename(), 'people.csv');
      return readFile(await download.path(), 'utf8');
    };

    it('rows are counted while they come, also those with breaks in them, and the file is the one of the link', async () => {
      const { page, seen } = await open();
      assert.equal(await page.textContent('#csv'), `CSV of ${people}`);
      const counted = await saved(page);
      assert.equal(await page.textContent('#csv-end'), `${people} rows saved`);
      for (const id of ['csv-progress', 'csv-told', 'csv-stop']) assert.equal(await page.locator(`#${id}`).count(), 0, id);
      const plain = await (
        await browser.newContext({ javaScriptEnabled: false, storageState: await page.context().storageState() })
      ).newPage();
      await plain.goto(page.url());
      assert.equal(counted, await saved(plain));
      assert.ok(counted.includes(`"A ""quoted\nname"", 7"`));
      assert.deepEqual(seen, []);
      await page.context().close();
      await plain.context().close();
    });

    it('events are counted and can be stopped as lists are', async () => {
      const { page, seen } = await open();
      await page.goto(`${tenant.baseUrl}/console/events`);
      await page.route('**/console/events/export', () => undefined); // nothing comes
      await page.click('#csv');
      await page.click('#csv-stop');
      await page.waitForSelector('#csv-end:text-is("Stopped. Nothing was saved.")');
      await page.unroute('**/console/events/export');
      const [download] = await Promise.all([page.waitForEvent('download') as Promise<Download>, page.click('#csv')]);
      assert.equal(download.suggestedFilename(), 'events.csv');
      const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n').length;
      assert.ok(lines > people, String(lines));
      await page.waitForSelector(`#csv-end:text-is("${lines - 1} rows saved")`);
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('it is stopped, and goes on to save after that; what breaks off saves nothing and says so', async () => {
      const { page } = await open({ bypassCSP: true });
      await page.route('**/console/users/export', () => undefined); // nothing comes
      await page.click('#csv');
      await page.waitForSelector('#csv-stop');
      assert.equal(await page.textContent('#csv-told'), 'Getting ready');
      await inViews(page, 'all', async (view) => {
        await assertAccessible(page, `export ${view}`);
        await keepScreenshot(page, `console export ${view}`);
      });
      await page.click('#csv-stop');
      await page.waitForSelector('#csv-end:text-is("Stopped. Nothing was saved.")');
      await page.unroute('**/console/users/export');
      await page.route('**/console/users/export', (route) => route.abort('connectionreset'));
      await page.click('#csv');
      await page.waitForSelector('#csv-end:has-text("It broke off after 0 rows. Nothing was saved.")');
      await page.unroute('**/console/users/export');
      await saved(page);
      assert.equal(await page.textContent('#csv-end'), `${people} rows saved`);
      await page.context().close();
    });

    it('an answer that is no list is shown as the page it is', async () => {
      const { page } = await open();
      await page.context().clearCookies();
      await page.click('#csv');
      await page.waitForSelector('#identifier');
      await page.context().close();
    });
  });
