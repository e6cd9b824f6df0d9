// An overloaded server, for real: its event loop held up turn by turn, and its connections to PostgreSQL all taken. What begins work
// is refused first and says when to come back, what is under way goes on, health always answers, and it ends when the load does.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { RowId } from '../../src/contract/catalogue.ts';
import { connectionWaitMsMax, loopLagFirstMsMax, loopLagMsMax, overloadRetrySeconds } from '../../src/contract/limits.ts';
import { findOverload } from '../../src/http/load-shedding.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** What begins work, with the row that refuses it. */
const beginnings: readonly (readonly [method: string, path: string, row: RowId])[] = [
  ['GET', '/v1/idp/oidc/authorize?client_id=x', 'oauth.unavailable'],
  ['POST', '/v1/idp/oidc/authorize', 'oauth.unavailable'],
  ['POST', '/v1/idp/oidc/par', 'oauth.unavailable'],
  ['POST', '/v1/idp/oidc/bc-authorize', 'oauth.unavailable'],
  ['GET', '/v1/idp/saml/sso', 'oauth.unavailable'],
  ['GET', '/scim/v2/Users', 'scim.unavailable'],
  ['GET', '/v1/management/users', 'management.unavailable'],
  ['GET', '/v1/system/tenants', 'management.unavailable'],
];
/** What people are in the middle of, with the status it has by itself. */
const middles: readonly (readonly [method: string, path: string, status: number, row: RowId])[] = [
  ['POST', '/v1/idp/oidc/token', 400, 'oauth.unavailable'],
  ['GET', '/v1/idp/oidc/userinfo', 401, 'management.unavailable'],
  ['GET', '/v1/idp/oidc/jwks', 200, 'oauth.unavailable'],
  ['GET', '/login/none', 404, 'management.unavailable'],
  ['POST', '/v1/device/enroll', 426, 'management.unavailable'],
];
const healths = ['/health/live', '/health/started'];

const send = (base: string, method: string, path: string): Promise<Response> =>
  fetch(`${base}${path}`, { method, redirect: 'manual', ...(method === 'POST' ? { body: new URLSearchParams({ a: 'b' }) } : {}) });

async function assertShed(response: Response, row: RowId): Promise<void> {
  assert.equal(response.headers.get('retry-after'), String(overloadRetrySeconds), response.url);
  await assertRefusal(response, row);
}

