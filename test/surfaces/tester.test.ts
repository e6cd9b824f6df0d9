// {base_url}/try and {base_url}/ (design 13, section 1): what they show, to whom, and that nobody else gets there; and the console,
// which a mailed code does not open for whoever has better.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { openApp } from '../support/first-party-app.ts';
import { createUser } from '../support/fixtures.ts';
import { loginAt, signInByPin } from '../support/login.ts';
import { createTestTenant } from '../support/management.ts';
import { givePasskey, signInByPasskey } from '../support/passkeys.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const html = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';
/** Through a proxy: no developer on this machine. */
const proxied = { 'x-forwarded-for': '203.0.113.7' };
const ask = (url: string, headers: Readonly<Record<string, string>> = {}, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { redirect: 'manual', ...init, headers: { accept: html, ...headers } });
const cookieOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0]!)
    .join('; ');

describe('{base_url}/', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer('sqlite', { flags: { dev: '0' } });
    await createTestTenant(server, { slug: 'acme' });
  });
  after(() => server.close());

  it('is a page of links for browsers, of their tenant', async () => {
    for (const base of [server.url, `${server.url}/t/acme`])
      for (const slash of ['', '/']) {
        const page = await ask(`${base}${slash}`);
        assert.equal(page.status, 200);
        assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
        const text = await page.text();
        for (const path of ['/account', '/console', '/docs', '/try']) assert.ok(text.includes(`href="${base}${path}"`), `${base}${path}`);
      }
    assert.ok(!(await (await ask(server.url, proxied)).text()).includes('/try"'));
  });

  it('management.not_found for programs, posts and tenants that are not there: byte for byte a path of no surface', async () => {
    const nowhere = await assertRefusal(await fetch(`${server.url}/nowhere`), 'management.not_found');
    const others = [
      await fetch(server.url),
      await fetch(server.url, { headers: { accept: 'application/json' } }),
      await ask(server.url, {}, { method: 'POST' }),
      await ask(`${server.url}/t/nobody/`),
    ];
    for (const answer of others) assert.equal(await assertRefusal(answer, 'management.not_found'), nowhere);
  });
});

