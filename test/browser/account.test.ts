// The account page in Chromium: every page is clean by axe in both widths and schemes and in all four languages, within its
// policy; everything is done without scripts; hostile names run nothing; no other site can frame it.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { languages } from '../../src/domain/language.ts';
import { createAccountTenant, createPerson, domainTenant, phoneOf } from '../support/account.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import type { TestUser } from '../support/enrolled-phone.ts';
import { createClient } from '../support/fixtures.ts';
import { issueTokens } from '../support/issued-tokens.ts';
import { pinOf } from '../support/mailbox.ts';
import type { Managed } from '../support/management.ts';
import { assertAccessible, inViews, keepScreenshot, openWatched, phoneView, type WatchedPage } from '../support/page-check.ts';
import type { Phone } from '../support/phone.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { xssCorpus } from '../support/xss.ts';

const pages = ['', '/devices', '/passkeys', '/sessions', '/sessions/end-all', '/activity', '/language'];

if (hasChromium)
  describe('Account page in Chromium', () => {
    let server: TestServer;
    let tenant: Managed;
    let browser: Browser;
    before(async () => {
      server = await startTestServer('sqlite');
      tenant = await createAccountTenant(server, { device: { additional_device: 'email_pin' } });
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    /** Signs a person in, by the pages; `look` sees each of them. */
    const enter = async (
      { page }: WatchedPage,
      person: TestUser,
      withScripts = true,
      look: (where: string) => Promise<void> = async () => undefined,
    ): Promise<void> => {
      await page.goto(`${tenant.baseUrl}/account`);
      await look('identify');
      await page.fill('#identifier', person.email);
      await page.click('#continue');
      await page.waitForSelector('#pin');
      await look('pin');
      await page.fill('#pin', await pinOf(server, person.email));
      await page.click('#verify');
      if (!withScripts) await page.click('#continue');
      await page.waitForURL('**/account');
    };

    /** A person with a phone and an application they are signed in to. */
    const settled = async (
      name: string,
      fields: Readonly<Record<string, unknown>> = {},
    ): Promise<{ readonly person: TestUser; readonly phone: Phone }> => {
      const person = await createPerson(tenant, fields);
      const phone = await phoneOf(server, tenant, person);
      const { services } = server.gatehouse;
      const domain = await domainTenant(server, tenant);
      await issueTokens(services, domain, await createClient(services, domain, { name }), person.id);
      return { person, phone };
    };

    for (const language of languages)
      it(`axe finds nothing from the sign-in to the last page, in ${language}`, async () => {
        const { person, phone } = await settled('Harbour Analytics');
        const watched = await openWatched(browser, server.url, { locale: language, viewport: phoneView });
        const { page, seen } = watched;
        let enrollment = 'enrolment';
        const look = async (where: string): Promise<void> => {
          assert.equal(await page.getAttribute('html', 'lang'), language, where);
          await assertAccessible(page, `${where} in ${language}`);
          if (language === 'en')
            await keepScreenshot(page, `account ${where.replace(enrollment, 'enrolment').replace(phone.deviceId, 'phone')}`);
        };
        await enter(watched, person, true, look);
        await page.goto(`${tenant.baseUrl}/account/devices`);
        await page.click('#add');
        await page.waitForSelector('#qr svg');
        enrollment = page.url();
        for (const path of [...pages, `/devices/${phone.deviceId}/remove`, enrollment]) {
          await page.goto(path === enrollment ? path : `${tenant.baseUrl}/account${path}`);
          if (path === '/devices') await page.click('summary');
          await inViews(page, language === 'en' ? 'all' : 'two', (view) => look(`${path} ${view}`));
        }
        await page.click('#sign-out');
        await page.waitForSelector('#sign-in');
        await look('signed out');
        assert.deepEqual(seen, []);
        await page.context().close();
      });

    it('everything is done without scripts, within the policy', async () => {
      const { person } = await settled('Harbour Analytics');
      const watched = await openWatched(browser, server.url, { javaScriptEnabled: false, viewport: phoneView });
      const { page, seen } = watched;
      await enter(watched, person, false);
      await page.click('nav >> text=Phones');
      await page.click('summary');
      await page.fill('input[name=name]', '');
      await page.fill('input[name=name]', 'Ada’s phone');
      await page.click('details button');
      assert.equal(await page.textContent('#notice'), 'The name was changed.');
      await page.click('#add');
      await page.waitForSelector('#qr svg');
      await page.click('nav >> text=Phones');
      await page.click('text=Remove');
      assert.equal(await page.textContent('h1'), 'Remove “Ada’s phone”?');
      await page.click('#remove');
      await page.waitForSelector('#none');
      await page.click('nav >> text=Sessions');
      await page.click('[aria-label="End the session at Harbour Analytics"]');
      assert.equal(await page.textContent('#notice'), 'The session was ended.');
      assert.equal(await page.locator('.cards li').count(), 1);
      await page.click('nav >> text=Activity');
      assert.match(
        (await page.textContent('.events')) ?? '',
        /A session was ended\.[\s\S]*A phone was removed\.[\s\S]*A phone was renamed\./,
      );
      await page.click('nav >> text=Language');
      await page.check('[value=ja]');
      await page.click('#save');
      assert.equal(await page.textContent('#notice'), '保存しました。');
      await page.click('nav >> text=セッション');
      await page.click('#end-all');
      await page.click('form #end-all');
      assert.equal(await page.textContent('h1'), 'サインアウトしました');
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('by keyboard: the first stop skips to the content, every control can be seen when it has the focus', async () => {
      const { person } = await settled('Harbour Analytics');
      const watched = await openWatched(browser, server.url);
      const { page } = watched;
      await enter(watched, person);
      await page.goto(`${tenant.baseUrl}/account/devices`);
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate('document.activeElement.className'), 'skip');
      await page.keyboard.press('Enter');
      assert.equal(await page.evaluate('document.activeElement.id'), 'content');
      const stops = await focusStops(page);
      assert.deepEqual(
        stops.filter((stop) => !stop.outlined),
        [],
      );
      assert.ok(
        stops.some((stop) => stop.id === 'add'),
        JSON.stringify(stops),
      );
      await page.context().close();
    });

    it('hostile names run nothing and ask nobody', async () => {
      const { person, phone } = await settled('Harbour Analytics');
      const watched = await openWatched(browser, server.url);
      const { page, seen } = watched;
      await enter(watched, person);
      const { services } = server.gatehouse;
      const domain = await domainTenant(server, tenant);
      for (const text of xssCorpus) {
        await tenant.make('PATCH', `/users/${person.id}`, { display_name: text });
        await issueTokens(services, domain, await createClient(services, domain, { name: text }), person.id);
        assert.equal((await phone.call('PATCH', '/v1/device/self', { body: { name: text } })).status, 200);
        for (const path of ['', '/devices', `/devices/${phone.deviceId}/remove`, '/sessions']) {
          await page.goto(`${tenant.baseUrl}/account${path}`);
          assert.ok((await page.textContent('body'))?.includes(text), `${path} ${text}`);
          assert.equal(await page.evaluate('window.pwned'), undefined, `${path} ${text}`);
        }
      }
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('no other site can frame it, not even one its cookies are sent from', async () => {
      const { person } = await settled('Harbour Analytics');
      const framing = createServer((request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' });
        response.end(
          request.url === '/' ? `<iframe src="/inner"></iframe><iframe src="${tenant.baseUrl}/account"></iframe>` : '<p>inner</p>',
        );
      });
      await new Promise<void>((resolve) => framing.listen(0, '127.0.0.1', resolve));
      try {
        const watched = await openWatched(browser, server.url);
        const { page } = watched;
        await enter(watched, person);
        const asked = page.waitForResponse(`${tenant.baseUrl}/account`);
        await page.goto(`http://${new URL(server.url).hostname}:${(framing.address() as AddressInfo).port}/`); // an AF_INET server has one
        assert.equal((await asked).status(), 200);
        const shown = await Promise.all(
          page
            .frames()
            .slice(1)
            .map((frame) => frame.content()),
        );
        assert.equal(shown.length, 2);
        assert.equal(shown.filter((content) => content.includes('<p>inner</p>')).length, 1);
        assert.ok(shown.every((content) => !content.includes('Ada Lovelace') && !content.includes('id="sign-out"')));
        await page.context().close();
      } finally {
        framing.close();
        framing.closeAllConnections();
      }
    });
  });

/** What Tab comes by after the content, and whether it shows. */
async function focusStops(page: Page): Promise<readonly { readonly id: string; readonly outlined: boolean }[]> {
  const stops: { readonly id: string; readonly outlined: boolean }[] = [];
  for (let step = 0; step < 12; step += 1) {
    await page.keyboard.press('Tab');
    const stop = (await page.evaluate(
      `(() => { const node = document.activeElement; const style = getComputedStyle(node); return { body: node === document.body, id: node.id || node.tagName, outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 }; })()`,
    )) as { readonly body: boolean; readonly id: string; readonly outlined: boolean }; // the object built above
    if (stop.body) break;
    stops.push({ id: stop.id, outlined: stop.outlined });
  }
  return stops;
}
