// Floods of strangers, each beside somebody who only wants to be served: what they make grow in memory and on disk stays within the
// bounds of design 11 part 8, the victim is answered, and an operator still finds out what a refusal was.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createRefusalRecorder } from '../../src/audit/refusals.ts';
import { reject } from '../../src/contract/contract-error.ts';
import { loopLagFirstMsMax, refusalsPerTenantPerSecond, unansweredPerConnectionMax } from '../../src/contract/limits.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import { createLog } from '../../src/platform/log.ts';
import { requestIdAt } from '../../src/platform/random.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createDataFolder, type GatehouseProcess, serveEmbedded } from '../support/gatehouse-process.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { openSocket } from '../support/raw-http.ts';
import { startTestServer, type TestClock, type TestServer } from '../support/server.ts';

const megabyte = 1024 * 1024;
const memoryMegabytesMax = 50;
/** What was read of them at once included, which is given back. */
const pipeliningMegabytesMax = 100;

describe('floods of a process', () => {
  const folder = createDataFolder();
  let served: GatehouseProcess;
  let url = '';
  before(async () => {
    served = serveEmbedded(folder.path, { environment: { GATEHOUSE_TRUSTED_PROXIES: '127.0.0.1/32' } });
    url = await served.ready;
    await inTurns(400, 20, async () => assertServed()); // what a process takes for serving at all
  });
  after(async () => {
    served.signal('SIGTERM');
    await served.ended;
    folder.remove();
  });
  const residentMegabytes = (): number =>
    Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${served.pid}/status`, 'utf8'))![1]) / 1024;
  /** The victim: somebody who asks for what is there. */
  const assertServed = async (): Promise<void> => {
    const response = await fetch(`${url}/v1/idp/oidc/jwks`, { headers: { 'x-forwarded-for': '203.0.113.1' } });
    assert.equal(response.status, 200);
    await response.arrayBuffer();
  };
  /** A sign-in that an overloaded server would not begin: the request is answered for what it is. */
  const assertSignInBegins = async (): Promise<void> => {
    const response = await fetch(`${url}/v1/idp/oidc/authorize?client_id=nobody`, { redirect: 'manual' });
    assert.notEqual(response.status, 503);
    await response.arrayBuffer();
  };
  const grownBy = async (flood: () => Promise<void>): Promise<number> => {
    const before = residentMegabytes();
    await flood();
    return residentMegabytes() - before;
  };

  it('2,500 invented tenant names of long slugs and hosts, from 250 addresses', async () => {
    const statuses = new Map<number, number>();
    const grown = await grownBy(() =>
      inTurns(2500, 30, async (turn) => {
        const name = `${'n'.repeat(40)}-${turn}`;
        const headers = { 'x-forwarded-for': `198.51.100.${turn % 250}`, host: `${name}.${'h'.repeat(60)}.example` };
        const path = turn % 2 === 0 ? `${url}/t/${name}/v1/idp/oidc/jwks` : `${url}/v1/idp/oidc/nowhere`;
        const response = await fetch(path, { headers });
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        await response.arrayBuffer();
        if (turn % 500 === 0) await assertServed();
      }),
    );
    assert.deepEqual(
      [...statuses.keys()].filter((status) => status !== 404 && status !== 429),
      [],
    );
    assert.ok(grown <= memoryMegabytesMax, `${grown} MB`);
  });
  it('1,000 connections of one address that pipeline 28 MB of requests and never read', async () => {
    const one = 'GET /v1/idp/oidc/jwks HTTP/1.1\r\nHost: h\r\n\r\n';
    const asked = one.repeat(Math.floor((28 * 1024) / one.length));
    const sockets: Socket[] = [];
    const before = residentMegabytes();
    for (let count = 0; count < 1000; count += 1) {
      const socket = await openSocket(url);
      socket.on('error', () => undefined); // cut off, as it should be
      sockets.push(socket.pause());
    }
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, residentMegabytes());
    }, 20);
    // Half of them ask for no more than they may, so that they are not cut off.
    for (const [index, socket] of sockets.entries()) socket.write(index % 2 === 0 ? asked : one.repeat(unansweredPerConnectionMax));
    await assertServed();
    await assertSignInBegins();
    await wait(1000);
    clearInterval(watch);
    await eventually(() => residentMegabytes() - before <= memoryMegabytesMax);
    for (const socket of sockets) socket.destroy();
    assert.ok(peak - before <= pipeliningMegabytesMax, `${peak - before} MB`);
    await assertServed();
  });
});

for (const database of databases)
  describe(`a million refusals on ${database}`, () => {
    let nowMs = Math.floor(Date.now() / 60_000) * 60_000; // all of it within one minute
    const clock: TestClock = {
      nowMs: () => nowMs,
      advance: async (ms) => {
        nowMs += ms;
      },
    };
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database, { clock, shedsLoad: true });
      tenant = await createTestTenant(server);
    });
    after(() => server.close());

    it('leave few rows behind, and explain says of any of them what it may be one of', async () => {
      const { database: store } = server.gatehouse.services;
      const id = tenant.id as TenantId;
      const recorder = createRefusalRecorder(store, clock, createLog('silent'));
      const errors = ['client.invalid_client', 'token.code_invalid', 'oauth.not_found'] as const;
      const [seconds, perSecond] = [50, 20_000];
      const startedAtMs = nowMs;
      const sampled: { readonly requestId: string; readonly row: string }[] = [];
      for (let second = 0; second < seconds; second += 1) {
        for (let index = 0; index < perSecond; index += 1) {
          const row = errors[index % errors.length]!;
          const requestId = requestIdAt(nowMs);
          const addressBlock = `192.0.2.${index % 250}`;
          const error = reject(row, { reason: 'flooded', received: 'r'.repeat(50) });
          recorder.record({ tenant: id, requestId, error, method: 'POST', path: '/v1/idp/oidc/token', ip: addressBlock, addressBlock });
          if (index === perSecond - 1) sampled.push({ requestId, row });
        }
        await recorder.job.run(new AbortController().signal);
        await clock.advance(1000);
      }
      await clock.advance(65_000); // their minutes are over
      await recorder.job.run(new AbortController().signal);
      const rows = await store.read(id, (queries) =>
        queries
          .selectFrom('audit_events')
          .select(['type', 'data'])
          .where('tenant_id', '=', id)
          .where('created_at', '>=', startedAtMs - 60_000)
          .execute(),
      );
      const whole = rows.filter(({ type }) => type === 'refusal').length;
      const summaries = rows.filter(({ type }) => type === 'refusal_summary');
      assert.ok(whole <= refusalsPerTenantPerSecond * (seconds + 1), `${whole} rows`);
      const keys = errors.length * 250;
      assert.equal(summaries.length, keys);
      assert.ok(whole + summaries.length <= 20 * (seconds + 60)); // those of a minute are written once, behind it
      const counted = summaries.reduce((sum, { data }) => sum + JSON.parse(data!).count, 0);
      assert.equal(counted + whole, seconds * perSecond, 'none is lost');
      assert.ok(rows.reduce((sum, { data }) => sum + (data ?? '').length, 0) < megabyte);
      while (server.gatehouse.app.loopLagMs() > loopLagFirstMsMax) await wait(25); // the recording held the loop of this server
      for (const { requestId, row } of sampled) {
        const { items } = await tenant.make<{ items: readonly { type: string; row: string }[] }>('GET', `/events/${requestId}`);
        assert.ok(items.length > 0 && items.some((item) => item.row === row), requestId);
      }
      // The victim's own refusal, in the middle of it all, is stored whole once a second's share is there.
      await clock.advance(1000);
      const refused = await fetch(`${tenant.baseUrl}/v1/idp/oidc/nowhere`);
      const own = await tenant.make<{ items: readonly { type: string }[] }>('GET', `/events/${refused.headers.get('x-request-id')}`);
      assert.deepEqual(
        own.items.map(({ type }) => type),
        ['refusal'],
      );
    });
  });

/** Runs `work` so many times, so many at once. */
async function inTurns(times: number, atOnce: number, work: (turn: number) => Promise<void>): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < times) {
      next += 1;
      await work(next);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}
