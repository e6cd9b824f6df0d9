// The documents at /docs in Chromium: clean by axe in both schemes and widths, within their policy, without scripts, nothing wider
// than the screen, and readable by following links.
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { assertAccessible, inViews, openWatched, phoneView } from '../support/page-check.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const root = join(import.meta.dirname, '..', '..');
/** Decisions are short prose of one shape, and so are the pages of the API: one of them stands for all. */
const pages = globSync('docs/**/*.md', { cwd: root })
  .filter((file) => !/decisions\/(?!0001)|reference\/api\/(?!clients)/.test(file))
  .map((file) => (file === 'docs/README.md' ? '' : `/${file.replace(/^docs\//, '').replace(/\.md$/, '')}`));

/** Every kind of content, for the other widths and schemes: all pages share one style sheet. */
const some = ['', '/concepts', '/how-to/install', '/how-to/oidc-express', '/performance', '/quick-start'];

if (hasChromium)
  describe('Documents in Chromium', () => {
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

    it('axe finds nothing, and nothing is wider than the screen, in both widths and schemes', async () => {
      const { page, seen } = await openWatched(browser, server.url, { viewport: phoneView, colorScheme: 'light' });
      for (const path of pages) {
        await page.goto(`${server.url}/docs${path}`);
        if (some.includes(path)) await inViews(page, 'all', (view) => assertAccessible(page, `${path} ${view}`));
        else await assertAccessible(page, path);
      }
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('a reader gets from the first page to a how-to and back, without scripts', async () => {
      const { page, seen } = await openWatched(browser, server.url, { javaScriptEnabled: false });
      await page.goto(`${server.url}/docs`);
      assert.equal(await page.textContent('h1'), 'Gatehouse documentation');
      await page.click('main >> text=Express');
      assert.equal(new URL(page.url()).pathname, '/docs/how-to/oidc-express');
      assert.equal(await page.textContent('nav [aria-current]'), 'Your Express app');
      assert.ok(await page.isVisible('text=authorizationCodeGrant'));
      await page.click('main >> text=quick start');
      assert.equal(new URL(page.url()).hash, '#1-start-it');
      await page.click('.brand');
      assert.equal(await page.textContent('h1'), 'Gatehouse documentation');
      assert.deepEqual(seen, []);
      await page.context().close();
    });
  });
