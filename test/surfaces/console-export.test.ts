// Exports of the console are whole (design 23, 5): as long as the list is, page by page, and no faster than they are taken.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { TenantId } from '../../src/domain/ids.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** More than the console counts. */
const many = 10_050;

for (const database of databases) {
  describe(`exports of the console on ${database}`, () => {
    let server: TestServer;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const { tenant, email } = await createConsoleTenant(server);
      ({ visitor } = await openConsole(server, tenant, email));
      const id = tenant.id as TenantId;
      const figures =
        database === 'postgres'
          ? sql`(SELECT generate_series(1, ${sql.lit(many)}) AS i)`
          : sql`(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${sql.lit(many)}) SELECT i FROM n)`;
      await server.gatehouse.services.database.write(id, async (queries) => {
        await sql`INSERT INTO users (tenant_id, id, user_name, user_name_key, display_name, display_name_key, state, origin, role, version, created_at, updated_at)
          SELECT ${id}, 'many-' || i, 'many-' || i, 'many-' || i, 'Many ' || i, 'many ' || i, 'active', 'scim', 'user', 1, i, i FROM ${figures} AS f`.execute(
          queries,
        );
        await sql`INSERT INTO audit_events (tenant_id, id, created_at, type, actor, target)
          SELECT ${id}, 'many-' || i, ${sql.lit(server.clock.nowMs())} + i, 'user.suspended', 'system:test', 'user:many-' || i FROM ${figures} AS f`.execute(
          queries,
        );
      });
    });
    after(() => server.close());

    /** The ids of the first column that has them, of a file that is read to its end. */
    const idsOf = async (path: string, at: (line: string) => string | undefined): Promise<readonly string[]> => {
      const response = await visitor.page(path);
      assert.equal(response.status, 200);
      const lines = (await response.text()).trimEnd().split('\r\n').slice(1);
      return lines.map(at).filter((id) => id !== undefined);
    };
    const manyIn = (line: string): string | undefined => /many-\d+/.exec(line)?.[0];

    it('people: everybody, each once', async () => {
      const list = await (await visitor.page('/users')).text();
      assert.match(list, /id="csv"[^>]*>CSV of all</);
      const ids = await idsOf('/users/export', manyIn);
      assert.deepEqual([ids.length, new Set(ids).size], [many, many]);
    });

    it('events: every one, each once', async () => {
      const ids = await idsOf('/events/export?type=user.suspended', manyIn);
      assert.deepEqual([ids.length, new Set(ids).size], [many, many]);
    });
  });
}
