// Long work beside short work (design 21, 3): plans of connectors, previews of mappings, imports of metadata and what a connector compares
// take turns with one another and let the requests of other tenants through between their items. On both databases.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { longWorkPerTenantMax, longWorkRetrySeconds, longWorkTurnMsMax, longWorkWaitingPerTenantMax } from '../../src/contract/limits.ts';
import type { Pace } from '../../src/platform/turns/pace.ts';
import { type ConnectorWorld, hourMs, startConnectorWorld } from '../support/connectors.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { acs, entity, role } from '../support/metadata-host.ts';
import { assertRefusal } from '../support/refusal.ts';

const people = 60;

for (const database of databases)
  describe(`long work on ${database}`, () => {
    let world: ConnectorWorld;
    let neighbour: Managed;
    let connector: string;
    let userId: string;
    let onPace: ((tenant: string) => Promise<void>) | undefined;
    const events: string[] = [];
    /** Requests that have asked for a turn. */
    let asking = 0;
    before(async () => {
      world = await startConnectorWorld(database);
      await world.fresh();
      neighbour = await createTestTenant(world.server);
      for (let count = 0; count < people; count += 1) userId = (await createTestUser(world.tenant, `person${count}@x.example`)).id;
      connector = (await world.connect({ enabled: false })).id;
      const { longWork } = world.server.gatehouse.services;
      const { take } = longWork;
      const watched: typeof take = (tenant, isGone, work) => {
        asking += 1;
        return take(tenant, isGone, (pace) => {
          const watchedPace: Pace = async () => {
            await onPace?.(tenant);
            await pace();
          };
          return work(watchedPace);
        });
      };
      Object.assign(longWork, { take: watched });
    });
    after(() => world.close());
    beforeEach(() => {
      events.length = 0;
      onPace = undefined;
    });

    const askNeighbour = async (): Promise<void> => {
      const answer = await fetch(`${neighbour.baseUrl}/v1/idp/oidc/jwks`);
      assert.equal(answer.status, 200);
      await answer.text();
      events.push('neighbour');
    };
    const rule = (at: number): Json => ({ to: `title${at}`, from: 'user_name' });
    const importMetadata = (): Promise<Response> =>
      fetch(`${world.tenant.baseUrl}/v1/management/service-providers/import`, {
        method: 'POST',
        headers: { authorization: `Bearer ${world.tenant.token}`, 'content-type': 'application/samlmetadata+xml' },
        body: entity('https://imported.example', `<!--${' '.repeat(50_000)}-->${role(acs('https://imported.example/acs'))}`),
      });
    const long: Readonly<Record<string, () => Promise<Response>>> = {
      'import of metadata': importMetadata,
      plan: () => world.tenant.call('POST', `/connectors/${connector}/plan`),
      preview: () => world.tenant.call('POST', '/mappings/preview', { kind: 'oidc', user_id: userId, rules: [1, 2, 3].map(rule) }),
    };

    for (const name of Object.keys(long))
      it(`${name}: a neighbour is answered between its items`, async () => {
        onPace = async (tenant) => {
          assert.equal(tenant, world.tenant.id);
          events.push('item');
          if (events.length === 2) await askNeighbour();
        };
        const answer = await long[name]!();
        assert.ok(answer.ok, await answer.clone().text());
        assert.deepEqual(events.slice(0, 4), ['item', 'item', 'neighbour', 'item']);
      });

    it('an export of a list: a neighbour is answered between its items, and one more than may wait is refused', async () => {
      const { tenant, email } = await createConsoleTenant(world.server);
      for (let count = 0; count < 4; count += 1) await createTestUser(tenant, `listed${count}@x.example`);
      const { visitor } = await openConsole(world.server, tenant, email);
      onPace = async () => {
        events.push('item');
        if (events.length === 2) await askNeighbour();
      };
      const answer = await visitor.page('/users/export');
      assert.equal((await answer.text()).trim().split('\r\n').length, 6);
      assert.deepEqual(events.slice(0, 4), ['item', 'item', 'neighbour', 'item']);
      const gate = Promise.withResolvers<void>();
      onPace = () => gate.promise;
      const asked = Array.from({ length: longWorkPerTenantMax + longWorkWaitingPerTenantMax + 1 }, () => visitor.page('/users/export'));
      const refused = await Promise.race(asked);
      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, String(longWorkRetrySeconds)]);
      gate.resolve();
      const statuses = (await Promise.all(asked)).map(({ status }) => status);
      assert.deepEqual(statuses.toSorted(), [...Array(asked.length - 1).fill(200), 503]);
    });

    it('a document that a server applies: a neighbour is answered between its items', async () => {
      const { slug } = await createTestTenant(world.server);
      let asked: Promise<void> | undefined;
      async function* lines(): AsyncGenerator<string> {
        yield 'gatehouse: 1';
        yield 'users:';
        for (let item = 0; item < people; item += 1) {
          events.push('item');
          asked ??= askNeighbour();
          const untilMs = performance.now() + longWorkTurnMsMax;
          while (performance.now() < untilMs);
          yield `  - {user_name: "listed${item}@x.example", emails: [{value: "listed${item}@x.example", primary: true}]}`;
        }
      }
      await applyDocument(world.server.gatehouse.services, slug, lines);
      await asked;
      assert.ok(events.indexOf('neighbour') < people, events.join(' '));
    });

    it('what a connector compares: a neighbour is answered between its slices', async () => {
      await world.tenant.make('PATCH', `/connectors/${connector}`, { enabled: true });
      await world.run();
      assert.equal((await world.usersThere()).length, people);
      const { database: store } = world.server.gatehouse.services;
      const read = store.read.bind(store);
      let asked: Promise<void> | undefined;
      const slow: typeof read = (tenant, work) => {
        if (tenant === world.tenant.id && new Error('who reads').stack?.includes('/connectors/reconcile.ts') === true) {
          events.push('slice');
          asked ??= askNeighbour();
          const untilMs = performance.now() + longWorkTurnMsMax;
          while (performance.now() < untilMs);
        }
        return read(tenant, work);
      };
      await world.advance(25 * hourMs);
      Object.assign(store, { read: slow });
      await world.run();
      Object.assign(store, { read });
      await asked;
      assert.ok(events.includes('slice'));
      assert.ok(events.indexOf('neighbour') < events.lastIndexOf('slice'), events.join(' '));
    });

    it('all of it shares the turns of its tenant: longWorkWaitingPerTenantMax wait, one more is refused with when to come back', async () => {
      const gate = Promise.withResolvers<void>();
      onPace = async () => {
        events.push('item');
        await gate.promise;
      };
      const askingBefore = asking;
      const asked = [long['plan']!()];
      await eventually(() => events.length === longWorkPerTenantMax);
      asked.push(importMetadata());
      for (let count = 1; count < longWorkWaitingPerTenantMax; count += 1) asked.push(long['preview']!());
      await eventually(() => asking === askingBefore + longWorkPerTenantMax + longWorkWaitingPerTenantMax);
      const refused = await long['preview']!();
      assert.equal(refused.headers.get('retry-after'), String(longWorkRetrySeconds));
      await assertRefusal(refused, 'management.unavailable');
      await assertRefusal(await importMetadata(), 'management.unavailable');
      assert.equal(events.length, longWorkPerTenantMax);
      await askNeighbour();
      gate.resolve();
      const statuses = (await Promise.all(asked)).map(({ status }) => status);
      assert.deepEqual(statuses, Array(longWorkPerTenantMax + longWorkWaitingPerTenantMax).fill(200)); // it was imported before
    });
  });
