// Pages of people among many: orders are read along their index, what was typed is looked up, and nothing goes through everybody.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { TenantId } from '../../src/domain/ids.ts';
import { type PeopleSort, peopleSorts } from '../../src/domain/people/people-list.ts';
import type { PeopleFilter } from '../../src/storage/people/people-conditions.ts';
import { countPeople, listPeople } from '../../src/storage/people/people-search.ts';
import { createTestTenant } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';

const people = 3000;

describe('plans of lists of people on the embedded database', () => {
  let server: TestServer;
  let tenant: TenantId;
  before(async () => {
    server = await startTestServer('sqlite');
    tenant = (await createTestTenant(server)).id as TenantId;
    await server.gatehouse.services.database.write(tenant, async (queries) => {
      await sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${people})
        INSERT INTO users (tenant_id, id, user_name, user_name_key, display_name, display_name_key, given_name_key, family_name_key, external_id, state, origin, role, version, created_at, updated_at)
        SELECT ${tenant}, 'u' || i, 'n' || i, 'n' || i, 'Ann ' || i, 'ann ' || i, 'ann', 'f' || (i % 1000) || 'x', 'E' || i, 'active', 'scim', 'user', 1, i, i FROM n`.execute(
        queries,
      );
      await sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${people})
        INSERT INTO user_emails (tenant_id, user_id, position, value, value_key, is_primary)
        SELECT ${tenant}, 'u' || i, 0, 'u' || i || '@plans.example', 'u' || i || '@plans.example', 1 FROM n`.execute(queries);
    });
  });
  after(() => server.close());

  const plansOf = async (sort: PeopleSort, filter: PeopleFilter): Promise<readonly string[]> => {
    const { database } = server.gatehouse.services;
    const read = () =>
      database.read(tenant, async (queries) => {
        const scope = { queries, dialect: 'sqlite', tenant } as const;
        const found = await listPeople(scope, filter, { limit: 26, sort, from: undefined, isBackward: false });
        await countPeople(scope, filter);
        return found;
      });
    const statements = (await statementsOf(read)).filter(
      (text) => /FROM users u/.test(text) && !/^EXPLAIN/.test(text) && /ORDER BY/.test(text),
    );
    const plans: string[] = [];
    for (const text of statements)
      await database.read(tenant, async (queries) => {
        const bare = text.replaceAll(/\?\d*/g, "'x'").replaceAll(/LIMIT 'x'/g, 'LIMIT 26');
        const { rows } = await sql<{ detail: string }>`EXPLAIN QUERY PLAN ${sql.raw(bare)}`.execute(queries);
        plans.push(...rows.map(({ detail }) => detail));
      });
    return plans;
  };

  it('every order is read along an index that has it', async () => {
    for (const sort of peopleSorts.filter((one) => one !== 'best')) {
      const plans = await plansOf(sort, {});
      assert.ok(plans.length > 0, sort);
      const read = plans.filter((detail) => /^(?:SEARCH|SCAN) u\b/.test(detail));
      assert.ok(
        read.every((detail) => detail.startsWith('SEARCH u USING')),
        `${sort}: ${read.join('; ')}`,
      );
      const nameless = read.filter((detail) => /user_name_key=\?/.test(detail)).length;
      assert.ok(
        plans.filter((detail) => /USE TEMP B-TREE FOR ORDER BY/.test(detail)).length <= 1 + nameless,
        `${sort}: ${plans.join('; ')}`,
      );
    }
  });

  it('what was typed is looked up, whole or by words', async () => {
    for (const contains of ['f77x', 'f77x ann', 'u77@plans'])
      for (const sort of ['name', 'best'] as const) {
        const plans = await plansOf(sort, { contains, typed: contains });
        assert.ok(
          plans.some((detail) => /VIRTUAL TABLE INDEX/.test(detail)),
          `${contains}: ${plans.join('; ')}`,
        );
      }
  });
});