for (const database of databases) {
  describe(`overload on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      const more = database === 'postgres' ? { database_pool_max: '2' } : {};
      server = await startTestServer(database, { shedsLoad: true, flags: { metrics_listen: '127.0.0.1:0', ...more } });
      tenant = await createTestTenant(server);
    });
    after(() => server.close());
    const shedBy = async (reason: string): Promise<number> => {
      const text = await (await fetch(server.gatehouse.metricsUrl!)).text();
      return Number(new RegExp(`^gatehouse_shed_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
    };

    it('a late event loop refuses beginnings, a very late one all but health, and after it everything is answered', async () => {
      let turnMs = 400;
      const sleeper = new Int32Array(new SharedArrayBuffer(4));
      const turn = (): void => {
        if (turnMs === 0) return;
        Atomics.wait(sleeper, 0, 0, turnMs); // holds this thread, and so the loop, without using the processor
        setImmediate(turn);
      };
      const lagMs = (): number => server.gatehouse.app.loopLagMs();
      const until = async (reached: () => boolean): Promise<void> => {
        while (!reached()) await wait(1);
      };
      turn();
      try {
        await until(() => lagMs() > loopLagFirstMsMax);
        assert.ok(lagMs() < loopLagMsMax);
        await Promise.all([
          ...beginnings.map(async ([method, path, row]) => assertShed(await send(tenant.baseUrl, method, path), row)),
          ...middles.map(async ([method, path, status]) => assert.equal((await send(tenant.baseUrl, method, path)).status, status, path)),
          ...healths.map(async (path) => assert.equal((await fetch(`${server.url}${path}`)).status, 200)),
        ]);
        turnMs = 1500;
        await until(() => lagMs() > loopLagMsMax);
        await Promise.all([
          ...[...beginnings, ...middles.map(([method, path, , row]) => [method, path, row] as const)].map(async ([method, path, row]) =>
            assertShed(await send(tenant.baseUrl, method, path), row),
          ),
          ...healths.map(async (path) => assert.equal((await fetch(`${server.url}${path}`)).status, 200)),
        ]);
      } finally {
        turnMs = 0;
      }
      await until(() => lagMs() < loopLagFirstMsMax);
      for (const [method, path] of beginnings) assert.notEqual((await send(tenant.baseUrl, method, path)).status, 503, path);
      assert.ok((await shedBy('loop_lag')) >= 2 * beginnings.length + middles.length);
    });

    if (database === 'postgres')
      it('nobody got a connection for a second: all but health and what is published are refused, and then no more', async () => {
        const { database: store, cache, jobs } = server.gatehouse.services;
        // Nobody asks for a second, and then a slow machine may take long between two requests: the configuration stays young.
        const shed = async (method: string, path: string, row: RowId): Promise<void> => {
          cache.isFresh();
          await jobs.runNow(cache.pulseJob.name);
          await assertShed(await send(tenant.baseUrl, method, path), row);
        };
        const gate = Promise.withResolvers<void>();
        const held = [1, 2].map(() => store.systemRead(() => gate.promise));
        const waiting = store.ping();
        try {
          while (store.waitingMs() <= connectionWaitMsMax) await wait(10);
          for (const [method, path, row] of beginnings) await shed(method, path, row);
          for (const [method, path, status, row] of middles) {
            if (path.endsWith('/jwks')) assert.equal((await send(tenant.baseUrl, method, path)).status, status);
            else await shed(method, path, row);
          }
          for (const path of healths) assert.equal((await fetch(`${server.url}${path}`)).status, 200);
          // A refusal asks for the next pulse; the server's own turn of the job may be the one that makes it.
          let isPulsed = false;
          for (let turn = 0; turn < 5 && !isPulsed; turn += 1) {
            await shed(...beginnings[0]!);
            const fromMs = performance.now();
            await jobs.runNow(cache.pulseJob.name);
            isPulsed = cache.ageMs() <= performance.now() - fromMs + 2;
          }
          assert.ok(isPulsed);
        } finally {
          gate.resolve(); // else the server could not be closed
          await Promise.all([...held, waiting]);
        }
        while (store.waitingMs() > connectionWaitMsMax) await wait(10); // what the server itself does in the background
        assert.equal((await send(tenant.baseUrl, 'GET', '/v1/management/users')).status, 401);
        assert.ok((await shedBy('connections')) >= beginnings.length);
      });
  });
}

describe('where shedding begins', () => {
  it('loopLagFirstMsMax, loopLagMsMax and connectionWaitMsMax, at n and n+1', () => {
    const lag = (lagMs: number, turn: 'first' | 'last' | 'never') => findOverload({ lagMs, connectionWaitMs: 0 }, turn, false);
    assert.deepEqual([lag(loopLagFirstMsMax, 'first'), lag(loopLagFirstMsMax + 1, 'first')], [undefined, 'loop_lag']);
    assert.deepEqual([lag(loopLagMsMax, 'last'), lag(loopLagMsMax + 1, 'last')], [undefined, 'loop_lag']);
    assert.equal(lag(Number.POSITIVE_INFINITY, 'never'), undefined);
    const waited = (connectionWaitMs: number, isRemembered: boolean) => findOverload({ lagMs: 0, connectionWaitMs }, 'last', isRemembered);
    assert.deepEqual([waited(connectionWaitMsMax, false), waited(connectionWaitMsMax + 1, false)], [undefined, 'connections']);
    assert.equal(waited(connectionWaitMsMax + 1, true), undefined);
  });
});
