// The sign-in as a browser without scripts sees it: pages, form posts, redirects, headers; and who may not take part.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startLogin } from '../../src/approvals/start-login.ts';
import { languages } from '../../src/domain/language.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, rootTenant, type TestClient } from '../support/fixtures.ts';
import { beginLogin, type TestLogin } from '../support/login.ts';
import { otherPin, pinOf } from '../support/mailbox.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`Sign-in pages on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database);
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant, { name: `O'Neil & <b>Sons</b>` });
    });
    after(() => server.close());

    const page = async (login: TestLogin, path = ''): Promise<string> => (await login.page(path)).text();

    it('the page: escaped names, nonce policy without inline handlers, nothing from elsewhere, under 30 kB', async () => {
      const login = await beginLogin(server, tenant, client, { loginHint: `"><script>alert(1)</script>` });
      const response = await login.page();
      const body = await response.text();
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
      assert.equal(response.headers.get('x-frame-options'), 'DENY');
      assert.equal(response.headers.get('referrer-policy'), 'same-origin');
      const nonce = /<script nonce="([\w-]{22})">/.exec(body)?.[1] ?? 'none';
      assert.equal(
        response.headers.get('content-security-policy'),
        `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'`,
      );
      assert.ok(Buffer.byteLength(body) < 30_000);
      assert.ok(body.includes('O&#39;Neil &#38; &#60;b&#62;Sons&#60;/b&#62;'));
      assert.ok(!body.includes('<b>Sons') && !body.includes('<script>alert'));
      assert.deepEqual(body.match(/\son\w+=/g), null);
      assert.deepEqual(body.match(/(?:src|href|action)="(?:https?:)?\/\//g), null);
      assert.match(body, /<html lang="en">/);
      assert.notEqual(/nonce="([\w-]+)"/.exec(await page(login))?.[1], nonce);
    });

    it('every step by form posts and 303, to the client and its code', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await beginLogin(server, tenant, client);
      assert.match(await page(login), /<input id="identifier" name="identifier"/);
      const post = async (step: string, fields: Record<string, string>, id: string): Promise<void> => {
        const response = await login.submit(step, fields);
        assert.equal(response.status, 303, await response.text());
        assert.equal(response.headers.get('location'), login.location);
        assert.match(await page(login), new RegExp(`id="${id}"`));
      };
      await post('identify', { identifier: user.email }, 'use-email');
      await post('method', { method: 'phone' }, 'approve-number');
      await post('method', { method: 'email_pin' }, 'verify');
      await post('pin', { pin: ` ${(await pinOf(server, user.email)).split('').join(' ')} ` }, 'continue');
      const finished = await login.submit('finish');
      assert.equal(finished.status, 303);
      assert.match(finished.headers.get('location') ?? '', /^https:\/\/rp\.example\/callback\?code=[\w-]{43}&state=state-1&iss=/);
      assert.match(await page(login), /All done/);
      const again = await login.submit('finish');
      assert.equal(again.headers.get('location'), login.location);
    });

    it('cancel by form goes to the client with access_denied', async () => {
      const login = await beginLogin(server, tenant, client);
      const response = await login.submit('cancel');
      assert.equal(response.status, 303);
      assert.match(response.headers.get('location') ?? '', /\?error=access_denied&state=state-1&iss=/);
    });

    it('a wrong PIN shows the page again with the status of its row', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await beginLogin(server, tenant, client);
      await login.submit('identify', { identifier: user.email });
      await login.submit('method', { method: 'email_pin' });
      const pin = await pinOf(server, user.email);
      const wrong = await login.submit('pin', { pin: otherPin(pin) });
      assert.equal(wrong.status, 401);
      const body = await wrong.text();
      assert.match(body, /role="alert">That code is wrong\. 4 attempts are left\.</);
      assert.match(body, /id="pin"/);
      const early = await login.submit('pin/resend');
      assert.equal(early.status, 429);
      assert.match(early.headers.get('retry-after') ?? '', /^\d+$/);
      assert.match(await early.text(), /A code was sent a moment ago/);
      const empty = await login.submit('pin', { pin: '' });
      assert.equal(empty.status, 400);
      assert.match(await empty.text(), /Enter the code from the mail/);
    });

    it('a post out of order shows where the sign-in stands', async () => {
      const login = await beginLogin(server, tenant, client);
      const response = await login.submit('method', { method: 'phone' });
      assert.equal(response.status, 303);
      assert.equal(response.headers.get('location'), login.location);
    });

    it('going back: ?step=identify and ?step=choose', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await beginLogin(server, tenant, client);
      await login.submit('identify', { identifier: user.email });
      await login.submit('method', { method: 'phone' });
      assert.match(await page(login, '?step=choose'), /id="use-email"/);
      assert.match(await page(login, '?step=identify'), new RegExp(`id="identifier"[^>]*value="${user.email}"`));
      assert.match(await page(login, '?step=approved'), /id="approve-number"/);
    });

    for (const [language, word] of Object.entries({ en: 'Sign in', de: 'Anmelden', fr: 'Se connecter', ja: 'サインイン' }))
      it(`speaks ${language}, by ui_locales before Accept-Language`, async () => {
        assert.ok((languages as readonly string[]).includes(language));
        const login = await beginLogin(server, tenant, client, { uiLocales: `xx ${language}-XX` });
        const body = await (await fetch(login.location, { headers: { cookie: login.cookie, 'accept-language': 'en' } })).text();
        assert.match(body, new RegExp(`<html lang="${language}">`));
        assert.match(body, new RegExp(`<h1>${word}</h1>`));
      });

    it('login.not_found: without the cookie, with another transaction’s, with two, at another tenant, unknown: one body', async () => {
      const login = await beginLogin(server, tenant, client);
      const other = await beginLogin(server, tenant, client);
      const acme = await createOtherTenant(server.gatehouse.services, 'acme');
      const name = login.cookie.split('=', 1)[0];
      const stolen = other.cookie.slice(other.cookie.indexOf('=') + 1);
      const foreign = login.location.replace(tenant.baseUrl, acme.baseUrl);
      const attempts: readonly (readonly [string, string])[] = [
        [login.location, ''],
        [login.location, other.cookie],
        [login.location, `${name}=${stolen}`],
        [login.location, `${login.cookie}; ${name}=${stolen}`],
        [foreign, login.cookie],
        [`${tenant.baseUrl}/login/AAAAAAAAAAAAAAAAAAAAAA`, login.cookie],
      ];
      const bodies = new Set<string>();
      for (const [location, cookie] of attempts)
        for (const [method, step] of [
          ['GET', ''],
          ['GET', '/status'],
          ['GET', '/events'],
          ['POST', '/identify'],
          ['POST', '/method'],
          ['POST', '/pin'],
          ['POST', '/pin/resend'],
          ['POST', '/finish'],
          ['POST', '/cancel'],
          ['POST', '/restart'],
        ] as const)
          bodies.add(
            await assertRefusal(
              await fetch(location + step, { method, headers: { cookie, accept: 'application/json' } }),
              'login.not_found',
            ),
          );
      assert.equal(bodies.size, 1);
      assert.equal((await login.get()).status, 200);
    });

    it('login.forbidden: a post from another origin, and from none that has a name', async () => {
      const login = await beginLogin(server, tenant, client);
      for (const origin of ['https://evil.example', 'null', `${server.url}.evil.example`, server.url.replace('http:', 'https:')])
        await assertRefusal(await login.post('cancel', {}, { origin }), 'login.forbidden');
      assert.deepEqual(await (await login.get('/status')).json(), { state: 'identify' });
      assert.equal((await login.post('identify', { identifier: 'a' }, { origin: server.url })).status, 200);
    });

    it('the cookie: HttpOnly, SameSite=Lax, plain on http, __Host- and Secure on https', async () => {
      const request = { kind: 'oidc', clientId: client.clientId, redirectUri: 'https://rp.example/callback', scope: 'openid' } as const;
      const from = { ip: '127.0.0.1', userAgent: undefined };
      const plain = await startLogin(server.gatehouse.services, tenant, request, from);
      const prefix = plain.transactionId.slice(0, 10);
      assert.match(plain.setCookie, new RegExp(`^gh-tx-${prefix}=[\\w-]{43}; Path=/; Max-Age=1200; HttpOnly; SameSite=Lax$`));
      const secure = await startLogin(server.gatehouse.services, { ...tenant, baseUrl: 'https://login.acme.example' }, request, from);
      assert.match(secure.setCookie, /^__Host-gh-tx-[\w-]{10}=[\w-]{43}; Path=\/; Max-Age=1200; HttpOnly; SameSite=Lax; Secure$/);
      assert.equal(plain.location, `${server.url}/login/${plain.transactionId}`);
      assert.equal(plain.expiresInSeconds, 300);
    });

    it('several tabs sign in at once', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const tabs = [await beginLogin(server, tenant, client), await beginLogin(server, tenant, client, { state: 'two' })];
      const jar = tabs.map((tab) => tab.cookie).join('; ');
      const states = await Promise.all(
        tabs.map(async (tab) => {
          const headers = { cookie: jar, accept: 'application/json', 'content-type': 'application/json' };
          await fetch(`${tab.location}/identify`, { method: 'POST', headers, body: JSON.stringify({ identifier: user.email }) });
          await fetch(`${tab.location}/method`, { method: 'POST', headers, body: JSON.stringify({ method: 'phone' }) });
          return ((await (await fetch(tab.location, { headers })).json()) as { state: string; number: string }).state;
        }),
      );
      assert.deepEqual(states, ['waiting', 'waiting']);
    });

    it('management envelope for bodies that cannot be read', async () => {
      const login = await beginLogin(server, tenant, client);
      const send = (body: string, type: string): Promise<Response> =>
        fetch(`${login.location}/identify`, {
          method: 'POST',
          body,
          headers: { cookie: login.cookie, accept: 'application/json', 'content-type': type },
        });
      const form = 'application/x-www-form-urlencoded';
      await assertRefusal(await send('{"identifier":', 'application/json'), 'management.malformed');
      await assertRefusal(await send('["a"]', 'application/json'), 'management.malformed');
      await assertRefusal(await send('{"identifier":"a","identifier":"b"}', 'application/json'), 'management.malformed');
      await assertRefusal(await send('identifier=a&identifier=b', form), 'management.malformed');
      await assertRefusal(await send('identifier=%zz', form), 'management.malformed');
      await assertRefusal(await send('{"identifier":1}', 'application/json'), 'login.invalid_request', {
        kind: 'identifier',
        text: 'identifier: expected text.',
      });
      await assertRefusal(await send('<identifier/>', 'application/xml'), 'management.unsupported_media_type');
      await assertRefusal(await send(`identifier=${'a'.repeat(16 * 1024)}`, form), 'management.payload_too_large');
      const put = await fetch(`${login.location}/identify`, { method: 'PUT', headers: { cookie: login.cookie } });
      await assertRefusal(put, 'management.method_not_allowed');
    });
  });
}
