// The substring look-up on PostgreSQL: it runs on the trigram index, sees the transaction's tenant alone, and the role that
// owns it can do nothing else.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { TenantId } from '../../src/domain/ids.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { openPostgres } from '../../src/storage/engine/dialects/postgres.ts';
import { containedInMoreThan, containsPattern, lookupFunction, lookupQuery } from '../../src/storage/engine/trigram-search.ts';
import { createTestDatabase, databases, onServer, type TestDatabase } from '../support/databases.ts';

const [a, b] = [randomUUID() as TenantId, randomUUID() as TenantId];
const columns = ['user_name_key', 'display_name_key', 'given_name_key', 'family_name_key'] as const;

for (const name of databases.filter((each) => each === 'postgres')) {
  describe('E13 substring look-up behind row-level security', () => {
    let test: TestDatabase;
    let database: Database;
    before(async () => {
      test = await createTestDatabase(name);
      database = openPostgres({ url: test.databaseUrl!, poolMax: 2, timeoutMs: 20_000, asService: true });
      await onServer(test.databaseUrl!, async (client) => {
        for (const tenant of [a, b]) {
          await client.query(
            `INSERT INTO users (tenant_id, id, user_name, ${columns.join(', ')}, state, origin, created_at, updated_at)
             SELECT $1, $1 || '-' || n, 'u', 'name-' || md5(n::text) || '-of-' || left($1, 8), ${columns
               .slice(1)
               .map(() => `'person ' || md5(n::text)`)
               .join(', ')}, 'active', 'scim', n, n FROM generate_series(1, 4000) n`,
            [tenant],
          );
          await client.query(
            `INSERT INTO user_emails (tenant_id, user_id, position, value, value_key)
             SELECT tenant_id, id, 0, user_name_key || '@example.com', user_name_key || '@example.com' FROM users WHERE tenant_id = $1`,
            [tenant],
          );
        }
        await client.query('VACUUM ANALYZE users, user_emails');
      });
    });
    after(async () => {
      await database.close();
      await test.drop();
    });

    const find = async (tenant: TenantId | undefined, table: 'users' | 'user_emails', column: string, text: string) => {
      const query = async (queries: Parameters<Parameters<Database['read']>[1]>[0]): Promise<readonly string[]> => {
        const lookup = sql.ref(lookupFunction(table, column));
        const { rows } = await sql<{ user_id: string }>`SELECT user_id FROM ${lookup}(${containsPattern(text)}, 100000)`.execute(queries);
        return rows.map((row) => row.user_id);
      };
      return tenant === undefined ? database.systemRead(query) : database.read(tenant, query);
    };

    it('every look-up finds rows of the own tenant only, and none without a tenant', async () => {
      for (const [table, column, text] of [
        ...columns.map((column) => ['users', column, column === 'user_name_key' ? 'name-' : 'person'] as const),
        ['user_emails', 'value_key', '@example'] as const,
      ]) {
        for (const tenant of [a, b]) {
          const found = await find(tenant, table, column, text);
          assert.equal(found.length, 4000, column);
          assert.deepEqual([...new Set(found.map((id) => id.slice(0, 36)))], [tenant]);
        }
        assert.deepEqual(await find(undefined, table, column, text), []);
      }
    });
    it("a text that only another tenant has is not found, whatever the pattern's characters", async () => {
      assert.deepEqual(await find(a, 'users', 'user_name_key', `of-${b.slice(0, 8)}`), []);
      assert.equal((await find(b, 'users', 'user_name_key', `of-${b.slice(0, 8)}`)).length, 4000);
      for (const text of ['%', '_', "' OR true --", '$1', '\\']) assert.deepEqual(await find(a, 'users', 'user_name_key', text), [], text);
    });
    it('counting stops where it was told to', async () => {
      const asked = (most: number): Promise<boolean> =>
        database.read(a, (queries) => containedInMoreThan(queries, 'users', 'user_name_key', 'name-', most));
      assert.deepEqual([await asked(3999), await asked(4000)], [true, false]);
    });
    it('the query of every look-up runs on the trigram index', () =>
      onServer(test.databaseUrl!, async (client) => {
        await client.query('SET ROLE gatehouse_search');
        for (const [table, column] of [...columns.map((column) => ['users', column] as const), ['user_emails', 'value_key'] as const]) {
          const values = [`'${a}'`, `'%a87ff679a2f3%'`, '2001']; // of the MD5 of 4
          const query = lookupQuery(table, column).replaceAll(/\$(\d)/g, (_, at) => values[Number(at) - 1]!);
          const { rows } = await client.query(`EXPLAIN ${query}`);
          const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
          assert.match(plan, new RegExp(`Bitmap Index Scan on ${table}_${column}_trigrams`), plan);
        }
      }));
    it('only the service role may call a look-up; its owner reads two tables and is nobody', () =>
      onServer(test.databaseUrl!, async (client) => {
        const { rows: functions } = await client.query(
          `SELECT proname, prosecdef, proconfig, pg_get_userbyid(proowner) AS owner, proacl::text AS acl FROM pg_proc
           WHERE proname LIKE 'gatehouse\\_user%' ORDER BY proname`,
        );
        assert.equal(functions.length, 5);
        for (const each of functions) {
          const { proname, ...facts } = each;
          assert.deepEqual(
            facts,
            {
              prosecdef: true,
              proconfig: ['search_path=pg_catalog, pg_temp'],
              owner: 'gatehouse_search',
              acl: '{gatehouse_search=X/gatehouse_search,gatehouse_service=X/gatehouse_search}',
            },
            proname,
          );
        }
        const { rows: granted } = await client.query(
          `SELECT table_name, privilege_type FROM information_schema.role_table_grants WHERE grantee = 'gatehouse_search' ORDER BY 1`,
        );
        assert.deepEqual(granted, [
          { table_name: 'user_emails', privilege_type: 'SELECT' },
          { table_name: 'users', privilege_type: 'SELECT' },
        ]);
        const { rows: role } = await client.query(
          `SELECT rolcanlogin, rolsuper, rolcreaterole, rolcreatedb,
             (SELECT count(*)::int FROM pg_auth_members WHERE roleid = r.oid OR member = r.oid) AS ties FROM pg_roles r WHERE rolname = 'gatehouse_search'`,
        );
        assert.deepEqual(role, [{ rolcanlogin: false, rolsuper: false, rolcreaterole: false, rolcreatedb: false, ties: 0 }]);
      }));
  });
}
