// Contract 7.3: the authorization endpoint, each row by each trigger the contract and the design name, direct and by redirect.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, rootTenant, type TestClient } from '../support/fixtures.ts';
import { challenge, type Form, formBody, postAs, redirectUri } from '../support/oidc.ts';
import { assertRedirectRefusal, assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`7.3 authorize on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let client: TestClient;
    let byRedirect: TestClient;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      tenant = await rootTenant(services);
      client = await createClient(services, tenant, { resources: ['https://api.example'] });
      byRedirect = await createClient(services, tenant, { authorizeErrorDelivery: 'redirect' });
    });
    after(() => server.close());

    const valid = (): Form => ({
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope: 'openid',
      state: 'state-1',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    const get = (changes: Form | URLSearchParams, headers: Readonly<Record<string, string>> = {}, at = tenant): Promise<Response> => {
      const query = changes instanceof URLSearchParams ? changes : formBody({ ...valid(), ...changes });
      return fetch(`${at.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual', headers });
    };
    const post = (changes: Form): Promise<Response> =>
      fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize`, { method: 'POST', redirect: 'manual', body: formBody({ ...valid(), ...changes }) });
    const startsLogin = async (response: Response): Promise<void> => {
      assert.equal(response.status, 303, await response.clone().text());
      assert.match(response.headers.get('location') ?? '', new RegExp(`^${tenant.baseUrl}/login/[A-Za-z0-9_-]{22}$`));
      assert.match(response.headers.get('set-cookie') ?? '', /^gh-tx-.*HttpOnly; SameSite=Lax$/);
      assert.equal(response.headers.get('cache-control'), 'no-store');
    };

    it('a valid request starts a sign-in, by GET and by form POST', async () => {
      await startsLogin(await get({}));
      await startsLogin(await post({}));
      await startsLogin(await get({ resource: 'https://api.example', prompt: 'login consent', max_age: '0', acr_values: 'phr' }));
      await startsLogin(await get({ state: 's'.repeat(4096), nonce: 'n'.repeat(1024) }));
    });
    it('a HEAD request is checked and starts nothing', async () => {
      const response = await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${formBody(valid())}`, { method: 'HEAD', redirect: 'manual' });
      assert.equal(response.status, 204);
      assert.equal(response.headers.has('set-cookie'), false);
    });

    it('authorize.unauthorized: every trigger is byte-identical', async () => {
      const other = await createOtherTenant(services, `authorize-${database}`);
      const foreign = await createClient(services, other);
      const disabled = await createClient(services, tenant, { enabled: false });
      const answers = [
        await get({ client_id: 'unknown' }),
        await get({ client_id: foreign.clientId }),
        await get({ client_id: disabled.clientId }),
        await get({ client_id: undefined }),
        await get({ client_id: 'x'.repeat(500) }),
        await get({ redirect_uri: 'https://evil.example/callback' }),
        await get({ redirect_uri: `${redirectUri}/` }),
        await get({ redirect_uri: redirectUri.toUpperCase() }),
        await get({ redirect_uri: `${redirectUri}?x=1` }),
        await get({ client_id: byRedirect.clientId, redirect_uri: 'https://evil.example/callback' }),
        await get({ client_id: 'unknown', request_uri: 'nonsense' }),
        await post({ client_id: 'unknown' }),
      ];
      const bodies = new Set<string>();
      for (const answer of answers) bodies.add(await assertRefusal(answer, 'authorize.unauthorized'));
      assert.deepEqual([...bodies], ['{"error":"unauthorized","message":"This client cannot be authorized."}']);
    });

    const descriptions: readonly (readonly [string, Parameters<typeof assertRefusal>[1], Form, string])[] = [
      ['response_type missing', 'authorize.invalid_request', { response_type: undefined }, 'response_type is required.'],
      ['response_type empty', 'authorize.invalid_request', { response_type: '' }, 'response_type is required.'],
      ['redirect_uri missing', 'authorize.invalid_request', { redirect_uri: undefined }, 'redirect_uri is required.'],
      [
        'authorization_details',
        'authorize.invalid_request',
        { authorization_details: '[{"type":"payment"}]' },
        'authorization_details are not supported.',
      ],
      ['response_mode unknown', 'authorize.invalid_request', { response_mode: 'fragment' }, 'This response_mode is not offered.'],
      ['state of 4097 characters', 'authorize.invalid_request', { state: 's'.repeat(4097) }, 'state is too long.'],
      ['nonce of 1025 characters', 'authorize.invalid_request', { nonce: 'n'.repeat(1025) }, 'nonce is too long.'],
      ['login_hint of 321 characters', 'authorize.invalid_request', { login_hint: 'l'.repeat(321) }, 'login_hint is too long.'],
      ['acr_values of 1025 characters', 'authorize.invalid_request', { acr_values: 'a'.repeat(1025) }, 'acr_values is too long.'],
      ['prompt unknown', 'authorize.invalid_request', { prompt: 'create' }, 'prompt is not understood.'],
      ['prompt none with another', 'authorize.invalid_request', { prompt: 'none login' }, 'prompt is not understood.'],
      ['max_age not a number', 'authorize.invalid_request', { max_age: '1.5' }, 'max_age is not a number of seconds.'],
      ['dpop_jkt malformed', 'authorize.invalid_request', { dpop_jkt: 'x' }, 'dpop_jkt is not a key thumbprint.'],
      ['response_type token', 'authorize.unsupported_response_type', { response_type: 'token' }, 'The only response_type is code.'],
      [
        'response_type code id_token',
        'authorize.unsupported_response_type',
        { response_type: 'code id_token' },
        'The only response_type is code.',
      ],
      [
        'audience not allowed',
        'authorize.invalid_target',
        { audience: 'https://other.example' },
        'The requested audience is not available to this client.',
      ],
      [
        'resource not allowed',
        'authorize.invalid_target',
        { resource: 'https://other.example' },
        'The requested audience is not available to this client.',
      ],
      [
        'resource and audience differ',
        'authorize.invalid_target',
        { resource: 'https://api.example', audience: 'https://other.example' },
        'The requested audience is not available to this client.',
      ],
      ['scope not bound to the client', 'authorize.invalid_scope', { scope: 'openid admin' }, 'A scope is not bound to this client.'],
      ['scope malformed', 'authorize.invalid_scope', { scope: ' openid' }, 'scope is malformed.'],
      [
        'code_challenge missing',
        'authorize.pkce',
        { code_challenge: undefined, code_challenge_method: undefined },
        'code_challenge is required.',
      ],
      ['code_challenge empty', 'authorize.pkce', { code_challenge: '' }, 'code_challenge is required.'],
      ['code_challenge_method plain', 'authorize.pkce', { code_challenge_method: 'plain' }, 'The only code_challenge_method is S256.'],
      [
        'code_challenge_method missing means plain',
        'authorize.pkce',
        { code_challenge_method: undefined },
        'The only code_challenge_method is S256.',
      ],
      [
        'code_challenge of 42 characters',
        'authorize.pkce',
        { code_challenge: challenge.slice(1) },
        'code_challenge is not an S256 challenge.',
      ],
    ];
    for (const [name, row, changes, text] of descriptions) {
      it(`${row}: ${name}`, async () => {
        await assertRefusal(await get(changes), row, { text });
      });
      if (!('redirect_uri' in changes))
        it(`${row} by redirect: ${name}`, async () => {
          const response = await get({ ...changes, client_id: byRedirect.clientId });
          const state = (changes['state'] ?? 'state-1').length > 4096 ? {} : { state: 'state-1' };
          await assertRedirectRefusal(response, row, { redirectUri, iss: tenant.baseUrl, text, ...state });
        });
    }
    it('authorize.invalid_request: a repeated parameter, bad percent-encoding, a parameter of 8193 characters, 65 parameters', async () => {
      const repeated = new URLSearchParams(formBody(valid()));
      repeated.append('state', 'state-2');
      await assertRefusal(await get(repeated), 'authorize.invalid_request', { text: 'A parameter is repeated.' });
      const broken = await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?client_id=%zz`);
      await assertRefusal(broken, 'authorize.invalid_request', { text: 'A parameter is not correctly encoded.' });
      await assertRefusal(await get({ x: 'x'.repeat(8193) }), 'authorize.invalid_request', { text: 'A parameter is too long.' });
      await startsLogin(await get({ x: 'x'.repeat(8192) }));
      const many = new URLSearchParams(formBody(valid()));
      while ([...many].length < 65) many.append(`x${[...many].length}`, '1');
      await assertRefusal(await get(many), 'authorize.invalid_request', { text: 'There are too many parameters.' });
    });
    it('authorize.invalid_request: a direct request of a client that must push', async () => {
      const pushing = await createClient(services, tenant, { requirePar: true });
      await assertRefusal(await get({ client_id: pushing.clientId }), 'authorize.invalid_request', {
        text: 'This client must push its authorization requests.',
      });
    });
    it('authorize.pkce: not asked of a confidential client that is excused, always of a public one', async () => {
      const excused = await createClient(services, tenant, { requirePkce: false });
      const without = { code_challenge: undefined, code_challenge_method: undefined };
      await startsLogin(await get({ ...without, client_id: excused.clientId }));
      await assertRefusal(await get({ client_id: excused.clientId, code_challenge_method: 'plain' }), 'authorize.pkce', {
        text: 'The only code_challenge_method is S256.',
      });
      const spa = await createClient(services, tenant, { type: 'public', requirePkce: false });
      await assertRefusal(await get({ ...without, client_id: spa.clientId }), 'authorize.pkce', { text: 'code_challenge is required.' });
    });

    it('authorize.invalid_request_uri: every trigger is byte-identical', async () => {
      const pushed = async (by: TestClient, at = tenant): Promise<string> => {
        const response = await postAs(at, by, 'par', { ...valid(), client_id: by.clientId });
        return ((await response.json()) as { request_uri: string }).request_uri;
      };
      const use = (requestUri: string, by = client): Promise<Response> =>
        get(new URLSearchParams({ client_id: by.clientId, request_uri: requestUri }));
      const consumed = await pushed(client);
      await startsLogin(await use(consumed));
      const ofAnother = await pushed(byRedirect);
      const other = await createOtherTenant(services, `par-${database}`);
      const ofTenant = await pushed(await createClient(services, other), other);
      const answers = [
        await use(consumed),
        await use(ofAnother),
        await use(ofTenant),
        await use(''),
        await use('nonsense'),
        await use('https://rp.example/request.jwt'),
        await use(`urn:ietf:params:oauth:request_uri:${'x'.repeat(43)}`),
        await use(consumed, byRedirect),
      ];
      const expired = await pushed(client);
      await server.clock.advance(60_000);
      answers.push(await use(expired));
      const bodies = new Set<string>();
      for (const answer of answers) bodies.add(await assertRefusal(answer, 'authorize.invalid_request_uri'));
      assert.deepEqual([...bodies], ['{"error":"invalid_request_uri"}']);
      const waiting = await pushed(byRedirect);
      await use(waiting);
      await startsLogin(await use(waiting, byRedirect)); // a stranger's attempt did not use it up
    });

    it('authorize.login_required by redirect: prompt=none', async () => {
      await assertRedirectRefusal(await get({ prompt: 'none' }), 'authorize.login_required', {
        redirectUri,
        iss: tenant.baseUrl,
        state: 'state-1',
      });
    });
    it('authorize.request_not_supported by redirect: a request object', async () => {
      await assertRedirectRefusal(await get({ request: 'e30.e30.' }), 'authorize.request_not_supported', {
        redirectUri,
        iss: tenant.baseUrl,
        state: 'state-1',
      });
    });
    it('authorize.unauthorized_client by redirect: the client may not use the code grant', async () => {
      const machine = await createClient(services, tenant, { grantTypes: ['client_credentials'] });
      const response = await get({ client_id: machine.clientId, state: undefined });
      await assertRedirectRefusal(response, 'authorize.unauthorized_client', { redirectUri, iss: tenant.baseUrl });
    });
    it('the loopback port is flexible for public clients only (RFC 8252 7.3)', async () => {
      const uris = { redirectUris: ['http://127.0.0.1/cb', 'http://[::1]:9/cb', 'http://localhost/cb'] };
      const native = await createClient(services, tenant, { type: 'public', ...uris });
      const web = await createClient(services, tenant, uris);
      await startsLogin(await get({ client_id: native.clientId, redirect_uri: 'http://127.0.0.1:51234/cb' }));
      await startsLogin(await get({ client_id: native.clientId, redirect_uri: 'http://[::1]:51234/cb' }));
      await startsLogin(await get({ client_id: native.clientId, redirect_uri: 'http://localhost:51234/cb' }));
      for (const uri of [
        'http://127.0.0.1:51234/other',
        'http://localhost:51234/other',
        'http://localhost:0/cb',
        'http://localhost.evil.example:51234/cb',
        'http://localhost:1@evil.example/cb',
        'https://localhost:51234/cb',
        'https://127.0.0.1:51234/cb',
        'http://127.0.0.1:1@evil.example/cb',
      ])
        await assertRefusal(await get({ client_id: native.clientId, redirect_uri: uri }), 'authorize.unauthorized');
      await assertRefusal(await get({ client_id: web.clientId, redirect_uri: 'http://127.0.0.1:51234/cb' }), 'authorize.unauthorized');
      const numeric = await createClient(services, tenant, { type: 'public', redirectUris: ['http://127.0.0.1/cb'] });
      await assertRefusal(await get({ client_id: numeric.clientId, redirect_uri: 'http://localhost:51234/cb' }), 'authorize.unauthorized');
    });

    it('errors are a page only when Accept ranks HTML above JSON', async () => {
      const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
      for (const accept of [browser, 'text/html', 'application/json;q=0.5, text/html']) {
        const response = await get({ client_id: 'unknown' }, { accept });
        assert.equal(response.status, 401);
        assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
        assert.equal(response.headers.get('cache-control'), 'no-store');
        assert.match(response.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
        assert.match(await response.text(), /^<!doctype html>[\s\S]*id="error">unauthorized</);
      }
      for (const accept of ['*/*', 'application/json', 'application/json, text/html', 'text/*;q=0.5, application/json'])
        await assertRefusal(await get({ client_id: 'unknown' }, { accept }), 'authorize.unauthorized');
    });
    it('oauth.rate_limited: too many sign-in starts of one address', async () => {
      const limited = await createOtherTenant(services, `limited-${database}`, {
        rate_limits: { login_starts_per_ip: { limit: 1, period_seconds: 60 } },
      });
      const own = await createClient(services, limited);
      const start = (): Promise<Response> => get({ client_id: own.clientId }, {}, limited);
      assert.equal((await start()).status, 303);
      await assertRefusal(await start(), 'oauth.rate_limited');
    });
  });
}
