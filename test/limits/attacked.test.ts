// A person under attack: what strangers together may ask of her is spent. Administrators are told, and she lets one in all the same, by her
// phone or the account page; by a recovery code she is in without that.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { makeRecoveryCodes } from '../../src/approvals/recovery/recovery-codes.ts';
import {
  farTimesNear,
  nearFailuresPerHourMax,
  pinFailuresPerDayMax,
  recoveryCodesMade,
  signInOpenedSeconds,
  strangerFailuresInRowMax,
} from '../../src/contract/limits.ts';
import { defaultSettings } from '../../src/domain/tenant/settings.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, enrolledPhone, testDevice } from '../support/enrolled-phone.ts';
import { openApp } from '../support/first-party-app.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { pinOf } from '../support/mailbox.ts';
import { createPhone, type Phone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';
import { createStrangers, from, hourMs, minuteMs, ofAddresses, stranger } from '../support/strangers.ts';

describe('the odds of guessing a recovery code', () => {
  const aYear = 1e-4 / (recoveryCodesMade * 2 ** -50);
  const aSecond = aYear / (365 * 86_400);
  const blocks = aYear / (365 * defaultSettings.pin.failures_per_day_max);

  it('1 in 10,000 a year takes hundreds of guesses a second, from a million address blocks', () =>
    assert.ok(aSecond > 300 && blocks > 1_000_000, `${aSecond} ${blocks}`));
  it('are computed in the security model', () => {
    const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'security-model.md'), 'utf8');
    const told = `${Math.floor(aYear / 1e8) / 10} billion guesses, ${Math.floor(aSecond)} a second`;
    assert.ok(text.includes(told), told);
    assert.ok(text.includes(`${Math.floor(blocks / 1e4) / 100} million address blocks`), String(blocks));
  });
});

