// A relying party of Spring Security, configured with our issuer alone: it reads discovery and keys by itself, signs people in, and
// signs them out with us. One program serves both databases; the test is the browser.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { type Json, jsonOf } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { visit } from '../support/relying-party.ts';
import { readForm } from '../support/saml-website.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { asAcme, asGlobex, openTwoOrganizations, ordersClient, saidOf, type TwoOrganizations } from '../support/two-organizations.ts';
import { startWebProgram, type WebProgram } from '../support/web-program.ts';

const spring = findJudge('spring-sp');

interface World {
  readonly server: TestServer;
  readonly tenant: Tenant;
  /** What Spring Security sends PKCE for: a client without a secret. */
  readonly open: TestClient;
  readonly secret: TestClient;
  /** With a secret too, but we want PKCE. */
  readonly strict: TestClient;
  /** Of another tenant, where one person is in two organisations: `chosen` asks for none by name, `acme` for that one. */
  readonly two: TwoOrganizations;
  readonly chosen: TestClient;
  readonly acme: TestClient;
}

interface Person {
  readonly id_token: Json;
  readonly userinfo: Json;
  readonly scopes: readonly string[];
  readonly refreshable: boolean;
}

if (spring !== undefined)
  describe('Spring Security, from our issuer alone', () => {
    const worlds = new Map<string, World>();
    let site: string;
    let program: WebProgram;
    before(async () => {
      site = `http://127.0.0.1:${await freePort()}`;
      for (const database of databases) worlds.set(database, await openWorld(database, site));
      const arguments_ = Object.entries(propertiesOf(site, worlds)).map(([name, value]) => `--${name}=${value}`);
      program = await startWebProgram(`${site}/signed-out`, [spring, ...arguments_], { patienceSeconds: 120 });
    });
    after(async () => {
      await program?.close();
      for (const { server } of worlds.values()) await server.close();
    });

    /** The browser goes there and on, up to the first address that is not the site's; or the page it gets. */
    const follow = async (browser: TestBrowser, url: string, init: RequestInit = {}): Promise<{ left?: URL; page?: Response }> => {
      let response = await browser.send(url, init);
      for (let at = url, steps = 0; steps < 10; steps += 1) {
        const location = response.headers.get('location');
        if (location === null) return { page: response };
        at = new URL(location, at).href;
        if (!at.startsWith(`${site}/`)) return { left: new URL(at) };
        response = await browser.send(at);
      }
      return assert.fail(`${url} leads nowhere`);
    };
    const leave = async (browser: TestBrowser, registration: string): Promise<URL> => {
      const { left, page } = await follow(browser, `${site}/oauth2/authorization/${registration}`);
      assert.ok(left, await page?.text());
      return left;
    };
    const textOf = async ({ page, left }: { left?: URL; page?: Response }): Promise<string> => {
      assert.ok(page, left?.href);
      return page.text();
    };
    const signIn = async ({ server }: World, registration: string, user: TestUser): Promise<{ browser: TestBrowser; person: Person }> => {
      const browser = openBrowser();
      const back = await visit(server, await leave(browser, registration), user.email);
      const { page } = await follow(browser, back.href);
      assert.ok(page);
      return { browser, person: await jsonOf(page, 200) };
    };
    /** Comes back to it; its sign-in page says by a code why not. */
    const refused = async (browser: TestBrowser, back: URL): Promise<string> => textOf(await follow(browser, back.href));

    for (const database of databases) {
      const world = (): World => worlds.get(database)!; // opened before
      const newUser = (): Promise<TestUser> => createUser(world().server.gatehouse.services, world().tenant);
      for (const kind of ['open', 'secret'] as const)
        it(`${kind === 'open' ? 'a public client, with PKCE' : 'a client with a secret'}, on ${database}: claims of ID token and UserInfo`, async () => {
          const user = await newUser();
          const { person } = await signIn(world(), `${database}-${kind}`, user);
          const { iss, sub, aud } = person.id_token as { iss: string; sub: string; aud: readonly string[] };
          assert.deepEqual([iss, sub, aud], [world().tenant.baseUrl, user.id, [world()[kind].clientId]]);
          assert.deepEqual([person.userinfo['sub'], person.userinfo['email'], person.userinfo['given_name']], [user.id, user.email, 'Ada']);
          assert.deepEqual([...person.scopes].sort(), ['email', 'offline_access', 'openid', 'profile']);
          assert.equal(person.refreshable, true);
        });
      it(`signs out with us and comes back, on ${database}; anywhere else we refuse`, async () => {
        const { browser } = await signIn(world(), `${database}-open`, await newUser());
        const form = readForm(await (await browser.send(`${site}/logout`, { headers: { accept: 'text/html' } })).text());
        const { left } = await follow(browser, `${site}/logout`, { method: 'POST', body: new URLSearchParams(form?.fields) });
        assert.ok(left);
        assert.ok(left.href.startsWith(`${world().tenant.baseUrl}/v1/idp/oidc/logout?`), left.href);
        const ended = await fetch(left, { redirect: 'manual' });
        assert.deepEqual([ended.status, ended.headers.get('location')], [303, `${site}/signed-out`]);
        assert.equal(await textOf(await follow(browser, `${site}/signed-out`)), 'signed out');
        const again = await browser.send(`${site}/`);
        assert.notEqual(again.status, 200);
        left.searchParams.set('post_logout_redirect_uri', `${site}/elsewhere`);
        await assertRefusal(await fetch(left, { redirect: 'manual' }), 'logout.invalid_request');
      });
      it(`switches between two organisations of one person, on ${database}: chosen with us, or named in the configuration`, async () => {
        const { two } = world();
        const browser = openBrowser();
        const switchTo = async (registration: 'chosen' | 'acme', choice?: 'acme' | 'globex'): Promise<readonly unknown[]> => {
          const back = await two.visit(await leave(browser, `${database}-${registration}`), choice);
          const { page } = await follow(browser, back.href);
          assert.ok(page);
          const { id_token: said, userinfo, scopes } = await jsonOf<Person>(page, 200);
          assert.deepEqual([said['sub'], userinfo['org_id']], [two.user.id, said['org_id']]);
          return saidOf({ ...said, scope: scopes.join(' ') });
        };
        assert.deepEqual(await switchTo('chosen', 'acme'), asAcme);
        assert.deepEqual(await switchTo('chosen', 'globex'), asGlobex);
        assert.deepEqual(await switchTo('acme'), asAcme);
        assert.equal(two.typed(), 1);
      });
      it(`a changed state, a code of another sign-in, no PKCE where we want it, on ${database}`, async () => {
        const user = await newUser();
        const browser = openBrowser();
        const back = await visit(world().server, await leave(browser, `${database}-open`), user.email);
        const changed = new URL(back);
        changed.searchParams.set('state', 'changed');
        assert.match(await refused(browser, changed), /\[authorization_request_not_found\]/);
        const other = openBrowser();
        const expected = await leave(other, `${database}-open`);
        back.searchParams.set('state', expected.searchParams.get('state') ?? '');
        assert.match(await refused(other, back), /\[invalid_grant\]/);
        const strict = await leave(openBrowser(), `${database}-strict`);
        const text = 'code_challenge is required.';
        await assertRefusal(await fetch(strict, { redirect: 'manual' }), 'authorize.pkce', { text });
      });
    }
  });

