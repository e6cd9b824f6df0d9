// Contract 7.7: UserInfo. One status, one envelope, five reasons; and what it says when the token opens it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { insertRevokedToken } from '../../src/storage/oidc/revoked-tokens.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { decodeJwt, exchange, issueCode, postAs, refresh, type Tokens, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`7.7 UserInfo on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      tenant = await rootTenant(services);
      client = await createClient(services, tenant, { resources: ['https://api.example'] });
      user = await createUser(services, tenant, 'ada@people.example');
    });
    after(() => server.close());

    const signIn = async (scope = 'openid profile email offline_access', options: { resource?: string } = {}): Promise<Tokens> =>
      tokensOf(await exchange(tenant, client, await issueCode(server, tenant, client, user, { scope, ...options })));
    const ask = (authorization: string | undefined, at = tenant): Promise<Response> =>
      fetch(`${at.baseUrl}/v1/idp/oidc/userinfo`, authorization === undefined ? {} : { headers: { authorization } });
    const refused = async (response: Response, reason: string): Promise<void> => {
      assert.equal(response.headers.has('www-authenticate'), false);
      const body = await assertRefusal(response, 'userinfo.unauthorized', { fields: { reason } });
      assert.deepEqual(Object.keys(JSON.parse(body)), ['error', 'message', 'reason']);
    };
    const setUserState = (state: string): Promise<unknown> =>
      services.database.write(tenant.id, (queries) =>
        queries.updateTable('users').set({ state }).where('tenant_id', '=', tenant.id).where('id', '=', user.id).execute(),
      );

    it('the claims of the scopes, by GET, by POST and by a token in a form', async () => {
      const { access_token: token } = await signIn();
      const response = await ask(`Bearer ${token}`);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
      const claims = (await response.json()) as Record<string, unknown>;
      const { updated_at: updatedAt, ...rest } = claims;
      assert.equal(typeof updatedAt, 'number');
      assert.deepEqual(rest, {
        sub: user.id,
        name: 'Ada Lovelace',
        given_name: 'Ada',
        family_name: 'Lovelace',
        preferred_username: 'ada@people.example',
        email: 'ada@people.example',
        email_verified: true,
      });
      const posted = await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
      });
      assert.deepEqual(await posted.json(), claims);
      const inForm = await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, {
        method: 'POST',
        body: new URLSearchParams({ access_token: token }),
      });
      assert.deepEqual(await inForm.json(), claims);
    });
    it('openid alone shows the sub alone', async () => {
      assert.deepEqual(await (await ask(`Bearer ${(await signIn('openid')).access_token}`)).json(), { sub: user.id });
    });
    it('audience: a token for a resource is no token for UserInfo, unless the tenant says so', async () => {
      const options = { resource: 'https://api.example' };
      const { access_token: token, id_token: idToken, refresh_token: refreshToken } = await signIn('openid offline_access', options);
      assert.equal(decodeJwt(token).claims['aud'], 'https://api.example');
      assert.equal(decodeJwt(idToken!).claims['aud'], client.clientId);
      await refused(await ask(`Bearer ${token}`), 'audience');
      const { access_token: renewed } = await tokensOf(await refresh(tenant, client, refreshToken));
      await refused(await ask(`Bearer ${renewed}`), 'audience');
      const lenient = await createOtherTenant(services, `lenient-${database}`, { userinfo_with_resource: true });
      const theirs = await createClient(services, lenient, { resources: [options.resource] });
      const somebody = await createUser(services, lenient);
      const code = await issueCode(server, lenient, theirs, somebody, { scope: 'openid', ...options });
      const { access_token: both } = await tokensOf(await exchange(lenient, theirs, code));
      assert.deepEqual(decodeJwt(both).claims['aud'], ['https://api.example', lenient.baseUrl]);
      assert.deepEqual(await (await ask(`Bearer ${both}`, lenient)).json(), { sub: somebody.id });
    });
    it('a token of openid for the Management API, which is ours, opens UserInfo', async () => {
      const own = await createClient(services, tenant, { resources: [tenant.managementApi] });
      const code = await issueCode(server, tenant, own, user, { scope: 'openid', resource: tenant.managementApi });
      const { access_token: token } = await tokensOf(await exchange(tenant, own, code));
      assert.deepEqual(decodeJwt(token).claims['aud'], [tenant.managementApi, tenant.baseUrl]);
      assert.deepEqual(await (await ask(`Bearer ${token}`)).json(), { sub: user.id });
    });
    it('the scheme is case-insensitive', async () => {
      assert.equal((await ask(`bearer ${(await signIn()).access_token}`)).status, 200);
    });

    it('missing_token: no header, another scheme, an empty token', async () => {
      for (const authorization of [undefined, 'Basic YTpi', 'Bearer', 'Bearer ']) await refused(await ask(authorization), 'missing_token');
    });
    it('missing_token: a token in the query is not read', async () => {
      const { access_token: token } = await signIn();
      await refused(await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo?access_token=${token}`), 'missing_token');
    });
    it('invalid_token: not a token, a tampered one, two at once', async () => {
      const { access_token: token } = await signIn();
      const claims = Buffer.from(JSON.stringify({ ...decodeJwt(token).claims, sub: 'another' })).toString('base64url');
      const [header, , signature] = token.split('.');
      for (const bad of ['x', 'a b', `${token}x`, token.slice(0, -4), `${header}.${claims}.${signature}`])
        await refused(await ask(`Bearer ${bad}`), 'invalid_token');
      const twice = await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: new URLSearchParams({ access_token: token }),
      });
      await refused(twice, 'invalid_token');
    });
    it('invalid_token: expired', async () => {
      const { access_token: token } = await signIn();
      await server.clock.advance(900_000);
      await refused(await ask(`Bearer ${token}`), 'invalid_token');
    });
    it('invalid_token: a token of another tenant', async () => {
      const other = await createOtherTenant(services, `userinfo-${database}`);
      await refused(await ask(`Bearer ${(await signIn()).access_token}`, other), 'invalid_token');
    });
    it('invalid_token: the issuer is not an audience, or openid was not granted', async () => {
      await refused(await ask(`Bearer ${(await signIn('profile', { resource: 'https://api.example' })).access_token}`), 'invalid_token');
      await refused(await ask(`Bearer ${(await signIn('profile')).access_token}`), 'invalid_token');
      const machine = await createClient(services, tenant, { grantTypes: ['client_credentials'], scopes: ['users:read'] });
      const { access_token: token } = await tokensOf(await postAs(tenant, machine, 'token', { grant_type: 'client_credentials' }));
      await refused(await ask(`Bearer ${token}`), 'invalid_token');
    });
    it('wrong_token_use: an ID token', async () => {
      await refused(await ask(`Bearer ${(await signIn()).id_token}`), 'wrong_token_use');
    });
    it('invalid_token: a refresh token', async () => {
      await refused(await ask(`Bearer ${(await signIn()).refresh_token}`), 'invalid_token');
    });
    it('token_revoked: the token itself, and its grant', async () => {
      const { access_token: denied } = await signIn();
      const { jti, exp } = decodeJwt(denied).claims as { jti: string; exp: number };
      await services.database.write(tenant.id, (queries) => insertRevokedToken(queries, tenant.id, jti, exp));
      await refused(await ask(`Bearer ${denied}`), 'token_revoked');
      const code = await issueCode(server, tenant, client, user);
      const { access_token: token } = await tokensOf(await exchange(tenant, client, code));
      await exchange(tenant, client, code); // the second use ends the grant
      await refused(await ask(`Bearer ${token}`), 'token_revoked');
    });
    it('token_revoked: the client was disabled', async () => {
      const { access_token: token } = await signIn();
      const setEnabled = (enabled: number): Promise<unknown> =>
        services.cache.write(tenant.id, (queries) =>
          queries
            .updateTable('clients')
            .set({ enabled })
            .where('tenant_id', '=', tenant.id)
            .where('client_id', '=', client.clientId)
            .execute(),
        );
      await setEnabled(0);
      await refused(await ask(`Bearer ${token}`), 'token_revoked');
      await setEnabled(1);
    });
    it('user_inactive: suspended, and deleted', async () => {
      const { access_token: token } = await signIn();
      for (const state of ['suspended', 'deleted']) {
        await setUserState(state);
        await refused(await ask(`Bearer ${token}`), 'user_inactive');
      }
      await setUserState('active');
      assert.equal((await ask(`Bearer ${token}`)).status, 200);
    });
    it('management.rate_limited: in the management envelope', async () => {
      const limited = await createOtherTenant(services, `ui-limited-${database}`, {
        rate_limits: { userinfo_requests_per_ip: { limit: 1, period_seconds: 60 } },
      });
      await refused(await ask(undefined, limited), 'missing_token');
      await assertRefusal(await ask(undefined, limited), 'management.rate_limited');
    });
    it('other methods and content types answer in the management envelope', async () => {
      const url = `${tenant.baseUrl}/v1/idp/oidc/userinfo`;
      await assertRefusal(await fetch(url, { method: 'DELETE' }), 'management.method_not_allowed');
      const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
      await assertRefusal(await fetch(url, json), 'management.unsupported_media_type');
    });
  });
}
