// Where the embedded database reads: committed state always, of this process's last commit at once and of others' in the next turn.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { TenantId } from '../../src/domain/ids.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Database, Queries } from '../../src/storage/engine/database.ts';
import { openSqlite } from '../../src/storage/engine/dialects/sqlite.ts';
import { findDataVersion } from '../../src/storage/people/directory-counts.ts';

const tenant = 'any' as TenantId;
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('reads of the embedded database', () => {
  let folder: string;
  let database: Database;
  let other: DatabaseSync;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-reads-'));
    database = openSqlite({ file: join(folder, 'gatehouse.db'), clock: systemClock });
    await database.system((queries) => sql`CREATE TABLE notes (text TEXT) STRICT`.execute(queries));
    other = new DatabaseSync(join(folder, 'gatehouse.db'));
  });
  afterEach(async () => {
    other.close();
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const insert = (queries: Queries, text: string): Promise<unknown> => sql`INSERT INTO notes VALUES (${text})`.execute(queries);
  const read = async (): Promise<readonly string[]> =>
    (await database.read(tenant, (queries) => sql<{ text: string }>`SELECT text FROM notes ORDER BY text`.execute(queries))).rows.map(
      ({ text }) => text,
    );

  it('a statement reads the clock once, the next one anew', async () => {
    let nowMs = 0;
    const ticking = openSqlite({ file: join(folder, 'ticking.db'), clock: { nowMs: () => ++nowMs } });
    const twice = (queries: Queries) => sql<{ ms: string }>`SELECT gatehouse_now_ms() || ' ' || gatehouse_now_ms() AS ms`.execute(queries);
    const readings = [await ticking.read(tenant, twice), await ticking.read(tenant, twice)].map(({ rows }) => rows[0]?.ms);
    assert.deepEqual(readings, ['1.0 1.0', '2.0 2.0']);
    await ticking.close();
  });

  it('a transaction in hand is not read, its commit is read at once, in the same turn', async () => {
    assert.deepEqual(await read(), []);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let inside: (() => void) | undefined;
    const entered = new Promise<void>((resolve) => {
      inside = resolve;
    });
    const writing = database.write(tenant, async (queries) => {
      await insert(queries, 'a');
      inside?.();
      await held;
    });
    await entered;
    assert.deepEqual(await read(), []);
    await nextTurn();
    assert.deepEqual(await read(), []);
    release();
    await writing;
    assert.deepEqual(await read(), ['a']);
  });

  it('what another process committed is read in the next turn', async () => {
    assert.deepEqual(await read(), []);
    other.exec("INSERT INTO notes VALUES ('b')");
    await nextTurn();
    assert.deepEqual(await read(), ['b']);
  });

  it('reads do not keep another process from writing, nor a group of ours', async () => {
    await read();
    await nextTurn();
    other.exec("BEGIN IMMEDIATE; INSERT INTO notes VALUES ('c'); COMMIT");
    await read();
    await database.write(tenant, (queries) => insert(queries, 'd'));
    assert.deepEqual(await read(), ['c', 'd']);
  });

  it('a transaction that failed leaves nothing and reading goes on', async () => {
    await assert.rejects(
      database.write(tenant, async (queries) => {
        await insert(queries, 'e');
        throw new Error('no');
      }),
      /no/,
    );
    assert.deepEqual(await read(), []);
  });

  it('the data version tells of every commit, of ours and of others', async () => {
    const version = (): Promise<number | undefined> => database.read(tenant, (queries) => findDataVersion(queries, 'sqlite'));
    const first = await version();
    assert.equal(await version(), first);
    await database.write(tenant, (queries) => insert(queries, 'g'));
    const second = await version();
    assert.notEqual(second, first);
    other.exec("INSERT INTO notes VALUES ('h')");
    assert.notEqual(await version(), second);
  });

  it('what only reads cannot write', async () => {
    await assert.rejects(
      database.read(tenant, (queries) => insert(queries, 'f')),
      /Database\.read was to write/,
    );
    assert.deepEqual(await read(), []);
  });
});
