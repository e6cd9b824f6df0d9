// People and groups that are entries of a directory of LDAP: what it says of them is read-only everywhere else (design 20, 1). The Management
// API and documents, with what stays allowed beside it; the other surfaces are in directory-people-elsewhere.test.ts.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { openSession } from '../../src/administration/declaration/reconcile.ts';
import { lockUser } from '../../src/storage/people/users.ts';
import { type WrittenLink, writeLinks } from '../../src/storage/records/directory-links.ts';
import { databases } from '../support/databases.ts';
import { directoryBody, entry, linksAt } from '../support/directories.ts';
import { eventually } from '../support/eventually.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';

const told = 'An LDAP directory manages this: change it there.';
const preset = ['user_name', 'emails.primary', 'name.given_name', 'name.family_name'];

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

    /** Whether a statement of this database waits for a row that another transaction holds; others are on the same server. */
    const isSomebodyWaiting = async (): Promise<boolean> => {
      const { rows } = await server.gatehouse.services.database.systemRead((queries) =>
        sql<{ n: number }>`
          SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND pg_blocking_pids(pid) <> '{}'`.execute(queries),
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
}
