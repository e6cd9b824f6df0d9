// The console in Chromium: every page is clean by axe in both schemes and widths, within its policy, without scripts; and an
// administrator makes a client by keyboard and mouse as people do.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { createConsoleTenant } from '../support/console.ts';
import { pinOf } from '../support/mailbox.ts';
import type { Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pages = [
  '',
  '/clients',
  '/clients/new',
  '/users',
  '/users/new',
  '/resources',
  '/groups',
  '/service-providers',
  '/signing-keys',
  '/settings',
  '/events',
  '/explain',
];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

if (hasChromium)
  describe('Console in Chromium', () => {
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

    /** Signs an administrator of a fresh tenant in; `seen` collects policy violations, page errors and requests to elsewhere. */
    const open = async (
      options: BrowserContextOptions,
    ): Promise<{ readonly page: Page; readonly tenant: Managed; readonly seen: string[] }> => {
      const { tenant, email } = await createConsoleTenant(server);
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
      await page.goto(`${tenant.baseUrl}/console`);
      await page.fill('#identifier', email);
      await page.press('#identifier', 'Enter');
      await page.fill('#pin', await pinOf(server, email));
      await page.press('#pin', 'Enter');
      if (options.javaScriptEnabled === false) await page.click('#continue');
      await page.waitForURL('**/console');
      return { page, tenant, seen };
    };

    const widths = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } };
    for (const [width, viewport] of Object.entries(widths))
      for (const colorScheme of ['light', 'dark'] as const)
        it(`axe finds nothing on any page: ${width}, ${colorScheme}`, async () => {
          const { page, tenant, seen } = await open({ viewport, colorScheme, bypassCSP: true });
          await tenant.make('POST', '/groups', { display_name: 'Engineers' });
          for (const path of pages) {
            await page.goto(`${tenant.baseUrl}/console${path}`);
            await page.evaluate(axeSource);
            const violations = (await page.evaluate('axe.run().then((result) => result.violations)')) as readonly Violation[]; // axe's result
            assert.deepEqual(
              violations.map((violation) => [path, violation.id, violation.nodes[0]?.html]),
              [],
            );
          }
          assert.deepEqual(seen, []);
          await page.context().close();
        });

    it('an administrator makes a client without scripts, within the policy', async () => {
      const { page, tenant, seen } = await open({ javaScriptEnabled: false });
      await page.click('nav >> text=Clients');
      await page.click('#new');
      await page.fill('#field-name', 'Harbour Analytics');
      await page.fill('#field-redirect_uris', 'https://harbour.example/callback');
      await page.click('#save');
      assert.match((await page.textContent('#notice')) ?? '', /client_secret: [A-Za-z0-9_-]{43}/);
      await page.click('nav >> text=Clients');
      assert.ok(await page.isVisible('text=Harbour Analytics'));
      await page.click('#sign-out');
      assert.equal(await page.textContent('h1'), 'Signed out');
      assert.deepEqual(seen, []);
      assert.ok(tenant.baseUrl.startsWith(server.url));
      await page.context().close();
    });
  });
