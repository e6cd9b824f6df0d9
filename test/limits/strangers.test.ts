// What strangers do closes no door on a person: budgets of a known browser, of an address block and of all of them, which never mix; and
// mailed codes that a year of guessing does not find (docs/security-model.md).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import {
  farTimesNear,
  nearFailuresPerHourMax,
  openedTimesFar,
  ownTimesNear,
  pinDigitsMax,
  pinDigitsMin,
  pinFailuresPerDayMax,
  shortPinFailuresPerYearMax,
  strangerFailuresInRowMax,
} from '../../src/contract/limits.ts';
import { defaultSettings } from '../../src/domain/tenant/settings.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, enrolledPhone } from '../support/enrolled-phone.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { pinOf } from '../support/mailbox.ts';
import type { Phone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type Browser, createStrangers, dayMs, from, hourMs, minuteMs, ofAddresses, stranger } from '../support/strangers.ts';

describe('the odds of guessing a mailed code in a year', () => {
  const daysOfYear = 365;
  const short = shortPinFailuresPerYearMax * 10 ** -pinDigitsMin;
  const strangers = short + daysOfYear * pinFailuresPerDayMax * 10 ** -pinDigitsMax;
  const own = (browsers: number) => short + browsers * daysOfYear * defaultSettings.pin.failures_per_day_max * 10 ** -pinDigitsMax;

  it('strangers find one with less than 1 in 20,000, whatever they spend', () => assert.ok(strangers < 1 / 20_000, String(strangers)));
  it('with twenty known browsers that guess as well, less than 1 in 10,000', () => assert.ok(strangers + own(20) <= 1 / 10_000));
  it('on days on which the person lets strangers in, six times as often: every day of a year so, less than 1 in 10,000', () =>
    assert.ok(short + openedTimesFar * (strangers - short) < 1 / 10_000));
  it('are computed in the security model', () => {
    const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'security-model.md'), 'utf8');
    for (const odds of [strangers, strangers + own(20), short + openedTimesFar * (strangers - short)])
      assert.ok(text.includes(`| ${odds.toExponential(1)} |`), odds.toExponential(1));
  });
});

