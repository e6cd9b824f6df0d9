// PostgreSQL's plans for SCIM as the service role sees them: an `or` of keys looks each of them up, and a page of a group's members
// comes from the index that has their order (design 15, SCIM 3).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { TenantId } from '../../src/domain/ids.ts';
import { parseFilter } from '../../src/scim/filter/filter-parser.ts';
import { resolveFilter } from '../../src/scim/filter/filter-resolver.ts';
import { filterCondition } from '../../src/scim/filter/filter-sql.ts';
import { userIndex } from '../../src/scim/schema/schema-lookup.ts';
import { databases, onServer } from '../support/databases.ts';
import { rootTenant, type ScimCaller, startScim } from '../support/scim.ts';

if (databases.includes('postgres'))
  describe('plans of SCIM on PostgreSQL', () => {
    let scim: ScimCaller;
    let tenant: TenantId;
    let group: string;
    before(async () => {
      scim = await startScim('postgres');
      tenant = (await rootTenant(scim.server)).id;
      group = (await scim.newGroup('Many')).id;
      await onServer(scim.server.database.databaseUrl!, async (client) => {
        await client.query(
          `INSERT INTO users (tenant_id, id, user_name, user_name_key, external_id, state, origin, role, version, created_at, updated_at)
           SELECT $1, 'u' || i, 'n' || i, 'n' || i, 'e' || i, 'active', 'scim', 'user', 1, i, i FROM generate_series(1, 20000) i`,
          [tenant],
        );
        await client.query(
          `INSERT INTO group_members (tenant_id, group_id, user_id, created_at, user_created_at)
           SELECT $1, $2, id, 1, created_at FROM users WHERE tenant_id = $1 AND created_at <= 5000`,
          [tenant, group],
        );
        await client.query('ANALYZE users, group_members, groups');
      });
    });
    after(() => scim.close());

    it('an or of two keys: two index look-ups, no walk', async () => {
      const filter = resolveFilter(userIndex, parseFilter('userName eq "n19000" or externalId eq "e18000"'));
      const where = filterCondition(
        { dialect: 'postgres', directory: { tenant }, index: userIndex, scanned: false, isCommon: () => false },
        filter,
      );
      const { rows } = await scim.server.gatehouse.services.database.read(tenant, (queries) =>
        sql<Record<string, string>>`EXPLAIN SELECT u.id FROM users u WHERE u.tenant_id = ${tenant} AND u.state <> 'deleted' AND ${where}
          ORDER BY u.created_at, u.id LIMIT 101`.execute(queries),
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      assert.doesNotMatch(plan, /Seq Scan on users|users_by_created_at/, plan);
      assert.match(plan, /users_by_user_name_key/);
      assert.match(plan, /users_by_external_id/);
    });

    it('members of a group: the whole count is kept, and a page is in order', async () => {
      const { body } = await scim.call('GET', `/Users?count=3&startIndex=4990&filter=${encodeURIComponent(`groups.value eq "${group}"`)}`);
      assert.equal(body['totalResults'], 5000);
      assert.deepEqual(
        (body['Resources'] as readonly { readonly id: string }[]).map(({ id }) => id),
        ['u4990', 'u4991', 'u4992'],
      );
    });
  });
