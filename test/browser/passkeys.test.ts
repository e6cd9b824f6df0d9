// Passkeys in Chromium with its virtual authenticator: a person adds one on the account page and signs in to a sample client with
// it; every page on the way is clean by axe in both schemes and widths, within its policy, and says what to do without scripts.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import { type RelyingParty, startRelyingParty } from '../../demo/relying-party.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { createUser, type TestUser } from '../support/fixtures.ts';
import { mailsTo, pinOf } from '../support/mailbox.ts';
import { createTestClient, createTestTenant, type Managed } from '../support/management.ts';
import { assertAccessible } from '../support/page-check.ts';
import { givePasskey } from '../support/passkeys.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const devices: readonly BrowserContextOptions[] = [
  { viewport: { width: 320, height: 640 }, colorScheme: 'light' },
  { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
];

if (hasChromium)
  describe('Passkeys in Chromium', () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    let party: RelyingParty;
    let browser: Browser;
    before(async () => {
      // Browsers take no IP address for a relying party.
      server = await startTestServer('sqlite', { flags: { listen: 'localhost:0' } });
      managed = await createTestTenant(server, { settings: { login_methods: ['passkey', 'email_pin'] } });
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      party = await startRelyingParty({
        issuer: managed.baseUrl,
        register: async ({ redirectUri, postLogoutRedirectUri }) => {
          const uris = { redirect_uris: [redirectUri], post_logout_redirect_uris: [postLogoutRedirectUri] };
          const made = await createTestClient(managed, { name: 'Harbour Analytics', ...uris });
          return { clientId: made.client_id, clientSecret: made.client_secret };
        },
      });
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await party?.close();
      await server?.close();
    });

    interface Opened {
      readonly page: Page;
      readonly cdp: CDPSession;
      readonly authenticatorId: string;
      /** Policy violations and page errors. */
      readonly seen: string[];
    }

    /** A page with a platform authenticator that knows its user. */
    const open = async (options: BrowserContextOptions = {}): Promise<Opened> => {
      const context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en-GB', ...options });
      const page = await context.newPage();
      const seen: string[] = [];
      page.on('console', (message) => {
        if (/Content Security Policy|Refused/.test(message.text())) seen.push(message.text());
      });
      page.on('pageerror', (error) => seen.push(String(error)));
      const cdp = await context.newCDPSession(page);
      await cdp.send('WebAuthn.enable');
      const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      });
      return { page, cdp, authenticatorId, seen };
    };

    /** Signs in to the account page with the PIN of the mail. */
    const enter = async (page: Page, user: TestUser): Promise<void> => {
      await page.goto(`${tenant.baseUrl}/account/passkeys`);
      await page.fill('#identifier', user.email);
      await page.click('#continue');
      await page.click('#use-email');
      await page.fill('#pin', await pinOf(server, user.email));
      await page.click('#verify');
      await page.waitForURL('**/account/passkeys');
    };

    for (const device of devices)
      it(`added on the account page, used at a client, renamed, revoked: ${device.viewport?.width} px, ${device.colorScheme}`, async () => {
        const user = await createUser(server.gatehouse.services, tenant);
        const { page, cdp, authenticatorId, seen } = await open(device);
        await enter(page, user);
        await assertAccessible(page, 'no passkeys');
        await page.click('#add-passkey');
        await assertAccessible(page, 'new passkey');
        await page.fill('#name', 'My laptop');
        await page.click('#create-passkey');
        await page.waitForURL('**/account/passkeys?done=donePasskeyAdded');
        assert.match((await page.textContent('main')) ?? '', /The passkey was added\.[\s\S]*My laptop/);
        await assertAccessible(page, 'one passkey');
        const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
        assert.deepEqual(
          credentials.map(({ rpId, userHandle }) => [rpId, Buffer.from(userHandle ?? '', 'base64').toString()]),
          [['localhost', user.id]],
        );
        assert.match((await mailsTo(server, user.email))[0]?.subject ?? '', /A passkey was added/);

        await page.goto(party.url);
        await page.click('#sign-in');
        await page.fill('#identifier', user.email);
        await page.click('#continue');
        await page.waitForSelector('#use-passkey');
        await assertAccessible(page, 'choose');
        await page.click('#use-passkey');
        await page.waitForURL(`${party.url}/**`);
        assert.equal(await page.textContent('h1'), 'Signed in');
        assert.equal(await page.textContent('[data-claim=email]'), user.email);

        await page.goto(`${tenant.baseUrl}/account/passkeys`);
        await page.click('.card a');
        await assertAccessible(page, 'one passkey, its page');
        await page.fill('#name', 'Old laptop');
        await page.click('#rename-passkey');
        await page.waitForURL('**/account/passkeys?done=donePasskeyRenamed');
        await page.click('text=Old laptop');
        await page.click('summary');
        await assertAccessible(page, 'about to revoke');
        await page.click('#revoke-passkey');
        // Whoever came by mail alone takes no passkey away: the passkey itself says who asks.
        await page.waitForSelector('#sign-in-again');
        await assertAccessible(page, 'sign in again');
        await page.click('#sign-in-again');
        await page.fill('#identifier', user.email);
        await page.click('#continue');
        await page.click('#use-passkey');
        await page.waitForURL('**/account/passkeys');
        await page.click('text=Old laptop');
        await page.click('summary');
        await page.click('#revoke-passkey');
        await page.waitForURL('**/account/passkeys?done=donePasskeyRevoked');
        assert.match((await page.textContent('main')) ?? '', /You have no passkeys yet\./);
        assert.deepEqual(seen, []);
        await page.context().close();
      });

    it('no passkey in the authenticator: the page says so, and another way is open', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const { page, seen } = await open();
      await page.goto(`${party.url}/sign-in`);
      await page.fill('#identifier', user.email);
      await page.click('#continue');
      await page.click('#use-passkey');
      await page.waitForSelector('#passkey-alert:not([hidden])');
      assert.match((await page.textContent('#passkey-alert')) ?? '', /No passkey was used/);
      await assertAccessible(page, 'choose with an alert');
      await page.reload();
      await assertAccessible(page, 'passkey page');
      await page.click('text=Use another way');
      await page.click('#use-email');
      await page.fill('#pin', await pinOf(server, user.email));
      await page.click('#verify');
      await page.waitForURL(`${party.url}/**`);
      assert.deepEqual(seen, []);
      await page.context().close();
    });

    it('a passkey that is not accepted: the page says so and can be tried again', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const { page, cdp, authenticatorId } = await open();
      const { credentialId } = await givePasskey(server, tenant, user);
      const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'der', type: 'pkcs8' });
      await cdp.send('WebAuthn.addCredential', {
        authenticatorId,
        credential: {
          credentialId: Buffer.from(credentialId, 'base64url').toString('base64'),
          isResidentCredential: true,
          rpId: 'localhost',
          // Another key under the id that is registered.
          privateKey: stranger.toString('base64'),
          userHandle: Buffer.from(user.id).toString('base64'),
          signCount: 1,
        },
      });
      await page.goto(`${party.url}/sign-in`);
      await page.fill('#identifier', user.email);
      await page.click('#continue');
      await page.click('#use-passkey');
      await page.waitForSelector('#alert');
      assert.match((await page.textContent('#alert')) ?? '', /That passkey was not accepted/);
      await assertAccessible(page, 'refused');
      const again = page.waitForResponse((response) => response.url().endsWith('/passkey'));
      await page.click('#use-passkey');
      assert.equal((await again).status(), 401);
      await page.context().close();
    });

    it('the same authenticator twice: the page says that it has one already', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const { page } = await open();
      await enter(page, user);
      await page.goto(`${tenant.baseUrl}/account/passkeys/new`);
      await page.click('#create-passkey');
      await page.waitForURL('**/account/passkeys?done=donePasskeyAdded');
      // A code by email adds the first passkey only: sign in with it.
      await page.click('#add-passkey');
      await page.click('#sign-in-again');
      await page.fill('#identifier', user.email);
      await page.click('#continue');
      await page.click('#use-passkey');
      await page.waitForURL('**/account/passkeys/new');
      await page.click('#create-passkey');
      await page.waitForSelector('#passkey-alert:not([hidden])');
      assert.match((await page.textContent('#passkey-alert')) ?? '', /already/);
      await page.context().close();
    });

    it('without scripts the page says to choose another way, which works', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const context = await browser.newContext({ javaScriptEnabled: false, locale: 'en-GB' });
      const page = await context.newPage();
      await page.goto(`${party.url}/sign-in`);
      await page.fill('#identifier', user.email);
      await page.click('#continue');
      await page.click('#use-passkey');
      await page.waitForSelector('h1:has-text("Use your passkey")');
      assert.match((await page.textContent('noscript')) ?? '', /Passkeys need JavaScript/);
      await page.click('text=Use another way');
      await page.click('#use-email');
      await page.fill('#pin', await pinOf(server, user.email));
      await page.click('#verify');
      await page.click('#continue');
      await page.waitForURL(`${party.url}/**`);
      await context.close();
    });
  });
