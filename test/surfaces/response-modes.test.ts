// Response modes (OAuth 2.0 Form Post Response Mode, JARM): the same answers, codes and errors, carried by a form or as a JWT.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, type TestUser } from '../support/fixtures.ts';
import { formOf } from '../support/form-post.ts';
import { exchange, postAs, redirectUri, tokensOf } from '../support/oidc.ts';
import { openSsoWorld } from '../support/sso.ts';

const page = { headers: { accept: 'text/html' } };
const hostile = `"><script>alert('x')</script>&amp;`;

for (const database of databases) {
  describe(`Response modes on ${database}`, async () => {
    const world = await openSsoWorld(database);
    const { server, tenant, client, authorize, step, signedIn, settings, locationOf } = world;
    const keys = createRemoteJWKSet(new URL(`${tenant.baseUrl}/v1/idp/oidc/jwks`), { cooldownDuration: 0 });
    let ada: TestUser;
    after(() => server.close());
    beforeEach(async () => {
      ada = await createUser(server.gatehouse.services, tenant);
    });
    const toApproved = async (browser: TestBrowser, changes: Readonly<Record<string, string>>, of = client): Promise<string> => {
      const login = locationOf(await authorize(browser, changes, of)).href;
      await step(browser, login, 'identify', { identifier: ada.email });
      return login;
    };
    const finished = async (changes: Readonly<Record<string, string>>): Promise<Response> => {
      const browser = await signedIn(ada);
      return authorize(browser, changes);
    };
    const opened = async (token: string | null | undefined, audience = client.clientId): Promise<Record<string, unknown>> => {
      const { payload, protectedHeader } = await jwtVerify(token ?? '', keys, {
        issuer: tenant.baseUrl,
        audience,
        currentDate: new Date(server.clock.nowMs()),
      });
      assert.equal(protectedHeader.typ, 'JWT');
      assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 300);
      const { iss, aud, exp, iat, ...parameters } = payload;
      assert.deepEqual([iss, aud], [tenant.baseUrl, audience]);
      return parameters;
    };

    it('form_post: the page posts code, state and iss to the redirect_uri, and the code is good', async () => {
      const form = await formOf(await finished({ response_mode: 'form_post', state: hostile }));
      assert.equal(form.action, redirectUri);
      const { code = '', ...rest } = form.fields;
      assert.deepEqual(rest, { state: hostile, iss: tenant.baseUrl });
      await tokensOf(await exchange(tenant, client, code));
    });
    it('form_post: the finish of a sign-in is that page, or its fields as JSON', async () => {
      for (const how of ['page', 'json'] as const) {
        const browser = openBrowser();
        const login = await toApproved(browser, { response_mode: 'form_post', prompt: 'login' });
        if (how === 'page') {
          const form = await formOf(await browser.send(`${login}/cancel`, { method: 'POST', ...page }));
          assert.deepEqual(form, { action: redirectUri, fields: { error: 'access_denied', state: 'state-1', iss: tenant.baseUrl } });
        } else
          assert.deepEqual(await step(browser, login, 'cancel'), {
            redirect_to: redirectUri,
            form: { error: 'access_denied', state: 'state-1', iss: tenant.baseUrl },
          });
      }
    });
    it('form_post: errors of the request too, for clients that take them by redirect', async () => {
      const { services } = server.gatehouse;
      const byRedirect = await createClient(services, tenant, { authorizeErrorDelivery: 'redirect' });
      const form = await formOf(await authorize(openBrowser(), { response_mode: 'form_post', scope: 'openid admin' }, byRedirect));
      assert.deepEqual(form.fields, {
        error: 'invalid_scope',
        error_description: 'A scope is not bound to this client.',
        state: 'state-1',
        iss: tenant.baseUrl,
      });
      assert.equal((await authorize(openBrowser(), { response_mode: 'form_post', scope: 'openid admin' })).status, 400);
      const silent = await formOf(await authorize(openBrowser(), { response_mode: 'form_post', prompt: 'none' }));
      assert.equal(silent.fields['error'], 'login_required');
    });
    it('form_post to an address with a query, and to an app: posted there as it is, under its own scheme', async () => {
      const { services } = server.gatehouse;
      const uri = 'https://rp.example/callback?a=1&b=2';
      const asking = await createClient(services, tenant, { redirectUris: [uri] });
      const { action } = await formOf(
        await authorize(openBrowser(), { response_mode: 'form_post', prompt: 'none', redirect_uri: uri }, asking),
      );
      assert.equal(action, uri);
      const own = 'com.example.app:/callback';
      const app = await createClient(services, tenant, { type: 'public', redirectUris: [own] });
      const answer = await authorize(openBrowser(), { response_mode: 'form_post', prompt: 'none', redirect_uri: own }, app);
      assert.match(answer.headers.get('content-security-policy') ?? '', /form-action com\.example\.app:$/);
    });
    it('a mode that is pushed is kept, and so is one of a sign-in that expired', async () => {
      const { response_mode: _mode, ...asked } = Object.fromEntries(world.query());
      const pushed = await postAs(tenant, client, 'par', { ...asked, response_mode: 'form_post', prompt: 'none' });
      const { request_uri: requestUri } = (await pushed.json()) as { request_uri: string };
      await settings({ sso_session: 'off' });
      const query = new URLSearchParams({ client_id: client.clientId, request_uri: requestUri });
      const form = await formOf(await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' }));
      assert.equal(form.fields['error'], 'login_required');
      await settings({});
      const browser = openBrowser();
      const login = await toApproved(browser, { response_mode: 'form_post' });
      await server.clock.advance(tenant.settings.login_lifetime_seconds * 1000 + 1000);
      const { location = '' } = await step(browser, login, 'restart');
      assert.ok('form' in (await step(browser, location, 'cancel')));
    });
    it('query is what it was, asked for or not', async () => {
      for (const changes of [{}, { response_mode: 'query' }, { response_mode: '' }]) {
        const { searchParams } = locationOf(await finished(changes));
        assert.deepEqual([...searchParams.keys()], ['code', 'state', 'iss']);
      }
    });

    it('jwt and query.jwt: one signed parameter with everything in it, iss, aud and a short exp', async () => {
      for (const mode of ['jwt', 'query.jwt']) {
        const { searchParams } = locationOf(await finished({ response_mode: mode }));
        assert.deepEqual([...searchParams.keys()], ['response']);
        const { code, ...rest } = await opened(searchParams.get('response'));
        assert.deepEqual(rest, { state: 'state-1' });
        await tokensOf(await exchange(tenant, client, String(code)));
      }
    });
    it('form_post.jwt: the same by a form; errors are signed too, with the algorithm of the client', async () => {
      const form = await formOf(await finished({ response_mode: 'form_post.jwt' }));
      assert.deepEqual(Object.keys(form.fields), ['response']);
      assert.ok((await opened(form.fields['response']))['code']);
      const edwards = await createClient(server.gatehouse.services, tenant, { idTokenSignedResponseAlg: 'EdDSA' });
      const { searchParams } = locationOf(await authorize(openBrowser(), { response_mode: 'jwt', prompt: 'none' }, edwards));
      const token = searchParams.get('response') ?? '';
      assert.equal(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).alg, 'EdDSA');
      assert.deepEqual(await opened(token, edwards.clientId), { error: 'login_required', state: 'state-1' });
    });
    it('discovery announces them; fragments are not offered', async () => {
      const metadata = (await (await fetch(`${tenant.baseUrl}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;
      assert.deepEqual(metadata['response_modes_supported'], ['query', 'form_post', 'jwt', 'query.jwt', 'form_post.jwt']);
      assert.deepEqual(metadata['authorization_signing_alg_values_supported'], ['ES256', 'RS256', 'EdDSA']);
      for (const mode of ['fragment', 'fragment.jwt', 'web_message'])
        assert.equal((await authorize(openBrowser(), { response_mode: mode })).status, 400, mode);
    });
  });
}
