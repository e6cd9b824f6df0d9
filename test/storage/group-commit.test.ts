// Transactions of the embedded database that share one durable commit: each alone succeeds or leaves nothing, and nobody is
// answered before the commit.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { createGroupCommit } from '../../src/storage/engine/dialects/group-commit.ts';

function createStore() {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE t (n INTEGER PRIMARY KEY)');
  const log: string[] = [];
  const faults = new Map<string, Error>();
  const run = (sql: string): void => {
    log.push(sql);
    const fault = faults.get(sql);
    if (fault !== undefined) throw fault;
    database.exec(sql);
  };
  const inGroup = createGroupCommit({ run, isInTransaction: () => database.isTransaction });
  const insert = (n: number) => inGroup(async () => database.exec(`INSERT INTO t VALUES (${n})`));
  const rows = (): readonly unknown[] =>
    database
      .prepare('SELECT n FROM t ORDER BY n')
      .all()
      .map((row) => row['n']);
  return { database, log, faults, inGroup, insert, rows };
}

describe('group commit', () => {
  it('works that wait together share one commit, in arrival order', async () => {
    const { log, inGroup } = createStore();
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((n) => inGroup(async () => void order.push(n))));
    assert.deepEqual(order, [1, 2, 3]);
    assert.equal(log.filter((sql) => sql === 'COMMIT').length, 1);
    assert.equal(log.filter((sql) => sql === 'BEGIN IMMEDIATE').length, 1);
  });

  it('a work that throws leaves nothing behind and does not disturb the others', async () => {
    const { database, inGroup, insert, rows } = createStore();
    const failing = inGroup(async () => {
      database.exec('INSERT INTO t VALUES (2)');
      await Promise.resolve();
      throw new Error('refused');
    });
    const results = await Promise.allSettled([insert(1), failing, insert(3), insert(1)]);
    assert.deepEqual(
      results.map((result) => result.status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected'],
    );
    assert.deepEqual(rows(), [1, 3]);
  });

  it('nobody is answered before the commit, a failure neither', async () => {
    const { log, insert, inGroup } = createStore();
    const seen: string[] = [];
    const note = (name: string) => () => void seen.push(`${name} after ${log.at(-1)}`);
    await Promise.all([insert(1).then(note('success')), inGroup(() => Promise.reject(new Error('refused'))).catch(note('failure'))]);
    assert.deepEqual(seen, ['success after COMMIT', 'failure after COMMIT']);
  });

  it('a commit that fails fails everybody and leaves nothing; the next group works', async () => {
    const { faults, insert, rows } = createStore();
    faults.set('COMMIT', new Error('disk full'));
    const results = await Promise.allSettled([insert(1), insert(2)]);
    assert.deepEqual(
      results.map((result) => (result.status === 'rejected' ? String(result.reason) : 'fulfilled')),
      ['Error: disk full', 'Error: disk full'],
    );
    assert.deepEqual(rows(), []);
    faults.clear();
    await insert(3);
    assert.deepEqual(rows(), [3]);
  });

  it('a transaction that SQLite ends by itself fails everybody in it', async () => {
    const { database, inGroup, insert, rows } = createStore();
    const first = insert(1);
    const breaking = inGroup(async () => {
      database.exec('ROLLBACK'); // what SQLite does on a full disk or an I/O error
      throw new Error('disk I/O error');
    });
    const last = insert(2);
    const results = await Promise.allSettled([first, breaking, last]);
    assert.ok(results.every((result) => result.status === 'rejected' && /ended the transaction/.test(String(result.reason))));
    assert.deepEqual(rows(), []);
  });

  it('300 works in one turn: more than one group, every one done', async () => {
    const { insert, rows, log } = createStore();
    await Promise.all(Array.from({ length: 300 }, (_, n) => insert(n)));
    assert.equal(rows().length, 300);
    assert.equal(log.filter((sql) => sql === 'COMMIT').length, 3);
  });
});
