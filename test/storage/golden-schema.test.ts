// R9, E11: the schema every migration makes, as text per database under test/vectors/schema/. A change of the schema shows as a
// change of the file; a released file never changes. GATEHOUSE_TEST_WRITE_SCHEMA=1 writes the file of the current history.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { openSqlite } from '../../src/storage/engine/dialects/sqlite.ts';
import { migrationState } from '../../src/storage/engine/migrations/ledger.ts';
import { migrate } from '../../src/storage/engine/migrations/migrator.ts';
import { migrations } from '../../src/storage/engine/migrations/registry.ts';
import { createTestDatabase, databases, onServer, type TestDatabase } from '../support/databases.ts';
import { startTestServer } from '../support/server.ts';

const folder = join(import.meta.dirname, '..', 'vectors', 'schema');
const writing = process.env['GATEHOUSE_TEST_WRITE_SCHEMA'] === '1';

describe('migrations', () => {
  it('are numbered upwards without repeats', () => {
    const numbers = migrations.map((migration) => migration.number);
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].toSorted((left, right) => left - right),
    );
    assert.equal(new Set(migrations.map((migration) => migration.name)).size, migrations.length);
  });
});

for (const name of databases) {
  describe(`schema on ${name}`, () => {
    it('is the one on file, and migrating again changes nothing', async () => {
      const database = await createTestDatabase(name);
      try {
        const server = await startTestServer(name, { database });
        const { services } = server.gatehouse;
        const dump = await dumpOf(database);
        assert.deepEqual(await migrationState(services.database), { pending: [], unknown: [] });
        await server.close();
        const again = await startTestServer(name, { database });
        await again.close();
        assert.equal(await dumpOf(database), dump);
        const file = join(folder, `${name}.sql`);
        if (writing) {
          mkdirSync(folder, { recursive: true });
          writeFileSync(file, dump);
        }
        assert.ok(existsSync(file), 'run with GATEHOUSE_TEST_WRITE_SCHEMA=1 once');
        assert.equal(dump, readFileSync(file, 'utf8'), `${file}: run with GATEHOUSE_TEST_WRITE_SCHEMA=1 when the change is wanted`);
      } finally {
        await database.drop();
      }
    });
  });
}

describe('an upgrade on the embedded database', () => {
  it('each prefix of the history, with a row in it, becomes the whole', async () => {
    const whole = await createTestDatabase('sqlite');
    const clock = { nowMs: () => 1_800_000_000_000 };
    try {
      for (let count = 1; count < migrations.length; count += 1) {
        const file = join(whole.dataFolder, `upgrade-${count}.db`);
        const first = openSqlite({ file, clock });
        await migrate(first, migrations.slice(0, count));
        await first.system((queries) =>
          queries
            .insertInto('instance')
            .values({ key: 'kept', value: String(count) })
            .execute(),
        );
        await first.close();
        const second = openSqlite({ file, clock });
        assert.deepEqual(
          await migrate(second),
          migrations.slice(count).map((migration) => migration.number),
        );
        const kept = await second.systemRead((queries) =>
          queries.selectFrom('instance').select('value').where('key', '=', 'kept').execute(),
        );
        assert.equal(kept[0]?.value, String(count));
        await second.close();
        assert.equal(dumpSqlite(file), readFileSync(join(folder, 'sqlite.sql'), 'utf8'), `from ${count} migrations`);
      }
    } finally {
      await whole.drop();
    }
  });
});

async function dumpOf(database: TestDatabase): Promise<string> {
  return database.databaseUrl === undefined ? dumpSqlite(join(database.dataFolder, 'gatehouse.db')) : dumpPostgres(database.databaseUrl);
}

function dumpSqlite(file: string): string {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database
    .prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type DESC, name")
    .all() as { sql: string }[];
  database.close();
  return `${rows.map((row) => row.sql).join(';\n')};\n`;
}

const postgresDump = `
  SELECT c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
    || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') || coalesce(' COLLATE ' || l.collname, '') AS line
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum LEFT JOIN pg_collation l ON l.oid = a.attcollation
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> 'test_clock'
  UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND contype IN ('c', 'f')
  UNION ALL SELECT tablename || ' POLICY ' || policyname || ' ' || cmd || ' ' || qual || ' ' || with_check FROM pg_policies WHERE schemaname = 'public'`;

async function dumpPostgres(url: string): Promise<string> {
  let text = '';
  await onServer(url, async (client) => {
    const { rows } = await client.query(`SELECT line FROM (${postgresDump}) lines ORDER BY line COLLATE "C"`);
    text = rows.map((row) => row.line).join('\n');
  });
  return `${text}\n`;
}
