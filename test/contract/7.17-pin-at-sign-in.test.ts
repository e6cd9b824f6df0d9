// Contract 7.17, the PIN rows at the sign-in pages: each trigger over HTTP, whole answers, on both databases.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { changeSettings } from '../support/enrolled-phone.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { beginLogin, type TestLogin } from '../support/login.ts';
import { mailsTo, otherPin, pinOf } from '../support/mailbox.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const roomy = {
  login_methods: ['email_pin'],
  login_lifetime_seconds: 86_400 * 3,
  rate_limits: { pin_attempts_per_ip: roomyRate, login_starts_per_ip: roomyRate },
};

for (const database of databases) {
  describe(`contract 7.17 at sign-in on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database);
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant);
    });
    after(() => server.close());
    beforeEach(async () => {
      await changeSettings(server, roomy);
      tenant = await rootTenant(server.gatehouse.services);
      user = await createUser(server.gatehouse.services, tenant);
    });

    /** A sign-in whose PIN is mailed: with one method, identifying is enough. */
    const withPin = async (identifier = user.email): Promise<TestLogin> => {
      const login = await beginLogin(server, tenant, client);
      const response = await login.post('identify', { identifier });
      assert.deepEqual(await response.json(), { state: 'pin' });
      return login;
    };
    const answer = async (login: TestLogin, pin: string): Promise<number> => (await login.post('pin', { pin })).status;

    it('7.17 pin.invalid counts down, the last one is pin.locked, and the right PIN stays locked', async () => {
      const login = await withPin();
      const pin = await pinOf(server, user.email);
      for (const left of [4, 3, 2, 1])
        await assertRefusal(await login.post('pin', { pin: otherPin(pin) }), 'pin.invalid', { fields: { attempts_left: left } });
      await assertRefusal(await login.post('pin', { pin: otherPin(pin) }), 'pin.locked');
      await assertRefusal(await login.post('pin', { pin }), 'pin.locked');
      assert.deepEqual(await (await login.get('/status')).json(), { state: 'pin' });
    });

    it('7.17 the right PIN at the last attempt is right', async () => {
      const login = await withPin();
      const pin = await pinOf(server, user.email);
      for (let wrong = 0; wrong < 4; wrong += 1) await login.post('pin', { pin: otherPin(pin) });
      assert.deepEqual(await (await login.post('pin', { pin })).json(), { state: 'approved' });
    });

    it('7.17 pin.expired: none asked for, its lifetime over, used, replaced by a new one, another sign-in’s', async () => {
      const fresh = await beginLogin(server, tenant, client);
      await assertRefusal(await fresh.post('pin', { pin: '123456' }), 'pin.expired');
      const login = await withPin();
      const first = await pinOf(server, user.email);
      await server.clock.advance(60_000);
      assert.deepEqual(await (await login.post('pin/resend')).json(), { state: 'pin' });
      const second = await pinOf(server, user.email);
      if (first !== second) await assertRefusal(await login.post('pin', { pin: first }), 'pin.invalid', { fields: { attempts_left: 4 } });
      await server.clock.advance(600_000);
      await assertRefusal(await login.post('pin', { pin: second }), 'pin.expired');
      const other = await withPin();
      const third = await pinOf(server, user.email);
      await assertRefusal(await login.post('pin', { pin: third }), 'pin.expired');
      assert.equal(await answer(other, third), 200);
      await assertRefusal(await other.post('pin', { pin: third }), 'pin.expired');
    });

    it('7.17 pin.expired before pin.locked: a locked PIN past its lifetime', async () => {
      const login = await withPin();
      for (let wrong = 0; wrong < 6; wrong += 1) await login.post('pin', { pin: otherPin(await pinOf(server, user.email)) });
      await server.clock.advance(600_000);
      await assertRefusal(await login.post('pin', { pin: '123456' }), 'pin.expired');
    });

    it('7.17 a new PIN has its own attempts', async () => {
      const login = await withPin();
      for (let wrong = 0; wrong < 5; wrong += 1) await login.post('pin', { pin: otherPin(await pinOf(server, user.email)) });
      await server.clock.advance(60_000);
      await login.post('pin/resend');
      assert.equal(await answer(login, await pinOf(server, user.email)), 200);
    });

    it('7.17 pin.cooldown_active: at a resend and at another sign-in of the same mailbox, until the minute is over', async () => {
      const login = await withPin();
      const refused = await login.post('pin/resend');
      const wait = Number(refused.headers.get('retry-after'));
      assert.ok(wait >= 58 && wait <= 60, String(wait));
      await assertRefusal(refused, 'pin.cooldown_active');
      const other = await beginLogin(server, tenant, client);
      await assertRefusal(await other.post('identify', { identifier: user.email }), 'pin.cooldown_active');
      assert.deepEqual(await (await other.get('/status')).json(), { state: 'choose' });
      await assertRefusal(await other.post('method', { method: 'email_pin' }), 'pin.cooldown_active');
      assert.equal((await mailsTo(server, user.email)).length, 1);
      await server.clock.advance(60_000);
      assert.deepEqual(await (await other.post('method', { method: 'email_pin' })).json(), { state: 'pin' });
      assert.equal((await mailsTo(server, user.email)).length, 2);
    });

    it('7.17 pin.cooldown_active: more than five sends an hour, the first mail among them', async () => {
      const login = await withPin();
      for (let sends = 1; sends < 5; sends += 1) {
        await server.clock.advance(60_000);
        assert.equal((await login.post('pin/resend')).status, 200);
      }
      await server.clock.advance(60_000);
      const refused = await login.post('pin/resend');
      assert.ok(Number(refused.headers.get('retry-after')) > 3000);
      await assertRefusal(refused, 'pin.cooldown_active');
      await server.clock.advance(3_300_000);
      assert.equal((await login.post('pin/resend')).status, 200);
      assert.equal((await mailsTo(server, user.email)).length, 6);
    });

    it('7.17 pin.locked: the day’s wrong PINs are spent over all sign-ins, the right PIN included; a day later it works', async () => {
      await changeSettings(server, { ...roomy, pin: { failures_per_day_max: 7 } });
      const first = await withPin();
      for (let wrong = 0; wrong < 5; wrong += 1) await first.post('pin', { pin: otherPin(await pinOf(server, user.email)) });
      await server.clock.advance(60_000);
      const second = await withPin();
      const pin = await pinOf(server, user.email);
      await assertRefusal(await second.post('pin', { pin: otherPin(pin) }), 'pin.invalid', { fields: { attempts_left: 1 } });
      await assertRefusal(await second.post('pin', { pin: otherPin(pin) }), 'pin.locked');
      await assertRefusal(await second.post('pin', { pin }), 'pin.locked');
      await server.clock.advance(3_600_000);
      const third = await withPin();
      await assertRefusal(await third.post('pin', { pin: await pinOf(server, user.email) }), 'pin.locked');
      await server.clock.advance(86_400_000);
      const fourth = await withPin();
      assert.equal(await answer(fourth, await pinOf(server, user.email)), 200);
    });

    it('7.17 success refills the day’s wrong PINs', async () => {
      await changeSettings(server, { ...roomy, pin: { failures_per_day_max: 6 } });
      const first = await withPin();
      const pin = await pinOf(server, user.email);
      for (let wrong = 0; wrong < 4; wrong += 1) await first.post('pin', { pin: otherPin(pin) });
      assert.equal(await answer(first, pin), 200);
      await server.clock.advance(60_000);
      const second = await withPin();
      await assertRefusal(await second.post('pin', { pin: otherPin(await pinOf(server, user.email)) }), 'pin.invalid', {
        fields: { attempts_left: 4 },
      });
    });

    it('7.17 the PIN follows the settings of the tenant', async () => {
      await changeSettings(server, { ...roomy, pin: { length: 8, attempts_max: 2, lifetime_seconds: 60 } });
      const login = await withPin();
      const pin = await pinOf(server, user.email);
      assert.match(pin, /^\d{8}$/);
      await assertRefusal(await login.post('pin', { pin: otherPin(pin) }), 'pin.invalid', { fields: { attempts_left: 1 } });
      await assertRefusal(await login.post('pin', { pin: otherPin(pin) }), 'pin.locked');
      await server.clock.advance(60_000);
      await assertRefusal(await login.post('pin', { pin }), 'pin.expired');
    });

    it('7.17 known, unknown, suspended and mailless people get the same bytes', async () => {
      const { services } = server.gatehouse;
      const suspended = await createUser(services, tenant);
      const mailless = await createUser(services, tenant, 'only-a-name');
      await services.database.write(tenant.id, async (queries) => {
        await queries.updateTable('users').set({ state: 'suspended' }).where('id', '=', suspended.id).execute();
        await queries.deleteFrom('user_emails').where('user_id', '=', mailless.id).execute();
      });
      const transcripts = new Map<string, string>();
      for (const identifier of [user.email, 'nobody@people.example', 'nobody', suspended.email, 'only-a-name']) {
        const login = await beginLogin(server, tenant, client);
        const lines: string[] = [];
        const say = async (response: Response): Promise<void> => {
          const kept = [...response.headers].filter(([name]) => !['x-request-id', 'date', 'keep-alive'].includes(name));
          lines.push(`${response.status} ${JSON.stringify(kept)} ${(await response.text()).replace(/"expires_at":"[^"]*"/, '')}`);
        };
        await say(await login.post('identify', { identifier }));
        await say(await login.get());
        await say(await login.post('pin/resend'));
        // A PIN nobody was sent: six characters that are no digits.
        for (let attempt = 0; attempt < 6; attempt += 1) await say(await login.post('pin', { pin: 'abcdef' }));
        await say(await login.post('finish'));
        await say(await login.post('cancel'));
        transcripts.set(identifier, lines.join('\n').replaceAll(/"retry-after","\d+"/g, ''));
      }
      assert.equal(new Set(transcripts.values()).size, 1, [...transcripts.values()].join('\n\n'));
      assert.equal((await mailsTo(server, user.email)).length, 1);
      assert.equal((await mailsTo(server, suspended.email)).length, 0);
      assert.equal((await mailsTo(server, 'nobody@people.example')).length, 0);
    });
  });
}
