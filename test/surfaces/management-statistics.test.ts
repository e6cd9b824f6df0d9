// `/statistics`: counts that follow what happens, by hour and by day, of one tenant only; times to answer where metrics are on.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { statisticsDaysMax } from '../../src/contract/limits.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { clientCredentialsToken, createTestTenant, createTestUser, type Json, managedWith } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Statistics {
  readonly directory: Json;
  readonly period_seconds: number;
  readonly periods: readonly { readonly from: string; readonly sign_ins: number; readonly refusals: number }[];
  readonly refusals: readonly { readonly row: string; readonly count: number }[];
  readonly latencies: readonly Json[] | null;
}

const sumOf = (statistics: Statistics, name: 'sign_ins' | 'refusals'): number =>
  statistics.periods.reduce((total, period) => total + period[name], 0);

for (const database of databases) {
  describe(`statistics on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    it('counts what is there, sign-ins and refusals, of this tenant alone', async () => {
      const { tenant, email } = await createConsoleTenant(server);
      const other = await createTestTenant(server);
      const before = await tenant.make<Statistics>('GET', '/statistics');
      assert.deepEqual(before.directory, { users: 1, groups: 0, clients: 1, resources: 0, service_providers: 0, web_phones: 0 });
      assert.equal(before.period_seconds, 86_400);
      assert.equal(before.periods.length, 7);
      assert.deepEqual([sumOf(before, 'sign_ins'), before.refusals, before.latencies], [0, [], null]);
      await openConsole(server, tenant, email);
      await tenant.make('POST', '/groups', { display_name: 'Engineers' });
      await createTestUser(tenant, 'grace@x.example');
      await assertRefusal(await tenant.call('GET', '/users/nobody'), 'management.not_found');
      await assertRefusal(await tenant.call('GET', '/users/nobody'), 'management.not_found');
      const now = await tenant.make<Statistics>('GET', '/statistics');
      assert.deepEqual(now.directory, { users: 2, groups: 1, clients: 2, resources: 0, service_providers: 0, web_phones: 0 });
      assert.deepEqual([sumOf(now, 'sign_ins'), sumOf(now, 'refusals')], [1, 2]);
      assert.deepEqual(now.refusals, [{ row: 'management.not_found', count: 2 }]);
      const elsewhere = await other.make<Statistics>('GET', '/statistics');
      assert.deepEqual([sumOf(elsewhere, 'sign_ins'), sumOf(elsewhere, 'refusals')], [0, 0]);
    });

    it('an hour or a day that is over keeps its count, and leaves the period', async () => {
      const tenant = await createTestTenant(server);
      await tenant.call('GET', '/users/nobody');
      const first = await tenant.make<Statistics>('GET', '/statistics?days=1');
      assert.deepEqual([first.period_seconds, first.periods.length, sumOf(first, 'refusals')], [3600, 24, 1]);
      await server.clock.advance(48 * 3_600_000);
      const { adminClientId, adminClientSecret, baseUrl } = tenant;
      const later = managedWith(await clientCredentialsToken(baseUrl, adminClientId, adminClientSecret), tenant);
      assert.equal(sumOf(await later.make<Statistics>('GET', '/statistics?days=1'), 'refusals'), 0);
      const week = await later.make<Statistics>('GET', '/statistics');
      assert.equal(sumOf(week, 'refusals'), 1);
      // Two days back, or three when midnight passed meanwhile.
      assert.equal(sumOf({ ...week, periods: week.periods.slice(-4, -2) }, 'refusals'), 1);
    });

    it('needs events:read, and bounds the days', async () => {
      const tenant = await createTestTenant(server);
      const token = await clientCredentialsToken(tenant.baseUrl, tenant.adminClientId, tenant.adminClientSecret, 'users:read');
      await assertRefusal(await managedWith(token, tenant).call('GET', '/statistics'), 'management.forbidden', {
        text: 'The token lacks the capability events:read.',
      });
      for (const days of [1, statisticsDaysMax]) assert.equal((await tenant.call('GET', `/statistics?days=${days}`)).status, 200);
      for (const days of [0, statisticsDaysMax + 1])
        await assertRefusal(await tenant.call('GET', `/statistics?days=${days}`), 'management.invalid_request', {
          kind: 'days',
          text: /./,
        });
    });
  });
}

describe('statistics where metrics are on', () => {
  it('times to answer by surface, p50 at most p99', async () => {
    const server = await startTestServer('sqlite', { flags: { metrics_listen: '127.0.0.1:0' } });
    try {
      const tenant = await createTestTenant(server);
      await tenant.make('GET', '/users');
      const { latencies } = await tenant.make<Statistics>('GET', '/statistics');
      const management = latencies?.find((entry) => entry['surface'] === 'management');
      assert.ok(management !== undefined, JSON.stringify(latencies));
      assert.ok(Number(management['requests']) >= 1);
      assert.ok(Number(management['p50_seconds']) > 0 && Number(management['p50_seconds']) <= Number(management['p99_seconds']));
    } finally {
      await server.close();
    }
  });
});
