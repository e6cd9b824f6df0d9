// The jwt-bearer grant (RFC 7523 2.1; design 18, part 3): a program gets a token of an API of the tenant by a JWT of its own key, once,
// with or without authenticating besides. Whatever is wrong with the assertion is one answer.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { assertionLifetimeSecondsMax } from '../../src/contract/limits.ts';
import type { Client } from '../../src/domain/client/client.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { assembleJwt, assertionForm, type KeyPair, makeKeyPair, signAssertion } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, type TestClient } from '../support/fixtures.ts';
import { decodeJwt, type Form, formBody, postAs, type Tokens, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const [orders, stock] = ['https://orders.example', 'https://stock.example/v1'];
const targetText = 'The requested audience is not available to this client.';

for (const database of databases) {
  describe(`jwt-bearer on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let keys: KeyPair;
    let job: TestClient;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      const settings = { extra_grants: [grantType], rate_limits: { client_auth_failures_per_ip: roomyRate } };
      tenant = await createOtherTenant(services, 'programs', settings);
      keys = makeKeyPair('ES256');
      job = await createJob();
    });
    after(() => server.close());

    const createJob = (changes: Partial<Client> = {}, at = tenant): Promise<TestClient> =>
      createClient(services, at, {
        grantTypes: [grantType],
        redirectUris: [],
        tokenEndpointAuthMethod: 'private_key_jwt',
        secretHash: undefined,
        jwks: { keys: [keys.publicJwk] },
        resources: [orders],
        scopes: ['openid', 'offline_access', 'users:read', 'orders:read', 'orders:write'],
        ...changes,
      });
    const sign = (
      claims: Readonly<Record<string, unknown>> = {},
      by = job,
      header: Readonly<Record<string, unknown>> = {},
    ): Promise<string> => signAssertion(keys, by.clientId, tenant.baseUrl, server.clock.nowMs(), claims, header);
    const send = (form: Form, at = tenant): Promise<Response> =>
      fetch(`${at.baseUrl}/v1/idp/oidc/token`, { method: 'POST', body: formBody({ grant_type: grantType, ...form }) });
    const ask = async (form: Form = {}, claims: Readonly<Record<string, unknown>> = {}, by = job): Promise<Response> =>
      send({ assertion: await sign(claims, by), ...form });

    it('token.unsupported_grant_type: off in the tenant before the assertion is looked at, off for the client after it', async () => {
      const off = await createOtherTenant(services, 'no-programs');
      await assertRefusal(await send({ assertion: 'x' }, off), 'token.unsupported_grant_type');
      const without = await createJob({ grantTypes: ['client_credentials'] });
      await assertRefusal(await ask({}, {}, without), 'token.unsupported_grant_type');
      await assertRefusal(await send({ assertion: 'x' }), 'jwt_bearer.assertion_invalid');
    });
    it('a token of the API for the program itself, with the scopes of APIs it is registered for', async () => {
      const response = await ask();
      assert.equal(response.headers.get('cache-control'), 'no-store');
      const { access_token: token, ...rest } = await tokensOf(response);
      assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 900, scope: 'orders:read orders:write' });
      const { iat: _iat, exp: _exp, jti: _jti, ...said } = decodeJwt(token).claims;
      assert.deepEqual(said, {
        iss: tenant.baseUrl,
        sub: job.clientId,
        aud: orders,
        client_id: job.clientId,
        scope: 'orders:read orders:write',
        token_use: 'access',
      });
      const users = await fetch(`${tenant.baseUrl}/v1/management/users`, { headers: { authorization: `Bearer ${token}` } });
      await assertRefusal(users, 'management.unauthorized');
    });
    it('for the token endpoint too, under another spelling of the API, with fewer scopes, bound to a key of a certificate or DPoP alike', async () => {
      const url = `${tenant.baseUrl}/v1/idp/oidc/token`;
      const { scope, access_token: token } = await tokensOf(await ask({ resource: `${orders}/`, scope: 'orders:read' }, { aud: url }));
      assert.deepEqual([scope, decodeJwt(token).claims['aud']], ['orders:read', orders]);
      const bound = await createJob({ dpopBoundAccessTokens: true });
      await assertRefusal(await ask({}, {}, bound), 'dpop.invalid_proof');
    });
    it('beside another authentication it is the same client that speaks', async () => {
      const form = async (by: TestClient): Promise<Form> => ({ grant_type: grantType, assertion: await sign({}, by) });
      const authenticated = assertionForm(await sign());
      assert.equal((await send({ ...(await form(job)), ...authenticated })).status, 200);
      const bySecret = await createJob({ tokenEndpointAuthMethod: 'client_secret_basic' });
      const secret = { ...bySecret, secret: 'wrong' };
      await assertRefusal(await postAs(tenant, secret, 'token', await form(bySecret)), 'client.invalid_client');
      const other = await createJob();
      await assertRefusal(await send({ ...(await form(other)), ...assertionForm(await sign()) }), 'jwt_bearer.assertion_invalid');
      await tokensOf(await ask({ client_id: job.clientId }));
      await assertRefusal(await ask({ client_id: other.clientId }), 'jwt_bearer.assertion_invalid');
    });

    it('jwt_bearer.assertion_invalid: every fault is byte-identical', async () => {
      const now = Math.floor(server.clock.nowMs() / 1000);
      const elsewhere = await createOtherTenant(services, 'other-programs', { extra_grants: [grantType] });
      const foreign = await createJob({}, elsewhere);
      const disabled = await createJob({ enabled: false });
      const keyless = await createJob({ tokenEndpointAuthMethod: 'client_secret_basic', jwks: undefined });
      const stranger = makeKeyPair('ES256', keys.kid);
      const used = await sign();
      await tokensOf(await send({ assertion: used }));
      const asCredential = await sign();
      await postAs(tenant, { ...job, tokenEndpointAuthMethod: 'private_key_jwt' }, 'introspect', {
        token: 'x',
        ...assertionForm(asCredential),
      });
      const good = await sign();
      const [header, , signature] = good.split('.');
      const changed = Buffer.from(JSON.stringify({ ...decodeJwt(good).claims, sub: disabled.clientId })).toString('base64url');
      const hmac = ((): string => {
        const signed = assembleJwt({ alg: 'HS256', kid: keys.kid }, decodeJwt(good).claims, Buffer.alloc(0)).slice(0, -1);
        const key = keys.publicJwk['x'] as string;
        return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
      })();
      const assertions: Readonly<Record<string, string>> = {
        'not a JWT': 'x',
        'unknown client': await sign({}, { ...job, clientId: 'nobody' as typeof job.clientId }),
        'of another tenant': await sign({}, foreign),
        'disabled client': await sign({}, disabled),
        'client without keys': await sign({}, keyless),
        'another key under its name': await signAssertion(stranger, job.clientId, tenant.baseUrl, server.clock.nowMs()),
        'claims changed': `${header}.${changed}.${signature}`,
        'no algorithm': assembleJwt({ alg: 'none' }, decodeJwt(good).claims, Buffer.alloc(0)),
        'its public key as a secret': hmac,
        'a key in the header': await sign({}, job, { jwk: keys.publicJwk }),
        'an address of keys in the header': await sign({}, job, { jku: 'https://evil.example/jwks' }),
        'an access token by type': await sign({}, job, { typ: 'at+jwt' }),
        'a client assertion by type': await sign({}, job, { typ: 'client-authentication+jwt' }),
        'a request object by type': await sign({}, job, { typ: 'oauth-authz-req+jwt' }),
        'another issuer in it': await sign({ iss: 'https://accounts.example' }),
        'no issuer': await sign({ iss: undefined }),
        'for another server': await sign({ aud: 'https://other.example' }),
        'for another tenant': await sign({ aud: elsewhere.baseUrl }),
        'for another endpoint': await sign({ aud: `${tenant.baseUrl}/v1/idp/oidc/revoke` }),
        'for two': await sign({ aud: [tenant.baseUrl, 'https://other.example'] }),
        'for nobody': await sign({ aud: undefined }),
        expired: await sign({ exp: now }),
        'without an end': await sign({ exp: undefined }),
        'too long': await sign({ exp: now + assertionLifetimeSecondsMax + 60 }),
        'not yet': await sign({ nbf: now + 60 }),
        'made later': await sign({ iat: now + 60 }),
        'without jti': await sign({ jti: undefined }),
        used: used,
        'used to authenticate': asCredential,
      };
      const hidden = await sign({ sub: 'a\u0000' });
      const forms: readonly (readonly [string, Form])[] = [
        ...Object.entries(assertions).map(([name, assertion]) => [name, { assertion }] as const),
        ['a subject with U+0000', { assertion: hidden }],
        ['a subject with U+0000 and a client_id', { assertion: hidden, client_id: 'x' }],
        ['again, now that its look-up would be known', { assertion: hidden }],
      ];
      const bodies = new Set<string>();
      for (const [name, form] of forms) {
        const response = await send(form);
        assert.equal(response.status, 400, `${name}: ${await response.clone().text()}`);
        bodies.add(await assertRefusal(response, 'jwt_bearer.assertion_invalid'));
      }
      assert.deepEqual([...bodies], ['{"error":"invalid_grant"}']);
      await tokensOf(await ask({}, { exp: now + assertionLifetimeSecondsMax }));
    });
    it('once, whoever is quicker; a wrong scope or audience does not cost it', async () => {
      const assertion = await sign();
      await assertRefusal(await send({ assertion, scope: 'stock:read' }), 'token.invalid_scope', { text: /not bound/ });
      await assertRefusal(await send({ assertion, resource: stock }), 'token.invalid_target', { text: targetText });
      const answers = await Promise.all(Array.from({ length: 10 }, () => send({ assertion })));
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, ...Array.from({ length: 9 }, () => 400)]);
    });
    it('token.invalid_scope: sign-in scopes and capabilities, which no API of the tenant gives', async () => {
      for (const scope of ['openid', 'offline_access', 'users:read'])
        await assertRefusal(await ask({ scope }), 'token.invalid_scope', { text: 'A scope was not granted.' });
    });
    it('token.invalid_target: the Management API, the issuer, several, another, and none where it has two', async () => {
      const rich = await createJob({ resources: [orders, stock, tenant.managementApi, tenant.baseUrl] });
      const wrong: readonly Form[] = [
        { resource: tenant.managementApi },
        { audience: tenant.managementApi },
        { resource: tenant.baseUrl },
        { resource: orders, audience: stock },
        { resource: 'https://other.example' },
        {},
      ];
      for (const form of wrong) await assertRefusal(await ask(form, {}, rich), 'token.invalid_target', { text: targetText });
      const { access_token: token } = await tokensOf(await ask({ resource: stock }, {}, rich));
      assert.equal(decodeJwt(token).claims['aud'], stock);
      // The Management API is not the one API it has.
      const machine = await createJob({ resources: [tenant.managementApi] });
      await assertRefusal(await ask({}, {}, machine), 'token.invalid_target', { text: targetText });
    });
    it('token.invalid_request: no assertion, and two', async () => {
      await assertRefusal(await send({}), 'token.invalid_request', { text: 'assertion is required.' });
      const body = formBody({ grant_type: grantType, assertion: 'x' });
      body.append('assertion', 'y');
      const twice = await fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, { method: 'POST', body });
      await assertRefusal(twice, 'token.invalid_request', { text: /./ });
    });
    it('oauth.rate_limited: wrong assertions are failed authentications of an address, right ones pass', async () => {
      const limits = { rate_limits: { client_auth_failures_per_ip: { limit: 2, period_seconds: 60 } } };
      const strict = await createOtherTenant(services, 'strict-programs', { extra_grants: [grantType], ...limits });
      const own = await createJob({}, strict);
      for (let at = 0; at < 2; at += 1) await assertRefusal(await send({ assertion: 'x' }, strict), 'jwt_bearer.assertion_invalid');
      await assertRefusal(await send({ assertion: 'x' }, strict), 'oauth.rate_limited');
      const assertion = await signAssertion(keys, own.clientId, strict.baseUrl, server.clock.nowMs());
      assert.equal(((await (await send({ assertion }, strict)).json()) as Tokens).scope, 'orders:read orders:write');
    });
    it('a client that is disabled, or lost its key or its API, gets none from then on', async () => {
      const own = await createJob();
      await tokensOf(await ask({}, {}, own));
      const change = (values: Readonly<Record<string, string | number>>): Promise<unknown> =>
        services.cache.write(tenant.id, (queries) =>
          queries.updateTable('clients').set(values).where('client_id', '=', own.clientId).execute(),
        );
      await change({ resources: '[]' });
      await assertRefusal(await ask({}, {}, own), 'token.invalid_target', { text: targetText });
      await change({ jwks: JSON.stringify({ keys: [makeKeyPair('ES256').publicJwk] }) });
      await assertRefusal(await ask({}, {}, own), 'jwt_bearer.assertion_invalid');
    });
  });
}
