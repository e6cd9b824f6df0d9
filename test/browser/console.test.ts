// The console in Chromium: every page is clean by axe in both schemes and widths, within its policy, without scripts; and an
// administrator makes a client by keyboard and mouse as people do. Screenshots of every page go where GATEHOUSE_TEST_SCREENSHOTS says.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { pageBytesMax } from '../../journeys/page-bounds.ts';
import { insertAuditEvent } from '../../src/storage/records/audit-events.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { createConsoleTenant, signInInBrowser } from '../support/console.ts';
import { type ConsoleIds, fillTenant, pagesOf, plainPages } from '../support/console-pages.ts';
import { answerInstead } from '../support/directories.ts';
import { createTestUser, type Managed } from '../support/management.ts';
import {
  assertAccessible,
  assertFits,
  assertShort,
  inViews,
  keepScreenshot,
  keepScreenshots,
  narrowView,
  openWatched,
  phoneView,
} from '../support/page-check.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { xssCorpus } from '../support/xss.ts';

/** Tabs that are there only once their row is scrolled sideways. */
const tabsOutOfSight = `[...document.querySelectorAll('.tabs a')]
  .filter((tab) => tab.getBoundingClientRect().left < 0 || tab.getBoundingClientRect().right > innerWidth)
  .map((tab) => tab.textContent)`;

