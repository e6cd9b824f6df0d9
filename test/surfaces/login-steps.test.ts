// The sign-in over JSON (design 04): every state, every step, whole answers.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, rootTenant, type TestClient } from '../support/fixtures.ts';
import { approveByPin, beginLogin, loginAt, signInByPin } from '../support/login.ts';
import { mailsTo, pinOf } from '../support/mailbox.ts';
import { decodeJwt, exchange, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`Sign-in over JSON on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database);
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant, { name: 'Acme <Portal>', logoUri: 'https://rp.example/logo.png' });
    });
    after(() => server.close());

    it('GET in state identify', async () => {
      const login = await beginLogin(server, tenant, client);
      const response = await login.get();
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      const body = (await response.json()) as Record<string, unknown>;
      assert.match(String(body['expires_at']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.deepEqual(
        { ...body, expires_at: '' },
        {
          state: 'identify',
          client: { name: 'Acme <Portal>', logo_uri: 'https://rp.example/logo.png' },
          methods: ['phone', 'passkey', 'email_pin'],
          expires_at: '',
        },
      );
    });

    it('identify, method, pin, finish: the code works once and carries the request', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await beginLogin(server, tenant, client);
      const answers: unknown[] = [];
      answers.push(await (await login.post('identify', { identifier: user.email.toUpperCase() })).json());
      answers.push(await (await login.post('method', { method: 'email_pin' })).json());
      answers.push(await (await login.get('/status')).json());
      answers.push(await (await login.post('pin', { pin: await pinOf(server, user.email) })).json());
      answers.push(await (await login.get('/status')).json());
      assert.deepEqual(answers, [
        { state: 'choose', methods: ['phone', 'passkey', 'email_pin'] },
        { state: 'pin' },
        { state: 'pin' },
        { state: 'approved' },
        { state: 'approved' },
      ]);
      const { redirect_to: location } = (await (await login.post('finish')).json()) as { redirect_to: string };
      const url = new URL(location);
      assert.equal(`${url.origin}${url.pathname}`, 'https://rp.example/callback');
      assert.deepEqual([...url.searchParams.keys()].sort(), ['code', 'iss', 'state']);
      assert.equal(url.searchParams.get('state'), 'state-1');
      assert.equal(url.searchParams.get('iss'), tenant.baseUrl);
      const tokens = await tokensOf(await exchange(tenant, client, url.searchParams.get('code') ?? ''));
      const { claims } = decodeJwt(tokens.id_token ?? '');
      assert.equal(claims['sub'], user.id);
      assert.equal(claims['nonce'], 'nonce-1');
      assert.deepEqual(claims['amr'], ['otp']);
      assert.equal(claims['acr'], 'otp');
      assert.ok(Math.abs(Number(claims['auth_time']) - server.clock.nowMs() / 1000) < 5);
      assert.deepEqual(await (await login.get('/status')).json(), { state: 'finished' });
    });

    it('method phone: an approval for the devices, its number, waiting', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await beginLogin(server, tenant, client);
      await login.post('identify', { identifier: user.email });
      const chosen = (await (await login.post('method', { method: 'phone' })).json()) as { state: string; number: string };
      assert.equal(chosen.state, 'waiting');
      assert.match(chosen.number, /^\d\d$/);
      const shown = (await (await login.get()).json()) as Record<string, unknown>;
      assert.equal(shown['state'], 'waiting');
      assert.equal(shown['number'], chosen.number);
    });

    it('a user name identifies as well; the PIN goes to the primary email', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      await server.gatehouse.services.database.write(tenant.id, (queries) =>
        queries.updateTable('users').set({ user_name: 'Ada.L', user_name_key: 'ada.l' }).where('id', '=', user.id).execute(),
      );
      const login = await beginLogin(server, tenant, client);
      await login.post('identify', { identifier: 'ADA.L' });
      await login.post('method', { method: 'email_pin' });
      assert.equal((await mailsTo(server, user.email)).length, 1);
    });

    it('cancel gives access_denied to the client, once', async () => {
      const login = await beginLogin(server, tenant, client);
      const { redirect_to: location } = (await (await login.post('cancel')).json()) as { redirect_to: string };
      assert.equal(location, `https://rp.example/callback?error=access_denied&state=state-1&iss=${encodeURIComponent(tenant.baseUrl)}`);
      assert.deepEqual(await (await login.get('/status')).json(), { state: 'finished' });
      await assertRefusal(await login.post('cancel'), 'login.conflict');
    });

    it('a sign-in expires: state, steps, PIN, and cancel still tells the client', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await beginLogin(server, tenant, client);
      await login.post('identify', { identifier: user.email });
      await login.post('method', { method: 'email_pin' });
      const pin = await pinOf(server, user.email);
      await server.clock.advance(301_000);
      assert.deepEqual(await (await login.get('/status')).json(), { state: 'expired' });
      await assertRefusal(await login.post('identify', { identifier: user.email }), 'login.conflict');
      await assertRefusal(await login.post('method', { method: 'phone' }), 'login.conflict');
      await assertRefusal(await login.post('pin', { pin }), 'pin.expired');
      await assertRefusal(await login.post('finish'), 'login.conflict');
      const { redirect_to: location } = (await (await login.post('cancel')).json()) as { redirect_to: string };
      assert.equal(new URL(location).searchParams.get('error'), 'access_denied');
    });

    it('restart gives an expired request a new sign-in, and only an expired one', async () => {
      const login = await beginLogin(server, tenant, client);
      await assertRefusal(await login.post('restart'), 'login.conflict');
      await server.clock.advance(301_000);
      const restarted = await login.submit('restart');
      assert.equal(restarted.status, 303);
      assert.notEqual(restarted.headers.get('location'), login.location);
      const again = loginAt(restarted.headers.get('location') ?? '', restarted.headers.get('set-cookie') ?? '');
      const user = await createUser(server.gatehouse.services, tenant);
      const url = await signInByPin(server, again, user.email);
      assert.equal(url.searchParams.get('state'), 'state-1');
    });

    it('login.conflict: steps out of order', async () => {
      const login = await beginLogin(server, tenant, client);
      await assertRefusal(await login.post('method', { method: 'email_pin' }), 'login.conflict');
      await assertRefusal(await login.post('pin/resend'), 'login.conflict');
      await assertRefusal(await login.post('finish'), 'login.conflict');
      const user = await createUser(server.gatehouse.services, tenant);
      await approveByPin(server, login, user.email);
      await assertRefusal(await login.post('identify', { identifier: user.email }), 'login.conflict');
      await assertRefusal(await login.post('method', { method: 'phone' }), 'login.conflict');
    });

    it('login.invalid_request names the field', async () => {
      const login = await beginLogin(server, tenant, client);
      const kind = (name: string) => ({ kind: name, text: new RegExp(`^${name}: expected `) });
      await assertRefusal(await login.post('identify'), 'login.invalid_request', kind('identifier'));
      await assertRefusal(await login.post('identify', { identifier: '  ' }), 'login.invalid_request', kind('identifier'));
      await assertRefusal(await login.post('identify', { identifier: 'x'.repeat(321) }), 'login.invalid_request', kind('identifier'));
      assert.equal((await login.post('identify', { identifier: 'x'.repeat(320) })).status, 200);
      await assertRefusal(await login.post('method'), 'login.invalid_request', kind('method'));
      await assertRefusal(await login.post('method', { method: 'password' }), 'login.invalid_request', kind('method'));
      await login.post('method', { method: 'email_pin' });
      await assertRefusal(await login.post('pin'), 'login.invalid_request', kind('pin'));
      await assertRefusal(await login.post('pin', { pin: '1'.repeat(65) }), 'login.invalid_request', kind('pin'));
      await assertRefusal(await login.post('pin', { pin: '1'.repeat(64) }), 'pin.invalid', { fields: { attempts_left: 4 } });
    });
  });
}
