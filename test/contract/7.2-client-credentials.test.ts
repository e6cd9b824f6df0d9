// Contract 7.2, client_credentials: a machine on the Management API of its tenant, and everybody else.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, rootTenant, type TestClient } from '../support/fixtures.ts';
import { decodeJwt, type Form, formBody, postAs, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`7.2 client_credentials on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let other: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      tenant = await rootTenant(services);
      other = await createOtherTenant(services, 'machines');
      client = await createMachine(tenant);
    });
    after(() => server.close());

    const createMachine = (at: Tenant, scopes: readonly string[] = ['users:read', 'users:write', 'openid']): Promise<TestClient> =>
      createClient(services, at, { grantTypes: ['client_credentials'], scopes, resources: ['https://api.example'] });
    const ask = (changes: Form = {}, by = client, at = tenant): Promise<Response> =>
      postAs(at, by, 'token', { grant_type: 'client_credentials', ...changes });

    it('an access token for the Management API with the capabilities asked for, and nothing else', async () => {
      const response = await ask({ scope: 'users:read' });
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.equal(response.headers.get('pragma'), 'no-cache');
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
      assert.equal(response.headers.has('access-control-allow-origin'), false);
      const { access_token: token, ...rest } = await tokensOf(response);
      assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 900, scope: 'users:read' });
      const { header, claims } = decodeJwt(token);
      assert.deepEqual(Object.keys(header).sort(), ['alg', 'kid', 'typ']);
      assert.deepEqual({ alg: header['alg'], typ: header['typ'] }, { alg: 'ES256', typ: 'at+jwt' });
      const { iat, exp, jti, ...said } = claims as { iat: number; exp: number; jti: string };
      assert.equal(exp - iat, 900);
      assert.match(jti, /^[A-Za-z0-9_-]{22}$/);
      assert.deepEqual(said, {
        iss: tenant.baseUrl,
        sub: client.clientId,
        aud: tenant.managementApi,
        client_id: client.clientId,
        scope: 'users:read',
        token_use: 'access',
      });
    });
    it('no scope means every capability of the client', async () => {
      assert.equal((await tokensOf(await ask())).scope, 'users:read users:write');
    });
    it('the Management API by resource, by audience, by both', async () => {
      const own = tenant.managementApi;
      for (const form of [{ resource: own }, { audience: own }, { resource: own, audience: own }])
        assert.equal(decodeJwt((await tokensOf(await ask(form))).access_token).claims['aud'], own);
    });

    it('client.invalid_client: every trigger is byte-identical', async () => {
      const disabled = await createClient(services, tenant, { grantTypes: ['client_credentials'], enabled: false });
      const foreign = await createMachine(other);
      const bare = (form: Form): Promise<Response> =>
        fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, { method: 'POST', body: formBody({ grant_type: 'client_credentials', ...form }) });
      const answers: readonly (readonly [string, Response])[] = [
        ['missing client_id', await bare({})],
        ['missing client_id, secret sent', await bare({ client_secret: client.secret })],
        ['unknown app', await ask({}, { ...client, clientId: 'unknown' as typeof client.clientId })],
        ['wrong secret', await ask({}, { ...client, secret: 'wrong' })],
        ['foreign tenant', await ask({}, foreign)],
        ['disabled app', await ask({}, disabled)],
        ['no credential', await bare({ client_id: client.clientId })],
      ];
      const bodies = new Set<string>();
      for (const [name, answer] of answers) {
        assert.equal(answer.status, 401, name);
        bodies.add(await assertRefusal(answer, 'client.invalid_client'));
      }
      assert.deepEqual([...bodies], ['{"error":"invalid_client"}']);
    });
    it('token.invalid_target: any audience but the Management API identifier of the tenant', async () => {
      const text = 'The requested audience is not available to this client.';
      const wrong = [
        'https://api.example',
        other.managementApi,
        tenant.baseUrl,
        `${tenant.managementApi}/`,
        tenant.managementApi.toUpperCase(),
      ];
      for (const audience of wrong) {
        await assertRefusal(await ask({ audience }), 'token.invalid_target', { text });
        await assertRefusal(await ask({ resource: audience }), 'token.invalid_target', { text });
      }
      await assertRefusal(await ask({ resource: tenant.managementApi, audience: 'https://api.example' }), 'token.invalid_target', { text });
    });
    it('token.invalid_scope: a capability the client lacks, and a scope that is none', async () => {
      await assertRefusal(await ask({ scope: 'users:read clients:write' }), 'token.invalid_scope', {
        text: 'A scope is not bound to this client.',
      });
      await assertRefusal(await ask({ scope: 'openid' }), 'token.invalid_scope', { text: 'A scope was not granted.' });
    });
    it('token.invalid_scope: 4096 characters are read, 4097 are malformed', async () => {
      const long = (length: number): string => 'x'.repeat(length);
      await assertRefusal(await ask({ scope: long(4096) }), 'token.invalid_scope', { text: 'A scope is not bound to this client.' });
      await assertRefusal(await ask({ scope: long(4097) }), 'token.invalid_scope', { text: 'scope is malformed.' });
    });
    it('oauth.rate_limited: token_requests_per_client', async () => {
      const limited = await createOtherTenant(services, 'slow', {
        rate_limits: { token_requests_per_client: { limit: 2, period_seconds: 60 } },
      });
      const [first, second] = [await createMachine(limited), await createMachine(limited)];
      for (let request = 0; request < 2; request += 1) await tokensOf(await ask({}, first, limited));
      await assertRefusal(await ask({}, first, limited), 'oauth.rate_limited');
      await tokensOf(await ask({}, second, limited));
    });
    it('a token of one tenant is nothing in another', async () => {
      const { access_token: token } = await tokensOf(await ask());
      const response = await fetch(`${other.baseUrl}/v1/management/users`, { headers: { authorization: `Bearer ${token}` } });
      await assertRefusal(response, 'management.unauthorized');
    });
    it('access_token_alg decides who signs: RS256, and EdDSA whose keys are made when they are first needed', async () => {
      for (const alg of ['RS256', 'EdDSA'] as const) {
        const own = await createOtherTenant(services, alg.toLowerCase(), { access_token_alg: alg });
        const { access_token: token } = await tokensOf(await ask({}, await createMachine(own), own));
        assert.equal(decodeJwt(token).header['alg'], alg);
        const { keys } = (await (await fetch(`${own.baseUrl}/v1/idp/oidc/jwks`)).json()) as { keys: { kid: string }[] };
        assert.ok(keys.some((key) => key.kid === decodeJwt(token).header['kid']));
      }
    });
  });
}
