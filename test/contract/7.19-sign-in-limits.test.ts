// Contract 7.19 at the sign-in pages: each limit of the tenant that applies there, with Retry-After and the body's seconds.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { createPasskey } from '../support/authenticator.ts';
import { databases } from '../support/databases.ts';
import { changeSettings } from '../support/enrolled-phone.ts';
import { createClient, createOtherTenant, createUser, rootTenant, type TestClient } from '../support/fixtures.ts';
import { beginLogin, type TestLogin } from '../support/login.ts';
import { askForPasskey } from '../support/passkeys.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const off = {
  login_starts_per_ip: roomyRate,
  pin_attempts_per_ip: roomyRate,
  approvals_per_user: roomyRate,
  approvals_pending_per_user: roomyRate,
};

for (const database of databases) {
  describe(`contract 7.19 at sign-in on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database);
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant);
    });
    after(() => server.close());
    beforeEach(() => changeSettings(server, { login_methods: ['phone', 'email_pin'], rate_limits: off }));

    const limit = (name: string, value: number): Promise<void> =>
      changeSettings(server, {
        login_methods: ['phone', 'email_pin'],
        rate_limits: { ...off, [name]: { limit: value, period_seconds: 100 } },
      });
    const limited = async (response: Response): Promise<void> => {
      const header = response.headers.get('retry-after');
      const raw = await assertRefusal(response, 'management.rate_limited');
      assert.equal(String((JSON.parse(raw) as { retry_after_seconds: number }).retry_after_seconds), header);
    };

    it('7.19 management.rate_limited: login_starts_per_ip counts identifications', async () => {
      await limit('login_starts_per_ip', 2);
      const login = await beginLogin(server, tenant, client);
      assert.equal((await login.post('identify', { identifier: 'a' })).status, 200);
      assert.equal((await login.post('identify', { identifier: 'b' })).status, 200);
      await limited(await login.post('identify', { identifier: 'c' }));
      const page = await login.submit('identify', { identifier: 'd' });
      assert.equal(page.status, 429);
      assert.match(await page.text(), /Too many attempts/);
    });

    it('7.19 management.rate_limited: pin_attempts_per_ip counts before the PIN is looked at', async () => {
      await limit('pin_attempts_per_ip', 2);
      const login = await beginLogin(server, tenant, client);
      await login.post('identify', { identifier: 'someone@people.example' });
      await login.post('method', { method: 'email_pin' });
      assert.equal((await login.post('pin', { pin: '000000' })).status, 401);
      assert.equal((await login.post('pin', { pin: '000000' })).status, 401);
      await limited(await login.post('pin', { pin: '000000' }));
    });

    const beginIn = async (name: 'login_starts_per_ip' | 'pin_attempts_per_ip'): Promise<TestLogin> => {
      const settings = { login_methods: ['passkey', 'email_pin'], rate_limits: { ...off, [name]: { limit: 2, period_seconds: 100 } } };
      const other = await createOtherTenant(server.gatehouse.services, name.replaceAll('_', '-'), settings); // counts on its own
      return beginLogin(server, other, await createClient(server.gatehouse.services, other));
    };

    it('7.19 management.rate_limited: login_starts_per_ip counts challenges of passkeys', async () => {
      const login = await beginIn('login_starts_per_ip');
      await login.post('identify', { identifier: 'someone@people.example' });
      for (let times = 0; times < 2; times += 1) assert.equal((await login.post('method', { method: 'passkey' })).status, 200);
      await limited(await login.post('method', { method: 'passkey' }));
    });

    it('7.19 management.rate_limited: pin_attempts_per_ip counts responses of passkeys before they are looked at', async () => {
      const login = await beginIn('pin_attempts_per_ip');
      const options = await askForPasskey(login, 'someone@people.example');
      const response = createPasskey(new URL(login.location).origin, 'AAAA').sign(options);
      for (let times = 0; times < 2; times += 1) await assertRefusal(await login.post('passkey', { response }), 'login.passkey_refused');
      await limited(await login.post('passkey', { response }));
    });

    for (const who of ['known', 'unknown'] as const) {
      const identifierOf = async (): Promise<string> =>
        who === 'known' ? (await createUser(server.gatehouse.services, tenant)).email : `nobody-${Math.random()}@people.example`;

      it(`7.19 management.rate_limited: approvals_per_user, ${who}`, async () => {
        await limit('approvals_per_user', 2);
        const identifier = await identifierOf();
        const login = await beginLogin(server, tenant, client);
        await login.post('identify', { identifier });
        assert.equal((await login.post('method', { method: 'phone' })).status, 200);
        assert.equal((await login.post('method', { method: 'phone' })).status, 200);
        await limited(await login.post('method', { method: 'phone' }));
      });

      it(`7.19 management.rate_limited: approvals_pending_per_user over several sign-ins, ${who}`, async () => {
        await limit('approvals_pending_per_user', 2);
        const identifier = await identifierOf();
        const logins = await Promise.all([1, 2, 3].map(() => beginLogin(server, tenant, client)));
        for (const login of logins) await login.post('identify', { identifier });
        assert.equal((await logins[0]!.post('method', { method: 'phone' })).status, 200);
        assert.equal((await logins[1]!.post('method', { method: 'phone' })).status, 200);
        await limited(await logins[2]!.post('method', { method: 'phone' }));
        await logins[0]!.post('cancel');
        assert.equal((await logins[2]!.post('method', { method: 'phone' })).status, 200);
      });
    }
  });
}
