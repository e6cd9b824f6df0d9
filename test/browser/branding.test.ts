// Branding in Chromium: an administrator uploads a logo, looks at the draft and publishes it; pictures that Chromium made are drawn after they
// were cleaned; every page is accessible in both themes and widths. Screenshots are written where GATEHOUSE_TEST_SCREENSHOTS says.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { createConsoleTenant, signInInBrowser } from '../support/console.ts';
import type { Managed } from '../support/management.ts';
import { assertAccessible, desktopView, keepScreenshot, openWatched, phoneView } from '../support/page-check.ts';
import { pngOf } from '../support/pictures.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

if (hasChromium)
  describe('Branding in Chromium', () => {
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

    const signIn = async (page: Page, tenant: Managed, email: string): Promise<void> => {
      await signInInBrowser(server, page, { tenant, email });
    };

    for (const [width, viewport] of Object.entries({ desktop: desktopView, phone: phoneView }))
      for (const colorScheme of ['light', 'dark'] as const)
        it(`logo, preview, publish without a script: ${width}, ${colorScheme}`, async () => {
          const { tenant, email } = await createConsoleTenant(server);
          const { page, seen } = await openWatched(browser, server.url, { viewport, colorScheme });
          await signIn(page, tenant, email);
          await page.goto(`${tenant.baseUrl}/console/branding`);
          await page.setInputFiles('#file', { name: 'logo.png', mimeType: 'image/png', buffer: pngOf(180, 48, { color: [200, 60, 20] }) });
          await page.click('#upload');
          await page.waitForSelector('#notice');
          await page.fill('[name=accent]', '#b3371b');
          await page.fill('[name=background]', '#fdf1ec');
          await page.fill('[name=background_dark]', '#1d0f0a');
          await page.fill('[name=corner_radius]', '6');
          await page.fill('[name=terms_url]', 'https://acme.example/terms');
          await page.click('#save-draft');
          await page.waitForSelector('#publish');
          await page.waitForLoadState('networkidle');
          const frame = page.frames().find((one) => one.url().includes('theme=dark'));
          await frame?.waitForSelector('h1');
          assert.equal(await frame?.evaluate("document.querySelector('img.logo').naturalWidth"), 180);
          assert.equal(await frame?.evaluate("getComputedStyle(document.querySelector('main')).backgroundColor"), 'rgb(22, 25, 37)');
          await keepScreenshot(page, `branding-${width}-${colorScheme}`);
          await page.click('#publish');
          await page.waitForSelector('#undo');
          await page.goto(`${tenant.baseUrl}/console/languages/en?step=pin`);
          await keepScreenshot(page, `languages-${width}-${colorScheme}`);
          const shown = await openWatched(browser, server.url, { viewport, colorScheme, bypassCSP: true });
          await shown.page.goto(`${tenant.baseUrl}/account`);
          await shown.page.waitForSelector('#identifier');
          assert.equal(await shown.page.evaluate("document.querySelector('img.logo').naturalWidth"), 180);
          await assertAccessible(shown.page, 'a branded sign-in');
          await keepScreenshot(shown.page, `sign-in-${width}-${colorScheme}`);
          assert.deepEqual([...seen, ...shown.seen], []);
          await page.context().close();
          await shown.page.context().close();
        });

    for (const [width, viewport] of Object.entries({ desktop: desktopView, phone: phoneView }))
      for (const colorScheme of ['light', 'dark'] as const)
        it(`a mail is worded and tested without a script: ${width}, ${colorScheme}`, async () => {
          const { tenant, email } = await createConsoleTenant(server);
          const { page, seen } = await openWatched(browser, server.url, { viewport, colorScheme, bypassCSP: true });
          await signIn(page, tenant, email);
          await page.goto(`${tenant.baseUrl}/console/mail`);
          await assertAccessible(page, 'the list of mails');
          await keepScreenshot(page, `mails-${width}-${colorScheme}`);
          await page.goto(`${tenant.baseUrl}/console/mail/invitation/en`);
          await page.fill('[name=subject]', 'Welcome to {{tenant}}');
          await page.fill('[name=body]', '# Welcome\n\n**Come in:** [Get started]({{link}})');
          await page.click('#save-draft');
          await page.waitForSelector('#publish');
          await page.waitForLoadState('networkidle');
          const frame = page.frames().find((one) => one.url().endsWith('/preview'));
          assert.equal(await frame?.innerText('h1'), 'Welcome');
          await keepScreenshot(page, `mail-${width}-${colorScheme}`);
          await assertAccessible(page, 'a mail');
          await page.fill('[name=to]', 'grace@people.example');
          await page.click('#send-test');
          await page.waitForSelector('#notice');
          assert.deepEqual(seen, []);
          await page.context().close();
        });

    it('pictures that Chromium made are drawn after they were cleaned', async () => {
      const { tenant } = await createConsoleTenant(server);
      const { page } = await openWatched(browser, server.url);
      await page.goto(`${tenant.baseUrl}/`);
      for (const type of ['image/png', 'image/jpeg', 'image/webp']) {
        const address = (await page.evaluate(
          `(() => { const canvas = document.createElement('canvas'); canvas.width = 60; canvas.height = 40; const pen = canvas.getContext('2d'); pen.fillStyle = '#c33'; pen.fillRect(5, 5, 30, 20); return canvas.toDataURL('${type}'); })()`,
        )) as string; // a data URL
        const answer = await fetch(`${tenant.managementApi}/images`, {
          method: 'POST',
          headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'image/png' },
          body: new Uint8Array(Buffer.from(address.split(',')[1]!, 'base64')),
        });
        const image = (await answer.json()) as { readonly type: string; readonly url: string };
        assert.deepEqual([answer.status, image.type], [201, type]);
        const size = await page.evaluate(
          `new Promise((done) => { const image = new Image(); image.onload = () => done([image.naturalWidth, image.naturalHeight]); image.onerror = () => done('broken'); image.src = ${JSON.stringify(image.url)}; })`,
        );
        assert.deepEqual(size, [60, 40], type);
      }
      await page.context().close();
    });
  });
