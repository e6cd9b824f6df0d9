// Custom attributes in storage: filters, orders and uniqueness are served by indexes, and a deleted attribute leaves the database.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { TenantId } from '../../src/domain/ids.ts';
import { parseFilter } from '../../src/scim/filter/filter-parser.ts';
import { resolveFilter } from '../../src/scim/filter/filter-resolver.ts';
import { filterCondition } from '../../src/scim/filter/filter-sql.ts';
import { userIndexOf } from '../../src/scim/schema/schema-lookup.ts';
import { createPurgeJob } from '../../src/storage/purge.ts';
import { databases, onServer } from '../support/databases.ts';
import type { Json, Managed } from '../support/management.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { rootTenant, type ScimCaller, startScim, customSchema as urn } from '../support/scim.ts';

const people = 5000;

for (const database of databases) {
  describe(`custom attributes in storage (${database})`, () => {
    let scim: ScimCaller;
    let managed: Managed;
    let tenant: TenantId;
    before(async () => {
      scim = await startScim(database);
      managed = await manageRootTenant(scim.server);
      tenant = (await rootTenant(scim.server)).id;
      const { id } = await managed.make('POST', '/custom-attributes', { name: 'code' });
      await managed.make('POST', '/custom-attributes', { name: 'size', type: 'number' });
      const rows = Array.from({ length: people }, (_, at) => ({
        tenant_id: tenant,
        id: `u${String(at).padStart(5, '0')}`,
        user_name: `n${at}`,
        user_name_key: `n${at}`,
        custom: JSON.stringify({ [String(id)]: `C${at}` }),
        state: 'active',
        origin: 'scim',
        role: 'user',
        version: 1,
        created_at: at,
        updated_at: at,
      }));
      await scim.server.gatehouse.services.database.write(tenant, async (queries) => {
        for (let at = 0; at < people; at += 500) {
          const batch = rows.slice(at, at + 500);
          await queries
            .insertInto('users')
            .values(batch as never)
            .execute();
          const keys = batch.map((row) => ({
            tenant_id: tenant,
            user_id: row.id,
            attribute: String(id),
            value_key: `c${row.created_at}`,
            unique_key: null,
          }));
          await queries
            .insertInto('user_custom_values')
            .values(keys as never)
            .execute();
        }
      });
      if (database === 'postgres')
        await onServer(scim.server.database.databaseUrl!, (client) => client.query('ANALYZE users, user_custom_values'));
    });
    after(() => scim.close());
    const found = async (query: string): Promise<readonly unknown[]> => {
      const { body } = await scim.call('GET', `/Users?${query}`);
      return [body['totalResults'], ...((body['Resources'] ?? []) as readonly Json[]).map(({ id }) => id)];
    };

    it('eq and sw are found by the index of values, no walk through people', async () => {
      const { customAttributes } = await rootTenant(scim.server);
      const index = userIndexOf(customAttributes);
      for (const filter of [`${urn}:code eq "C4000"`, `${urn}:code sw "c400"`, `${urn}:size ge 7`]) {
        const resolved = resolveFilter(index, parseFilter(filter));
        const where = filterCondition({ dialect: database, directory: { tenant }, index, scanned: false, isCommon: () => false }, resolved);
        const explain = sql.raw(database === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN');
        const { rows } = await scim.server.gatehouse.services.database.read(tenant, (queries) =>
          sql<
            Record<string, string>
          >`${explain} SELECT u.id FROM users u WHERE u.tenant_id = ${tenant} AND u.state <> 'deleted' AND ${where}
            ORDER BY +u.created_at LIMIT 101`.execute(queries),
        );
        const plan = rows.map((row) => row['detail'] ?? row['QUERY PLAN']).join('\n');
        assert.match(plan, /user_custom_values_by_attribute_value_key_user_id/, plan);
        assert.doesNotMatch(plan, /Seq Scan|SCAN u|users_by_created_at|USING (COVERING )?INDEX \S+ \(tenant_id=\?\)/, plan);
      }
      assert.deepEqual(await found(`filter=${encodeURIComponent(`${urn}:code eq "c4000"`)}`), [1, 'u04000']);
      assert.deepEqual(await found(`count=2&filter=${encodeURIComponent(`${urn}:code sw "c400"`)}`), [11, 'u00400', 'u04000']);
      assert.deepEqual((await found(`count=1&filter=${encodeURIComponent(`${urn}:code pr`)}`))[0], people);
    });

    it('an order pages along the index, without losing or repeating anybody', async () => {
      const pages: unknown[] = [];
      for (const at of [1, 4, 7]) pages.push(...(await found(`sortBy=${urn}:code&count=3&startIndex=${at}`)).slice(1));
      const names = Array.from({ length: people }, (_, at) => `c${at}`)
        .toSorted()
        .slice(0, 9);
      assert.deepEqual(
        pages,
        names.map((name) => `u${name.slice(1).padStart(5, '0')}`),
      );
    });

    it('a deleted attribute leaves people and the index in the turns of the purge, and then goes itself', async () => {
      const { database: store } = scim.server.gatehouse.services;
      const left = async (): Promise<readonly unknown[]> =>
        store.read(tenant, async (queries) => [
          (await queries.selectFrom('user_custom_values').select('value_key').where('tenant_id', '=', tenant).limit(1).execute()).length,
          (await sql`SELECT 1 FROM users WHERE tenant_id = ${tenant} AND custom LIKE '%C%' LIMIT 1`.execute(queries)).rows.length,
          (await queries.selectFrom('custom_attributes').select('name').where('tenant_id', '=', tenant).limit(9).execute()).map(
            ({ name }) => name,
          ),
        ]);
      await managed.call('DELETE', '/custom-attributes/code');
      await createPurgeJob(store).run(new AbortController().signal);
      assert.deepEqual(await left(), [1, 1, ['code', 'size']], 'other processes may still know it');
      await scim.server.clock.advance(61_000);
      await createPurgeJob(store).run(new AbortController().signal);
      assert.deepEqual(await left(), [0, 0, ['size']]);
      assert.equal((await found('count=0'))[0], people);
    });
  });
}
