// A customer's own provider, from nothing to a token (design 19): the tenant's administrator makes the organisation and a set-up link; the
// customer's IT opens it in Chromium, as wide as a phone and without an account, connects the provider, tries it, proves the domain, asks for
// it alone and makes a token for SCIM; the directory makes a person by that token, who then signs in to an application by the provider.
import assert from 'node:assert/strict';
import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import type { Browser, Page } from 'playwright-core';
import type { TestDns } from './dns-server.ts';
import { callJson, createTestClient, createTestTenant, type Json, jsonOf, type Managed } from './management.ts';
import { assertFits, keepScreenshot, openWatched, phoneView } from './page-check.ts';
import { roomyRate } from './roomy-rate.ts';
import { userSchema } from './scim.ts';
import type { TestServer } from './server.ts';

/** A provider of another make, at which the company's people have accounts. */
export interface CompanyProvider {
  readonly name: string;
  /** Of its people's addresses. */
  readonly domain: string;
  /** Registers us by the redirect address that the page shows; gives what its own page says of itself then. */
  readonly asOpenId: (callback: string) => Promise<{ readonly issuer: string; readonly clientId: string; readonly clientSecret: string }>;
  /** Its metadata, and what takes ours. */
  readonly asSaml: { readonly metadata: () => Promise<string>; readonly trust: (ours: string) => Promise<void> };
  /** An account there. */
  readonly person: () => Promise<string>;
  /** Signs somebody in at its pages, to which the browser was sent. */
  readonly signIn: (page: Page, email: string) => Promise<void>;
}

export interface Connection {
  readonly server: TestServer;
  readonly dns: TestDns;
  readonly browser: Browser;
  readonly kind: 'oidc' | 'saml';
  readonly provider: CompanyProvider;
}

export async function connectByLink({ server, dns, browser, kind, provider }: Connection): Promise<void> {
  const settings = { login_methods: ['email_pin'], rate_limits: { login_starts_per_ip: roomyRate } };
  const tenant = await createTestTenant(server, { settings });
  await tenant.make('POST', '/organization-roles', { name: 'buyer', scopes: ['orders:write'] });
  const organization = await tenant.make('POST', '/organizations', {
    ...{ name: 'acme', display_name: 'Acme Manufacturing and Trading Company' },
    ...{ join: ['provider'], default_roles: ['buyer'] },
  });
  const at = `/organizations/${String(organization['id'])}`;
  const { setup_url: link } = await tenant.make('POST', `${at}/setup-links`);

  const { page, seen } = await openWatched(browser, server.url, { viewport: phoneView });
  await page.goto(String(link));
  await page.click('#continue');
  await page.fill('#domain', provider.domain);
  await page.click('#add-domain');
  await page.waitForSelector('#check');
  await publish(dns, page);
  await page.click('#check');
  await page.waitForSelector('#domains ~ ul >> text=proven');
  await (kind === 'oidc' ? connectOpenId(page, provider) : connectSaml(page, provider));
  await assertFits(page, `${provider.name} by ${kind}`);
  const administrator = await provider.person();
  await page.click('#try');
  await provider.signIn(page, administrator);
  await page.waitForSelector('#turn-on');
  assert.match((await page.textContent('#notice')) ?? '', new RegExp(`you signed in as ${administrator}\\.`));
  await keepScreenshot(page, `connected ${provider.name} ${kind} tried`);
  await page.click('#turn-on');
  await page.waitForSelector('#turn-off');
  await page.check('[value=own_providers]');
  await page.click('#save-rule');
  await page.fill('#token-name', 'Directory');
  await page.click('#add-token');
  const token = await page.textContent('#token');
  await keepScreenshot(page, `connected ${provider.name} ${kind} done`);
  assert.deepEqual(complaintsIn(seen), []);
  await page.context().close();
  const { sign_in: rule } = await tenant.make('GET', at);
  assert.equal(rule, 'own_providers');
  const { items: nobody } = await tenant.make<{ items: readonly Json[] }>('GET', `/users?search=${administrator}`);
  assert.deepEqual(nobody, [], 'whoever only tried it has no account');

  const email = await provider.person();
  const made = await callJson(`${tenant.baseUrl}/v1/scim${at}/Users`, String(token), 'POST', {
    ...{ schemas: [userSchema], userName: email, emails: [{ value: email, primary: true }], active: true },
  });
  const { id } = await jsonOf(made, 201);
  const { access, identity } = await signInByProvider({ server, browser, tenant, email, provider });
  for (const claims of [access, identity])
    assert.deepEqual(
      [claims['sub'], claims['org_id'], claims['org_name'], claims['org_roles']],
      [id, organization['id'], 'acme', ['buyer']],
      `${provider.name} by ${kind}`,
    );
  assert.match(String(access['scope']), /orders:write/);
}

