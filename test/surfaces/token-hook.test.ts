// Design 16, 3: the hook before tokens are issued. What it is sent, what it may add, what a client hears when it denies or fails, and
// that a failing one burns nothing. On both databases.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { cibaGrantType, decide, reachesLoopback, runDeliveries, startReceiver } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { claims, deny, type HookReceiver, type HookReply, silent, startHookReceiver, verifyHookCall } from '../support/hook-receiver.ts';
import type { Json, Managed } from '../support/management.ts';
import { decodeJwt, exchange, issueCode, postAs, refresh, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const denied = { text: 'The user denied the request.' };

for (const database of databases) {
  describe(`the hook before tokens (${database})`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let managed: Managed;
    let receiver: HookReceiver;
    let client: TestClient;
    let machine: TestClient;
    let ciba: TestClient;
    let ada: TestUser;
    let hook: Json;
    before(async () => {
      server = await startTestServer(database, { flags: { ...reachesLoopback, trusted_proxies: '127.0.0.1' } });
      managed = await manageRootTenant(server);
      const rate_limits = { approvals_pending_per_user: roomyRate, approvals_per_user: roomyRate, ciba_starts_per_client: roomyRate };
      await managed.make('PATCH', '/settings', { login_methods: ['email_pin'], rate_limits });
      tenant = await rootTenant(server.gatehouse.services);
      receiver = await startHookReceiver();
      const { services } = server.gatehouse;
      ada = await createUser(services, tenant, 'ada@example.com');
      client = await createClient(services, tenant);
      machine = await createClient(services, tenant, { grantTypes: ['client_credentials'], scopes: ['users:read'], redirectUris: [] });
      ciba = await createClient(services, tenant, { grantTypes: [cibaGrantType, 'refresh_token'], backchannelTokenDeliveryMode: 'poll' });
      await managed
        .make('POST', '/groups', { display_name: 'Engineers' })
        .then((group) => managed.make('POST', `/groups/${group['id']}/members`, { user_id: ada.id }));
    });
    after(async () => {
      await server.close();
      await receiver.close();
    });
    beforeEach(async () => {
      for (const { id } of (await managed.make<{ items: readonly Json[] }>('GET', '/hooks')).items)
        await managed.make('DELETE', `/hooks/${id}`);
      hook = await managed.make('POST', '/hooks', { point: 'token', url: receiver.url, on_failure: 'refuse', deadline_ms: 3000 });
      receiver.calls.length = 0;
      receiver.reply = () => silent;
      address += 1;
      await server.clock.advance(1000);
    });

    /** Refusals are stored whole for a few of a kind and an address, and for a few of a tenant in a second. */
    let address = 0;
    const code = (scope = 'openid offline_access'): Promise<string> => issueCode(server, tenant, client, ada, { scope });
    const ask = (form: Json, caller: TestClient = client): Promise<Response> =>
      postAs(tenant, caller, 'token', form as Record<string, string>, { 'x-forwarded-for': `10.0.${address}.1` });
    const approvedRequest = async (): Promise<string> => {
      const started = await postAs(tenant, ciba, 'bc-authorize', { scope: 'openid', login_hint: ada.email });
      const { auth_req_id: id } = (await started.json()) as { auth_req_id: string };
      assert.ok(id);
      await decide(server, tenant, ada, 'approve');
      return id;
    };
    const poll = (id: string): Promise<Response> => ask({ grant_type: cibaGrantType, auth_req_id: id }, ciba);
    const explained = async (response: Response): Promise<readonly Json[]> => {
      const id = response.headers.get('x-request-id');
      return (await managed.make<{ items: readonly Json[] }>('GET', `/events/${id}`)).items;
    };

    it('gets the request signed as Standard Webhooks have it: client, person, grant, scopes, session', async () => {
      const response = await exchange(tenant, client, await code());
      const { access_token: token } = await tokensOf(response);
      assert.equal(receiver.calls.length, 1);
      const call = receiver.calls[0]!;
      verifyHookCall(String(hook['secret']), call);
      assert.throws(() => verifyHookCall(String(hook['secret']), { ...call, raw: call.raw.replace('ada@', 'eve@') }));
      assert.match(String(call.headers['webhook-id']), /^msg_[0-9a-f-]{36}$/);
      const { claims: own } = decodeJwt(token);
      assert.equal(call.body.type, 'hook.token');
      assert.equal(call.body.timestamp.slice(0, 19), new Date(Number(call.headers['webhook-timestamp']) * 1000).toISOString().slice(0, 19));
      assert.deepEqual(call.body.data, {
        request_id: response.headers.get('x-request-id'),
        client: { client_id: client.clientId, name: client.name },
        user: {
          id: ada.id,
          user_name: ada.email,
          name: { given_name: 'Ada', family_name: 'Lovelace' },
          emails: [{ value: ada.email, type: 'work', primary: true }],
          groups: ['Engineers'],
          custom: {},
        },
        grant_type: 'authorization_code',
        scopes: ['openid', 'offline_access'],
        audience: null,
        session: { id: own['sid'], acr: null, amr: ['otp'], auth_time: own['auth_time'] },
      });
    });

    it('client_credentials are asked about without a person; the console is not asked about', async () => {
      await tokensOf(await ask({ grant_type: 'client_credentials' }, machine));
      const { data } = receiver.calls[0]!.body;
      assert.deepEqual(
        [data['user'], data['session'], data['grant_type'], data['scopes']],
        [null, null, 'client_credentials', ['users:read']],
      );
    });

    it('adds claims to either token, at each of code, refresh and CIBA', async () => {
      receiver.reply = () => claims({ id_token: { tier: 'gold' }, access_token: { limits: { day: 5 }, tier: [1, null, true] } });
      const shown = async (response: Response): Promise<string | undefined> => {
        const tokens = await tokensOf(response);
        const access = decodeJwt(tokens.access_token).claims;
        assert.deepEqual([access['limits'], access['tier']], [{ day: 5 }, [1, null, true]]);
        assert.equal(access['token_use'], 'access');
        if (tokens.id_token !== undefined) assert.equal(decodeJwt(tokens.id_token).claims['tier'], 'gold');
        return tokens.refresh_token;
      };
      const token = await shown(await exchange(tenant, client, await code()));
      await shown(await refresh(tenant, client, token));
      await shown(await poll(await approvedRequest()));
      await shown(await ask({ grant_type: 'client_credentials' }, machine));
    });

    it('adds, and takes nothing over: what a request asked for in the ID token stays', async () => {
      receiver.reply = () => claims({ id_token: { given_name: 'Eve' } });
      const { id_token: token } = await tokensOf(await exchange(tenant, client, await code()));
      assert.equal(decodeJwt(token ?? '').claims['given_name'], 'Eve');
    });

    const widening: readonly (readonly [string, unknown])[] = [
      ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'client_id', 'scope', 'azp', 'nonce', 'auth_time', 'acr', 'amr', 'sid'].map(
        (name) => [name, 'x'] as const,
      ),
      ['cnf', { jkt: 'x' }],
      ['act', { sub: 'x' }],
      ['token_use', 'access'],
      ['authorization_details', []],
      ['urn:openid:params:jwt:claim:auth_req_id', 'x'],
    ];
    it('an answer that would widen is a failure: whatever protocol claim it names, in whichever token', async () => {
      let raw: string | undefined;
      for (const [name, value] of widening)
        for (const which of ['id_token', 'access_token']) {
          // Its failures must not be in a row, or the breaker spares it.
          receiver.reply = () => silent;
          await tokensOf(await ask({ grant_type: 'client_credentials' }, machine));
          receiver.reply = () => claims({ [which]: { [name]: value } });
          const response = await ask({ grant_type: 'client_credentials' }, machine);
          const answer = await assertRefusal(response, 'oauth.unavailable');
          raw ??= answer;
          assert.equal(answer, raw, name);
        }
      address += 1;
      await server.clock.advance(1000);
      receiver.reply = () => claims({ access_token: { scope: 'users:write' } });
      const [item] = await explained(await ask({ grant_type: 'client_credentials' }, machine));
      assert.deepEqual([item!['reason'], item!['received'], item!['expected']], ['hook_failed', 'protocol_claim', `hook:${hook['id']}`]);
    });

    const wrong: readonly (readonly [string, HookReply])[] = [
      ['status_500', { status: 500 }],
      ['status_302', { status: 302, headers: { location: 'https://elsewhere.example/' } }],
      ['status_201', { status: 201, json: {} }],
      ['not_json', { status: 200, text: 'no' }],
      ['not_json', { status: 200, text: '[]' }],
      ['answer_malformed', { status: 200, json: {} }],
      ['answer_malformed', { status: 200, json: { claims: {}, deny: { reason: 'x' } } }],
      ['answer_malformed', { status: 200, json: { claims: { refresh_token: {} } } }],
      ['answer_malformed', { status: 200, json: { claims: { id_token: [] } } }],
      ['answer_malformed', { status: 200, json: { scope: 'x' } }],
      ['answer_malformed', { status: 200, json: { deny: 'no' } }],
      ['answer_malformed', { status: 200, json: { deny: { reason: 'x', code: 'invalid_scope' } } }],
      ['too_large', { status: 200, text: ' '.repeat(16 * 1024 + 1) }],
      ['network', 'drop'],
    ];
    for (const [reason, reply] of wrong)
      it(`${reason}: 503 with Retry-After under refuse, tokens and a record under continue: ${JSON.stringify(reply).slice(0, 70)}`, async () => {
        receiver.reply = () => reply;
        const refused = await ask({ grant_type: 'client_credentials' }, machine);
        await assertRefusal(refused, 'oauth.unavailable');
        assert.equal((await explained(refused))[0]!['received'], reason);
        await managed.make('PATCH', `/hooks/${hook['id']}`, { on_failure: 'continue' });
        const passed = await ask({ grant_type: 'client_credentials' }, machine);
        await tokensOf(passed);
        const [record] = await explained(passed);
        assert.deepEqual([record!['type'], record!['reason'], record!['target']], ['hook.failed', reason, `client:${machine.clientId}`]);
      });

    it('an answer after the deadline is none', async () => {
      await managed.make('PATCH', `/hooks/${hook['id']}`, { deadline_ms: 100 });
      receiver.reply = () => 'hang';
      const refused = await ask({ grant_type: 'client_credentials' }, machine);
      await assertRefusal(refused, 'oauth.unavailable');
      assert.equal((await explained(refused))[0]!['received'], 'timeout');
    });

    it('a failure burns nothing: code, refresh token and CIBA request work afterwards', async () => {
      receiver.reply = () => ({ status: 500 });
      const given = await code();
      const raw = await assertRefusal(await exchange(tenant, client, given), 'oauth.unavailable');
      receiver.reply = () => silent;
      const { refresh_token: token } = await tokensOf(await exchange(tenant, client, given));
      receiver.reply = () => ({ status: 500 });
      assert.equal(await assertRefusal(await refresh(tenant, client, token), 'oauth.unavailable'), raw);
      receiver.reply = () => silent;
      await tokensOf(await refresh(tenant, client, token));
      const id = await approvedRequest();
      receiver.reply = () => ({ status: 500 });
      assert.equal(await assertRefusal(await poll(id), 'oauth.unavailable'), raw);
      receiver.reply = () => silent;
      await tokensOf(await poll(id));
    });

    it('a denial is the row of its grant, byte for byte, and its reason is for explain alone', async () => {
      receiver.reply = () => deny('too risky: score 97');
      const first = await exchange(tenant, client, await code());
      const raw = await assertRefusal(first, 'token.code_invalid');
      assert.equal(raw, await assertRefusal(await exchange(tenant, client, 'unknown'), 'token.code_invalid'));
      const [item] = await explained(first);
      assert.deepEqual(
        [item!['reason'], item!['received'], item!['expected']],
        ['hook_denied', 'too risky: score 97', `hook:${hook['id']}`],
      );
      assert.equal(
        await assertRefusal(await ask({ grant_type: 'client_credentials' }, machine), 'token.unauthorized_client', {
          text: 'This client may not use this grant.',
        }),
        await assertRefusal(await ask({ grant_type: 'client_credentials' }, client), 'token.unauthorized_client', {
          text: 'This client may not use this grant.',
        }),
      );
      const id = await approvedRequest();
      const polled = await assertRefusal(await poll(id), 'ciba.access_denied', denied);
      const started = await postAs(tenant, ciba, 'bc-authorize', { scope: 'openid', login_hint: ada.email });
      const { auth_req_id: other } = (await started.json()) as { auth_req_id: string };
      await decide(server, tenant, ada, 'deny');
      assert.equal(polled, await assertRefusal(await poll(other), 'ciba.access_denied', denied));
    });

    it('a denied refresh is refresh_invalid and ends nothing: the token works when the hook lets it', async () => {
      const { refresh_token: token } = await tokensOf(await exchange(tenant, client, await code()));
      receiver.reply = () => deny('not now');
      const raw = await assertRefusal(await refresh(tenant, client, token), 'token.refresh_invalid');
      assert.equal(raw, await assertRefusal(await refresh(tenant, client, 'unknown'), 'token.refresh_invalid'));
      receiver.reply = () => silent;
      await tokensOf(await refresh(tenant, client, token));
    });

    it('is asked after the scope checks, and not about what was refused before', async () => {
      const { refresh_token: token } = await tokensOf(await exchange(tenant, client, await code()));
      receiver.calls.length = 0;
      await assertRefusal(await refresh(tenant, client, token, { scope: 'openid email' }), 'token.invalid_scope', {
        text: 'A scope was not granted.',
      });
      await assertRefusal(await exchange(tenant, client, 'unknown'), 'token.code_invalid');
      assert.equal(receiver.calls.length, 0);
    });

    it('`clients` names whom it is asked about, and a disabled hook is asked about nobody', async () => {
      await managed.make('PATCH', `/hooks/${hook['id']}`, { clients: [client.clientId] });
      await tokensOf(await ask({ grant_type: 'client_credentials' }, machine));
      assert.equal(receiver.calls.length, 0);
      await tokensOf(await exchange(tenant, client, await code()));
      assert.equal(receiver.calls.length, 1);
      await managed.make('PATCH', `/hooks/${hook['id']}`, { clients: [], enabled: false });
      await tokensOf(await exchange(tenant, client, await code()));
      assert.equal(receiver.calls.length, 1);
    });

    it('ten failures in a row spare it for ten seconds; then one call decides', async () => {
      receiver.reply = () => ({ status: 500 });
      for (let failures = 0; failures < 10; failures += 1)
        await assertRefusal(await ask({ grant_type: 'client_credentials' }, machine), 'oauth.unavailable');
      assert.equal(receiver.calls.length, 10);
      receiver.reply = () => silent;
      const spared = await ask({ grant_type: 'client_credentials' }, machine);
      await assertRefusal(spared, 'oauth.unavailable');
      assert.ok(Number(spared.headers.get('retry-after')) > 1);
      assert.equal(receiver.calls.length, 10);
      assert.equal((await explained(spared))[0]!['received'], 'breaker_open');
      await server.clock.advance(10_000);
      receiver.reply = () => ({ status: 500 });
      await assertRefusal(await ask({ grant_type: 'client_credentials' }, machine), 'oauth.unavailable');
      await assertRefusal(await ask({ grant_type: 'client_credentials' }, machine), 'oauth.unavailable');
      assert.equal(receiver.calls.length, 11);
      await server.clock.advance(10_000);
      receiver.reply = () => silent;
      await tokensOf(await ask({ grant_type: 'client_credentials' }, machine));
      await tokensOf(await ask({ grant_type: 'client_credentials' }, machine));
      assert.equal(receiver.calls.length, 13);
    });

    it('a CIBA push asks too: denied is told as access_denied, a failure is tried again', async () => {
      const notified = await startReceiver();
      const push = await createClient(server.gatehouse.services, tenant, {
        grantTypes: [cibaGrantType],
        backchannelTokenDeliveryMode: 'push',
        backchannelClientNotificationEndpoint: notified.url,
      });
      const start = async (): Promise<string> => {
        const form = { scope: 'openid', login_hint: ada.email, client_notification_token: 'notification-token-0123456789' };
        const { auth_req_id: id } = (await (await postAs(tenant, push, 'bc-authorize', form)).json()) as { auth_req_id: string };
        await decide(server, tenant, ada, 'approve');
        await runDeliveries(server);
        return id;
      };
      receiver.reply = () => deny('no');
      const id = await start();
      assert.deepEqual(
        notified.received.map(({ body }) => JSON.parse(body)),
        [{ auth_req_id: id, error: 'access_denied' }],
      );
      receiver.reply = () => ({ status: 500 });
      await start();
      assert.equal(notified.received.length, 1);
      receiver.reply = () => claims({ access_token: { tier: 'gold' } });
      await server.clock.advance(60_000);
      await runDeliveries(server);
      assert.equal(notified.received.length, 2);
      const { access_token: token } = JSON.parse(notified.received[1]!.body) as { access_token: string };
      assert.equal(decodeJwt(token).claims['tier'], 'gold');
      await notified.close();
    });
  });
}
