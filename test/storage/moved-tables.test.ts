// Design 11, part 8: nothing of a tenant is forgotten when it moves. Compared with the schema on file, so that a migration that adds a
// table, a key or an encrypted column fails here until it says what becomes of it.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { otherwiseSealed, sealedColumns } from '../../src/crypto/sealed-columns.ts';
import { deliveryQueues } from '../../src/storage/deliveries.ts';
import { snapshotFile } from '../../src/storage/engine/migrations/snapshot.ts';
import { queueTables } from '../../src/storage/engine/row-security.ts';
import { leftTables, movedTables } from '../../src/storage/moved-tables.ts';

const [sqlite, postgres] = [readFileSync(snapshotFile('sqlite'), 'utf8'), readFileSync(snapshotFile('postgres'), 'utf8')];

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  readonly key: readonly string[];
  readonly parents: readonly string[];
}

const names = (list: string): readonly string[] => [...list.matchAll(/\w+/g)].map(([name]) => name);

/** Tables of the embedded database that have a tenant_id. */
const tables: readonly Table[] = [...sqlite.matchAll(/^CREATE TABLE "?(\w+)"? \((.*)\) STRICT/gm)]
  .map(([, name, body]) => ({
    name: name!,
    columns: [...body!.matchAll(/(?:^|, )"?(\w+)"? (?:TEXT|INTEGER)/g)].map((match) => match[1]!),
    key: names(/PRIMARY KEY \(([^)]*)\)/.exec(body!)?.[1] ?? ''),
    parents: [...body!.matchAll(/REFERENCES "(\w+)"/g)].map((match) => match[1]!),
  }))
  .filter(({ columns }) => columns.includes('tenant_id'));

/** Columns of PostgreSQL's tables. */
const postgresColumns = [...postgres.matchAll(/^CREATE TABLE (\w+) \(\n([^;]*)\n\);/gm)].flatMap(([, table, body]) =>
  [...body!.matchAll(/^ {2}"?([a-z_0-9]+)"? (?:text|bigint)\b/gm)].map(([, column]) => ({ table: table!, column: column! })),
);

const moved = movedTables.map(({ table }) => table as string);

describe('a tenant that moves', () => {
  it('there are tables to look at, on both databases', () => {
    assert.ok(tables.length > 50 && postgresColumns.length > 400);
  });

  it('each table with a tenant_id moves or is left, with the reason, and none is named that is not there', () => {
    const there = [
      ...new Set([
        ...tables.map(({ name }) => name),
        ...postgresColumns.filter(({ column }) => column === 'tenant_id').map(({ table }) => table),
      ]),
    ];
    assert.deepEqual([...moved, ...Object.keys(leftTables)].toSorted(), there.toSorted());
    assert.ok(Object.values(leftTables).every((reason) => reason.length > 10));
  });

  it('rows are read by the whole primary key', () => {
    for (const { table, key } of movedTables) {
      const { key: whole } = tables.find(({ name }) => name === table)!;
      assert.deepEqual(['tenant_id', ...key].toSorted(), whole.toSorted(), table);
    }
  });

  it('each row comes after those it refers to', () => {
    for (const { name, parents } of tables.filter((table) => moved.includes(table.name)))
      for (const parent of parents) assert.ok(moved.indexOf(parent) < moved.indexOf(name), `${name} refers to ${parent}`);
  });

  it('a table has the same columns on both databases', () => {
    for (const { name, columns } of tables.filter((table) => moved.includes(table.name)))
      assert.deepEqual(
        postgresColumns
          .filter(({ table }) => table === name)
          .map(({ column }) => column)
          .toSorted(),
        columns.toSorted(),
        name,
      );
  });

  it('each column that holds something encrypted has its purpose in the table of them', () => {
    const encrypted = tables
      .flatMap(({ name, columns }) => columns.map((column) => `${name}.${column}`))
      .filter((column) => /(_encrypted|sealed|[._]secret|_password)$|^external_logins\.answer$/.test(column));
    assert.deepEqual(
      encrypted.toSorted(),
      [...sealedColumns.map(({ table, column }) => `${table}.${column}`), ...Object.keys(otherwiseSealed)].toSorted(),
    );
    for (const { table, of } of sealedColumns)
      if (of !== undefined) assert.ok(tables.find(({ name }) => name === table)!.columns.includes(of), `${table}.${of}`);
  });

  it('who encrypts for the database takes the purpose from the table; others encrypt what is stored elsewhere', () => {
    const elsewhere = {
      'src/server/bootstrap.ts': 'the check of the master key itself',
      'src/oidc/grants/refresh-token.ts': 'under the token before it',
      'src/tokens/secret-settings.ts': 'within the settings; openSettings opens them',
    };
    const encrypting = globSync('src/**/*.ts').filter((file) => /ncryption(\(\w+\))?\.encrypt\(/.test(readFileSync(file, 'utf8')));
    assert.deepEqual(
      encrypting.filter((file) => !readFileSync(file, 'utf8').includes('sealed-columns.ts')).toSorted(),
      Object.keys(elsewhere).toSorted(),
    );
  });

  it('what is sent across tenants is held while one moves', () => {
    assert.deepEqual(queueTables, Object.fromEntries(deliveryQueues.map(({ table, tenant }) => [table, tenant])));
  });
});
