// What tokens say: claims of ID and access tokens, audiences (RFC 8707), lifetimes, narrowing at refresh, the access gate.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { databaseNowMs } from '../../src/storage/engine/instance.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { openLogin, signInByPin } from '../support/login.ts';
import { challenge, decodeJwt, exchange, formBody, issueCode, redirectUri, refresh, type Tokens, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`tokens on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    const api = 'https://api.example';
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      tenant = await rootTenant(services);
      client = await createClient(services, tenant, { resources: [api], scopes: ['openid', 'email', 'offline_access', 'orders:read'] });
      user = await createUser(services, tenant);
    });
    after(() => server.close());

    const signIn = async (options: Parameters<typeof issueCode>[4] = {}, by = client): Promise<Tokens> =>
      tokensOf(await exchange(tenant, by, await issueCode(server, tenant, by, user, { scope: 'openid email offline_access', ...options })));
    const halfHash = (alg: 'sha256' | 'sha512', token: string): string => {
      const digest = createHash(alg).update(token).digest();
      return digest.subarray(0, digest.length / 2).toString('base64url');
    };

    it('an ID token has these claims and no others, and verifies under the published keys', async () => {
      const tokens = await signIn();
      const keys = createLocalJWKSet((await (await fetch(`${tenant.baseUrl}/v1/idp/oidc/jwks`)).json()) as JSONWebKeySet);
      const { payload, protectedHeader } = await jwtVerify(tokens.id_token!, keys, { issuer: tenant.baseUrl, audience: client.clientId });
      assert.equal(protectedHeader.alg, 'RS256');
      const {
        iat,
        exp,
        auth_time: authTime,
        sid,
        ...said
      } = payload as Record<string, unknown> & { iat: number; exp: number; auth_time: number };
      assert.equal(exp - iat, 900);
      assert.ok(Math.abs(authTime - iat) <= 5);
      assert.equal(sid, decodeJwt(tokens.access_token).claims['sid']);
      assert.deepEqual(said, {
        iss: tenant.baseUrl,
        sub: user.id,
        aud: client.clientId,
        azp: client.clientId,
        nonce: 'nonce-1',
        amr: ['otp'],
        at_hash: halfHash('sha256', tokens.access_token),
        token_use: 'id',
      });
    });
    it('at_hash is half of SHA-512 beside an EdDSA signature, of SHA-256 beside ES256', async () => {
      for (const [alg, digest] of [
        ['EdDSA', 'sha512'],
        ['ES256', 'sha256'],
      ] as const) {
        const own = await createClient(services, tenant, { idTokenSignedResponseAlg: alg });
        const tokens = await signIn({}, own);
        assert.equal(decodeJwt(tokens.id_token!).header['alg'], alg);
        assert.equal(decodeJwt(tokens.id_token!).claims['at_hash'], halfHash(digest, tokens.access_token));
      }
    });
    it('an access token of a person has these claims and no others (RFC 9068)', async () => {
      const { header, claims } = decodeJwt((await signIn()).access_token);
      assert.equal(header['typ'], 'at+jwt');
      const { iat, exp, jti, sid, auth_time: authTime, ...said } = claims as Record<string, unknown> & { iat: number; exp: number };
      assert.equal(exp - iat, 900);
      for (const value of [jti, sid]) assert.equal(typeof value, 'string');
      assert.equal(typeof authTime, 'number');
      assert.deepEqual(said, {
        iss: tenant.baseUrl,
        sub: user.id,
        aud: tenant.baseUrl,
        client_id: client.clientId,
        scope: 'openid email offline_access',
        token_use: 'access',
        amr: ['otp'],
      });
    });
    it('audience: the issuer, or the resource alone, with openid too', async () => {
      const audience = async (options: Parameters<typeof issueCode>[4]): Promise<unknown> =>
        decodeJwt((await signIn(options)).access_token).claims['aud'];
      assert.equal(await audience({ scope: 'email' }), tenant.baseUrl);
      assert.equal(await audience({ scope: 'orders:read', resource: api }), api);
      assert.equal(await audience({ scope: 'openid orders:read', resource: api }), api);
    });
    it('a resource says how long its access tokens live', async () => {
      await services.cache.write(tenant.id, (queries) =>
        queries
          .insertInto('resources')
          .values({
            tenant_id: tenant.id,
            id: 'orders',
            identifier: api,
            name: 'Orders',
            scopes: '[]',
            access_token_lifetime_seconds: 120,
            clients: 'listed',
            refresh: 1,
            unknown_access_policy: 'everyone',
            documentation_uri: null,
            created_at: databaseNowMs,
            updated_at: databaseNowMs,
          })
          .execute(),
      );
      const tokens = await signIn({ resource: api });
      const { iat, exp } = decodeJwt(tokens.access_token).claims as { iat: number; exp: number };
      assert.deepEqual([tokens.expires_in, exp - iat], [120, 120]);
    });
    it('without openid there is no ID token, without offline_access no refresh token', async () => {
      const bare = await signIn({ scope: 'email' });
      assert.deepEqual([bare.id_token, bare.refresh_token], [undefined, undefined]);
      const machine = await createClient(services, tenant, { grantTypes: ['authorization_code'] });
      assert.equal((await signIn({}, machine)).refresh_token, undefined, 'the client may not use the refresh grant');
    });
    it('a refresh narrows the access token only, and its ID token has no nonce and the first auth_time', async () => {
      const first = await signIn();
      const narrowed = await tokensOf(await refresh(tenant, client, first.refresh_token, { scope: 'email' }));
      assert.deepEqual([narrowed.scope, narrowed.id_token], ['email', undefined]);
      const whole = await tokensOf(await refresh(tenant, client, narrowed.refresh_token));
      assert.equal(whole.scope, 'openid email offline_access');
      const [before, after] = [decodeJwt(first.id_token!).claims, decodeJwt(whole.id_token!).claims];
      assert.equal(after['nonce'], undefined);
      assert.deepEqual([after['auth_time'], after['sub'], after['sid']], [before['auth_time'], before['sub'], before['sid']]);
    });
    it('token.invalid_target: an audience that was taken off the client, at the code and at the refresh, which keep what they are', async () => {
      const own = await createClient(services, tenant, { resources: [api], scopes: ['offline_access', 'orders:read'] });
      const options = { scope: 'offline_access orders:read', resource: api };
      const first = await signIn(options, own);
      const code = await issueCode(server, tenant, own, user, options);
      const change = (resources: readonly string[]): Promise<unknown> =>
        services.cache.write(tenant.id, (queries) =>
          queries
            .updateTable('clients')
            .set({ resources: JSON.stringify(resources) })
            .where('client_id', '=', own.clientId)
            .execute(),
        );
      await change([]);
      const text = 'The requested audience is not available to this client.';
      await assertRefusal(await refresh(tenant, own, first.refresh_token), 'token.invalid_target', { text });
      await assertRefusal(await exchange(tenant, own, code), 'token.invalid_target', { text });
      await change([api]);
      assert.equal(decodeJwt((await tokensOf(await refresh(tenant, own, first.refresh_token))).access_token).claims['aud'], api);
      await tokensOf(await exchange(tenant, own, code));
    });
    it('token.invalid_target: a refresh asks for another audience than its grant has', async () => {
      const text = 'The requested audience is not available to this client.';
      const bound = await signIn({ resource: api });
      await assertRefusal(
        await refresh(tenant, client, bound.refresh_token, { resource: 'https://other.example' }),
        'token.invalid_target',
        { text },
      );
      const renewed = await tokensOf(await refresh(tenant, client, bound.refresh_token, { resource: api }));
      assert.equal(decodeJwt(renewed.access_token).claims['aud'], api);
      const unbound = await signIn();
      await assertRefusal(await refresh(tenant, client, unbound.refresh_token, { audience: api }), 'token.invalid_target', { text });
    });

    it('the access gate: nobody, then an assigned user, then a member of an assigned group', async () => {
      const gated = await createClient(services, tenant, { accessPolicy: 'assigned' });
      const query = formBody({
        response_type: 'code',
        client_id: gated.clientId,
        redirect_uri: redirectUri,
        scope: 'openid',
        state: 's',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
      const visit = async (email: string): Promise<URLSearchParams> => {
        const opened = openLogin(await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' }));
        return (await signInByPin(server, opened, email)).searchParams;
      };
      const outsider = await createUser(services, tenant);
      assert.deepEqual(Object.fromEntries(await visit(outsider.email)), { error: 'access_denied', state: 's', iss: tenant.baseUrl });
      const [assigned, member] = [await createUser(services, tenant), await createUser(services, tenant)];
      await services.database.write(tenant.id, async (queries) => {
        const group = { tenant_id: tenant.id, group_id: 'g1' as never };
        const now = { created_at: databaseNowMs, updated_at: databaseNowMs };
        await queries
          .insertInto('groups')
          .values({
            tenant_id: tenant.id,
            id: group.group_id,
            display_name: 'Staff',
            display_name_key: 'staff',
            origin: 'console',
            external_id: null,
            version: 1,
            ...now,
          })
          .execute();
        await queries
          .insertInto('group_members')
          .values({ ...group, user_id: member.id, created_at: databaseNowMs })
          .execute();
        const target = { tenant_id: tenant.id, target_kind: 'client', target_id: gated.clientId, created_at: databaseNowMs };
        await queries
          .insertInto('access_assignments')
          .values([
            { ...target, id: 'a1', user_id: assigned.id, group_id: null },
            { ...target, id: 'a2', user_id: null, group_id: group.group_id },
          ])
          .execute();
      });
      for (const person of [assigned, member]) {
        const answer = await visit(person.email);
        const tokens = await tokensOf(await exchange(tenant, gated, answer.get('code') ?? ''));
        assert.equal(decodeJwt(tokens.id_token!).claims['sub'], person.id);
        assert.equal(decodeJwt(tokens.id_token!).claims['acr'], 'otp');
      }
    });
    it('groups are shown to those who ask for them', async () => {
      const own = await createClient(services, tenant);
      const member = await createUser(services, tenant);
      await services.database.write(tenant.id, (queries) =>
        queries
          .insertInto('group_members')
          .values({ tenant_id: tenant.id, group_id: 'g1' as never, user_id: member.id, created_at: databaseNowMs })
          .execute(),
      );
      const { access_token: token } = await tokensOf(
        await exchange(tenant, own, await issueCode(server, tenant, own, member, { scope: 'openid groups' })),
      );
      const info = await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${token}` } });
      assert.deepEqual(await info.json(), { sub: member.id, groups: ['Staff'] });
    });
    it('a PIN sign-in is redeemed once; going back to finish again gives nothing', async () => {
      const person = await createUser(services, tenant);
      const query = formBody({
        response_type: 'code',
        client_id: client.clientId,
        redirect_uri: redirectUri,
        scope: 'openid',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
      const login = openLogin(await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' }));
      const landed = await signInByPin(server, login, person.email);
      assert.deepEqual([...landed.searchParams.keys()], ['code', 'iss']);
      assert.equal((await login.post('finish')).status, 409);
      await tokensOf(await exchange(tenant, client, landed.searchParams.get('code') ?? ''));
    });
  });
}
