// The modules of the OpenID Foundation's plans RP-Initiated Logout OP and Back-Channel OP, in our own words, with openid-client and
// a browser whose session must be over, or must not. no-params and only-state differ: contract 7.8 demands the hint.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as openid from 'openid-client';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { type Receiver, reachesLoopback, startReceiver } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { createUser, type TestUser } from '../support/fixtures.ts';
import { redirectUri } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { createRelyingParty, type RelyingParty } from '../support/relying-party.ts';
import { openSsoWorld } from '../support/sso.ts';

type Tokens = Awaited<ReturnType<typeof openid.authorizationCodeGrant>>;

const signedOut = 'https://rp.example/signed-out';
const page = { headers: { accept: 'text/html' } };

for (const database of databases) {
  describe(`Logout OP plans on ${database}`, async () => {
    const world = await openSsoWorld(database, reachesLoopback);
    const { server, tenant } = world;
    let receiver: Receiver;
    let first: RelyingParty;
    let second: RelyingParty;
    let ada: TestUser;
    let browser: TestBrowser;
    let tokens: Tokens;
    before(async () => {
      receiver = await startReceiver();
      const create = async (path: string): Promise<RelyingParty> =>
        createRelyingParty(server, tenant, 'client_secret_basic', {
          requirePkce: false,
          backchannelLogoutUri: new URL(path, receiver.url).href,
        });
      first = await create('/first');
      second = await create('/second');
    });
    after(async () => {
      await server.close();
      await receiver.close();
    });
    beforeEach(async () => {
      receiver.received.length = 0;
      ada = await createUser(server.gatehouse.services, tenant);
      browser = openBrowser();
      tokens = await signIn();
    });

    const authorize = async (more: Readonly<Record<string, string>> = {}, { config } = first) => {
      const expectedState = openid.randomState();
      const asked = { redirect_uri: redirectUri, scope: 'openid', state: expectedState, ...more };
      const location = world.locationOf(await browser.send(openid.buildAuthorizationUrl(config, asked).href));
      return { location, checks: { expectedState, idTokenExpected: true } };
    };
    /** Through the sign-in page, unless the browser's session answers. */
    const signIn = async (rp = first): Promise<Tokens> => {
      const { location, checks } = await authorize({}, rp);
      const isAsked = location.pathname.includes('/login/');
      const landed = isAsked ? await world.signInAt(browser, location.href, ada) : location;
      return openid.authorizationCodeGrant(rp.config, landed, checks);
    };
    const silent = async (): Promise<Tokens> => {
      const { location, checks } = await authorize({ prompt: 'none' });
      return openid.authorizationCodeGrant(first.config, location, checks);
    };
    const isOver = (): Promise<void> => assert.rejects(silent(), { error: 'login_required' });
    const goesOn = async (): Promise<void> => assert.equal((await silent()).claims()?.sub, ada.id);
    const end = (parameters: Readonly<Record<string, string>>, init: RequestInit = page): Promise<Response> => {
      const url = openid.buildEndSessionUrl(first.config, parameters);
      url.searchParams.delete('client_id'); // the library adds it; the plan's requests have none
      return browser.send(url.href, init);
    };
    const hint = (): { id_token_hint: string } => ({ id_token_hint: tokens.id_token ?? '' });
    /** An error page, no redirect, and the session goes on; the same as JSON. */
    const refused = async (parameters: Readonly<Record<string, string>>): Promise<string> => {
      const shown = await end(parameters);
      assert.deepEqual([shown.status, shown.headers.get('location')], [400, null]);
      const text = await shown.text();
      assert.match(text, /id="error">invalid_request</);
      await assertRefusal(await end(parameters, {}), 'logout.invalid_request');
      await goesOn();
      return text;
    };

    it('oidcc-rp-initiated-logout-discovery-endpoint-verification', () => {
      assert.equal(first.config.serverMetadata().end_session_endpoint, `${tenant.baseUrl}/v1/idp/oidc/logout`);
    });
    it('oidcc-rp-initiated-logout', async () => {
      await goesOn();
      const state = openid.randomState();
      const { origin, pathname, searchParams } = world.locationOf(await end({ ...hint(), post_logout_redirect_uri: signedOut, state }));
      assert.deepEqual([origin + pathname, Object.fromEntries(searchParams)], [signedOut, { state }]);
      await isOver();
    });
    it('oidcc-rp-initiated-logout-no-state', async () => {
      assert.equal(world.locationOf(await end({ ...hint(), post_logout_redirect_uri: signedOut })).href, signedOut);
      await isOver();
    });
    it('oidcc-rp-initiated-logout-no-post-logout-redirect-uri: a page that says so', async () => {
      const shown = await end({ ...hint(), state: 'a-state' });
      assert.deepEqual([shown.status, shown.headers.get('location')], [200, null]);
      assert.match(await shown.text(), /id="signed-out"/);
      await isOver();
    });
    it('oidcc-rp-initiated-logout-bad-post-logout-redirect-uri', async () => {
      await refused({ ...hint(), post_logout_redirect_uri: 'https://rp.example/not-registered', state: 'a-state' });
    });
    it('oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri', async () => {
      await refused({ ...hint(), post_logout_redirect_uri: `${signedOut}?foo=bar`, state: 'a-state' });
    });
    it('oidcc-rp-initiated-logout-modified-id-token-hint', async () => {
      const [header, claims, signature = ''] = (tokens.id_token ?? '').split('.');
      const other = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`;
      await refused({ id_token_hint: `${header}.${claims}.${other}`, post_logout_redirect_uri: signedOut, state: 'a-state' });
    });
    it('oidcc-rp-initiated-logout-bad-id-token-hint', async () => {
      await refused({ id_token_hint: 'not-an-id-token', post_logout_redirect_uri: signedOut, state: 'a-state' });
    });
    it('oidcc-rp-initiated-logout-no-id-token-hint', async () => {
      await refused({ post_logout_redirect_uri: signedOut, state: 'a-state' });
    });
    for (const [name, parameters] of [
      ['no-params', {}],
      ['only-state', { state: 'a-state' }],
    ] as const)
      it(`oidcc-rp-initiated-logout-${name}: differs, the person must press a button (contract 7.8)`, async () => {
        const action = /<form method="post" action="([^"]+)"><button id="sign-out">/.exec(await refused(parameters))?.[1] ?? '';
        const headers = { ...page.headers, origin: new URL(tenant.baseUrl).origin };
        const shown = await browser.send(new URL(action, tenant.baseUrl).href, { method: 'POST', body: new URLSearchParams(), headers });
        assert.deepEqual([shown.status, shown.headers.get('location')], [200, null]);
        assert.match(await shown.text(), /id="signed-out"/);
        await isOver();
      });

    it('oidcc-backchannel-logout-discovery-endpoint-verification', () => {
      const metadata = first.config.serverMetadata();
      assert.deepEqual([metadata['backchannel_logout_supported'], metadata['backchannel_logout_session_supported']], [true, true]);
    });
    it('oidcc-backchannel-rp-initiated-logout: every client of the session is told once, by a token of its own', async () => {
      const deliver = (): Promise<void> => server.gatehouse.services.jobs.runNow('deliveries');
      await deliver(); // what is left of the sessions before
      receiver.received.length = 0;
      const others = await signIn(second);
      world.locationOf(await end({ ...hint(), post_logout_redirect_uri: signedOut }));
      await isOver();
      for (let times = 0; times < 2; times += 1) await deliver();
      const jwks = createRemoteJWKSet(new URL(first.config.serverMetadata().jwks_uri ?? ''));
      const told = await Promise.all(
        receiver.received.map(async ({ method, path, headers, body }) => {
          assert.deepEqual([method, headers['content-type']], ['POST', 'application/x-www-form-urlencoded']);
          const form = new URLSearchParams(body);
          assert.deepEqual([...form.keys()], ['logout_token']);
          const { payload, protectedHeader } = await jwtVerify(form.get('logout_token') ?? '', jwks, {
            issuer: tenant.baseUrl,
            audience: (path === '/first' ? first : second).client.clientId,
            typ: 'logout+jwt',
            algorithms: ['RS256'],
            requiredClaims: ['iat', 'exp', 'jti'],
            currentDate: new Date(server.clock.nowMs()),
          });
          assert.equal(typeof protectedHeader.kid, 'string');
          assert.equal('nonce' in payload, false);
          assert.deepEqual(payload['events'], { 'http://schemas.openid.net/event/backchannel-logout': {} });
          return [path, payload.sub, payload['sid']] as const;
        }),
      );
      assert.deepEqual(
        told.toSorted(([one], [other]) => one.localeCompare(other)),
        [
          ['/first', ada.id, tokens.claims()?.['sid']],
          ['/second', ada.id, others.claims()?.['sid']],
        ],
      );
    });
  });
}
