// R9, E11: a new database, made of the snapshot on file, has the schema that the migrations make, in every detail of its catalogue; and a
// change of the schema shows as a change of that file (src/storage/engine/migrations/snapshot). A released migration never changes.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { Database } from '../../src/storage/engine/database.ts';
import { openPostgres } from '../../src/storage/engine/dialects/postgres.ts';
import { openSqlite } from '../../src/storage/engine/dialects/sqlite.ts';
import { findSchemaFault, migrationState, readLedger } from '../../src/storage/engine/migrations/ledger.ts';
import type { Migration } from '../../src/storage/engine/migrations/migration.ts';
import { migrate } from '../../src/storage/engine/migrations/migrator.ts';
import { migrations } from '../../src/storage/engine/migrations/registry.ts';
import { schemaLevel } from '../../src/storage/engine/migrations/schema-level.ts';
import { snapshotFile } from '../../src/storage/engine/migrations/snapshot.ts';
import { addColumn } from '../../src/storage/engine/migrations/table.ts';
import { createTestDatabase, databases, onServer, type TestDatabase, type TestPlace } from '../support/databases.ts';
import { migratedSchema, migrateStepwise } from '../support/migrated-schema.ts';
import { startTestServer } from '../support/server.ts';

const all = migrations.map(({ number }) => number);

describe('migrations', () => {
  it('are numbered upwards without repeats', () => {
    assert.deepEqual(
      all,
      [...new Set(all)].toSorted((left, right) => left - right),
    );
    assert.equal(new Set(migrations.map((migration) => migration.name)).size, migrations.length);
  });
});

for (const name of databases) {
  describe(`schema on ${name}`, () => {
    it('the snapshot is the one of these migrations', async () => {
      assert.ok(
        (await migratedSchema(name)) === readFileSync(snapshotFile(name), 'utf8'),
        'run npm run migration when the change is wanted',
      );
    });

    it('a new database has the catalogue that the migrations make', async () => {
      const [fresh, stepwise] = [await createTestDatabase(name), await createTestDatabase(name, migrateStepwise)];
      try {
        assert.equal(catalogueOf(fresh), catalogueOf(stepwise));
        assert.deepEqual(await ledgerOf(fresh), await ledgerOf(stepwise));
      } finally {
        await Promise.all([fresh.drop(), stepwise.drop()]);
      }
    });

    it('migrating again changes nothing', async () => {
      const database = await createTestDatabase(name);
      try {
        const before = catalogueOf(database);
        for (let turn = 0; turn < 2; turn += 1) {
          const server = await startTestServer(name, { database });
          assert.deepEqual(await migrationState(server.gatehouse.services.database), { pending: [], unknown: [] });
          await server.close();
        }
        assert.equal(catalogueOf(database), before);
      } finally {
        await database.drop();
      }
    });

    it('a migration that the snapshot does not know comes after it', async () => {
      const later: Migration = { number: 9001, name: 'later', apply: (context) => addColumn(context, 'clients', 'later', 'integer=7') };
      let applied: readonly number[] = [];
      const database = await createTestDatabase(name, async (place) => {
        await onOwner(place, async (owner) => {
          applied = await migrate(owner, [...migrations, later]);
        });
      });
      assert.deepEqual(applied, [...all, 9001]);
      assert.match(catalogueOf(database), /"?later"? (?:INTEGER|bigint)/);
      await database.drop();
    });

    it('a migrate that breaks off leaves the schema with its level', async () => {
      const database = await createTestDatabase(name, (place) =>
        onOwner(place, async (owner) => {
          const breakOff = (): void => {
            throw new Error('broken off');
          };
          await assert.rejects(migrate(owner, migrations, { onStep: breakOff }), /^Error: broken off$/);
          const { level } = await owner.systemRead((queries) => readLedger(queries, owner.dialect));
          assert.equal(level, schemaLevel);
          assert.equal(await findSchemaFault(owner), undefined);
        }),
      );
      await database.drop();
    });

    it('two that migrate a new database at once make it once', async () => {
      let applied: readonly (readonly number[])[] = [];
      const database = await createTestDatabase(name, (place) =>
        onOwner(place, (one) =>
          onOwner(place, async (other) => {
            applied = await Promise.all([migrate(one), migrate(other)]);
          }),
        ),
      );
      assert.deepEqual(
        applied.flat().toSorted((left, right) => left - right),
        all,
      );
      await database.drop();
    });
  });
}

