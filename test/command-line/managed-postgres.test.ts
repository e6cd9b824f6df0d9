// PostgreSQL as managed services give it: whoever migrates is no superuser. The look-up functions are made all the same, what a login does
// not own is named, and engines that are none of ours are refused. On a server of the test's own, whose roles it may drop.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { TenantId } from '../../src/domain/ids.ts';
import { openPostgres } from '../../src/storage/engine/dialects/postgres.ts';
import { foreignEngineOf } from '../../src/storage/engine/foreign-engines.ts';
import { findRowSecurityFault } from '../../src/storage/engine/row-security.ts';
import { containsPattern, lookupFunction, lookupQuery } from '../../src/storage/engine/trigram-search.ts';
import { runCommand } from '../support/commands.ts';
import { databases, onServer } from '../support/databases.ts';
import type { Ended } from '../support/gatehouse-process.ts';
import { hasPrivatePostgres, type PrivatePostgres, startPrivatePostgres } from '../support/private-postgres.ts';

const [a, b] = [randomUUID() as TenantId, randomUUID() as TenantId];
const columns = ['user_name_key', 'display_name_key', 'given_name_key', 'family_name_key'] as const;
const lookups = [...columns.map((column) => ['users', column] as const), ['user_emails', 'value_key'] as const];
const names = lookups.map(([table, column]) => lookupFunction(table, column));