/** A tenant with three clients of the site: without a secret, with one, and with one where PKCE is wanted. */
async function openWorld(database: (typeof databases)[number], site: string): Promise<World> {
  const server = await startTestServer(database);
  const { services } = server.gatehouse;
  const tenant = await createOtherTenant(services, 'spring', { login_methods: ['email_pin'] });
  const two = await openTwoOrganizations(server);
  const client = (kind: string, changes: object, at = tenant): Promise<TestClient> =>
    createClient(services, at, {
      redirectUris: [`${site}/login/oauth2/code/${database}-${kind}`],
      postLogoutRedirectUris: [`${site}/signed-out`],
      ...changes,
    });
  return {
    server,
    tenant,
    open: await client('open', { type: 'public' }),
    secret: await client('secret', { requirePkce: false }),
    strict: await client('strict', {}),
    two,
    chosen: await client('chosen', { requirePkce: false, ...ordersClient }, two.tenant),
    acme: await client('acme', { requirePkce: false, ...ordersClient }, two.tenant),
  };
}

/** What an operator writes into the site's configuration. */
function propertiesOf(site: string, worlds: ReadonlyMap<string, World>): Readonly<Record<string, string>> {
  const properties: Record<string, string> = {
    'spring.profiles.active': 'oidc',
    'server.address': '127.0.0.1',
    'server.port': new URL(site).port,
  };
  for (const [database, { tenant, two, ...clients }] of worlds) {
    const { open, secret, strict, chosen, acme } = clients;
    for (const [kind, client] of Object.entries({ open, secret, strict, chosen, acme })) {
      const isOfTwo = kind === 'chosen' || kind === 'acme';
      const registration = `spring.security.oauth2.client.registration.${database}-${kind}`;
      const provider = `spring.security.oauth2.client.provider.${database}-${kind}`;
      properties[`${provider}.issuer-uri`] = (isOfTwo ? two.tenant : tenant).baseUrl;
      if (kind === 'acme') properties[`${provider}.authorization-uri`] = `${two.tenant.baseUrl}/v1/idp/oidc/authorize?organization=acme`;
      properties[`${registration}.client-id`] = client.clientId;
      properties[`${registration}.scope`] = isOfTwo ? ordersClient.scopes.join(',') : 'openid,profile,email,offline_access';
      if (kind === 'open') properties[`${registration}.client-authentication-method`] = 'none';
      else properties[`${registration}.client-secret`] = client.secret;
    }
  }
  return properties;
}
