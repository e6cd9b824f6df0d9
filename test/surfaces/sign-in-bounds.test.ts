// Bounds no tenant can leave (design 17, 2.3), in the API, in documents and in the console alike; what was stored outside of them before;
// and a deployment under test, which lifts limits by rate and the attempts at one code never.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { ConfigError, readConfig } from '../../src/config.ts';
import { pinAttemptsMax, pinDigitsMax, pinDigitsMin, pinFailuresPerDayMax, pinLifetimeSecondsMax } from '../../src/contract/limits.ts';
import { defaultSettings } from '../../src/domain/tenant/settings.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { createConsoleTenant, fieldsOfForm, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { changeSettings } from '../support/enrolled-phone.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createClient, createUser, rootTenant } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { otherPin, pinOf } from '../support/mailbox.ts';
import type { Json, Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const bounds = [
  ['length', pinDigitsMin, pinDigitsMax],
  ['attempts_max', 1, pinAttemptsMax],
  ['failures_per_day_max', 1, pinFailuresPerDayMax],
  ['lifetime_seconds', 1, pinLifetimeSecondsMax],
] as const;
const protecting = Object.keys(defaultSettings.rate_limits).filter(
  (name) => !/^(?:par|token|userinfo|scim|management)_requests_/.test(name),
);

for (const database of databases) {
  describe(`bounds no tenant can leave on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const made = await createConsoleTenant(server, { admin_roles: ['owner'] });
      tenant = made.tenant;
      visitor = (await openConsole(server, tenant, made.email)).visitor;
    });
    after(() => server.close());
    const save = async (page: string, section: string, changes: Readonly<Record<string, string>>): Promise<Response> => {
      const shown = fieldsOfForm(await (await visitor.page(`/settings/${page}`)).text(), section);
      return visitor.submit(`/settings/${page}`, { ...shown, ...changes });
    };
    const asTyped = (name: string, value: number): Readonly<Record<string, string>> => ({
      [`pin.${name}`]: String(value),
      ...(name.endsWith('_seconds') && { [`pin.${name}.unit`]: 'seconds' }),
    });
    const apply = (settings: Json): Promise<unknown> =>
      applyDocument(server.gatehouse.services, tenant.slug, [JSON.stringify({ gatehouse: 1, settings })]);

    for (const [name, min, max] of bounds)
      it(`pin.${name}: ${min} and ${max} pass, one below and one above do not, in API, documents and console`, async () => {
        for (const value of [min, max]) {
          await tenant.make('PATCH', '/settings', { pin: { [name]: value } });
          await apply({ pin: { [name]: value } });
          assert.equal((await save('mail', 'codes', asTyped(name, value))).status, 303);
          assert.equal(((await tenant.make('GET', '/settings'))['pin'] as Json)[name], value);
        }
        for (const value of [min - 1, max + 1]) {
          const refused = await tenant.call('PATCH', '/settings', { pin: { [name]: value } });
          await assertRefusal(refused, 'management.invalid_request', { kind: `pin.${name}`, text: /./ });
          await assert.rejects(apply({ pin: { [name]: value } }), new RegExp(name));
          assert.equal((await save('mail', 'codes', asTyped(name, value))).status, 400);
        }
        assert.equal(((await tenant.make('GET', '/settings'))['pin'] as Json)[name], max);
      });

    it('limits that protect people are numbers, never null', async () => {
      assert.equal(protecting.length, 11);
      for (const name of protecting) {
        const refused = await tenant.call('PATCH', '/settings', { rate_limits: { [name]: null } });
        await assertRefusal(refused, 'management.invalid_request', { kind: `rate_limits.${name}`, text: /./ });
        await assert.rejects(apply({ rate_limits: { [name]: null } }), new RegExp(name));
        const form = { [`rate_limits.${name}.limit`]: '', [`rate_limits.${name}.period_seconds`]: '' };
        assert.equal((await save('limits', 'people', form)).status, 400, name);
        await tenant.make('PATCH', '/settings', { rate_limits: { [name]: { limit: 70 } } });
      }
      await tenant.make('PATCH', '/settings', { rate_limits: { par_requests_per_ip: null } });
    });
  });

  describe(`settings stored before their bounds on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    it('count as the nearest within: six digits, ten attempts, limits that are on', async () => {
      const { services } = server.gatehouse;
      await changeSettings(server, {
        login_methods: ['email_pin'],
        pin: { length: 4, attempts_max: 1_000_000, failures_per_day_max: 1_000_000, lifetime_seconds: 86_400 },
        rate_limits: { pin_attempts_per_ip: null, login_starts_per_ip: roomyRate, token_requests_per_client: null },
      });
      const tenant = await rootTenant(services);
      const client = await createClient(services, tenant);
      const user = await createUser(services, tenant);
      assert.deepEqual(
        (({ length, attempts_max, failures_per_day_max, lifetime_seconds }) => [
          length,
          attempts_max,
          failures_per_day_max,
          lifetime_seconds,
        ])(tenant.settings.pin),
        [6, 10, 100, 3600],
      );
      assert.deepEqual(tenant.settings.rate_limits.pin_attempts_per_ip, { limit: 30, period_seconds: 60 });
      assert.deepEqual(tenant.settings.rate_limits.login_starts_per_ip, roomyRate);
      const login = await beginLogin(server, tenant, client);
      await login.post('identify', { identifier: user.email });
      const pin = await pinOf(server, user.email);
      assert.match(pin, /^\d{6}$/);
      for (let left = 9; left > 0; left -= 1)
        await assertRefusal(await login.post('pin', { pin: otherPin(pin) }), 'pin.invalid', { fields: { attempts_left: left } });
      await assertRefusal(await login.post('pin', { pin: otherPin(pin) }), 'pin.locked');
      await assertRefusal(await login.post('pin', { pin }), 'pin.locked');
    });
  });

  describe(`GATEHOUSE_RATE_LIMITS=off on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    before(async () => {
      server = await startTestServer(database, { flags: { rate_limits: 'off' } });
      await changeSettings(server, {
        login_methods: ['email_pin'],
        pin: { attempts_max: 3, failures_per_day_max: 1, sends_per_hour_max: 1, resend_cooldown_seconds: 600 },
        rate_limits: Object.fromEntries(protecting.map((name) => [name, { limit: 1, period_seconds: 3600 }])),
      });
      tenant = await rootTenant(server.gatehouse.services);
    });
    after(() => server.close());

    it('no address, mailbox or day is counted; the attempts at one code are', async () => {
      const { services } = server.gatehouse;
      const client = await createClient(services, tenant);
      const user = await createUser(services, tenant);
      for (let time = 0; time < 4; time += 1) {
        const login = await beginLogin(server, tenant, client);
        assert.equal((await login.post('identify', { identifier: user.email })).status, 200);
        assert.equal((await login.post('pin/resend')).status, 200);
        const pin = await pinOf(server, user.email);
        for (const left of [2, 1])
          await assertRefusal(await login.post('pin', { pin: otherPin(pin) }), 'pin.invalid', { fields: { attempts_left: left } });
        await assertRefusal(await login.post('pin', { pin: otherPin(pin) }), 'pin.locked');
        await assertRefusal(await login.post('pin', { pin }), 'pin.locked');
      }
    });

    it('settings are shown as they are', () => assert.equal(tenant.settings.pin.failures_per_day_max, 1));
  });
}

describe('GATEHOUSE_RATE_LIMITS', () => {
  const read = (environment: Readonly<Record<string, string>>) => readConfig({}, environment, undefined);
  it('off is taken with GATEHOUSE_DEV=1 alone; anything else is refused', () => {
    assert.equal(read({}).areLimitsLifted, false);
    assert.equal(read({ GATEHOUSE_RATE_LIMITS: 'on' }).areLimitsLifted, false);
    assert.equal(read({ GATEHOUSE_RATE_LIMITS: 'off', GATEHOUSE_DEV: '1' }).areLimitsLifted, true);
    for (const environment of [
      { GATEHOUSE_RATE_LIMITS: 'off' },
      { GATEHOUSE_RATE_LIMITS: 'off', GATEHOUSE_DEV: '0' },
      { GATEHOUSE_RATE_LIMITS: 'none', GATEHOUSE_DEV: '1' },
    ])
      assert.throws(() => read(environment), ConfigError);
  });
});
