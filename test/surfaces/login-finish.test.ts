// The finish of a sign-in: what is read again at the last moment, consent, authentication context, SAML, and the event stream.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { resolveApproval } from '../../src/approvals/resolve-approval.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { changeSettings } from '../support/enrolled-phone.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { approveByPin, beginLogin, loginAt, signInByPin, type TestLogin } from '../support/login.ts';
import { decodeJwt, exchange, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { acsUrl, openSamlIdp } from '../support/saml-idp.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`Finishing a sign-in on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database, { flags: { trusted_proxies: '127.0.0.1' } });
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant);
    });
    after(() => server.close());

    const finishOf = async (login: TestLogin): Promise<URL> => {
      const response = await login.post('finish');
      const text = await response.text();
      assert.equal(response.status, 200, text);
      return new URL((JSON.parse(text) as { redirect_to: string }).redirect_to);
    };
    const denied = (url: URL): void => {
      assert.equal(url.searchParams.get('error'), 'access_denied');
      assert.equal(url.searchParams.get('state'), 'state-1');
      assert.equal(url.searchParams.has('code'), false);
    };
    const approveOnPhone = (user: TestUser, method: 'phone_uv' | 'phone_pop'): Promise<unknown> =>
      server.gatehouse.services.database.write(tenant.id, async (queries) => {
        const { id } = await queries
          .selectFrom('approvals')
          .select('id')
          .where('user_id', '=', user.id)
          .where('state', '=', 'pending')
          .executeTakeFirstOrThrow();
        return resolveApproval(queries, tenant, id, { verdict: 'approve', method }, { nowMs: server.clock.nowMs(), requestId: 'test' });
      });

    for (const state of ['suspended', 'deleted'] as const)
      it(`a user ${state} after the approval: access_denied, no code`, async () => {
        const user = await createUser(server.gatehouse.services, tenant);
        const login = await beginLogin(server, tenant, client);
        await approveByPin(server, login, user.email);
        await server.gatehouse.services.database.write(tenant.id, (queries) =>
          queries.updateTable('users').set({ state }).where('id', '=', user.id).execute(),
        );
        denied(await finishOf(login));
        await assertRefusal(await login.post('finish'), 'login.conflict');
      });

    it('a user outside the access gate: access_denied; assigned, the code', async () => {
      const { services } = server.gatehouse;
      const gated = await createClient(services, tenant, { accessPolicy: 'assigned' });
      const user = await createUser(services, tenant);
      const outside = await beginLogin(server, tenant, gated);
      await approveByPin(server, outside, user.email);
      denied(await finishOf(outside));
      await services.database.write(tenant.id, (queries) =>
        queries
          .insertInto('access_assignments')
          .values({
            tenant_id: tenant.id,
            id: 'one',
            target_kind: 'client',
            target_id: gated.clientId,
            user_id: user.id,
            created_at: 0,
          } as never)
          .execute(),
      );
      const inside = await beginLogin(server, tenant, gated);
      assert.ok((await signInByPin(server, inside, user.email)).searchParams.has('code'));
    });

    it('a client disabled meanwhile: access_denied', async () => {
      const { services } = server.gatehouse;
      const disabled = await createClient(services, tenant);
      const user = await createUser(services, tenant);
      const login = await beginLogin(server, tenant, disabled);
      await approveByPin(server, login, user.email);
      await services.cache.write(tenant.id, (queries) =>
        queries.updateTable('clients').set({ enabled: 0 }).where('client_id', '=', disabled.clientId).execute(),
      );
      denied(await finishOf(login));
    });

    it('consent: shown with its scopes, remembered for exactly this set, asked again by prompt=consent', async () => {
      const { services } = server.gatehouse;
      const asking = await createClient(services, tenant, { requireConsent: true, name: 'Asking' });
      const user = await createUser(services, tenant);
      const consentOf = async (scope: string, prompt?: string): Promise<unknown> => {
        const login = await beginLogin(server, tenant, asking, { scope, prompt });
        await approveByPin(server, login, user.email);
        const { consent } = (await (await login.get()).json()) as { consent?: unknown };
        const page = await (await login.page()).text();
        assert.equal(page.includes('Let Asking in?'), consent !== undefined);
        assert.equal(page.includes('data-auto>'), consent === undefined);
        await finishOf(login);
        return consent;
      };
      assert.deepEqual(await consentOf('openid email'), { scopes: ['openid', 'email'] });
      assert.equal(await consentOf('email openid'), undefined);
      assert.deepEqual(await consentOf('openid'), { scopes: ['openid'] });
      assert.deepEqual(await consentOf('openid', 'login consent'), { scopes: ['openid'] });
    });

    it('consent declined is not remembered', async () => {
      const asking = await createClient(server.gatehouse.services, tenant, { requireConsent: true });
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await beginLogin(server, tenant, asking);
      await approveByPin(server, login, user.email);
      await login.post('cancel');
      const again = await beginLogin(server, tenant, asking);
      await approveByPin(server, again, user.email);
      assert.ok(((await (await again.get()).json()) as { consent?: unknown }).consent !== undefined);
    });

    it('acr_values hides the methods below it; values nobody knows ask for nothing', async () => {
      const methodsFor = async (acrValues: string): Promise<unknown> =>
        ((await (await (await beginLogin(server, tenant, client, { acrValues })).get()).json()) as { methods: unknown }).methods;
      assert.deepEqual(await methodsFor('otp'), ['phone', 'passkey', 'email_pin']);
      assert.deepEqual(await methodsFor('phone'), ['phone', 'passkey']);
      assert.deepEqual(await methodsFor('phr'), ['passkey']);
      assert.deepEqual(await methodsFor('phr phone'), ['phone', 'passkey']);
      assert.deepEqual(await methodsFor('urn:nobody:knows'), ['phone', 'passkey', 'email_pin']);
    });

    for (const [method, amr] of [
      ['phone_uv', ['hwk', 'user']],
      ['phone_pop', ['hwk']],
    ] as const)
      it(`${method}: amr, acr and auth_time of the approval are in the ID token`, async () => {
        const user = await createUser(server.gatehouse.services, tenant);
        const login = await beginLogin(server, tenant, client, { acrValues: 'phone' });
        await login.post('identify', { identifier: user.email });
        assert.equal(((await (await login.post('method', { method: 'phone' })).json()) as { state: string }).state, 'waiting');
        await approveOnPhone(user, method);
        const approvedAt = server.clock.nowMs() / 1000;
        await server.clock.advance(100_000);
        const url = await finishOf(login);
        const { claims } = decodeJwt((await tokensOf(await exchange(tenant, client, url.searchParams.get('code') ?? ''))).id_token ?? '');
        assert.deepEqual(claims['amr'], amr);
        assert.equal(claims['acr'], 'phone');
        assert.ok(Math.abs(Number(claims['auth_time']) - approvedAt) < 5);
      });

    it('denied on the phone: state, page, no finish, cancel tells the client', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await beginLogin(server, tenant, client);
      await login.post('identify', { identifier: user.email });
      await login.post('method', { method: 'phone' });
      await server.gatehouse.services.database.write(tenant.id, (queries) =>
        queries.updateTable('approvals').set({ state: 'denied', deny_reason: 'other' }).where('user_id', '=', user.id).execute(),
      );
      assert.deepEqual(await (await login.get('/status')).json(), { state: 'denied' });
      assert.match(await (await login.page()).text(), /The request was declined/);
      await assertRefusal(await login.post('finish'), 'login.conflict');
      await assertRefusal(await login.post('method', { method: 'phone' }), 'login.conflict');
      denied(new URL(((await (await login.post('cancel')).json()) as { redirect_to: string }).redirect_to));
    });

    it('choosing another method withdraws the phone’s approval', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await beginLogin(server, tenant, client);
      await login.post('identify', { identifier: user.email });
      await login.post('method', { method: 'phone' });
      await login.post('method', { method: 'email_pin' });
      const states = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries.selectFrom('approvals').select(['state', 'on_devices']).where('user_id', '=', user.id).orderBy('on_devices').execute(),
      );
      assert.deepEqual(
        states.map((row) => ({ ...row })),
        [
          { state: 'pending', on_devices: 0 },
          { state: 'expired', on_devices: 1 },
        ],
      );
    });

    it('two not_me within ten minutes: for fifteen, new approvals reach no device and look the same', async () => {
      const { services } = server.gatehouse;
      await changeSettings(server, { login_methods: ['phone'], rate_limits: { approvals_per_user: roomyRate } });
      const user = await createUser(services, tenant);
      const ask = async (): Promise<number> => {
        const login = await beginLogin(server, tenant, client);
        const answer = (await (await login.post('identify', { identifier: user.email })).json()) as { state: string; number: string };
        assert.equal(answer.state, 'waiting');
        assert.match(answer.number, /^\d\d$/);
        const row = await services.database.read(tenant.id, (queries) =>
          queries
            .selectFrom('approvals')
            .selectAll()
            .where('user_id', '=', user.id)
            .where('state', '=', 'pending')
            .orderBy('created_at', 'desc')
            .executeTakeFirstOrThrow(),
        );
        await services.database.write(tenant.id, (queries) =>
          resolveApproval(
            queries,
            tenant,
            row.id,
            { verdict: 'deny', reason: 'not_me' },
            { nowMs: server.clock.nowMs(), requestId: 'test' },
          ),
        );
        return row.on_devices;
      };
      assert.equal(await ask(), 1);
      await server.clock.advance(11 * 60_000);
      assert.equal(await ask(), 1);
      await server.clock.advance(1000);
      assert.equal(await ask(), 1);
      await server.clock.advance(1000);
      const blocked = await beginLogin(server, tenant, client);
      await blocked.post('identify', { identifier: user.email });
      assert.equal(await ask(), 0);
      await server.clock.advance(16 * 60_000);
      assert.equal(await ask(), 1);
      await changeSettings(server, { login_methods: ['phone', 'passkey', 'email_pin'] });
    });

    it('SAML: the finish leads to the post-back, which delivers the assertion; cancel leaves no subject', async () => {
      const idp = await openSamlIdp(server);
      const provider = await idp.register({
        entity_id: 'https://sp.example/login-test',
        acs: [{ url: acsUrl, index: 0, default: true }],
        idp_initiated_allowed: true,
        require_signed_requests: false,
      });
      const user = await createUser(server.gatehouse.services, tenant);
      const begin = async (): Promise<TestLogin> => {
        const response = await idp.get(`sp=${encodeURIComponent(provider.entityId)}`);
        const { login_url: location } = (await response.json()) as { login_url: string };
        return loginAt(location, response.headers.get('set-cookie') ?? '');
      };
      const login = await begin();
      assert.match(await (await login.page()).text(), /to continue to/);
      const postback = await signInByPin(server, login, user.email);
      assert.equal(postback.pathname, '/v1/idp/saml/postback');
      const delivered = await fetch(postback, { headers: { cookie: login.cookie, accept: 'application/json' } });
      assert.equal(delivered.status, 200);
      assert.equal(((await delivered.json()) as { acs_url: string }).acs_url, acsUrl);
      const cancelled = await begin();
      const { redirect_to: location } = (await (await cancelled.post('cancel')).json()) as { redirect_to: string };
      await assertRefusal(
        await fetch(location, { headers: { cookie: cancelled.cookie, accept: 'application/json' } }),
        'saml.invalid_grant',
      );
    });

    it('GET /events: each state once, ends when the waiting does', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await beginLogin(server, tenant, client);
      await login.post('identify', { identifier: user.email });
      await login.post('method', { method: 'phone' });
      const response = await login.get('/events', { accept: 'text/event-stream' });
      assert.equal(response.headers.get('content-type'), 'text/event-stream');
      assert.match(response.headers.get('x-request-id') ?? '', /^[\w-]{22}$/);
      const text = response.text();
      await approveOnPhone(user, 'phone_uv');
      assert.deepEqual((await text).match(/^data: .*$/gm), ['data: {"state":"waiting"}', 'data: {"state":"approved"}']);
    });
  });
}
