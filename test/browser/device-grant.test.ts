// The pages that sign a device in, in Chromium: a QR code's address leads through the sign-in to the filled field, everything works
// without scripts, and axe finds nothing in any language, width or scheme.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { languages } from '../../src/domain/language.ts';
import { createAccountTenant, createPerson } from '../support/account.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { pinOf } from '../support/mailbox.ts';
import { createTestClient, jsonOf, type Managed } from '../support/management.ts';
import { assertAccessible, inViews, openWatched, phoneView, type WatchedPage } from '../support/page-check.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

if (hasChromium)
  describe('Device sign-in in Chromium', () => {
    let server: TestServer;
    let tenant: Managed;
    let browser: Browser;
    let clientId: string;
    before(async () => {
      server = await startTestServer('sqlite');
      tenant = await createAccountTenant(server, { extra_grants: [deviceGrant] });
      ({ client_id: clientId } = await createTestClient(tenant, {
        ...{ name: 'Harbour television', type: 'public', token_endpoint_auth_method: 'none', redirect_uris: [] },
        grant_types: [deviceGrant],
      }));
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    interface Started {
      readonly verification_uri_complete: string;
      readonly user_code: string;
      readonly device_code: string;
    }
    const post = (endpoint: string, form: Readonly<Record<string, string>>): Promise<Response> =>
      fetch(`${tenant.baseUrl}/v1/idp/oidc/${endpoint}`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: clientId, ...form }),
      });
    /** From the code of a screen to the signed-in device; `look` sees each page. */
    const signIn = async ({ page }: WatchedPage, withScripts: boolean, look: (where: string) => Promise<void>): Promise<void> => {
      const person = await createPerson(tenant);
      const started = await jsonOf<Started>(await post('device-authorization', { scope: 'openid email' }), 200);
      await page.goto(started.verification_uri_complete);
      await page.fill('#identifier', person.email);
      await page.click('#continue');
      await page.fill('#pin', await pinOf(server, person.email));
      await page.click('#verify');
      if (!withScripts) await page.click('#continue');
      await page.waitForSelector('#user-code');
      assert.equal(await page.inputValue('#user-code'), started.user_code);
      await look('the code');
      await page.fill('#user-code', 'BBBB BBBB');
      await page.click('#continue');
      await page.waitForSelector('#notice.bad');
      await look('an unknown code');
      await page.fill('#user-code', started.user_code.toLowerCase());
      await page.click('#continue');
      await page.waitForSelector('#allow');
      assert.match((await page.textContent('dl')) ?? '', /Harbour television/);
      await look('who asks');
      await page.click('#allow');
      await page.waitForSelector('#notice.good');
      await look('allowed');
      assert.equal((await post('token', { grant_type: deviceGrant, device_code: started.device_code })).status, 200);
    };

    for (const language of languages)
      it(`axe finds nothing from the code to the signed-in device, in ${language}`, async () => {
        const watched = await openWatched(browser, server.url, { locale: language, viewport: phoneView });
        await signIn(watched, true, (where) =>
          inViews(watched.page, 'two', (view) => assertAccessible(watched.page, `${where} in ${language} ${view}`)),
        );
        assert.deepEqual(watched.seen, []);
        await watched.page.context().close();
      });
    it('works without scripts', async () => {
      const watched = await openWatched(browser, server.url, { javaScriptEnabled: false, viewport: phoneView });
      await signIn(watched, false, async () => undefined);
      assert.deepEqual(watched.seen, []);
      await watched.page.context().close();
    });
  });
