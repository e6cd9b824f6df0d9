// Clients that could never do what they are registered for, and what a client's own hand may not undo (issue 31, 11 and 12).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { makeKeyPair } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { challenge, redirectUri } from '../support/oidc.ts';
import { assertRedirectRefusal, assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const metadata = { client_name: 'Shop', redirect_uris: ['https://rp.example/callback'] };

for (const database of databases) {
  describe(`What a client is registered for on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server, { settings: { extra_grants: ['registration'] } });
    });
    after(() => server.close());
    const send = (method: string, url: string, token: string, body?: Json): Promise<Response> =>
      fetch(url, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    const makeToken = async (): Promise<string> =>
      (
        await tenant.make<{ token: string }>('POST', '/initial-access-tokens', {
          count: 1,
          expires_in_seconds: 600,
          policy: { hosts: ['rp.example'], grant_types: ['authorization_code', 'refresh_token'], scopes: ['openid', 'email'] },
        })
      ).token;
    const register = async (body: Json, token: string): Promise<Response> =>
      send('POST', `${tenant.baseUrl}/v1/idp/oidc/register`, token, body);

    it('fapi2: a key set with which the client could never sign is refused', async () => {
      const jwk = (alg: 'RS256' | 'PS256' | 'ES256' | 'ES384' | 'EdDSA', more: Json = {}): Json => ({
        ...makeKeyPair(alg).publicJwk,
        ...more,
      });
      const make = (...keys: readonly Json[]): Promise<Response> =>
        tenant.call('POST', '/clients', { name: 'Bank', profile: 'fapi2', redirect_uris: [redirectUri], jwks: { keys } });
      for (const keys of [[jwk('RS256')], [jwk('ES384')], [jwk('ES384', { alg: undefined })], [jwk('RS256'), jwk('ES384')]])
        await assertRefusal(await make(...keys), 'management.invalid_request', { kind: 'jwks', text: /profile fapi2/ });
      for (const keys of [[jwk('PS256')], [jwk('ES256')], [jwk('EdDSA')], [jwk('RS256', { alg: undefined })], [jwk('RS256'), jwk('ES256')]])
        await jsonOf(await make(...keys), 201);
    });

    it('RFC 7591: a client that is sent codes says where; the use of the token is not spent', async () => {
      const token = await makeToken();
      for (const body of [{ client_name: 'Shop' }, { client_name: 'Shop', redirect_uris: [] }, { grant_types: ['authorization_code'] }])
        await assertRefusal(await register(body, token), 'register.invalid_redirect_uri', { text: /^redirect_uris is required/ });
      await jsonOf(await register(metadata, token), 201);
    });

    it('RFC 7592 2.2: a client_secret that is sent is the one the client has', async () => {
      const made = await jsonOf<Record<string, string>>(await register(metadata, await makeToken()), 201);
      const put = (more: Json): Promise<Response> =>
        send('PUT', made['registration_client_uri'] ?? '', made['registration_access_token'] ?? '', {
          ...{ client_id: made['client_id'], ...metadata, client_name: 'Market' },
          ...more,
        });
      for (const secret of ['wrong', '', 7, null])
        await assertRefusal(await put({ client_secret: secret }), 'register.invalid_client_metadata', { text: /^client_secret / });
      assert.equal((await jsonOf(await put({ client_secret: made['client_secret'] }), 200))['client_name'], 'Market');
    });

    it('what an administrator narrowed stays narrow', async () => {
      const made = await jsonOf<Record<string, string>>(await register(metadata, await makeToken()), 201);
      const id = made['client_id'] ?? '';
      assert.equal(made['scope'], 'openid email');
      const narrowed = { require_par: true, tls_client_certificate_bound_access_tokens: true };
      await tenant.make('PATCH', `/clients/${id}`, { scopes: ['openid'], ...narrowed });
      const put = (more: Json): Promise<Response> =>
        send('PUT', made['registration_client_uri'] ?? '', made['registration_access_token'] ?? '', {
          client_id: id,
          ...metadata,
          ...more,
        });
      await assertRefusal(await put({ scope: 'openid email' }), 'register.invalid_client_metadata', { text: /^scope / });
      for (const more of [
        {},
        { require_pushed_authorization_requests: false, tls_client_certificate_bound_access_tokens: false },
        { scope: 'openid' },
      ]) {
        assert.equal((await jsonOf(await put(more), 200))['scope'], 'openid');
        const client = await tenant.make<Record<string, unknown>>('GET', `/clients/${id}`);
        assert.deepEqual(client['scopes'], ['openid']);
        for (const name of Object.keys(narrowed)) assert.equal(client[name], true, name);
      }
    });

    it('an id_token_hint is judged where there are no sessions too', async () => {
      const { client_id: id } = await tenant.make<{ client_id: string }>('POST', '/clients', {
        ...{ name: 'Shop', redirect_uris: [redirectUri], authorize_error_delivery: 'redirect', scopes: ['openid'] },
      });
      const query = new URLSearchParams({
        ...{ response_type: 'code', client_id: id, redirect_uri: redirectUri, scope: 'openid', state: 's', id_token_hint: 'garbage' },
        ...{ code_challenge: challenge, code_challenge_method: 'S256' },
      });
      const answer = await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' });
      await assertRedirectRefusal(answer, 'authorize.invalid_request', {
        redirectUri,
        iss: tenant.baseUrl,
        state: 's',
        text: 'id_token_hint is not an ID token of this client.',
      });
    });

    it('RFC 6797: every answer of a server at https says so, of no surface and of health too', async () => {
      const secure = await startTestServer(database, { flags: { public_url: 'https://id.example.com', trusted_proxies: '127.0.0.1' } });
      const { port } = secure.gatehouse.app.server.address() as { readonly port: number };
      const url = `http://127.0.0.1:${port}`;
      for (const path of ['/', '/nothing', '/t/nobody/v1/idp/oidc/token', '/healthz', '/readyz', '/v1/idp/oidc/jwks'])
        assert.equal((await fetch(`${url}${path}`)).headers.get('strict-transport-security'), 'max-age=31536000', path);
      await secure.close();
      assert.equal((await fetch(`${server.url}/nothing`)).headers.get('strict-transport-security'), null);
    });

    it('a name that turns the order of text is shown without that', async () => {
      const { client_id: id } = await tenant.make<{ client_id: string }>('POST', '/clients', {
        ...{ name: 'Bank\u202e\u2066 moc.elgoog', redirect_uris: [redirectUri], scopes: ['openid'] },
      });
      const query = new URLSearchParams({
        ...{ response_type: 'code', client_id: id, redirect_uri: redirectUri, scope: 'openid' },
        ...{ code_challenge: challenge, code_challenge_method: 'S256' },
      });
      const started = await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' });
      const location = started.headers.get('location') ?? '';
      const cookie = started.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; ');
      const page = await (await fetch(location, { headers: { accept: 'text/html', cookie } })).text();
      assert.match(page, /Bank moc\.elgoog/);
      assert.doesNotMatch(page, /[\u202a-\u202e\u2066-\u2069]/);
    });
  });
}