for (const database of databases)
  describe(`a person under attack on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database, { flags: { trusted_proxies: '127.0.0.1/32' } });
      await changeSettings(server, { login_methods: ['phone', 'email_pin'], rate_limits: ofAddresses });
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant);
    });
    after(() => server.close());
    beforeEach(async () => {
      user = await createUser(server.gatehouse.services, tenant);
    });

    const { post, begin, ask, mailed, signIn, herOwn, guess, guessAnHour, nameThem } = createStrangers(() => ({
      server,
      tenant,
      client,
      user,
    }));

    it('recovery codes: strangers who guess more than a hundred in a day leave her the way in', async () => {
      const { services } = server.gatehouse;
      const by = { actor: 'system', requestId: 'made', asked: undefined };
      const made = await makeRecoveryCodes(services, tenant, { userId: user.id, mayMake: async () => true }, by);
      assert.ok(made.ok);
      const ofDay = defaultSettings.pin.failures_per_day_max;
      for (let host = 1; host <= pinFailuresPerDayMax / ofDay + 1; host += 1)
        for (let count = 0; count < ofDay; count += 5) {
          const login = await begin(from(host));
          for (let attempt = 0; attempt < 5; attempt += 1)
            assert.notEqual((await post(login, from(host), 'recovery', { code: 'AAAAA-AAAAA' })).status, 200);
        }
      await assertRefusal(await post(await begin(stranger), stranger, 'recovery', { code: made.codes[0]! }), 'pin.locked');
      assert.equal((await post(await begin(from(50)), from(50), 'recovery', { code: made.codes[0]! })).status, 200);
    });

    let phone: Phone;
    beforeEach(async () => {
      phone = await enrolledPhone(server, { ...user, tenant: tenant.id });
    });
    const attacks = async (): Promise<readonly unknown[]> => {
      const managed = await manageRootTenant(server);
      return ((await managed.make('GET', `/events?type=sign_in.attacked&user=${user.id}`)) as { items: { data: unknown }[] }).items.map(
        ({ data }) => data,
      );
    };
    const far = farTimesNear * defaultSettings.pin.sends_per_hour_max;
    const spendCodes = async (): Promise<void> => {
      for (let host = 1; host <= far; host += 1) await mailed(from(host));
      await assertRefusal((await ask(from(100), 'email_pin')).answer, 'pin.cooldown_active');
    };
    const open = async (): Promise<number> => {
      const answer = await phone.post('/sign-in/open', {});
      assert.equal(answer.status, 200);
      return Date.parse(((await answer.json()) as { expires_at: string }).expires_at);
    };

    it('is recorded once an hour, with what was asked and from where, and shown to administrators for an hour', async () => {
      const shown = async () => (await (await manageRootTenant(server)).make('GET', `/users/${user.id}`))['attacked_at'];
      assert.equal(await shown(), undefined);
      await spendCodes();
      for (let time = 0; time < 3; time += 1) await ask(from(101), 'email_pin');
      assert.deepEqual(await attacks(), [{ asked: 'codes', from: from(100).address }]);
      assert.ok(Date.parse(String(await shown())) <= server.clock.nowMs());
      await server.clock.advance(hourMs + minuteMs);
      assert.equal(await shown(), undefined);
      await spendCodes();
      assert.equal((await attacks()).length, 2);
    });

    it('is recorded too where a stranger who types another of her names is told nothing: codes and pushes', async () => {
      await nameThem('babbage');
      await spendCodes();
      await server.clock.advance(minuteMs);
      const { database: store } = server.gatehouse.services;
      const forget = () =>
        store.write(tenant.id, (queries) => queries.deleteFrom('pin_mailboxes').where('mail_key', '=', `attacked:${user.id}`).execute());
      await forget(); // as though nothing had been recorded
      const login = await begin(from(90), 'babbage');
      assert.deepEqual(await (await post(login, from(90), 'method', { method: 'email_pin' })).json(), { state: 'pin' });
      const pushing = await begin(stranger);
      for (let host = 1; host <= farTimesNear; host += 1)
        for (let time = 0; time < 5; time += 1) assert.equal((await post(pushing, from(host), 'method', { method: 'phone' })).status, 200);
      await forget();
      const other = await begin(from(91), 'babbage');
      assert.equal((await post(other, from(91), 'method', { method: 'phone' })).status, 200);
      const told = (asked: string, host: number) => ({ asked, from: from(host).address });
      assert.deepEqual(await attacks(), [told('pushes', 91), told('codes', 90), told('codes', 100)]);
    });

    it('is recorded where a phone registers, and her phone lets another one in', async () => {
      const start = (host: number): Promise<Response> => {
        const fresh = createPhone(server.url, server.clock.nowMs);
        const body = { email: user.email, device: testDevice, keys: fresh.publicKeys() };
        return fresh.post('/registration/start', body, { headers: { 'x-forwarded-for': from(host).address } });
      };
      const near = defaultSettings.rate_limits.registration_starts_per_email.limit;
      for (let host = 1; host <= farTimesNear; host += 1)
        for (let time = 0; time < near; time += 1) assert.equal((await start(host)).status, 202);
      await assertRefusal(await start(100), 'management.rate_limited');
      assert.deepEqual(await attacks(), [{ asked: 'codes', from: from(100).address }]);
      await open();
      assert.equal((await start(100)).status, 202);
    });

    if (database === 'sqlite')
      it('a refusal costs the same statements for nobody: codes, pushes, and phones that register', async () => {
        const start = (host: number, email: string): Promise<Response> => {
          const fresh = createPhone(server.url, server.clock.nowMs);
          const body = { email, device: testDevice, keys: fresh.publicKeys() };
          return fresh.post('/registration/start', body, { headers: { 'x-forwarded-for': from(host).address } });
        };
        const byMethod = (method: string) => async (identifier: string) => {
          const login = await begin(from(1), identifier);
          return async (host: number) => post(login, from(host), 'method', { method });
        };
        const ways = {
          codes: byMethod('email_pin'),
          pushes: byMethod('phone'),
          phones: async (identifier: string) => (host: number) => start(host, identifier),
        };
        for (const [name, way] of Object.entries(ways)) {
          const run: (readonly string[])[] = [];
          for (const identifier of [user.email, `nobody-${name}@people.example`]) {
            const ask = await way(identifier);
            for (let count = 0; count < far; count += 1) await ask(Math.floor(count / 5) + 1);
            for (let host = 100; (await ask(host)).status !== 429; host += 1) assert.ok(host < 150, 'expected a refusal');
            const all = await statementsOf(async () => assert.equal((await ask(200)).status, 429));
            run.push(all.filter((text) => /pin_mailboxes|pin_failures|sign_in_openings|user_emails/.test(text)));
          }
          assert.ok(run[0]!.length > 1, name);
          assert.deepEqual(run[1], run[0], name);
          await server.clock.advance(hourMs + minuteMs);
        }
      });

    it('her phone lets her in somewhere new for ten minutes: codes', async () => {
      await spendCodes();
      const untilMs = await open();
      assert.ok(Math.abs(untilMs - server.clock.nowMs() - signInOpenedSeconds * 1000) < 20_000);
      await server.clock.advance((signInOpenedSeconds - 60) * 1000);
      await signIn(from(100));
      await server.clock.advance(minuteMs);
      await assertRefusal((await ask(from(102), 'email_pin')).answer, 'pin.cooldown_active');
    });

    it('the same: wrong codes of the day, and a hundred in a row', async () => {
      for (let host = 1; host <= strangerFailuresInRowMax / nearFailuresPerHourMax; host += 1) await guessAnHour(from(host));
      await assertRefusal((await ask(from(50), 'email_pin')).answer, 'pin.cooldown_active');
      await open();
      const login = await mailed(from(50));
      assert.match(await pinOf(server, user.email), /^\d{10}$/);
      assert.equal((await guess(login, from(50))).status, 401);
      assert.equal((await post(login, from(50), 'pin', { pin: await pinOf(server, user.email) })).status, 200);
    });

    it('the same: pushes, and after "not me" to strangers', async () => {
      const login = await begin(stranger);
      const push = async (host: number) => (await post(login, from(host), 'method', { method: 'phone' })).status;
      for (let host = 1; host <= farTimesNear; host += 1) for (let time = 0; time < 5; time += 1) assert.equal(await push(host), 200);
      assert.equal(await push(9), 429);
      const listed = async () => ((await (await phone.get('/approvals')).json()) as { items: { id: string }[] }).items;
      await open();
      for (let time = 0; time < 2; time += 1) {
        assert.equal((await ask(from(9), 'phone')).answer.status, 200);
        const items = await listed();
        assert.equal((await phone.post(`/approvals/${items.at(-1)!.id}/deny`, { reason: 'not_me' })).status, 200);
      }
      const before = (await listed()).length;
      assert.equal((await ask(from(10), 'phone')).answer.status, 200);
      assert.equal((await listed()).length, before + 1);
    });

    it('the account page lets her in too', async () => {
      const managed = await manageRootTenant(server);
      const { visitor } = await openApp(server, 'account', managed, user.email);
      await server.clock.advance(minuteMs);
      for (let host = 2; host <= far; host += 1) await mailed(from(host)); // the first was hers
      await assertRefusal((await ask(from(100), 'email_pin')).answer, 'pin.cooldown_active');
      const answer = await visitor.submit('/sessions/let-in', {});
      assert.equal(answer.status, 303);
      await mailed(from(100));
      assert.equal((await attacks()).length, 1);
    });

    it('a person who is deleted leaves nothing of it', async () => {
      const hers = await herOwn();
      for (const browser of [stranger, hers]) assert.equal((await guess(await mailed(browser), browser)).status, 401);
      assert.equal((await phone.post('/sign-in/open', {})).status, 200);
      const left = () =>
        server.gatehouse.services.database.read(tenant.id, async (queries) => {
          const keys = [user.email, `own:${user.email}`];
          const failures = await queries.selectFrom('pin_failures').select('mail_key').where('mail_key', 'in', keys).execute();
          const openings = await queries.selectFrom('sign_in_openings').select('user_id').where('user_id', '=', user.id).execute();
          return [failures.length, openings.length];
        });
      assert.deepEqual(await left(), [2, 1]);
      await (await manageRootTenant(server)).make('DELETE', `/users/${user.id}`);
      assert.deepEqual(await left(), [0, 0]);
    });
  });
