// CIBA ping and push (CIBA Core 10.2, 10.3, 12): every byte a client receives, and what happens when it does not take it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import type { Client, SigningAlg } from '../../src/domain/client/client.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { cibaGrantType, decide, type Receiver, reachesLoopback, runDeliveries, startReceiver } from '../support/ciba.ts';
import { basic, postForm } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const token = 'notification-token.of~the-tests+1/2==';
type Push = { auth_req_id: string; access_token: string; token_type: string; refresh_token?: string; expires_in: number; id_token: string };

for (const database of databases) {
  describe(`CIBA notifications on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let receiver: Receiver;
    let ping: TestClient;
    let push: TestClient;
    let user: TestUser;

    const makeClient = (mode: 'ping' | 'push', changes: Partial<Client> = {}): Promise<TestClient> =>
      createClient(server.gatehouse.services, tenant, {
        grantTypes: [cibaGrantType, 'refresh_token'],
        backchannelTokenDeliveryMode: mode,
        backchannelClientNotificationEndpoint: receiver.url,
        ...changes,
      });

    before(async () => {
      server = await startTestServer(database, { flags: reachesLoopback });
      receiver = await startReceiver();
      tenant = await rootTenant(server.gatehouse.services);
      const rate_limits = { approvals_pending_per_user: roomyRate, approvals_per_user: roomyRate, ciba_starts_per_client: roomyRate };
      const settings = JSON.stringify({ login_methods: ['email_pin'], rate_limits });
      await server.gatehouse.services.cache.write(tenant.id, (queries) =>
        queries.updateTable('tenants').set({ settings }).where('tenant_id', '=', tenant.id).execute(),
      );
      tenant = await rootTenant(server.gatehouse.services);
      ping = await makeClient('ping');
      push = await makeClient('push');
    });
    after(async () => {
      await server.close();
      await receiver.close();
    });
    beforeEach(() => {
      receiver.received.length = 0;
      receiver.answers.length = 0;
    });

    const post = (endpoint: string, form: Readonly<Record<string, string>>, caller: TestClient): Promise<Response> =>
      postForm(`${server.url}/v1/idp/oidc/${endpoint}`, form, basic(caller.clientId, caller.secret));
    const start = async (caller: TestClient, form: Readonly<Record<string, string>> = {}): Promise<string> => {
      user = await createUser(server.gatehouse.services, tenant);
      const whole = { scope: 'openid', login_hint: user.email, client_notification_token: token, ...form };
      const body = (await (await post('bc-authorize', whole, caller)).json()) as { auth_req_id: string };
      assert.ok(body.auth_req_id, JSON.stringify(body));
      return body.auth_req_id;
    };
    const decideAndDeliver = async (verdict: 'approve' | 'deny'): Promise<void> => {
      await decide(server, tenant, user, verdict);
      await runDeliveries(server);
    };
    const seconds = async (count: number): Promise<void> => {
      await server.clock.advance(count * 1000);
      await runDeliveries(server);
    };
    /** The notifications so far, each checked for its method, path and headers. */
    const bodies = (): readonly string[] =>
      receiver.received.map(({ method, path, headers, body }) => {
        assert.equal(`${method} ${path}`, 'POST /notifications');
        assert.equal(headers.authorization, `Bearer ${token}`);
        assert.equal(headers['content-type'], 'application/json');
        assert.equal(headers['content-length'], String(Buffer.byteLength(body)));
        assert.equal(headers['transfer-encoding'], undefined);
        assert.equal(headers.cookie, undefined);
        return body;
      });
    const isActive = async (value: string, caller: TestClient): Promise<boolean> =>
      ((await (await post('introspect', { token: value }, caller)).json()) as { active: boolean }).active;
    const failuresOf = async (caller: TestClient): Promise<readonly (string | null)[]> => {
      const events = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries.selectFrom('audit_events').selectAll().where('type', '=', 'ciba.delivery_failed').orderBy('id').execute(),
      );
      return events.filter((event) => event.data?.includes(caller.clientId)).map((event) => event.reason);
    };
    const half = (alg: SigningAlg, value: string): string => {
      const digest = createHash(alg === 'EdDSA' ? 'sha512' : 'sha256')
        .update(value)
        .digest();
      return digest.subarray(0, digest.length / 2).toString('base64url');
    };
    const verify = async (idToken: string, client: TestClient): Promise<JWTPayload> => {
      const jwks = createRemoteJWKSet(new URL(`${server.url}/v1/idp/oidc/jwks`));
      const algorithms = [client.idTokenSignedResponseAlg];
      const expected = { issuer: tenant.baseUrl, audience: client.clientId, algorithms, currentDate: new Date(server.clock.nowMs()) };
      return (await jwtVerify(idToken, jwks, expected)).payload;
    };

    it('ping: auth_req_id and nothing else, once, when approved; then the client polls', async () => {
      const id = await start(ping);
      await runDeliveries(server);
      assert.deepEqual(bodies(), []);
      await decideAndDeliver('approve');
      assert.deepEqual(bodies(), [`{"auth_req_id":"${id}"}`]);
      await seconds(60);
      assert.equal(bodies().length, 1);
      const response = await post('token', { grant_type: cibaGrantType, auth_req_id: id }, ping);
      assert.equal(response.status, 200);
    });
    it('ping: also when denied', async () => {
      const id = await start(ping);
      await decideAndDeliver('deny');
      assert.deepEqual(bodies(), [`{"auth_req_id":"${id}"}`]);
    });

    for (const alg of ['RS256', 'ES256', 'EdDSA'] as const) {
      it(`push: tokens with at_hash, rt_hash and auth_req_id in an ID token by ${alg}`, async () => {
        const client = await makeClient('push', { idTokenSignedResponseAlg: alg });
        const id = await start(client, { scope: 'openid offline_access' });
        await decideAndDeliver('approve');
        const [body, ...others] = bodies();
        assert.deepEqual(others, []);
        const tokens = JSON.parse(body!) as Push;
        assert.deepEqual(Object.keys(tokens), ['auth_req_id', 'access_token', 'token_type', 'refresh_token', 'expires_in', 'id_token']);
        assert.deepEqual([tokens.auth_req_id, tokens.token_type, tokens.expires_in], [id, 'Bearer', 900]);
        const claims = await verify(tokens.id_token, client);
        assert.equal(claims.sub, user.id);
        assert.equal(claims['at_hash'], half(alg, tokens.access_token));
        assert.equal(claims['urn:openid:params:jwt:claim:rt_hash'], half(alg, tokens.refresh_token!));
        assert.equal(claims['urn:openid:params:jwt:claim:auth_req_id'], id);
        assert.deepEqual([claims['acr'], claims['amr'], claims['nonce']], ['phone', ['hwk', 'user'], undefined]);
        assert.equal(await isActive(tokens.access_token, client), true);
        const refreshed = await post('token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token! }, client);
        assert.equal(refreshed.status, 200);
      });
    }
    it('push without offline_access: no refresh token and no rt_hash', async () => {
      await start(push);
      await decideAndDeliver('approve');
      const tokens = JSON.parse(bodies()[0]!) as Push;
      assert.deepEqual(Object.keys(tokens), ['auth_req_id', 'access_token', 'token_type', 'expires_in', 'id_token']);
      assert.equal((await verify(tokens.id_token, push))['urn:openid:params:jwt:claim:rt_hash'], undefined);
    });
    it('push: access_denied, and nothing after it', async () => {
      const id = await start(push);
      await decideAndDeliver('deny');
      assert.deepEqual(bodies(), [`{"auth_req_id":"${id}","error":"access_denied"}`]);
      await seconds(400);
      assert.equal(bodies().length, 1);
    });
    it('push: expired_token within 5 s of the expiry, once', async () => {
      const id = await start(push, { requested_expiry: '30' });
      await seconds(29);
      assert.deepEqual(bodies(), []);
      await seconds(2);
      assert.deepEqual(bodies(), [`{"auth_req_id":"${id}","error":"expired_token"}`]);
      await seconds(60);
      assert.equal(bodies().length, 1);
    });
    it('push: transaction_failed when the user is suspended after approving', async () => {
      const id = await start(push);
      await server.gatehouse.services.database.write(tenant.id, (queries) =>
        queries.updateTable('users').set({ state: 'suspended' }).where('id', '=', user.id).execute(),
      );
      await decideAndDeliver('approve');
      assert.deepEqual(bodies(), [`{"auth_req_id":"${id}","error":"transaction_failed"}`]);
    });

    it('5xx, broken connections and silence: the same bytes again after 1, 2, 4 … s', async () => {
      await start(push, { scope: 'openid offline_access' });
      receiver.answers.push(500, 'drop', 503, 200);
      await decideAndDeliver('approve');
      assert.equal(bodies().length, 1);
      await runDeliveries(server);
      assert.equal(bodies().length, 1, 'not before a second has passed');
      for (const [wait, count] of [
        [1.1, 2],
        [1, 2],
        [1.1, 3],
        [2, 3],
        [2.1, 4],
        [60, 4],
      ] as const) {
        await seconds(wait);
        assert.equal(bodies().length, count, `after another ${wait} s`);
      }
      assert.equal(new Set(bodies()).size, 1);
      assert.equal(await isActive((JSON.parse(bodies()[0]!) as Push).access_token, push), true);
    });
    it('silence for 5 s is a failed attempt', async () => {
      await start(ping);
      receiver.answers.push('hang');
      await decideAndDeliver('approve');
      await seconds(1.1);
      assert.equal(bodies().length, 2);
    });
    for (const status of [400, 401, 404, 301, 302, 307]) {
      it(`push answered ${status}: given up at once, not followed, what was minted is revoked`, async () => {
        const client = await makeClient('push');
        await start(client, { scope: 'openid offline_access' });
        receiver.answers.push(status);
        await decideAndDeliver('approve');
        await seconds(30);
        const [body, ...others] = bodies();
        assert.deepEqual(others, []);
        const tokens = JSON.parse(body!) as Push;
        assert.equal(await isActive(tokens.access_token, client), false);
        assert.equal(await isActive(tokens.refresh_token!, client), false);
        assert.deepEqual(await failuresOf(client), [`status_${status}`]);
      });
    }
    it('push that fails until the request expires: given up, revoked, audited', async () => {
      const client = await makeClient('push');
      await start(client, { requested_expiry: '20' });
      receiver.answers.push(...Array.from({ length: 20 }, () => 500));
      await decideAndDeliver('approve');
      for (let second = 0; second < 25; second += 1) await seconds(1);
      assert.equal(bodies().length, 5); // at 0, 1, 3, 7 and 15 s
      assert.equal(await isActive((JSON.parse(bodies()[0]!) as Push).access_token, client), false);
      assert.deepEqual(await failuresOf(client), ['status_500']);
    });
    it('ping answered 404: given up and audited; the client may still poll', async () => {
      const client = await makeClient('ping');
      const id = await start(client);
      receiver.answers.push(404);
      await decideAndDeliver('approve');
      await seconds(30);
      assert.equal(bodies().length, 1);
      assert.deepEqual(await failuresOf(client), ['status_404']);
      assert.equal((await post('token', { grant_type: cibaGrantType, auth_req_id: id }, client)).status, 200);
    });
    it('an endpoint in a private network is never called', async () => {
      const client = await makeClient('push', { backchannelClientNotificationEndpoint: 'https://10.0.0.1/ciba' });
      await start(client);
      await decideAndDeliver('approve');
      assert.deepEqual(await failuresOf(client), ['refused_address']);
    });
    it('20 requests decided together: each told once; nothing secret stays behind', async () => {
      const asked: { readonly id: string; readonly user: TestUser }[] = [];
      for (let index = 0; index < 20; index += 1) asked.push({ id: await start(push), user });
      await Promise.all(asked.map((one) => decide(server, tenant, one.user, 'approve')));
      await Promise.all([runDeliveries(server), runDeliveries(server)]);
      assert.deepEqual(
        bodies()
          .map((body) => (JSON.parse(body) as Push).auth_req_id)
          .sort(),
        asked.map((one) => one.id).sort(),
      );
      const rows = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries.selectFrom('ciba_requests').select(['notification_encrypted', 'payload_encrypted', 'used_at']).execute(),
      );
      assert.ok(rows.length > 20);
      for (const row of rows) if (row.used_at !== null) assert.deepEqual([row.notification_encrypted, row.payload_encrypted], [null, null]);
    });
  });
}
