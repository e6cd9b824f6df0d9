// Deliveries go to each endpoint in a lane of its own: a few at a time, one at a time to an endpoint that timed out three times in a
// row, a share for each tenant and 64 of all together; an endpoint that hangs delays no other. The endpoints are real and answer when the test says so.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { deliveryLanesMax } from '../../src/contract/limits.ts';
import {
  absencesMax,
  deliveryKinds,
  inHandMax,
  tenantAloneMax,
  tenantShareMax,
  timedOutMax,
  timeoutsMax,
} from '../../src/deliveries/kinds.ts';
import { createLanes, notePace, type OpenLane } from '../../src/deliveries/lanes.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { reachesLoopback } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { createToldClients, type HoldingReceiver, queueLogouts, startHoldingReceiver, until } from '../support/deliveries.ts';
import { createUser, rootTenant, type TestClient } from '../support/fixtures.ts';
import { issueTokens } from '../support/issued-tokens.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const { laneMax } = deliveryKinds.logout;
const flags = { ...reachesLoopback, public_url: 'https://id.example' };
const timeout = 60_000;

for (const name of databases) {
  describe(`lanes of deliveries on ${name}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let receiver: HoldingReceiver;
    before(async () => {
      server = await startTestServer(name, { flags });
      tenant = await rootTenant(server.gatehouse.services);
    });
    after(() => server.close());
    beforeEach(async () => {
      receiver = await startHoldingReceiver();
    });
    afterEach(async () => {
      receiver.open();
      const { database, jobs } = server.gatehouse.services;
      await jobs.runNow('deliveries');
      await database.system((queries) => queries.deleteFrom('logout_notices').execute());
      await receiver.close();
    });

    const clients = (...paths: readonly string[]): Promise<readonly TestClient[]> =>
      createToldClients(server.gatehouse.services, tenant, receiver, paths);
    const queue = (told: readonly TestClient[], count: number): Promise<readonly string[]> =>
      queueLogouts(server.gatehouse.services, tenant, told, count);
    /** Claims made so far of the notices that wait. */
    const claims = async (): Promise<number> => {
      const rows = await server.gatehouse.services.database.systemRead((queries) =>
        queries.selectFrom('logout_notices').select('attempts').execute(),
      );
      return rows.reduce((sum, { attempts }) => sum + attempts, 0);
    };
    const idsAt = (path: string): readonly string[] => receiver.arrived.filter((one) => one.path === path).map(({ id }) => id);
    /** What is queued for another endpoint now arrives after a claim that also looked at all others. */
    const passOneClaim = async (): Promise<void> => {
      const path = `/pass-${receiver.arrived.length}`;
      await queue(await clients(path), 1);
      await until(() => idsAt(path).length === 1);
      receiver.answer(path);
    };

    it('an endpoint that hangs holds four, not five, and the others hear everything meanwhile', { timeout }, async (t) => {
      const hanging = await clients('/hangs');
      const others = await clients('/one', '/two', '/three');
      await queue(hanging, 2 * laneMax);
      await until(() => receiver.held('/hangs') === laneMax);
      const fromMs = performance.now();
      const ids = await queue(others, 1);
      await until(() => ['/one', '/two', '/three'].every((path) => receiver.held(path) === 1));
      const lastMs = Math.max(...receiver.arrived.map(({ atMs }) => atMs));
      t.diagnostic(`the others heard ${Math.round(lastMs - fromMs)} ms after queueing began`);
      assert.deepEqual(['/one', '/two', '/three'].flatMap(idsAt).sort(), ids.toSorted());
      await passOneClaim();
      assert.equal(receiver.held('/hangs'), laneMax);
      assert.equal(idsAt('/hangs').length, laneMax);
      receiver.answer('/hangs', 1);
      await until(() => idsAt('/hangs').length === laneMax + 1);
      assert.deepEqual(receiver.doubled, []);
    });

    it('three time-outs in a row: one at a time, until it answers', { timeout }, async () => {
      const hanging = await clients('/silent');
      await queue(hanging, timeoutsMax);
      await until(() => receiver.arrived.filter(({ wasCut }) => wasCut).length === timeoutsMax);
      await until(() => idsAt('/silent').length === timeoutsMax + 1); // the first that is tried again
      await queue(hanging, laneMax);
      await passOneClaim();
      assert.equal(receiver.held('/silent'), 1);
      receiver.answer('/silent');
      await until(() => receiver.held('/silent') === laneMax);
    });

    it(`${tenantAloneMax} of all endpoints of a tenant together, and one more when one has ended`, { timeout }, async () => {
      const many = await clients(...Array.from({ length: tenantAloneMax / laneMax + 1 }, (_, index) => `/lane-${index}`));
      await queue(many, laneMax);
      await until(() => receiver.held() === tenantAloneMax);
      server.gatehouse.services.jobs.wake();
      assert.equal(await claims(), tenantAloneMax);
      receiver.answer(receiver.arrived[0]!.path, 1);
      await until(() => receiver.arrived.length === tenantAloneMax + 1);
      receiver.open();
      await until(() => new Set(receiver.arrived.map(({ id }) => id)).size === (tenantAloneMax / laneMax + 1) * laneMax);
      assert.deepEqual(receiver.doubled, []);
    });

    it('what a node of release 0.1.0 queued has no lane and is delivered', { timeout }, async () => {
      const { services } = server.gatehouse;
      const [client] = await clients('/old');
      const { grantId } = await issueTokens(services, tenant, client!, (await createUser(services, tenant)).id);
      await services.database.system((queries) =>
        sql`INSERT INTO logout_notices (tenant_id, grant_id, due_at, attempts) VALUES (${tenant.id}, ${grantId}, gatehouse_now_ms(), 0)`.execute(
          queries,
        ),
      );
      receiver.open();
      await services.jobs.runNow('deliveries');
      assert.deepEqual(idsAt('/old'), [`logout-${grantId}`]);
    });

    it('never two attempts at a time of one, however often it is woken', { timeout }, async () => {
      const told = await clients('/a', '/b', '/c');
      const second =
        name === 'postgres' ? await startTestServer(name, { flags, database: server.database, clock: server.clock }) : undefined;
      const nodes = [server, ...(second === undefined ? [] : [second])];
      try {
        const ids = await queue(told, 10);
        while (receiver.arrived.length < ids.length) {
          for (const node of nodes) node.gatehouse.services.jobs.wake();
          for (const path of ['/a', '/b', '/c']) if (receiver.held(path) >= 2) receiver.answer(path, 1);
          await new Promise((done) => setImmediate(done));
          if (ids.length - receiver.arrived.length < 6) receiver.open();
        }
        await Promise.all(nodes.map((node) => node.gatehouse.services.jobs.runNow('deliveries')));
        assert.deepEqual(receiver.arrived.map(({ id }) => id).sort(), ids.toSorted());
        assert.deepEqual(receiver.doubled, []);
      } finally {
        await second?.close();
      }
    });
  });

  describe(`a node that stops, on ${name}`, () => {
    it('gives back what it has in hand: the next node has no lease to wait for', { timeout }, async () => {
      const receiver = await startHoldingReceiver();
      const one = await startTestServer(name, { flags });
      const again = { flags, database: one.database, clock: one.clock };
      const { services } = one.gatehouse;
      const tenant = await rootTenant(services);
      try {
        const ids = await queueLogouts(services, tenant, await createToldClients(services, tenant, receiver, ['/hangs']), laneMax);
        await until(() => receiver.held() === laneMax);
        await one.gatehouse.close();
        assert.equal(receiver.held(), 0);
        receiver.open();
        const next = await startTestServer(name, again);
        await next.gatehouse.services.jobs.runNow('deliveries');
        await next.close();
        assert.deepEqual(receiver.arrived.map(({ id }) => id).sort(), [...ids, ...ids].sort());
      } finally {
        await one.database.drop();
        await receiver.close();
      }
    });
  });
}

describe('lanes', () => {
  const due = (lane: string, tenant = 'acme') => ({ kind: 'logout', lane, tenant }) as const;

  it('room is given in turns, so that many endpoints each get some', () => {
    const lanes = createLanes(6);
    const open = lanes.reserve(['a', 'b', 'c', 'd'].map((lane) => due(lane)));
    assert.deepEqual(open.map(({ lane, room }) => `${lane}${room}`).sort(), ['a2', 'b2', 'c1', 'd1']);
    assert.deepEqual(lanes.reserve([due('e')]), []);
    assert.equal(lanes.release(open[0]!.state, 1), true);
    assert.deepEqual(
      lanes.reserve([due('e')]).map(({ room }) => room),
      [1],
    );
  });
  const roomBy = (open: readonly OpenLane[]): Readonly<Record<string, number>> =>
    Object.fromEntries(
      [...Map.groupBy(open, ({ tenant }) => tenant)].map(([tenant, all]) => [tenant, all.reduce((sum, { room }) => sum + room, 0)]),
    );
  const many = (tenant: string, count = 20) => Array.from({ length: count }, (_, at) => due(`${tenant}-${at}`, tenant));

  it('tenantShareMax: tenantAloneMax: so much for a tenant while another waits or has some in hand, more when it is alone', () => {
    const lanes = createLanes(inHandMax);
    const tenants = ['a', 'b', 'c', 'd'];
    assert.deepEqual(
      roomBy(lanes.reserve(tenants.flatMap((tenant) => many(tenant)))),
      Object.fromEntries(tenants.map((tenant) => [tenant, tenantShareMax])),
    );
    assert.deepEqual(roomBy(lanes.reserve([...many('a'), ...many('e', 1)])), { e: laneMax });
    const alone = createLanes(inHandMax);
    assert.deepEqual(roomBy(alone.reserve(many('a'))), { a: tenantAloneMax });
    assert.deepEqual(roomBy(alone.reserve(many('a'))), {});
    assert.deepEqual(roomBy(alone.reserve([...many('a'), ...many('b')])), { b: tenantShareMax });
    const crowded = createLanes(inHandMax);
    const crowd = Array.from({ length: 2 * tenantShareMax }, (_, at) => `t${at}`);
    const each = roomBy(crowded.reserve(crowd.flatMap((tenant) => many(tenant))));
    assert.deepEqual(each, Object.fromEntries(crowd.map((tenant) => [tenant, inHandMax / crowd.length])), 'in turns');
  });
  it('timedOutMax: so much for all that time out, in turns; the others have the rest', () => {
    const lanes = createLanes(inHandMax);
    const slow = ['a', 'b', 'c', 'd'].flatMap((tenant) => many(tenant, tenantShareMax));
    for (const { state, room } of lanes.reserve(slow)) {
      notePace(state, { result: 'timeout' }, 10_000);
      lanes.release(state, room);
    }
    const first = lanes.reserve(slow);
    assert.deepEqual(roomBy(first), { a: 4, b: 4, c: 4, d: 4 });
    assert.equal(first.length, timedOutMax);
    for (const { state, room } of first) lanes.release(state, room);
    const second = lanes.reserve(slow);
    assert.deepEqual(
      second.filter(({ lane }) => first.some((before) => before.lane === lane)),
      [],
      'those that waited',
    );
    assert.deepEqual(roomBy(lanes.reserve([...slow, ...many('a'), ...many('e')])), { a: 4, e: tenantShareMax });
  });
  it('absencesMax: an endpoint where nobody was there so often is left alone for a while, then gets one attempt', async () => {
    const lanes = createLanes(inHandMax);
    const roomOf = (): readonly number[] => {
      const open = lanes.reserve([{ kind: 'webhook', lane: 'away', tenant: 'acme' }]);
      for (const { state, room } of open) lanes.release(state, room);
      return open.map(({ limit }) => limit);
    };
    const [{ state }] = lanes.reserve([{ kind: 'webhook', lane: 'away', tenant: 'acme' }]) as [OpenLane];
    lanes.release(state, state.inHand);
    const absent = { result: 'failed', reason: 'network' } as const;
    for (let attempt = 1; attempt < absencesMax; attempt += 1) notePace(state, absent, 1);
    assert.deepEqual(roomOf(), [deliveryKinds.webhook.laneMax]);
    notePace(state, absent, 1);
    assert.deepEqual(roomOf(), []);
    await new Promise((done) => setTimeout(done, deliveryKinds.webhook.restMs! + 10));
    assert.deepEqual(roomOf(), [1]);
    notePace(state, { result: 'failed', reason: 'status_500' }, 1);
    assert.deepEqual(roomOf(), [deliveryKinds.webhook.batchMax]);
  });
  it('deliveryLanesMax: time-outs of endpoints that have nothing in hand are remembered up to it, and forgotten beyond', () => {
    const remembered = (others: number): number => {
      const lanes = createLanes(inHandMax);
      const timeOut = (lane: string): void => {
        const [open] = lanes.reserve([due(lane)]);
        open!.state.timeouts = timeoutsMax;
        lanes.release(open!.state, open!.room);
      };
      timeOut('first');
      for (let other = 0; other < others; other += 1) timeOut(`other-${other}`);
      return lanes.reserve([due('first')])[0]!.room;
    };
    assert.equal(remembered(deliveryLanesMax - 1), 1);
    assert.equal(remembered(deliveryLanesMax), laneMax);
  });
});