/** Without the addresses of the provider, which is another site. */
const complaintsIn = (seen: readonly string[]): readonly string[] => seen.filter((one) => !/^https?:/.test(one));

/** The company's IT at the page of the link: what its records say, as they publish it. */
async function publish({ records }: TestDns, page: Page): Promise<void> {
  const [name, value] = await page.locator('[aria-labelledby=domains] dd').allTextContents();
  assert.ok(name && value);
  records.set(name, [value]);
}

async function connectOpenId(page: Page, { asOpenId }: CompanyProvider): Promise<void> {
  const { issuer, clientId, clientSecret } = await asOpenId(String(await page.textContent('#callback')));
  await page.fill('#issuer', issuer);
  await page.fill('#client-id', clientId);
  await page.fill('#client-secret', clientSecret);
  await page.click('#save-oidc');
  await page.waitForSelector('#try');
}

async function connectSaml(page: Page, { asSaml }: CompanyProvider): Promise<void> {
  await page.click('summary:has-text("SAML")');
  await page.fill('#metadata', await asSaml.metadata());
  await page.click('#save-saml');
  await page.waitForSelector('#try');
  const ours = await fetch(`${await page.textContent('#callback')}/metadata`);
  assert.equal(ours.status, 200);
  await asSaml.trust(await ours.text());
}

interface SignIn extends Pick<Connection, 'server' | 'browser' | 'provider'> {
  readonly tenant: Managed;
  readonly email: string;
}

/** Somebody of the company at an application that asks for it: they type their address and are led to their provider. */
async function signInByProvider({ server, browser, tenant, email, provider }: SignIn): Promise<Record<'access' | 'identity', Json>> {
  const redirectUri = `${server.url}/docs`;
  const scope = 'openid email organization orders:write';
  const client = await createTestClient(tenant, { redirect_uris: [redirectUri], scopes: scope.split(' ') });
  const authentication = openid.ClientSecretBasic(client.client_secret);
  const insecure = { execute: [openid.allowInsecureRequests] };
  const config = await openid.discovery(new URL(tenant.baseUrl), client.client_id, undefined, authentication, insecure);
  const verifier = openid.randomPKCECodeVerifier();
  const to = openid.buildAuthorizationUrl(config, {
    ...{ redirect_uri: redirectUri, scope, organization: 'acme', code_challenge_method: 'S256' },
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
  });
  const { page, seen } = await openWatched(browser, server.url, { viewport: phoneView });
  await page.goto(to.href);
  await page.fill('#identifier', email);
  await page.click('#continue');
  await provider.signIn(page, email);
  await page.waitForURL(`${redirectUri}?*`);
  const answer = new URL(page.url());
  assert.deepEqual(complaintsIn(seen), []);
  await page.context().close();
  const tokens = await openid.authorizationCodeGrant(config, answer, { pkceCodeVerifier: verifier });
  return { access: decodeJwt(tokens.access_token), identity: tokens.claims() ?? {} };
}
