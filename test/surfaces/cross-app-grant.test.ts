// The server of a resource takes identity assertions (draft-ietf-oauth-identity-assertion-authz-grant; design 18, part 5): a provider that the
// tenant trusts with it says which of its people a client acts for. Whatever is wrong with an assertion is one answer.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { insertProvenDomain } from '../../src/storage/registry/proven-domains.ts';
import { listExternalIdentities } from '../../src/storage/sign-in/external-identities.ts';
import { assembleJwt, makeKeyPair } from '../support/client-credentials.ts';
import { chatApi as api, type CrossApp, chatFiles as files, openCrossApp } from '../support/cross-app.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { createTestTenant, type Json, jsonOf } from '../support/management.ts';
import { decodeJwt, type Form, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTokenIssuer } from '../support/token-issuer.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const refused = 'jwt_bearer.assertion_invalid';
const profiles = 'authorization_grant_profiles_supported';

for (const database of databases)
  describe(`identity assertions of other providers on ${database}`, () => {
    let world: CrossApp;
    let tenant: Tenant;
    let agent: TestClient;
    let person: TestUser;
    before(async () => {
      world = await openCrossApp(database);
      ({ tenant, agent, person } = world);
    });
    after(() => world.close());

    const seconds = (): number => world.seconds();
    const sign = (...given: Parameters<CrossApp['sign']>): Promise<string> => world.sign(...given);
    const post = (...given: Parameters<CrossApp['post']>): Promise<Response> => world.post(...given);
    const newcomer = (email?: string): Promise<TestUser> => createUser(world.services, tenant, email);

    it('gives a token of the API for whoever signed in there, and a session that ends it; no refresh token, no ID token', async () => {
      const authTime = seconds() - 600;
      const { access_token: token, ...rest } = await tokensOf(await post(await sign({ auth_time: authTime, acr: 'high' })));
      const expires = { token_type: 'Bearer', expires_in: tenant.settings.access_token_lifetime_seconds };
      assert.deepEqual(rest, { ...expires, scope: 'chat:read chat:write' });
      const { sub, aud, client_id, scope, sid, auth_time, acr, amr } = decodeJwt(token).claims;
      assert.deepEqual([sub, aud, client_id, scope], [person.id, api, agent.clientId, 'chat:read chat:write']);
      assert.deepEqual([auth_time, acr, amr], [authTime, 'fed', ['fed']]);
      const [session] = await world.sessionsOf(person);
      assert.deepEqual([session?.['id'], session?.['resource'], session?.['scope']], [sid, api, 'chat:read chat:write']);
      assert.equal(await world.isActive(token), true);
      const told = await world.services.database.read(tenant.id, (queries) =>
        queries
          .selectFrom('audit_events')
          .select('data')
          .where('type', '=', 'grant.created')
          .where('target', '=', `grant:${sid}`)
          .execute(),
      );
      const data = { user_id: person.id, scope: 'chat:read chat:write', provider: 'employer' };
      assert.deepEqual(
        told.map((one) => JSON.parse(String(one.data))),
        [data],
      );
      assert.equal((await world.managed.call('DELETE', `/users/${person.id}/sessions/${sid}`)).status, 204);
      assert.equal(await world.isActive(token), false);
      assert.equal((await post(await sign())).status, 200);
    });

    it('the acr is worth what the administrator says; an hour of sign-in that is to come is now', async () => {
      await world.managed.make('PATCH', `/identity-providers/${world.provider.id}`, { acr_map: { high: 'phr' } });
      const before = seconds();
      const { access_token: token } = await tokensOf(await post(await sign({ acr: 'high', auth_time: before + 3600 })));
      const { acr, auth_time: authTime } = decodeJwt(token).claims;
      assert.deepEqual([acr, before <= Number(authTime) && Number(authTime) <= seconds()], ['phr', true]);
      await world.managed.make('PATCH', `/identity-providers/${world.provider.id}`, { acr_map: {} });
    });

    it(`${refused}: used a second time; of many at once one gets a token and one session is there`, async () => {
      const user = await world.link(await newcomer());
      const assertion = await sign({ sub: `at-employer-${user.id}` });
      const answers = await Promise.all(Array.from({ length: 8 }, () => post(assertion)));
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, ...Array<number>(7).fill(400)]);
      for (const one of answers.filter(({ status }) => status !== 200)) await assertRefusal(one, refused);
      assert.equal((await world.sessionsOf(user)).length, 1);
    });

    it(`${refused}: whatever is wrong with the assertion, in the same bytes`, async () => {
      const stranger = makeKeyPair('RS256', world.employer.key().kid);
      const valid = await sign();
      const [head, body, signature] = valid.split('.') as [string, string, string];
      const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
      const jku = { jku: `${world.employer.url}/keys` };
      const secret = { alg: 'HS256', key: Buffer.from(JSON.stringify(world.employer.key().publicJwk)) };
      const wrong: Readonly<Record<string, string>> = {
        'another key': await sign({}, {}, stranger),
        'a key of another name': await sign({}, { kid: 'unknown' }, stranger),
        'changed claims': `${head}.${encoded({ ...world.claimsOf({}), sub: 'somebody' })}.${signature}`,
        'no algorithm': `${encoded({ alg: 'none', typ: 'oauth-id-jag+jwt' })}.${body}.`,
        'no signature': `${head}.${body}.AA`,
        'its public key as a secret': assembleJwt({ alg: 'HS256', typ: 'oauth-id-jag+jwt' }, world.claimsOf({}), secret.key),
        'a key that it brings': await sign({}, { jwk: stranger.publicJwk }, stranger),
        'an address of keys': await sign({}, jku),
        'a critical header': `${encoded({ alg: 'RS256', kid: world.employer.key().kid, typ: 'oauth-id-jag+jwt', crit: ['x'], x: 1 })}.${body}.${signature}`,
        'an ID token': await sign({}, { typ: 'JWT' }),
        'an access token': await sign({}, { typ: 'at+jwt' }),
        'no issuer': await sign({ iss: undefined }),
        'an issuer nobody registered': await sign({ iss: 'https://other.example' }),
        'our issuer': await sign({ iss: tenant.baseUrl }),
        'another audience': await sign({ aud: 'https://auth.other.example' }),
        'two audiences': await sign({ aud: [tenant.baseUrl, 'https://auth.other.example'] }),
        'the token endpoint': await sign({ aud: `${tenant.baseUrl}/v1/idp/oidc/token` }),
        'no audience': await sign({ aud: undefined }),
        'another client': await sign({ client_id: 'another' }),
        'no client': await sign({ client_id: undefined }),
        clients: await sign({ client_id: [agent.clientId] }),
        over: await sign({ exp: seconds() }),
        'for eleven minutes': await sign({ exp: seconds() + 640 }),
        'no end': await sign({ exp: undefined }),
        'no beginning': await sign({ iat: undefined }),
        'to come': await sign({ iat: seconds() + 70 }),
        'not yet': await sign({ nbf: seconds() + 70 }),
        'no name': await sign({ jti: undefined }),
        'an empty name': await sign({ jti: '' }),
        'a name too long': await sign({ jti: 'n'.repeat(257) }),
        nobody: await sign({ sub: undefined }),
        'an empty subject': await sign({ sub: ' ' }),
        'a subject too long': await sign({ sub: 's'.repeat(1025) }),
        'somebody unknown': await sign({ sub: 'unknown' }),
        'a resource that is no text': await sign({ resource: { is: api } }),
        'resources that are no texts': await sign({ resource: [api, null] }),
        'scopes that are no text': await sign({ scope: ['chat:read'] }),
        'no scopes': await sign({ scope: '' }),
      };
      const bodies = new Set<string>();
      for (const [name, assertion] of Object.entries(wrong)) {
        const response = await post(assertion);
        assert.equal(response.status, 400, name);
        bodies.add(await assertRefusal(response, refused));
      }
      assert.equal(bodies.size, 1);
      const name = 'n'.repeat(256);
      for (const good of [{ aud: [tenant.baseUrl] }, { exp: seconds() + 590 }, { iat: seconds() + 20 }, { jti: name }])
        assert.equal((await post(await sign(good))).status, 200, JSON.stringify(good));
      assert.equal((await post(await sign({}, { typ: 'application/OAuth-ID-JAG+jwt' }))).status, 200);
    });

    it('the client authenticates, and is the one that is named: nobody else gets anything by it', async () => {
      const other = await world.createAgent();
      await assertRefusal(await post(await sign(), {}, other), refused);
      const form = new URLSearchParams({ grant_type: grantType, assertion: await sign(), client_id: agent.clientId });
      const nobody = await fetch(`${tenant.baseUrl}/v1/idp/oidc/token`, { method: 'POST', body: form });
      await assertRefusal(nobody, refused);
      await assertRefusal(await post(await sign(), {}, { ...agent, secret: 'wrong' }), 'client.invalid_client');
      const open = await world.createAgent({ type: 'public', tokenEndpointAuthMethod: 'none' });
      await assertRefusal(await post(await sign({ client_id: open.clientId }), {}, open), refused);
      const off = await world.createAgent({ grantTypes: ['authorization_code'] });
      await assertRefusal(await post(await sign({ client_id: off.clientId }), {}, off), 'token.unsupported_grant_type');
      const disabled = await world.createAgent({ enabled: false });
      await assertRefusal(await post(await sign({ client_id: disabled.clientId }), {}, disabled), 'client.invalid_client');
      assert.equal((await post(await sign({ client_id: other.clientId }), {}, other)).status, 200);
    });

    it(`${refused}: a person who is suspended, may not use the client, or is not linked any more`, async () => {
      const gated = await world.createAgent({ accessPolicy: 'assigned' });
      await assertRefusal(await post(await sign({ client_id: gated.clientId }), {}, gated), refused);
      const user = await world.link(await newcomer());
      const claims = { sub: `at-employer-${user.id}` };
      assert.equal((await post(await sign(claims))).status, 200);
      const setState = (state: 'active' | 'suspended') =>
        world.services.database.write(tenant.id, (queries) =>
          queries.updateTable('users').set({ state }).where('id', '=', user.id).execute(),
        );
      await setState('suspended');
      await assertRefusal(await post(await sign(claims)), refused);
      await setState('active');
      assert.equal((await post(await sign(claims))).status, 200);
      const unlink = (queries: Parameters<Parameters<Services['database']['write']>[1]>[0]) =>
        queries.deleteFrom('external_identities').where('user_id', '=', user.id).execute();
      await world.services.database.write(tenant.id, unlink);
      await assertRefusal(await post(await sign(claims)), refused);
    });

    it('assertions beside a suspension, and beside the end of the link: what was minted before is over, and nothing comes after', async () => {
      for (const end of ['suspension', 'link'] as const) {
        const user = await world.link(await newcomer());
        const claims = { sub: `at-employer-${user.id}` };
        const assertions = await Promise.all(Array.from({ length: 12 }, () => sign(claims)));
        const ending = (): Promise<unknown> =>
          end === 'suspension'
            ? world.managed.make('PATCH', `/users/${user.id}`, { state: 'suspended' })
            : world.services.database.write(tenant.id, (queries) =>
                queries.deleteFrom('external_identities').where('user_id', '=', user.id).execute(),
              );
        const sent = assertions.map((one) => post(one));
        const [answers] = await Promise.all([Promise.all(sent), ending()]);
        for (const answer of answers)
          if (answer.status !== 200) await assertRefusal(answer, refused);
          else if (end === 'suspension') assert.equal(await world.isActive((await tokensOf(answer)).access_token), false);
        await assertRefusal(await post(await sign(claims)), refused);
        if (end === 'suspension') assert.deepEqual(await world.sessionsOf(user), []);
      }
    });

    it('an email never links, but of a proven domain its provider speaks for, to an account that has nothing better', async () => {
      const hosted = (user: TestUser): Json => ({ sub: `new-${user.id}`, email: user.email, email_verified: true, hd: 'corp.example' });
      const linksOf = (user: TestUser) =>
        world.services.database.read(tenant.id, (queries) => listExternalIdentities(queries, tenant.id, user.id));
      const plain = await newcomer('plain@corp.example');
      await assertRefusal(await post(await sign(hosted(plain))), refused);
      await world.services.cache.write(tenant.id, (queries) =>
        insertProvenDomain(queries, tenant.id, 'corp.example', { kind: 'identity_provider', id: world.provider.id as string }),
      );
      const elsewhere = await newcomer('someone@elsewhere.example');
      const administrator = await newcomer('admin@corp.example');
      await world.services.database.write(tenant.id, (queries) =>
        queries.updateTable('users').set({ role: 'admin' }).where('id', '=', administrator.id).execute(),
      );
      for (const claims of [
        { ...hosted(plain), hd: undefined },
        { ...hosted(plain), hd: 'elsewhere.example' },
        { ...hosted(plain), email_verified: false },
        { ...hosted(plain), email_verified: 'true' },
        { ...hosted(plain), email: 'nobody@corp.example' },
        { ...hosted(elsewhere), hd: 'elsewhere.example' },
        hosted(administrator),
      ])
        await assertRefusal(await post(await sign(claims)), refused);
      assert.equal((await linksOf(plain)).length, 0);
      const answers = await Promise.all([1, 2, 3, 4].map(async () => post(await sign(hosted(plain)))));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 200],
      );
      assert.equal(decodeJwt((await tokensOf(answers[0]!)).access_token).claims['sub'], plain.id);
      assert.deepEqual(
        (await linksOf(plain)).map(({ subject }) => subject),
        [`new-${plain.id}`],
      );
    });

    it('the API is the one of the assertion, and the request may repeat it', async () => {
      const audienceOf = async (claims: Json, form: Form = {}): Promise<unknown> =>
        decodeJwt((await tokensOf(await post(await sign(claims), form))).access_token).claims['aud'];
      assert.equal(await audienceOf({ resource: files }), files);
      assert.equal(await audienceOf({ resource: [files] }), files);
      assert.equal(await audienceOf({ resource: `${files}/` }), files);
      assert.equal(await audienceOf({ resource: [api, files] }, { resource: files }), files);
      assert.equal(await audienceOf({ resource: undefined }, { audience: api }), api);
      const text = 'The requested audience is not available to this client.';
      for (const [claims, form] of [
        [{}, { resource: files }],
        [{ resource: undefined }, {}],
        [{ resource: [api, files] }, {}],
        [{ resource: [] }, {}],
        [{ resource: 'https://other.example' }, {}],
        [{ resource: tenant.managementApi }, {}],
        [{ resource: tenant.managementApi }, { resource: tenant.managementApi }],
      ] as const)
        await assertRefusal(await post(await sign(claims), form as Form), 'token.invalid_target', { text });
    });

    it('scopes are those of the assertion that the client has, or fewer; never of sign-in or the Management API', async () => {
      const scopeOf = async (claims: Json, form: Form = {}): Promise<string> =>
        (await tokensOf(await post(await sign(claims), form))).scope;
      assert.equal(await scopeOf({ scope: 'chat:read chat:admin openid email offline_access users:read' }), 'chat:read');
      assert.equal(await scopeOf({}, { scope: 'chat:write' }), 'chat:write');
      // As clients ask that read it in the metadata of the API: no refresh token comes of it.
      assert.equal(await scopeOf({}, { scope: 'chat:write offline_access' }), 'chat:write');
      assert.equal(await scopeOf({}, { scope: 'offline_access' }), 'chat:read chat:write');
      for (const [claims, form, text] of [
        [{ scope: 'chat:admin' }, {}, 'A scope is not bound to this client.'],
        [{ scope: 'users:read' }, {}, 'A scope is not bound to this client.'],
        [{ scope: 'chat:read' }, { scope: 'chat:write' }, 'A scope was not granted.'],
        [{}, { scope: 'users:read' }, 'A scope was not granted.'],
        [{}, { scope: 'chat:admin' }, 'A scope is not bound to this client.'],
      ] as const)
        await assertRefusal(await post(await sign(claims), form as Form), 'token.invalid_scope', { text });
      assert.equal(await scopeOf({ scope: undefined }), '');
      const scopes = [{ name: 'chat:read', is_default: true }, { name: 'chat:write' }, { name: 'chat:admin', is_default: true }];
      await world.managed.make('POST', '/resources', { identifier: api, name: 'Chat', scopes, access_token_lifetime_seconds: 120 });
      const asked = await tokensOf(await post(await sign({ scope: undefined })));
      assert.deepEqual([asked.scope, asked.expires_in], ['chat:read', 120]);
    });

    it('what was refused for its API or scope may be used again', async () => {
      const assertion = await sign();
      assert.equal((await post(assertion, { scope: 'chat:admin' })).status, 400);
      assert.equal((await post(assertion, { resource: files })).status, 400);
      assert.equal((await post(assertion)).status, 200);
      await assertRefusal(await post(assertion), refused);
    });

    it('only a provider that may: of OpenID Connect, enabled, and one of an issuer; metadata say whether there is any', async () => {
      const other = await startTokenIssuer();
      try {
        const sent = async (): Promise<Response> => post(await sign({ iss: other.url, sub: 'ada' }, {}, other.key()));
        const announced = async (): Promise<unknown> =>
          ((await (await fetch(`${tenant.baseUrl}/.well-known/openid-configuration`)).json()) as Json)[profiles];
        assert.deepEqual(await announced(), ['urn:ietf:params:oauth:grant-profile:id-jag']);
        const second = await world.register({ alias: 'second', issuer: other.url, cross_app: false });
        await world.link(await newcomer(), 'ada', second, other.url);
        await assertRefusal(await sent(), refused);
        const change = (fields: Json, id = second.id): Promise<Json> => world.managed.make('PATCH', `/identity-providers/${id}`, fields);
        await change({ cross_app: true });
        assert.equal((await sent()).status, 200);
        await change({ enabled: false });
        await assertRefusal(await sent(), refused);
        await change({ enabled: true });
        const third = await world.register({ alias: 'third', issuer: other.url });
        await assertRefusal(await sent(), refused);
        await change({ cross_app: false }, third.id);
        assert.equal((await sent()).status, 200);
        for (const id of [world.provider.id, second.id]) await change({ cross_app: false }, id);
        assert.equal(await announced(), undefined);
        for (const id of [world.provider.id, second.id]) await change({ cross_app: true }, id);
        assert.deepEqual(await announced(), ['urn:ietf:params:oauth:grant-profile:id-jag']);
        const github = await world.managed.call('POST', '/identity-providers', {
          ...{ alias: 'gh', kind: 'github', name: 'GitHub', client_id: 'x', client_secret: 'y'.repeat(40), cross_app: true },
        });
        assert.deepEqual([github.status, ((await github.json()) as Json)['kind']], [400, 'cross_app']);
        const off = await createTestTenant(world.server);
        const there = (await world.services.tenants.bySlug(off.slug))!;
        await assertRefusal(await post(await sign(), {}, agent, there), 'token.unsupported_grant_type');
      } finally {
        await other.close();
      }
    });

    it('of listed directories, each by its own issuer', async () => {
      const directory = '11111111-2222-3333-4444-555555555555';
      const host = await startTokenIssuer();
      try {
        const issuer = `${host.url}/${directory}/v2.0`;
        host.says({ issuer });
        const many = await world.register({ alias: 'directories', issuer: `${host.url}/{tenantid}/v2.0`, tenants: [directory] });
        await world.link(await newcomer(), 'ada', many, issuer);
        const sent = async (iss: string): Promise<Response> => post(await sign({ iss, sub: 'ada' }, {}, host.key()));
        assert.equal((await sent(issuer)).status, 200);
        await assertRefusal(await sent(`${host.url}/99999999-2222-3333-4444-555555555555/v2.0`), refused);
        await assertRefusal(await sent(`${host.url}/{tenantid}/v2.0`), refused);
      } finally {
        await host.close();
      }
    });

    it('of a customer by their own provider: what it says of the sign-in is worth nothing beyond their organisation', async () => {
      const customer = await startTokenIssuer();
      try {
        const given = { alias: 'customer', issuer: customer.url, acr_map: { high: 'phr' } };
        await world.link(await newcomer(), 'ada', await world.register(given), customer.url);
        const acrOf = async (): Promise<unknown> => {
          const answer = await post(await sign({ iss: customer.url, sub: 'ada', acr: 'high' }, {}, customer.key()));
          return decodeJwt((await tokensOf(answer)).access_token).claims['acr'];
        };
        assert.equal(await acrOf(), 'phr');
        const organization = { name: 'customer', display_name: 'Customer', identity_providers: ['customer'] };
        await world.managed.make('POST', '/organizations', organization);
        assert.equal(await acrOf(), 'fed');
      } finally {
        await customer.close();
      }
    });

    it('keys are fetched as those of clients: a new one is found, and an hour without their server is bridged', async () => {
      const next = makeKeyPair('ES256');
      assert.equal((await post(await sign())).status, 200);
      await world.server.clock.advance(11_000);
      world.employer.rotate(next);
      assert.equal((await post(await sign())).status, 200);
      world.employer.away(true);
      await world.server.clock.advance(3_000_000);
      assert.equal((await post(await sign())).status, 200);
      await world.server.clock.advance(700_000);
      await assertRefusal(await post(await sign()), refused);
      world.employer.away(false);
      await world.server.clock.advance(11_000);
      assert.equal((await post(await sign())).status, 200);
    });

    it('a member of another tenant is nobody here, and an assertion for another tenant is none', async () => {
      const other = await createTestTenant(world.server, { settings: { extra_grants: [grantType] } });
      const there = (await world.services.tenants.bySlug(other.slug))!;
      const twin = await createClient(world.services, there, { grantTypes: [grantType], resources: [api], scopes: ['chat:read'] });
      const named = { client_id: twin.clientId, aud: there.baseUrl };
      await assertRefusal(await post(await sign(named), {}, twin, there), refused);
      const body = {
        alias: 'employer',
        kind: 'oidc',
        name: 'Employer',
        issuer: world.employer.url,
        client_id: 'x',
        client_secret: 's'.repeat(40),
      };
      await jsonOf(await other.call('POST', '/identity-providers', { ...body, cross_app: true }), 201);
      await assertRefusal(await post(await sign(named), {}, twin, there), refused);
      await assertRefusal(await post(await sign({ client_id: twin.clientId }), {}, twin, there), refused);
    });
  });
