// What a directory of LDAP says of its people is read-only (design 20, 1) where SCIM writes them, they themselves, the console, and other providers.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createAccountTenant, openAccount, textOf } from '../support/account.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { directoryBody, linksAt } from '../support/directories.ts';
import { openExternalWorld } from '../support/external.ts';
import { createTestUser, type Json, type Managed, managedWith } from '../support/management.ts';
import { makeOrganization, mintScimToken, organizationCaller, patchBody, rootTenant, scimCaller, userBody } from '../support/scim.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`people of an LDAP directory and SCIM, on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let directory: Json;
    let scim: ReturnType<typeof scimCaller>;
    before(async () => {
      server = await startTestServer(database);
      const { id, slug, baseUrl, managementApi } = await rootTenant(server);
      const scope = 'users:read users:write groups:read groups:write connectors:read connectors:write scim:read scim:write';
      const own = { id, slug, baseUrl, managementApi, adminClientId: '', adminClientSecret: '' };
      tenant = managedWith(await mintScimToken(server, { scope }), own);
      directory = await tenant.make('POST', '/directories', directoryBody({ enabled: false, groups: 'all' }));
      scim = scimCaller(server, await mintScimToken(server));
    });
    after(() => server.close());
    const refusedText = (names: string): string => `An LDAP directory manages ${names}: change it there.`;
    const refused = (answer: { readonly status: number; readonly body: Json }, names: string): void => {
      assert.equal(answer.status, 400);
      assert.deepEqual([answer.body['scimType'], answer.body['detail']], ['invalidValue', refusedText(names)]);
    };

    it('PATCH, PUT and bulk of the tenant', async () => {
      const made = await scim.newUser('scim-ada', { name: { givenName: 'Ada' }, title: 'Countess' });
      const at = `/Users/${made.id}`;
      await linksAt(server, tenant, directory['id']).link('scim-ada', made.id);
      refused(await scim.call('PATCH', at, patchBody({ op: 'replace', path: 'userName', value: 'mallory' })), 'userName');
      refused(await scim.call('PATCH', at, patchBody({ op: 'remove', path: 'name.givenName' })), 'name.givenName');
      const primary = { op: 'replace', path: 'emails[primary eq true].value', value: 'mallory@evil.example' };
      refused(await scim.call('PATCH', at, patchBody(primary)), 'emails');
      const added = { op: 'add', path: 'emails', value: [{ value: 'second@evil.example', primary: true }] };
      refused(await scim.call('PATCH', at, patchBody(added)), 'emails');
      refused(await scim.call('PUT', at, { ...userBody('mallory'), title: 'Countess' }), 'userName, name.givenName, emails');
      const bulk = await scim.call('POST', '/Bulk', {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
        Operations: [
          { method: 'PATCH', path: at, data: patchBody({ op: 'replace', path: 'name.givenName', value: 'Eve' }) },
          { method: 'PATCH', path: at, data: patchBody({ op: 'replace', path: 'title', value: 'Baroness' }) },
        ],
      });
      const [first, second] = bulk.body['Operations'] as readonly Json[];
      assert.deepEqual([first!['status'], (first!['response'] as Json)['detail']], ['400', refusedText('name.givenName')]);
      assert.equal(second!['status'], '200');
      const same = await scim.call('PUT', at, { ...userBody('scim-ada'), name: { givenName: 'Ada' }, title: 'Princess' });
      assert.deepEqual([same.status, same.body['title']], [200, 'Princess']);
      const suspended = await scim.call('PATCH', at, patchBody({ op: 'replace', path: 'active', value: false }));
      assert.deepEqual([suspended.status, suspended.body['active']], [200, false]);
      assert.equal((await scim.call('DELETE', at)).status, 204);
    });

    it('groups that came to be of a directory', async () => {
      const user = await scim.newUser('scim-member');
      const other = await scim.newUser('scim-other');
      const group = await scim.newGroup('Scim staff', [user.id]);
      const at = `/Groups/${group.id}`;
      await linksAt(server, tenant, directory['id']).link('scim-staff', group.id, { kind: 'group' });
      refused(await scim.call('PATCH', at, patchBody({ op: 'replace', path: 'displayName', value: 'Mine' })), 'displayName');
      refused(await scim.call('PATCH', at, patchBody({ op: 'add', path: 'members', value: [{ value: other.id }] })), 'members');
      refused(await scim.call('PATCH', at, patchBody({ op: 'remove', path: `members[value eq "${user.id}"]` })), 'members');
      refused(await scim.call('PUT', at, { displayName: 'Scim staff', members: [] }), 'members');
      const same = await scim.call('PUT', at, { displayName: 'Scim staff', externalId: 'e1', members: [{ value: user.id }] });
      assert.equal(same.status, 200);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/groups/${group.id}/members`);
      assert.deepEqual(
        items.map((one) => one['user_id']),
        [user.id],
      );
    });

    it('an organisation that made somebody', async () => {
      const caller = await organizationCaller(server, await makeOrganization(server, 'customer'));
      const made = await caller.newUser('org-ada', { name: { givenName: 'Ada' } });
      await linksAt(server, tenant, directory['id']).link('org-ada', made.id);
      const patch = (path: string, value: unknown) => caller.call('PATCH', `/Users/${made.id}`, patchBody({ op: 'replace', path, value }));
      refused(await patch('name.givenName', 'Eve'), 'name.givenName');
      assert.equal((await patch('title', 'Countess')).status, 200);
      assert.equal((await patch('active', false)).status, 200);
    });
  });

  describe(`people of an LDAP directory and themselves, on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    it('the account page refuses what the directory says, in words', async () => {
      const tenant = await createAccountTenant(server);
      for (const name of ['badge', 'motto']) await tenant.make('POST', '/custom-attributes', { name, edit: 'person' });
      const mappings = [
        { to: 'custom.badge', from: 'upstream.employeeNumber' },
        { to: 'preferred_language', from: 'upstream.preferredLanguage' },
      ];
      const directory = await tenant.make('POST', '/directories', directoryBody({ enabled: false, mappings }));
      const { visitor, person } = await openAccount(server, tenant, { custom: { badge: '7' } });
      await linksAt(server, tenant, directory['id']).link('self', person.id);
      const words = /Your organisation manages this: it cannot be changed here\./;
      assert.match(await textOf(await visitor.submit('/details', { 'custom.badge': '8', 'custom.motto': 'On' }), 400), words);
      assert.equal((await visitor.submit('/details', { 'custom.badge': '7', 'custom.motto': 'On' })).status, 303);
      assert.match(await textOf(await visitor.submit('/language', { language: 'de' }), 400), words);
      const stored = await tenant.make('GET', `/users/${person.id}`);
      assert.deepEqual([stored['custom'], stored['preferred_language']], [{ badge: '7', motto: 'On' }, undefined]);
    });

    it('the console says where somebody comes from, and refuses the form with the reason', async () => {
      const { tenant, email } = await createConsoleTenant(server);
      const directory = await tenant.make('POST', '/directories', directoryBody({ enabled: false, groups: 'all' }));
      const user = await createTestUser(tenant, 'console@corp.example');
      const asMade = { id: user.id, user_name: user['user_name'], emails: user['emails'], origin: 'scim' }; // as a directory makes people
      await tenant.make('POST', '/document', { document: { gatehouse: 1, users: [asMade] } });
      const group = await tenant.make('POST', '/groups', { display_name: 'Staff' });
      const { link } = linksAt(server, tenant, directory['id']);
      await link('console', user.id);
      await link('staff', String(group['id']), { kind: 'group' });
      const { visitor } = await openConsole(server, tenant, email);
      const from = /an LDAP directory, where alone these change: User name, primary email, Given name, Family name/;
      assert.match(await textOf(await visitor.page(`/users/${user.id}`), 200), from);
      await tenant.make('POST', `/users/${user.id}/suspend`);
      assert.doesNotMatch(await textOf(await visitor.page(`/users/${user.id}`), 200), /bring them back/);
      await tenant.make('POST', `/users/${user.id}/activate`);
      const typed = { user_name: 'mallory', email_list: 'console@corp.example' };
      const answer = await textOf(await visitor.submit(`/users/${user.id}/edit`, typed), 400);
      assert.match(answer, /An LDAP directory manages this: change it there\./);
      const members = await textOf(await visitor.page(`/groups/${group['id']}/members`), 200);
      assert.match(members, /This group is of an LDAP directory/);
      assert.doesNotMatch(members, /Add a member/);
      const plain = await createTestUser(tenant, 'plain@corp.example');
      assert.doesNotMatch(await textOf(await visitor.page(`/users/${plain.id}`), 200), /LDAP directory/);
    });
  });

  describe(`people of an LDAP directory who come from another provider, on ${database}`, async () => {
    const world = await openExternalWorld(database);
    const { server, managed, upstream, register, begin, visit, finish } = world;
    after(async () => {
      await upstream.close();
      await server.close();
    });

    it('are signed in, and have what both say: the directory what is its own, the provider the rest', async () => {
      for (const name of ['badge', 'site']) await managed.make('POST', '/custom-attributes', { name });
      const always = (to: string, claim: string): Json => ({ to, from: `upstream.${claim}`, apply: 'always' });
      const rules = [
        always('name.given_name', 'given_name'),
        always('title', 'job'),
        always('custom.badge', 'badge'),
        always('custom.site', 'site'),
      ];
      await register({ create_users: true, mappings: rules });
      const claims = {
        sub: 'both',
        email: 'both@acme.example',
        email_verified: true,
        given_name: 'Ada',
        job: 'Countess',
        badge: '7',
        site: 'north',
      };
      const come = async (more: Json): Promise<string> => {
        const at = await begin();
        assert.equal((await visit(at, { ...claims, ...more } as Parameters<typeof visit>[1])).status, 200);
        return String((await finish(at)).sub);
      };
      const id = await come({});
      const mappings = [{ to: 'custom.badge', from: 'upstream.employeeNumber' }];
      const directory = await managed.make('POST', '/directories', directoryBody({ enabled: false, mappings }));
      await linksAt(server, managed, directory['id']).link('both', id);
      assert.equal(await come({ given_name: 'Eve', job: 'Baroness', badge: '8', site: 'south' }), id);
      const stored = await managed.make('GET', `/users/${id}`);
      assert.deepEqual([(stored['name'] as Json)['given_name'], stored['title']], ['Ada', 'Baroness']);
      assert.deepEqual(stored['custom'], { badge: '7', site: 'south' });
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', `/events?type=user.updated&target=user:${id}`);
      assert.deepEqual((items[0]!['data'] as Json)['fields'], ['title', 'custom']);
      const { version } = await managed.make('GET', `/users/${id}`);
      assert.equal(await come({ given_name: 'Mallory', job: 'Baroness', badge: '9', site: 'south' }), id);
      assert.equal((await managed.make('GET', `/users/${id}`))['version'], version, 'nothing that differs was to be written');
    });
  });
}
