// The lost phone in a real browser: codes are made with a passkey, one signs in without script, an administrator's link leads to new ways
// to sign in, and the notice stops it. Accessible in light and dark from 320 px on. Screenshots go where GATEHOUSE_TEST_SCREENSHOTS says.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { mailsTo, pinOf } from '../support/mailbox.ts';
import { createTestTenant, createTestUser, type Managed } from '../support/management.ts';
import { assertAccessible, inViews, keepScreenshot, openWatched } from '../support/page-check.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

if (hasChromium)
  describe('a lost phone in Chromium', () => {
    let server: TestServer;
    let tenant: Managed;
    let browser: Browser;
    before(async () => {
      server = await startTestServer('sqlite');
      const rates = { login_starts_per_ip: roomyRate, pin_attempts_per_ip: roomyRate };
      tenant = await createTestTenant(server, { settings: { login_methods: ['passkey', 'phone', 'email_pin'], rate_limits: rates } });
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    const open = (options: BrowserContextOptions = {}) => openWatched(browser, new URL(server.url).origin, options);
    const check = async (page: Page, name: string): Promise<void> => {
      await inViews(page, 'all', async (view) => {
        await assertAccessible(page, `${name}, ${view}`);
        await keepScreenshot(page, `recovery-${name}-${view}`);
      });
      await page.setViewportSize({ width: 320, height: 700 });
      await assertAccessible(page, `${name}, 320 px`);
      await keepScreenshot(page, `recovery-${name}-320`);
      await page.setViewportSize({ width: 1280, height: 900 });
    };
    const withAuthenticator = async (page: Page): Promise<void> => {
      const session = await page.context().newCDPSession(page);
      await session.send('WebAuthn.enable');
      await session.send('WebAuthn.addVirtualAuthenticator', {
        options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      });
    };
    /** A person who added a passkey by the link of an invitation, signed in with it at the account page. */
    const atAccount = async (email: string): Promise<Page> => {
      const { id } = await createTestUser(tenant, email, { display_name: 'Ada Lovelace' });
      const made = await tenant.make('POST', `/users/${id}/invitations`, { mail: false });
      const { page } = await open();
      await withAuthenticator(page);
      await page.goto(String(made['invitation_url']));
      await page.click('#continue');
      await page.click('#create-passkey');
      await page.waitForSelector('#passkey-added');
      await page.click('#account');
      await page.fill('#identifier', email);
      await page.click('#continue');
      await page.click('#use-passkey');
      await page.waitForURL('**/account');
      return page;
    };

    it('codes are made and shown once; one signs in without script; the lost way goes and a new one comes', async () => {
      const email = 'codes@recovery.example';
      const page = await atAccount(email);
      await page.click('a[href$="/account/recovery-codes"] >> nth=0');
      await check(page, 'none-yet');
      await page.click('#make-codes');
      const codes = await page.locator('#codes li').allTextContents();
      assert.equal(codes.length, 10);
      await check(page, 'codes');
      await page.click('text=I have kept them');
      assert.equal(await page.textContent('#codes-left'), '10');
      await check(page, 'left');
      await page.context().close();

      const { page: scripted, seen } = await open();
      await scripted.goto(`${tenant.baseUrl}/account`);
      await scripted.fill('#identifier', email);
      await scripted.click('#continue');
      await check(scripted, 'choose');
      await scripted.click('#lost-phone');
      await check(scripted, 'type');
      await scripted.fill('#code', 'AAAAA-AAAAA');
      await scripted.click('#verify');
      assert.match((await scripted.textContent('#alert')) ?? '', /4 attempts are left/);
      await check(scripted, 'wrong');
      assert.deepEqual(seen, []);
      await scripted.context().close();

      const { page: plain } = await open({ javaScriptEnabled: false, locale: 'de-DE' });
      await plain.goto(`${tenant.baseUrl}/account`);
      await plain.fill('#identifier', email);
      await plain.click('#continue');
      await plain.click('text=Telefon verloren?');
      await plain.fill('#code', codes[0]!.toLowerCase());
      await plain.click('#verify');
      await plain.click('#continue');
      await plain.waitForURL('**/account');
      await plain.goto(`${tenant.baseUrl}/account/passkeys`);
      await plain.click('.cards a');
      await plain.click('summary');
      await plain.click('#revoke-passkey');
      await plain.waitForURL('**/account/passkeys?done=*');
      await plain.goto(`${tenant.baseUrl}/account/devices`);
      await plain.click('#add');
      await plain.waitForSelector('#enroll');
      await plain.context().close();
    });

    it('whoever is signed in by mail alone is told what to sign in with', async () => {
      const email = 'mail@recovery.example';
      await (await atAccount(email)).context().close();
      const { page } = await open();
      await page.goto(`${tenant.baseUrl}/account`);
      await page.fill('#identifier', email);
      await page.click('#continue');
      await page.click('#use-email');
      await page.waitForSelector('#pin');
      await page.fill('#pin', await pinOf(server, email));
      await page.click('#verify');
      await page.waitForURL('**/account');
      await page.goto(`${tenant.baseUrl}/account/devices`);
      await page.click('#add');
      await page.waitForSelector('#sign-in-again');
      await check(page, 'prove-more');
      await page.click('#sign-in-again');
      await page.waitForSelector('#identifier');
      await page.context().close();
    });

    it('the link of an administrator leads to new ways to sign in, the notice stops it without script', async () => {
      const email = 'helped@recovery.example';
      const { id } = await createTestUser(tenant, email, { display_name: 'Ada Lovelace' });
      await tenant.make('POST', `/users/${id}/recoveries`, { reason: 'Lost phone' });
      const mails = (await mailsTo(server, email)).map(({ text }) => text).join('\n');
      const link = /https?:\S+welcome\?for=recovery#\S+/.exec(mails)![0];
      const { page, seen } = await open();
      await withAuthenticator(page);
      await page.goto(link);
      assert.equal(new URL(page.url()).hash, '', 'the token left the address');
      await check(page, 'link');
      await page.click('#continue');
      await page.waitForSelector('#recovered');
      await check(page, 'ways');
      await page.click('#create-passkey');
      await page.waitForSelector('#passkey-added');
      assert.deepEqual(seen, []);
      const stop = /https?:\S+welcome\/stop\S+/.exec(mails)![0];
      const { page: question } = await open();
      await question.goto(stop);
      await check(question, 'stop');
      await question.context().close();
      const { page: plain } = await open({ javaScriptEnabled: false, locale: 'fr-FR' });
      await plain.goto(stop);
      await plain.click('text=Arrêter');
      await plain.waitForSelector('text=C’est arrêté');
      await plain.context().close();
      assert.equal((await page.goto(`${tenant.baseUrl}/welcome/add`))?.status(), 404);
      const { items } = await tenant.make<{ readonly items: readonly unknown[] }>('GET', `/users/${id}/passkeys`);
      assert.deepEqual(items, []);
      await page.context().close();
    });

    it('the console’s page of a person who lost the phone', async () => {
      const email = 'desk@recovery.example';
      await createTestUser(tenant, email, { role: 'admin', display_name: 'Grace Hopper' });
      const { id } = await createTestUser(tenant, 'lost@recovery.example', { display_name: 'Ada Lovelace' });
      await tenant.make('POST', `/users/${id}/recoveries`, { reason: 'Called back on the number in the directory', mail: false });
      const { page, seen } = await open();
      await page.goto(`${tenant.baseUrl}/console/users/${id}/recoveries`);
      await page.fill('#identifier', email);
      await page.click('#continue');
      await page.click('#use-email');
      await page.waitForSelector('#pin');
      await page.fill('#pin', await pinOf(server, email));
      await page.click('#verify');
      await page.waitForURL('**/recoveries');
      await check(page, 'console');
      await page.fill('#reason', 'Lost phone, shown passport at the desk');
      await page.click('#recover-link');
      await page.waitForSelector('#recovery-link');
      await check(page, 'console-link');
      assert.deepEqual(seen, []);
      await page.context().close();
    });
  });
