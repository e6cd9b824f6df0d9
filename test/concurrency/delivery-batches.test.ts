// What is claimed together for an endpoint that answers quickly: sent a few at a time over connections that are kept, written together,
// and, as far as nobody has begun it, given back as if it had never been claimed.
import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openBatch } from '../../src/deliveries/attempt.ts';
import type { Carrier } from '../../src/deliveries/carrier.ts';
import { absencesMax, deliveryKinds, leaseMs } from '../../src/deliveries/kinds.ts';
import type { TenantId, WebhookId } from '../../src/domain/ids.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import { type Claimed, claimDeliveries } from '../../src/storage/deliveries.ts';
import { type QueuedWebhookDelivery, queueDeliveries, resumeDeliveries } from '../../src/storage/records/webhook-deliveries.ts';
import { databases } from '../support/databases.ts';
import { until } from '../support/deliveries.ts';
import { freePort } from '../support/free-port.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { loopbackAllowed, makeHook } from '../support/webhooks.ts';

const { laneMax, batchMax, attemptMs, restMs } = deliveryKinds.webhook;
const timeout = 60_000;

/** Queues deliveries without events; gives their webhook-ids. */
async function queue({ gatehouse }: TestServer, tenant: Managed, hook: WebhookId, count: number): Promise<readonly string[]> {
  const all = Array.from({ length: count }, (_, seq) => ({
    id: uuidV7(Date.now()),
    eventId: uuidV7(Date.now()),
    seq,
    type: 'group.created',
    body: '{}',
  }));
  const id = tenant.id as TenantId;
  await gatehouse.services.database.write(id, (queries) => queueDeliveries(queries, id, hook, all));
  return all.map(({ eventId }) => eventId);
}

