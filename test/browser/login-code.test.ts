// The code of a waiting sign-in in a real browser: seen by the phone, renewed before it stops working, accessible, and the
// pages its link opens in a browser. Screenshots go where GATEHOUSE_TEST_SCREENSHOTS says, when it says.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { changeSettings, createUser, enrolledPhone, type TestUser, unlimited } from '../support/enrolled-phone.ts';
import { createClient, rootTenant, type TestClient } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { assertAccessible, keepScreenshot } from '../support/page-check.ts';
import type { Phone } from '../support/phone.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

if (hasChromium)
  describe('The code of a waiting sign-in in Chromium', () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    let phone: Phone;
    let browser: Browser;
    let callback: Server;
    let redirectUri: string;
    before(async () => {
      server = await startTestServer('sqlite');
      await changeSettings(server, {
        ...unlimited,
        login_methods: ['phone', 'email_pin'],
        app_links: { apple: ['ABCDE12345.com.example.app'] },
      });
      tenant = await rootTenant(server.gatehouse.services);
      callback = createServer((_request, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('client'));
      await new Promise<void>((resolve) => callback.listen(0, '127.0.0.1', resolve));
      redirectUri = `http://127.0.0.1:${(callback.address() as AddressInfo).port}/callback`;
      client = await createClient(server.gatehouse.services, tenant, { name: 'Harbour Analytics', redirectUris: [redirectUri] });
      user = await createUser(server, 'ada.lovelace@example.com');
      phone = await enrolledPhone(server, user);
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      callback?.close();
      await server?.close();
    });

    /** A page that waits for the phone; `seen` collects policy violations and page errors. */
    const waiting = async (options: BrowserContextOptions = {}): Promise<{ page: Page; seen: string[]; close: () => Promise<void> }> => {
      const login = await beginLogin(server, tenant, client, { redirectUri });
      const context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en-GB', ...options });
      const [name, value] = login.cookie.split('=') as [string, string];
      await context.addCookies([{ name, value, url: server.url, httpOnly: true, sameSite: 'Lax' }]);
      const page = await context.newPage();
      const seen: string[] = [];
      page.on('console', (message) => {
        if (/Content Security Policy|Refused/.test(message.text())) seen.push(message.text());
      });
      page.on('pageerror', (error) => seen.push(String(error)));
      await page.goto(login.location);
      await page.fill('#identifier', user.email);
      await page.click('#continue');
      await page.click('#use-phone');
      await page.waitForSelector('svg.qr');
      return { page, seen, close: () => context.close() };
    };
    const linkOn = async (page: Page): Promise<string> => (await page.getAttribute('#open-app', 'href')) ?? '';
    const claim = async (link: string) => {
      const response = await phone.post('/approvals/claim', { code: link.split('c=')[1], scanned: true });
      assert.equal(response.status, 200, await response.clone().text());
      return (await response.json()) as { id: string; context_sha256: string };
    };
    const approve = async (item: { id: string; context_sha256: string }): Promise<void> => {
      const answer = await phone.post(`/approvals/${item.id}/approve`, { context_sha256: item.context_sha256 }, { purpose: 'uv' });
      assert.equal(answer.status, 200);
    };
    const look = async (page: Page, name: string): Promise<void> => {
      await assertAccessible(page, name);
      await keepScreenshot(page, name);
    };

    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [360, 1280])
        it(`axe finds nothing and nothing scrolls sideways, ${colorScheme}, ${width} px wide`, async () => {
          const { page, seen, close } = await waiting({ colorScheme, viewport: { width, height: 800 } });
          await look(page, `waiting-${colorScheme}-${width}`);
          const link = await linkOn(page);
          await claim(link);
          await page.reload();
          await look(page, `scanned-${colorScheme}-${width}`);
          for (const path of ['scan', 'enroll']) {
            const address = `${server.url}/${path}#v=1&c=abc`;
            await page.goto('about:blank');
            await page.goto(address);
            await page.waitForSelector('#link:not([hidden])');
            assert.equal(await page.inputValue('#link-text'), address);
            assert.equal(await page.getAttribute('#link a', 'href'), address);
            await look(page, `${path}-${colorScheme}-${width}`);
          }
          assert.deepEqual(seen, []);
          await close();
        });

    it('the code is renewed while the page waits, and the page says when it was scanned and continues when it is approved', async () => {
      const { page, seen, close } = await waiting();
      const first = await linkOn(page);
      await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`); // what its timer and a return to the tab do
      await page.waitForSelector(`#open-app:not([href="${first}"])`);
      const item = await claim(await linkOn(page));
      await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
      await page.waitForSelector('#wait:has-text("The app has read the code")');
      assert.equal(await page.locator('svg.qr').count(), 0);
      await approve(item);
      await page.waitForURL(`${redirectUri}?code=*`);
      assert.deepEqual(seen, []);
      await close();
    });

    it('without scripts: the code is there, and the page that loads itself again goes on', async () => {
      const { page, close } = await waiting({ javaScriptEnabled: false });
      await approve(await claim(await linkOn(page)));
      await page.waitForSelector('form[action$="/finish"] #continue');
      await page.click('#continue');
      await page.waitForURL(`${redirectUri}?code=*`);
      await close();
    });
  });
