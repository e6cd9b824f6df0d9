// Contract 7.10: polling for the tokens of a CIBA request at the token endpoint.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import type { Client } from '../../src/domain/client/client.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { cibaGrantType, decide } from '../support/ciba.ts';
import { basic, postForm } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const api = 'https://api.example/';
const slowDown = { text: 'Polling too fast. The interval is 5 seconds longer from now on.' };

for (const database of databases) {
  describe(`7.10 CIBA polling on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;

    const makeClient = (changes: Partial<Client> = {}): Promise<TestClient> =>
      createClient(server.gatehouse.services, tenant, {
        grantTypes: [cibaGrantType, 'refresh_token'],
        backchannelTokenDeliveryMode: 'poll',
        backchannelClientNotificationEndpoint: 'https://rp.example/ciba',
        resources: [api],
        ...changes,
      });

    before(async () => {
      server = await startTestServer(database);
      tenant = await rootTenant(server.gatehouse.services);
      const settings = JSON.stringify({
        login_methods: ['email_pin'],
        rate_limits: { approvals_pending_per_user: roomyRate, approvals_per_user: roomyRate },
      });
      await server.gatehouse.services.cache.write(tenant.id, (queries) =>
        queries.updateTable('tenants').set({ settings }).where('tenant_id', '=', tenant.id).execute(),
      );
      tenant = await rootTenant(server.gatehouse.services);
      client = await makeClient();
    });
    after(() => server.close());

    const post = (endpoint: string, form: Readonly<Record<string, string>>, caller: TestClient): Promise<Response> =>
      postForm(`${server.url}/v1/idp/oidc/${endpoint}`, form, basic(caller.clientId, caller.secret));
    /** A new user, so that each test decides its own request. */
    const start = async (form: Readonly<Record<string, string>> = {}, caller = client): Promise<string> => {
      user = await createUser(server.gatehouse.services, tenant);
      const response = await post('bc-authorize', { scope: 'openid', login_hint: user.email, ...form }, caller);
      const body = (await response.json()) as { auth_req_id: string };
      assert.equal(response.status, 200, JSON.stringify(body));
      return body.auth_req_id;
    };
    const poll = (authReqId: string, caller = client, form: Readonly<Record<string, string>> = {}): Promise<Response> =>
      post('token', { grant_type: cibaGrantType, auth_req_id: authReqId, ...form }, caller);
    const seconds = (count: number): Promise<void> => server.clock.advance(count * 1000);
    const tokens = async (response: Response): Promise<Record<string, string>> => {
      const text = await response.text();
      assert.equal(response.status, 200, text);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      return JSON.parse(text);
    };

    it('7.10 ciba.authorization_pending, then tokens once approved, then ciba.auth_req_id_invalid', async () => {
      const id = await start({ scope: 'openid email offline_access' });
      await assertRefusal(await poll(id), 'ciba.authorization_pending');
      await decide(server, tenant, user, 'approve');
      const body = await tokens(await poll(id));
      assert.deepEqual(Object.keys(body), ['access_token', 'token_type', 'expires_in', 'refresh_token', 'id_token', 'scope']);
      assert.equal(body['scope'], 'openid email offline_access');
      const jwks = createRemoteJWKSet(new URL(`${server.url}/v1/idp/oidc/jwks`));
      const expected = { issuer: tenant.baseUrl, audience: client.clientId, currentDate: new Date(server.clock.nowMs()) };
      const { payload } = await jwtVerify(body['id_token']!, jwks, expected);
      assert.equal(payload.sub, user.id);
      assert.equal(payload['acr'], 'phone');
      assert.deepEqual(payload['amr'], ['hwk', 'user']);
      assert.equal(await assertRefusal(await poll(id), 'ciba.auth_req_id_invalid'), '{"error":"invalid_grant"}');
      const refreshed = await tokens(await post('token', { grant_type: 'refresh_token', refresh_token: body['refresh_token']! }, client));
      assert.ok(refreshed['id_token']);
    });
    it('no refresh token without offline_access; a resource becomes the audience', async () => {
      const id = await start({ resource: api });
      await decide(server, tenant, user, 'approve');
      const body = await tokens(await poll(id));
      assert.equal(body['refresh_token'], undefined);
      const claims = JSON.parse(Buffer.from(body['access_token']!.split('.')[1]!, 'base64url').toString());
      assert.equal(claims.aud, api);
    });
    it('7.10 ciba.slow_down: sooner than the interval, and the interval grows by 5 s each time', async () => {
      const id = await start();
      await assertRefusal(await poll(id), 'ciba.authorization_pending'); // the first is free
      await seconds(2);
      await assertRefusal(await poll(id), 'ciba.slow_down', slowDown); // interval now 10
      await seconds(7);
      await assertRefusal(await poll(id), 'ciba.slow_down', slowDown); // interval now 15
      await seconds(12);
      await assertRefusal(await poll(id), 'ciba.slow_down', slowDown); // interval now 20
      await seconds(21);
      await assertRefusal(await poll(id), 'ciba.authorization_pending');
      await seconds(21);
      await assertRefusal(await poll(id), 'ciba.authorization_pending');
    });
    it('7.10 ciba.slow_down: the interval is kept for this request alone and no longer counts once decided', async () => {
      const id = await start();
      await assertRefusal(await poll(id), 'ciba.authorization_pending');
      await assertRefusal(await poll(id), 'ciba.slow_down', slowDown);
      const decided = user;
      await assertRefusal(await poll(await start()), 'ciba.authorization_pending');
      await decide(server, tenant, decided, 'approve');
      await tokens(await poll(id));
    });
    it('7.10 ciba.slow_down: of parallel polls one is free', async () => {
      const id = await start();
      const codes = await Promise.all(Array.from({ length: 10 }, async () => ((await (await poll(id)).json()) as { error: string }).error));
      assert.deepEqual(codes.sort(), ['authorization_pending', ...Array.from({ length: 9 }, () => 'slow_down')]);
    });
    it('7.10 ciba.access_denied: the user denied, at every poll', async () => {
      const id = await start();
      await decide(server, tenant, user, 'deny');
      const text = 'The user denied the request.';
      await assertRefusal(await poll(id), 'ciba.access_denied', { text });
      await assertRefusal(await poll(id), 'ciba.access_denied', { text });
    });
    it('7.10 ciba.expired_token: pending or approved past its lifetime, still a day later', async () => {
      const text = 'auth_req_id has expired.';
      const pending = await start();
      const approved = await start();
      await decide(server, tenant, user, 'approve');
      await seconds(301);
      await assertRefusal(await poll(pending), 'ciba.expired_token', { text });
      await assertRefusal(await poll(approved), 'ciba.expired_token', { text });
      await seconds(86_000);
      await assertRefusal(await poll(pending), 'ciba.expired_token', { text });
    });
    it('requested_expiry is when it expires', async () => {
      const id = await start({ requested_expiry: '30' });
      await seconds(31);
      await assertRefusal(await poll(id), 'ciba.expired_token', { text: 'auth_req_id has expired.' });
    });
    it('7.10 ciba.push_must_not_poll: whatever it presents', async () => {
      const push = await makeClient({ backchannelTokenDeliveryMode: 'push' });
      const id = await start({ client_notification_token: 'token' }, push);
      const text = 'The tokens are pushed to this client.';
      await assertRefusal(await poll(id, push), 'ciba.push_must_not_poll', { text });
      await assertRefusal(await poll('unknown', push), 'ciba.push_must_not_poll', { text });
    });
    it('a ping client may poll', async () => {
      const ping = await makeClient({ backchannelTokenDeliveryMode: 'ping' });
      const id = await start({ client_notification_token: 'token' }, ping);
      await assertRefusal(await poll(id, ping), 'ciba.authorization_pending');
      await decide(server, tenant, user, 'approve');
      await tokens(await poll(id, ping));
    });
    it('7.10 ciba.auth_req_id_invalid: missing, empty, unknown, malformed, of another client, user suspended, gate closed', async () => {
      const { services } = server.gatehouse;
      const answers = new Set<string>();
      const refused = async (response: Response): Promise<void> => {
        answers.add(await assertRefusal(response, 'ciba.auth_req_id_invalid'));
      };
      await refused(await post('token', { grant_type: cibaGrantType }, client));
      for (const id of ['', 'unknown', 'é', 'a'.repeat(5000)]) await refused(await poll(id));
      const id = await start();
      await decide(server, tenant, user, 'approve');
      const other = await makeClient();
      await refused(await poll(id, other));
      const set = (state: string): Promise<unknown> =>
        services.database.write(tenant.id, (queries) => queries.updateTable('users').set({ state }).where('id', '=', user.id).execute());
      await set('suspended');
      await refused(await poll(id));
      await set('active');
      const policy = (access_policy: string): Promise<unknown> =>
        services.cache.write(tenant.id, (queries) =>
          queries.updateTable('clients').set({ access_policy }).where('client_id', '=', client.clientId).execute(),
        );
      await policy('assigned');
      await refused(await poll(id));
      await policy('everyone');
      await tokens(await poll(id));
      assert.deepEqual([...answers], ['{"error":"invalid_grant"}']);
    });
    it('7.2 token.unauthorized_client: a client without the grant', async () => {
      const without = await makeClient({ grantTypes: ['refresh_token'] });
      await assertRefusal(await poll('x', without), 'token.unauthorized_client', { text: 'This client may not use this grant.' });
    });
    it('7.2 token.invalid_scope, token.invalid_target: narrower only, and refusing burns nothing', async () => {
      const id = await start({ scope: 'openid email' });
      await decide(server, tenant, user, 'approve');
      await assertRefusal(await poll(id, client, { scope: 'openid profile' }), 'token.invalid_scope', { text: 'A scope was not granted.' });
      const text = 'The requested audience is not available to this client.';
      await assertRefusal(await poll(id, client, { resource: api }), 'token.invalid_target', { text });
      assert.equal((await tokens(await poll(id, client, { scope: 'openid' })))['scope'], 'openid');
    });
    it('500 parallel polls of one approved request: tokens once', async () => {
      const id = await start();
      await decide(server, tenant, user, 'approve');
      const statuses = await Promise.all(
        Array.from({ length: 500 }, async () => {
          const response = await poll(id);
          const { error } = (await response.json()) as { error?: string };
          return error ?? 'tokens';
        }),
      );
      assert.equal(statuses.filter((status) => status === 'tokens').length, 1);
      assert.deepEqual([...new Set(statuses)].sort(), ['invalid_grant', 'tokens']);
    });
  });
}
