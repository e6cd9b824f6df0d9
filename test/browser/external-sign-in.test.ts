// Sign-in with another provider in a real browser: the button leaves for another origin and the answer comes back with the cookie of
// the sign-in, with and without scripts, by forms of another site too; the page with buttons is accessible and fits a small screen.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { openExternalWorld } from '../support/external.ts';
import { challenge } from '../support/oidc.ts';
import { assertAccessible } from '../support/page-check.ts';
import { buildResponse, idpMetadata, idpSsoUrl, readAsked, signElement } from '../support/saml-upstream.ts';

if (hasChromium)
  describe('Sign-in with another provider in Chromium', async () => {
    const world = await openExternalWorld('sqlite');
    const { server, managed, tenant, upstream, register, links } = world;
    const provider = await register({ create_users: true });
    const registered = await managed.make('POST', '/clients', {
      name: 'Harbour',
      type: 'public',
      redirect_uris: [`${upstream.origin}/landing`],
      grant_types: ['authorization_code'],
      scopes: ['openid'],
    });
    const authorize = `${tenant.baseUrl}/v1/idp/oidc/authorize?${new URLSearchParams({
      ...{ response_type: 'code', client_id: String(registered['client_id']), redirect_uri: `${upstream.origin}/landing`, scope: 'openid' },
      ...{ state: 's', code_challenge: challenge, code_challenge_method: 'S256' },
    })}`;
    let browser: Browser;
    before(async () => {
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await upstream.close();
      await server.close();
    });

    for (const javaScriptEnabled of [true, false])
      it(`there and back, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
        upstream.welcome({ sub: `browser-${javaScriptEnabled}`, email: `browser-${javaScriptEnabled}@acme.example`, email_verified: true });
        const page = await (await browser.newContext({ javaScriptEnabled })).newPage();
        await page.goto(authorize);
        await page.click('#idp-acme');
        if (!javaScriptEnabled) await page.click('#continue');
        await page.waitForURL(/\/landing\?/);
        assert.ok(new URL(page.url()).searchParams.has('code'));
        assert.ok((await links()).some(({ subject }) => subject === `browser-${javaScriptEnabled}`));
        await page.context().close();
      });

    for (const javaScriptEnabled of [true, false])
      it(`by SAML, whose answer is a form of another site, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
        const idp = createServer((request, response) => {
          if (request.url?.startsWith('/sso') !== true) return void response.writeHead(404).end();
          const asked = readAsked(`${idpSsoUrl}${String(request.url).slice('/sso?app=1'.length)}`);
          const person = { nameId: `saml-${javaScriptEnabled}`, email: `saml-${javaScriptEnabled}@corp.example` };
          const xml = signElement(buildResponse(asked, server.clock.nowMs(), person), 'Assertion');
          const field = (name: string, value: string): string => `<input type="hidden" name="${name}" value="${value}">`;
          const fields = field('SAMLResponse', Buffer.from(xml).toString('base64')) + field('RelayState', asked.relayState);
          response.setHeader('content-type', 'text/html');
          response.end(`<form method="post" action="${asked.acsUrl}">${fields}<button id="go">Go</button></form>`);
        });
        await new Promise<void>((listening) => idp.listen(0, '127.0.0.1', listening));
        const there = `http://127.0.0.1:${(idp.address() as AddressInfo).port}/sso?app=1`;
        const alias = `saml-${javaScriptEnabled}`;
        const metadata = (await idpMetadata()).replace(idpSsoUrl, there);
        const made = await managed.make('POST', '/identity-providers', {
          ...{ alias, kind: 'saml', name: 'Corp', metadata, trust_email: true, create_users: true },
        });
        const page = await (await browser.newContext({ javaScriptEnabled })).newPage();
        await page.goto(authorize);
        await page.click(`#idp-${alias}`);
        await page.click('#go');
        if (!javaScriptEnabled) await page.click('#continue');
        await page.waitForURL(/\/landing\?/);
        assert.ok(new URL(page.url()).searchParams.has('code'));
        await page.context().close();
        await managed.make('DELETE', `/identity-providers/${String(made['id'])}`);
        idp.closeAllConnections();
        idp.close();
      });

    it('linked from the account page: through the page between, there and back', async () => {
      upstream.welcome({ sub: 'linked-here', email: 'first@acme.example', email_verified: true });
      const page = await (await browser.newContext()).newPage();
      const own = `${tenant.baseUrl}/account`;
      // The first sign-in makes the account; the second account elsewhere is linked to it by hand.
      await page.goto(own);
      await page.click('#idp-acme');
      await page.waitForURL(`${own}**`);
      await page.waitForSelector('#name');
      const other = await register({ alias: 'other', name: 'Other' });
      upstream.welcome({ sub: 'also-mine', email: 'second@elsewhere.example' });
      await page.reload();
      await page.click('#link-other');
      await page.waitForURL(/done=doneLinked/);
      assert.match((await page.textContent('main')) ?? '', /The account was linked/);
      assert.ok((await links()).some(({ subject }) => subject === 'also-mine'));
      await page.context().close();
      await managed.make('DELETE', `/identity-providers/${other.id}`);
    });

    it('a refusal shows the other ways', async () => {
      upstream.welcome({ sub: 'nobody' });
      const page = await (await browser.newContext()).newPage();
      await page.goto(authorize);
      await page.click('#idp-acme');
      await page.waitForSelector('#alert');
      assert.match((await page.textContent('#alert')) ?? '', /was not accepted/);
      assert.ok(await page.isVisible('#identifier'));
      await page.context().close();
    });

    for (const colorScheme of ['light', 'dark'] as const)
      it(`axe finds nothing and nothing scrolls sideways: ${colorScheme}, 320 px`, async () => {
        await managed.make('PATCH', `/identity-providers/${provider.id}`, {
          name: 'A provider with quite a long name to show on a button',
        });
        const page = await (
          await browser.newContext({ colorScheme, viewport: { width: 320, height: 700 }, reducedMotion: 'reduce' })
        ).newPage();
        await page.goto(authorize);
        await assertAccessible(page, 'identify with buttons');
        await page.context().close();
      });
  });
