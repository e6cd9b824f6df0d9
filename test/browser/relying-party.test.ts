// The main job, end to end: the launcher starts the server, a person opens a relying party in Chromium, signs in with a PIN
// from a real mail, and the party (openid-client) gets verified tokens, refreshes them, calls UserInfo and signs out.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type GatehouseProcess, startGatehouse } from '../../bench/process.ts';
import { type BenchTenant, call, createTenant, managementToken } from '../../bench/tenant.ts';
import { type RelyingParty, startRelyingParty } from '../../demo/relying-party.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';

/** One each: a mailbox gets a new PIN only after a while. */
const people = [
  { name: 'Ada', email: 'ada@acme.example', javaScriptEnabled: true },
  { name: 'Grace', email: 'grace@acme.example', javaScriptEnabled: false },
];

if (hasChromium) {
  describe('a person signs in to a relying party', () => {
    let gatehouse: GatehouseProcess;
    let tenant: BenchTenant;
    let party: RelyingParty;
    let browser: Browser;

    before(async () => {
      gatehouse = await startGatehouse();
      tenant = await createTenant(gatehouse, 'acme');
      const token = await managementToken(tenant);
      await call(`${tenant.managementApi}/settings`, token, 'PATCH', { login_methods: ['email_pin'] });
      for (const { name, email } of people) {
        const user = { user_name: email, name: { given_name: name }, emails: [{ value: email, primary: true }] };
        await call(`${tenant.managementApi}/users`, token, 'POST', user);
      }
      party = await startRelyingParty({ issuer: tenant.baseUrl, register: (uris) => registerClient(tenant, token, uris) });
      browser = await launchChromium();
    });
    after(async () => {
      await browser?.close();
      await party?.close();
      await gatehouse?.stop();
    });

    for (const { email, javaScriptEnabled } of people) {
      it(`with JavaScript ${javaScriptEnabled ? 'on' : 'off'}: sign-in, UserInfo, refresh, sign-out`, async () => {
        const context = await browser.newContext({ javaScriptEnabled });
        const page = await context.newPage();
        await page.goto(party.url);
        await page.click('#sign-in');
        await page.fill('#identifier', email);
        await page.click('#continue');
        await page.fill('#pin', await readPin(gatehouse, email));
        await page.click('#verify');
        await arriveAtParty(page, party.url);
        assert.equal(await page.textContent('h1'), 'Signed in');
        assert.equal(await page.textContent('[data-claim=email]'), email);
        await page.click('#refresh');
        assert.equal(await page.textContent('h1'), 'Signed in');
        await page.click('#sign-out');
        await page.waitForURL(`${party.url}/`);
        await context.close();
      });
    }
  });
}

/** After the PIN the page goes on by itself, or by its button where scripts are off. */
async function arriveAtParty(page: Page, url: string): Promise<void> {
  const proceed = page.locator('#continue, #finish').first();
  await Promise.race([
    page.waitForURL(`${url}/**`),
    proceed.waitFor().then(() => proceed.click({ noWaitAfter: true }).catch(() => undefined)),
  ]);
  await page.waitForURL(`${url}/**`);
}

async function registerClient(
  tenant: BenchTenant,
  token: string,
  uris: { readonly redirectUri: string; readonly postLogoutRedirectUri: string },
): Promise<{ readonly clientId: string; readonly clientSecret: string }> {
  const made = (await call(`${tenant.managementApi}/clients`, token, 'POST', {
    name: 'A sample application',
    type: 'confidential',
    token_endpoint_auth_method: 'client_secret_basic',
    redirect_uris: [uris.redirectUri],
    post_logout_redirect_uris: [uris.postLogoutRedirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    scopes: ['openid', 'profile', 'email', 'offline_access'],
  })) as { client_id: string; client_secret: string };
  return { clientId: made.client_id, clientSecret: made.client_secret };
}

async function readPin(gatehouse: GatehouseProcess, email: string): Promise<string> {
  for (;;) {
    const { messages } = (await call(
      `${gatehouse.url}/v1/system/outbox?to=${encodeURIComponent(email)}`,
      gatehouse.operatorToken,
      'GET',
    )) as { messages: { text: string }[] };
    const pin = /\b\d{6}\b/.exec(messages.at(-1)?.text ?? '')?.[0];
    if (pin !== undefined) return pin;
  }
}
