// People and groups that are entries of a directory of LDAP: what it says of them is read-only everywhere else (design 20, 1). Each surface that
// writes people, with what stays allowed beside it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { openSession } from '../../src/administration/declaration/reconcile.ts';
import type { Queries } from '../../src/storage/engine/database.ts';
import { lockUser } from '../../src/storage/people/users.ts';
import { type WrittenLink, writeLinks } from '../../src/storage/records/directory-links.ts';
import { createAccountTenant, openAccount, textOf } from '../support/account.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { directoryBody, entry, whoseOf } from '../support/directories.ts';
import { eventually } from '../support/eventually.ts';
import { openExternalWorld } from '../support/external.ts';
import { createTestTenant, createTestUser, type Json, type Managed, managedWith } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { makeOrganization, mintScimToken, organizationCaller, patchBody, rootTenant, scimCaller, userBody } from '../support/scim.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';

const told = 'An LDAP directory manages this: change it there.';
const preset = ['user_name', 'emails.primary', 'name.given_name', 'name.family_name'];

/** Writes of a directory's links as a run makes them. */
const linksAt = (server: TestServer, tenant: Managed, directory: unknown) => {
  const whose = whoseOf(tenant, directory);
  const write = <T>(work: (queries: Queries) => Promise<T>): Promise<T> => server.gatehouse.services.database.write(whose.tenant, work);
  return {
    write,
    whose,
    link: (name: string, localId: string, fields: Partial<WrittenLink> = {}): Promise<void> =>
      write((queries) => writeLinks(queries, whose, 1, [entry(name, { local_id: localId, ...fields })])),
  };
};

