// Contract 7.5: introspection. What is not the caller's or not alive is `{"active":false}` and nothing more.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { parametersMax } from '../../src/contract/limits.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { revokeGrant } from '../../src/storage/oidc/grants.ts';
import { insertRevokedToken } from '../../src/storage/oidc/revoked-tokens.ts';
import { assembleJwt, basic, type Form, makeKeyPair, postForm, signAssertion } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { type IssuedTokens, issueClientToken, issueTokens } from '../support/issued-tokens.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const api = 'https://api.example/';

for (const database of databases) {
  describe(`7.5 introspection on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let resourceServer: TestClient;
    let stranger: TestClient;
    let publicClient: TestClient;
    let user: TestUser;
    let tokens: IssuedTokens;

    before(async () => {
      server = await startTestServer(database);
      const { services } = server.gatehouse;
      tenant = await rootTenant(services);
      client = await createClient(services, tenant, { resources: [api] });
      resourceServer = await createClient(services, tenant, { resources: [api] });
      stranger = await createClient(services, tenant);
      publicClient = await createClient(services, tenant, { type: 'public' });
      user = await createUser(services, tenant);
      tokens = await issueTokens(services, tenant, client, user.id);
    });
    after(() => server.close());

    const post = (form: Form | string, caller = client, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      postForm(`${server.url}/v1/idp/oidc/introspect`, form, { ...basic(caller.clientId, caller.secret), ...headers });
    const introspected = async (token: string, caller = client): Promise<Record<string, unknown>> => {
      const response = await post({ token }, caller);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
      assert.equal(response.headers.get('cache-control'), 'no-store');
      return (await response.json()) as Record<string, unknown>;
    };
    const assertInactive = async (token: string, caller = client): Promise<void> => {
      const response = await post({ token }, caller);
      assert.equal(response.status, 200);
      assert.equal(await response.text(), '{"active":false}');
    };
    const again = (changes = {}): Promise<IssuedTokens> => issueTokens(server.gatehouse.services, tenant, client, user.id, changes);

    it('an access token of the caller: its claims', async () => {
      const claims = decodeJwt(tokens.accessToken);
      assert.deepEqual(await introspected(tokens.accessToken), { active: true, token_type: 'Bearer', ...claims });
      assert.deepEqual(Object.keys(claims).sort(), ['aud', 'client_id', 'exp', 'iat', 'iss', 'jti', 'scope', 'sid', 'sub', 'token_use']);
    });
    it('token_type_hint changes nothing', async () => {
      for (const hint of ['access_token', 'refresh_token', 'nonsense', ''])
        assert.equal(
          ((await (await post({ token: tokens.accessToken, token_type_hint: hint })).json()) as { active: boolean }).active,
          true,
        );
    });
    it('a client_credentials token of the caller', async () => {
      const answer = await introspected(await issueClientToken(server.gatehouse.services, tenant, client));
      assert.equal(answer['active'], true);
      assert.equal(answer['sub'], client.clientId);
    });
    it('a refresh token of the caller', async () => {
      const answer = await introspected(tokens.refreshToken);
      assert.deepEqual(answer, {
        active: true,
        token_type: 'refresh_token',
        iss: tenant.baseUrl,
        sub: user.id,
        client_id: client.clientId,
        iat: answer['iat'],
        exp: Number(answer['iat']) + 3600,
        scope: 'openid offline_access',
        token_use: 'refresh',
        sid: tokens.grantId,
      });
    });
    it('a resource server sees tokens for its audience, others do not', async () => {
      const forApi = await again({ audience: [api, tenant.baseUrl] });
      assert.equal((await introspected(forApi.accessToken, resourceServer))['active'], true);
      await assertInactive(forApi.accessToken, stranger);
      await assertInactive(forApi.refreshToken, resourceServer);
      await assertInactive(tokens.accessToken, resourceServer);
    });
    it('a sender-constrained token names its type and key', async () => {
      const bound = await again({ cnf: { jkt: 'thumbprint' } });
      const answer = await introspected(bound.accessToken);
      assert.equal(answer['token_type'], 'DPoP');
      assert.deepEqual(answer['cnf'], { jkt: 'thumbprint' });
    });

    it('inactive: unknown, malformed, truncated, flipped', async () => {
      await assertInactive('nothing');
      await assertInactive('a.b.c');
      await assertInactive(tokens.accessToken.slice(0, -1));
      await assertInactive(`${tokens.accessToken}x`);
      await assertInactive(tokens.accessToken.replace(/.$/, (char) => (char === 'A' ? 'B' : 'A')));
      await assertInactive(tokens.refreshToken.slice(0, -1));
      await assertInactive('é'.repeat(1000));
    });
    it('inactive: forged headers', async () => {
      const claims = decodeJwt(tokens.accessToken);
      const now = server.clock.nowMs();
      const own = makeKeyPair('ES256');
      await assertInactive(assembleJwt({ alg: 'none', typ: 'at+jwt' }, claims, Buffer.alloc(8)));
      await assertInactive(await signAssertion(own, client.clientId, tenant.baseUrl, now, claims, { typ: 'at+jwt' }));
      await assertInactive(await signAssertion(own, client.clientId, tenant.baseUrl, now, claims, { typ: 'at+jwt', jwk: own.publicJwk }));
      for (const kid of ['../../dev/null', "' OR 1=1 --", ''])
        await assertInactive(await signAssertion({ ...own, kid }, client.clientId, tenant.baseUrl, now, claims, { typ: 'at+jwt' }));
    });
    it("inactive: another tenant's token, and this one asked there", async () => {
      const { services } = server.gatehouse;
      const other = await createOtherTenant(services, 'other');
      const otherClient = await createClient(services, other);
      const otherUser = await createUser(services, other);
      const otherTokens = await issueTokens(services, other, otherClient, otherUser.id);
      await assertInactive(otherTokens.accessToken);
      await assertInactive(otherTokens.refreshToken);
      const there = await postForm(
        `${other.baseUrl}/v1/idp/oidc/introspect`,
        { token: tokens.accessToken },
        basic(otherClient.clientId, otherClient.secret),
      );
      assert.equal(await there.text(), '{"active":false}');
    });
    it('inactive: revoked by jti, by grant, by the state of the user, by disabling its client', async () => {
      const { services } = server.gatehouse;
      const denied = await again();
      await services.database.write(tenant.id, (queries) => insertRevokedToken(queries, tenant.id, denied.jti, 4e9));
      await assertInactive(denied.accessToken);
      assert.equal((await introspected(denied.refreshToken))['active'], true);

      const ended = await again();
      await services.database.write(tenant.id, (queries) => revokeGrant(queries, tenant.id, ended.grantId, 'logout'));
      await assertInactive(ended.accessToken);
      await assertInactive(ended.refreshToken);

      const suspended = await createUser(services, tenant);
      const theirs = await issueTokens(services, tenant, client, suspended.id);
      await services.database.write(tenant.id, (queries) =>
        queries
          .updateTable('users')
          .set({ state: 'suspended' })
          .where('tenant_id', '=', tenant.id)
          .where('id', '=', suspended.id)
          .execute(),
      );
      await assertInactive(theirs.accessToken);
      await assertInactive(theirs.refreshToken);

      const going = await createClient(services, tenant, { resources: [api] });
      const forApi = await issueTokens(services, tenant, going, user.id, { audience: [api] });
      assert.equal((await introspected(forApi.accessToken, resourceServer))['active'], true);
      await services.cache.write(tenant.id, (queries) =>
        queries
          .updateTable('clients')
          .set({ enabled: 0 })
          .where('tenant_id', '=', tenant.id)
          .where('client_id', '=', going.clientId)
          .execute(),
      );
      await assertInactive(forApi.accessToken, resourceServer);
    });
    it('inactive: seen before, but its key was taken away since', async () => {
      const { services } = server.gatehouse;
      const other = await createOtherTenant(services, 'rekeyed');
      const caller = await createClient(services, other);
      const person = await createUser(services, other);
      const { accessToken, refreshToken } = await issueTokens(services, other, caller, person.id);
      const ask = async (token: string): Promise<unknown> => {
        const answer = await postForm(`${other.baseUrl}/v1/idp/oidc/introspect`, { token }, basic(caller.clientId, caller.secret));
        return ((await answer.json()) as { active: boolean }).active;
      };
      assert.equal(await ask(accessToken), true);
      assert.equal(await ask(accessToken), true);
      await services.cache.write(other.id, (queries) =>
        queries.deleteFrom('signing_keys').where('tenant_id', '=', other.id).where('use', '=', 'oidc').where('alg', '=', 'ES256').execute(),
      );
      assert.equal(await ask(accessToken), false);
      assert.equal(await ask(refreshToken), true);
    });
    it('inactive: another client without the audience', async () => {
      await assertInactive(tokens.accessToken, stranger);
      await assertInactive(tokens.refreshToken, stranger);
    });

    it('RFC 9701: a caller that accepts a JWT gets one for itself', async () => {
      const accept = { accept: 'application/token-introspection+jwt' };
      const response = await post({ token: tokens.accessToken }, client, accept);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'application/token-introspection+jwt');
      assert.equal(response.headers.get('cache-control'), 'no-store');
      const jwks = createRemoteJWKSet(new URL(`${server.url}/v1/idp/oidc/jwks`));
      const expected = { issuer: tenant.baseUrl, audience: client.clientId, typ: 'token-introspection+jwt', algorithms: ['RS256'] };
      const { payload } = await jwtVerify(await response.text(), jwks, { ...expected, currentDate: new Date(server.clock.nowMs()) });
      assert.deepEqual(Object.keys(payload).sort(), ['aud', 'iat', 'iss', 'token_introspection']);
      assert.deepEqual(payload['token_introspection'], { active: true, token_type: 'Bearer', ...decodeJwt(tokens.accessToken) });
      const inactive = await (await post({ token: 'nothing' }, client, accept)).text();
      assert.deepEqual(decodeJwt(inactive)['token_introspection'], { active: false });
      await assertInactive(inactive);
    });

    it('7.5 client.invalid_client: a public client', async () => {
      const response = await postForm(`${server.url}/v1/idp/oidc/introspect`, { token: 'x', client_id: publicClient.clientId });
      assert.equal(await assertRefusal(response, 'client.invalid_client'), '{"error":"invalid_client"}');
    });
    it('7.5 introspect.invalid_request: token missing or empty', async () => {
      const missing = { text: 'token is required.' };
      await assertRefusal(await post({}), 'introspect.invalid_request', missing);
      await assertRefusal(await post({ token: '' }), 'introspect.invalid_request', missing);
      await assertRefusal(await post({ token_type_hint: 'access_token' }), 'introspect.invalid_request', missing);
      const inQuery = await postForm(`${server.url}/v1/idp/oidc/introspect?token=x`, {}, basic(client.clientId, client.secret));
      await assertRefusal(inQuery, 'introspect.invalid_request', missing);
    });
    it('7.5 introspect.invalid_request: repeated or malformed parameters', async () => {
      await assertRefusal(await post('token=a&token=b'), 'introspect.invalid_request', { text: 'A parameter is repeated.' });
      await assertRefusal(await post('token=%zz'), 'introspect.invalid_request', { text: 'A parameter is not correctly encoded.' });
      await assertRefusal(await post('token=a%00'), 'introspect.invalid_request', { text: 'A parameter is not correctly encoded.' });
      await assertRefusal(await post(`token=${'a'.repeat(8193)}`), 'introspect.invalid_request', { text: 'A parameter is too long.' });
      const many = Array.from({ length: parametersMax }, (_, index) => `p${index}=1`).join('&');
      await assertRefusal(await post(`token=a&${many}`), 'introspect.invalid_request', { text: 'There are too many parameters.' });
    });
    it('oauth.unsupported_media_type, oauth.method_not_allowed', async () => {
      const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
      await assertRefusal(await fetch(`${server.url}/v1/idp/oidc/introspect`, json), 'oauth.unsupported_media_type');
      const get = await fetch(`${server.url}/v1/idp/oidc/introspect?token=x`);
      assert.equal(get.headers.get('allow'), 'POST');
      await assertRefusal(get, 'oauth.method_not_allowed');
    });
    it('inactive: expired (kept last: it moves the clock)', async () => {
      const { accessToken, refreshToken } = await again();
      await server.clock.advance(900_000);
      await assertInactive(accessToken);
      assert.equal((await introspected(refreshToken))['active'], true);
      await server.clock.advance(2_700_001);
      await assertInactive(refreshToken);
    });
  });
}
