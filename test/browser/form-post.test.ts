// An authorization response by form_post in Chromium: posted at once with scripts, by the button without, within the page's policy.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { createClient, rootTenant } from '../support/fixtures.ts';
import { challenge, formBody } from '../support/oidc.ts';
import { assertAccessible, openWatched, phoneView } from '../support/page-check.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** What HTML and JSON would read otherwise, and letters of everybody. */
const state = `"><b id=markup>&amp;'\`ü漢 ${'x'.repeat(200)}`;

if (hasChromium)
  describe('form_post in a browser', () => {
    let browser: Browser;
    let server: TestServer;
    let application: Server;
    let redirectUri: string;
    let address: string;
    const posts: URLSearchParams[] = [];
    before(async () => {
      application = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          if (request.method === 'POST') {
            posts.push(new URLSearchParams(Buffer.concat(chunks).toString()));
            response.writeHead(303, { location: '/arrived' }).end();
          } else response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Arrived</title>');
        });
      });
      await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
      const origin = `http://127.0.0.1:${(application.address() as AddressInfo).port}`; // listens on TCP
      redirectUri = `${origin}/callback`;
      server = await startTestServer('sqlite');
      const tenant = await rootTenant(server.gatehouse.services);
      const client = await createClient(server.gatehouse.services, tenant, { redirectUris: [redirectUri] });
      const query = formBody({
        ...{ response_type: 'code', response_mode: 'form_post', prompt: 'none', scope: 'openid', state },
        ...{ client_id: client.clientId, redirect_uri: redirectUri, code_challenge: challenge, code_challenge_method: 'S256' },
      });
      address = `${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`;
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await server?.close();
      application?.closeAllConnections();
      await new Promise((resolve) => application.close(resolve));
    });
    const arrived = (): Record<string, string> => Object.fromEntries(posts.splice(0).flatMap((fields) => [...fields]));

    it('with scripts the fields arrive by themselves, as they are', async () => {
      const { page, seen } = await openWatched(browser, server.url);
      await page.goto(address);
      await page.waitForURL('**/arrived');
      assert.deepEqual(arrived(), { error: 'login_required', state, iss: server.url });
      assert.deepEqual(
        seen.filter((line) => !line.startsWith(new URL(redirectUri).origin)),
        [],
      );
      await page.context().close();
    });
    it('without scripts a button posts them; the page is accessible and fits a phone', async () => {
      const { page } = await openWatched(browser, server.url, { javaScriptEnabled: false, viewport: phoneView });
      await page.goto(address);
      assert.equal(await page.locator('#markup').count(), 0);
      await page.click('#continue');
      await page.waitForURL('**/arrived');
      assert.deepEqual(arrived(), { error: 'login_required', state, iss: server.url });
      await page.context().close();
      const looked = await openWatched(browser, server.url, { viewport: phoneView });
      const markup = await (await fetch(address)).text();
      await looked.page.setContent(markup.replace(/<script[\s\S]*<\/script>/, ''));
      await assertAccessible(looked.page, 'form_post');
      await looked.page.context().close();
    });
  });
