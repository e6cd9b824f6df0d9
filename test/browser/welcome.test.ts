// An invitation in a real browser: the link of the mail, one button, a passkey; and a phone that appears on the page while it is open.
// Accessible in light and dark from 320 px on. Screenshots go where GATEHOUSE_TEST_SCREENSHOTS says.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { testDevice } from '../support/enrolled-phone.ts';
import { mailsTo } from '../support/mailbox.ts';
import { createTestTenant, createTestUser, jsonOf, type Managed } from '../support/management.ts';
import { assertAccessible, inViews, keepScreenshot, openWatched } from '../support/page-check.ts';
import { createPhone } from '../support/phone.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

if (hasChromium)
  describe('an invitation in Chromium', () => {
    let server: TestServer;
    let tenant: Managed;
    let browser: Browser;
    before(async () => {
      server = await startTestServer('sqlite');
      tenant = await createTestTenant(server, { settings: { rate_limits: { login_starts_per_ip: roomyRate } } });
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    const check = async (page: Page, name: string): Promise<void> => {
      await inViews(page, 'all', async (view) => {
        await assertAccessible(page, `${name}, ${view}`);
        await keepScreenshot(page, `welcome-${name}-${view}`);
      });
      await page.setViewportSize({ width: 320, height: 700 });
      await assertAccessible(page, `${name}, 320 px`);
      await page.setViewportSize({ width: 1280, height: 900 });
    };

    /** Opens the link of the mail as far as the ways to sign in. */
    const open = async (email: string) => {
      const { id } = await createTestUser(tenant, email, { display_name: 'Ada Lovelace' });
      await tenant.make('POST', `/users/${id}/invitations`, {});
      const [mail] = await mailsTo(server, email);
      const link = /https?:\S+#\S+/.exec(mail!.text)![0];
      const { page, seen } = await openWatched(browser, new URL(server.url).origin);
      await page.goto(link);
      return { page, seen };
    };

    it('leads by one button and one more to a passkey, which opens the account', async () => {
      const { page, seen } = await open('passkey@welcome.example');
      const session = await page.context().newCDPSession(page);
      await session.send('WebAuthn.enable');
      await session.send('WebAuthn.addVirtualAuthenticator', {
        options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      });
      assert.equal(new URL(page.url()).hash, '', 'the token left the address');
      await check(page, 'link');
      await page.click('#continue');
      await page.waitForSelector('#create-passkey');
      await check(page, 'ways');
      await page.click('#create-passkey');
      await page.waitForSelector('#passkey-added');
      await check(page, 'passkey-added');
      await page.click('#account');
      await page.fill('#identifier', 'passkey@welcome.example');
      await page.click('#continue');
      await page.click('#use-passkey');
      await page.waitForURL('**/account');
      assert.equal(await page.textContent('#name'), 'Ada Lovelace');
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('shows a phone that was added while one looks', async () => {
      const { page } = await open('phone@welcome.example');
      await page.click('#continue');
      const link = (await page.getAttribute('#enroll', 'href'))!;
      const phone = createPhone(tenant.baseUrl, server.clock.nowMs);
      const redeemed = await jsonOf<{ registration_token: string; attestation: { challenge: string } }>(
        await phone.post('/enrollment/redeem', {
          enrollment_token: /t=([\w-]+)/.exec(link)![1],
          device: testDevice,
          keys: phone.publicKeys(),
        }),
        200,
      );
      const proofs = phone.proofs(redeemed.attestation.challenge);
      assert.equal((await phone.post('/enroll', { registration_token: redeemed.registration_token, proofs })).status, 201);
      await page.waitForSelector('#phone-added');
      await check(page, 'phone-added');
      await page.click('#another-phone');
      await page.waitForSelector('#enroll');
      await page.context().close();
    });

    it('the link used before says so', async () => {
      const { page } = await open('used@welcome.example');
      const token = await page.inputValue('#token');
      await fetch(`${tenant.baseUrl}/welcome`, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ token }) });
      await page.click('#continue');
      await page.waitForSelector('#alert');
      await check(page, 'used');
      await page.context().close();
    });
  });
