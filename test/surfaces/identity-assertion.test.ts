// The employer's provider of identity assertions (draft-ietf-oauth-identity-assertion-authz-grant; design 18, part 5): whoever signed in to a
// client is vouched for at the servers that its registration names, for their APIs and scopes, and nowhere else.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { crossAppRowsMax } from '../../src/domain/client/cross-app.ts';
import type { GrantId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { revokeGrant } from '../../src/storage/oidc/grants.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { createTestTenant, type Json } from '../support/management.ts';
import { decodeJwt, type Form, issueCode, postAs, exchange as redeemCode, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange';
const idJag = 'urn:ietf:params:oauth:token-type:id-jag';
const idTokenType = 'urn:ietf:params:oauth:token-type:id_token';
const [chat, wiki] = ['https://auth.chat.example', 'https://auth.wiki.example/t/acme'];
const [chatApi, files] = ['https://api.chat.example/mcp', 'https://files.chat.example'];
const targetText = 'The requested audience is not available for this token.';
const metadataName = 'identity_chaining_requested_token_types_supported';

for (const database of databases) {
  describe(`identity assertions on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let agent: TestClient;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      tenant = await createOtherTenant(services, 'employer', { extra_grants: [grantType] });
      agent = await createAgent();
      user = await createUser(services, tenant);
    });
    after(() => server.close());

    const createAgent = (): Promise<TestClient> =>
      createClient(services, tenant, {
        grantTypes: ['authorization_code', 'refresh_token', grantType],
        scopes: ['openid', 'email', 'offline_access'],
        crossAppAccess: [
          { issuer: chat, client_id: 'agent-at-chat', resources: [chatApi, files], scopes: ['chat:read', 'chat:write'] },
          { issuer: wiki, client_id: 'agent at wiki', resources: ['https://wiki.example/'], scopes: ['pages:read'] },
        ],
      });
    const signIn = async (scope = 'openid email', by = agent, person = user): Promise<{ id_token: string; access_token: string }> => {
      const tokens = await tokensOf(await redeemCode(tenant, by, await issueCode(server, tenant, by, person, { scope })));
      return tokens as typeof tokens & { id_token: string };
    };
    const ask = (idToken: string | undefined, form: Form = {}, by = agent, at = tenant): Promise<Response> =>
      postAs(at, by, 'token', {
        ...{ grant_type: grantType, requested_token_type: idJag, subject_token: idToken, subject_token_type: idTokenType },
        ...{ audience: chat, resource: chatApi },
        ...form,
      });
    const sidOf = (token: string): GrantId => decodeJwt(token).claims['sid'] as GrantId;

    it('says who signed in, how and when, to one server for one API, as the client it is there; verified by our keys', async () => {
      const { id_token: idToken, access_token: accessToken } = await signIn();
      const response = await ask(idToken, { scope: 'chat:read' });
      assert.equal(response.headers.get('cache-control'), 'no-store');
      const { access_token: assertion, ...rest } = (await response.json()) as { access_token: string };
      assert.deepEqual(rest, { issued_token_type: idJag, token_type: 'N_A', expires_in: 300, scope: 'chat:read' });
      const keys = createRemoteJWKSet(new URL(`${tenant.baseUrl}/v1/idp/oidc/jwks`));
      const verifying = { issuer: tenant.baseUrl, audience: chat, typ: 'oauth-id-jag+jwt', currentDate: new Date(server.clock.nowMs()) };
      const { payload } = await jwtVerify(assertion, keys, verifying);
      const { iat, exp, jti, ...said } = payload;
      const before = decodeJwt(idToken).claims;
      assert.equal(exp! - iat!, 300);
      assert.notEqual(jti, decodeJwt(((await (await ask(idToken)).json()) as { access_token: string }).access_token).claims['jti']);
      const about = await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${accessToken}` } });
      const { email, email_verified } = (await about.json()) as Json;
      assert.equal(email, user.email);
      assert.deepEqual(said, {
        ...{ email, email_verified, iss: tenant.baseUrl, sub: user.id, aud: chat },
        ...{ client_id: 'agent-at-chat', resource: chatApi, scope: 'chat:read' },
        ...{ auth_time: before['auth_time'], ...('acr' in before && { acr: before['acr'] }), amr: before['amr'] },
      });
    });

    it('an issuer that is a bare origin may be sent with its slash, as clients of JavaScript do; what is registered is said', async () => {
      const { access_token: assertion } = (await (await ask((await signIn()).id_token, { audience: `${chat}/` })).json()) as {
        access_token: string;
      };
      assert.equal(decodeJwt(assertion).claims['aud'], chat);
    });

    it('without a scope all that the row gives; without a resource the only one; without email where the client may not know it', async () => {
      const { id_token: idToken } = await signIn('openid');
      const all = decodeJwt(((await (await ask(idToken)).json()) as { access_token: string }).access_token).claims;
      assert.deepEqual([all['scope'], 'email' in all], ['chat:read chat:write', false]);
      const there = await ask(idToken, { audience: wiki, resource: undefined });
      const { claims } = decodeJwt(((await there.json()) as { access_token: string }).access_token);
      assert.deepEqual([claims['aud'], claims['client_id'], claims['resource']], [wiki, 'agent at wiki', 'https://wiki.example/']);
    });

    it('nobody takes it here: it opens no UserInfo, is no subject, and introspection knows it not', async () => {
      const { access_token: assertion } = (await (await ask((await signIn()).id_token)).json()) as { access_token: string };
      const info = await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${assertion}` } });
      assert.equal(info.status, 401);
      await assertRefusal(await ask(assertion), 'exchange.invalid_request');
      assert.deepEqual(await (await postAs(tenant, agent, 'introspect', { token: assertion })).json(), { active: false });
    });

    it('exchange.invalid_request: whatever is wrong with the subject, in the same words', async () => {
      const { id_token: idToken, access_token: accessToken } = await signIn();
      const twin = await createAgent();
      const elsewhere = await createOtherTenant(services, 'elsewhere', { extra_grants: [grantType] });
      const [head, body, signature] = idToken.split('.') as [string, string, string];
      for (const [token, form, by] of [
        [undefined, {}, agent],
        ['x', {}, agent],
        [accessToken, {}, agent],
        [idToken, { subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' }, agent],
        [idToken, { subject_token_type: undefined }, agent],
        [idToken, { actor_token: accessToken, actor_token_type: idTokenType }, agent],
        [`${head}.${body}.${signature.slice(0, -4)}AAAA`, {}, agent],
        [`${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${body}.`, {}, agent],
        [idToken, {}, twin],
      ] as const)
        await assertRefusal(await ask(token, form, by), 'exchange.invalid_request');
      const stranger = await createClient(services, elsewhere, {
        grantTypes: [grantType],
        crossAppAccess: [{ issuer: chat, client_id: 'x', resources: [chatApi], scopes: ['chat:read'] }],
      });
      await assertRefusal(await ask(idToken, {}, stranger, elsewhere), 'exchange.invalid_request');
    });

    it('exchange.invalid_request: a session that ended, a person who was suspended, an ID token that is over', async () => {
      const person = await createUser(services, tenant);
      const { id_token: ended } = await signIn('openid', agent, person);
      await services.database.write(tenant.id, (queries) => revokeGrant(queries, tenant.id, sidOf(ended), 'administrator'));
      await assertRefusal(await ask(ended), 'exchange.invalid_request');
      const { id_token: old } = await signIn('openid', agent, person);
      assert.equal((await ask(old)).status, 200);
      await server.clock.advance(tenant.settings.id_token_lifetime_seconds * 1000);
      await assertRefusal(await ask(old), 'exchange.invalid_request');
      const { id_token: idToken } = await signIn('openid', agent, person);
      await services.database.write(tenant.id, (queries) =>
        queries.updateTable('users').set({ state: 'suspended' }).where('tenant_id', '=', tenant.id).where('id', '=', person.id).execute(),
      );
      await assertRefusal(await ask(idToken), 'exchange.invalid_request');
    });

    it('exchange.invalid_target: a server, or an API, that the registration does not name', async () => {
      const { id_token: idToken } = await signIn();
      for (const form of [
        { audience: undefined },
        { audience: `${chat}/x` },
        { audience: 'https://evil.example' },
        { audience: tenant.baseUrl },
        { audience: [chat, wiki] },
        { resource: undefined }, // one of two
        { resource: 'https://wiki.example/' },
        { resource: [chatApi, files] },
        { resource: tenant.managementApi },
      ] as readonly Form[])
        await assertRefusal(await ask(idToken, form), 'exchange.invalid_target', { text: targetText });
      const plain = await createClient(services, tenant, { grantTypes: ['authorization_code', grantType], scopes: ['openid'] });
      const { id_token: own } = await signIn('openid', plain);
      await assertRefusal(await ask(own, {}, plain), 'exchange.invalid_target', { text: targetText });
    });

    it('exchange.invalid_scope: more than the row gives, and never openid; offline_access is not heard', async () => {
      const { id_token: idToken } = await signIn();
      for (const [scope, given] of [
        ['chat:read offline_access', 'chat:read'],
        ['offline_access', 'chat:read chat:write'],
      ])
        assert.equal(((await (await ask(idToken, { scope })).json()) as { scope: string }).scope, given);
      for (const scope of ['chat:admin', 'chat:read pages:read', 'openid', 'users:read'])
        await assertRefusal(await ask(idToken, { scope }), 'exchange.invalid_scope', { text: 'A scope was not granted.' });
      await assertRefusal(await ask(idToken, { scope: '"' }), 'exchange.invalid_scope', { text: 'scope is malformed.' });
    });

    it('is said in the metadata where the tenant exchanges tokens, and told in the trail', async () => {
      const off = await createOtherTenant(services, 'no-exchange');
      for (const [at, expected] of [
        [off, undefined],
        [tenant, [idJag]],
      ] as const) {
        const metadata = (await (await fetch(`${at.baseUrl}/.well-known/openid-configuration`)).json()) as Json;
        assert.deepEqual(metadata[metadataName], expected);
      }
      const person = await createUser(services, tenant);
      await ask((await signIn('openid', agent, person)).id_token);
      const told = await services.database.read(tenant.id, (queries) =>
        queries
          .selectFrom('audit_events')
          .select(['type', 'data'])
          .where('tenant_id', '=', tenant.id)
          .where('type', '=', 'token.exchanged')
          .execute(),
      );
      const ofPerson = told.map(({ data }) => JSON.parse(String(data)) as Json).filter(({ subject }) => subject === person.id);
      assert.deepEqual(
        ofPerson.map(({ resource, scope }) => [resource, scope]),
        [[chat, 'chat:read chat:write']],
      );
    });
  });

  describe(`what a client may ask for elsewhere, on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    it('scopes there are not ours: a role of an organisation here that names one of them takes nothing away', async () => {
      const managed = await createTestTenant(server, { settings: { extra_grants: [grantType] } });
      await managed.make('POST', '/organization-roles', { name: 'reader', scopes: ['chat:read'] });
      await managed.make('POST', '/organizations', { name: 'customer', display_name: 'Customer' });
      const { services } = server.gatehouse;
      const tenant = (await services.tenants.bySlug(managed.slug))!;
      const agent = await createClient(services, tenant, {
        grantTypes: ['authorization_code', grantType],
        crossAppAccess: [{ issuer: chat, client_id: 'agent', resources: [chatApi], scopes: ['chat:read', 'chat:write'] }],
      });
      const code = await issueCode(server, tenant, agent, await createUser(services, tenant), { scope: 'openid' });
      const { id_token: idToken } = await tokensOf(await redeemCode(tenant, agent, code));
      const answer = await postAs(tenant, agent, 'token', {
        ...{ grant_type: grantType, requested_token_type: idJag, audience: chat, resource: chatApi },
        ...{ subject_token: idToken, subject_token_type: idTokenType },
      });
      const { access_token: assertion, scope } = (await answer.json()) as { access_token: string; scope: string };
      assert.deepEqual([scope, decodeJwt(assertion).claims['scope']], ['chat:read chat:write', 'chat:read chat:write']);
    });

    it('cross_app_access: rows of issuer, client, APIs and scopes; what is wrong is told', async () => {
      const managed = await createTestTenant(server);
      const row = { issuer: chat, client_id: 'agent', resources: [chatApi], scopes: ['chat:read'] };
      const rows = (count: number): readonly Json[] =>
        Array.from({ length: count }, (_, at) => ({ ...row, issuer: `https://auth-${at}.example` }));
      const body = (all: unknown): Json => ({ name: 'Agent', grant_types: ['authorization_code', grantType], cross_app_access: all });
      const made = await managed.make('POST', '/clients', body(rows(crossAppRowsMax)));
      assert.deepEqual(made['cross_app_access'], rows(crossAppRowsMax));
      for (const wrong of [
        rows(crossAppRowsMax + 1),
        [row, row],
        [row, { ...row, issuer: `${chat}/` }],
        [{ ...row, issuer: 'http://auth.chat.example' }],
        [{ ...row, issuer: 'chat' }],
        [{ ...row, client_id: '' }],
        [{ ...row, client_id: 'größe' }],
        [{ ...row, resources: [] }],
        [{ ...row, resources: ['not a uri'] }],
        [{ ...row, scopes: [] }],
        [{ ...row, scopes: ['two words'] }],
        [{ ...row, more: 1 }],
        [null],
        null,
        'x',
        {},
      ]) {
        const answer = await managed.call('POST', '/clients', body(wrong));
        assert.equal(answer.status, 400, JSON.stringify(wrong));
        assert.match(String(((await answer.json()) as Json)['kind']), /^cross_app_access/);
      }
    });
  });
}
