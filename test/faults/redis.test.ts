// Rate limits over Redis: shared between nodes; when Redis stalls, dies or forgets, each process counts by itself, soon.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { Redis } from 'ioredis';
import { databases, isRequired } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startTcpProxy, type TcpProxy, targetOf, throughProxy } from '../support/tcp-proxy.ts';

const redisUrl = process.env['GATEHOUSE_TEST_REDIS_URL'];
if (isRequired('redis') && redisUrl === undefined)
  throw new Error('GATEHOUSE_TEST_REQUIRE names redis: expected GATEHOUSE_TEST_REDIS_URL, found none');

const limit = 3;

for (const database of redisUrl === undefined ? [] : databases) {
  describe(`Redis on ${database}`, () => {
    let proxy: TcpProxy;
    let server: TestServer;
    let redis: Redis;
    before(async () => {
      redis = new Redis(redisUrl!);
      proxy = await startTcpProxy(targetOf(redisUrl!, 6379));
      server = await startTestServer(database, { flags: { redis_url: throughProxy(redisUrl!, proxy) } });
    });
    after(async () => {
      await server.close();
      await proxy.close();
      redis.disconnect();
    });
    const newTenant = (): Promise<Managed> =>
      createTestTenant(server, { settings: { rate_limits: { client_auth_failures_per_ip: { limit, period_seconds: 60 } } } });
    const fail = (base: string): Promise<Response> =>
      fetch(`${base}/v1/idp/oidc/token`, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'nobody', client_secret: 'wrong' }),
      });
    /** Spends the limit and gives the refusals after it. */
    const exhaust = async (base: string): Promise<void> => {
      for (let turn = 0; turn < limit; turn += 1) await assertRefusal(await fail(base), 'client.invalid_client');
      const response = await fail(base);
      const waitSeconds = Number(response.headers.get('retry-after'));
      assert.ok(waitSeconds > 0 && waitSeconds <= 60);
      await assertRefusal(response, 'oauth.rate_limited', { fields: { retry_after_seconds: waitSeconds } });
    };
    it('7.19 oauth.rate_limited: counted in Redis', async () => exhaust((await newTenant()).baseUrl));
    it('another tenant has its own count', async () => {
      const [one, two] = [await newTenant(), await newTenant()];
      await exhaust(one.baseUrl);
      await assertRefusal(await fail(two.baseUrl), 'client.invalid_client');
    });
    it('what is given back does not count', async () => {
      const { rateLimiter } = server.gatehouse.services;
      const twice = { limit: 2, periodSeconds: 60 };
      const name = `given-back-${randomUUID()}`; // of this run alone: the count outlives it
      const take = (): Promise<number | undefined> => rateLimiter.take(name, database, twice);
      for (let turn = 0; turn < 5; turn += 1) {
        assert.equal(await take(), undefined, `turn ${turn}`);
        await rateLimiter.giveBack(name, database, twice);
      }
      for (let turn = 0; turn < 2; turn += 1) assert.equal(await take(), undefined);
      assert.ok(Number(await take()) > 0);
    });
    it('stalled: counted in the process, and answered soon', async () => {
      const { baseUrl } = await newTenant();
      proxy.stall();
      await exhaust(baseUrl);
      proxy.resume();
    });
    it('killed: counted in the process; back again: counted in Redis', async () => {
      const [during, afterwards] = [await newTenant(), await newTenant()];
      proxy.refuse();
      await exhaust(during.baseUrl);
      proxy.accept();
      // What is counted before the connection is back is the process's; the limit would be reached later.
      await eventually(async () => {
        const name = `back-${randomUUID()}`;
        await server.gatehouse.services.rateLimiter.take(name, database, { limit, periodSeconds: 60 });
        return (await redis.keys(`*${name}*`)).length === 1;
      }, 'Redis counts again');
      await exhaust(afterwards.baseUrl);
    });
    it('away when a server starts: it starts, and counts by itself', async () => {
      const lonely = await startTestServer(database, { flags: { redis_url: 'redis://127.0.0.1:1' } });
      try {
        const tenant = await createTestTenant(lonely, {
          settings: { rate_limits: { client_auth_failures_per_ip: { limit, period_seconds: 60 } } },
        });
        await exhaust(tenant.baseUrl);
      } finally {
        await lonely.close();
      }
    });
  });
}

for (const database of redisUrl === undefined ? [] : databases.filter((name) => name === 'postgres')) {
  describe('two nodes', () => {
    it('share one count through Redis', async () => {
      const one = await startTestServer(database, { flags: { redis_url: redisUrl! } });
      const two = await startTestServer(database, {
        database: one.database,
        clock: one.clock,
        flags: { redis_url: redisUrl!, public_url: one.url },
      });
      try {
        const tenant = await createTestTenant(one, {
          settings: { rate_limits: { client_auth_failures_per_ip: { limit, period_seconds: 60 } } },
        });
        const onTwo = `${new URL(listening(two)).origin}/t/${tenant.slug}/v1/idp/oidc/token`;
        const fail = (url: string): Promise<Response> =>
          fetch(url, {
            method: 'POST',
            body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'nobody', client_secret: 'wrong' }),
          });
        await two.gatehouse.services.jobs.runNow('configuration-pulse');
        for (let turn = 0; turn < limit; turn += 1)
          await assertRefusal(await fail(`${tenant.baseUrl}/v1/idp/oidc/token`), 'client.invalid_client');
        await assertRefusal(await fail(onTwo), 'oauth.rate_limited');
      } finally {
        await two.close();
        await one.close();
      }
    });
  });
}

function listening(server: TestServer): string {
  const address = server.gatehouse.app.server.address();
  return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : assert.fail('not listening');
}
