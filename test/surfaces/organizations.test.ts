// Organisations of a tenant (design 19): what whoever manages them may say, and who is in which with which roles.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { openSession } from '../../src/administration/declaration/reconcile.ts';
import {
  membersPerOrganizationMax,
  organizationMetadataBytesMax,
  organizationsMax,
  organizationsPerPersonMax,
} from '../../src/contract/limits.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Json, jsonOf, type Managed } from '../support/management.ts';
import { machineWith } from '../support/roles.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`organisations on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let made = 0;
    const fresh = (): number => {
      made += 1;
      return made;
    };
    const slug = (): string => `org-${fresh()}`;
    const make = async (fields: Json = {}, of = tenant): Promise<Json> => of.make('POST', '/organizations', { name: slug(), ...fields });
    const person = async (name = `person${fresh()}`): Promise<string> => (await createTestUser(tenant, `${name}@x.example`)).id;
    const role = async (scopes: readonly string[] = []): Promise<string> => {
      const name = `role-${fresh()}`;
      await tenant.make('POST', '/organization-roles', { name, scopes });
      return name;
    };
    const put = (organization: unknown, user: string, body: Json = {}) =>
      tenant.call('PUT', `/organizations/${String(organization)}/members/${user}`, body);
    const membersOf = async (organization: unknown, query = ''): Promise<Json> =>
      tenant.make('GET', `/organizations/${String(organization)}/members${query}`);
    const eventsOf = async (organization: unknown): Promise<readonly Json[]> => {
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/events?target=organization:${String(organization)}`);
      return items.map(({ type, data }) => ({ type, data })).reverse();
    };
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());

    it('a name is refused that reads as an id, is none or is taken; members are counted, not written', async () => {
      const refused = async (body: Json, field: string): Promise<void> => {
        const response = await tenant.call('POST', '/organizations', body);
        const answer = await jsonOf(response, 400);
        assert.equal(answer['kind'], field, JSON.stringify(body));
      };
      for (const name of ['', 'A', 'a b', '-a', 'a-', 'ä', 'a'.repeat(64), randomUUID(), 1, null]) await refused({ name }, 'name');
      await refused({ name: 'x', members: 1 }, 'members');
      await refused({ name: 'x', search_key: 'y' }, 'search_key');
      const most = organizationMetadataBytesMax - '{"a":""}'.length;
      for (const metadata of [[], 'x', null, { a: 'x'.repeat(most + 1) }]) await refused({ name: 'x', metadata }, 'metadata');
      assert.equal((await make({ metadata: { a: 'x'.repeat(most) } }))['members'], 0);
      const { name } = await make();
      assert.equal((await tenant.call('POST', '/organizations', { name })).status, 409);
    });

    it('a role is refused that names a capability or a scope of sign-in', async () => {
      for (const scope of ['users:read', 'organizations:write', 'ssf.manage', 'openid', 'offline_access']) {
        const response = await tenant.call('POST', '/organization-roles', { name: 'strong', scopes: ['orders:read', scope] });
        assert.equal((await jsonOf(response, 400))['kind'], 'scopes', scope);
      }
    });

    it('whoever lets somebody manage an organisation may do what they may do there', async () => {
      const all = ['organizations:write', 'users:read', 'users:write', 'invitations:write', 'sign-in:write', 'scim:read', 'scim:write'];
      const [{ id }, user, manager] = [await make(), await person(), `role-${fresh()}`];
      for (const lacking of all.slice(1)) {
        const machine = await machineWith(
          tenant,
          all.filter((one) => one !== lacking),
        );
        const refused = await machine.call('POST', '/organization-roles', { name: manager, manage: true });
        assert.match(String((await jsonOf(refused, 403))['message']), new RegExp(lacking));
      }
      for (const manage of [1, null, 'yes'])
        assert.equal((await tenant.call('POST', '/organization-roles', { name: manager, manage })).status, 400);
      const whole = await machineWith(tenant, all);
      assert.equal((await whole.make('POST', '/organization-roles', { name: manager, manage: true }))['manage'], true);
      const alone = await machineWith(tenant, ['organizations:write']);
      const at = `/organizations/${String(id)}/members/${user}`;
      assert.equal((await alone.call('PUT', at, {})).status, 201);
      assert.equal((await alone.call('PUT', at, { roles: [manager] })).status, 403);
      assert.equal((await alone.call('PATCH', `/organization-roles/${manager}`, { manage: false })).status, 403);
      assert.equal((await whole.call('PUT', at, { roles: [manager] })).status, 200);
      // An administrator may take away the last who manages.
      assert.equal((await alone.call('PUT', at, { roles: [] })).status, 200);
      assert.equal((await alone.call('DELETE', at)).status, 204);
    });

    it('the list is searched by a part of a name, of what it is shown as, and by the id', async () => {
      const { id, name } = await make({ display_name: 'Häuser & 100%_Söhne' });
      const find = async (search: string): Promise<readonly unknown[]> => {
        const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/organizations?search=${encodeURIComponent(search)}`);
        return items.map((one) => one['id']);
      };
      for (const search of ['HÄUSER', '100%_s', String(name).toUpperCase(), String(id)])
        assert.ok((await find(search)).includes(id), search);
      for (const search of ['%%', '_0', '\\']) assert.deepEqual(await find(search), [], search);
      const seen: unknown[] = [];
      for (let cursor: unknown = ''; cursor !== undefined; ) {
        const page: Json = await tenant.make('GET', `/organizations?search=org&limit=1${cursor === '' ? '' : `&cursor=${String(cursor)}`}`);
        seen.push(...(page['items'] as readonly Json[]).map((one) => one['id']));
        cursor = page['next_cursor'];
      }
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/organizations?limit=200');
      assert.deepEqual(
        seen,
        items.map((one) => one['id']),
      );
    });

    it('a person becomes a member, has other roles, and leaves; each is told once', async () => {
      const [{ id }, user, approver, reader] = [await make(), await person(), await role(), await role()];
      const added = await put(id, user, { roles: [reader, approver, reader] });
      const roles = [approver, reader].sort();
      const answer = await jsonOf(added, 201);
      assert.deepEqual({ ...answer, created_at: '' }, { user_id: user, roles, created_at: '' });
      assert.deepEqual(await jsonOf(await put(id, user, { roles }), 200), answer);
      assert.deepEqual(await jsonOf(await put(id, user), 200), answer);
      assert.deepEqual((await jsonOf(await put(id, user, { roles: [] }), 200))['roles'], []);
      const whole = await tenant.make('GET', `/organizations/${String(id)}`);
      assert.equal(whole['members'], 1);
      const { items: of } = await tenant.make<{ items: readonly Json[] }>('GET', `/users/${user}/organizations`);
      assert.deepEqual(of, [
        { id, name: whole['name'], display_name: null, enabled: true, suspended: false, roles: [], created_at: answer['created_at'] },
      ]);
      assert.equal((await tenant.call('DELETE', `/organizations/${String(id)}/members/${user}`)).status, 204);
      assert.equal((await tenant.call('DELETE', `/organizations/${String(id)}/members/${user}`)).status, 404);
      assert.equal((await tenant.make('GET', `/organizations/${String(id)}`))['members'], 0);
      assert.deepEqual(await eventsOf(id), [
        { type: 'organization.created', data: { name: whole['name'] } },
        { type: 'organization.member_added', data: { user, roles } },
        { type: 'organization.member_changed', data: { user, roles: [] } },
        { type: 'organization.member_removed', data: { user } },
      ]);
    });

    it('members are listed by name, found by a part of a name or email, a page at a time with how many there are', async () => {
      const { id } = await make();
      const named = async (name: string | undefined, email: string): Promise<string> => {
        const user = await tenant.make('POST', '/users', {
          ...(name === undefined ? {} : { display_name: name }),
          user_name: email,
          emails: [{ value: email, primary: true }],
        });
        await put(id, String(user['id']));
        return String(user['id']);
      };
      const [zoe, ada, bob] = [
        await named('Zoë', 'z@first.example'),
        await named('ada', 'x@2nd.example'),
        await named(undefined, 'bob@3.example'),
      ];
      await person(); // of the tenant, and not in it
      const first = await membersOf(id, '?limit=2');
      assert.equal(first['total'], 3);
      const second = await membersOf(id, `?limit=2&cursor=${String(first['next_cursor'])}`);
      assert.equal(second['next_cursor'], undefined);
      const listed = [first, second].flatMap((page) => page['items'] as readonly Json[]);
      assert.deepEqual(
        listed.map((one) => one['user_id']),
        [ada, bob, zoe],
      );
      assert.deepEqual(
        { ...listed[2], created_at: '' },
        { user_id: zoe, roles: [], created_at: '', suspended: false, user_name: 'z@first.example', display_name: 'Zoë' },
      );
      const find = async (search: string): Promise<Json> => membersOf(id, `?search=${encodeURIComponent(search)}`);
      for (const search of ['ZO', 'first']) {
        const found = await find(search);
        assert.deepEqual([found['total'], (found['items'] as readonly Json[]).map((one) => one['user_id'])], [1, [zoe]], search);
      }
      assert.deepEqual(await find('%'), { items: [], total: 0 });
      for (const cursor of ['x', Buffer.from('1:["a"]').toString('base64url'), Buffer.from('1:["\\u0000","b"]').toString('base64url')])
        assert.equal((await tenant.call('GET', `/organizations/${String(id)}/members?cursor=${cursor}`)).status, 400, cursor);
    });

    it('who and what a membership names is the tenant’s own; roles are known, and those of one request', async () => {
      const [{ id }, user] = [await make(), await person()];
      const other = await createTestTenant(server);
      const foreign = await make({}, other);
      const stranger = (await createTestUser(other, 'x@y.example')).id;
      for (const organization of [randomUUID(), 'x', foreign['id']]) {
        const response = await put(organization, user);
        assert.deepEqual(await jsonOf(response, 404), { error: 'not_found', message: 'Not found.' });
      }
      for (const nobody of [randomUUID(), 'x', stranger]) assert.equal((await put(id, nobody)).status, 404);
      for (const body of [
        { roles: ['no-such-role'] },
        { roles: 'x' },
        { roles: [1] },
        { roles: [''] },
        { roles: null },
        { roles: Array.from({ length: 51 }, (_, at) => `r${at}`) },
        { surprise: 1 },
      ])
        assert.equal((await put(id, user, body)).status, 400, JSON.stringify(body));
      await tenant.call('DELETE', `/users/${user}`);
      assert.equal((await put(id, user)).status, 404);
    });

    it('what each capability allows: names of members are for whoever reads people', async () => {
      const { id } = await make();
      const user = await person();
      const [reader, people, writer, neither] = [
        await machineWith(tenant, ['organizations:read']),
        await machineWith(tenant, ['organizations:read', 'users:read']),
        await machineWith(tenant, ['organizations:write']),
        await machineWith(tenant, ['users:read', 'groups:write']),
      ];
      const at = `/organizations/${String(id)}/members`;
      const statuses = async (one: Managed): Promise<readonly number[]> => [
        (await one.call('GET', at)).status,
        (await one.call('GET', `/users/${user}/organizations`)).status,
        (await one.call('PUT', `${at}/${user}`, {})).status,
        (await one.call('DELETE', `${at}/${user}`)).status,
      ];
      assert.deepEqual(await statuses(reader), [403, 200, 403, 403]);
      assert.deepEqual(await statuses(people), [200, 200, 403, 403]);
      assert.deepEqual(await statuses(writer), [403, 403, 201, 204]);
      assert.deepEqual(await statuses(neither), [403, 403, 403, 403]);
      // Nobody puts whoever holds more into an organisation, or ends one they are in.
      const owner = (await createTestUser(tenant, `owner${fresh()}@x.example`, { admin_roles: ['owner'] })).id;
      assert.equal((await writer.call('PUT', `${at}/${owner}`, {})).status, 403);
      assert.equal((await put(id, owner)).status, 201);
      assert.equal((await writer.call('DELETE', `/organizations/${String(id)}`)).status, 403);
    });

    it('a role that a member holds stays; whoever is deleted leaves every organisation; one that is deleted leaves its people', async () => {
      const [one, other, user, held] = [await make(), await make(), await person(), await role()];
      for (const { id } of [one, other]) assert.equal((await put(id, user, { roles: [held] })).status, 201);
      const response = await tenant.call('DELETE', `/organization-roles/${held}`);
      assert.equal((await jsonOf(response, 409))['kind'], 'name');
      assert.equal((await tenant.call('DELETE', `/organizations/${String(one['id'])}`)).status, 204);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/users/${user}/organizations`);
      assert.deepEqual(
        items.map(({ id }) => id),
        [other['id']],
      );
      assert.equal((await tenant.call('DELETE', `/users/${user}`)).status, 204);
      assert.deepEqual(await membersOf(other['id']), { items: [], total: 0 });
      assert.equal((await tenant.call('DELETE', `/organization-roles/${held}`)).status, 204);
    });

    it('those who give a role and take it away at once: it is held or gone, never both', async () => {
      const { id } = await make();
      const users = await Promise.all(Array.from({ length: 6 }, () => person()));
      const name = await role();
      const [gone, ...given] = await Promise.all([
        tenant.call('DELETE', `/organization-roles/${name}`),
        ...users.map((user) => put(id, user, { roles: [name] })),
      ]);
      const held = given.filter(({ status }) => status === 201).length;
      assert.equal((await membersOf(id))['total'], held);
      if (gone!.status === 204) assert.equal(held, 0);
      else assert.ok(held > 0);
    });

    it(`a person is in at most ${organizationsPerPersonMax}, whoever adds them at once`, async () => {
      const user = await person();
      const all: unknown[] = [];
      for (let at = 0; at < organizationsPerPersonMax + 2; at += 1) all.push((await make())['id']);
      for (const id of all.slice(0, organizationsPerPersonMax - 1)) assert.equal((await put(id, user)).status, 201);
      const last = await Promise.all(all.slice(organizationsPerPersonMax - 1).map((id) => put(id, user)));
      assert.deepEqual(last.map(({ status }) => status).sort(), [201, 409, 409]);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/users/${user}/organizations`);
      assert.equal(items.length, organizationsPerPersonMax);
      assert.equal((await put(items[0]!['id'], user, { roles: [] })).status, 200);
    });

    it(`an organisation has at most ${membersPerOrganizationMax} members, whoever adds them at once`, async () => {
      const [{ id }, ...users] = [await make(), ...(await Promise.all([person(), person(), person()]))];
      await server.gatehouse.services.database.write(tenant.id as TenantId, (queries) =>
        queries
          .updateTable('organizations')
          .set({ members: membersPerOrganizationMax - 1 })
          .where('tenant_id', '=', tenant.id as TenantId)
          .where('id', '=', String(id))
          .execute(),
      );
      const answers = await Promise.all(users.map((user) => put(id, String(user))));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409]);
    });

    it(`a tenant has at most ${organizationsMax}`, async () => {
      const full = await createTestTenant(server);
      const first = await make({}, full);
      const { cache } = server.gatehouse.services;
      const id = full.id as TenantId;
      await cache.write(id, async (queries) => {
        const row = await queries.selectFrom('organizations').selectAll().where('tenant_id', '=', id).executeTakeFirstOrThrow();
        for (let from = 1; from < organizationsMax - 1; from += 1000) {
          const size = Math.min(1000, organizationsMax - 1 - from);
          const rows = Array.from({ length: size }, (_, at) => ({ ...row, id: `${from + at}`, name: `n${from + at}` }));
          await queries.insertInto('organizations').values(rows).execute();
        }
      });
      assert.ok(first['id'] !== undefined);
      const answers = await Promise.all([1, 2, 3].map(async () => (await full.call('POST', '/organizations', { name: slug() })).status));
      assert.deepEqual(answers.sort(), [201, 400, 400]);
    });

    it('documents carry organisations and their roles, ids and all; what they do not say stays counted', async () => {
      const from = await createTestTenant(server);
      const to = await createTestTenant(server);
      await from.make('POST', '/organization-roles', { name: 'approver', scopes: ['orders:approve'] });
      const organization = await make({ display_name: 'Globex', metadata: { plan: 'gold' }, enabled: false }, from);
      const { services } = server.gatehouse;
      const open = async ({ slug: name }: Managed) => openSession(services, (await services.tenants.bySlug(name))!, { actor: 'operator' });
      let text = '';
      for await (const part of exportDocument(await open(from), { withSecrets: false, asJson: false })) text += part;
      const sectionOf = (name: string): string => new RegExp(`^${name}:\\n(?: .*\\n)*`, 'm').exec(text)?.[0] ?? '';
      const own = `${sectionOf('organization_roles')}${sectionOf('organizations')}`;
      assert.match(own, /plan: gold/);
      for (let twice = 0; twice < 2; twice += 1) {
        await applyDocument(services, to.slug, `gatehouse: 1\n${own}`.split('\n'));
      }
      const copy = await to.make('GET', `/organizations/${String(organization['id'])}`);
      const { created_at: _made, updated_at: _changed, ...rest } = organization;
      assert.deepEqual({ ...rest, ...copy }, { ...copy });
      assert.deepEqual((await to.make('GET', '/organization-roles/approver'))['scopes'], ['orders:approve']);
    });

    it('documents carry who is in which with which roles; an item that does not say it leaves it, and an empty list ends it', async () => {
      const from = await createTestTenant(server);
      const to = await createTestTenant(server);
      const { services } = server.gatehouse;
      await from.make('POST', '/organization-roles', { name: 'approver', scopes: ['orders:approve'] });
      const acme = String((await make({ name: 'acme' }, from))['id']);
      const globex = String((await make({ name: 'globex' }, from))['id']);
      const { id: user } = await createTestUser(from, 'grace@x.example');
      await from.make('PUT', `/organizations/${acme}/members/${user}`, { roles: ['approver'] });
      await from.make('PUT', `/organizations/${globex}/members/${user}`, {});
      const session = await openSession(services, (await services.tenants.bySlug(from.slug))!, { actor: 'operator' });
      let text = '';
      for await (const part of exportDocument(session, { withSecrets: false, asJson: false })) text += part;
      const sectionOf = (name: string): string => new RegExp(`^${name}:\\n(?: .*\\n)*`, 'm').exec(text)?.[0] ?? '';
      const whole = ['organization_roles', 'organizations', 'users'].map(sectionOf).join('');
      const apply = (document: string) => applyDocument(services, to.slug, `gatehouse: 1\n${document}`.split('\n'));
      const held = async (): Promise<unknown> => {
        const { items } = await to.make<{ items: readonly Json[] }>('GET', `/users/${user}/organizations`);
        return items.map(({ id, roles }) => [id, roles]);
      };
      await apply(whole);
      const both = [
        [acme, ['approver']],
        [globex, []],
      ];
      assert.deepEqual(await held(), both);
      assert.deepEqual((await to.make('GET', `/organizations/${acme}`))['members'], 1);
      const before = await to.make('GET', '/events?limit=200');
      await apply(whole);
      assert.deepEqual(await to.make('GET', '/events?limit=200'), before); // nothing was changed
      const grace = `users:\n  - id: ${user}\n    user_name: grace@x.example\n    emails:\n      - value: grace@x.example\n`;
      await apply(grace);
      assert.deepEqual(await held(), both);
      await apply(`${grace}    organizations:\n      - organization: globex\n        roles:\n          - approver\n`);
      assert.deepEqual(await held(), [[globex, ['approver']]]);
      for (const wrong of ['no-such', acme])
        await assert.rejects(
          apply(`${grace}    organizations:\n      - organization: ${wrong}\n`),
          /organizations\[0\]\.organization: expected the name/,
        );
      await assert.rejects(
        apply(`${grace}    organizations:\n      - organization: acme\n        roles:\n          - nobody\n`),
        /organizations\[0\]\.roles\[0\]: expected the name of an organisation role/,
      );
      await assert.rejects(
        apply(`${grace}    organizations:\n      - organization: acme\n      - organization: acme\n`),
        /each organisation once/,
      );
      await apply(`${grace}    organizations: []\n`);
      assert.deepEqual(await held(), []);
      const { items } = await to.make<{ items: readonly Json[] }>('GET', `/events?target=organization:${globex}`);
      assert.deepEqual(
        items.map(({ type }) => type),
        ['organization.member_removed', 'organization.member_changed', 'organization.member_added', 'organization.created'],
      );
    });
  });
