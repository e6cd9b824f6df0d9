// docs/how-to/regions.md: a group in one region, followed by a standby cluster in another, both under the real Patroni. The region changes
// in good order and nothing is lost; then it goes with all its servers while people are written, the other is promoted, and what was lost
// and how long it took is said.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { openPostgres } from '../../src/storage/engine/dialects/postgres.ts';
import { migrate } from '../../src/storage/engine/migrations/migrator.ts';
import { createTestDatabase, type TestDatabase } from '../support/databases.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { hasPatroni, type PatroniCluster, startPatroni } from '../support/patroni.ts';
import { assertRefusal } from '../support/refusal.ts';
import { type Router, startRouter } from '../support/router.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const writers = 4;
const acknowledgedAtLeast = 100;

/** What one server says; undefined where it does not answer. */
async function ask<T>(url: string, text: string): Promise<T | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  try {
    await client.connect();
    return (await client.query<{ readonly found: T }>(`SELECT ${text} AS found`)).rows[0]?.found;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** How far the server of a cluster is that takes writes, as soon as there is one: what Patroni says of it is early. */
const writtenAt = async ({ urls }: PatroniCluster): Promise<string> => {
  for (;;)
    for (const url of urls) {
      const found = await ask<string>(url, 'CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_current_wal_lsn()::text END');
      if (found !== undefined && found !== null) return found;
      await wait(100);
    }
};
/** Resolves with the time it took until the cluster takes writes, in seconds. */
async function promoted(cluster: PatroniCluster, fromMs: number): Promise<number> {
  await cluster.promote();
  await writtenAt(cluster);
  return (performance.now() - fromMs) / 1000;
}

if (hasPatroni)
  describe('regions', () => {
    let first: PatroniCluster;
    let second: PatroniCluster;
    let own: TestDatabase;
    let router: Router;
    let server: TestServer | undefined;
    let tenant: Managed;
    before(async () => {
      first = await startPatroni();
      await first.settled();
      const owner = openPostgres({ url: first.url, poolMax: 1, timeoutMs: 20_000, asService: false });
      await migrate(owner);
      await owner.close();
      second = await startPatroni(first);
      await second.following();
      router = await startRouter();
      own = await createTestDatabase('sqlite'); // for its folder, where both regions have the master key
    });
    after(async () => {
      await server?.close();
      await router?.close();
      await second?.remove();
      await first?.remove();
      await own?.drop();
    });

    const serveAt = async (cluster: PatroniCluster): Promise<TestServer> => {
      const started = await startTestServer('postgres', {
        database: { ...own, databaseUrl: cluster.url, setOffsetMs: async () => undefined },
        flags: { database_timeout_ms: '4000', public_url: router.url, trusted_proxies: '127.0.0.1' },
      });
      router.sendTo((started.gatehouse.app.server.address() as AddressInfo).port);
      return started;
    };
    const makePerson = (name: string): Promise<Response> => tenant.call('POST', '/users', { user_name: name, emails: [{ value: name }] });
    const isThere = async (id: string): Promise<boolean> => {
      const { status, body } = await tenant.call('GET', `/users/${id}`);
      await body?.cancel();
      assert.ok(status === 200 || status === 404, String(status));
      return status === 200;
    };

    const hasReplayed = async ({ urls }: PatroniCluster, position: string): Promise<void> => {
      for (;;)
        for (const url of urls) {
          if ((await ask<boolean>(url, `pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= '${position}'::pg_lsn`)) === true) return;
          await wait(100);
        }
    };

    it('changes in good order: nothing is lost, and the region that served follows', { timeout: 300_000 }, async (test) => {
      server = await serveAt(first);
      tenant = await createTestTenant({ ...server, url: router.url });
      const made: string[] = [];
      for (let number = 0; number < acknowledgedAtLeast / 2; number += 1) {
        const response = await makePerson(`planned${number}@people.example`);
        made.push(((await response.json()) as { readonly id: string }).id);
        assert.equal(response.status, 201);
      }
      await server.close();
      const fromMs = performance.now();
      await hasReplayed(second, await writtenAt(first));
      await first.follow(second);
      const seconds = await promoted(second, fromMs);
      server = await serveAt(second);
      for (const id of made) assert.equal(await isThere(id), true, id);
      assert.equal((await makePerson('after@people.example')).status, 201);
      await first.following();
      test.diagnostic(`in good order: 0 of ${made.length} lost, ${seconds.toFixed(1)} s without a leader`);
    });

    it('goes with all its servers while people are written: the other is promoted, and lacks at most the last writes', {
      timeout: 300_000,
    }, async (test) => {
      await hasReplayed(first, await writtenAt(second));
      const acknowledged: string[][] = Array.from({ length: writers }, () => []);
      let going = true;
      const write = async (writer: number): Promise<void> => {
        for (let number = 0; going; number += 1) {
          const response = await makePerson(`w${writer}-${number}@people.example`);
          if (response.status === 201) acknowledged[writer]!.push(((await response.json()) as { readonly id: string }).id);
          else await assertRefusal(response, 'management.unavailable');
        }
      };
      const writing = Promise.all(acknowledged.map((_, writer) => write(writer)));
      writing.catch(() => undefined); // awaited below
      while (acknowledged.flat().length < acknowledgedAtLeast) await Promise.race([wait(20), writing.then(() => wait(20))]);
      await second.killAll();
      const fromMs = performance.now();
      going = false;
      await writing;
      await server!.close();
      const seconds = await promoted(first, fromMs);
      server = await serveAt(first);
      let lost = 0;
      for (const ids of acknowledged) {
        const there = await Promise.all(ids.map(isThere));
        const kept = there.indexOf(false) === -1 ? ids.length : there.indexOf(false);
        assert.ok(
          there.slice(kept).every((is) => !is),
          'what is lost are the last writes of a writer, and none before them',
        );
        lost += ids.length - kept;
      }
      assert.ok(lost < acknowledged.flat().length, 'the other region followed');
      assert.equal((await makePerson('late@people.example')).status, 201);
      test.diagnostic(`by a loss: ${lost} of ${acknowledged.flat().length} lost, ${seconds.toFixed(1)} s until the other region led`);
    });
  });