for (const database of databases)
  describe(`the tester on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database, { flags: { dev: '0' } });
    });
    after(() => server.close());

    /** Starts at /try and signs in; gives the callback as the browser asks for it. */
    const signIn = async (base: string, email: string, headers: Readonly<Record<string, string>>, query = 'scope=openid+profile+email') => {
      const started = await ask(`${base}/try/start?${query}`, headers);
      assert.equal(started.status, 303, await started.text());
      const authorize = started.headers.get('location')!;
      const login = await fetch(authorize, { redirect: 'manual' });
      const finished = await signInByPin(server, loginAt(login.headers.get('location')!, login.headers.get('set-cookie') ?? ''), email);
      return { authorize: new URL(authorize), callback: finished.href, cookie: cookieOf(started) };
    };

    it('shows an administrator claims, tokens and the id of each request, also when it is loaded again; no code stays in the address', async () => {
      const { tenant, email } = await createConsoleTenant(server);
      const { visitor } = await openConsole(server, tenant, email);
      const own = { ...proxied, cookie: visitor.cookie() };
      assert.match(await (await ask(`${tenant.baseUrl}/try`, own)).text(), /Try a sign-in/);
      await server.clock.advance(60_000); // a mailbox gets one PIN a minute
      const { authorize, callback, cookie } = await signIn(
        tenant.baseUrl,
        email,
        own,
        `scope=openid+email&login_hint=${encodeURIComponent(email)}`,
      );
      assert.equal(authorize.searchParams.get('login_hint'), email);
      assert.equal(authorize.searchParams.get('client_id'), 'gatehouse-try');
      const ended = await ask(callback, { ...proxied, cookie: `${visitor.cookie()}; ${cookie}` });
      assert.deepEqual([ended.status, ended.headers.get('location')], [303, `/t/${tenant.slug}/try/result`]);
      const after = { ...proxied, cookie: `${visitor.cookie()}; ${cookieOf(ended)}` };
      const result = await ask(`${tenant.baseUrl}/try/result`, after);
      const text = await result.text();
      assert.equal(result.status, 200, text);
      assert.equal(result.headers.get('cache-control'), 'no-store');
      for (const shown of [email, tenant.baseUrl, 'id_token', 'access_token', 'auth_time', 'UserInfo'])
        assert.ok(text.includes(shown), shown);
      assert.equal([...text.matchAll(/<td[^>]*>[\w-]{22}<\/td>/g)].length, 3, 'three request ids');
      const reloaded = await ask(`${tenant.baseUrl}/try/result`, after);
      assert.equal(reloaded.status, 200);
      const accessToken = /access_token<\/summary><p class="mono">([^<]+)/;
      assert.equal(accessToken.exec(await reloaded.text())![1], accessToken.exec(text)![1]);
      const colleague = await openConsole(server, tenant, email);
      for (const cookie of [visitor.cookie(), `${colleague.visitor.cookie()}; ${cookieOf(ended)}`])
        assert.equal((await ask(`${tenant.baseUrl}/try/result`, { ...proxied, cookie })).status, 404);
      const again = await ask(callback, { ...proxied, cookie: visitor.cookie() });
      assert.equal(again.status, 400);
      assert.match(await again.text(), /shown before/);
      const forged = await ask(callback.replace(/state=[^&]+/, 'state=other'), { ...proxied, cookie: `${visitor.cookie()}; ${cookie}` });
      assert.equal(forged.status, 400);
    });

    it('is closed to people without a role, to nobody at all and to another tenant’s administrator', async () => {
      const { tenant, email } = await createConsoleTenant(server, { role: 'user' });
      const other = await createConsoleTenant(server);
      const visitors = [await openConsole(server, tenant, email), await openConsole(server, other.tenant, other.email)];
      for (const cookie of ['', ...visitors.map(({ visitor }) => visitor.cookie())])
        for (const path of ['/try', '/try/start', '/try/callback?code=x&state=y', '/try/result']) {
          const answer = await ask(`${tenant.baseUrl}${path}`, { ...proxied, cookie });
          assert.equal(answer.status, 403, path);
          assert.match(await answer.text(), /for administrators/);
        }
    });

    it('what comes back as an error is shown, and what it says is text', async () => {
      const { tenant, email } = await createConsoleTenant(server);
      const { visitor } = await openConsole(server, tenant, email);
      const own = { ...proxied, cookie: visitor.cookie() };
      const started = await ask(`${tenant.baseUrl}/try/start?scope=openid+nothing_of_ours`, own);
      const refused = await ask(started.headers.get('location')!);
      const back = await ask(refused.headers.get('location')!, { ...proxied, cookie: `${visitor.cookie()}; ${cookieOf(started)}` });
      assert.equal(back.status, 303);
      const told = await ask(`${tenant.baseUrl}/try/result`, { ...proxied, cookie: `${visitor.cookie()}; ${cookieOf(back)}` });
      assert.equal(told.status, 400);
      assert.match(await told.text(), /invalid_scope/);
      const state = new URL(started.headers.get('location')!).searchParams.get('state')!;
      const hostile = `${tenant.baseUrl}/try/callback?state=${state}&error=${encodeURIComponent('"><script>x</script>')}`;
      const ended = await ask(hostile, { ...proxied, cookie: `${visitor.cookie()}; ${cookieOf(started)}` });
      const shown = await ask(`${tenant.baseUrl}/try/result`, { ...proxied, cookie: `${visitor.cookie()}; ${cookieOf(ended)}` });
      const text = await shown.text();
      assert.ok(text.includes('&#60;script&#62;x'), text);
      assert.ok(!text.includes('<script>x'));
    });
  });

for (const database of databases)
  describe(`opening the console by a mailed code on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());
    const all = { login_methods: ['passkey', 'phone', 'email_pin'] };

    it('works for an administrator who has nothing else, not for one with a passkey: the sign-in ends and a stronger one is offered', async () => {
      const { tenant, email } = await createConsoleTenant(server);
      await tenant.make('PATCH', '/settings', all);
      assert.equal((await openConsole(server, tenant, email)).first.status, 200);
      const own = (await server.gatehouse.services.tenants.bySlug(tenant.slug))!;
      const person = await createUser(server.gatehouse.services, own);
      await tenant.make('PATCH', `/users/${person.id}`, { role: 'admin' });
      await givePasskey(server, own, person);
      const { callback, visitor } = await openApp(server, 'console', tenant, person.email);
      const text = await callback.text();
      assert.equal(callback.status, 403, text);
      assert.match(text, /Use your passkey or phone/);
      assert.equal(callback.headers.getSetCookie().filter((line) => /console-session/.test(line) && !/Max-Age=0/.test(line)).length, 0);
      const again = await visitor.page('/sign-in');
      assert.equal(new URL(again.headers.get('location')!).searchParams.get('acr_values'), 'phone');
    });

    it('does not where the tenant takes nothing but mailed codes: a passkey counts whatever it takes', async () => {
      const { tenant } = await createConsoleTenant(server);
      const own = (await server.gatehouse.services.tenants.bySlug(tenant.slug))!;
      const person = await createUser(server.gatehouse.services, own);
      await tenant.make('PATCH', `/users/${person.id}`, { role: 'admin' });
      const passkey = await givePasskey(server, own, person);
      assert.equal((await openApp(server, 'console', tenant, person.email)).callback.status, 403);
      const byPasskey = await openApp(server, 'console', tenant, person.email, (login) => signInByPasskey(login, person.email, passkey));
      assert.equal(byPasskey.first.status, 200);
    });
  });
