// A browser at the sign-in pages, in JSON or in forms, and a person who signs in with the PIN of the mail. A sign-in starts
// from the 303 of authorize or SAML's SSO (`openLogin`), or straight from approvals/start-login (`beginLogin`).
import assert from 'node:assert/strict';
import { type OidcLoginRequest, startLogin } from '../../src/approvals/start-login.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { TestClient } from './fixtures.ts';
import { pinOf } from './mailbox.ts';
import { challenge, redirectUri } from './oidc.ts';
import type { TestServer } from './server.ts';

type Fields = Readonly<Record<string, string>>;

export interface TestLogin {
  /** {base_url}/login/{tx} */
  readonly location: string;
  /** `name=value` of the transaction's cookie. */
  readonly cookie: string;
  /** GET `{location}{path}` as JSON. */
  readonly get: (path?: string, headers?: Fields) => Promise<Response>;
  /** GET as a browser asks for a page. */
  readonly page: (path?: string) => Promise<Response>;
  /** POST `{location}/{step}` as JSON. */
  readonly post: (step: string, fields?: Readonly<Record<string, unknown>>, headers?: Fields) => Promise<Response>;
  /** POST as a browser submits a form. */
  readonly submit: (step: string, fields?: Fields, headers?: Fields) => Promise<Response>;
}

/** The sign-in a 303 with a cookie leads to. */
export function openLogin(redirect: Response): TestLogin {
  const location = redirect.headers.get('location');
  assert.equal(redirect.status, 303, 'expected a redirect to the sign-in page');
  return loginAt(location ?? '', redirect.headers.get('set-cookie') ?? '');
}

export function loginAt(location: string, setCookie: string): TestLogin {
  const cookie = setCookie.split(';', 1)[0] ?? '';
  const call = (path: string, init: RequestInit): Promise<Response> =>
    fetch(`${location}${path}`, { redirect: 'manual', ...init, headers: { cookie, ...(init.headers as Fields) } });
  const html = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';
  return {
    location,
    cookie,
    get: (path = '', headers = {}) => call(path, { headers: { accept: 'application/json', ...headers } }),
    page: (path = '') => call(path, { headers: { accept: html } }),
    post: (step, fields = {}, headers = {}) =>
      call(`/${step}`, {
        method: 'POST',
        body: JSON.stringify(fields),
        headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
      }),
    submit: (step, fields = {}, headers = {}) =>
      call(`/${step}`, {
        method: 'POST',
        body: new URLSearchParams(fields),
        headers: { accept: html, origin: new URL(location).origin, ...headers },
      }),
  };
}

/** A sign-in to the client as authorize starts it, with PKCE, state and nonce. */
export async function beginLogin(
  server: TestServer,
  tenant: Tenant,
  client: TestClient,
  changes: Partial<OidcLoginRequest> = {},
): Promise<TestLogin> {
  const started = await startLogin(
    server.gatehouse.services,
    tenant,
    {
      kind: 'oidc',
      clientId: client.clientId,
      redirectUri,
      scope: 'openid profile email offline_access',
      state: 'state-1',
      nonce: 'nonce-1',
      codeChallenge: challenge,
      ...changes,
    },
    { ip: '127.0.0.1', userAgent: 'test' },
  );
  return loginAt(started.location, started.setCookie);
}

/** Goes as far as an approved sign-in by the PIN of the mail. Waits out the cooldown of a mailbox on the test's clock. */
export async function approveByPin(server: TestServer, login: TestLogin, email: string): Promise<void> {
  const identified = await stateOf(await login.post('identify', { identifier: email }));
  if (identified === 'choose') {
    let chosen = await login.post('method', { method: 'email_pin' });
    if (chosen.status === 429) {
      await server.clock.advance(1000 * Number(chosen.headers.get('retry-after')));
      chosen = await login.post('method', { method: 'email_pin' });
    }
    assert.equal(await stateOf(chosen), 'pin');
  } else assert.equal(identified, 'pin');
  const verified = await login.post('pin', { pin: await pinOf(server, email) });
  // Whoever is in several organisations says for which they sign in before the end.
  assert.match(String(await stateOf(verified)), /^(?:approved|organization)$/);
}

async function stateOf(response: Response): Promise<string> {
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text).state;
}

/** The whole way: identify, PIN, finish. Gives where the browser is sent, e.g. the redirect_uri with its code. */
export async function signInByPin(server: TestServer, login: TestLogin, email: string): Promise<URL> {
  await approveByPin(server, login, email);
  const finished = await login.post('finish');
  const text = await finished.text();
  assert.equal(finished.status, 200, text);
  return new URL(JSON.parse(text).redirect_to);
}
