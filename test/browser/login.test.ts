// The sign-in pages in a real browser: accessible (axe), by keyboard alone, without scripts, within their policy and weight.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { resolveApproval } from '../../src/approvals/resolve-approval.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { beginLogin, type TestLogin } from '../support/login.ts';
import { otherPin, pinOf } from '../support/mailbox.ts';
import { assertAccessible } from '../support/page-check.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

if (hasChromium)
  describe('Sign-in in Chromium', () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let browser: Browser;
    let callback: Server;
    let redirectUri: string;
    before(async () => {
      server = await startTestServer('sqlite');
      tenant = await rootTenant(server.gatehouse.services);
      // Where the client lives: another origin, so that redirects after form posts leave ours.
      callback = createServer((_request, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('client'));
      await new Promise<void>((resolve) => callback.listen(0, '127.0.0.1', resolve));
      redirectUri = `http://127.0.0.1:${(callback.address() as AddressInfo).port}/callback`;
      client = await createClient(server.gatehouse.services, tenant, { name: 'Harbour Analytics', redirectUris: [redirectUri] });
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      callback?.close();
      await server?.close();
    });

    /** A page at a fresh sign-in; `seen` collects policy violations, page errors and requests to elsewhere. */
    const open = async (
      options: BrowserContextOptions = {},
      to = client,
      at = { server, tenant },
    ): Promise<{ page: Page; context: BrowserContext; login: TestLogin; seen: string[] }> => {
      const login = await beginLogin(at.server, at.tenant, to, { redirectUri });
      const context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en-GB', ...options });
      const [name, value] = login.cookie.split('=') as [string, string];
      await context.addCookies([{ name, value, url: at.server.url, httpOnly: true, sameSite: 'Lax' }]);
      const page = await context.newPage();
      const seen: string[] = [];
      page.on('console', (message) => {
        if (/Content Security Policy|Refused/.test(message.text())) seen.push(message.text());
      });
      page.on('pageerror', (error) => seen.push(String(error)));
      page.on('request', (request) => {
        const { origin, protocol } = new URL(request.url());
        if (protocol !== 'data:' && origin !== at.server.url && !request.url().startsWith(redirectUri)) seen.push(request.url());
      });
      await page.goto(login.location);
      return { page, context, login, seen };
    };

    const approveOnPhone = (user: TestUser): Promise<unknown> =>
      server.gatehouse.services.database.write(tenant.id, async (queries) => {
        const { id } = await queries
          .selectFrom('approvals')
          .select('id')
          .where('user_id', '=', user.id)
          .where('state', '=', 'pending')
          .executeTakeFirstOrThrow();
        return resolveApproval(
          queries,
          tenant,
          id,
          { verdict: 'approve', method: 'phone_uv' },
          { nowMs: server.clock.nowMs(), requestId: 'test' },
        );
      });

    for (const colorScheme of ['light', 'dark'] as const)
      for (const [width, height] of [
        [320, 640],
        [1280, 800],
      ] as const)
        it(`axe finds nothing on any page, ${colorScheme}, ${width} px wide, and nothing scrolls sideways`, async () => {
          const user = await createUser(server.gatehouse.services, tenant);
          const asking = await createClient(server.gatehouse.services, tenant, {
            name: 'Harbour',
            redirectUris: [redirectUri],
            requireConsent: true,
          });
          const { page, context, seen } = await open({ colorScheme, viewport: { width, height } }, asking);
          const look = (where: string): Promise<void> => assertAccessible(page, where);
          await look('identify');
          await page.fill('#identifier', user.email);
          await page.click('#continue');
          await look('choose');
          await page.click('#use-phone');
          await look('waiting');
          await page.click('a[href$="?step=choose"]');
          await page.click('#use-email');
          await page.fill('#pin', otherPin(await pinOf(server, user.email)));
          await page.click('#verify');
          await page.waitForSelector('#alert');
          await look('pin with an error');
          await page.fill('#pin', await pinOf(server, user.email));
          await page.click('#verify');
          await page.waitForSelector('.scopes');
          await look('consent');
          await server.clock.advance(400_000);
          await page.reload();
          await look('expired');
          await page.goto(`${server.url}/login/nothing`);
          await look('error');
          assert.deepEqual(seen, []);
          await context.close();
        });

    it('axe finds what is wrong when something is', async () => {
      const { page, context } = await open();
      await page.evaluate(`document.querySelector('label').remove(); document.querySelector('.lead').style.color = '#ddd'`);
      await assert.rejects(assertAccessible(page, 'broken'), ({ actual }: assert.AssertionError) => {
        const found = (actual as readonly (readonly string[])[]).map(([where, id]) => `${where}: ${id}`); // as it compares them
        return found.includes('broken: label') && found.includes('broken: color-contrast');
      });
      await context.close();
    });

    it('by keyboard alone, from the identifier to the client', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const { page, context, seen } = await open();
      await page.waitForSelector('#identifier:focus'); // the field has the focus
      await page.keyboard.type(user.email);
      await page.keyboard.press('Enter');
      await page.waitForSelector('#use-email');
      const focusOn = async (id: string): Promise<void> => {
        for (let presses = 0; presses < 12; presses += 1) {
          await page.keyboard.press('Tab');
          if ((await page.evaluate('document.activeElement?.id')) === id) return;
        }
        assert.fail(`the keyboard does not reach #${id}`);
      };
      await focusOn('use-email');
      await page.keyboard.press('Enter');
      await page.waitForSelector('#pin:focus');
      await page.keyboard.type(await pinOf(server, user.email));
      await page.keyboard.press('Enter');
      await page.waitForURL(`${redirectUri}?code=*`);
      assert.deepEqual(seen, []);
      await context.close();
    });

    it('without scripts, every step and the way back to the client', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const { page, context } = await open({ javaScriptEnabled: false });
      await page.fill('#identifier', user.email);
      await page.click('#continue');
      await page.click('#use-phone');
      assert.match((await page.textContent('#approve-number')) ?? '', /^\d\d$/);
      await approveOnPhone(user);
      await page.waitForSelector('#continue'); // the page loads itself again
      await page.click('#continue');
      await page.waitForURL(`${redirectUri}?code=*`);
      await context.close();
      const { page: second, context: other } = await open({ javaScriptEnabled: false });
      await second.click('#cancel');
      await second.waitForURL(`${redirectUri}?error=access_denied*`);
      await other.close();
    });

    it('a waiting page continues by itself when the phone approves', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const { page, context, seen } = await open();
      await page.fill('#identifier', user.email);
      await page.click('#continue');
      await page.click('#use-phone');
      await page.waitForSelector('#approve-number');
      await approveOnPhone(user);
      await page.waitForURL(`${redirectUri}?code=*`);
      assert.deepEqual(seen, []);
      await context.close();
    });

    it('at an IP address, where browsers take no passkey, the page says so', async () => {
      const listen = `127.0.0.1:${await freePort()}`;
      const numbered = await startTestServer('sqlite', { flags: { listen, public_url: `http://${listen}` } });
      try {
        const { services } = numbered.gatehouse;
        const root = await rootTenant(services);
        const user = await createUser(services, root);
        const { page, context, seen } = await open({}, await createClient(services, root, { redirectUris: [redirectUri] }), {
          server: numbered,
          tenant: root,
        });
        await page.fill('#identifier', user.email);
        await page.click('#continue');
        await page.click('#use-passkey');
        await page.waitForSelector('#passkey-alert:not([hidden])');
        assert.match((await page.textContent('#passkey-alert')) ?? '', /do not work at this address/);
        assert.deepEqual(seen, []);
        await context.close();
      } finally {
        await numbered.close();
      }
    });

    it('a second click does not overtake the first', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const asking = await createClient(server.gatehouse.services, tenant, { redirectUris: [redirectUri], requireConsent: true });
      const { page, context } = await open({}, asking);
      await page.fill('#identifier', user.email);
      await page.click('#continue');
      await page.click('#use-email');
      await page.fill('#pin', await pinOf(server, user.email));
      await page.click('#verify');
      await page.waitForSelector('.scopes');
      await page.evaluate(`for (let clicks = 0; clicks < 3; clicks += 1) document.querySelector('#continue').click()`);
      await page.waitForURL(`${redirectUri}?code=*`);
      await context.close();
    });

    it('a page and what it loads weigh less than 30 kB', async () => {
      const { page, context } = await open();
      let bytes = 0;
      page.on('response', async (response) => {
        bytes += (await response.body()).byteLength;
      });
      await page.reload({ waitUntil: 'networkidle' });
      assert.ok(bytes > 1000 && bytes < 30_000, `${bytes} bytes`);
      await context.close();
    });
  });
