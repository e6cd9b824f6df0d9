// Token exchange (RFC 8693; design 18, part 4): off until a tenant has it; an API trades the token it was called with for one of the next
// API, a program its own for one with less. Never a scope that neither token nor row gives, never a longer life, and the end of the grant
// ends what came of it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { actorsMax } from '../../src/contract/limits.ts';
import type { Client } from '../../src/domain/client/client.ts';
import type { GrantId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { revokeGrant } from '../../src/storage/oidc/grants.ts';
import { databases } from '../support/databases.ts';
import { createProofKey } from '../support/dpop.ts';
import { createClient, createOtherTenant, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { decodeJwt, type Form, formBody, issueCode, postAs, exchange as redeemCode, type Tokens, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';
const [orders, stock, prices] = ['https://orders.example', 'https://stock.example/v1', 'https://prices.example'];
const targetText = 'The requested audience is not available for this token.';

interface Exchanged extends Tokens {
  readonly issued_token_type: string;
}

for (const database of databases) {
  describe(`token exchange on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let shop: TestClient;
    let ordersApi: TestClient;
    let stockApi: TestClient;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      tenant = await createOtherTenant(services, 'exchange', { extra_grants: [grantType] });
      const scopes = ['openid', 'offline_access', 'orders:read', 'orders:write'];
      shop = await createClient(services, tenant, { resources: [orders], scopes });
      ordersApi = await createApi([orders], {
        exchange: [
          { resource: stock, scopes: ['stock:read'], needs: ['orders:read'] },
          { resource: stock, scopes: ['stock:write'], needs: ['orders:write'] },
          { resource: prices, scopes: ['prices:read'] },
        ],
      });
      stockApi = await createApi([stock], { exchange: [{ resource: prices, scopes: ['prices:read'], needs: ['stock:read'] }] });
      user = await createUser(services, tenant);
    });
    after(() => server.close());

    const createApi = (serves: readonly string[], changes: Partial<Client> = {}, at = tenant): Promise<TestClient> =>
      createClient(services, at, {
        grantTypes: [grantType, 'client_credentials'],
        scopes: ['users:read'],
        redirectUris: [],
        serves,
        ...changes,
      });
    const signIn = async (
      scope = 'openid offline_access orders:read',
      by = shop,
      person = user,
      resource: string | null = orders,
    ): Promise<Tokens> => {
      const code = await issueCode(server, tenant, by, person, { scope, ...(resource === null ? {} : { resource }) });
      return tokensOf(await redeemCode(tenant, by, code));
    };
    const ask = (
      by: TestClient,
      token: string | undefined,
      form: Form = {},
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Response> =>
      postAs(tenant, by, 'token', { grant_type: grantType, subject_token: token, subject_token_type: accessTokenType, ...form }, headers);
    const traded = async (response: Response): Promise<Exchanged> => {
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return JSON.parse(text) as Exchanged;
    };
    const introspected = async (token: string, by: TestClient): Promise<Readonly<Record<string, unknown>>> =>
      (await (await postAs(tenant, by, 'introspect', { token })).json()) as Record<string, unknown>;
    const machineToken = async (by: TestClient): Promise<string> =>
      (await tokensOf(await postAs(tenant, by, 'token', { grant_type: 'client_credentials' }))).access_token;
    const sidOf = (token: string): GrantId => decodeJwt(token).claims['sid'] as GrantId;

    it('token.unsupported_grant_type: off in the tenant before authentication, off for the client after it', async () => {
      const off = await createOtherTenant(services, 'no-exchange');
      const stranger = { ...ordersApi, clientId: 'nobody' as typeof ordersApi.clientId };
      for (const by of [await createApi([orders], {}, off), stranger])
        await assertRefusal(await postAs(off, by, 'token', { grant_type: grantType }), 'token.unsupported_grant_type');
      await assertRefusal(await ask(shop, 'x'), 'token.unsupported_grant_type');
      await assertRefusal(await ask(stranger, 'x'), 'client.invalid_client');
      for (const [at, isOn] of [
        [off, false],
        [tenant, true],
      ] as const) {
        const metadata = (await (await fetch(`${at.baseUrl}/.well-known/openid-configuration`)).json()) as Record<string, string[]>;
        assert.equal(metadata['grant_types_supported']?.includes(grantType), isOn);
      }
    });

    it('an API gets a token of the next one for the person it serves', async () => {
      const { access_token: subject } = await signIn();
      const response = await ask(ordersApi, subject, { resource: stock });
      assert.equal(response.headers.get('cache-control'), 'no-store');
      const { access_token: token, expires_in: seconds, ...rest } = await traded(response);
      assert.deepEqual(rest, { issued_token_type: accessTokenType, token_type: 'Bearer', scope: 'stock:read' });
      const { header, claims } = decodeJwt(token);
      assert.equal(header['typ'], 'at+jwt');
      const before = decodeJwt(subject).claims;
      const { iat, exp, jti, ...said } = claims as { iat: number; exp: number; jti: string };
      assert.notEqual(jti, before['jti']);
      assert.deepEqual([exp - iat, seconds, exp], [seconds, seconds, before['exp']]);
      assert.deepEqual(said, {
        iss: tenant.baseUrl,
        sub: user.id,
        aud: stock,
        client_id: ordersApi.clientId,
        scope: 'stock:read',
        token_use: 'access',
        sid: before['sid'],
        auth_time: before['auth_time'],
        amr: ['otp'],
        act: { sub: ordersApi.clientId },
      });
      const userInfo = await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${token}` } });
      await assertRefusal(userInfo, 'userinfo.unauthorized', { fields: { reason: 'invalid_token' } });
    });
    it('`audience` names the API as `resource` does, and both spellings of an origin', async () => {
      const { access_token: subject } = await signIn();
      for (const form of [{ audience: stock }, { resource: stock, audience: stock }])
        assert.equal(decodeJwt((await traded(await ask(ordersApi, subject, form))).access_token).claims['aud'], stock);
      const { access_token: token } = await traded(await ask(ordersApi, subject, { resource: `${prices}/` }));
      assert.equal(decodeJwt(token).claims['aud'], prices);
      const jwt = 'urn:ietf:params:oauth:token-type:jwt';
      const asked = { resource: stock, subject_token_type: jwt, requested_token_type: jwt };
      assert.equal((await traded(await ask(ordersApi, subject, asked))).issued_token_type, jwt);
    });
    it('rows add up where the token meets their needs', async () => {
      const { access_token: subject } = await signIn('orders:read orders:write');
      assert.equal((await traded(await ask(ordersApi, subject, { resource: stock }))).scope, 'stock:read stock:write');
      assert.equal((await traded(await ask(ordersApi, subject, { resource: stock, scope: 'stock:write' }))).scope, 'stock:write');
    });
    it('at the same audience with fewer scopes, without a row; openid falls away', async () => {
      const { access_token: subject } = await signIn('openid orders:read orders:write');
      const same = await traded(await ask(ordersApi, subject));
      assert.deepEqual([same.scope, decodeJwt(same.access_token).claims['aud']], ['orders:read orders:write', orders]);
      const fewer = await traded(await ask(ordersApi, subject, { resource: `${orders}/`, scope: 'orders:read' }));
      assert.deepEqual([fewer.scope, decodeJwt(fewer.access_token).claims['aud']], ['orders:read', orders]);
      const again = { resource: orders, scope: 'orders:write' };
      await assertRefusal(await ask(ordersApi, fewer.access_token, again), 'exchange.invalid_scope', { text: 'A scope was not granted.' });
    });

    it('exchange.invalid_scope: what neither token nor row gives', async () => {
      const { access_token: subject } = await signIn('openid orders:read');
      for (const scope of ['stock:write', 'orders:read', 'openid', 'users:read', 'stock:read prices:read'])
        await assertRefusal(await ask(ordersApi, subject, { resource: stock, scope }), 'exchange.invalid_scope', {
          text: 'A scope was not granted.',
        });
      for (const scope of ['openid', 'orders:write'])
        await assertRefusal(await ask(ordersApi, subject, { scope }), 'exchange.invalid_scope', { text: 'A scope was not granted.' });
      const malformed = await ask(ordersApi, subject, { resource: stock, scope: 'a  b' });
      await assertRefusal(malformed, 'exchange.invalid_scope', { text: 'scope is malformed.' });
    });
    it('exchange.invalid_target: no row, needs not met, several, the Management API, the issuer', async () => {
      const bold = await createApi([orders], {
        exchange: [tenant.managementApi, tenant.baseUrl].map((resource) => ({ resource, scopes: ['users:read'] })),
      });
      const { access_token: subject } = await signIn('orders:write');
      const wrong: readonly (readonly [TestClient, Form])[] = [
        [ordersApi, { resource: 'https://other.example' }],
        [ordersApi, { resource: `${stock}/` }],
        [ordersApi, { resource: stock, audience: prices }],
        [bold, { resource: tenant.managementApi }],
        [bold, { audience: tenant.baseUrl }],
      ];
      for (const [by, form] of wrong) await assertRefusal(await ask(by, subject, form), 'exchange.invalid_target', { text: targetText });
      const needy = await createApi([orders], {
        exchange: [{ resource: stock, scopes: ['stock:read'], needs: ['orders:read', 'orders:write'] }],
      });
      await assertRefusal(await ask(needy, subject, { resource: stock }), 'exchange.invalid_target', { text: targetText });
      // A token for UserInfo alone has no audience to stay at.
      const own = await createClient(services, tenant, { grantTypes: ['authorization_code', grantType] });
      const { access_token: forUs } = await signIn('openid email', own, user, null);
      await assertRefusal(await ask(own, forUs), 'exchange.invalid_target', { text: targetText });
    });

    it('exchange.invalid_request: every fault of either token is byte-identical', async () => {
      const target = { resource: stock };
      const { access_token: good, id_token: idToken, refresh_token: refreshToken } = await signIn();
      const other = await createOtherTenant(services, 'elsewhere', { extra_grants: [grantType] });
      const theirs = await createClient(services, other, { resources: [orders], scopes: ['orders:read'] });
      const stranger = await createUser(services, other);
      const foreign = await redeemCode(
        other,
        theirs,
        await issueCode(server, other, theirs, stranger, { scope: 'orders:read', resource: orders }),
      );
      const { access_token: ofAnotherTenant } = (await foreign.json()) as Tokens;
      const rolling = await createApi([tenant.baseUrl, tenant.managementApi, orders], {
        exchange: [{ resource: stock, scopes: ['stock:read'] }],
      });
      const { access_token: forIssuer } = await signIn('openid', shop, user, null);
      const revoked = await signIn();
      await postAs(tenant, shop, 'revoke', { token: revoked.access_token });
      const ended = await signIn();
      await postAs(tenant, shop, 'revoke', { token: ended.refresh_token });
      const gone = await createClient(services, tenant, { resources: [orders], scopes: ['orders:read'] });
      const ofGone = (await signIn('orders:read', gone)).access_token;
      const chained = (await traded(await ask(ordersApi, ofGone, { resource: orders }))).access_token;
      await services.cache.write(tenant.id, (queries) =>
        queries.updateTable('clients').set({ enabled: 0 }).where('client_id', '=', gone.clientId).execute(),
      );
      const suspended = await createUser(services, tenant);
      const ofSuspended = (await signIn('orders:read', shop, suspended)).access_token;
      await services.database.write(tenant.id, (queries) =>
        queries.updateTable('users').set({ state: 'suspended' }).where('id', '=', suspended.id).execute(),
      );
      const gated = await createApi([orders], { accessPolicy: 'assigned', exchange: [{ resource: stock, scopes: ['stock:read'] }] });
      const machine = await machineToken(ordersApi);
      const [header, body, signature] = good.split('.');
      const changed = Buffer.from(JSON.stringify({ ...decodeJwt(good).claims, scope: 'orders:write' })).toString('base64url');
      const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
      const bodies = new Set<string>();
      const answers: readonly (readonly [string, Promise<Response>])[] = [
        ['no token', ask(ordersApi, undefined, target)],
        ['no type', ask(ordersApi, good, { ...target, subject_token_type: undefined })],
        ['a type we do not have', ask(ordersApi, good, { ...target, subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' })],
        [
          'a refresh token wanted',
          ask(ordersApi, good, { ...target, requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' }),
        ],
        ['an ID token wanted', ask(ordersApi, good, { ...target, requested_token_type: 'urn:ietf:params:oauth:token-type:id_token' })],
        ['garbage', ask(ordersApi, 'x', target)],
        ['an ID token', ask(ordersApi, idToken, target)],
        ['a refresh token', ask(ordersApi, refreshToken, target)],
        ['claims changed', ask(ordersApi, `${header}.${changed}.${signature}`, target)],
        ['no algorithm', ask(ordersApi, `${none}.${body}.`, target)],
        ['of another tenant', ask(ordersApi, ofAnotherTenant, target)],
        ['for another API', ask(stockApi, good, { resource: prices })],
        ['for UserInfo', ask(rolling, forIssuer, target)],
        ['for the Management API, of another', ask(rolling, machine, target)],
        ['revoked', ask(ordersApi, revoked.access_token, target)],
        ['its grant ended', ask(ordersApi, ended.access_token, target)],
        ['its client disabled', ask(ordersApi, ofGone, target)],
        ['its first client disabled, exchanged before', ask(ordersApi, chained, target)],
        ['its person suspended', ask(ordersApi, ofSuspended, target)],
        ['the gate of the caller closed', ask(gated, good, target)],
        ['an actor without a type', ask(ordersApi, good, { ...target, actor_token: machine })],
        ['a type without an actor', ask(ordersApi, good, { ...target, actor_token_type: accessTokenType })],
        [
          'an actor of another client',
          ask(ordersApi, good, { ...target, actor_token: await machineToken(stockApi), actor_token_type: accessTokenType }),
        ],
        ['a person as actor', ask(ordersApi, good, { ...target, actor_token: good, actor_token_type: accessTokenType })],
      ];
      for (const [name, answer] of answers) {
        const response = await answer;
        assert.equal(response.status, 400, `${name}: ${await response.clone().text()}`);
        bodies.add(await assertRefusal(response, 'exchange.invalid_request'));
      }
      assert.deepEqual([...bodies], ['{"error":"invalid_request"}']);
      assert.equal((await ask(ordersApi, good, { ...target, actor_token: machine, actor_token_type: accessTokenType })).status, 200);
    });

    it('what is exchanged ends with what went in, and an expired token is none', async () => {
      const { access_token: subject } = await signIn();
      await server.clock.advance(600_000);
      const left = () => Number(decodeJwt(subject).claims['exp']) - Math.floor(server.clock.nowMs() / 1000);
      const leftBefore = left();
      const late = await traded(await ask(ordersApi, subject, { resource: stock }));
      assert.ok(leftBefore <= 300 && late.expires_in <= leftBefore && late.expires_in >= left(), String(late.expires_in));
      assert.equal(decodeJwt(late.access_token).claims['exp'], decodeJwt(subject).claims['exp']);
      await server.clock.advance(300_000);
      await assertRefusal(await ask(ordersApi, subject, { resource: stock }), 'exchange.invalid_request');
    });
    it('a chain says who acted for whom; the sixth is refused', async () => {
      const links = Array.from({ length: actorsMax + 1 }, (_, at) => `https://link${at}.example`);
      const chain = await Promise.all(
        links.map((link, at) =>
          createApi([link], { exchange: [{ resource: `https://link${at + 1}.example`, scopes: ['go'], needs: ['go'] }] }),
        ),
      );
      const first = await createClient(services, tenant, { resources: links.slice(0, 1), scopes: ['go'] });
      let { access_token: token } = await signIn('go', first, user, links[0] ?? null);
      let act: unknown;
      for (const [at, link] of chain.slice(0, actorsMax).entries()) {
        ({ access_token: token } = await traded(await ask(link, token, { resource: links[at + 1] ?? '' })));
        act = { sub: link.clientId, ...(act === undefined ? {} : { act }) };
        assert.deepEqual(decodeJwt(token).claims['act'], act);
      }
      await assertRefusal(await ask(chain[actorsMax]!, token), 'exchange.invalid_request');
      assert.equal((await introspected(token, chain[actorsMax - 1]!))['sub'], user.id);
      // Whoever acts already and trades once more is named once.
      const narrowed = await traded(await ask(chain[actorsMax - 1]!, token));
      assert.deepEqual(decodeJwt(narrowed.access_token).claims['act'], act);
    });
    it('introspection tells who acts, until the grant of the person ends', async () => {
      const tokens = await signIn();
      const { access_token: token } = await traded(await ask(ordersApi, tokens.access_token, { resource: stock }));
      const { active, act, sub } = await introspected(token, ordersApi);
      assert.deepEqual([active, act, sub], [true, { sub: ordersApi.clientId }, user.id]);
      const { access_token: next } = await traded(await ask(stockApi, token, { resource: prices }));
      await postAs(tenant, shop, 'revoke', { token: tokens.refresh_token });
      for (const [one, by] of [
        [token, ordersApi],
        [next, stockApi],
      ] as const)
        assert.deepEqual(await introspected(one, by), { active: false });
      await assertRefusal(await ask(stockApi, token, { resource: prices }), 'exchange.invalid_request');
    });
    it('exchanges beside the end of the grant: what was minted is worth nothing', async () => {
      const { access_token: subject } = await signIn();
      const asked = Array.from({ length: 8 }, () => ask(ordersApi, subject, { resource: stock }));
      const ended = services.database.write(tenant.id, (queries) => revokeGrant(queries, tenant.id, sidOf(subject), 'administrator'));
      const answers = await Promise.all([...asked, ...Array.from({ length: 8 }, () => ask(ordersApi, subject, { resource: stock }))]);
      assert.equal(await ended, true);
      for (const answer of answers)
        if (answer.status === 200)
          assert.deepEqual(await introspected(((await answer.json()) as Tokens).access_token, ordersApi), { active: false });
        else await assertRefusal(answer, 'exchange.invalid_request');
      await assertRefusal(await ask(ordersApi, subject, { resource: stock }), 'exchange.invalid_request');
    });

    it('a program with nothing but a secret gets a token of an API by a row without needs', async () => {
      const job = await createApi([], {
        exchange: [
          { resource: stock, scopes: ['stock:read'] },
          { resource: prices, scopes: ['prices:write'], needs: ['prices:admin'] },
        ],
      });
      const own = await machineToken(job);
      const { access_token: token } = await traded(await ask(job, own, { resource: stock }));
      const { iat: _iat, exp: _exp, jti: _jti, ...said } = decodeJwt(token).claims;
      assert.deepEqual(said, {
        iss: tenant.baseUrl,
        sub: job.clientId,
        aud: stock,
        client_id: job.clientId,
        scope: 'stock:read',
        token_use: 'access',
      });
      const users = await fetch(`${tenant.baseUrl}/v1/management/users`, { headers: { authorization: `Bearer ${token}` } });
      await assertRefusal(users, 'management.unauthorized');
      await assertRefusal(await ask(job, own, { resource: prices }), 'exchange.invalid_target', { text: targetText });
      await assertRefusal(await ask(job, own), 'exchange.invalid_target', { text: targetText });
      // The API goes on for the program.
      const { access_token: next } = await traded(await ask(stockApi, token, { resource: prices }));
      const { sub, act, aud } = decodeJwt(next).claims;
      assert.deepEqual([sub, act, aud], [job.clientId, { sub: stockApi.clientId }, prices]);
    });
    it('the token is bound to the proof of the caller; a bound token of its own to the same key alone', async () => {
      const url = `${tenant.baseUrl}/v1/idp/oidc/token`;
      const [key, other] = [await createProofKey(), await createProofKey()];
      /** With the nonce the server asks for. */
      const proving = async (by: typeof key, send: (headers: Readonly<Record<string, string>>) => Promise<Response>): Promise<Response> => {
        const iat = Math.floor(server.clock.nowMs() / 1000);
        const first = await send({ dpop: await by.prove(url, { claims: { iat } }) });
        const nonce = first.headers.get('dpop-nonce');
        return first.status === 200 || nonce === null ? first : send({ dpop: await by.prove(url, { claims: { iat, nonce } }) });
      };
      const job = await createApi([], { exchange: [{ resource: stock, scopes: ['stock:read'] }] });
      const grant = { grant_type: 'client_credentials' };
      const { access_token: own } = (await (await proving(key, (dpop) => postAs(tenant, job, 'token', grant, dpop))).json()) as Tokens;
      const trade = (by: typeof key): Promise<Response> => proving(by, (dpop) => ask(job, own, { resource: stock }, dpop));
      const bound = await traded(await trade(key));
      assert.deepEqual([bound.token_type, decodeJwt(bound.access_token).claims['cnf']], ['DPoP', { jkt: key.thumbprint }]);
      await assertRefusal(await ask(job, own, { resource: stock }), 'exchange.invalid_request');
      await assertRefusal(await trade(other), 'exchange.invalid_request');
      const { access_token: subject } = await signIn();
      const forCaller = await traded(await proving(other, (dpop) => ask(ordersApi, subject, { resource: stock }, dpop)));
      assert.deepEqual(decodeJwt(forCaller.access_token).claims['cnf'], { jkt: other.thumbprint });
    });
    it('the first exchange of a day for caller, resource and person is told', async () => {
      const person = await createUser(services, tenant);
      const { access_token: subject } = await signIn('orders:read', shop, person);
      await Promise.all([1, 2, 3].map(async () => traded(await ask(ordersApi, subject, { resource: stock }))));
      for (const resource of [stock, prices]) await traded(await ask(ordersApi, subject, { resource }));
      const events = await services.database.read(tenant.id, (queries) =>
        queries.selectFrom('audit_events').select(['data', 'actor']).where('type', '=', 'token.exchanged').orderBy('id').execute(),
      );
      const told = events
        .map(({ data, actor }) => ({ actor, ...JSON.parse(data ?? '{}') }))
        .filter(({ subject: who }) => who === person.id);
      assert.deepEqual(told, [
        { actor: `client:${ordersApi.clientId}`, subject: person.id, resource: stock, from: shop.clientId, scope: 'stock:read' },
        { actor: `client:${ordersApi.clientId}`, subject: person.id, resource: prices, from: shop.clientId, scope: 'prices:read' },
      ]);
    });
    it('token.invalid_request: a token twice', async () => {
      const body = formBody({ grant_type: grantType, subject_token: 'x', subject_token_type: accessTokenType, resource: stock });
      body.append('subject_token', 'y');
      await assertRefusal(await postAs(tenant, ordersApi, 'token', body), 'token.invalid_request', { text: /./ });
    });
  });
}
