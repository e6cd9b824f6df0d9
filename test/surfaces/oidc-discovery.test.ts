// Discovery, keys and cross-origin reads: what an issuer says about itself, at every address it may be asked.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { createOtherTenant, rootTenant } from '../support/fixtures.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`discovery on ${database}`, () => {
    let server: TestServer;
    let root: Tenant;
    let acme: Tenant;
    before(async () => {
      server = await startTestServer(database);
      root = await rootTenant(server.gatehouse.services);
      acme = await createOtherTenant(server.gatehouse.services, 'acme');
    });
    after(() => server.close());

    const read = async (url: string): Promise<Record<string, unknown>> => {
      const response = await fetch(url);
      assert.equal(response.status, 200, url);
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
      assert.equal(response.headers.get('cache-control'), 'public, max-age=300');
      return (await response.json()) as Record<string, unknown>;
    };

    it('the issuer is the base URL byte for byte, and every address lies below it', async () => {
      for (const tenant of [root, acme]) {
        const metadata = await read(`${tenant.baseUrl}/.well-known/openid-configuration`);
        assert.equal(metadata['issuer'], tenant.baseUrl);
        for (const [name, value] of Object.entries(metadata))
          if (name.endsWith('_endpoint') || name === 'jwks_uri')
            assert.ok(String(value).startsWith(`${tenant.baseUrl}/v1/idp/oidc/`), `${name}: ${value}`);
      }
    });
    it('RFC 8414: the address of an issuer with a path, and of the root', async () => {
      const own = await read(`${acme.baseUrl}/.well-known/openid-configuration`);
      assert.deepEqual(await read(`${server.url}/.well-known/oauth-authorization-server/t/acme`), own);
      assert.deepEqual(await read(`${server.url}/.well-known/openid-configuration/t/acme`), own);
      const rooted = await read(`${server.url}/.well-known/openid-configuration`);
      assert.deepEqual(await read(`${server.url}/.well-known/oauth-authorization-server`), rooted);
    });
    it('oauth.not_found: an issuer that is not there, and the root tenant below /t/', async () => {
      for (const document of ['oauth-authorization-server', 'openid-configuration'])
        for (const slug of ['nobody', 'main', '..%2f'])
          await assertRefusal(await fetch(`${server.url}/.well-known/${document}/t/${slug}`), 'oauth.not_found');
      await assertRefusal(await fetch(`${server.url}/t/nobody/.well-known/openid-configuration`), 'oauth.not_found');
    });
    it('every endpoint it names answers, in its own envelope', async () => {
      const metadata = await read(`${server.url}/.well-known/openid-configuration`);
      const named = Object.entries(metadata).filter(([name]) => name.endsWith('_endpoint') || name === 'jwks_uri');
      assert.ok(named.length >= 9);
      for (const [name, url] of named) {
        const got = await fetch(String(url), { redirect: 'manual' });
        const posted = await fetch(String(url), { method: 'POST', body: new URLSearchParams(), redirect: 'manual' });
        assert.ok(![got.status, posted.status].includes(404), name);
        assert.ok(got.status < 500 && posted.status < 500, name);
        assert.ok(got.status !== 405 || posted.status !== 405, name);
      }
    });
    it('what it lists is what the contract offers', async () => {
      const metadata = await read(`${server.url}/.well-known/openid-configuration`);
      const wanted: Readonly<Record<string, unknown>> = {
        response_types_supported: ['code'],
        response_modes_supported: ['query', 'form_post', 'jwt', 'query.jwt', 'form_post.jwt'],
        code_challenge_methods_supported: ['S256'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['ES256', 'RS256', 'EdDSA'],
        token_endpoint_auth_methods_supported: [
          'client_secret_basic',
          'client_secret_post',
          'client_secret_jwt',
          'private_key_jwt',
          'none',
        ],
        authorization_response_iss_parameter_supported: true,
        request_parameter_supported: true,
        request_uri_parameter_supported: false,
        claims_parameter_supported: true,
      };
      for (const [name, value] of Object.entries(wanted)) assert.deepEqual(metadata[name], value, name);
      const grants = metadata['grant_types_supported'] as string[];
      for (const grant of ['authorization_code', 'refresh_token', 'client_credentials']) assert.ok(grants.includes(grant), grant);
    });

    it('a page of any origin may read discovery, keys, token and UserInfo, refusals too', async () => {
      const headers = { origin: 'https://spa.example' };
      const oidc = `${server.url}/v1/idp/oidc`;
      const readable: readonly (readonly [string, RequestInit])[] = [
        [`${server.url}/.well-known/openid-configuration`, { headers }],
        [`${oidc}/jwks`, { headers }],
        [`${oidc}/token`, { method: 'POST', body: new URLSearchParams(), headers }],
        [`${oidc}/userinfo`, { headers }],
      ];
      for (const [url, init] of readable) {
        const response = await fetch(url, init);
        assert.equal(response.headers.get('access-control-allow-origin'), '*', url);
        assert.equal(response.headers.has('access-control-allow-credentials'), false, url);
        const preflight = await fetch(url, { method: 'OPTIONS', headers: { ...headers, 'access-control-request-method': 'POST' } });
        assert.equal(preflight.status, 204, url);
        assert.match(
          preflight.headers.get('access-control-allow-headers') ?? '',
          /^Authorization, Content-Type, DPoP, MCP-Protocol-Version, Mcp-Method$/,
        );
      }
      for (const path of ['authorize', 'par', 'introspect', 'revoke', 'logout'])
        assert.equal(
          (await fetch(`${oidc}/${path}`, { headers, redirect: 'manual' })).headers.has('access-control-allow-origin'),
          false,
          path,
        );
    });
  });
}
