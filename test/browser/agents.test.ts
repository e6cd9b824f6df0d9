// A program that nobody registered, in Chromium: what a person reads before it is let in, in every language, width and scheme, and how they end it:
// its next refresh is refused.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { languages } from '../../src/domain/language.ts';
import { createPerson } from '../support/account.ts';
import { authorizeUrl, mcp, openTenant, redeem, register, tokenRequest } from '../support/agents.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { pinOf } from '../support/mailbox.ts';
import type { Managed } from '../support/management.ts';
import { tokensOf } from '../support/oidc.ts';
import { assertAccessible, inViews, keepScreenshots, openWatched, phoneView } from '../support/page-check.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

if (hasChromium)
  describe('a program that nobody registered in Chromium', () => {
    let server: TestServer;
    let managed: Managed;
    let browser: Browser;
    let redirectUri = '';
    const program = createServer((_request, response) => void response.end('back'));
    before(async () => {
      await once(program.listen(0, '127.0.0.1'), 'listening');
      redirectUri = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
      server = await startTestServer('sqlite');
      managed = await openTenant(server, { pin: { resend_cooldown_seconds: 1 } });
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await server?.close();
      program.close();
      program.closeAllConnections();
    });

    for (const language of languages)
      it(`is let in by a person who reads what it is, and ended on the account page, in ${language}`, async () => {
        const metadata = { client_name: 'Your bank', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' };
        const { client_id } = (await (await register(managed, metadata)).json()) as { client_id: string };
        const { email } = await createPerson(managed);
        const { page, seen } = await openWatched(browser, server.url, { locale: language, viewport: phoneView });
        const signIn = async (): Promise<void> => {
          await page.fill('#identifier', email);
          await page.click('#continue');
          await page.fill('#pin', await pinOf(server, email));
          await page.click('#verify');
        };
        await page.goto(authorizeUrl(managed, { client_id, scope: 'tools offline_access', redirect_uri: redirectUri }));
        await signIn();
        await page.waitForSelector('.scopes');
        const text = (await page.textContent('main')) ?? '';
        for (const told of ['Tools', new URL(mcp).host, 'Use its tools', 'Your bank']) assert.ok(text.includes(told), told);
        assert.equal(await page.locator('main b, main strong', { hasText: 'Your bank' }).count(), 0, 'its own name is no fact');
        assert.equal(await page.locator('main img[src^="http"]').count(), 0);
        await inViews(page, 'two', (view) => assertAccessible(page, `consent in ${language} ${view}`));
        if (language === 'en') await keepScreenshots(page, 'agent-consent');
        await page.click('.stack #continue');
        await page.waitForURL(`${redirectUri}?**`);
        const tokens = await tokensOf(await redeem(managed, { client_id, redirect_uri: redirectUri }, new URL(page.url())));
        const refresh = (token: string | undefined): Promise<Response> =>
          tokenRequest(managed, { grant_type: 'refresh_token', client_id, refresh_token: token });
        const { refresh_token: next } = await tokensOf(await refresh(tokens.refresh_token));
        await server.clock.advance(60_000); // until the next code
        await page.goto(`${managed.baseUrl}/account/sessions`);
        await signIn();
        await page.waitForSelector('#end-all');
        const card = page.locator('li.card', { hasText: mcp });
        await inViews(page, 'two', (view) => assertAccessible(page, `sessions in ${language} ${view}`));
        await card.locator('button').click();
        await page.waitForSelector('#notice.good');
        assert.equal(await card.count(), 0);
        await assertRefusal(await refresh(next), 'token.refresh_invalid');
        assert.deepEqual(
          seen.filter((one) => !one.startsWith(new URL(redirectUri).origin)),
          [],
        );
        await page.context().close();
      });
  });
