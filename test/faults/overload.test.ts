// An overloaded server, for real: its event loop held up turn by turn, and its connections to PostgreSQL all taken. What programs do in bulk
// is refused first and says when to come back, people sign in, health always answers, explain knows of it, and it ends when the load does.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { RowId } from '../../src/contract/catalogue.ts';
import { connectionWaitMsMax, loopLagFirstMsMax, loopLagMsMax, overloadRetrySeconds } from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** What programs do in bulk, with the row that refuses it. */
const bulk: readonly (readonly [method: string, path: string, row: RowId])[] = [
  ['GET', '/scim/v2/Users', 'scim.unavailable'],
  ['GET', '/v1/management/users', 'management.unavailable'],
  ['GET', '/v1/system/tenants', 'management.unavailable'],
];
/** What people and their applications do, with the status it has by itself. */
const signIns: readonly (readonly [method: string, path: string, status: number, row: RowId])[] = [
  ['GET', '/v1/idp/oidc/authorize?client_id=x', 401, 'oauth.unavailable'],
  ['POST', '/v1/idp/oidc/par', 401, 'oauth.unavailable'],
  ['POST', '/v1/idp/oidc/bc-authorize', 401, 'oauth.unavailable'],
  ['GET', '/v1/idp/saml/sso', 400, 'oauth.unavailable'],
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

    it('a late event loop refuses bulk, a very late one all but health, and after it everything is answered and explained', async () => {
      const explained: (readonly [RowId, string])[] = [];
      let turnMs = 300;
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
          ...bulk.map(async ([method, path, row]) => assertShed(await send(tenant.baseUrl, method, path), row)),
          ...signIns.map(async ([method, path, status]) => assert.equal((await send(tenant.baseUrl, method, path)).status, status, path)),
          ...healths.map(async (path) => assert.equal((await fetch(`${server.url}${path}`)).status, 200)),
        ]);
        const early = await send(tenant.baseUrl, 'GET', '/scim/v2/Users');
        explained.push(['scim.unavailable', early.headers.get('x-request-id')!]);
        turnMs = 1200;
        await until(() => lagMs() > loopLagMsMax);
        const late = await send(tenant.baseUrl, 'POST', '/v1/idp/oidc/token');
        explained.push(['oauth.unavailable', late.headers.get('x-request-id')!]);
        await Promise.all([
          ...[...bulk, ...signIns.map(([method, path, , row]) => [method, path, row] as const)].map(async ([method, path, row]) =>
            assertShed(await send(tenant.baseUrl, method, path), row),
          ),
          ...healths.map(async (path) => assert.equal((await fetch(`${server.url}${path}`)).status, 200)),
        ]);
      } finally {
        turnMs = 0;
      }
      await until(() => lagMs() < loopLagFirstMsMax);
      for (const [method, path] of bulk) assert.notEqual((await send(tenant.baseUrl, method, path)).status, 503, path);
      for (const [row, id] of explained) {
        const found = await eventually(async () => {
          const response = await tenant.call('GET', `/events/${id}`); // 404 until it is written
          const { items = [] } = (await response.json()) as { readonly items?: readonly { row: string; reason: string }[] };
          return items.find((item) => item.row === row);
        });
        assert.equal(found!.reason, 'loop_lag');
      }
      assert.ok((await shedBy('loop_lag')) >= 2 * bulk.length + signIns.length);
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
          for (const [method, path, row] of bulk) await shed(method, path, row);
          for (const [method, path, status, row] of signIns) {
            if (path.endsWith('/jwks')) assert.equal((await send(tenant.baseUrl, method, path)).status, status);
            else await shed(method, path, row);
          }
          for (const path of healths) assert.equal((await fetch(`${server.url}${path}`)).status, 200);
          // A refusal asks for the next pulse; the server's own turn of the job may be the one that makes it.
          let isPulsed = false;
          for (let turn = 0; turn < 5 && !isPulsed; turn += 1) {
            await shed(...bulk[0]!);
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
        assert.ok((await shedBy('connections')) >= bulk.length);
      });
  });
}
