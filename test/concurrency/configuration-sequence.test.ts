// A change of configuration is seen by the first pulse after its commit, however long its transaction was open and however
// many others began, committed and were seen meanwhile. Readers and writers are separate connections, as of two processes.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TenantId } from '../../src/domain/ids.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type ConfigCache, createConfigCache } from '../../src/storage/engine/config/config-cache.ts';
import { bumpConfigEpoch } from '../../src/storage/engine/config/config-changes.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { openPostgres } from '../../src/storage/engine/dialects/postgres.ts';
import { openSqlite } from '../../src/storage/engine/dialects/sqlite.ts';
import { migrate } from '../../src/storage/engine/migrations/migrator.ts';
import { createTestDatabase, databases, type TestDatabase } from '../support/databases.ts';

const heldMax = 8;
const changes = 400;

for (const name of databases) {
  describe(`the sequence of configuration changes on ${name}`, () => {
    it(`${changes} changes, up to ${heldMax} open at a time and committed in another order: none is missed`, async () => {
      const own = await createTestDatabase(name);
      const writer = await open(own);
      const reader = await open(own);
      try {
        const cache = createConfigCache(reader, systemClock);
        const forgotten = new Set<TenantId | undefined>();
        cache.onForget((tenant) => forgotten.add(tenant));
        await cache.settle();
        // SQLite has one writer at a time: there the others wait their turn, and a held one would hold them all.
        const open: Held[] = [];
        const missed: TenantId[] = [];
        for (let made = 0; made < changes; made += 1) {
          const tenant = randomUUID() as TenantId;
          open.push(await beginChange(writer, tenant));
          if (open.length < (name === 'postgres' ? heldMax : 1)) continue;
          await pulse(cache);
          // Neither the oldest nor the newest comes first.
          const [late] = open.splice((made * 5) % open.length, 1);
          forgotten.clear();
          await late!.commit();
          await pulse(cache);
          if (!forgotten.has(late!.tenant)) missed.push(late!.tenant);
        }
        for (const { commit } of open) await commit();
        assert.equal(missed.length, 0, `${missed.length} of ${changes} missed`);
      } finally {
        await writer.close();
        await reader.close();
        await own.drop();
      }
    });
    it('a tenant that changed is told once, not by every later pulse', async () => {
      const own = await createTestDatabase(name);
      const database = await open(own);
      try {
        const cache = createConfigCache(database, systemClock);
        const told: (TenantId | undefined)[] = [];
        const tenant = randomUUID() as TenantId;
        await cache.settle();
        cache.onForget((changed) => told.push(changed));
        await database.write(tenant, (queries) => bumpConfigEpoch(queries, tenant));
        for (let turn = 0; turn < 3; turn += 1) await pulse(cache);
        assert.deepEqual(told, [tenant]);
      } finally {
        await database.close();
        await own.drop();
      }
    });
  });
}

interface Held {
  readonly tenant: TenantId;
  readonly commit: () => Promise<void>;
}

/** A transaction that has changed the tenant's configuration and is still open. */
async function beginChange(database: Database, tenant: TenantId): Promise<Held> {
  const changed = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const done = database.write(tenant, async (queries) => {
    await bumpConfigEpoch(queries, tenant);
    changed.resolve();
    await released.promise;
  });
  await changed.promise;
  return {
    tenant,
    commit: () => {
      released.resolve();
      return done;
    },
  };
}

async function pulse(cache: ConfigCache): Promise<void> {
  await nextTurn(); // the embedded database's reads of one turn share a snapshot
  cache.isFresh(); // a pulse is sent when somebody asked since the last
  await cache.pulseJob.run(AbortSignal.any([]));
}

async function open({ databaseUrl, dataFolder }: TestDatabase): Promise<Database> {
  if (databaseUrl !== undefined) return openPostgres({ url: databaseUrl, poolMax: heldMax + 2, timeoutMs: 60_000, asService: true });
  const database = openSqlite({ file: join(dataFolder, 'gatehouse.db'), clock: systemClock });
  await migrate(database);
  return database;
}