for (const name of databases) {
  describe(`deliveries claimed together on ${name}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let endpoint: Server;
    let connections = 0;
    const heard: string[] = [];
    before(async () => {
      server = await startTestServer(name, { flags: loopbackAllowed });
      tenant = await createTestTenant(server);
      endpoint = createServer((request, response) => {
        request.resume().on('end', () => {
          heard.push(String(request.headers['webhook-id']));
          response.writeHead(204).end();
        });
      });
      endpoint.keepAliveTimeout = timeout;
      endpoint.on('connection', () => (connections += 1));
      await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
    });
    after(async () => {
      endpoint.closeAllConnections();
      endpoint.close();
      await server.close();
    });
    const makeEndpoint = async (path: string): Promise<WebhookId> => {
      const { port } = endpoint.address() as AddressInfo; // listening on TCP
      return (await makeHook(tenant, `http://127.0.0.1:${port}${path}`)).id as WebhookId;
    };
    const waiting = (hook: WebhookId) =>
      server.gatehouse.services.database.systemRead((queries) =>
        queries.selectFrom('webhook_queue').selectAll().where('lane', '=', hook).execute(),
      );
    const ended = (hook: WebhookId) =>
      server.gatehouse.services.database.read(tenant.id as TenantId, (queries) =>
        queries.selectFrom('webhook_deliveries').selectAll().where('webhook_id', '=', hook).where('state', '<>', 'waiting').execute(),
      );

    it('each arrives once, over a few connections, and is ended', { timeout }, async () => {
      const hook = await makeEndpoint('/quick');
      const first = await queue(server, tenant, hook, 1); // a batch follows whoever answered
      await until(() => heard.length === 1);
      const ids = [...first, ...(await queue(server, tenant, hook, 3 * batchMax))];
      await server.gatehouse.services.jobs.runNow('deliveries');
      assert.deepEqual(heard.toSorted(), ids.toSorted());
      assert.ok(connections <= 2 * laneMax, `${connections} connections`); // one that was quiet for long is made again
      assert.deepEqual(await waiting(hook), []);
      const all = await ended(hook);
      assert.equal(all.length, ids.length);
      for (const { state, attempts, status, answer, duration_ms: ms, attempted_at: at } of all)
        assert.deepEqual([state, attempts, status, answer, ms !== null, at !== null], ['delivered', 1, 204, '', true, true]);
    });

    it('an endpoint where nobody is there is left alone between attempts, and hears what waits when it is back', { timeout }, async () => {
      const { jobs } = server.gatehouse.services;
      const port = await freePort();
      const hook = (await makeHook(tenant, `http://127.0.0.1:${port}/away`)).id as WebhookId;
      const count = 3 * (absencesMax + laneMax);
      const fromMs = performance.now();
      const ids = await queue(server, tenant, hook, count);
      await jobs.runNow('deliveries');
      const tried = (await waiting(hook)).reduce((sum, { attempts }) => sum + attempts, 0);
      const probes = Math.ceil((performance.now() - fromMs) / restMs!);
      assert.ok(tried >= absencesMax && tried <= absencesMax + laneMax + probes, `${tried} attempts`);

      heard.length = 0;
      const back = createServer(endpoint.listeners('request')[0] as RequestListener); // as given above
      await new Promise<void>((resolve) => back.listen(port, '127.0.0.1', resolve));
      try {
        const failed = new Set((await waiting(hook)).filter(({ attempts }) => attempts > 0).map(({ id }) => id));
        await until(async () => (await ended(hook)).length >= count - failed.size); // the others wait for their pause
        assert.equal(new Set(heard).size, heard.length);
        for (const id of heard) assert.ok(ids.includes(id));
      } finally {
        back.closeAllConnections();
        back.close();
      }
    });

    it('what a node that is late has not begun is given back, the attempt not counted', async () => {
      const { database, log, jobs } = server.gatehouse.services;
      await jobs.stop();
      const hook = await makeEndpoint('/late');
      await queue(server, tenant, hook, 5);
      const rows = await database.system((queries) =>
        claimDeliveries(queries, database.dialect, 'webhook', { lane: hook, limit: 5, leaseMs }),
      );
      const claimed = rows.map((row): Claimed => ({ kind: 'webhook', row }));
      const never = new AbortController().signal;
      const prepared: number[] = [];
      const carriers = { webhook: () => ({ prepare: async () => void prepared.push(1) }) };
      const deps = { database, log, carriers, count: () => undefined, stopping: never, cut: never };
      const batch = openBatch(deps, claimed, performance.now() - (leaseMs - attemptMs) - 1);
      assert.equal(await batch.attemptNext(), undefined);
      assert.equal(batch.attemptNext(), false);
      assert.deepEqual(prepared, []);
      const left = await waiting(hook);
      assert.deepEqual(
        left.map(({ attempts, due_at: at }) => [attempts, at <= Date.now() + 1000]),
        Array.from({ length: 5 }, () => [0, true]),
      );
    });

    it('who claimed a delivery of a disabled webhook puts it off no more once the webhook is enabled and another has claimed it', async () => {
      const { database, log } = server.gatehouse.services;
      const hook = await makeEndpoint('/enabled');
      await queue(server, tenant, hook, 1);
      const claim = async (): Promise<readonly Claimed[]> => {
        const claims = { lane: hook, limit: 1, leaseMs };
        const rows = await database.system((queries) => claimDeliveries(queries, database.dialect, 'webhook', claims));
        return rows.map((row): Claimed => ({ kind: 'webhook', row }));
      };
      const never = new AbortController().signal;
      const attempt = async (claimed: readonly Claimed[], prepare: Carrier<QueuedWebhookDelivery>): Promise<void> => {
        const deps = { database, log, carriers: { webhook: prepare }, count: () => undefined, stopping: never, cut: never };
        const batch = openBatch(deps, claimed, performance.now());
        await batch.attemptNext();
        await batch.concluded();
      };
      const disabled = await claim();
      const id = tenant.id as TenantId;
      await database.write(id, (queries) => resumeDeliveries(queries, id, hook));
      await wait(5); // a lease of another millisecond
      const enabled = await claim();
      assert.deepEqual([disabled[0]!.row.attempts, enabled[0]!.row.attempts], [1, 1]);
      await attempt(disabled, () => ({ prepare: async () => ({ notBeforeMs: Date.now() + 30 * 24 * 3_600_000 }) }));
      assert.deepEqual(await waiting(hook), [enabled[0]!.row]);
      await attempt(enabled, () => ({ prepare: async () => ({ send: async () => ({ result: 'failed' }) }) }));
      const [left] = await waiting(hook);
      assert.ok(left!.due_at < Date.now() + leaseMs, 'the pause after a first attempt');
    });
  });

  it(`a node that stops gives back what it has not begun, on ${name}`, { timeout }, async () => {
    const server = await startTestServer(name, { flags: loopbackAllowed });
    const held: ServerResponse[] = [];
    let isAnswering = true;
    const endpoint = createServer((_request, response) => void (isAnswering ? response.writeHead(204).end() : held.push(response)));
    await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
    try {
      const tenant = await createTestTenant(server);
      const { port } = endpoint.address() as AddressInfo; // listening on TCP
      const hook = (await makeHook(tenant, `http://127.0.0.1:${port}/`)).id as WebhookId;
      const { database, jobs } = server.gatehouse.services;
      await queue(server, tenant, hook, 1);
      await jobs.runNow('deliveries');
      isAnswering = false;
      await queue(server, tenant, hook, 20);
      await until(() => held.length === laneMax);
      await jobs.stop();
      const rows = await database.systemRead((queries) => queries.selectFrom('webhook_queue').selectAll().execute());
      assert.deepEqual(rows.map(({ attempts }) => attempts).toSorted(), [
        ...Array.from({ length: 20 - laneMax }, () => 0),
        ...Array.from({ length: laneMax }, () => 1),
      ]);
      const now = Date.now() + 1000;
      assert.ok(rows.every(({ due_at: at }) => at <= now));
    } finally {
      endpoint.closeAllConnections();
      endpoint.close();
      await server.close();
    }
  });
}