/** A page by what it is of, the same in every run. */
const nameOf = (path: string, ids: ConsoleIds): string =>
  Object.entries(ids).reduce((name, [kind, id]) => name.replaceAll(id, kind), path === '' ? 'overview' : path);

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
      given?: { readonly tenant: Managed; readonly email: string },
    ): Promise<{ readonly page: Page; readonly tenant: Managed; readonly seen: readonly string[] }> => {
      const { tenant, email } = given ?? (await createConsoleTenant(server));
      const { page, seen } = await openWatched(browser, server.url, options);
      await signInInBrowser(server, page, { tenant, email }, { withButton: options.javaScriptEnabled === false });
      return { page, tenant, seen };
    };

    it('axe finds nothing on any page, in both widths and schemes, and none is too long', async () => {
      const { page, tenant, seen } = await open({ bypassCSP: true });
      const ids = await fillTenant(server, tenant, 'Engineers');
      const people = [`/groups/${ids.group}/members?find=e`, `/clients/${ids.client}/access?find=e&kind=group`];
      for (const path of [...plainPages, ...pagesOf(ids), ...people]) {
        await page.goto(`${tenant.baseUrl}/console${path}`);
        await inViews(page, 'all', async (view) => {
          await assertAccessible(page, `${path} ${view}`);
          if (view === 'desktop dark') await assertShort(page, path);
          if (view !== 'phone dark') await keepScreenshot(page, `console ${nameOf(path, ids)} ${view}`);
        });
      }
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('no page is wider than a screen of 320 px, with every tab in sight, or longer than 60 kB', async () => {
      const { page, tenant } = await open({ viewport: narrowView });
      const ids = await fillTenant(server, tenant, 'Engineers');
      for (const path of [...plainPages, ...pagesOf(ids)]) {
        const answer = await page.goto(`${tenant.baseUrl}/console${path}`);
        const bytes = (await answer!.body()).length;
        assert.ok(bytes <= pageBytesMax, `${path} has ${bytes} bytes`);
        await assertFits(page, `${path} at 320 px`);
        assert.deepEqual(await page.evaluate(tabsOutOfSight), [], path);
      }
      await page.context().close();
    });

    it('the page of a new application says when its first sign-in came, without being loaded again', async () => {
      const { page, tenant } = await open({});
      const { client_id: id } = await tenant.make('POST', '/clients', { name: 'Waits', type: 'public' });
      await page.goto(`${tenant.baseUrl}/console/clients/${String(id)}/start`);
      assert.equal(await page.textContent('#waiting h2'), 'Waiting for your app');
      const { services } = server.gatehouse;
      const stored = (await services.tenants.bySlug(tenant.slug))!;
      await services.database.write(stored.id, (queries) =>
        insertAuditEvent(queries, stored.id, server.clock.nowMs(), { type: 'login.finished', target: `client:${String(id)}` }),
      );
      await page.waitForSelector('#waiting h2:text-is("Your app works")');
      await page.context().close();
    });

    it('axe finds nothing on the pages that forms lead to, and on those of operators', async () => {
      const tenant = await manageRootTenant(server);
      await tenant.make('PATCH', '/settings', { login_methods: ['email_pin'] });
      await createTestUser(tenant, 'operator@main.example', { role: 'admin' });
      const { page, seen } = await open({ bypassCSP: true }, { tenant, email: 'operator@main.example' });
      const clean = async (where: string): Promise<void> => {
        await assertAccessible(page, where);
        await keepScreenshots(page, `console ${where}`);
      };
      const go = (path: string): Promise<unknown> => page.goto(`${tenant.baseUrl}/console${path}`);
      await go('');
      await page.click('#menu a:text-is("Tenants")');
      await page.waitForSelector('#new');
      await clean('tenants');
      await page.click('#new');
      await page.waitForSelector('#field-slug');
      await clean('new tenant');
      await page.fill('#field-slug', 'browser');
      await page.fill('#field-name', 'Made in a browser');
      await page.click('#save');
      await page.waitForSelector('#secret');
      await clean('tenant made');
      const made = page.url();
      await go('');
      await page.click('#switch');
      await clean('tenant switcher');
      await page.click('.switch button:has-text("Made in a browser")');
      await page.waitForSelector('.operator');
      assert.equal(new URL(page.url()).pathname, '/t/browser/console');
      await clean('in a tenant as an operator');
      await page.click('#menu a:text-is("People")');
      await page.waitForSelector('.operator');
      await clean('people of a tenant as an operator');
      await page.click('#leave');
      await page.waitForSelector('h1:text-is("Tenants")');
      await page.goto(made);
      await page.click('#delete');
      await page.waitForSelector('#sure');
      await clean('typed confirmation');
      await page.fill('#typed', 'browser');
      await page.click('#sure');
      await page.waitForSelector('text=Made in a browser was deleted');
      const ids = await fillTenant(server, tenant, 'Somebody');
      await go(`/users/${ids.user}/devices`);
      await page.click('#enroll');
      await page.waitForSelector('#enrolment');
      await clean('enrolment');
      await go(`/service-providers/${ids.provider}/metadata`);
      await page.click('#own-keys');
      await page.waitForSelector('#rotate-own');
      await clean('own keys');
      await page.click('#rotate-own');
      await page.waitForSelector('#sure');
      await clean('rotate own keys');
      await page.click('#sure');
      await page.waitForSelector('text=The next key signs from now on');
      await go('/scim');
      await page.click('#make');
      await page.waitForSelector('#made-client-secret');
      await clean('SCIM made');
      await page.click('#try');
      await page.waitForSelector('#results');
      await clean('SCIM tried');
      const [dn, values] = ['uid=ada,ou=people,dc=corp,dc=example', { user_name: ['ada'], title: ['x'.repeat(1_024)] }];
      answerInstead(server, {
        plan: { differences: [{ remote_id: 'a', dn, user_name: 'ada', action: 'create' }], failure: { reason: 'partial', detail: dn } },
        test: { people: [{ remote_id: 'a', dn, active: true, values }] },
      });
      for (const tab of ['plan', 'test']) {
        await go(`/directories/${ids.directory}/${tab}`);
        await page.click('#ask');
        await page.waitForSelector('#answer');
        await clean(`LDAP ${tab} answered`);
      }
      await go('/clients/new?kind=web');
      await page.fill('#field-name', 'x');
      await page.fill('#field-redirect_uris', 'not a uri');
      await page.click('#save');
      await page.waitForSelector('#notice');
      await clean('refused form');
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('nothing in a name runs', async () => {
      const { page, tenant, seen } = await open({});
      // Each text and each page: that every text is escaped on every page is shown without a browser (test/surfaces/console-names.test.ts).
      const textsAName = 3;
      const names = Math.ceil(xssCorpus.length / textsAName);
      for (let index = 0; index < names; index += 1) {
        const text = xssCorpus.slice(index * textsAName, (index + 1) * textsAName).join(' ');
        const ids = await fillTenant(server, tenant, text, `xss${index}`);
        for (const path of pagesOf(ids).filter((_, place) => place % names === index)) {
          await page.goto(`${tenant.baseUrl}/console${path}`);
          assert.equal(await page.evaluate('window.pwned'), undefined, `${path}: ${text}`);
        }
      }
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('without scripts: metadata uploaded, a member added and removed, a phone revoked, an entry of a directory settled', async () => {
      const { page, tenant, seen } = await open({ javaScriptEnabled: false, viewport: phoneView });
      const ids = await fillTenant(server, tenant, 'Somebody');
      await createTestUser(tenant, 'mary@x.example', { display_name: 'Mary Member' });
      const go = (path: string): Promise<unknown> => page.goto(`${tenant.baseUrl}/console${path}`);
      await go('/service-providers/import');
      const xml = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://wiki.example"><SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://wiki.example/acs" index="0"/></SPSSODescriptor></EntityDescriptor>`;
      await page.setInputFiles('#file', { name: 'wiki.xml', mimeType: 'application/xml', buffer: Buffer.from(xml) });
      await page.click('#import');
      assert.match((await page.textContent('#preview')) ?? '', /Nothing is saved yet/);
      await page.click('#save');
      assert.match((await page.textContent('#notice')) ?? '', /^The metadata of .* was imported\.$/);
      await go(`/groups/${ids.group}/members`);
      await page.fill('#find', 'mary');
      await page.click('#find-people');
      await page.click('td button:has-text("Add")');
      assert.equal(await page.textContent('#notice'), 'Added.');
      await page.click('tr:has-text("Mary Member") >> button:has-text("Remove")');
      await page.click('#sure');
      assert.match((await page.textContent('#notice')) ?? '', /^Removed from /);
      await go(`/users/${ids.user}/devices`);
      await page.click('button:has-text("Revoke…") >> nth=0');
      await page.click('#sure');
      assert.match((await page.textContent('#notice')) ?? '', /The phone was revoked/);
      await go(`/directories/${ids.directory}/links?state=conflict`);
      await page.click('summary:has-text("Settle")');
      await page.click('a:has-text("Find person")');
      await page.fill('#find', 'mary');
      await page.click('#find-people');
      await page.click('td button:has-text("It is this one")');
      assert.match((await page.textContent('#notice')) ?? '', /The next run brings what the directory says/);
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('with scripts: a button copies, a time is told as long ago and in full on focus', async () => {
      const { page, tenant, seen } = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
      const ids = await fillTenant(server, tenant, 'Somebody');
      await page.goto(`${tenant.baseUrl}/console/clients/${ids.client}/start`);
      await page.click('button[aria-describedby="env"]');
      await page.waitForSelector('button[aria-describedby="env"]:text-is("Copied")');
      assert.equal(await page.evaluate('navigator.clipboard.readText()'), await page.textContent('#env'));
      await page.goto(`${tenant.baseUrl}/console/groups`);
      const told = (await page.textContent('main time')) ?? '';
      assert.match(told, /ago|now/);
      await page.focus('main time');
      assert.match((await page.textContent('main time')) ?? '', /\d{4}/);
      assert.equal(await page.getAttribute('main time', 'title'), await page.textContent('main time'));
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('an administrator makes a client without scripts, within the policy', async () => {
      const { page, tenant, seen } = await open({ javaScriptEnabled: false });
      await page.click('#menu a:text-is("Applications")');
      await page.click('#new');
      await page.click('#kind-web');
      await page.fill('#field-name', 'Harbour Analytics');
      await page.fill('#field-redirect_uris', 'https://harbour.example/callback');
      await page.click('#save');
      assert.match((await page.textContent('#secret-client_secret')) ?? '', /^[A-Za-z0-9_-]{43}$/);
      await page.click('#menu a:text-is("Applications")');
      assert.ok(await page.isVisible('text=Harbour Analytics'));
      await page.click('#sign-out');
      assert.equal(await page.textContent('h1'), 'Signed out');
      assert.deepEqual(seen, []);
      assert.ok(tenant.baseUrl.startsWith(server.url));
      await page.context().close();
    });
  });
