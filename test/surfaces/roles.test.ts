// Roles of administrators (design 13, 4): those every tenant has and those it adds, who may give them, what they allow, and that one
// owner remains. That nobody acts on who holds more is in roles-over-people.test.ts.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { roleNameCharsMax, rolesPerPersonMax } from '../../src/contract/limits.ts';
import { capabilities, capabilitiesOfTenant } from '../../src/domain/people/capabilities.ts';
import { builtInRole } from '../../src/domain/people/role.ts';
import { makeOwners } from '../../src/storage/engine/migrations/release-2/0300/0321-owners.ts';
import { addRoleCapabilities } from '../../src/storage/engine/migrations/release-2/0300/0322-role-capabilities.ts';
import { databases } from '../support/databases.ts';
import { callJson, createTestTenant, createTestUser, type Json, jsonOf, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith, personWith } from '../support/roles.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const ofTenant = capabilitiesOfTenant({ slug: 'acme' });
const lacks = (capability: string) => ({ text: `The token lacks the capability ${capability}.` });
const rolesOf = async (tenant: Managed, id: string): Promise<unknown> => (await tenant.make('GET', `/users/${id}/roles`))['roles'];

for (const database of databases)
  describe(`roles on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());
    let made = 0;
    const newPerson = (fields: Json = {}): Promise<Json & { readonly id: string }> => {
      made += 1;
      return createTestUser(tenant, `person${made}@example.com`, fields);
    };

    it('every tenant has owner, admin, support and auditor, with what the design says, and they cannot be changed', async () => {
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/roles');
      const allowed = Object.fromEntries(items.map(({ name, capabilities: all }) => [name, all as readonly string[]]));
      assert.deepEqual(Object.keys(allowed), ['owner', 'admin', 'support', 'auditor']);
      assert.ok(items.every((role) => role['built_in'] === true));
      assert.deepEqual(allowed['owner'], ofTenant);
      assert.deepEqual(
        allowed['admin'],
        ofTenant.filter((one) => !['administrators:write', 'domain:write'].includes(one)),
      );
      assert.deepEqual(
        allowed['auditor'],
        ofTenant.filter((one) => one.endsWith(':read')),
      );
      const support =
        'clients:read users:read users:write groups:read devices:read devices:write events:read invitations:read invitations:write';
      assert.deepEqual(allowed['support'], support.split(' '));
      assert.deepEqual(await tenant.make('GET', '/roles/support'), items[2]);
      for (const [method, body] of [
        ['PATCH', { capabilities: ['users:read'] }],
        ['DELETE', undefined],
      ] as const)
        await assertRefusal(await tenant.call(method, '/roles/auditor', body), 'management.conflict', {
          kind: 'name',
          text: 'Every tenant has this role: it cannot be changed.',
        });
    });

    it('a role is added, read, changed for everybody who holds it and deleted once nobody does; each is recorded', async () => {
      const body = { name: 'help-desk', description: 'Answers the phone', capabilities: ['users:read', 'users:recover'] };
      const { created_at: createdAt, updated_at: _, ...role } = await jsonOf(await tenant.call('POST', '/roles', body), 201);
      assert.ok(!Number.isNaN(Date.parse(String(createdAt))));
      assert.deepEqual(role, { ...body, built_in: false });
      await assertRefusal(await tenant.call('POST', '/roles', body), 'management.conflict', { kind: 'name', text: 'The name is in use.' });
      const holder = await newPerson({ admin_roles: ['help-desk'] });
      const token = await personWith(server, tenant, holder.id, capabilities);
      assert.deepEqual((await token.make('GET', '/me'))['capabilities'], ['users:read', 'users:recover']);
      await tenant.make('PATCH', '/roles/help-desk', { capabilities: ['groups:read'] });
      assert.deepEqual((await token.make('GET', '/me'))['capabilities'], ['groups:read']);
      await assertRefusal(await tenant.call('DELETE', '/roles/help-desk'), 'management.conflict', {
        kind: 'name',
        text: 'Somebody holds this role: take it from them first.',
      });
      await tenant.make('PUT', `/users/${holder.id}/roles`, { roles: [] });
      await assertRefusal(await token.call('GET', '/me'), 'management.unauthorized');
      assert.equal((await tenant.call('DELETE', '/roles/help-desk')).status, 204);
      for (const method of ['GET', 'PATCH', 'DELETE'])
        await assertRefusal(await tenant.call(method, '/roles/help-desk', method === 'PATCH' ? {} : undefined), 'management.not_found');
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/events?limit=100');
      const types = items.filter(({ target }) => target === 'role:help-desk').map(({ type }) => type);
      assert.deepEqual(types.toSorted(), ['role.created', 'role.deleted', 'role.updated']);
      const changed = items.find(({ type, target }) => type === 'user.roles_changed' && target === `user:${holder.id}`);
      assert.deepEqual(changed?.['data'], { roles: [], before: ['help-desk'] });
    });

    it('management.invalid_request: names, capabilities and lists that are none', async () => {
      const refused = async (method: string, path: string, body: Json, kind: string): Promise<void> => {
        const answer = await tenant.call(method, path, body);
        assert.deepEqual([answer.status, ((await answer.json()) as Json)['kind']], [400, kind], JSON.stringify(body));
      };
      for (const name of ['', 'Help', '-a', 'a-', 'a b', 'owner', 'admin', 'x'.repeat(roleNameCharsMax + 1)])
        await refused('POST', '/roles', { name }, 'name');
      const longest = { name: 'x'.repeat(roleNameCharsMax) };
      assert.equal((await tenant.call('POST', '/roles', longest)).status, 201);
      await refused('POST', '/roles', { name: 'odd', capabilities: ['everything'] }, 'capabilities');
      await refused('POST', '/roles', { name: 'odd', capabilities: ['tenants:read'] }, 'capabilities');
      await refused('PATCH', `/roles/${longest.name}`, { name: 'other' }, 'name');
      const { id } = await newPerson();
      await refused('PUT', `/users/${id}/roles`, { roles: ['nobody-has-it'] }, 'roles');
      await refused('POST', '/users', { user_name: 'x', admin_roles: ['nobody-has-it'] }, 'roles');
      const names = Array.from({ length: rolesPerPersonMax }, (_, at) => `limit-${at}`);
      for (const name of names) await tenant.make('POST', '/roles', { name });
      assert.equal((await tenant.call('PUT', `/users/${id}/roles`, { roles: names })).status, 200);
      assert.deepEqual(await rolesOf(tenant, id), names.toSorted());
      await refused('PUT', `/users/${id}/roles`, { roles: [...names, 'owner'] }, 'roles');
      await assertRefusal(await tenant.call('PUT', '/users/nobody/roles', { roles: [] }), 'management.not_found');
    });

    it('holders are listed, all and those of one role', async () => {
      const own = await createTestTenant(server);
      const [one, two] = [
        await createTestUser(own, 'one@x.example', { admin_roles: ['auditor', 'support'] }),
        await createTestUser(own, 'two@x.example', { role: 'admin' }),
      ];
      await createTestUser(own, 'plain@x.example');
      const listed = async (query = ''): Promise<readonly Json[]> =>
        (await own.make<{ items: readonly Json[] }>('GET', `/administrators${query}`)).items;
      assert.deepEqual(await listed(), [
        { user_id: one.id, user_name: 'one@x.example', display_name: null, state: 'active', roles: ['auditor', 'support'] },
        { user_id: two.id, user_name: 'two@x.example', display_name: null, state: 'active', roles: ['admin'] },
      ]);
      assert.deepEqual(
        (await listed('?role=admin')).map(({ user_id: id }) => id),
        [two.id],
      );
      const page = await own.make<{ items: readonly Json[]; next_cursor: string }>('GET', '/administrators?limit=1');
      assert.deepEqual(
        (await listed(`?limit=1&cursor=${page.next_cursor}`)).map(({ user_id: id }) => id),
        [two.id],
      );
      assert.deepEqual((await own.make('GET', `/users/${one.id}`))['role'], 'admin');
    });

    it('role: admin gives the role admin to who holds none, changes nothing for who holds one; role: user takes all away', async () => {
      const person = await newPerson({ role: 'admin' });
      assert.deepEqual(await rolesOf(tenant, person.id), ['admin']);
      await tenant.make('PUT', `/users/${person.id}/roles`, { roles: ['support', 'support', 'auditor'] });
      assert.equal((await tenant.make('PATCH', `/users/${person.id}`, { role: 'admin' }))['role'], 'admin');
      assert.deepEqual(await rolesOf(tenant, person.id), ['auditor', 'support']);
      assert.equal((await tenant.make('PATCH', `/users/${person.id}`, { role: 'user' }))['role'], 'user');
      assert.deepEqual(await rolesOf(tenant, person.id), []);
    });

    it('management.forbidden: whoever gives a role needs administrators:write and every capability it allows', async () => {
      const { id } = await newPerson();
      const grant = async (by: Managed, roles: readonly string[], missing: string): Promise<void> => {
        await assertRefusal(await by.call('PUT', `/users/${id}/roles`, { roles }), 'management.forbidden', lacks(missing));
        if (roles.length > 0)
          await assertRefusal(
            await by.call('POST', '/users', { user_name: 'new', admin_roles: roles }),
            'management.forbidden',
            lacks(missing),
          );
      };
      const admin = await personWith(server, tenant, (await newPerson({ role: 'admin' })).id, capabilities);
      for (const roles of [['owner'], ['auditor'], []]) await grant(admin, roles, 'administrators:write');
      await assertRefusal(
        await admin.call('PATCH', `/users/${id}`, { role: 'admin' }),
        'management.forbidden',
        lacks('administrators:write'),
      );
      await assertRefusal(await admin.call('POST', '/roles', { name: 'mine' }), 'management.forbidden', lacks('administrators:write'));
      const narrow = ['users:read', 'users:write', 'administrators:read', 'administrators:write', 'devices:read'];
      const boss = await machineWith(tenant, narrow);
      await grant(boss, ['owner'], 'clients:read');
      await grant(boss, ['support'], 'clients:read');
      await tenant.make('POST', '/roles', { name: 'wide', capabilities: ['users:read', 'settings:write'] });
      await grant(boss, ['wide'], 'settings:write');
      for (const body of [{ capabilities: ['settings:write'] }, { capabilities: [] }])
        await assertRefusal(await boss.call('PATCH', '/roles/wide', body), 'management.forbidden', lacks('settings:write'));
      await assertRefusal(await boss.call('DELETE', '/roles/wide'), 'management.forbidden', lacks('settings:write'));
      await assertRefusal(
        await boss.call('POST', '/roles', { name: 'wider', capabilities: ['settings:write'] }),
        'management.forbidden',
        lacks('settings:write'),
      );
      await boss.make('POST', '/roles', { name: 'viewer', capabilities: ['users:read'] });
      await boss.make('PUT', `/users/${id}/roles`, { roles: ['viewer'] });
      assert.deepEqual(await rolesOf(tenant, id), ['viewer']);
    });

    it('nobody raises themselves: by their own roles, by a role they hold, by a client, by a link', async () => {
      await tenant.make('POST', '/roles', {
        name: 'climber',
        capabilities: ['administrators:read', 'administrators:write', 'users:read', 'users:write', 'clients:read', 'clients:write'],
      });
      const { id } = await newPerson({ admin_roles: ['climber'] });
      const climber = await personWith(server, tenant, id, capabilities);
      for (const roles of [['owner'], ['climber', 'admin']])
        await assertRefusal(await climber.call('PUT', `/users/${id}/roles`, { roles }), 'management.forbidden', lacks('resources:read'));
      await assertRefusal(
        await climber.call('PATCH', '/roles/climber', { capabilities: ['settings:write'] }),
        'management.forbidden',
        lacks('settings:write'),
      );
      for (const [method, path, body] of [
        ['POST', '/clients', { name: 'x', scopes: ['settings:write'], grant_types: ['client_credentials'] }],
        ['POST', `/clients/${tenant.adminClientId}/secret`, undefined],
        ['PATCH', `/clients/${tenant.adminClientId}`, { name: 'mine' }],
        ['DELETE', `/clients/${tenant.adminClientId}`, undefined],
      ] as const)
        assert.equal((await climber.call(method, path, body)).status, 403, `${method} ${path}`);
      assert.deepEqual(await rolesOf(tenant, id), ['climber']);
    });

    it('token and current roles must both allow; a role given or taken away acts at once', async () => {
      const { id } = await newPerson({ admin_roles: ['auditor'] });
      const narrow = await personWith(server, tenant, id, ['groups:read', 'groups:write']);
      assert.equal((await narrow.call('GET', '/groups')).status, 200);
      await assertRefusal(await narrow.call('GET', '/users'), 'management.forbidden', lacks('users:read'));
      await assertRefusal(await narrow.call('POST', '/groups', { display_name: 'x' }), 'management.forbidden', lacks('groups:write'));
      const scim = (): Promise<Response> => callJson(`${tenant.baseUrl}/scim/v2/Users`, narrow.token, 'GET');
      await assertRefusal(await scim(), 'scim.forbidden', { text: 'The access token lacks scim:read.' });
      await tenant.make('PUT', `/users/${id}/roles`, { roles: ['admin'] });
      assert.equal((await narrow.call('POST', '/groups', { display_name: 'At once' })).status, 201);
      await tenant.make('PUT', `/users/${id}/roles`, { roles: ['support'] });
      await assertRefusal(
        await narrow.call('POST', '/groups', { display_name: 'Too late' }),
        'management.forbidden',
        lacks('groups:write'),
      );
      await tenant.make('PUT', `/users/${id}/roles`, { roles: [] });
      await assertRefusal(await narrow.call('GET', '/groups'), 'management.unauthorized');
    });

    it('management.conflict: one active owner remains, whoever asks and however', async () => {
      const own = await createTestTenant(server);
      const [first, second] = [
        await createTestUser(own, 'first@x.example', { admin_roles: ['owner'] }),
        await createTestUser(own, 'second@x.example', { admin_roles: ['owner', 'support'] }),
      ];
      await own.make('POST', `/users/${second.id}/suspend`);
      const refusal = { kind: 'roles', text: 'One owner must remain: give the role owner to somebody else first.' };
      for (const [method, path, body] of [
        ['PUT', `/users/${first.id}/roles`, { roles: ['admin'] }],
        ['PATCH', `/users/${first.id}`, { role: 'user' }],
        ['PATCH', `/users/${first.id}`, { state: 'suspended' }],
        ['POST', `/users/${first.id}/suspend`, undefined],
        ['DELETE', `/users/${first.id}`, undefined],
      ] as const)
        await assertRefusal(await own.call(method, path, body), 'management.conflict', refusal);
      const whole = await own.make('GET', `/users/${first.id}`);
      assert.deepEqual([whole['state'], whole['role'], await rolesOf(own, first.id)], ['active', 'admin', ['owner']]);
      const scim = `${own.baseUrl}/scim/v2/Users/${first.id}`;
      const patch = {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
        Operations: [{ op: 'replace', path: 'active', value: false }],
      };
      for (const answer of [
        await callJson(scim, own.token, 'DELETE'),
        await fetch(scim, {
          method: 'PATCH',
          headers: { authorization: `Bearer ${own.token}`, 'content-type': 'application/scim+json' },
          body: JSON.stringify(patch),
        }),
      ])
        await assertRefusal(answer, 'scim.invalidValue', { text: 'One owner must remain active.' });
      await own.make('POST', `/users/${second.id}/activate`);
      await own.make('PUT', `/users/${first.id}/roles`, { roles: [] });
      assert.equal((await own.call('DELETE', `/users/${first.id}`)).status, 204);
      await assertRefusal(await own.call('DELETE', `/users/${second.id}`), 'management.conflict', refusal);
    });

    it('administrators of before are owners after the migration, and clients that had every capability have the new ones', async () => {
      const own = await createTestTenant(server);
      const { database: store } = server.gatehouse.services;
      const write = <T>(work: Parameters<typeof store.write<T>>[1]): Promise<T> => store.write(own.id as never, work); // the tenant's id
      const before = await createTestUser(own, 'before@x.example', { role: 'admin' });
      const plain = await createTestUser(own, 'plain@x.example');
      const support = await createTestUser(own, 'support@x.example', { admin_roles: ['support'] });
      await write((queries) =>
        queries
          .deleteFrom('user_roles')
          .where('user_id', '=', before.id as never)
          .execute(),
      );
      assert.equal(await write((queries) => makeOwners(queries, own.id as never, 10)), 1);
      assert.equal(await write((queries) => makeOwners(queries, own.id as never, 10)), 0);
      assert.deepEqual(await Promise.all([before, plain, support].map(({ id }) => rolesOf(own, id))), [['owner'], [], ['support']]);
      const added = ['administrators:read', 'administrators:write', 'invitations:read', 'invitations:write'];
      const ofBefore = ofTenant.filter((capability) => !added.includes(capability));
      const clientWith = async (scopes: readonly string[]): Promise<string> =>
        String(
          (await own.make('POST', '/clients', { name: 'Old', type: 'confidential', grant_types: ['client_credentials'], scopes }))[
            'client_id'
          ],
        );
      const [all, fewer] = [await clientWith(ofBefore), await clientWith(ofBefore.slice(1))];
      while ((await write((queries) => addRoleCapabilities(queries, own.id as never, 1))) > 0);
      assert.deepEqual((await own.make('GET', `/clients/${all}`))['scopes'], [...ofBefore, ...added]);
      assert.deepEqual((await own.make('GET', `/clients/${fewer}`))['scopes'], ofBefore.slice(1));
    });

    it('tenants are managed in the root tenant by who holds tenants:write; no link of theirs makes an owner of the root tenant', async () => {
      const root = await manageRootTenant(server);
      const admin = await createTestUser(root, 'admin@main.example', { role: 'admin' });
      const support = await createTestUser(root, 'support@main.example', { admin_roles: ['support'] });
      const asAdmin = await personWith(server, root, admin.id, capabilities);
      const asSupport = await personWith(server, root, support.id, capabilities);
      assert.ok(builtInRole('admin')!.capabilities.includes('tenants:write'));
      assert.equal((await asAdmin.call('GET', '/tenants')).status, 200);
      await assertRefusal(await asSupport.call('GET', '/tenants'), 'management.forbidden', lacks('tenants:read'));
      await assertRefusal(await asSupport.call('DELETE', `/tenants/${tenant.id}`), 'management.forbidden', lacks('tenants:write'));
      assert.equal((await asAdmin.call('POST', `/tenants/${tenant.id}/invitations`)).status, 201);
      await assertRefusal(await asAdmin.call('POST', `/tenants/${root.id}/invitations`), 'management.forbidden', lacks('domain:write'));
    });
  });
