// The embedded database's reads of one turn of the event loop share a transaction; what asks whether anything changed must see what another
// process committed since that began, because a process that is stopped within a turn goes on in it. So must a request that came meanwhile.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { TenantId } from '../../src/domain/ids.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Database, Queries } from '../../src/storage/engine/database.ts';
import { openSqlite } from '../../src/storage/engine/dialects/sqlite.ts';

describe('a turn of the event loop on the embedded database', () => {
  let folder: string;
  let database: Database;
  let other: DatabaseSync;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-turn-'));
    const file = join(folder, 'turn.db');
    database = openSqlite({ file, clock: systemClock });
    other = new DatabaseSync(file);
    other.exec('CREATE TABLE numbers (number INTEGER); INSERT INTO numbers VALUES (1)');
  });
  after(async () => {
    other.close();
    await database.close();
    rmSync(folder, { recursive: true });
  });

  const tenant = 'of-no-table' as TenantId;
  const read = async (queries: Queries): Promise<unknown> =>
    (await sql<{ readonly number: number }>`SELECT number FROM numbers`.execute(queries)).rows[0]?.number;

  it('reads see one state until something asks what changed, and then what it saw', async () => {
    await new Promise((done) => setImmediate(done));
    const seen = [await database.read(tenant, read)];
    other.exec('UPDATE numbers SET number = 2');
    seen.push(await database.read(tenant, read), await database.watch(read), await database.read(tenant, read));
    assert.deepEqual(seen, [1, 1, 2, 2]);
  });

  it('a turn in which the process was stopped is over for the reads that follow', async () => {
    await new Promise((done) => setImmediate(done));
    const seen = [await database.read(tenant, read)];
    other.exec('UPDATE numbers SET number = 3');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    seen.push(await database.read(tenant, read));
    assert.deepEqual(seen, [2, 3]);
  });
});
