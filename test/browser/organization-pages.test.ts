// The pages of organisations in Chromium: one's own, those one manages, and setting one up by a link, without an account, on a phone's screen:
// clean by axe in both widths and schemes and in all four languages, within their policy, no wider than the narrowest screen, under 60 kB.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { languages } from '../../src/domain/language.ts';
import { createAccountTenant, createPerson } from '../support/account.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { reachesLoopback } from '../support/ciba.ts';
import type { TestUser } from '../support/enrolled-phone.ts';
import { pinOf } from '../support/mailbox.ts';
import type { Managed } from '../support/management.ts';
import {
  assertAccessible,
  assertFits,
  inViews,
  keepScreenshot,
  narrowView,
  openWatched,
  phoneView,
  type WatchedPage,
} from '../support/page-check.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startUpstream, type TestUpstream } from '../support/upstream.ts';

if (hasChromium)
  describe('Pages of organisations in Chromium', () => {
    let server: TestServer;
    let tenant: Managed;
    let browser: Browser;
    let upstream: TestUpstream;
    let organization: string;
    before(async () => {
      server = await startTestServer('sqlite', { flags: reachesLoopback });
      tenant = await createAccountTenant(server, { rate_limits: { login_starts_per_ip: roomyRate, pin_attempts_per_ip: roomyRate } });
      upstream = await startUpstream(server.clock.nowMs);
      browser = await launchChromium();
      await tenant.make('POST', '/organization-roles', { name: 'manager', description: 'Looks after the company', manage: true });
      await tenant.make('POST', '/organization-roles', { name: 'approver', description: 'Approves orders' });
      const { id } = await tenant.make('POST', '/organizations', { name: 'acme', display_name: 'Acme Manufacturing and Trading Company' });
      organization = String(id);
      for (const name of ['Ada Lovelace', 'Grace Hopper', 'An extraordinarily long name without any end to it'])
        await tenant.make('PUT', `/organizations/${organization}/members/${(await createPerson(tenant, { display_name: name })).id}`, {
          roles: ['approver'],
        });
      await tenant.make('POST', `/organizations/${organization}/invitations`, {
        email: 'new@acme.example',
        roles: ['approver'],
        mail: false,
      });
    });
    after(async () => {
      await browser?.close();
      await upstream?.close();
      await server?.close();
    });

    const enter = async ({ page }: WatchedPage, person: TestUser): Promise<void> => {
      await page.goto(`${tenant.baseUrl}/account`);
      await page.fill('#identifier', person.email);
      await page.click('#continue');
      await page.waitForSelector('#pin');
      await page.fill('#pin', await pinOf(server, person.email));
      await page.click('#verify');
      await page.waitForURL('**/account');
    };
    const look = async ({ page }: WatchedPage, where: string, language: string): Promise<void> => {
      assert.ok(Buffer.byteLength(await page.content()) < 60_000, `${where}: ${Buffer.byteLength(await page.content())} bytes`);
      await inViews(page, language === 'en' ? 'all' : 'two', async (view) => {
        await assertAccessible(page, `${where} ${view} in ${language}`);
        if (language === 'en') await keepScreenshot(page, `organization ${where} ${view}`);
      });
      await page.setViewportSize(narrowView);
      await assertFits(page, `${where} in ${language}`);
      await page.setViewportSize(phoneView);
    };

    for (const language of languages)
      it(`whoever manages one sees pages that axe finds nothing in, in ${language}`, async () => {
        const person = await createPerson(tenant, { preferred_language: language });
        await tenant.make('PUT', `/organizations/${organization}/members/${person.id}`, { roles: ['manager'] });
        const asked = await tenant.make('POST', '/organizations', { name: `asked-${language}`, display_name: 'Globex' });
        const { invitation_url: url } = await tenant.make('POST', `/organizations/${String(asked['id'])}/invitations`, {
          email: person.email,
          mail: false,
        });
        const watched = await openWatched(browser, server.url, { locale: language, viewport: phoneView });
        const { page, seen } = watched;
        await enter(watched, person);
        for (const [where, path] of [
          ['own', ''],
          ['members', `/${organization}`],
          ['member', `/${organization}/members/${person.id}`],
          ['invitations', `/${organization}/invitations`],
          ['sign-ins', `/${organization}/sign-ins`],
          ['setup', `/${organization}/setup`],
          ['leave', `/${organization}/leave`],
          ['join', `/join?invitation=${String(url).split('#')[1]}`],
        ] as const) {
          await page.goto(`${tenant.baseUrl}/account/organizations${path}`);
          assert.equal(await page.getAttribute('html', 'lang'), language, where);
          await look(watched, where, language);
        }
        await page.click('#join');
        await page.waitForSelector('#notice');
        assert.deepEqual(seen, []);
        await page.context().close();
      });

    it('a link is enough: domain, provider tried and on, rule and token, at 390 px and without an account', async () => {
      const { setup_url: url } = await tenant.make('POST', `/organizations/${organization}/setup-links`);
      const watched = await openWatched(browser, server.url, { viewport: phoneView });
      const { page } = watched;
      await page.goto(String(url));
      await look(watched, 'link', 'en');
      await page.click('#continue');
      await page.waitForSelector('#add-domain');
      await page.fill('#domain', 'acme.example');
      await page.click('#add-domain');
      await page.waitForSelector('#check');
      await page.fill('#issuer', upstream.issuer);
      await page.fill('#client-id', 'gatehouse');
      await page.fill('#client-secret', 'secret-of-gatehouse-at-acme-0123456789');
      await page.click('#save-oidc');
      await page.waitForSelector('#try');
      await look(watched, 'set up', 'en');
      upstream.welcome({ sub: 'it', email: 'it@acme.example', email_verified: true });
      await page.click('#try');
      await page.waitForSelector('#turn-on');
      assert.match((await page.textContent('#notice')) ?? '', /It worked for it@acme\.example/);
      await page.click('#turn-on');
      await page.waitForSelector('#turn-off');
      await page.check('[value=own_providers]');
      await page.click('#save-rule');
      await page.fill('#token-name', 'Entra ID');
      await page.click('#add-token');
      await page.waitForSelector('#token');
      await look(watched, 'token', 'en');
      await page.context().close();
    });
  });
