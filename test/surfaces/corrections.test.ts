// What holds for everybody since design 14, part 4: addresses and names of tenants, preflights, security headers, right credentials
// from an address whose wrong ones are refused, the way back into a sign-in that a pushed request started.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { createClient, rootTenant, type TestClient } from '../support/fixtures.ts';
import { issueTokens } from '../support/issued-tokens.ts';
import { callSystem, createTestTenant, createTestUser, jsonOf } from '../support/management.ts';
import { challenge, formBody, postAs, redirectUri } from '../support/oidc.ts';
import { sendRaw } from '../support/raw-http.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`Corrections of design 14, 4 on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database);
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant);
    });
    after(() => server.close());

    const discovery = '/.well-known/openid-configuration';
    const getRaw = (target: string, host: string): Promise<Response> =>
      sendRaw(server.url, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const issuerOf = async (response: Response): Promise<unknown> => {
      assert.equal(response.status, 200, await response.clone().text());
      return ((await response.json()) as Record<string, unknown>)['issuer'];
    };

    it('M3 a custom domain wins over the path, and has nothing below /t/', async () => {
      const domain = `https://login-${database}.example`;
      await jsonOf(await callSystem(server, 'POST', '/tenants', { slug: 'own', name: 'Own', domain }), 201);
      const neighbour = await createTestTenant(server, { slug: 'neighbour' });
      const host = new URL(domain).host;
      assert.equal(await issuerOf(await getRaw(discovery, host)), domain);
      for (const slug of ['neighbour', 'own'])
        await assertRefusal(await getRaw(`/t/${slug}/v1/management/users`, host), 'management.not_found');
      const public_ = new URL(server.url).host;
      assert.equal(await issuerOf(await getRaw(`/t/neighbour${discovery}`, public_)), neighbour.baseUrl);
      assert.equal(await issuerOf(await getRaw(`/t/neighbour${discovery}`, 'nobody.example')), neighbour.baseUrl);
    });

    it('L1 the authority of an absolute target replaces Host, then the path counts', async () => {
      const domain = `https://absolute-${database}.example`;
      await jsonOf(await callSystem(server, 'POST', '/tenants', { slug: 'absolute', name: 'Absolute', domain }), 201);
      const host = new URL(server.url).host;
      assert.equal(await issuerOf(await getRaw(`${domain}${discovery}`, host)), domain);
      assert.equal(await issuerOf(await getRaw(`http://${host}${discovery}`, new URL(domain).host)), tenant.baseUrl);
      await assertRefusal(await getRaw(`${domain}/t/absolute/v1/management/users`, host), 'management.not_found');
    });

    it('M6 right credentials always pass; wrong ones are 429 beyond the limit, alike for clients that exist and for others', async () => {
      await createTestTenant(server, {
        slug: 'limited',
        settings: { rate_limits: { client_auth_failures_per_ip: { limit: 4, period_seconds: 60 } } },
      });
      const own = (await server.gatehouse.services.tenants.bySlug('limited')) ?? assert.fail('no tenant');
      const one = await createClient(server.gatehouse.services, own, { scopes: ['openid'] });
      const other = await createClient(server.gatehouse.services, own, { scopes: ['openid'] });
      const introspect = (of: TestClient): Promise<Response> => postAs(own, of, 'introspect', { token: 'x' });
      const failing = (clientId: string): TestClient => ({ ...one, clientId: clientId as never, secret: 'wrong' });
      for (const clientId of ['nobody-1', one.clientId, 'nobody-2', 'nobody-3'])
        await assertRefusal(await introspect(failing(clientId)), 'client.invalid_client');
      for (const clientId of ['nobody-4', one.clientId, 'nobody-1', other.clientId]) {
        const refused = await introspect(failing(clientId));
        await assertRefusal(refused, 'oauth.rate_limited', { fields: { retry_after_seconds: Number(refused.headers.get('retry-after')) } });
      }
      for (const client of [one, other]) assert.equal((await introspect(client)).status, 200);
    });

    it('L3 preflights of PAR and revocation; their answers may be read from any origin', async () => {
      for (const path of ['par', 'revoke']) {
        const url = `${tenant.baseUrl}/v1/idp/oidc/${path}`;
        const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin: 'https://spa.example' } });
        assert.equal(preflight.status, 204);
        assert.equal(preflight.headers.get('access-control-allow-methods'), 'POST');
        const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(), headers: { origin: 'https://spa.example' } });
        assert.equal(answer.headers.get('access-control-allow-origin'), '*');
      }
    });

    it('L7 every answer says nosniff; a tenant on https says HSTS for a year, one on http does not', async () => {
      const domain = `https://strict-${database}.example`;
      await jsonOf(await callSystem(server, 'POST', '/tenants', { slug: 'strict', name: 'Strict', domain }), 201);
      for (const path of [discovery, '/nowhere', '/v1/management/users', '/health/live']) {
        const plain = await fetch(`${server.url}${path}`);
        assert.deepEqual(
          [plain.headers.get('x-content-type-options'), plain.headers.get('strict-transport-security')],
          ['nosniff', null],
          path,
        );
      }
      const strict = await getRaw(discovery, new URL(domain).host);
      assert.equal(strict.headers.get('strict-transport-security'), 'max-age=31536000');
    });

    it('L4, L6 redirect URIs are whole, as they are serialised, with a real port', async () => {
      const managed = await createTestTenant(server, { slug: 'uris' });
      const create = (uri: string): Promise<Response> =>
        managed.call('POST', '/clients', { name: 'x', type: 'public', token_endpoint_auth_method: 'none', redirect_uris: [uri] });
      for (const uri of [
        'https://a.example',
        'https://a.example/',
        'https://a.example/cb?x=1',
        'com.example.app:/cb',
        'http://127.0.0.1:65535/',
      ])
        assert.equal((await create(uri)).status, 201, uri);
      for (const uri of [
        'https://*.example/',
        'https://a.example/*',
        'https://A.example/',
        'https://a.example:443/',
        'https://a.example/a/../b',
        'http://127.0.0.1:0/',
        'http://127.0.0.1:65536/',
      ])
        assert.equal((await create(uri)).status, 400, uri);
      const native = await createClient(server.gatehouse.services, tenant, { type: 'public', redirectUris: ['http://127.0.0.1/cb'] });
      const start = (port: string): Promise<Response> =>
        fetch(
          `${tenant.baseUrl}/v1/idp/oidc/authorize?${request({ client_id: native.clientId, redirect_uri: `http://127.0.0.1:${port}/cb` })}`,
          { redirect: 'manual' },
        );
      for (const port of ['1', '65535']) assert.equal((await start(port)).status, 303, port);
      for (const port of ['0', '65536', '99999']) await assertRefusal(await start(port), 'authorize.unauthorized');
    });

    const request = (changes: Record<string, string> = {}): URLSearchParams =>
      formBody({
        response_type: 'code',
        client_id: client.clientId,
        redirect_uri: redirectUri,
        scope: 'openid',
        code_challenge: challenge,
        code_challenge_method: 'S256',
        ...changes,
      });

    it('picture is the primary photo, or the first, where the scope profile asks for it', async () => {
      const managed = await createTestTenant(server, { slug: 'pictures' });
      const own = (await server.gatehouse.services.tenants.bySlug('pictures')) ?? assert.fail('no tenant');
      const app = await createClient(server.gatehouse.services, own);
      const pictureOf = async (photos: readonly object[], scope = 'openid profile'): Promise<unknown> => {
        const { id } = await createTestUser(managed, `p${photos.length}${scope.length}@example.com`, { photos });
        const tokens = await issueTokens(server.gatehouse.services, own, app, id as UserId, { scope });
        const response = await fetch(`${own.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${tokens.accessToken}` } });
        return ((await response.json()) as Record<string, unknown>)['picture'];
      };
      const first = { value: 'https://photos.example/1.jpg', type: 'photo' };
      const primary = { value: 'https://photos.example/2.jpg', type: 'photo', primary: true };
      assert.equal(await pictureOf([first]), first.value);
      assert.equal(await pictureOf([first, primary]), primary.value);
      assert.equal(await pictureOf([first, primary], 'openid'), undefined);
      assert.equal(await pictureOf([]), undefined);
    });

    it('a request_uri leads its own browser back into the sign-in it started, and nobody else', async () => {
      const { request_uri } = (await (await postAs(tenant, client, 'par', request())).json()) as { request_uri: string };
      const open = (cookie?: string): Promise<Response> =>
        fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${formBody({ client_id: client.clientId, request_uri })}`, {
          redirect: 'manual',
          headers: cookie === undefined ? {} : { cookie },
        });
      const first = await open();
      const [cookie = ''] = (first.headers.get('set-cookie') ?? '').split(';');
      const login = first.headers.get('location') ?? '';
      const again = await open(cookie);
      assert.deepEqual([again.status, again.headers.get('location'), again.headers.get('set-cookie')], [303, login, null]);
      await assertRefusal(await open(), 'authorize.invalid_request_uri');
      await assertRefusal(await open(`${cookie}x`), 'authorize.invalid_request_uri');
      await fetch(`${login}/cancel`, { method: 'POST', headers: { cookie, accept: 'application/json' } });
      await assertRefusal(await open(cookie), 'authorize.invalid_request_uri');
    });
  });
}
