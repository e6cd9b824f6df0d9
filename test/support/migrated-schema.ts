// What the migrations, one after another, make of an empty database, as the text of a snapshot (storage/engine/migrations/snapshot.ts).
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type pg from 'pg';
import { openPostgres } from '../../src/storage/engine/dialects/postgres.ts';
import { openSqlite } from '../../src/storage/engine/dialects/sqlite.ts';
import type { Migration } from '../../src/storage/engine/migrations/migration.ts';
import { migrate } from '../../src/storage/engine/migrations/migrator.ts';
import { migrations } from '../../src/storage/engine/migrations/registry.ts';
import { statementEnd } from '../../src/storage/engine/migrations/snapshot.ts';
import { createTestDatabase, type DatabaseName, onServer, type TestPlace } from './databases.ts';

/** Migrates the empty database of a test step by step. */
export async function migrateStepwise({ dataFolder, databaseUrl }: TestPlace, history: readonly Migration[] = migrations): Promise<void> {
  const database =
    databaseUrl === undefined
      ? openSqlite({ file: join(dataFolder, 'gatehouse.db'), clock: { nowMs: Date.now } })
      : openPostgres({ url: databaseUrl, poolMax: 1, timeoutMs: 20_000, asService: false });
  await migrate(database, history, { isStepwise: true });
  await database.close();
}

/** The text of a snapshot. */
export async function migratedSchema(name: DatabaseName): Promise<string> {
  let statements: readonly string[] = [];
  const database = await createTestDatabase(name, async (place) => {
    await migrateStepwise(place);
    if (place.databaseUrl === undefined) statements = sqliteStatements(join(place.dataFolder, 'gatehouse.db'));
    else await onServer(place.databaseUrl, async (client) => (statements = await postgresStatements(client)));
  });
  await database.drop();
  for (const statement of statements) assert.ok(!statement.includes('\n\n'), `expected a statement without an empty line: ${statement}`);
  const what = '-- The schema as the migrations leave it, for a new database. Written by `npm run migration`; do not edit.\n';
  return `${what}${statements.map((statement) => `${statement}${statementEnd}`).join('')}`.trimEnd().concat('\n');
}

interface LedgerRow {
  readonly number: number | string;
  readonly name: string;
}

const ledgers = ['schema_migrations', 'schema_steps'];

const ledgerStatement = (table: string, rows: readonly LedgerRow[]): string =>
  `INSERT INTO ${table} (number, name, applied_at) VALUES\n${rows.map(({ number, name }) => `  (${number}, '${name}', gatehouse_now_ms())`).join(',\n')}`;

const isLedger = (statement: string): boolean => /^CREATE TABLE (IF NOT EXISTS )?"?schema_(migrations|steps)\b/.test(statement);

function sqliteStatements(file: string): readonly string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const all = <Row>(query: string): readonly Row[] => database.prepare(query).all() as unknown[] as readonly Row[]; // each query names its columns
  // In order of their creation. Tables that a virtual table keeps to itself come with it.
  const made = all<{ type: string; name: string; sql: string }>(
    `SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY rowid`,
  ).filter(({ sql }) => !isLedger(sql));
  const statistics = all<{ tbl: string; idx: string; stat: string }>('SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY tbl, idx');
  for (const { name } of made.filter(({ type, name: table }) => type === 'table' && table !== 'instance'))
    assert.equal(all(`SELECT 1 FROM "${name}" LIMIT 1`).length, 0, `expected no rows in ${name} before anybody wrote`);
  const recorded = ledgers.map((table) => ledgerStatement(table, all<LedgerRow>(`SELECT number, name FROM ${table} ORDER BY number`)));
  database.close();
  return [
    ...made.map(({ sql }) => sql),
    'ANALYZE sqlite_schema', // makes sqlite_stat1
    `INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES\n${statistics.map(({ tbl, idx, stat }) => `  ('${tbl}', '${idx}', '${stat}')`).join(',\n')}`,
    'ANALYZE sqlite_schema', // reads it
    ...recorded,
  ];
}

/** Each query gives statements, in order. What the migrator itself keeps right is none of them: roles, rights, policies and its functions. */
const postgresQueries = [
  `SELECT format(E'CREATE TABLE %I (\\n  %s\\n)', t.relname, string_agg(part, E',\\n  ' ORDER BY place, position)) AS statement
    FROM pg_class t, LATERAL (
      SELECT 1 AS place, a.attnum::bigint AS position, format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod))
          || coalesce(' COLLATE ' || quote_ident(l.collname), '') || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
          || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') AS part
        FROM pg_attribute a JOIN pg_type y ON y.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
          LEFT JOIN pg_collation l ON l.oid = a.attcollation AND a.attcollation <> y.typcollation
        WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
      UNION ALL SELECT 2, c.oid::bigint, format('CONSTRAINT %I %s', c.conname, pg_get_constraintdef(c.oid))
        FROM pg_constraint c WHERE c.conrelid = t.oid AND c.contype IN ('p', 'u', 'c')) parts
    WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r' AND NOT t.relname = ANY ($1) GROUP BY t.oid, t.relname ORDER BY t.oid`,
  `SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS statement
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype = 'f' AND NOT conrelid::regclass::text = ANY ($1) ORDER BY oid`,
  `SELECT pg_get_indexdef(indexrelid) AS statement FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
    WHERE t.relnamespace = 'public'::regnamespace AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
      AND NOT t.relname = ANY ($1) ORDER BY indexrelid`,
  `SELECT rtrim(pg_get_functiondef(oid), E'\\n') AS statement FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND NOT prosecdef
      AND proname <> ALL ($1) AND proname <> 'gatehouse_now_ms' AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e') ORDER BY oid`,
  `SELECT pg_get_triggerdef(g.oid) AS statement FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid
    WHERE t.relnamespace = 'public'::regnamespace AND NOT g.tgisinternal AND NOT t.relname = ANY ($1) ORDER BY g.oid`,
];

async function postgresStatements(client: pg.Client): Promise<readonly string[]> {
  const statements: string[] = [];
  for (const query of postgresQueries) {
    const { rows } = await client.query<{ statement: string }>(query, [ledgers]);
    statements.push(...rows.map(({ statement }) => statement));
  }
  const ofExtension = (statement: string): boolean => statement.includes('gin_trgm_ops');
  const recorded = [];
  for (const table of ledgers)
    recorded.push(ledgerStatement(table, (await client.query<LedgerRow>(`SELECT number, name FROM ${table} ORDER BY number`)).rows));
  return [...statements.filter((statement) => !ofExtension(statement)), withExtension(statements.filter(ofExtension)), ...recorded];
}

/** As migration 8 has it: without the right to pg_trgm everything works, and substring filters scan. */
const withExtension = (statements: readonly string[]): string => `DO $$ BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
${statements.map((statement) => `  ${statement};`).join('\n')}
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
  RAISE NOTICE 'pg_trgm cannot be created here; SCIM co filters will scan';
END $$`;
