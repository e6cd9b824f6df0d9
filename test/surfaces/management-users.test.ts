// `/users` of the management API: the SCIM user in snake_case, states and sessions (design 02).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Json, jsonOf, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`management users on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());
    const refused = async (method: string, path: string, body: unknown, kind: string, text: string | RegExp = /./): Promise<void> => {
      await assertRefusal(await tenant.call(method, path, body), 'management.invalid_request', { kind, text });
    };
    const eventsOf = async (target: string): Promise<readonly unknown[]> => {
      const rows = await server.gatehouse.services.database.read(tenant.id as never, (queries) =>
        queries.selectFrom('audit_events').selectAll().where('target', '=', target).orderBy('id').execute(),
      );
      return rows.map((row) => [row.type, row.actor]);
    };

    it('creates, reads and lists a user with every field', async () => {
      const fields = {
        user_name: 'Ada',
        external_id: 'e-1',
        display_name: 'Ada Lovelace',
        nick_name: 'ada',
        profile_url: 'https://ada.example',
        title: 'Countess',
        user_type: 'Guest',
        preferred_language: 'en',
        locale: 'en-GB',
        timezone: 'Europe/London',
        name: {
          formatted: 'Countess Ada Lovelace',
          given_name: 'Ada',
          family_name: 'Lovelace',
          middle_name: 'Augusta',
          honorific_prefix: 'Lady',
          honorific_suffix: 'I',
        },
        emails: [
          { value: 'ada@work.example', type: 'work', display: 'Work', primary: true },
          { value: 'ada@home.example', primary: false },
        ],
      };
      const created = await jsonOf(await tenant.call('POST', '/users', fields), 201);
      const { id, created_at: createdAt, updated_at: updatedAt, ...rest } = created;
      assert.deepEqual(rest, { ...fields, state: 'active', role: 'user', origin: 'console', version: 1 });
      assert.match(String(createdAt), /Z$/);
      assert.equal(createdAt, updatedAt);
      assert.deepEqual(await tenant.make('GET', `/users/${id}`), created);
      assert.deepEqual(await tenant.make('GET', '/users?search=ADA%40work'), { items: [created] });
      assert.deepEqual(await eventsOf(`user:${id}`), [['user.created', `client:${tenant.adminClientId}`]]);
    });

    it('phone numbers, addresses and the other lists; a PATCH replaces those it names', async () => {
      const lists = {
        phone_numbers: [
          { value: '+49 30 1234', type: 'work', primary: true },
          { value: '+49 30 5678', display: 'Home', primary: false },
        ],
        addresses: [
          {
            formatted: '1 Main St',
            street_address: '1 Main St',
            locality: 'Berlin',
            region: 'BE',
            postal_code: '10115',
            country: 'DE',
            type: 'home',
            primary: true,
          },
        ],
        roles: [{ value: 'engineer', primary: false }],
      };
      const created = await tenant.make('POST', '/users', { user_name: 'listed', ...lists });
      for (const [list, values] of Object.entries(lists)) assert.deepEqual(created[list], values, list);
      assert.deepEqual(await tenant.make('GET', `/users/${created['id']}`), created);
      assert.deepEqual(await tenant.make('GET', '/users?search=listed'), { items: [created] });
      const changed = await tenant.make('PATCH', `/users/${created['id']}`, { phone_numbers: [], title: 'x' });
      assert.equal(changed['phone_numbers'], undefined);
      assert.deepEqual(changed['addresses'], lists.addresses);
      const primaries = [
        { value: '1', primary: true },
        { value: '2', primary: true },
      ];
      await refused('POST', '/users', { phone_numbers: primaries }, 'phone_numbers', 'This field may have one primary element.');
      await refused('POST', '/users', { phone_numbers: [{ type: 'work' }] }, 'phone_numbers');
      await refused('POST', '/users', { addresses: [{ planet: 'Earth' }] }, 'addresses');
      await refused('POST', '/users', { roles: Array.from({ length: 21 }, (_unused, index) => ({ value: `r${index}` })) }, 'roles');
    });

    it('an empty body is a user; absent attributes are absent', async () => {
      const user = await tenant.make('POST', '/users', {});
      assert.deepEqual(Object.keys(user).sort(), ['created_at', 'emails', 'id', 'origin', 'role', 'state', 'updated_at', 'version']);
    });

    it('management.conflict: a user name or an email in use, folded', async () => {
      const other = await createTestUser(tenant, 'taken@example.com', { user_name: 'TakenName' });
      const conflict = async (body: Json, kind: string, text: string): Promise<void> => {
        await assertRefusal(await tenant.call('POST', '/users', body), 'management.conflict', { kind, text });
      };
      await conflict({ user_name: 'takenNAME' }, 'user_name', 'The user name is in use.');
      await conflict({ user_name: 'free', emails: [{ value: 'TAKEN@example.com' }] }, 'emails', 'An email address is in use.');
      const twice = [{ value: 'twice@example.com' }, { value: 'Twice@example.com' }];
      await conflict({ user_name: 'free', emails: twice }, 'emails', 'An email address is in use.');
      const free = await createTestUser(tenant, 'free@example.com', { user_name: 'free' });
      const changes = [
        [{ user_name: 'takenname' }, 'user_name', 'The user name is in use.'],
        [{ emails: [{ value: 'taken@example.com' }] }, 'emails', 'An email address is in use.'],
      ] as const;
      for (const [change, kind, text] of changes)
        await assertRefusal(await tenant.call('PATCH', `/users/${free.id}`, change), 'management.conflict', { kind, text });
      assert.deepEqual(await tenant.make('GET', `/users/${free.id}`), free);
      assert.deepEqual(await tenant.make('GET', `/users/${other.id}`), other);
    });

    it('20 parallel creations of one user name make one user', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => tenant.call('POST', '/users', { user_name: 'race' })));
      assert.deepEqual(answers.map((answer) => answer.status).sort(), [201, ...Array.from({ length: 19 }, () => 409)]);
    });

    it('PATCH changes what is named, null clears, emails are replaced', async () => {
      const { id } = await createTestUser(tenant, 'patch@example.com', {
        display_name: 'Before',
        name: { given_name: 'A', family_name: 'B' },
      });
      const changed = await tenant.make('PATCH', `/users/${id}`, {
        display_name: null,
        name: { given_name: 'C' },
        emails: [{ value: 'other@example.com', type: 'home' }],
      });
      assert.equal(changed['display_name'], undefined);
      assert.deepEqual(changed['name'], { given_name: 'C', family_name: 'B' });
      assert.deepEqual(changed['emails'], [{ value: 'other@example.com', type: 'home', primary: true }]);
      assert.equal(changed['version'], 2);
      assert.equal((await tenant.make('PATCH', `/users/${id}`, { name: null }))['name'], undefined);
      await createTestUser(tenant, 'patch@example.com', { user_name: 'patched' });
    });

    it('management.invalid_request: each field, named', async () => {
      await refused('POST', '/users', { colour: 'red' }, 'colour', 'This field is not known here.');
      await refused('POST', '/users', { name: { colour: 'red' } }, 'name.colour', 'This field is not known here.');
      await refused('POST', '/users', { user_name: '' }, 'user_name');
      await refused('POST', '/users', { user_name: 7 }, 'user_name', 'This field must be string.');
      await refused('POST', '/users', { emails: [{ value: 'no address' }] }, 'emails', 'This field does not have the expected form.');
      await refused('POST', '/users', { emails: [{}] }, 'emails');
      await refused('POST', '/users', { emails: 'a@b.example' }, 'emails', 'This field must be array.');
      await refused('POST', '/users', { role: 'root' }, 'role', 'This field must be one of user, admin.');
      await refused('POST', '/users', { state: 'deleted' }, 'state', 'This field must be one of active, suspended.');
      const primaries = [
        { value: 'a@b.example', primary: true },
        { value: 'c@d.example', primary: true },
      ];
      await refused('POST', '/users', { emails: primaries }, 'emails', 'This field may have one primary element.');
      await refused('GET', '/users?state=deleted', undefined, 'state');
    });

    it('bounds: 500 characters and 20 emails pass, one more does not', async () => {
      const emails = (count: number): Json[] => Array.from({ length: count }, (_unused, index) => ({ value: `bound${index}@example.com` }));
      await refused('POST', '/users', { title: 't'.repeat(501) }, 'title');
      await refused('POST', '/users', { emails: emails(21) }, 'emails');
      const longest = `${'l'.repeat(241)}@long.example`;
      await refused('POST', '/users', { emails: [{ value: `l${longest}` }] }, 'emails');
      await tenant.make('POST', '/users', { title: 't'.repeat(500), emails: [...emails(19), { value: longest }] });
    });

    it('suspends and activates; a repeated step changes nothing', async () => {
      const { id } = await createTestUser(tenant, 'state@example.com');
      assert.equal((await tenant.make('POST', `/users/${id}/suspend`))['state'], 'suspended');
      assert.equal((await tenant.make('POST', `/users/${id}/suspend`))['version'], 2);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/users?state=suspended');
      assert.deepEqual(
        items.map((item) => item['id']),
        [id],
      );
      assert.equal((await tenant.make('POST', `/users/${id}/activate`))['state'], 'active');
      const actor = `client:${tenant.adminClientId}`;
      assert.deepEqual(await eventsOf(`user:${id}`), [
        ['user.created', actor],
        ['user.suspended', actor],
        ['user.activated', actor],
      ]);
    });

    it('DELETE makes the user unknown and frees name and emails; the id is never another’s', async () => {
      const user = await createTestUser(tenant, 'gone@example.com');
      const group = await tenant.make('POST', '/groups', { display_name: 'Of the gone' });
      await tenant.make('POST', `/groups/${group['id']}/members`, { user_id: user.id });
      const deleted = await tenant.call('DELETE', `/users/${user.id}`);
      assert.equal(deleted.status, 204);
      assert.equal(await deleted.text(), '');
      for (const [method, path] of [
        ['GET', ''],
        ['PATCH', ''],
        ['DELETE', ''],
        ['POST', '/suspend'],
        ['POST', '/activate'],
        ['GET', '/sessions'],
        ['DELETE', '/sessions'],
      ] as const)
        await assertRefusal(
          await tenant.call(method, `/users/${user.id}${path}`, method === 'PATCH' ? {} : undefined),
          'management.not_found',
        );
      assert.deepEqual(await tenant.make('GET', `/groups/${group['id']}/members`), { items: [] });
      assert.deepEqual(await tenant.make('GET', '/users?search=gone%40'), { items: [] });
      const again = await createTestUser(tenant, 'gone@example.com');
      assert.notEqual(again.id, user.id);
    });

    it('lists every user once, page by page', async () => {
      const other = await createTestTenant(server);
      const made: string[] = [];
      for (let index = 0; index < 5; index += 1) made.push((await createTestUser(other, `page${index}@example.com`)).id);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const query = cursor === undefined ? '' : `&cursor=${cursor}`;
        const page = await other.make<{ items: readonly { id: string }[]; next_cursor?: string }>('GET', `/users?limit=2${query}`);
        seen.push(...page.items.map((item) => item.id));
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      assert.deepEqual(seen, made);
    });

    it('a user without sessions has none to list; ending them is no error', async () => {
      const { id } = await createTestUser(tenant, 'sessions@example.com');
      assert.deepEqual(await tenant.make('GET', `/users/${id}/sessions`), { items: [] });
      assert.equal((await tenant.call('DELETE', `/users/${id}/sessions`)).status, 204);
      await assertRefusal(await tenant.call('DELETE', `/users/${id}/sessions/unknown`), 'management.not_found');
    });
  });
}
