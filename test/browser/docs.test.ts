// The documents at /docs in Chromium: clean by axe in both schemes and widths, within their policy, without scripts, nothing wider
// than the screen, and readable by following links.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const root = join(import.meta.dirname, '..', '..');
/** Decisions are short prose of one shape, and so are the pages of the API: one of them stands for all. */
const pages = globSync('docs/**/*.md', { cwd: root })
  .filter((file) => !/decisions\/(?!0001)|reference\/api\/(?!clients)/.test(file))
  .map((file) => (file === 'docs/README.md' ? '' : `/${file.replace(/^docs\//, '').replace(/\.md$/, '')}`));

/** Every kind of content, for the other widths and schemes: all pages share one style sheet. */
const some = ['', '/concepts', '/how-to/install', '/how-to/oidc-express', '/performance', '/quick-start'];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

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

    /** `seen` collects policy violations, page errors and requests to elsewhere. */
    const open = async (options: BrowserContextOptions): Promise<{ readonly page: Page; readonly seen: string[] }> => {
      const page = await (await browser.newContext({ reducedMotion: 'reduce', ...options })).newPage();
      const seen: string[] = [];
      page.on('console', (message) => {
        if (/Content Security Policy|Refused/.test(message.text())) seen.push(message.text());
      });
      page.on('pageerror', (error) => seen.push(String(error)));
      page.on('request', (request) => {
        const url = new URL(request.url());
        if (url.protocol !== 'data:' && url.origin !== server.url) seen.push(request.url());
      });
      return { page, seen };
    };

    const widths = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } };
    for (const [width, viewport] of Object.entries(widths))
      for (const colorScheme of ['light', 'dark'] as const)
        it(`axe finds nothing, and nothing is wider than the screen: ${width}, ${colorScheme}`, async () => {
          const { page, seen } = await open({ viewport, colorScheme });
          for (const path of width === 'phone' && colorScheme === 'light' ? pages : some) {
            await page.goto(`${server.url}/docs${path}`);
            await page.evaluate(axeSource);
            const violations = (await page.evaluate('axe.run().then((result) => result.violations)')) as readonly Violation[]; // axe's result
            assert.deepEqual(
              violations.map((violation) => [path, violation.id, violation.nodes[0]?.html]),
              [],
            );
            const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
            assert.equal(overflow, 0, `${path} is ${overflow} px too wide`);
          }
          assert.deepEqual(seen, []);
          await page.context().close();
        });

    it('a reader gets from the first page to a how-to and back, without scripts', async () => {
      const { page, seen } = await open({ javaScriptEnabled: false });
      await page.goto(`${server.url}/docs`);
      assert.equal(await page.textContent('h1'), 'Gatehouse documentation');
      await page.click('main >> text=Your Express app');
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