for (const database of databases) {
  describe(`people of an LDAP directory on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let directory: Json;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
      // Nothing is read of a directory that is not enabled; its people are its own all the same.
      directory = await tenant.make('POST', '/directories', directoryBody({ enabled: false, groups: 'all' }));
    });
    after(() => server.close());

    let made = 0;
    /** Somebody who is an entry. */
    const person = async (
      fields: Json = {},
      link: Partial<WrittenLink> = {},
    ): Promise<Json & { readonly id: string; readonly email: string }> => {
      made += 1;
      const email = `ada${made}@corp.example`;
      const user = await createTestUser(tenant, email, {
        name: { given_name: 'Ada', family_name: 'Lovelace' },
        title: 'Countess',
        ...fields,
      });
      await linksAt(server, tenant, directory['id']).link(`ada${made}`, user.id, link);
      return { ...user, email };
    };
    const shown = (id: unknown): Promise<Json> => tenant.make('GET', `/users/${id}`);
    const conflicts = async (response: Promise<Response>, kind: string): Promise<void> => {
      await assertRefusal(await response, 'management.conflict', { kind, text: told });
    };
    const eventsOf = async (target: string): Promise<readonly unknown[]> => {
      const { items } = await tenant.make<{ readonly items: readonly Json[] }>('GET', `/events?target=${target}`);
      return items.map(({ type }) => type);
    };

    it('the Management API refuses what the directory says, tells which that is, and writes nothing', async () => {
      const { id, email, version } = await person();
      const emails = (value: string): Json => ({ emails: [{ value, primary: true }] });
      for (const [change, kind] of [
        [{ user_name: 'mallory' }, 'user_name'],
        [emails('mallory@evil.example'), 'emails.primary'],
        [{ emails: [{ value: email, primary: false }] }, 'emails.primary'],
        [{ emails: [] }, 'emails.primary'],
        [
          {
            emails: [
              { value: email, primary: false },
              { value: 'mallory@evil.example', primary: true },
            ],
          },
          'emails.primary',
        ],
        [{ name: { given_name: 'Augusta' } }, 'name.given_name'],
        [{ name: { given_name: 'Ada', family_name: null } }, 'name.family_name'],
        [{ user_name: email.toUpperCase() }, 'user_name'],
        [{ title: 'Baroness', name: { family_name: 'King' }, state: 'suspended' }, 'name.family_name'],
      ] as const)
        await conflicts(tenant.call('PATCH', `/users/${id}`, change), kind);
      const { directory: from, ...stored } = await shown(id);
      assert.deepEqual(from, { id: directory['id'], attributes: preset });
      assert.deepEqual([stored['version'], stored['title'], stored['state']], [version, 'Countess', 'active']);
      assert.deepEqual(await eventsOf(`user:${id}`), ['user.created']);
    });

    it('what it does not say is written, and so is what somebody has already; who is suspended here stays so', async () => {
      const { id, email } = await person();
      const same = { user_name: email, emails: [{ value: email, primary: true, type: 'work' }], name: { given_name: 'Ada' } };
      await tenant.make('PATCH', `/users/${id}`, { ...same, title: 'Baroness', name: { ...same.name, middle_name: 'Augusta' } });
      const further = { emails: [...same.emails, { value: `second-${email}`, primary: false }] };
      const changed = await tenant.make('PATCH', `/users/${id}`, further);
      assert.deepEqual([changed['title'], (changed['emails'] as readonly Json[]).length], ['Baroness', 2]);
      assert.equal((await tenant.make('POST', `/users/${id}/suspend`))['state'], 'suspended');
      assert.equal((await tenant.make('POST', `/users/${id}/activate`))['state'], 'active');
      await tenant.make('PATCH', `/users/${id}`, { state: 'suspended' });
      await tenant.make('DELETE', `/users/${id}`);
      assert.equal((await tenant.call('GET', `/users/${id}`)).status, 404);
    });

    it('its own rules say more, and one attribute of the tenant is not another', async () => {
      for (const name of ['badge', 'motto']) await tenant.make('POST', '/custom-attributes', { name });
      const mappings = [
        { to: 'custom.badge', from: 'upstream.employeeNumber' },
        { to: 'title', from: 'upstream.title' },
        { to: 'user_name', from: 'upstream.uid', upper: false },
      ].map(({ upper: _, ...rule }) => rule as Json);
      const other = await tenant.make('POST', '/directories', directoryBody({ name: 'Rules', enabled: false, mappings }));
      const user = await createTestUser(tenant, 'rules@corp.example', { custom: { badge: '7', motto: 'On' } });
      await linksAt(server, tenant, other['id']).link('rules', user.id);
      for (const [change, kind] of [
        [{ title: 'Boss' }, 'title'],
        [{ custom: { badge: '8' } }, 'custom.badge'],
        [{ custom: { badge: null } }, 'custom.badge'],
        [{ custom: null }, 'custom.badge'],
      ] as const)
        await conflicts(tenant.call('PATCH', `/users/${user.id}`, change), kind);
      await tenant.make('PATCH', `/users/${user.id}`, { custom: { motto: 'Off' } });
      await tenant.make('PATCH', `/users/${user.id}`, { custom: { motto: null, badge: '7' } });
      const stored = await shown(user.id);
      assert.deepEqual(stored['custom'], { badge: '7' });
      assert.deepEqual(
        new Set((stored['directory'] as { attributes: readonly string[] }).attributes),
        new Set([...preset, 'custom.badge', 'title']),
      );
    });

    it('who is about to be an entry is one; who ended, is in conflict, or whose directory is gone, is managed here', async () => {
      const rename = (id: unknown): Promise<Response> => tenant.call('PATCH', `/users/${id}`, { user_name: `renamed-${id}` });
      await conflicts(rename((await person({}, { state: 'pending' })).id), 'user_name');
      for (const state of ['off', 'conflict', 'skipped'] as const) {
        const { id } = await person({}, { state });
        assert.equal((await rename(id)).status, 200, state);
        assert.equal((await shown(id))['directory'], undefined);
      }
      const other = await tenant.make('POST', '/directories', directoryBody({ name: 'Gone', enabled: false }));
      const user = await createTestUser(tenant, 'gone@corp.example');
      await linksAt(server, tenant, other['id']).link('gone', user.id);
      await conflicts(rename(user.id), 'user_name');
      await tenant.make('DELETE', `/directories/${other['id']}`);
      assert.equal((await rename(user.id)).status, 200);
      assert.equal((await shown(user.id))['directory'], undefined);
    });

    it('a link of another tenant says nothing', async () => {
      const { id } = await createTestUser(tenant, 'neighbour@corp.example');
      const neighbour = await createTestTenant(server);
      const other = await neighbour.make('POST', '/directories', directoryBody({ enabled: false }));
      await linksAt(server, neighbour, other['id']).link('neighbour', id);
      assert.equal((await tenant.call('PATCH', `/users/${id}`, { user_name: 'free' })).status, 200);
      assert.equal((await shown(id))['directory'], undefined);
    });

    /** Whether a statement waits for a row that another transaction holds. */
    const isSomebodyWaiting = async (): Promise<boolean> => {
      const { rows } = await server.gatehouse.services.database.systemRead((queries) =>
        sql<{ n: number }>`SELECT count(*) AS n FROM pg_locks WHERE NOT granted`.execute(queries),
      );
      return Number(rows[0]?.n) > 0;
    };

    it('who becomes an entry while a change of them waits is not changed', async () => {
      const { id } = await createTestUser(tenant, 'racing@corp.example');
      const { write, whose } = linksAt(server, tenant, directory['id']);
      const release = new EventTarget();
      const held = new EventTarget();
      const isHeld = once(held, 'held');
      const run = write(async (queries) => {
        await lockUser(queries, server.gatehouse.services.database.dialect, whose.tenant, id);
        await writeLinks(queries, whose, 1, [entry('racing', { local_id: id })]);
        const released = once(release, 'released');
        held.dispatchEvent(new Event('held'));
        await released;
      });
      await isHeld;
      const changes = ['one', 'two', 'three'].map((name) => tenant.call('PATCH', `/users/${id}`, { user_name: name }));
      try {
        if (database === 'postgres') await eventually(isSomebodyWaiting);
      } finally {
        release.dispatchEvent(new Event('released'));
      }
      await run;
      for (const change of changes) await conflicts(change, 'user_name');
      assert.equal((await shown(id))['user_name'], 'racing@corp.example');
    });

    it('documents: what they were exported with applies; another name is a conflict, and the rest is written', async () => {
      const { services } = server.gatehouse;
      const own = await createTestTenant(server);
      const there = await own.make('POST', '/directories', directoryBody({ enabled: false, groups: 'all' }));
      const { link } = linksAt(server, own, there['id']);
      const user = await createTestUser(own, 'doc@corp.example', { name: { given_name: 'Ada' } });
      const free = await createTestUser(own, 'free@corp.example');
      const group = await own.make('POST', '/groups', { display_name: 'Engineers' });
      const local = await own.make('POST', '/groups', { display_name: 'Readers' });
      await own.make('POST', `/groups/${group['id']}/members`, { user_id: user.id });
      await link('doc', user.id);
      await link('engineers', String(group['id']), { kind: 'group' });
      interface Followed {
        readonly updated: number;
        readonly conflicts: readonly { readonly title: string; readonly text: string }[];
      }
      const follow = async (document: Json): Promise<Followed> => own.make<Followed>('POST', '/document', { document });
      const stored = (await services.tenants.bySlug(own.slug))!;
      const parts: string[] = [];
      for await (const part of exportDocument(await openSession(services, stored, { actor: 'operator' }), {
        withSecrets: false,
        asJson: true,
      }))
        parts.push(part);
      const unchanged = await follow(JSON.parse(parts.join('')) as Json);
      assert.deepEqual([unchanged.conflicts, unchanged.updated], [[], 0]);
      const conflictsOf = async (section: Json): Promise<readonly unknown[]> =>
        (await follow({ gatehouse: 1, ...section })).conflicts.map(({ title, text }) => [title, text]);
      const item = (who: Json, fields: Json): Json => ({ id: who['id'], emails: who['emails'], name: who['name'], ...fields });
      const say = (what: string): string => `an LDAP directory manages ${what}: change it there`;
      assert.deepEqual(
        await conflictsOf({ users: [item(user, { user_name: 'mallory', groups: ['Engineers'] }), item(free, { user_name: 'freed' })] }),
        [['mallory', say('user_name')]],
      );
      const read = async (id: unknown): Promise<unknown> => (await own.make('GET', `/users/${id}`))['user_name'];
      assert.deepEqual([await read(user.id), await read(free.id)], ['doc@corp.example', 'freed']);
      const newcomer = { user_name: 'newcomer', emails: [{ value: 'newcomer@corp.example' }], groups: ['Engineers'] };
      assert.deepEqual(
        await conflictsOf({
          users: [
            item(user, { user_name: 'doc@corp.example', title: 'Countess', groups: ['Engineers', 'Readers'] }),
            item(free, { user_name: 'freed', groups: ['Engineers'] }),
            newcomer,
          ],
        }),
        [
          ['newcomer', say('members')],
          ['freed', say('members')],
        ],
      );
      const membersOf = async (id: unknown): Promise<readonly unknown[]> =>
        (await own.make<{ items: readonly Json[] }>('GET', `/groups/${id}/members`)).items.map((one) => one['user_id']);
      assert.deepEqual([await membersOf(group['id']), await membersOf(local['id'])], [[user.id], [user.id]]);
      assert.equal((await own.make('GET', `/users/${user.id}`))['title'], 'Countess');
      const renamed = [
        { id: group['id'], display_name: 'Hackers' },
        { id: local['id'], display_name: 'Writers' },
      ];
      assert.deepEqual(await conflictsOf({ groups: renamed }), [['Hackers', say('display_name')]]);
      assert.equal((await own.make('GET', `/groups/${local['id']}`))['display_name'], 'Writers');
    });

    it('groups: name and members are what the directory says; they are assigned and deleted here; groups made here take its people', async () => {
      const { link } = linksAt(server, tenant, directory['id']);
      const group = await tenant.make('POST', '/groups', { display_name: 'Staff' });
      const { id } = await person();
      const stranger = await createTestUser(tenant, 'stranger@corp.example');
      await tenant.make('POST', `/groups/${group['id']}/members`, { user_id: id });
      await link('staff', String(group['id']), { kind: 'group' });
      const at = `/groups/${group['id']}`;
      assert.deepEqual((await tenant.make('GET', at))['directory'], { id: directory['id'], attributes: ['display_name', 'members'] });
      await conflicts(tenant.call('PATCH', at, { display_name: 'Others' }), 'display_name');
      await tenant.make('PATCH', at, { display_name: 'Staff' });
      await conflicts(tenant.call('POST', `${at}/members`, { user_id: stranger.id }), 'members');
      await conflicts(tenant.call('DELETE', `${at}/members/${id}`), 'members');
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `${at}/members`);
      assert.deepEqual(
        items.map((one) => one['user_id']),
        [id],
      );
      assert.deepEqual(await eventsOf(`group:${group['id']}`), ['group.updated', 'group.member_added', 'group.created']);
      const invited = await tenant.make<{ items: readonly Json[] }>('POST', '/invitations', {
        people: [{ emails: [{ value: 'invited@corp.example' }], groups: ['Staff'] }],
        invite: 'none',
      });
      assert.deepEqual(
        invited.items.map(({ state, fault }) => [state, (fault as Json)['message']]),
        [['refused', 'An LDAP directory decides who is in Staff.']],
      );
      const own = await tenant.make('POST', '/groups', { display_name: 'Made here' });
      await tenant.make('POST', `/groups/${own['id']}/members`, { user_id: id });
      await tenant.make('DELETE', `/groups/${own['id']}/members/${id}`);
      await tenant.make('DELETE', at);
    });

    it('a tenant without directories is asked nothing: no statement more, wherever people are read or written', {
      skip: database !== 'sqlite',
    }, async () => {
      const other = await createTestTenant(server);
      const { id } = await createTestUser(other, 'plain@corp.example');
      await other.make('GET', `/users/${id}`); // what is loaded once
      const statements = await statementsOf(async () => {
        await other.make('GET', `/users/${id}`);
        await other.make('PATCH', `/users/${id}`, { user_name: 'plain', name: { given_name: 'P' } });
      });
      const asking = statements.filter((text) => text.includes('directory_links') && !text.startsWith('EXPLAIN'));
      assert.equal(asking.length, 1, asking.join('\n'));
      assert.match(asking[0]!, /^update "users"/i);
    });
  });

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
      const group = await tenant.make('POST', '/groups', { display_name: 'Staff' });
      const { link } = linksAt(server, tenant, directory['id']);
      await link('console', user.id);
      await link('staff', String(group['id']), { kind: 'group' });
      const { visitor } = await openConsole(server, tenant, email);
      const from = /an LDAP directory, where alone these change: User name, primary email, Given name, Family name/;
      assert.match(await textOf(await visitor.page(`/users/${user.id}`), 200), from);
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
