// SCIM of an organisation (design 19): it sees its members alone and has whole only whom it made and nobody else has. Of everybody else
// it reads, and what it writes changes nothing; what it ends is what its organisation gives. Its groups are its own, its tokens open
// nothing else, and nobody learns by it what there is beside it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { membersPerOrganizationMax, scimTokensMax } from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Json } from '../support/management.ts';
import { admit, ask, type Directory, dataOf, openDirectories, rename, suspend } from '../support/organization-directories.ts';
import { machineWith } from '../support/roles.ts';
import { groupSchema, patchBody, type ScimResult, userBody } from '../support/scim.ts';

for (const database of databases)
  describe(`SCIM of organisations on ${database}`, async () => {
    const {
      server,
      tenant,
      acme,
      globex,
      fresh,
      addressOf,
      tokenFor,
      directoryOf,
      organization,
      join,
      userOf,
      membersOf,
      eventsOf,
      close,
    } = await openDirectories(database);
    after(close);

    it('whom it makes is a member, seen by it and by no other organisation', async () => {
      const name = fresh('ada');
      const id = await acme.newUser(name);
      assert.deepEqual(
        (await membersOf(acme)).map(({ user_id: user, roles, suspended }) => ({ user, roles, suspended })),
        [{ user: id, roles: [], suspended: false }],
      );
      assert.equal((await userOf(id))['user_name'], name);
      const [added] = await eventsOf(acme, 'organization.member_added');
      assert.deepEqual(added?.['data'], { user: id, roles: [] });
      const unknown = await globex.call('GET', `/Users/${randomUUID()}`);
      for (const [method, body] of [['GET'], ['PUT', userBody(name)], ['PATCH', rename], ['DELETE']] as const) {
        const result = await globex.call(method, `/Users/${id}`, body);
        assert.deepEqual([result.status, result.body], [404, unknown.body], method);
      }
      for (const filter of [`userName eq "${name}"`, `id eq "${id}"`, `emails.value co "${name}"`]) {
        const path = `/Users?filter=${encodeURIComponent(filter)}`;
        assert.equal((await globex.call('GET', path)).body['totalResults'], 0, filter);
        assert.equal((await acme.call('GET', path)).body['totalResults'], 1, filter);
      }
      for (const path of ['/Users', '/Users?count=0', '/Users?cursor=', '/Users?sortBy=userName', '/Users?sortBy=emails.value'])
        assert.equal((await globex.call('GET', path)).body['totalResults'], 0, path);
      assert.equal((await globex.call('POST', '/.search', {})).body['totalResults'], 0);
      const { meta } = (await acme.call('GET', `/Users/${id}`)).body as { meta: Json };
      assert.equal(meta['location'], `${addressOf(acme.id)}/Users/${id}`);
    });

    it('a token opens its own address alone; elsewhere it is one that never was, byte for byte', async () => {
      const tenantToken = String((await tenant.make('POST', '/scim-tokens', { name: 'own', expires_in_days: 1 }))['token']);
      const never = `ghscim_${'x'.repeat(43)}`;
      const closed = await organization({ enabled: false });
      const other = await createTestTenant(server);
      const wholeOf = async (url: string, token: string): Promise<unknown> => {
        const { status, headers, body } = await ask(url, token);
        assert.equal(status, 401, url);
        return { body, challenge: headers.get('www-authenticate') };
      };
      const users = '/Users?count=1';
      const expected = await wholeOf(addressOf(acme.id) + users, never);
      const nowhere = randomUUID();
      for (const [url, token] of [
        [addressOf(globex.id) + users, acme.token],
        [`${tenant.baseUrl}/scim/v2${users}`, acme.token],
        [addressOf(acme.id) + users, tenantToken],
        [addressOf(closed) + users, await tokenFor(closed)],
        [addressOf(nowhere) + users, acme.token],
        [addressOf(nowhere) + users, never],
        [addressOf(acme.id, other) + users, acme.token],
        [`${tenant.baseUrl}/scim/v2${users}`, never],
      ] as const)
        assert.deepEqual(await wholeOf(url, token), expected, url);
      const bearer = { headers: { authorization: `Bearer ${acme.token}` } };
      assert.equal((await fetch(`${tenant.managementApi}/organizations/${acme.id}`, bearer)).status, 401);
      assert.equal((await ask(`${addressOf(acme.id)}/Me`, acme.token)).status, 404);
      const access = await machineWith(tenant, ['scim:read', 'scim:write', 'organizations:read', 'organizations:write']);
      const refused = await ask(addressOf(acme.id) + users, access.token);
      assert.deepEqual([refused.status, refused.body['detail']], [401, 'The access token is for another audience.']);
    });

    it('of somebody whom others have too it reads everything, and what it writes changes nothing, which is told', async () => {
      const id = await acme.newUser(fresh('grace'), { displayName: 'Grace' });
      await join(globex, id);
      const before = await userOf(id);
      for (const directory of [acme, globex]) {
        const shown = await directory.call('GET', `/Users/${id}`);
        const patched = await directory.call('PATCH', `/Users/${id}`, rename);
        assert.deepEqual([patched.status, patched.body], [200, shown.body]);
        assert.equal(patched.headers.get('etag'), shown.headers.get('etag'));
        const replaced = await directory.call('PUT', `/Users/${id}`, userBody(fresh('other')));
        assert.deepEqual([replaced.status, replaced.body], [200, shown.body]);
        const [told, first] = await eventsOf(directory, 'organization.scim_ignored');
        assert.deepEqual(first?.['data'], { user: id, fields: ['displayName', 'emails'] });
        assert.deepEqual(dataOf(told)['fields'], ['userName', 'displayName', 'emails']);
      }
      const bulk = await acme.call('POST', '/Bulk', { Operations: [{ method: 'PATCH', path: `/Users/${id}`, data: rename }] });
      assert.equal((bulk.body['Operations'] as readonly Json[])[0]?.['status'], '200');
      assert.deepEqual(await userOf(id), before);
      // What is wrong is refused as anywhere.
      const { status } = await globex.call('PATCH', `/Users/${id}`, patchBody({ op: 'remove', path: 'emails' }));
      assert.equal(status, 400);
    });

    it('what it suspends and deletes of them is what its organisation gives', async () => {
      const id = await acme.newUser(fresh('alan'));
      await join(globex, id);
      const suspended = await globex.call('PATCH', `/Users/${id}`, suspend);
      assert.deepEqual([suspended.status, suspended.body['active']], [200, false]);
      assert.notEqual(suspended.headers.get('etag'), 'W/"1"');
      assert.equal((await globex.call('GET', `/Users/${id}`)).body['active'], false);
      assert.equal((await acme.call('GET', `/Users/${id}`)).body['active'], true);
      assert.equal((await userOf(id))['state'], 'active');
      const inactive = encodeURIComponent('active eq false');
      assert.deepEqual(
        ((await globex.call('GET', `/Users?filter=${inactive}`)).body['Resources'] as readonly Json[]).map((user) => user['id']),
        [id],
      );
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/users/${id}/organizations`);
      assert.deepEqual(
        items.map(({ id: of, suspended: is }) => [of, is]).sort(),
        [
          [acme.id, false],
          [globex.id, true],
        ].sort(),
      );
      assert.equal((await globex.call('PATCH', `/Users/${id}`, admit)).body['active'], true);
      assert.equal((await globex.call('DELETE', `/Users/${id}`)).status, 204);
      assert.equal((await globex.call('GET', `/Users/${id}`)).status, 404);
      assert.equal((await acme.call('GET', `/Users/${id}`)).status, 200);
      assert.equal((await userOf(id))['state'], 'active');
      // Now nobody else has them.
      assert.equal((await acme.call('PATCH', `/Users/${id}`, rename)).body['displayName'], 'Mallory');
      assert.equal((await acme.call('PATCH', `/Users/${id}`, suspend)).body['active'], false);
      assert.equal((await userOf(id))['state'], 'suspended');
      assert.equal((await acme.call('PATCH', `/Users/${id}`, admit)).body['active'], true);
      assert.equal((await userOf(id))['state'], 'active');
      assert.equal((await acme.call('DELETE', `/Users/${id}`)).status, 204);
      assert.equal((await tenant.call('GET', `/users/${id}`)).status, 404);
    });

    it('whom it did not make it never writes, also where they are in no other organisation, and also once they come again', async () => {
      const { id } = await createTestUser(tenant, `${fresh('own')}@x.example`);
      await join(acme, id);
      const before = await userOf(id);
      assert.equal((await acme.call('PATCH', `/Users/${id}`, rename)).status, 200);
      assert.deepEqual(await userOf(id), before);
      assert.equal((await acme.call('DELETE', `/Users/${id}`)).status, 204);
      assert.equal((await userOf(id))['state'], 'active');
      const back = await acme.newUser(fresh('back'));
      await tenant.call('DELETE', `/organizations/${acme.id}/members/${back}`);
      await join(acme, back);
      assert.notEqual((await acme.call('PATCH', `/Users/${back}`, rename)).body['displayName'], 'Mallory');
      assert.equal((await acme.call('DELETE', `/Users/${back}`)).status, 204);
      assert.equal((await userOf(back))['state'], 'active');
    });

    it('who administers the tenant is not renamed, suspended or deleted by it, and no suspension of the tenant is lifted', async () => {
      const id = await acme.newUser(fresh('boss'));
      await tenant.make('PUT', `/users/${id}/roles`, { roles: ['owner'] });
      const before = await userOf(id);
      assert.notEqual((await acme.call('PATCH', `/Users/${id}`, rename)).body['displayName'], 'Mallory');
      assert.equal((await acme.call('PATCH', `/Users/${id}`, suspend)).body['active'], false);
      assert.deepEqual([(await userOf(id))['state'], (await userOf(id))['user_name']], ['active', before['user_name']]);
      assert.equal((await acme.call('DELETE', `/Users/${id}`)).status, 204);
      assert.equal((await userOf(id))['state'], 'active');
      const held = await acme.newUser(fresh('held'));
      await tenant.make('POST', `/users/${held}/suspend`);
      assert.equal((await acme.call('GET', `/Users/${held}`)).body['active'], false);
      const refused = await acme.call('PATCH', `/Users/${held}`, admit);
      assert.deepEqual([refused.status, refused.body['active']], [200, false]);
      assert.equal((await userOf(held))['state'], 'suspended');
      const [told] = await eventsOf(acme, 'organization.scim_ignored');
      assert.deepEqual(told?.['data'], { user: held, fields: ['active'] });
    });

    it('the tenant’s suspension stays, also of somebody whom the directory had suspended before', async () => {
      for (const steps of [['activate', 'suspend'], ['suspend']]) {
        const id = await acme.newUser(fresh('twice'));
        await acme.call('PATCH', `/Users/${id}`, suspend);
        for (const step of steps) await tenant.make('POST', `/users/${id}/${step}`);
        assert.equal((await acme.call('PATCH', `/Users/${id}`, admit)).body['active'], false, String(steps));
        assert.equal((await userOf(id))['state'], 'suspended', String(steps));
      }
    });

    it('the tenant’s own SCIM suspends for good, too', async () => {
      const id = await acme.newUser(fresh('own'));
      const token = String((await tenant.make('POST', '/scim-tokens', { name: fresh('of'), expires_in_days: 1 }))['token']);
      const change = (body: Json): Promise<ScimResult> => ask(`${tenant.baseUrl}/scim/v2/Users/${id}`, token, 'PATCH', body);
      await acme.call('PATCH', `/Users/${id}`, suspend);
      for (const body of [admit, suspend]) assert.equal((await change(body)).status, 200);
      assert.equal((await acme.call('PATCH', `/Users/${id}`, admit)).body['active'], false);
      assert.equal((await userOf(id))['state'], 'suspended');
    });

    it('it ends its own suspension of a person also where somebody else has added them since', async () => {
      const id = await acme.newUser(fresh('lent'));
      await acme.call('PATCH', `/Users/${id}`, suspend);
      await join(globex, id);
      assert.equal((await globex.call('GET', `/Users/${id}`)).body['active'], false);
      assert.equal((await globex.call('PATCH', `/Users/${id}`, admit)).body['active'], false, 'the other organisation lifts nothing');
      assert.equal((await acme.call('PATCH', `/Users/${id}`, admit)).body['active'], true);
      assert.equal((await userOf(id))['state'], 'active');
      assert.equal((await globex.call('GET', `/Users/${id}`)).body['active'], true);
    });

    it('an address or name that somebody has is taken, whoever they are: nobody comes in by it', async () => {
      const name = fresh('taken');
      await globex.newUser(name);
      for (const body of [userBody(name), { ...userBody(fresh('new')), emails: [{ value: `${name}@EXAMPLE.com`, primary: true }] }]) {
        const result = await acme.call('POST', '/Users', body);
        assert.deepEqual([result.status, result.body['scimType']], [409, 'uniqueness']);
      }
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/organizations/${acme.id}/members?search=${name}`);
      assert.deepEqual(items, []);
    });

    it('its groups are its own: a name is free elsewhere, members are its members, and the tenant knows none of them', async () => {
      const [mine, theirs] = [await acme.newUser(fresh('mine')), await globex.newUser(fresh('theirs'))];
      const group = async (directory: Directory, displayName: string, members: readonly string[] = []): Promise<ScimResult> =>
        directory.call('POST', '/Groups', { schemas: [groupSchema], displayName, members: members.map((value) => ({ value })) });
      await tenant.make('POST', '/groups', { display_name: 'Support' });
      const made = await group(acme, 'Support', [mine]);
      assert.equal(made.status, 201);
      assert.equal((await group(globex, 'support')).status, 201);
      assert.deepEqual([(await group(acme, 'SUPPORT')).status, (await group(acme, 'SUPPORT')).body['scimType']], [409, 'uniqueness']);
      assert.equal((await group(acme, 'Other', [theirs])).body['scimType'], 'invalidValue');
      const path = `/Groups/${String(made.body['id'])}`;
      const add = patchBody({ op: 'add', path: 'members', value: [{ value: theirs }] });
      assert.equal((await acme.call('PATCH', path, add)).status, 400);
      for (const [method, body] of [['GET'], ['PUT', { displayName: 'x' }], ['PATCH', add], ['DELETE']] as const)
        assert.equal((await globex.call(method, path, body)).status, 404, method);
      const { groups } = (await acme.call('GET', `/Users/${mine}`)).body as { groups: readonly Json[] };
      assert.deepEqual(
        groups.map(({ display }) => display),
        ['Support'],
      );
      for (const filter of ['groups.display eq "support"', `groups.value eq "${String(made.body['id'])}"`]) {
        assert.equal((await acme.call('GET', `/Users?filter=${encodeURIComponent(filter)}`)).body['totalResults'], 1, filter);
        assert.equal((await globex.call('GET', `/Users?filter=${encodeURIComponent(filter)}`)).body['totalResults'], 0, filter);
      }
      assert.deepEqual((await tenant.make<{ items: readonly Json[] }>('GET', `/users/${mine}/groups`)).items, []);
      const machine = await machineWith(tenant, ['scim:read']);
      const own = await ask(`${tenant.baseUrl}/scim/v2/Groups`, machine.token);
      assert.equal(own.body['totalResults'], 0);
      assert.equal((await ask(`${tenant.baseUrl}/scim/v2${path}`, machine.token)).status, 404);
      const version = async (): Promise<unknown> => ((await acme.call('GET', path)).body['meta'] as Json)['version'];
      const beforeLeaving = await version();
      await tenant.call('DELETE', `/organizations/${acme.id}/members/${mine}`);
      assert.equal((await acme.call('GET', path)).body['members'], undefined);
      assert.notEqual(await version(), beforeLeaving);
      await join(acme, mine);
      assert.equal((await acme.call('GET', path)).body['members'], undefined);
      const [told] = await eventsOf(acme, 'organization.group_changed');
      assert.deepEqual(told?.['data'], { group: made.body['id'], change: 'created' });
    });

    it('a manager who is in no such organisation is not told by name, and a cursor of one opens no list of another', async () => {
      const boss = await globex.newUser(fresh('boss'), { displayName: 'Secret name' });
      const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
      const id = await acme.newUser(fresh('report'), { [enterprise]: { manager: { value: boss } } });
      const shown = (await acme.call('GET', `/Users/${id}`)).body;
      assert.deepEqual(shown[enterprise], { manager: { value: boss } });
      const listed = await acme.call('GET', '/Users?cursor=&count=1');
      const cursor = encodeURIComponent(String(listed.body['nextCursor']));
      assert.equal((await acme.call('GET', `/Users?count=1&cursor=${cursor}`)).status, 200);
      assert.equal((await globex.call('GET', `/Users?count=1&cursor=${cursor}`)).status, 400);
      const machine = await machineWith(tenant, ['scim:read']);
      assert.equal((await ask(`${tenant.baseUrl}/scim/v2/Users?count=1&cursor=${cursor}`, machine.token)).status, 400);
    });

    it('tokens are made by who has what they open, are of one organisation, and end with it', async () => {
      const id = await organization();
      const path = `/organizations/${id}/scim-tokens`;
      const body = { name: 'Okta', expires_in_days: 30 };
      for (const scopes of [
        ['organizations:write'],
        ['organizations:write', 'scim:read'],
        ['organizations:write', 'scim:write'],
        ['scim:read', 'scim:write', 'clients:write', 'organizations:read'],
      ])
        assert.equal((await (await machineWith(tenant, scopes)).call('POST', path, body)).status, 403, scopes.join(' '));
      const directory = await directoryOf(id);
      assert.equal((await directory.call('GET', '/Users')).status, 200);
      const listOf = async (of: string): Promise<readonly Json[]> => (await tenant.make<{ items: readonly Json[] }>('GET', of)).items;
      const [token] = await listOf(path);
      assert.deepEqual(Object.keys(token ?? {}).sort(), ['created_at', 'created_by', 'expires_at', 'id', 'last_used_at', 'name']);
      assert.ok(!(await listOf('/scim-tokens')).some((one) => one['id'] === token?.['id']));
      for (const base of ['/scim-tokens', `/organizations/${acme.id}/scim-tokens`])
        assert.equal((await tenant.call('DELETE', `${base}/${String(token?.['id'])}`)).status, 404, base);
      assert.equal((await tenant.call('GET', `/organizations/${randomUUID()}/scim-tokens`)).status, 404);
      const user = await directory.newUser(fresh('last'));
      const [event] = (await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=scim_token.created')).items;
      assert.equal(dataOf(event)['organization'], id);
      const wanted = Array.from({ length: scimTokensMax }, () => tenant.call('POST', path, body));
      const statuses = (await Promise.all(wanted)).map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === 201).length, scimTokensMax - 1);
      assert.equal((await tenant.call('DELETE', `${path}/${String(token?.['id'])}`)).status, 204);
      assert.equal((await directory.call('GET', '/Users')).status, 401);
      const again = await directoryOf(acme.id);
      assert.equal((await again.call('GET', '/Users?count=0')).status, 200);
      assert.equal((await tenant.call('DELETE', `/organizations/${id}`)).status, 204);
      assert.equal((await userOf(user))['state'], 'active');
      assert.equal((await tenant.call('GET', path)).status, 404);
      const { database: stored } = server.gatehouse.services;
      const left = await stored.read(tenant.id as never, (queries) =>
        queries
          .selectFrom('scim_tokens')
          .select('id')
          .where('tenant_id', '=', tenant.id as never)
          .where('organization_id', '=', id)
          .execute(),
      );
      assert.deepEqual(left, []);
    });

    it('an organisation has no more than membersPerOrganizationMax members by it, also of those made together', async () => {
      const id = await organization();
      const directory = await directoryOf(id);
      const { database: stored } = server.gatehouse.services;
      await stored.write(tenant.id as never, (queries) =>
        queries
          .updateTable('organizations')
          .set({ members: membersPerOrganizationMax - 1 })
          .where('tenant_id', '=', tenant.id as never)
          .where('id', '=', id)
          .execute(),
      );
      const create = (at: number): Json => ({ method: 'POST', path: '/Users', bulkId: `b${at}`, data: userBody(fresh('many')) });
      const { body } = await directory.call('POST', '/Bulk', { Operations: [create(1), create(2), create(3)] });
      const statuses = (body['Operations'] as readonly Json[]).map(({ status }) => status);
      assert.deepEqual(statuses.toSorted(), ['201', '400', '400']);
      const refused = await directory.call('POST', '/Users', userBody(fresh('one')));
      assert.deepEqual([refused.status, refused.body['scimType']], [400, 'invalidValue']);
    });

    it('joining elsewhere and being renamed at the same moment: whoever is in both afterwards has the name of before, or had it changed first', async () => {
      for (let round = 0; round < 5; round += 1) {
        const id = await acme.newUser(fresh('race'));
        const [, renamed] = await Promise.all([join(globex, id), acme.call('PATCH', `/Users/${id}`, rename)]);
        const later = await acme.call('PATCH', `/Users/${id}`, patchBody({ op: 'replace', path: 'displayName', value: 'Later' }));
        assert.equal(later.body['displayName'], renamed.body['displayName']);
        assert.equal((await userOf(id))['display_name'] ?? undefined, renamed.body['displayName']);
        assert.equal((await acme.call('DELETE', `/Users/${id}`)).status, 204);
        assert.equal((await userOf(id))['state'], 'active');
        await tenant.call('DELETE', `/users/${id}`);
      }
    });
  });
