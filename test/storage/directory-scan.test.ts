// Scans in orders on both databases: pages, skips and counts agree with the plain list, sorted pages come from an index,
// and on the embedded database a scan leaves the event loop to others between its chunks.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { UserId } from '../../src/domain/ids.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import { creationOrder, ordersOf } from '../../src/scim/list/sort-order.ts';
import type { Database, Queries } from '../../src/storage/engine/database.ts';
import { type Condition, type Order, type Position, type Scan, scanCount, scanRows } from '../../src/storage/people/directory-scan.ts';
import type { UserProfile } from '../../src/storage/people/user-rows.ts';
import { insertUser } from '../../src/storage/people/user-writer.ts';
import { databases } from '../support/databases.ts';
import { rootTenant } from '../support/scim.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const usersCount = 1200;
const titled: Condition = sql`(u.title_key IS NOT NULL)`;

for (const name of databases) {
  describe(`scans (${name})`, () => {
    let server: TestServer;
    let database: Database;
    let scanOf: (queries: Queries, order: Order, where?: Condition) => Scan;
    before(async () => {
      server = await startTestServer(name);
      database = server.gatehouse.services.database;
      const { id: tenant } = await rootTenant(server);
      scanOf = (queries, order, where) => ({
        queries,
        dialect: database.dialect,
        directory: { tenant },
        order,
        indexed: false,
        ...(where === undefined ? {} : { where }),
      });
      await insertUsers(server, usersCount, (at) => ({
        user_name: `user-${(at * 7919) % usersCount}`,
        display_name: at % 5 === 0 ? null : `Name ${at % 40}`,
        family_name: at % 2 === 0 ? null : `Family ${at % 30}`,
        title: at % 150 === 0 ? 'Dr' : null,
      }));
    });
    after(() => server.close());

    const read = async <T>(work: (queries: Queries) => Promise<T>): Promise<T> => database.read((await rootTenant(server)).id, work);
    const idsOf = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map((row) => row.id);

    it('a page from any position is that part of the whole list, filtered or not', () =>
      read(async (queries) => {
        for (const where of [undefined, titled]) {
          const scan = scanOf(queries, creationOrder('u'), where);
          const whole = await scanRows(scan, { after: undefined, skip: 0, limit: 10_000 });
          assert.equal(await scanCount(scan), whole.rows.length);
          for (const skip of [1, 7, 499, 500, 501, 1100].filter((each) => each < whole.rows.length)) {
            const part = await scanRows(scan, { after: undefined, skip, limit: 10 });
            assert.deepEqual(idsOf(part.rows), idsOf(whole.rows).slice(skip, skip + 10));
            assert.equal(part.skipped, skip);
          }
          const beyond = await scanRows(scan, { after: undefined, skip: 9000, limit: 10 });
          assert.deepEqual(beyond, { rows: [], skipped: whole.rows.length });
        }
      }));

    for (const column of ['user_name_key', 'display_name_key', 'family_name_key', 'updated_at', 'created_at']) {
      for (const descending of [false, true]) {
        it(`sorted by ${column}, ${descending ? 'descending' : 'ascending'}: every user once, in order, from page to page`, () =>
          read(async (queries) => {
            const seen: { id: string; key: string | number | null }[] = [];
            for (const order of ordersOf('u', { column, descending })) {
              const isAbsent = order.index?.startsWith('users_without_') === true;
              let from: Position | undefined;
              for (;;) {
                const { rows } = await scanRows(scanOf(queries, order), { after: from, skip: 0, limit: 400 });
                if (rows.length === 0) break;
                seen.push(...rows.map((row) => ({ id: row.id, key: isAbsent ? null : row.position[0]! })));
                from = rows.at(-1)!.position;
              }
            }
            const live = await scanCount(scanOf(queries, creationOrder('u')));
            assert.equal(new Set(seen.map((row) => row.id)).size, live);
            assert.equal(seen.length, live);
            const keys = seen.map((row) => row.key).filter((key) => key !== null);
            const sorted = keys.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
            assert.deepEqual(keys, descending ? sorted.toReversed() : sorted);
            const absent = seen.map((row) => row.key === null);
            assert.deepEqual(absent, descending ? absent.toSorted().toReversed() : absent.toSorted());
          }));
      }
    }
  });
}

describe('scans share the event loop (sqlite)', () => {
  it('other work runs between the chunks of two scans, and both find what they should', async () => {
    const server = await startTestServer('sqlite');
    try {
      const { database } = server.gatehouse.services;
      const { id: tenant } = await rootTenant(server);
      await insertUsers(server, 3000, (at) => ({ user_name: `user-${at}`, title: at === 2900 ? 'Dr' : null }));
      let turns = 0;
      let isOver = false;
      const tick = (): void => {
        turns += 1;
        if (!isOver) setImmediate(tick);
      };
      setImmediate(tick);
      const scan = (): Promise<number> =>
        database.read(tenant, (queries) =>
          scanCount({ queries, dialect: 'sqlite', directory: { tenant }, order: creationOrder('u'), where: titled, indexed: false }),
        );
      // 3,000 users are at least three chunks (500, then at most twice as many as before): two waits a scan, none shared.
      assert.deepEqual(await Promise.all([scan(), scan()]), [1, 1]);
      isOver = true;
      assert.ok(turns >= 4, `${turns} turns`);
    } finally {
      await server.close();
    }
  });
});

/** Inserts users a hundred a transaction. */
async function insertUsers(server: TestServer, count: number, columnsOf: (at: number) => UserProfile): Promise<void> {
  const { database } = server.gatehouse.services;
  const { id: tenant } = await rootTenant(server);
  for (let from = 0; from < count; from += 100) {
    await database.write(tenant, async (queries) => {
      for (let at = from; at < Math.min(from + 100, count); at += 1) {
        const id = uuidV7(server.clock.nowMs()) as UserId;
        await insertUser(queries, tenant, { id, state: 'active', origin: 'scim', profile: columnsOf(at), lists: {} });
      }
    });
  }
}
