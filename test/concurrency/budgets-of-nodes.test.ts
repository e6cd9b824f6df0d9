// Two nodes on one PostgreSQL: what strangers together may ask of a person is one budget, whichever node they ask, at once or not; what the
// person opens at one is open at the other. Codes and wrong codes by the database alone, pushes through Redis.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { farTimesNear, nearFailuresPerHourMax, shortPinFailuresPerYearMax } from '../../src/contract/limits.ts';
import { defaultSettings } from '../../src/domain/tenant/settings.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, enrolledPhone } from '../support/enrolled-phone.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { pinOf } from '../support/mailbox.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { createStrangers, from, minuteMs, ofAddresses } from '../support/strangers.ts';

const redisUrl = process.env['GATEHOUSE_TEST_REDIS_URL'];
const far = farTimesNear * defaultSettings.pin.sends_per_hour_max;

for (const database of databases.filter((name) => name === 'postgres'))
  describe('budgets of a person on two nodes', () => {
    let one: TestServer;
    let two: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let user: TestUser;
    before(async () => {
      const flags = { trusted_proxies: '127.0.0.1/32', ...(redisUrl !== undefined && { redis_url: redisUrl }) };
      one = await startTestServer(database, { flags });
      two = await startTestServer(database, { database: one.database, clock: one.clock, flags: { ...flags, public_url: one.url } });
      await changeSettings(one, { login_methods: ['phone', 'email_pin'], rate_limits: ofAddresses });
      await two.gatehouse.services.jobs.runNow('configuration-pulse');
      tenant = await rootTenant(one.gatehouse.services);
      client = await createClient(one.gatehouse.services, tenant);
    });
    after(async () => {
      await two?.close();
      await one?.close();
    });
    beforeEach(async () => {
      user = await createUser(one.gatehouse.services, tenant);
    });

    const at = (server: () => TestServer) =>
      createStrangers(() => ({ server: server(), tenant: { ...tenant, baseUrl: originOf(server()) }, client, user }));
    const nodes = [at(() => one), at(() => two)] as const;
    const nodeOf = (host: number) => nodes[host % 2]!;

    it('codes: all addresses together have thirty, asked of both at once', async () => {
      const asked = await Promise.all(Array.from({ length: far + 10 }, (_none, host) => nodeOf(host).ask(from(host + 1), 'email_pin')));
      assert.equal(asked.filter(({ answer }) => answer.status === 200).length, far);
      assert.equal(await nodes[0].codes(), far);
      for (const node of nodes) await assertRefusal((await node.ask(from(100), 'email_pin')).answer, 'pin.cooldown_active');
    });

    it('codes: whom the person lets in at one node is let in at the other', async () => {
      const phone = await enrolledPhone(one, { ...user, tenant: tenant.id });
      for (let host = 1; host <= far; host += 1) await nodeOf(host).mailed(from(host));
      await assertRefusal((await nodes[1].ask(from(100), 'email_pin')).answer, 'pin.cooldown_active');
      assert.equal((await phone.post('/sign-in/open', {})).status, 200);
      await nodes[1].mailed(from(100));
    });

    it('wrong codes: the fortieth of a year counts wherever it is typed', async () => {
      for (let host = 1; host <= shortPinFailuresPerYearMax / nearFailuresPerHourMax; host += 1) await nodeOf(host).guessAnHour(from(host));
      await one.clock.advance(minuteMs);
      for (const [index, node] of nodes.entries()) {
        await node.mailed(from(50 + index));
        assert.match(await pinOf(one, user.email), /^\d{10}$/);
      }
    });

    if (redisUrl !== undefined)
      it('pushes: all addresses together have thirty', async () => {
        const logins = await Promise.all(nodes.map((node) => node.begin(from(1))));
        const statuses: number[] = [];
        for (let host = 1; host <= farTimesNear + 1; host += 1)
          for (let time = 0; time < defaultSettings.rate_limits.approvals_per_user.limit; time += 1)
            statuses.push((await nodeOf(host).post(logins[host % 2]!, from(host), 'method', { method: 'phone' })).status);
        assert.equal(
          statuses.filter((status) => status === 200).length,
          farTimesNear * defaultSettings.rate_limits.approvals_per_user.limit,
        );
      });
  });

function originOf(server: TestServer): string {
  const address = server.gatehouse.app.server.address();
  return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : assert.fail('not listening');
}
