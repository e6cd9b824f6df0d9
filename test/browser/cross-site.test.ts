// Posts from another site in a real browser (design 14, 1): the session's cookie stays behind, and the sign-in page reads it instead; a
// post to a step, to the account or to the console does nothing, whatever the other site knows.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { pinOf } from '../support/mailbox.ts';
import { createTestClient, createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { challenge } from '../support/oidc.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const email = 'ada@cross-site.example';

/** Another site than the server's: 127.0.0.1, where the server is localhost. Serves an application's callback and pages that post by themselves. */
async function startOtherSite(): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
    const { action = '', ...fields } = Object.fromEntries(searchParams);
    const quoted = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
    const inputs = Object.entries(fields).map(([name, value]) => `<input type="hidden" name="${quoted(name)}" value="${quoted(value)}">`);
    const form = `<form method="post" action="${quoted(action)}">${inputs.join('')}</form><script>document.forms[0].submit()</script>`;
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>elsewhere</title>${pathname === '/post' ? form : '<p id="arrived">arrived</p>'}`);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }; // a TCP address
}

if (hasChromium)
  describe('posts of another site in Chromium', () => {
    let server: TestServer;
    let tenant: Managed;
    let other: Awaited<ReturnType<typeof startOtherSite>>;
    let browser: Browser;
    let context: BrowserContext;
    let clientId: string;
    before(async () => {
      server = await startTestServer('sqlite');
      other = await startOtherSite();
      const rates = { login_starts_per_ip: roomyRate, pin_attempts_per_ip: roomyRate };
      tenant = await createTestTenant(server, { settings: { login_methods: ['email_pin'], sso_session: 'browser', rate_limits: rates } });
      assert.notEqual(new URL(tenant.baseUrl).hostname, new URL(other.url).hostname);
      await createTestUser(tenant, email, { role: 'admin' });
      clientId = (await createTestClient(tenant, { redirect_uris: [`${other.url}/callback`] })).client_id;
      browser = await launchChromium();
      context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(`${tenant.baseUrl}/account`);
      await page.fill('#identifier', email);
      await page.click('#continue');
      await page.waitForSelector('#pin');
      await page.fill('#pin', await pinOf(server, email));
      await page.click('#verify');
      await page.waitForURL('**/account');
      await page.close();
    });
    after(async () => {
      await browser?.close();
      await server?.close();
      other?.server.close();
    });

    const sessionCookie = async (): Promise<string> => {
      const found = (await context.cookies(tenant.baseUrl)).find(({ name }) => name.includes('gh-sso-'));
      assert.equal(found?.sameSite, 'Lax');
      return `${found?.name}=`;
    };
    /**
     * Opens the other site's page that posts to ours by itself; gives the cookies Chromium sent with that post, its
     * status, and the cookies sent with the sign-in page it led to.
     */
    const post = async (action: string, fields: Readonly<Record<string, string>> = {}) => {
      const page: Page = await context.newPage();
      const sent = page.waitForRequest((request) => request.method() === 'POST');
      const read = page
        .waitForRequest((request) => request.url().includes('/login/'), { timeout: 5000 })
        .then(
          async (request) => (await request.allHeaders())['cookie'] ?? '',
          () => '',
        );
      const answered = page.waitForResponse((response) => response.request().method() === 'POST');
      await page.goto(`${other.url}/post?${new URLSearchParams({ action, ...fields })}`);
      const headers = await (await sent).allHeaders();
      return { page, cookies: headers['cookie'] ?? '', origin: headers['origin'], status: (await answered).status(), read };
    };
    const request = {
      response_type: 'code',
      scope: 'openid',
      state: 'state-1',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    };
    const query = (changes: Readonly<Record<string, string>> = {}) => ({
      ...request,
      client_id: clientId,
      redirect_uri: `${other.url}/callback`,
      ...changes,
    });

    for (const prompt of [undefined, 'none'])
      it(`authorize${prompt === undefined ? '' : ' with prompt=none'}: no cookie comes, and the sign-in page answers from the session`, async () => {
        const changes: Record<string, string> = prompt === undefined ? {} : { prompt };
        const { page, cookies, origin, status, read } = await post(`${tenant.baseUrl}/v1/idp/oidc/authorize`, query(changes));
        assert.deepEqual([cookies.includes(await sessionCookie()), origin, status], [false, other.url, 303]);
        if (prompt === undefined) await page.waitForSelector('#continue, #arrived');
        if ((await page.locator('#continue').count()) > 0) await page.click('#continue').catch(() => undefined); // the page goes on by itself
        await page.waitForSelector('#arrived');
        assert.ok((await read).includes(await sessionCookie()), 'the page it led to had the cookie');
        const arrived = new URL(page.url()).searchParams;
        assert.ok(arrived.get('code'), page.url());
        assert.equal(arrived.get('error'), null);
        await page.close();
      });

    it('a step of a sign-in: 404 without its cookie, and the sign-in stays where it is', async () => {
      const page = await context.newPage();
      await page.goto(`${tenant.baseUrl}/v1/idp/oidc/authorize?${new URLSearchParams(query({ prompt: 'login' }))}`);
      await page.waitForSelector('#identifier');
      const login = page.url();
      for (const [step, fields] of [
        ['identify', { identifier: 'mallory@elsewhere.example' }],
        ['cancel', {}],
        ['finish', {}],
        ['recovery', { code: 'AAAAA-AAAAA' }],
      ] as const) {
        const forged = await post(`${login}/${step}`, fields);
        assert.deepEqual([forged.status, forged.cookies.includes('gh-')], [404, false], step);
        await forged.page.close();
      }
      await page.reload();
      assert.equal(await page.inputValue('#identifier'), '');
      await page.close();
    });

    it('the account and the console: nobody is signed in to such a post, and nothing changes', async () => {
      const people = async (): Promise<number> => (await tenant.make<{ readonly items: readonly Json[] }>('GET', '/users')).items.length;
      const before = await people();
      for (const [path, fields] of [
        ['/account/language', { language: 'fr' }],
        ['/account/sessions/end-all', {}],
        ['/console/users/new', { user_name: 'mallory' }],
      ] as const) {
        const forged = await post(`${tenant.baseUrl}${path}`, fields);
        assert.ok(forged.status === 303 || forged.status >= 400, `${path}: ${forged.status}`);
        assert.equal(forged.cookies.includes('gh-'), false, path);
        await forged.page.close();
      }
      assert.equal(await people(), before);
      const { items } = await tenant.make<{ readonly items: readonly Json[] }>('GET', `/users?search=${email}`);
      assert.equal(items[0]?.['preferred_language'], undefined);
      const page = await context.newPage();
      await page.goto(`${tenant.baseUrl}/account`);
      assert.equal(new URL(page.url()).pathname, `${new URL(tenant.baseUrl).pathname}/account`, 'still signed in');
      await page.close();
    });

    it('a logout: the session lives on unless the person says so', async () => {
      const { page, cookies, status } = await post(`${tenant.baseUrl}/v1/idp/oidc/logout`);
      assert.equal(cookies.includes(await sessionCookie()), false);
      assert.equal(status, 400);
      await page.close();
      const again = await context.newPage();
      await again.goto(`${tenant.baseUrl}/v1/idp/oidc/authorize?${new URLSearchParams(query({ prompt: 'none' }))}`);
      await again.waitForSelector('#arrived');
      assert.ok(new URL(again.url()).searchParams.get('code'), again.url());
      await again.close();
    });
  });