if (databases.includes('postgres') && hasPrivatePostgres)
  describe('a migrator that is no superuser', () => {
    let postgres: PrivatePostgres;
    let folder: string;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'gatehouse-managed-'));
      postgres = await startPrivatePostgres();
      // As a server is that never saw a superuser's migrate.
      for (const role of ['gatehouse_service', 'gatehouse_search'])
        await asSuperuser(postgres.url, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
      await asSuperuser(
        postgres.url,
        'CREATE ROLE manager LOGIN CREATEDB CREATEROLE NOSUPERUSER',
        'CREATE ROLE owner LOGIN CREATEDB NOSUPERUSER',
      );
      for (const login of ['manager', 'owner'])
        await asSuperuser(postgres.url, `CREATE DATABASE ${login} OWNER ${login} TEMPLATE template0`);
    });
    after(async () => {
      await postgres.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    const urlOf = (login: string, database = login): string => {
      const url = new URL(postgres.url);
      url.username = login;
      url.pathname = `/${database}`;
      return url.href;
    };
    const asSuperuser = (url: string, ...statements: readonly string[]): Promise<void> =>
      onServer(url, async (client) => {
        for (const statement of statements) await client.query(statement);
      });
    const run = (url: string, ...args: readonly string[]): Promise<Ended> =>
      runCommand(folder, args, {
        GATEHOUSE_DEV: '1',
        GATEHOUSE_LOG_LEVEL: 'silent',
        GATEHOUSE_DATA: join(folder, 'data'),
        GATEHOUSE_DATABASE_URL: url,
      });
    const migrated = async (url: string): Promise<{ readonly applied: readonly number[]; readonly stderr: string }> => {
      const { code, stdout, stderr } = await run(url, 'migrate', '--json');
      assert.equal(code, 0, stderr);
      return { ...(JSON.parse(stdout) as { applied: readonly number[] }), stderr };
    };
    const faultOf = async (url: string): Promise<string | undefined> => {
      const service = openPostgres({ url, poolMax: 1, timeoutMs: 20_000, asService: true });
      return findRowSecurityFault(service).finally(() => service.close());
    };
    const foundFunctions = async (database: string): Promise<readonly string[]> => {
      let found: readonly string[] = [];
      await onServer(urlOf('postgres', database), async (client) => {
        const { rows } = await client.query(
          `SELECT proname, prosecdef, pg_get_userbyid(proowner) AS owner, proacl::text AS acl FROM pg_proc WHERE proname = ANY($1) ORDER BY 1`,
          [names],
        );
        for (const { prosecdef, owner, acl } of rows)
          assert.deepEqual(
            [prosecdef, owner, acl],
            [true, 'gatehouse_search', '{gatehouse_search=X/gatehouse_search,gatehouse_service=X/gatehouse_search}'],
          );
        found = rows.map(({ proname }) => proname);
      });
      return found;
    };

    it('makes the look-up functions, of a role that is nobody and bypasses nothing', async () => {
      const { applied, stderr } = await migrated(urlOf('manager'));
      assert.ok(applied.length > 20);
      assert.equal(stderr, '');
      assert.deepEqual(await foundFunctions('manager'), names.toSorted());
      await onServer(urlOf('postgres', 'manager'), async (client) => {
        const { rows } = await client.query(
          `SELECT rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, has_schema_privilege(oid, 'public', 'CREATE') AS creates FROM pg_roles WHERE rolname = 'gatehouse_search'`,
        );
        assert.deepEqual(rows, [{ rolcanlogin: false, rolsuper: false, rolbypassrls: false, rolcreaterole: false, creates: false }]);
        const members = `SELECT pg_get_userbyid(member) AS member FROM pg_auth_members WHERE pg_get_userbyid(roleid) = 'gatehouse_search'`;
        assert.deepEqual((await client.query(`${members} AND NOT admin_option`)).rows, [], 'the migrator is no member any more');
      });
      assert.equal(await faultOf(urlOf('manager')), undefined);
      assert.deepEqual((await migrated(urlOf('manager'))).applied, []);
    });

    it('the service sees its tenant alone, by a look-up and without; a look-up runs on the trigram index', async () => {
      await onServer(urlOf('postgres', 'manager'), async (client) => {
        for (const tenant of [a, b]) {
          await client.query(
            `INSERT INTO users (tenant_id, id, user_name, ${columns.join(', ')}, state, origin, created_at, updated_at)
             SELECT $1, $1 || '-' || n, 'u', ${columns.map(() => `'name-' || md5(n::text) || '-of-' || left($1, 8)`).join(', ')}, 'active', 'scim', n, n
             FROM generate_series(1, 4000) n`,
            [tenant],
          );
          await client.query(
            `INSERT INTO user_emails (tenant_id, user_id, position, value, value_key)
             SELECT tenant_id, id, 0, user_name_key || '@example.com', user_name_key || '@example.com' FROM users WHERE tenant_id = $1`,
            [tenant],
          );
        }
        await client.query('VACUUM ANALYZE users, user_emails');
        await client.query('SET ROLE gatehouse_search');
        for (const [table, column] of lookups) {
          const values = [`'${a}'`, `'%a87ff679a2f3%'`, '2001']; // of the MD5 of 4
          const query = lookupQuery(table, column).replaceAll(/\$(\d)/g, (_, at) => values[Number(at) - 1]!);
          const plan = (await client.query(`EXPLAIN ${query}`)).rows.map((row) => row['QUERY PLAN']).join('\n');
          assert.match(plan, new RegExp(`Bitmap Index Scan on ${table}_${column}_trigrams`), plan);
        }
      });
      const service = openPostgres({ url: urlOf('manager'), poolMax: 1, timeoutMs: 20_000, asService: true });
      try {
        const seen = async (work: typeof service.systemRead, query: ReturnType<typeof sql<{ id: string }>>): Promise<readonly string[]> =>
          work(async (queries) => (await query.execute(queries)).rows.map(({ id }) => id.slice(0, 36)));
        const asTenant: typeof service.systemRead = (work) => service.read(a, work);
        for (const [table, column] of lookups) {
          const lookup = sql<{
            id: string;
          }>`SELECT user_id AS id FROM ${sql.ref(lookupFunction(table, column))}(${containsPattern('name-')}, 100000)`;
          const plain = sql<{ id: string }>`SELECT tenant_id AS id FROM ${sql.table(table)}`;
          for (const query of [lookup, plain]) {
            const found = await seen(asTenant, query);
            assert.deepEqual([found.length, ...new Set(found)], [4000, a], `${table} ${column}`);
            assert.deepEqual(await seen(service.systemRead, query), []);
          }
        }
      } finally {
        await service.close();
      }
    });

    it('doctor names the look-up functions that are missing, and migrate makes them again', async () => {
      await asSuperuser(urlOf('postgres', 'manager'), `DROP FUNCTION ${names[1]}(text, integer)`);
      const doctor = await run(urlOf('manager'), 'doctor');
      assert.equal(doctor.code, 1);
      assert.match(doctor.stdout, new RegExp(`FAIL {2}search .*found none named ${names[1]};`));
      assert.deepEqual((await migrated(urlOf('manager'))).applied, []);
      assert.deepEqual(await foundFunctions('manager'), names.toSorted());
      assert.match((await run(urlOf('manager'), 'doctor')).stdout, /ok {4}search {7}every look-up function/);
    });

    it('a start refuses any other policy, also one of that name, and a service that is a member of the look-ups’ role', async () => {
      const as = (...statements: readonly string[]): Promise<void> => asSuperuser(urlOf('postgres', 'manager'), ...statements);
      for (const looser of [
        'ALTER POLICY search_rows ON users TO PUBLIC',
        'DROP POLICY search_rows ON user_emails; CREATE POLICY search_rows ON user_emails FOR ALL TO gatehouse_search USING (true)',
      ]) {
        await as(looser);
        assert.match((await faultOf(urlOf('manager'))) ?? '', /found other policies on user/);
        await migrated(urlOf('manager'));
        assert.equal(await faultOf(urlOf('manager')), undefined, looser);
      }
      await as('CREATE POLICY search_rows ON grants FOR SELECT TO gatehouse_search USING (true)');
      assert.match((await faultOf(urlOf('manager'))) ?? '', /found other policies on grants/);
      await as('DROP POLICY search_rows ON grants', 'GRANT gatehouse_search TO gatehouse_service');
      assert.match(
        (await faultOf(urlOf('manager'))) ?? '',
        /expected a role that is no member of gatehouse_search, found gatehouse_service/,
      );
      await as('REVOKE gatehouse_search FROM gatehouse_service');
    });

    it('without CREATEROLE it says what a superuser must type, and makes them once that is done', async () => {
      await asSuperuser(postgres.url, 'GRANT gatehouse_service TO owner');
      const { stderr } = await migrated(urlOf('owner'));
      assert.match(
        stderr,
        /expected a login that may be granted the role gatehouse_search, found owner\. Run as a superuser: GRANT gatehouse_search TO "owner";/,
      );
      assert.deepEqual(await foundFunctions('owner'), []);
      assert.equal(await faultOf(urlOf('owner')), undefined);
      await asSuperuser(postgres.url, 'GRANT gatehouse_search TO owner');
      assert.deepEqual(await migrated(urlOf('owner')), { applied: [], stderr: '' });
      assert.deepEqual(await foundFunctions('owner'), names.toSorted());
    });

    it('an upgrade from 0.1.0, whose nodes start beside no other policy, leaves them to the next migrate, and says so', async () => {
      const dropped = names.map((name) => `DROP FUNCTION ${name}(text, integer)`);
      const policies = ['users', 'user_emails'].map((table) => `DROP POLICY search_rows ON ${table}`);
      const level = `UPDATE instance SET value = '1' WHERE key = 'schema_level'`;
      await asSuperuser(urlOf('postgres', 'manager'), ...dropped, ...policies, level);
      assert.match((await migrated(urlOf('manager'))).stderr, /until gatehouse migrate runs again, when no node of 0\.1\.0 runs any more/);
      assert.deepEqual(await foundFunctions('manager'), []);
      assert.equal((await migrated(urlOf('manager'))).stderr, '');
      assert.deepEqual(await foundFunctions('manager'), names.toSorted());
    });

    it('migrate names what its login does not own and exits with 1, with nothing to apply too; then it repairs', async () => {
      const as = (...statements: readonly string[]): Promise<void> => asSuperuser(urlOf('postgres', 'owner'), ...statements);
      await as(
        'ALTER TABLE clients OWNER TO postgres',
        'ALTER TABLE schema_migrations OWNER TO postgres',
        'DROP POLICY tenant_rows ON clients',
      );
      const refused = await run(urlOf('owner'), 'migrate');
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /expected every table to be owner's, found 2 of another owner: clients, schema_migrations/);
      await as('ALTER TABLE clients OWNER TO owner', 'ALTER TABLE schema_migrations OWNER TO owner');
      assert.match((await faultOf(urlOf('owner'))) ?? '', /on clients/);
      await migrated(urlOf('owner'));
      assert.equal(await faultOf(urlOf('owner')), undefined);
    });

    it('engines that are none of ours are named by migrate, doctor and serve, which stop', async () => {
      const url = urlOf('postgres', 'foreign_engine');
      await asSuperuser(postgres.url, 'CREATE DATABASE foreign_engine TEMPLATE manager');
      const refused = async (name: string): Promise<void> => {
        for (const command of ['migrate', 'doctor', 'serve']) {
          const { code, stderr, stdout } = await run(url, command);
          assert.equal(code, command === 'migrate' ? 1 : 2, command);
          assert.match(`${stdout}${stderr}`, new RegExp(`expected PostgreSQL, found ${name}, on which Gatehouse is not safe`), command);
        }
      };
      const version = 'PostgreSQL 15.2-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu';
      const pretend = `SELECT (SELECT max(oid::int) + 1 FROM pg_extension) AS oid, 'citus', 10, 2200, true, '13.0'`;
      await asSuperuser(
        url,
        'SET allow_system_table_mods = on',
        `INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion) ${pretend}`,
      );
      await refused('Citus');
      await asSuperuser(
        url,
        'SET allow_system_table_mods = on',
        'ALTER FUNCTION pg_catalog.version() RENAME TO version_of_the_server',
        `CREATE FUNCTION pg_catalog.version() RETURNS text LANGUAGE sql STABLE AS $$ SELECT '${version}' $$`,
      );
      await refused('YugabyteDB');
    });

    it('a backup is made past row security and restored by the owner alone, on a server that has no role of ours yet', async () => {
      const file = join(folder, 'one.tar');
      const made = await run(urlOf('postgres', 'manager'), 'backup', file);
      assert.equal(made.code, 0, made.stderr);
      await asSuperuser(
        postgres.url,
        ...['foreign_engine', 'manager', 'owner'].map((database) => `DROP DATABASE ${database} WITH (FORCE)`),
      );
      for (const role of ['gatehouse_search', 'gatehouse_service'])
        await asSuperuser(postgres.url, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
      await asSuperuser(postgres.url, 'CREATE DATABASE restored OWNER manager TEMPLATE template0');
      const refused = await run(urlOf('postgres', 'restored'), 'restore', file);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /expected the login of the database's owner, manager, found postgres\. Restore as manager/);
      const restored = await run(urlOf('manager', 'restored'), 'restore', file);
      assert.equal(restored.code, 0, restored.stderr);
      await onServer(urlOf('postgres', 'restored'), async (client) => {
        const { rows } = await client.query(
          `SELECT DISTINCT pg_get_userbyid(relowner) AS owner FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S', 'i')`,
        );
        assert.deepEqual(rows, [{ owner: 'manager' }]);
        assert.equal((await client.query('SELECT FROM users')).rowCount, 8000);
      });
      assert.deepEqual(await foundFunctions('restored'), names.toSorted());
      assert.equal(await faultOf(urlOf('manager', 'restored')), undefined);
      assert.deepEqual((await migrated(urlOf('manager', 'restored'))).applied, []);
    });
  });

it('engines by what version() says', () => {
  const ours = [
    'PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64',
    'PostgreSQL 18.0 on aarch64-unknown-linux-gnu',
    'PostgreSQL 16.4 (EnterpriseDB Advanced Server 16.4.0)',
  ];
  for (const version of ours) assert.equal(foreignEngineOf(version), undefined);
  for (const [version, name] of [
    ['PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu', 'YugabyteDB'],
    ['CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu)', 'CockroachDB'],
    ['PostgreSQL 12.12 (Greenplum Database 7.1.0)', 'Greenplum'],
    ['PostgreSQL 8.0.2 on i686-pc-linux-gnu, Redshift 1.0.77467', 'Amazon Redshift'],
    ['Something else 1.0', 'Something else 1.0'],
  ] as const)
    assert.equal(foreignEngineOf(version), name);
});
