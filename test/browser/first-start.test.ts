// A newcomer's first sign-in in a real browser: the page of links, the tester, the code page, the mailbox, the claims. Each page is
// accessible, as wide as its window from 320 px on, and silent to other origins. Screenshots go where GATEHOUSE_TEST_SCREENSHOTS says.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { assertAccessible, inViews, openWatched } from '../support/page-check.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const screenshots = process.env['GATEHOUSE_TEST_SCREENSHOTS'];

if (hasChromium)
  describe('the first sign-in in Chromium', () => {
    let server: TestServer;
    let browser: Browser;
    before(async () => {
      server = await startTestServer('sqlite', { flags: { dev: '0' }, withSample: true });
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    const check = async (page: Page, name: string): Promise<void> => {
      await inViews(page, 'all', async (view) => {
        await assertAccessible(page, `${name}, ${view}`);
        if (screenshots !== undefined)
          await page.screenshot({ path: join(screenshots, `first-${name}-${view}.png`.replaceAll(' ', '-')), fullPage: true });
      });
      await page.setViewportSize({ width: 320, height: 700 });
      await assertAccessible(page, `${name}, 320 px`);
      await page.setViewportSize({ width: 1280, height: 800 });
    };

    it('leads from the page of links by the mailed code to the claims', async () => {
      const { page, seen } = await openWatched(browser, server.url);
      await page.goto(`${server.url}/t/sample/`);
      await check(page, 'home');
      await page.click('text=Try a sign-in');
      await check(page, 'try');
      assert.equal(await page.inputValue('#login-hint'), 'ada@example.com');
      await page.click('#start');
      await page.click('#continue');
      await page.click('#use-email');
      await page.waitForSelector('#pin');
      await check(page, 'code');
      const [mailbox] = await Promise.all([page.context().waitForEvent('page'), page.click('#dev-mail')]);
      await mailbox.waitForSelector('article');
      await check(mailbox, 'mail');
      const [, pin] = /\b(\d{6})\b/.exec(await mailbox.innerText('article p.mono'))!;
      await mailbox.close();
      await page.fill('#pin', pin!);
      await page.click('#verify');
      await page.waitForURL('**/try/result');
      assert.equal(await page.textContent('h1'), 'Signed in as Ada Lovelace');
      await page.click('summary >> nth=0');
      await check(page, 'claims');
      await page.click('#sign-out');
      assert.ok(await page.waitForSelector('#signed-out'));
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('an empty mailbox says what to do', async () => {
      const empty = await startTestServer('sqlite', { flags: { dev: '0' } });
      try {
        const { page } = await openWatched(browser, empty.url);
        await page.goto(`${empty.url}/dev/mail`);
        assert.match((await page.textContent('main')) ?? '', /No mail yet/);
        await check(page, 'no-mail');
        await page.context().close();
      } finally {
        await empty.close();
      }
    });
  });
