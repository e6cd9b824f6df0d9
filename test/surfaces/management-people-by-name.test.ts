// `GET /users?sort=name`: any part of any shown name, email or the start of an id; sorted by the name shown; how many; both ways.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface People {
  readonly items: readonly Json[];
  readonly total: number;
  readonly next_cursor?: string;
  readonly previous_cursor?: string;
}

for (const database of databases) {
  describe(`people by name on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    const list = (query: Readonly<Record<string, string>>): Promise<People> =>
      tenant.make<People>('GET', `/users?${new URLSearchParams({ sort: 'name', ...query })}`);
    const namesOf = ({ items }: People): readonly unknown[] => items.map((user) => user['display_name'] ?? user['user_name']);
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
      await createTestUser(tenant, 'countess@analytical.example', {
        display_name: 'Ada King',
        name: { given_name: 'Augusta', family_name: 'Lovelace' },
      });
      await createTestUser(tenant, 'grace@navy.example', { display_name: 'Grace “100%_sure” Hopper' });
      await createTestUser(tenant, 'babbage@engine.example', { display_name: undefined });
      await createTestUser(tenant, 'zoe@x.example', { display_name: 'ÉMILIE du Châtelet' });
    });
    after(() => server.close());

    it('finds any part of any shown name or email, whatever its case, and the start of an id', async () => {
      const everybody = await list({});
      assert.equal(everybody.total, 4);
      const ada = everybody.items.find((user) => user['display_name'] === 'Ada King');
      for (const part of [
        'velac',
        'LOVELACE',
        'a King',
        'gust',
        'analytical',
        'countess@',
        String(ada?.['id']),
        String(ada?.['id']).slice(0, 20),
      ])
        assert.deepEqual(namesOf(await list({ contains: part })), ['Ada King'], part);
      assert.deepEqual(namesOf(await list({ contains: 'ilie du châ' })), ['ÉMILIE du Châtelet']);
      assert.deepEqual(namesOf(await list({ contains: '0%_s' })), ['Grace “100%_sure” Hopper']);
      for (const none of ['0%xs', 'nobody of that name', '"', "'; --", '\\'])
        assert.deepEqual((await list({ contains: none })).items, [], none);
      assert.deepEqual(namesOf(await list({ contains: 'gr' })), ['Grace “100%_sure” Hopper'], 'two characters: a start');
    });

    it('is in the order of the names shown, and pages lead both ways', async () => {
      const own = await createTestTenant(server);
      for (let index = 0; index < 7; index += 1)
        await createTestUser(own, `p${index}@order.example`, index % 2 === 0 ? { display_name: `P${6 - index}` } : {});
      const page = (query: Readonly<Record<string, string>>): Promise<People> =>
        own.make<People>('GET', `/users?${new URLSearchParams({ sort: 'name', limit: '3', ...query })}`);
      const all = namesOf(await own.make<People>('GET', '/users?sort=name'));
      assert.deepEqual(
        all,
        all.toSorted((left, right) => (String(left).toLowerCase() < String(right).toLowerCase() ? -1 : 1)),
      );
      const first = await page({});
      assert.deepEqual([namesOf(first), first.previous_cursor, first.total], [all.slice(0, 3), undefined, 7]);
      const second = await page({ cursor: first.next_cursor! });
      assert.deepEqual(namesOf(second), all.slice(3, 6));
      const third = await page({ cursor: second.next_cursor! });
      assert.deepEqual([namesOf(third), third.next_cursor], [all.slice(6), undefined]);
      const back = await page({ cursor: third.previous_cursor! });
      assert.deepEqual(namesOf(back), all.slice(3, 6));
      const start = await page({ cursor: back.previous_cursor! });
      assert.deepEqual([namesOf(start), start.previous_cursor], [all.slice(0, 3), undefined]);
      assert.deepEqual(namesOf(await page({ cursor: start.next_cursor! })), all.slice(3, 6));
    });

    it('filters by state and by when they were made', async () => {
      const own = await createTestTenant(server);
      const { id } = await createTestUser(own, 'early@dates.example');
      await server.clock.advance(60_000);
      await createTestUser(own, 'late@dates.example');
      await own.make('POST', `/users/${id}/suspend`);
      const names = async (query: Readonly<Record<string, string>>): Promise<readonly unknown[]> =>
        namesOf(await own.make<People>('GET', `/users?${new URLSearchParams({ sort: 'name', ...query })}`));
      const middle = new Date(server.clock.nowMs() - 30_000).toISOString();
      assert.deepEqual(await names({ state: 'suspended' }), ['early@dates.example']);
      assert.deepEqual(await names({ created_from: middle }), ['late@dates.example']);
      assert.deepEqual(await names({ created_to: middle }), ['early@dates.example']);
      assert.deepEqual(await names({ created_to: middle, contains: 'late' }), []);
    });

    it('shows nobody who was deleted and nobody of another tenant', async () => {
      const own = await createTestTenant(server);
      assert.equal((await own.make<People>('GET', '/users?sort=name&contains=lovelace')).total, 0);
      const { id } = await createTestUser(own, 'gone@x.example');
      await own.make('DELETE', `/users/${id}`);
      assert.deepEqual((await own.make<People>('GET', `/users?sort=name`)).items, []);
    });

    it('parameters that do not belong are refused by name', async () => {
      for (const [query, kind] of [
        ['contains=x', 'contains'],
        ['sort=name&search=x', 'search'],
        ['sort=email', 'sort'],
        ['sort=name&created_from=yesterday', 'created_from'],
        ['sort=name&cursor=MTp4', 'cursor'],
        ['sort=name&limit=201', 'limit'],
      ] as const)
        await assertRefusal(await tenant.call('GET', `/users?${query}`), 'management.invalid_request', { kind, text: /parameter|field/ });
    });
  });
}
