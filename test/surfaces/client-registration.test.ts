// Clients that register themselves (RFC 7591, RFC 7592; design 14, 6): off until a tenant has it, only with an initial access token,
// within its policy, and managed by the token each registration gives.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RowId } from '../../src/contract/catalogue.ts';
import { initialAccessTokenSecondsMax, initialAccessTokenUsesMax, policyHostsMax } from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import { clientCredentialsToken, createTestTenant, type Json, jsonOf, type Managed, managedWith } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const policy = {
  hosts: ['rp.example', 'keys.rp.example', 'com.example.app:'],
  grant_types: ['authorization_code', 'refresh_token'],
  scopes: ['openid', 'email', 'offline_access'],
};
const metadata = { client_name: 'Shop', redirect_uris: ['https://rp.example/callback'] };
const secondsOf = (minutes: number): number => minutes * 60;

interface Registered extends Json {
  readonly client_id: string;
  readonly registration_access_token: string;
  readonly registration_client_uri: string;
}

for (const database of databases) {
  describe(`client registration on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server, { settings: { extra_grants: ['registration'] } });
    });
    after(() => server.close());

    const makeToken = async (changes: Json = {}, at = tenant): Promise<string> => {
      const made = await jsonOf<{ id: string; token: string }>(
        await at.call('POST', '/initial-access-tokens', { count: 1, expires_in_seconds: secondsOf(10), policy, ...changes }),
        201,
      );
      assert.deepEqual(Object.keys(made).sort(), ['id', 'token']);
      assert.match(made.token, /^[A-Za-z0-9_-]{43}$/);
      return made.token;
    };
    const send = (method: string, url: string, token: string | undefined, body?: unknown): Promise<Response> =>
      fetch(url, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
    const register = (token: string | undefined, body: unknown, at = tenant): Promise<Response> =>
      send('POST', `${at.baseUrl}/v1/idp/oidc/register`, token, body);
    const registered = async (body: Json = metadata, changes: Json = {}): Promise<Registered> =>
      jsonOf<Registered>(await register(await makeToken(changes), body), 201);

    it('off: every endpoint is 404, and discovery says nothing of it', async () => {
      const off = await createTestTenant(server);
      const token = await makeToken({}, off);
      const base = `${off.baseUrl}/v1/idp/oidc/register`;
      await assertRefusal(await register(token, metadata, off), 'oauth.not_found', { text: /./ });
      for (const [method, body] of [['GET'], ['PUT', metadata], ['DELETE']] as const)
        await assertRefusal(await send(method, `${base}/x`, token, body), 'oauth.not_found', { text: /./ });
      const discovery = await jsonOf(await fetch(`${off.baseUrl}/.well-known/openid-configuration`), 200);
      assert.equal(discovery['registration_endpoint'], undefined);
      const on = await jsonOf(await fetch(`${tenant.baseUrl}/.well-known/openid-configuration`), 200);
      assert.equal(on['registration_endpoint'], `${tenant.baseUrl}/v1/idp/oidc/register`);
    });
    it('a name and a redirect URI are enough; PKCE is forced, scopes are those of the policy, the secret works', async () => {
      const response = await register(await makeToken(), metadata);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      const made = await jsonOf<Registered>(response, 201);
      const { client_id: id, client_id_issued_at: at, client_secret: secret, registration_access_token: token, ...rest } = made;
      assert.deepEqual(rest, {
        client_secret_expires_at: 0,
        registration_client_uri: `${tenant.baseUrl}/v1/idp/oidc/register/${id}`,
        client_name: 'Shop',
        token_endpoint_auth_method: 'client_secret_basic',
        redirect_uris: ['https://rp.example/callback'],
        post_logout_redirect_uris: [],
        grant_types: ['authorization_code'],
        require_pushed_authorization_requests: false,
        dpop_bound_access_tokens: false,
        require_signed_request_object: false,
        tls_client_certificate_bound_access_tokens: false,
        id_token_signed_response_alg: 'RS256',
        response_types: ['code'],
        scope: 'openid email offline_access',
      });
      assert.equal(typeof at, 'number');
      assert.notEqual(token, secret);
      const client = await tenant.make<Json>('GET', `/clients/${id}`);
      assert.deepEqual([client['require_pkce'], client['name'], client['type']], [true, 'Shop', 'confidential']);
      const answer = await fetch(`${tenant.baseUrl}/v1/idp/oidc/revoke`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
        body: new URLSearchParams({ token: 'x' }),
      });
      assert.equal(answer.status, 200);
    });
    it('what a client may say of itself, a public one too; what it invents is ignored', async () => {
      const app = await registered({
        client_name: 'App',
        token_endpoint_auth_method: 'none',
        redirect_uris: ['com.example.app:/cb', 'https://rp.example/cb'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        scope: 'openid',
        require_pushed_authorization_requests: true,
        dpop_bound_access_tokens: true,
        id_token_signed_response_alg: 'ES256',
        require_pkce: false,
        contacts: ['a@rp.example'],
        logo_uri: null,
      });
      assert.equal(app['client_secret'], undefined);
      assert.equal(app['contacts'], undefined);
      const client = await tenant.make<Json>('GET', `/clients/${app.client_id}`);
      const { type, scopes, require_par, require_pkce, dpop_bound_access_tokens, grant_types } = client;
      assert.deepEqual(
        { type, scopes, require_par, require_pkce, dpop_bound_access_tokens, grant_types },
        {
          type: 'public',
          scopes: ['openid'],
          require_par: true,
          require_pkce: true,
          dpop_bound_access_tokens: true,
          grant_types: ['authorization_code', 'refresh_token'],
        },
      );
    });

    it('register.invalid_token: none, wrong, used up, expired, taken back, of another tenant, a registration token', async () => {
      const challenge = async (response: Response): Promise<void> => {
        assert.equal(response.headers.get('www-authenticate'), 'Bearer error="invalid_token"');
        await assertRefusal(response, 'register.invalid_token');
      };
      await challenge(await register(undefined, metadata));
      await challenge(await register('x'.repeat(43), metadata));
      await challenge(await register(tenant.token, metadata));
      const once = await makeToken();
      await jsonOf(await register(once, metadata), 201);
      await challenge(await register(once, metadata));
      const { registration_access_token: own } = await registered();
      await challenge(await register(own, metadata));
      const back = await jsonOf(await tenant.call('POST', '/initial-access-tokens', { count: 1, expires_in_seconds: 60, policy }), 201);
      assert.equal((await tenant.call('DELETE', `/initial-access-tokens/${back['id']}`)).status, 204);
      await challenge(await register(String(back['token']), metadata));
      const other = await createTestTenant(server, { settings: { extra_grants: ['registration'] } });
      await challenge(await register(await makeToken({}, other), metadata));
      const short = await makeToken({ expires_in_seconds: 60 });
      await server.clock.advance(60_000);
      await challenge(await register(short, metadata));
    });
    const invalid: readonly (readonly [string, unknown, string, RegExp])[] = [
      ['a host outside the policy', { redirect_uris: ['https://evil.example/cb'] }, 'register.invalid_redirect_uri', /^redirect_uris /],
      ['a suffix of an allowed host', { redirect_uris: ['https://evil-rp.example/cb'] }, 'register.invalid_redirect_uri', /./],
      ['the allowed host as a user', { redirect_uris: ['https://rp.example@evil.example/'] }, 'register.invalid_redirect_uri', /./],
      ['one of two outside', { redirect_uris: ['https://rp.example/', 'http://localhost/'] }, 'register.invalid_redirect_uri', /./],
      ['a fragment', { redirect_uris: ['https://rp.example/#x'] }, 'register.invalid_redirect_uri', /fragment/],
      ['no list', { redirect_uris: 'https://rp.example/' }, 'register.invalid_redirect_uri', /right form/],
      ['keys elsewhere', { ...metadata, jwks_uri: 'https://evil.example/' }, 'register.invalid_client_metadata', /^jwks_uri /],
      ['a logo elsewhere', { ...metadata, logo_uri: 'https://evil.example/' }, 'register.invalid_client_metadata', /^logo_uri /],
      ['a grant outside', { ...metadata, grant_types: ['client_credentials'] }, 'register.invalid_client_metadata', /^grant_types /],
      ['a grant nobody has', { ...metadata, grant_types: ['implicit'] }, 'register.invalid_client_metadata', /^grant_types /],
      ['a scope outside', { ...metadata, scope: 'openid users:write' }, 'register.invalid_client_metadata', /^scope /],
      ['a scope that is no text', { ...metadata, scope: ['openid'] }, 'register.invalid_client_metadata', /^scope /],
      ['another response type', { ...metadata, response_types: ['token'] }, 'register.invalid_client_metadata', /^response_types /],
      ['pairwise subjects', { ...metadata, subject_type: 'pairwise' }, 'register.invalid_client_metadata', /^subject_type /],
      [
        'a method without keys',
        { ...metadata, token_endpoint_auth_method: 'private_key_jwt' },
        'register.invalid_client_metadata',
        /^jwks /,
      ],
      ['a method nobody has', { ...metadata, token_endpoint_auth_method: 'x' }, 'register.invalid_client_metadata', /right form/],
      ['a control character', { ...metadata, client_name: 'a\u0001b' }, 'register.invalid_client_metadata', /^client_name /],
      ['a list', [metadata], 'register.invalid_client_metadata', /JSON object/],
    ];
    for (const [name, body, row, text] of invalid)
      it(`${row}: ${name}; the use is not spent`, async () => {
        const token = await makeToken();
        await assertRefusal(await register(token, body), row as 'register.invalid_redirect_uri', { text });
        await jsonOf(await register(token, metadata), 201);
      });
    it('a count is a count: of 40 registrations at the same time 7 are made', async () => {
      const token = await makeToken({ count: 7 });
      const answers = await Promise.all(Array.from({ length: 40 }, () => register(token, metadata)));
      const made = answers.filter(({ status }) => status === 201);
      assert.equal(made.length, 7);
      for (const answer of answers) if (answer.status !== 201) await assertRefusal(answer, 'register.invalid_token');
      const ids = await Promise.all(made.map(async (answer) => ((await answer.json()) as Registered).client_id));
      assert.equal(new Set(ids).size, 7);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/initial-access-tokens?search=rp.example&limit=200');
      assert.deepEqual(
        items.filter((item) => item['count'] === 7).map(({ used, policy: own }) => ({ used, policy: own })),
        [{ used: 7, policy }],
      );
      assert.ok(!JSON.stringify(items).includes(token));
    });

    it('RFC 7592: a client reads, replaces and deletes itself', async () => {
      const made = await registered();
      const { registration_client_uri: uri, registration_access_token: token, client_secret: secret, ...shown } = made;
      const { client_secret_expires_at: _never, ...readable } = shown;
      const read = await jsonOf(await send('GET', uri, token), 200);
      assert.deepEqual(read, { ...readable, registration_client_uri: uri, registration_access_token: token });
      const change = { client_id: made.client_id, client_name: 'Market', redirect_uris: ['https://rp.example/new'], scope: 'openid' };
      const changed = await jsonOf(await send('PUT', uri, token, change), 200);
      assert.deepEqual([changed['client_name'], changed['redirect_uris'], changed['scope']], ['Market', change.redirect_uris, 'openid']);
      assert.equal(changed['client_secret'], undefined, 'it keeps the secret it has');
      assert.ok(secret);
      const open = await jsonOf(await send('PUT', uri, token, { ...change, token_endpoint_auth_method: 'none' }), 200);
      assert.equal(open['token_endpoint_auth_method'], 'none');
      const closed = await jsonOf(await send('PUT', uri, token, change), 200);
      assert.notEqual(closed['client_secret'], secret);
      assert.equal((await send('DELETE', uri, token)).status, 204);
      await assertRefusal(await send('GET', uri, token), 'register.invalid_token');
      await assertRefusal(await tenant.call('GET', `/clients/${made.client_id}`), 'management.not_found');
    });
    it('RFC 7592 2.2: a client that sends its secret back keeps it, whatever the secret is kept for; another one is refused', async () => {
      for (const method of ['client_secret_basic', 'client_secret_post', 'client_secret_jwt']) {
        const made = await registered({ ...metadata, token_endpoint_auth_method: method });
        const { client_id: id, registration_client_uri: uri, registration_access_token: token, client_secret: secret } = made;
        const put = (sent: unknown): Promise<Response> =>
          send('PUT', uri, token, { client_id: id, ...metadata, token_endpoint_auth_method: method, client_secret: sent });
        const changed = await jsonOf(await put(secret), 200);
        assert.deepEqual([changed['token_endpoint_auth_method'], changed['client_secret']], [method, undefined]);
        for (const wrong of ['x', `${secret}x`, '', 1])
          await assertRefusal(await put(wrong), 'register.invalid_client_metadata', { text: /^client_secret / });
      }
    });
    it('register.invalid_client_metadata: a change beyond the policy of the registration, of another client, with what is ours', async () => {
      const made = await registered();
      const { client_id: id, registration_client_uri: uri, registration_access_token: token } = made;
      const put = (changes: Json): Promise<Response> => send('PUT', uri, token, { client_id: id, ...metadata, ...changes });
      await assertRefusal(await put({ client_id: 'other' }), 'register.invalid_client_metadata', { text: /^client_id / });
      await assertRefusal(await put({ scope: 'users:write' }), 'register.invalid_client_metadata', { text: /^scope / });
      await assertRefusal(await put({ redirect_uris: ['https://evil.example/'] }), 'register.invalid_redirect_uri', { text: /./ });
      await assertRefusal(await put({ registration_access_token: token }), 'register.invalid_client_metadata', { text: /may not be sent/ });
      assert.deepEqual((await jsonOf(await send('GET', uri, token), 200))['redirect_uris'], metadata.redirect_uris);
    });
    it('register.invalid_token: GET, PUT and DELETE with the token of another client, none, a disabled client, an unknown one', async () => {
      const [made, other] = [await registered(), await registered()];
      const wrong = [undefined, other.registration_access_token, tenant.token];
      for (const token of wrong)
        for (const [method, body] of [['GET'], ['PUT', { client_id: made.client_id, ...metadata }], ['DELETE']] as const)
          await assertRefusal(await send(method, made.registration_client_uri, token, body), 'register.invalid_token');
      const unknown = `${tenant.baseUrl}/v1/idp/oidc/register/unknown`;
      await assertRefusal(await send('GET', unknown, made.registration_access_token), 'register.invalid_token');
      await tenant.make('PATCH', `/clients/${made.client_id}`, { enabled: false });
      await assertRefusal(await send('GET', made.registration_client_uri, made.registration_access_token), 'register.invalid_token');
    });

    it('register.invalid_redirect_uri: a host of the policy admits no scheme of that name, a scheme no host', async () => {
      const refused = async (body: Json, row: RowId): Promise<string> =>
        assertRefusal(await register(await makeToken(), { ...metadata, ...body }), row, { text: /may not use/ });
      const app = { token_endpoint_auth_method: 'none', redirect_uris: ['rp.example:/cb'] };
      await refused(app, 'register.invalid_redirect_uri');
      await refused({ redirect_uris: ['https://com.example.app/cb'] }, 'register.invalid_redirect_uri');
      const logout = { redirect_uris: ['https://rp.example/cb'], post_logout_redirect_uris: ['rp.example:/bye'] };
      await refused({ ...app, ...logout }, 'register.invalid_client_metadata');
    });

    it('limits of a token: uses, seconds, hosts, at n and n+1', async () => {
      const ask = (changes: Json): Promise<Response> =>
        tenant.call('POST', '/initial-access-tokens', { count: 1, expires_in_seconds: 60, policy, ...changes });
      const hosts = (count: number): Json => ({
        policy: { ...policy, hosts: Array.from({ length: count }, (_, index) => `h${index}.example`) },
      });
      for (const taken of [
        { count: initialAccessTokenUsesMax },
        { expires_in_seconds: initialAccessTokenSecondsMax },
        hosts(policyHostsMax),
      ])
        await jsonOf(await ask(taken), 201);
      const over: readonly (readonly [Json, string])[] = [
        [{ count: initialAccessTokenUsesMax + 1 }, 'count'],
        [{ count: 0 }, 'count'],
        [{ expires_in_seconds: initialAccessTokenSecondsMax + 1 }, 'expires_in_seconds'],
        [hosts(policyHostsMax + 1), 'policy.hosts'],
        [{ policy: { hosts: [] } }, 'policy.grant_types'],
      ];
      for (const [changes, kind] of over) await assertRefusal(await ask(changes), 'management.invalid_request', { kind, text: /./ });
    });
    it('management.forbidden: nobody gives out a capability they have not', async () => {
      const machine = await tenant.make<{ client_id: string; client_secret: string }>('POST', '/clients', {
        name: 'Gardener',
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['client_credentials'],
        scopes: ['clients:write'],
      });
      const token = await clientCredentialsToken(tenant.baseUrl, machine.client_id, machine.client_secret);
      const gardener = managedWith(token, tenant);
      const ask = (scopes: readonly string[]): Promise<Response> =>
        gardener.call('POST', '/initial-access-tokens', { count: 1, expires_in_seconds: 60, policy: { ...policy, scopes } });
      await jsonOf(await ask(['openid', 'clients:write']), 201);
      await assertRefusal(await ask(['users:write']), 'management.forbidden', { text: /users:write/ });
      await assertRefusal(await gardener.call('GET', '/initial-access-tokens'), 'management.forbidden', { text: /clients:read/ });
      await assertRefusal(await tenant.call('GET', '/initial-access-tokens/unknown'), 'management.not_found');
      await assertRefusal(await tenant.call('DELETE', '/initial-access-tokens/unknown'), 'management.not_found');
    });
  });
}