if (databases.includes('postgres'))
  it('an owner without any other right makes a new database, and it serves', async () => {
    const login = `gatehouse_test_${randomUUID().slice(0, 8)}`;
    const server = new URL(process.env['GATEHOUSE_TEST_POSTGRES_URL']!);
    await onServer(server.href, async (client) => {
      await client.query(`CREATE ROLE ${login} LOGIN`);
      await client.query(`GRANT gatehouse_service TO ${login}`);
      await client.query(`CREATE DATABASE ${login} OWNER ${login} TEMPLATE template0`);
    });
    const own = new URL(server);
    own.pathname = `/${login}`;
    own.username = login;
    try {
      await onOwner({ dataFolder: '', databaseUrl: own.href }, async (owner) => {
        assert.deepEqual(await migrate(owner), all);
        assert.equal(await findSchemaFault(owner), undefined);
      });
    } finally {
      await onServer(server.href, async (client) => {
        await client.query(`DROP DATABASE ${login} WITH (FORCE)`);
        await client.query(`DROP ROLE ${login}`);
      });
    }
  });

describe('an upgrade on the embedded database', () => {
  /** Migrates up to a migration, after which somebody writes a row. */
  const upTo = (place: TestPlace, count: number): Promise<void> =>
    onOwner(place, async (database) => {
      const before = await migrationState(database);
      const applied = await migrate(database, migrations.slice(0, count), { isStepwise: true });
      assert.deepEqual(applied, all.slice(all.length - before.pending.length, count));
      await database.system((queries) =>
        queries
          .insertInto('instance')
          .values({ key: `kept-${count}`, value: 'yes' })
          .execute(),
      );
    });
  /** What a new database has, with as many kept rows. */
  const assertWhole = async (place: TestDatabase, kept: number): Promise<void> => {
    const whole = await createTestDatabase('sqlite');
    assert.equal(sqliteTables(place), sqliteTables(whole));
    assert.deepEqual(await ledgerOf(place), await ledgerOf(whole));
    await whole.drop();
    const file = new DatabaseSync(join(place.dataFolder, 'gatehouse.db'), { readOnly: true });
    assert.equal(file.prepare("SELECT count(*) AS n FROM instance WHERE key LIKE 'kept-%'").get()!['n'], kept);
    file.close();
  };

  it('that ends after each migration, with a row in it, and goes on from there becomes the whole', async () => {
    const place = await createTestDatabase('sqlite', async (empty) => {
      for (let count = 1; count <= migrations.length; count += 1) await upTo(empty, count);
    });
    await assertWhole(place, migrations.length);
    await place.drop();
  });

  it('from the first release at once becomes the whole', async () => {
    const place = await createTestDatabase('sqlite', async (empty) => {
      await upTo(empty, migrations.findIndex(({ number }) => number === 60) + 1);
      await upTo(empty, migrations.length);
    });
    await assertWhole(place, 2);
    await place.drop();
  });
});

async function onOwner({ dataFolder, databaseUrl }: TestPlace, work: (owner: Database) => Promise<void>): Promise<void> {
  const owner =
    databaseUrl === undefined
      ? openSqlite({ file: join(dataFolder, 'gatehouse.db'), clock: { nowMs: () => 1_800_000_000_000 } })
      : openPostgres({ url: databaseUrl, poolMax: 1, timeoutMs: 20_000, asService: false });
  try {
    await work(owner);
  } finally {
    await owner.close();
  }
}

/** All that the database says of itself: as pg_dump prints it, or every statement and figure of SQLite's planner. */
function catalogueOf(place: TestDatabase): string {
  if (place.databaseUrl === undefined)
    return `${sqliteTables(place)}\n${sqliteLines(place, 'SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY tbl, idx')}`;
  const dump = execFileSync('pg_dump', ['--schema-only', '--no-owner', place.databaseUrl], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  assert.match(dump, /CREATE POLICY tenant_rows ON public\.users/);
  assert.match(dump, /GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public\.users TO gatehouse_service/);
  return dump.replaceAll(/^\\(?:un)?restrict .*\n/gm, ''); // a new word each time
}

const sqliteTables = (place: TestPlace): string =>
  sqliteLines(place, 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name');

function sqliteLines({ dataFolder }: TestPlace, query: string): string {
  const file = new DatabaseSync(join(dataFolder, 'gatehouse.db'), { readOnly: true });
  const rows = file.prepare(query).all();
  file.close();
  assert.ok(rows.length > 100);
  return rows.map((row) => Object.values(row).join(' | ')).join('\n');
}

/** Numbers and names of the migrations on record, of both ledgers. */
async function ledgerOf(place: TestDatabase): Promise<readonly unknown[]> {
  let rows: readonly unknown[] = [];
  const query =
    "SELECT 'schema_migrations' AS ledger, number, name FROM schema_migrations UNION ALL SELECT 'schema_steps', number, name FROM schema_steps ORDER BY 2";
  if (place.databaseUrl !== undefined) await onServer(place.databaseUrl, async (client) => ({ rows } = await client.query(query)));
  else {
    const file = new DatabaseSync(join(place.dataFolder, 'gatehouse.db'), { readOnly: true });
    rows = file.prepare(query).all();
    file.close();
  }
  assert.equal(rows.length, migrations.length);
  return rows;
}
