// `GET /users?sort=`: words of any shown name or email, or the start of an id; sorted by what has an index; how many; both ways.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TenantId } from '../../src/domain/ids.ts';
import { searchedWordsMax } from '../../src/domain/people/people-list.ts';
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

    it('words in any order, an external id as it is written, part of an email; who is meant stands first', async () => {
      const own = await createTestTenant(server);
      const found = async (query: Readonly<Record<string, string>>): Promise<readonly unknown[]> =>
        namesOf(await own.make<People>('GET', `/users?${new URLSearchParams({ sort: 'best', ...query })}`));
      for (const [email, display_name, more] of [
        ['zz@list.example', 'Zoe Annan', { external_id: 'HR-Ann' }],
        ['joanna@list.example', 'Joanna Brown', { name: { given_name: 'Joanna', family_name: 'Brown' } }],
        ['ann@list.example', 'Brown Annette', { name: { given_name: 'Annette', family_name: 'Brown' } }],
        ['x@list.example', 'Ann', {}],
        ['li@list.example', 'Wu Li', { name: { given_name: 'Li', family_name: 'Wu' } }],
      ] as const)
        await createTestUser(own, email, { display_name, ...more });
      assert.deepEqual(await found({ contains: 'ann' }), ['Ann', 'Brown Annette', 'Joanna Brown', 'Zoe Annan']);
      assert.deepEqual(await found({ contains: 'brown ann' }), ['Brown Annette', 'Joanna Brown']);
      assert.deepEqual(await found({ contains: 'ANNETTE  brown' }), ['Brown Annette']);
      assert.deepEqual(await found({ contains: 'li wu' }), ['Wu Li']);
      assert.deepEqual(await found({ contains: 'brown nobody' }), []);
      assert.deepEqual(await found({ contains: 'HR-Ann' }), ['Zoe Annan']);
      assert.deepEqual(await found({ contains: 'HR-' }), ['Zoe Annan']);
      assert.deepEqual(await found({ contains: 'oanna@li' }), ['Joanna Brown']);
      const many = Array.from({ length: searchedWordsMax }, (_, at) => 'brown'.slice(0, 5) + ' '.repeat(at));
      assert.deepEqual(await found({ contains: `${many.join(' ')} annette` }), ['Brown Annette'], 'the same word counts once');
      assert.deepEqual(await found({ contains: 'brown annette b r o w' }), ['Brown Annette'], 'six words');
      assert.deepEqual(await found({ contains: 'brown annette b r o w n' }), [], 'seven words: as they stand');
      const page = (query: Readonly<Record<string, string>>): Promise<People> =>
        own.make<People>('GET', `/users?${new URLSearchParams({ sort: 'best', contains: 'ann', limit: '1', ...query })}`);
      const seen: unknown[] = [];
      let at = await page({});
      for (;;) {
        seen.push(...namesOf(at));
        if (at.next_cursor === undefined) break;
        at = await page({ cursor: at.next_cursor });
      }
      assert.deepEqual(seen, ['Ann', 'Brown Annette', 'Joanna Brown', 'Zoe Annan']);
      const back: unknown[] = [];
      while (at.previous_cursor !== undefined) {
        at = await page({ cursor: at.previous_cursor });
        back.push(...namesOf(at));
      }
      assert.deepEqual(back, ['Joanna Brown', 'Brown Annette', 'Ann']);
      await assertRefusal(await own.call('GET', `/users?sort=name&cursor=${String(at.next_cursor)}`), 'management.invalid_request', {
        kind: 'cursor',
        text: /cursor of this list/,
      });
    });

    it('every order, both ways, page by page', async () => {
      const own = await createTestTenant(server);
      for (const name of ['delta', 'alpha', 'echo', 'bravo', 'charlie']) {
        await createTestUser(
          own,
          `${name}@order.example`,
          name === 'echo' ? { user_name: undefined, display_name: 'No user name' } : { display_name: undefined },
        );
        await server.clock.advance(1000);
      }
      const keyOf: Readonly<Record<string, (user: Json) => string>> = {
        name: (user) => String(user['display_name'] ?? user['user_name']).toLowerCase(),
        user_name: (user) => String(user['user_name'] ?? ''),
        created_at: (user) => String(user['created_at']),
      };
      for (const [name, key] of Object.entries(keyOf))
        for (const sort of [name, `-${name}`]) {
          const all: Json[] = [];
          let cursor: string | undefined;
          do {
            const query = new URLSearchParams({ sort, limit: '2', ...(cursor === undefined ? {} : { cursor }) });
            const page: People = await own.make<People>('GET', `/users?${query}`);
            all.push(...page.items);
            cursor = page.next_cursor;
          } while (cursor !== undefined);
          const keys = all.map(key);
          const sorted = keys.toSorted();
          assert.deepEqual(keys, sort === name ? sorted : sorted.toReversed(), sort);
          assert.equal(keys.length, 5, sort);
        }
    });

    it('filters by group, role, origin, invitation and last sign-in, of what the caller may read', async () => {
      const own = await createTestTenant(server);
      const [one, two] = [await createTestUser(own, 'one@f.example'), await createTestUser(own, 'two@f.example')];
      const group = String((await own.make('POST', '/groups', { display_name: 'Some' }))['id']);
      await own.make('POST', `/groups/${group}/members`, { user_id: one.id });
      await own.make('PUT', `/users/${two.id}/roles`, { roles: ['auditor'] });
      await own.make('POST', `/users/${two.id}/invitations`, { mail: false });
      const { services } = server.gatehouse;
      const now = server.clock.nowMs();
      await services.database.write(own.id as TenantId, (queries) =>
        queries
          .insertInto('last_sign_ins')
          .values({ tenant_id: own.id as TenantId, kind: 'user', id: one.id, at: now })
          .execute(),
      );
      const ids = async (query: Readonly<Record<string, string>>): Promise<readonly unknown[]> => {
        const { items, total } = await own.make<People>('GET', `/users?${new URLSearchParams({ sort: 'name', ...query })}`);
        assert.equal(total, items.length);
        return items.map((user) => user['id']);
      };
      assert.deepEqual(await ids({ group }), [one.id]);
      assert.deepEqual(await ids({ group: 'none' }), []);
      assert.deepEqual(await ids({ role: 'auditor' }), [two.id]);
      assert.deepEqual(await ids({ origin: 'scim' }), []);
      assert.deepEqual(await ids({ origin: 'console' }), [one.id, two.id]);
      assert.deepEqual(await ids({ invited: 'open' }), [two.id]);
      assert.deepEqual(await ids({ invited: 'expired' }), []);
      const hour = 3_600_000;
      assert.deepEqual(await ids({ signed_in_since: new Date(now - hour).toISOString() }), [one.id]);
      assert.deepEqual(await ids({ signed_in_since: new Date(now + hour).toISOString() }), []);
      assert.deepEqual(await ids({ not_signed_in_since: new Date(now - hour).toISOString() }), [two.id]);
      assert.deepEqual(await ids({ group, contains: 'one', state: 'active' }), [one.id]);
      const { client_id: id, client_secret: secret } = await own.make('POST', '/clients', {
        ...{ name: 'Reader', grant_types: ['client_credentials'], scopes: ['users:read'] },
      });
      const got = await fetch(`${own.baseUrl}/v1/idp/oidc/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${String(id)}:${String(secret)}`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'users:read', resource: own.managementApi }),
      });
      const { access_token: token } = (await got.json()) as { access_token: string };
      const asked = (query: string): Promise<Response> =>
        fetch(`${own.baseUrl}/v1/management/users?sort=name&${query}`, { headers: { authorization: `Bearer ${token}` } });
      assert.equal((await asked('origin=scim')).status, 200);
      for (const [query, capability] of [
        [`group=${group}`, 'groups:read'],
        ['role=auditor', 'administrators:read'],
        ['invited=open', 'invitations:read'],
      ] as const)
        await assertRefusal(await asked(query), 'management.forbidden', { text: new RegExp(capability) });
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
        ['sort=', 'sort'],
        ['sort=best', 'sort'],
        ['sort=name&sort=name', 'sort'],
        ['sort=name&origin=nowhere', 'origin'],
        ['sort=name&invited=maybe', 'invited'],
        ['sort=name&state=deleted', 'state'],
        ['sort=name&group=', 'group'],
        [`sort=name&role=${'x'.repeat(201)}`, 'role'],
        ['sort=name&signed_in_since=lately', 'signed_in_since'],
        ['sort=name&not_signed_in_since=2026-02-30T99:00:00Z', 'not_signed_in_since'],
        ['group=x', 'group'],
        ['origin=scim', 'origin'],
        ['sort=name&created_from=yesterday', 'created_from'],
        ['sort=name&cursor=MTp4', 'cursor'],
        ['sort=name&limit=201', 'limit'],
      ] as const)
        await assertRefusal(await tenant.call('GET', `/users?${query}`), 'management.invalid_request', { kind, text: /parameter|field/ });
    });
  });
}