for (const database of databases)
  describe(`strangers and a person on ${database}`, () => {
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

    const { post, begin, ask, mailed, signIn, herOwn, guess, guessAnHour, codes, nameThem } = createStrangers(() => ({
      server,
      tenant,
      client,
      user,
    }));

    it('codes: a stranger who asked for all of theirs delays nobody but their own address', async () => {
      const hers = await herOwn();
      for (let time = 0; time < defaultSettings.pin.sends_per_hour_max; time += 1) {
        await mailed(stranger);
        await server.clock.advance(minuteMs);
      }
      await assertRefusal((await ask(stranger, 'email_pin')).answer, 'pin.cooldown_active');
      await mailed(from(2));
      await signIn(hers);
    });

    it('codes: a known browser has a budget of its own, twice that of an address, and waits for its own cooldown', async () => {
      const hers = await herOwn();
      for (let time = 0; time < ownTimesNear * defaultSettings.pin.sends_per_hour_max; time += 1) {
        await mailed(hers);
        await assertRefusal((await ask(hers, 'email_pin')).answer, 'pin.cooldown_active');
        await server.clock.advance(minuteMs);
      }
      await assertRefusal((await ask(hers, 'email_pin')).answer, 'pin.cooldown_active');
      await mailed(stranger);
    });

    it('codes: refused requests are counted against nobody else; all addresses together have thirty', async () => {
      const hers = await herOwn();
      const before = await codes();
      for (let time = 0; time < 40; time += 1) await ask(stranger, 'email_pin');
      assert.equal((await codes()) - before, 1);
      const far = farTimesNear * defaultSettings.pin.sends_per_hour_max;
      for (let time = 2; time < far; time += 1) await mailed(from(time));
      await Promise.all([100, 101, 102].map((host) => ask(from(host), 'email_pin')));
      assert.equal((await codes()) - before, far - 1); // her own first sign-in was the thirtieth
      await assertRefusal((await ask(from(103), 'email_pin')).answer, 'pin.cooldown_active');
      await signIn(hers);
      await server.clock.advance(hourMs);
      for (let time = 0; time < defaultSettings.pin.sends_per_hour_max; time += 1) {
        await mailed(from(103)); // which spent nothing by being refused
        await server.clock.advance(minuteMs);
      }
    });

    it('wrong codes: ten an hour from an address, which lock that address', async () => {
      const hers = await herOwn();
      await guessAnHour(stranger);
      assert.equal((await guess(await mailed(stranger), stranger)).status, 403);
      await signIn(from(2));
      await signIn(hers);
      await server.clock.advance(hourMs);
      assert.equal((await guess(await mailed(stranger), stranger)).status, 401);
    });

    it('wrong codes: a hundred from everywhere lock strangers out, codes and all, until the person signs in another way', async () => {
      const hers = await herOwn();
      for (let host = 1; host <= strangerFailuresInRowMax / nearFailuresPerHourMax; host += 1) {
        await guessAnHour(from(host));
        await server.clock.advance(hourMs);
      }
      await assertRefusal((await ask(from(50), 'email_pin')).answer, 'pin.cooldown_active');
      await server.clock.advance(30 * dayMs);
      await assertRefusal((await ask(from(50), 'email_pin')).answer, 'pin.cooldown_active');
      await signIn(hers);
      await signIn(from(50));
    });

    it('wrong codes: from forty in a year on they have ten digits, whoever signs in; those of a known browser keep theirs', async () => {
      const hers = await herOwn();
      for (let host = 1; host < shortPinFailuresPerYearMax / nearFailuresPerHourMax; host += 1) {
        await guessAnHour(from(host));
        await signIn(from(60 + host)); // as though nothing had been, but for the year
        await server.clock.advance(hourMs);
      }
      await guessAnHour(from(40));
      const shortOne = await mailed(hers);
      assert.match(await pinOf(server, user.email), /^\d{6}$/);
      assert.equal((await post(shortOne, hers, 'pin', { pin: await pinOf(server, user.email) })).status, 200);
      await signIn(from(70));
      assert.match(await pinOf(server, user.email), /^\d{10}$/);
      await server.clock.advance(364 * dayMs);
      await mailed(from(71));
      assert.match(await pinOf(server, user.email), /^\d{10}$/);
      await server.clock.advance(2 * dayMs);
      await mailed(from(71));
      assert.match(await pinOf(server, user.email), /^\d{6}$/);
    });

    it('wrong codes: a short code that was mailed before the fortieth is not taken after it, though it is right', async () => {
      const before = await mailed(from(80));
      const right = await pinOf(server, user.email);
      const guessing = await Promise.all([1, 2, 3, 4].map((host) => mailed(from(host))));
      for (const [index, login] of guessing.entries()) for (let time = 0; time < 5; time += 1) await guess(login, from(index + 1));
      await server.clock.advance(minuteMs);
      for (let host = 1; host <= 4; host += 1) {
        const login = await mailed(from(host));
        for (let time = 0; time < 5; time += 1) await guess(login, from(host));
      }
      await assertRefusal(await post(before, from(80), 'pin', { pin: right }), 'pin.expired');
      await server.clock.advance(minuteMs);
      await signIn(from(80));
    });

    describe('by phone', () => {
      let phone: Phone;
      let hers: Browser;
      beforeEach(async () => {
        hers = await herOwn();
        phone = await enrolledPhone(server, { ...user, tenant: tenant.id });
      });
      const listed = async (): Promise<readonly { readonly id: string }[]> =>
        ((await (await phone.get('/approvals')).json()) as { items: { id: string }[] }).items;
      const push = async (browser: Browser): Promise<number> => (await ask(browser, 'phone')).answer.status;

      it('a stranger who starts a dozen reaches the phone three times, and keeps neither her nor other addresses from it', async () => {
        for (let time = 0; time < 12; time += 1) await push(stranger);
        assert.equal((await listed()).length, 3);
        assert.deepEqual([await push(from(2)), await push(hers)], [200, 200]);
        assert.equal((await listed()).length, 5);
      });

      it('all addresses together have thirty an hour; her own browser has ten of its own', async () => {
        const login = await begin(stranger);
        const answers: number[] = [];
        for (let host = 1; host <= 7; host += 1)
          for (let time = 0; time < 5; time += 1) answers.push((await post(login, from(host), 'method', { method: 'phone' })).status);
        assert.equal(
          answers.filter((status) => status === 200).length,
          farTimesNear * defaultSettings.rate_limits.approvals_per_user.limit,
        );
        const own = await begin(hers);
        for (let time = 0; time < ownTimesNear * defaultSettings.rate_limits.approvals_per_user.limit; time += 1)
          assert.equal((await post(own, hers, 'method', { method: 'phone' })).status, 200);
        await assertRefusal(await post(own, hers, 'method', { method: 'phone' }), 'management.rate_limited');
      });

      it('her own browser has ten, whichever of her names is typed', async () => {
        await nameThem('byron');
        const logins = [await begin(hers), await begin(hers, 'byron')];
        const times = ownTimesNear * defaultSettings.rate_limits.approvals_per_user.limit;
        for (let time = 0; time < times; time += 1)
          assert.equal((await post(logins[time % 2]!, hers, 'method', { method: 'phone' })).status, 200);
        for (const login of logins) await assertRefusal(await post(login, hers, 'method', { method: 'phone' }), 'management.rate_limited');
      });

      it('"not me" to strangers leaves her in peace by strangers, and her own browser still asks her phone', async () => {
        for (let time = 0; time < 2; time += 1) {
          assert.equal(await push(stranger), 200);
          const [item] = await listed();
          assert.equal((await phone.post(`/approvals/${item!.id}/deny`, { reason: 'not_me' })).status, 200);
        }
        assert.equal(await push(from(2)), 200);
        assert.deepEqual(await listed(), []);
        assert.equal(await push(hers), 200);
        assert.equal((await listed()).length, 1);
      });
    });

    it('one address asks fifty people a dozen times: every one of them signs in by phone from elsewhere', async () => {
      const people: TestUser[] = [];
      for (let count = 0; count < 50; count += 1) people.push(await createUser(server.gatehouse.services, tenant));
      for (const { email } of people) {
        const login = await begin(stranger, email);
        const answers = await Promise.all(Array.from({ length: 12 }, () => post(login, stranger, 'method', { method: 'phone' })));
        assert.ok(answers.some(({ status }) => status === 429));
      }
      for (const { email } of people) {
        const login = await begin(from(2), email);
        assert.equal((await post(login, from(2), 'method', { method: 'phone' })).status, 200, email);
      }
    });
  });
