// Migrations 122 to 126: keys made when ẞ was folded apart from ß become what foldKey makes now, in every tenant and by an owner who is
// held by the row policies; a key that would collide stays, and `gatehouse doctor` lists it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import type { TenantId } from '../../src/domain/ids.ts';
import type { Queries } from '../../src/storage/engine/database.ts';
import { openPostgres } from '../../src/storage/engine/dialects/postgres.ts';
import { openSqlite } from '../../src/storage/engine/dialects/sqlite.ts';
import { migrate } from '../../src/storage/engine/migrations/migrator.ts';
import { migrations } from '../../src/storage/engine/migrations/registry.ts';
import { listStaleKeys } from '../../src/storage/people/user-names.ts';
import { createTestDatabase, databases, onServer } from '../support/databases.ts';

const tenant = '11111111-1111-4111-8111-111111111111' as TenantId;
const before = migrations.filter(({ number }) => number < 122);

/** Rows as releases before them wrote them. */
async function insertOld(queries: Queries): Promise<void> {
  await queries
    .insertInto('tenants')
    .values({
      tenant_id: tenant,
      slug: 'old',
      name: 'Old',
      enabled: 1,
      settings: '{}',
      secret_encrypted: 'x',
      created_at: 1,
      updated_at: 1,
    } as never) // the columns of that release
    .execute();
  const user = (id: string, name: string, key: string) => ({
    tenant_id: tenant,
    id,
    user_name: name,
    user_name_key: key,
    user_name_reversed: [...key].reverse().join(''),
    family_name: 'GRO\u1E9E\u0323',
    family_name_key: 'gro\u00DF\u0323',
    family_name_reversed: '\u0323\u00DForg',
    state: 'active',
    origin: 'scim',
    role: 'user',
    version: 1,
    created_at: 1,
    updated_at: 1,
  });
  for (const row of [user('a', 'STRA\u1E9EE', 'stra\u00DFe'), user('b', 'O\u1E9E', 'o\u00DF'), user('c', 'Oss', 'oss')])
    await queries
      .insertInto('users')
      .values(row as never) // the columns of that release
      .execute();
}

async function judge(read: <T>(work: (queries: Queries) => Promise<T>) => Promise<T>): Promise<void> {
  const rows = await read((queries) =>
    queries
      .selectFrom('users')
      .select(['user_name_key', 'user_name_reversed', 'family_name_key', 'family_name_reversed'])
      .where('tenant_id', '=', tenant)
      .orderBy('id')
      .execute(),
  );
  const family = { family_name_key: 'gros\u1E63', family_name_reversed: '\u1E63sorg' };
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      { user_name_key: 'strasse', user_name_reversed: 'essarts', ...family },
      { user_name_key: 'o\u00DF', user_name_reversed: '\u00DFo', ...family },
      { user_name_key: 'oss', user_name_reversed: 'sso', ...family },
    ],
  );
  assert.deepEqual(await read((queries) => listStaleKeys(queries, tenant)), [{ kind: 'user', name: 'O\u1E9E' }]);
}

describe('migrations 122 to 126', () => {
  it('renews keys on the embedded database', async () => {
    const database = await createTestDatabase('sqlite');
    const open = openSqlite({ file: `${database.dataFolder}/old.db`, clock: { nowMs: () => 1_800_000_000_000 } });
    try {
      await migrate(open, before, { isStepwise: true });
      await open.write(tenant, insertOld);
      await migrate(open);
      await judge((work) => open.read(tenant, work));
    } finally {
      await open.close();
      await database.drop();
    }
  });
  if (databases.includes('postgres'))
    it('renews keys on PostgreSQL, run by an owner without any other right', async () => {
      const database = await createTestDatabase('postgres');
      const login = `gatehouse_test_${randomUUID().slice(0, 8)}`;
      const url = new URL(database.databaseUrl!);
      await onServer(database.databaseUrl!, async (client) => {
        await client.query(`CREATE ROLE ${login} LOGIN`);
        await client.query(`GRANT gatehouse_service TO ${login}`);
        await client.query(`CREATE DATABASE ${login}_database OWNER ${login} TEMPLATE template0`);
      });
      url.pathname = `/${login}_database`;
      url.username = login;
      const open = openPostgres({ url: url.href, poolMax: 1, timeoutMs: 20_000, asService: false });
      try {
        await migrate(open, before, { isStepwise: true });
        await open.write(tenant, insertOld);
        await migrate(open);
        await judge((work) => open.read(tenant, work));
      } finally {
        await open.close();
        await onServer(database.databaseUrl!, async (client) => {
          await client.query(`DROP DATABASE ${login}_database WITH (FORCE)`);
          await client.query(`DROP ROLE ${login}`);
        });
        await database.drop();
      }
    });
});
