// Who has any of many user names and addresses. PostgreSQL believes an index of trigrams to cost nothing where a table has just been filled, and
// took longer for a page of a directory than a statement may (bench/directories.ts fills one): no bitmap is made there, and again after it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import type { TenantId } from '../../src/domain/ids.ts';
import type { Queries } from '../../src/storage/engine/database.ts';
import { withoutTrigrams } from '../../src/storage/engine/rows/id-list.ts';
import { listOwners } from '../../src/storage/people/users.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`look-ups of many keys on ${database}`, () => {
    let server: TestServer;
    let tenant: TenantId;
    let ids: readonly string[];
    before(async () => {
      server = await startTestServer(database);
      const managed = await createTestTenant(server);
      tenant = managed.id as TenantId;
      ids = await Promise.all(['ada', 'bob'].map(async (name) => (await createTestUser(managed, `${name}@x.example`)).id));
    });
    after(() => server?.close());

    const read = <T>(work: (queries: Queries) => Promise<T>): Promise<T> => server.gatehouse.services.database.read(tenant, work);
    const keys = ['ada@x.example', 'nobody@x.example', 'bob@x.example'];

    it('finds those who are there, and nobody else', async () => {
      const found = await read((queries) => listOwners(queries, database, tenant, { names: keys, emails: keys.slice(1) }));
      assert.deepEqual(found.names.map(({ id }) => id).sort(), ids.toSorted());
      assert.deepEqual(
        found.emails.map(({ id }) => id),
        ids.slice(1),
      );
    });

    if (database === 'postgres')
      it('makes no bitmap for them, and what comes after may', async (t) => {
        const shown = async (queries: Queries): Promise<unknown> =>
          (await sql<{ enable_bitmapscan: string }>`SHOW enable_bitmapscan`.execute(queries)).rows[0]?.enable_bitmapscan;
        await read(async (queries) => {
          assert.equal(await withoutTrigrams(queries, () => shown(queries)), 'off');
          assert.equal(await shown(queries), 'on');
        });
        const asked: string[] = [];
        const { query } = pg.Client.prototype;
        t.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...given: [{ readonly text?: string } | string]) {
          asked.push(typeof given[0] === 'string' ? given[0] : (given[0].text ?? ''));
          return Reflect.apply(query, this, given);
        });
        await read((queries) => listOwners(queries, database, tenant, { names: keys, emails: keys }));
        const order = asked.flatMap((text) => /set_config\('enable_bitmapscan'|FROM users|FROM user_emails/.exec(text)?.[0] ?? []);
        assert.deepEqual(order, ["set_config('enable_bitmapscan'", 'FROM users', 'FROM user_emails', "set_config('enable_bitmapscan'"]);
      });
  });
