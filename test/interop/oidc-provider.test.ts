// oidc-provider in front of us: its metadata, keys, PKCE, client authentication, UserInfo and `iss`, by its own code.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import { Provider } from 'oidc-provider';
import { openBrowser } from '../support/browser.ts';
import { openExternalWorld } from '../support/external.ts';

const secret = 'secret-of-gatehouse-at-oidc-provider-0123456789';
const person = { sub: 'grace', email: 'grace@provider.example', email_verified: true, given_name: 'Grace', family_name: 'Hopper' };

describe('oidc-provider as the other provider', async () => {
  const world = await openExternalWorld('sqlite');
  const { server, managed, tenant, register, begin, leave, jsonOf, finish, post } = world;
  const callback = `${tenant.baseUrl}/login/callback/acme`;
  const http = createServer();
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const provider = makeProvider(issuer, callback);
  const answer = provider.callback();
  http.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/') === true) void signIn(provider, request, response);
    else void answer(request, response);
  });
  after(async () => {
    await world.upstream.close();
    http.close();
    http.closeAllConnections();
    await server.close();
  });

  it('a person goes there, signs in, and has an account here; the second time the same one', async () => {
    await register({ issuer, client_secret: secret, create_users: true });
    const subjects: unknown[] = [];
    for (let time = 0; time < 2; time += 1) {
      const at = await begin();
      const back = await followTo(callback, await leave(at));
      assert.deepEqual(await jsonOf(await at.browser.send(back)), { state: 'approved' });
      subjects.push((await finish(at))['sub']);
    }
    assert.equal(subjects[0], subjects[1]);
    const user = await managed.make('GET', `/users/${subjects[0]}`);
    assert.deepEqual(user['name'], { given_name: 'Grace', family_name: 'Hopper' });
    assert.deepEqual((user['emails'] as readonly { value: string }[])[0]?.value, person.email);
  });

  it('max_age: its auth_time is judged', async () => {
    const at = await begin({ max_age: '600' });
    const back = await followTo(callback, await leave(at));
    assert.deepEqual(await jsonOf(await at.browser.send(back)), { state: 'approved' });
    assert.equal(typeof (await finish(at))['auth_time'], 'number');
  });

  it('a wrong client secret is refused, and nobody is signed in', async () => {
    await register({ alias: 'wrong', issuer, client_secret: `${secret}x`, create_users: true });
    const at = await begin();
    const there = new URL(await leave(at, 'wrong'));
    assert.equal(there.searchParams.get('redirect_uri'), `${tenant.baseUrl}/login/callback/wrong`);
    const refused = await at.browser.send(
      `${tenant.baseUrl}/login/callback/wrong?code=none&iss=${encodeURIComponent(issuer)}&state=${there.searchParams.get('state')}`,
    );
    assert.equal(refused.status, 401);
    assert.equal((await post(at.browser, `${at.login}/finish`)).status, 409);
  });
});

function makeProvider(issuer: string, callback: string): Provider {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return new Provider(issuer, {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'rsa' }] },
    clients: [{ client_id: 'gatehouse', client_secret: secret, redirect_uris: [callback] }],
    findAccount: (_context, id) => ({ accountId: id, claims: async () => person }),
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['given_name', 'family_name'] },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['a key of the tests'] },
  });
}

/** The login step of the provider: one person, consent to everything. */
async function signIn(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({ accountId: person.sub, clientId: String(params['client_id']) });
  grant.addOIDCScope('openid profile email');
  await provider.interactionFinished(request, response, { login: { accountId: person.sub }, consent: { grantId: await grant.save() } });
}

/** Follows redirects as a browser does, until one leads to us. */
async function followTo(callback: string, start: string): Promise<string> {
  const browser = openBrowser();
  let url = start;
  while (!url.startsWith(callback)) {
    const response = await browser.send(url, { headers: { accept: 'text/html' } });
    const location = response.headers.get('location');
    assert.ok(location, `expected a redirect at ${url}, found ${response.status} ${await response.text()}`);
    url = new URL(location, url).href;
  }
  return url;
}
