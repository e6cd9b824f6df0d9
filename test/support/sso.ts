// A tenant with single sign-on sessions, its people and their browsers: what the tests of sessions have in common.
import assert from 'node:assert/strict';
import type { RowId } from '../../src/contract/catalogue.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { openBrowser, type TestBrowser } from './browser.ts';
import type { databases } from './databases.ts';
import { changeSettings } from './enrolled-phone.ts';
import { createClient, type TestClient, type TestUser } from './fixtures.ts';
import { pinOf } from './mailbox.ts';
import { clientCredentialsToken, createTestTenant, type Managed, managedWith } from './management.ts';
import { challenge, decodeJwt, exchange, redirectUri, tokensOf } from './oidc.ts';
import { assertRedirectRefusal } from './refusal.ts';
import { roomyRate } from './roomy-rate.ts';
import { startTestServer, type TestServer } from './server.ts';

export const scope = 'openid profile email offline_access';
type Fields = Readonly<Record<string, string>>;

export type SsoWorld = Awaited<ReturnType<typeof openSsoWorld>>;

/** Starts a server with a tenant whose sign-ins open sessions of the kind `browser`. */
export async function openSsoWorld(database: (typeof databases)[number], flags: Fields = {}) {
  const server: TestServer = await startTestServer(database, { flags: { trusted_proxies: '127.0.0.1', ...flags } });
  const managed: Managed = await createTestTenant(server, { slug: 'sso' });
  let tenant: Tenant;
  const settings = async (changes: object): Promise<void> => {
    await changeSettings(
      server,
      {
        login_methods: ['phone', 'email_pin'],
        sso_session: 'browser',
        rate_limits: { login_starts_per_ip: roomyRate, pin_attempts_per_ip: roomyRate },
        ...changes,
      },
      managed.id,
    );
    tenant = (await server.gatehouse.services.tenants.bySlug('sso')) ?? tenant!;
  };
  const query = (changes: Fields = {}, of = client): URLSearchParams =>
    new URLSearchParams({
      response_type: 'code',
      client_id: of.clientId,
      redirect_uri: redirectUri,
      scope,
      state: 'state-1',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...changes,
    });
  const authorize = (browser: TestBrowser, changes: Fields = {}, of = client): Promise<Response> =>
    browser.send(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query(changes, of)}`);
  const locationOf = (response: Response): URL => {
    assert.equal(response.status, 303);
    return new URL(response.headers.get('location') ?? '');
  };
  const step = async (browser: TestBrowser, login: string, name: string, fields: Fields = {}): Promise<Record<string, string>> => {
    const response = await browser.send(`${login}/${name}`, { method: 'POST', body: new URLSearchParams(fields) });
    const text = await response.text();
    assert.equal(response.status, 200, `${name}: ${text}`);
    return JSON.parse(text);
  };
  /** Goes through the sign-in page by the PIN of the mail, up to its finish; gives the state that the PIN led to. */
  const approveAt = async (browser: TestBrowser, login: string, user: TestUser, more: Fields = {}): Promise<string | undefined> => {
    const now = (await (await browser.send(login)).json()) as { state: string };
    if (now.state === 'account') await step(browser, login, 'account', { other: '1' });
    if (now.state !== 'choose') await step(browser, login, 'identify', { identifier: user.email, ...more });
    await step(browser, login, 'method', { method: 'email_pin' });
    return (await step(browser, login, 'pin', { pin: await pinOf(server, user.email) }))['state'];
  };
  /** The whole way; gives where the browser is sent. */
  const signInAt = async (browser: TestBrowser, login: string, user: TestUser, more: Fields = {}): Promise<URL> => {
    await approveAt(browser, login, user, more);
    await server.clock.advance(61_000); // the mailbox may be written to again
    return new URL((await step(browser, login, 'finish'))['redirect_to'] ?? '');
  };
  const signIn = async (browser: TestBrowser, user: TestUser, changes: Fields = {}): Promise<URL> =>
    signInAt(browser, locationOf(await authorize(browser, changes)).href, user);
  const signedIn = async (user: TestUser): Promise<TestBrowser> => {
    const browser = openBrowser();
    assert.ok((await signIn(browser, user)).searchParams.has('code'));
    return browser;
  };
  const claimsOf = async (redirect: URL, of = client): Promise<Record<string, unknown>> => {
    const code = redirect.searchParams.get('code');
    assert.ok(code, `expected a code, found ${redirect.search}`);
    return decodeJwt((await tokensOf(await exchange(tenant, of, code))).id_token ?? '').claims;
  };
  const errorOf = (redirect: URL): string | null => redirect.searchParams.get('error');
  /** With a token of now: the clock goes on by minutes here. */
  const manager = async (): Promise<Managed> =>
    managedWith(await clientCredentialsToken(managed.baseUrl, managed.adminClientId, managed.adminClientSecret), managed);
  const refusedSilently = (response: Response, row: RowId): Promise<void> =>
    assertRedirectRefusal(response, row, { redirectUri, iss: tenant.baseUrl, state: 'state-1' });
  const asksToSignIn = (response: Response): string => {
    const location = locationOf(response);
    assert.match(location.pathname, /\/login\//);
    return location.href;
  };

  /** The button of the page that a logout without a hint gives, to press from a page of this origin. */
  const signOutButton = async (browser: TestBrowser): Promise<(origin: string) => Promise<Response>> => {
    const page = await browser.send(`${tenant.baseUrl}/v1/idp/oidc/logout`, { headers: { accept: 'text/html' } });
    assert.equal(page.status, 400);
    const action = /<form method="post" action="([^"]+)"><button id="sign-out">/.exec(await page.text())?.[1] ?? '';
    const address = new URL(action, tenant.baseUrl).href;
    return (origin) => browser.send(address, { method: 'POST', body: new URLSearchParams(), headers: { origin } });
  };

  await settings({});
  const client: TestClient = await createClient(server.gatehouse.services, tenant!);
  return {
    server,
    managed,
    tenant: tenant!,
    client,
    settings,
    query,
    authorize,
    locationOf,
    step,
    approveAt,
    signInAt,
    signIn,
    signedIn,
    claimsOf,
    errorOf,
    manager,
    refusedSilently,
    asksToSignIn,
    signOutButton,
  };
}
