// The planner of the embedded database finds rows by their keys in tenants of any size, and every foreign key has an index.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { findScan } from '../support/query-plans.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe('query plans of the embedded database', () => {
  let server: TestServer;
  let database: DatabaseSync;
  before(async () => {
    server = await startTestServer('sqlite');
    database = new DatabaseSync(join(server.config.dataFolder, 'gatehouse.db'), { readOnly: true });
  });
  after(async () => {
    database.close();
    await server.close();
  });

  it('every foreign key is found from its parent by an index', () => {
    const rows = database
      .prepare(
        `SELECT t.name AS child, k.id, json_group_array(k."from" ORDER BY k.seq) AS columns
         FROM sqlite_schema t, pragma_foreign_key_list(t.name) k WHERE t.type = 'table' GROUP BY t.name, k.id`,
      )
      .all();
    assert.ok(rows.length > 20, 'the foreign keys are read');
    const indexesOf = database.prepare(
      `SELECT json_group_array(c.name ORDER BY c.seqno) AS columns FROM pragma_index_list(?) i, pragma_index_info(i.name) c GROUP BY i.name`,
    );
    const missing = rows.filter(({ child, columns }) => {
      const wanted: string[] = JSON.parse(String(columns));
      return !indexesOf.all(String(child)).some((index) => {
        const leading: string[] = JSON.parse(String(index['columns'])).slice(0, wanted.length);
        return wanted.every((column) => leading.includes(column));
      });
    });
    assert.deepEqual(
      missing.map(({ child, columns }) => `${child} ${columns}`),
      [],
    );
  });

  it('every index has statistics for the planner', () => {
    const rows = database
      .prepare(
        `SELECT t.name || ' ' || i.name AS name FROM sqlite_schema t, pragma_index_list(t.name) i
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
           AND NOT EXISTS (SELECT 1 FROM sqlite_stat1 s WHERE s.tbl = t.name AND s.idx IN (i.name, t.name))`,
      )
      .all();
    assert.deepEqual(rows, []);
  });

  it('the watch over the tests: a scan of a tenant is told, a page or a whole list is not', () => {
    const scan = 'SEARCH pins USING PRIMARY KEY (tenant_id=?)';
    assert.equal(findScan('update "pins" set "a" = 1 where "tenant_id" = ? and "subject_id" = ?', [scan]), scan);
    assert.equal(findScan('select * from "pins" where "tenant_id" = ? and "id" > ? order by "id" limit ?', [scan]), undefined);
    assert.equal(findScan('DELETE FROM "pins" WHERE tenant_id = ?', [scan]), undefined);
    assert.equal(
      findScan('select 1 where "tenant_id" = ? and "id" = ?', ['SEARCH pins USING PRIMARY KEY (tenant_id=? AND id=?)']),
      undefined,
    );
  });
});
