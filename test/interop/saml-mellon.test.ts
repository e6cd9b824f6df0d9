// A whole sign-in in Chromium to Debian's Apache with mod_auth_mellon: metadata uploaded, signed request, PIN, encrypted answer.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { pinOf } from '../support/mailbox.ts';
import { createTestTenant, createTestUser, type Json, jsonOf, type Managed } from '../support/management.ts';
import { hasMellon, type Mellon, prepareMellon } from '../support/mellon.ts';
import { rsaKeys } from '../support/rsa-keys.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

if (hasMellon() && hasChromium)
  suite('mod_auth_mellon in Chromium', () => {
    let server: TestServer;
    let tenant: Managed;
    let mellon: Mellon;
    let browser: Browser;
    let provider: Json;
    before(async () => {
      server = await startTestServer('sqlite');
      tenant = await createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
      mellon = await prepareMellon(rsaKeys());
      const imported = await fetch(`${tenant.managementApi}/service-providers/import`, {
        method: 'POST',
        body: mellon.metadata,
        headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/samlmetadata+xml' },
      });
      provider = await jsonOf(imported, 201);
      await tenant.make('PATCH', `/service-providers/${provider['id']}`, { attribute_map: { emails: 'mail' } });
      await mellon.start(await (await fetch(`${tenant.baseUrl}/v1/idp/saml/metadata`)).text());
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await mellon?.close();
      await server?.close();
    });

    for (const javaScriptEnabled of [true, false]) {
      test(`a person reaches the protected page ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
        assert.deepEqual([provider['require_signed_requests'], provider['encrypt_assertions']], [true, true]);
        const email = `person-${javaScriptEnabled}@example.com`;
        await createTestUser(tenant, email);
        const context = await browser.newContext({ javaScriptEnabled });
        try {
          const page = await context.newPage();
          await page.goto(`${mellon.url}/protected.shtml?deep=1`);
          assert.ok(page.url().startsWith(`${tenant.baseUrl}/login/`), page.url());
          await page.fill('#identifier', email);
          await page.click('#continue');
          await page.waitForSelector('#pin');
          await page.fill('#pin', await pinOf(server, email));
          await page.click('#verify');
          if (!javaScriptEnabled) {
            await page.click('#continue'); // the sign-in is approved
            await page.waitForURL(/saml\/postback/);
            await page.click('#continue'); // on to the provider
          }
          await page.waitForSelector('#user');
          assert.equal(page.url(), `${mellon.url}/protected.shtml?deep=1`);
          assert.equal(await page.textContent('#mail'), email);
          assert.match((await page.textContent('#user')) ?? '', /^_[0-9a-f]{40}$/);
        } finally {
          await context.close();
        }
      });
    }
  });
