// The day's wrong mailed codes: strangers share a mailbox's twenty, a browser its person signed in with has its own, and so has an
// enrolment token. Spent, the person is mailed, once.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { knownMailboxesMax } from '../../src/contract/limits.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, createEnrollmentToken, testDevice, unlimited } from '../support/enrolled-phone.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { beginLogin, type TestLogin } from '../support/login.ts';
import { mailsTo, otherPin, pinOf } from '../support/mailbox.ts';
import { createPhone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const settings = {
  ...unlimited,
  login_methods: ['email_pin'],
  pin: { failures_per_day_max: 3, sends_per_hour_max: 1000, resend_cooldown_seconds: 1 },
};

for (const database of databases)
  describe(`browsers known to a mailbox on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    before(async () => {
      server = await startTestServer(database);
      await changeSettings(server, settings);
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant);
    });
    after(() => server.close());
    beforeEach(async () => {
      user = await createUser(server.gatehouse.services, tenant);
    });

    const begin = async (of: TestUser = user): Promise<TestLogin> => {
      await server.clock.advance(1001); // a code a second
      const login = await beginLogin(server, tenant, client);
      assert.deepEqual(await (await login.post('identify', { identifier: of.email })).json(), { state: 'pin' });
      return login;
    };
    const type = (login: TestLogin, pin: string, known?: string) =>
      login.post('pin', { pin }, known === undefined ? {} : { cookie: `${login.cookie}; ${known}` });
    /** Signs in with the code of the mail; gives the cookie line the browser was given. */
    const signIn = async (known?: string, of: TestUser = user, fields: object = {}): Promise<string | undefined> => {
      const login = await begin(of);
      assert.equal((await type(login, await pinOf(server, of.email), known)).status, 200);
      const finished = await login.post('finish', { ...fields }, known === undefined ? {} : { cookie: `${login.cookie}; ${known}` });
      assert.equal(finished.status, 200);
      return finished.headers.getSetCookie().find((line) => line.startsWith('gh-known-'));
    };
    const cookieOf = (line: string | undefined): string => line?.split(';', 1)[0] ?? '';
    /** Wrong codes until none is taken any more. */
    const spend = async (known?: string, of: TestUser = user): Promise<void> => {
      const login = await begin(of);
      const wrong = otherPin(await pinOf(server, of.email));
      for (const left of [2, 1]) await assertRefusal(await type(login, wrong, known), 'pin.invalid', { fields: { attempts_left: left } });
      await assertRefusal(await type(login, wrong, known), 'pin.locked');
    };
    const isLocked = async (known?: string, of: TestUser = user): Promise<boolean> => {
      const login = await begin(of);
      return (await type(login, await pinOf(server, of.email), known)).status !== 200;
    };
    const warnings = async (of: TestUser = user): Promise<number> =>
      (await mailsTo(server, of.email)).filter(({ subject }) => subject.startsWith('Too many wrong codes')).length;

    it('the cookie: for 180 days, unreadable to script, of this tenant; not where the browser is nobody’s own', async () => {
      const line = await signIn();
      assert.match(line ?? '', /^gh-known-main=[\w-]{22}\.[0-9a-z]+-[\w-]{22}; Path=\/; Max-Age=15552000; HttpOnly; SameSite=Lax$/);
      assert.equal(await signIn(undefined, user, { not_my_computer: 'yes' }), undefined);
    });

    it('strangers who spend the day lock out strangers, not the browser its person signed in with', async () => {
      const known = cookieOf(await signIn());
      await spend();
      assert.equal(await isLocked(), true);
      assert.equal(await isLocked(known), false);
      assert.equal(await isLocked(), true); // its success is its own
    });

    it('the known browser has a day of its own to spend, and no second one by signing in again', async () => {
      const known = cookieOf(await signIn());
      await spend(known);
      assert.equal(await isLocked(known), true);
      const fresh = cookieOf(await signIn());
      assert.equal(fresh.split('.')[0] === known.split('.')[0], false);
      assert.deepEqual([await isLocked(known), await isLocked(fresh), await isLocked()], [true, false, false]);
    });

    it('known for one mailbox is known for no other; a changed, doubled or old cookie is none', async () => {
      const other = await createUser(server.gatehouse.services, tenant);
      const known = cookieOf(await signIn());
      await spend(undefined, other);
      assert.equal(await isLocked(known, other), true);
      await spend();
      const [id, mark] = known.split('=')[1]!.split('.') as [string, string];
      const name = known.split('=')[0]!;
      const changed = [`${name}=${'A'.repeat(22)}.${mark}`, `${name}=${id}.${mark.slice(0, -1)}${mark.endsWith('A') ? 'B' : 'A'}`];
      for (const cookie of [...changed, `${name}=${id}`, `${known}; ${known}`, `${name}=x`])
        assert.equal(await isLocked(cookie), true, cookie);
      assert.equal(await isLocked(known), false);
    });

    it('180 days: the last one counts, the next does not', async () => {
      const known = cookieOf(await signIn());
      const dayMs = 86_400_000;
      const startOfDayMs = Math.floor(server.clock.nowMs() / dayMs) * dayMs;
      await server.clock.advance(startOfDayMs + 180 * dayMs - server.clock.nowMs() - 60_000);
      await spend();
      assert.equal(await isLocked(known), false);
      await server.clock.advance(60_000);
      assert.equal(await isLocked(known), true);
    });

    it(`a browser is known for ${knownMailboxesMax} mailboxes; the one before is forgotten`, async () => {
      let known = cookieOf(await signIn());
      for (let more = 1; more < knownMailboxesMax; more += 1)
        known = cookieOf(await signIn(known, await createUser(server.gatehouse.services, tenant)));
      await spend();
      assert.equal(await isLocked(known), false);
      known = cookieOf(await signIn(known, await createUser(server.gatehouse.services, tenant)));
      assert.equal(known.split('.').length, knownMailboxesMax + 1);
      assert.equal(await isLocked(known), true);
    });

    it('the code that spends the day is mailed about, once, however many follow and come at once', async () => {
      const login = await begin();
      const wrong = otherPin(await pinOf(server, user.email));
      await Promise.all(Array.from({ length: 5 }, () => type(login, wrong)));
      await isLocked();
      assert.equal(await warnings(), 1);
      await server.clock.advance(86_400_000);
      await spend();
      assert.equal(await warnings(), 2);
    });

    it('an enrolment token has a day of its own, which strangers cannot spend, and spending it is mailed about', async () => {
      const person = { ...user, tenant: tenant.id };
      await spend();
      const redeem = async () => {
        const phone = createPhone(server.url, server.clock.nowMs);
        await server.clock.advance(1001);
        const body = { enrollment_token: await createEnrollmentToken(server, person, 86_400_000, true), device: testDevice };
        const response = await phone.post('/enrollment/redeem', { ...body, keys: phone.publicKeys() });
        assert.equal(response.status, 202);
        const { registration_token: token } = (await response.json()) as { registration_token: string };
        return (pin: string) => phone.post('/pin/verify', { registration_token: token, pin });
      };
      const verify = await redeem();
      assert.equal((await verify(await pinOf(server, user.email))).status, 200);
      const second = await redeem();
      const wrong = otherPin(await pinOf(server, user.email));
      for (let time = 0; time < 2; time += 1)
        await assertRefusal(await second(wrong), 'pin.invalid', { fields: { attempts_left: 2 - time } });
      await assertRefusal(await second(wrong), 'pin.locked');
      assert.equal(await warnings(), 2);
      const third = await redeem();
      assert.equal((await third(await pinOf(server, user.email))).status, 200);
    });
  });
