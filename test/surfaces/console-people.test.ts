// What the console does about people: search, devices and enrolment, passkeys, sessions, members of groups, access to
// applications. Every change is seen through the Management API.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseEnrollmentLink } from '../../sdk/device.ts';
import type { GroupId, TenantId, UserId } from '../../src/domain/ids.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import { insertGroupMember, insertGroups } from '../../src/storage/people/group-writer.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { type ConsoleIds, fillTenant } from '../support/console-pages.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestUser, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface List {
  readonly items: readonly Json[];
}

for (const database of databases) {
  describe(`console, people, on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    let made = 0;
    before(async () => {
      server = await startTestServer(database);
      const created = await createConsoleTenant(server);
      tenant = created.tenant;
      ({ visitor } = await openConsole(server, tenant, created.email));
    });
    after(() => server.close());

    const fill = (): Promise<ConsoleIds> => {
      made += 1;
      return fillTenant(server, tenant, 'Person', `p${made}`);
    };
    const show = async (path: string, status = 200): Promise<string> => {
      const response = await visitor.page(path);
      const text = await response.text();
      assert.equal(response.status, status, `${path}: ${noticeOf(text)}`);
      return text;
    };
    /** Posts the form, is asked, says yes; gives the page it leads to. */
    const confirm = async (path: string): Promise<string> => {
      const asked = await visitor.submit(path, {});
      assert.match(await asked.text(), /id="sure"/, path);
      const done = await visitor.submit(path, { sure: 'yes' });
      assert.equal(done.status, 303, path);
      return show(belowConsole(done));
    };
    const belowConsole = (response: Response): string =>
      (response.headers.get('location') ?? '').slice(`${new URL(tenant.baseUrl).pathname}/console`.length);
    const list = async (path: string): Promise<readonly Json[]> => (await tenant.make<List>('GET', path)).items;

    it('lists are searched, and say when nothing is found; the next page keeps the search', async () => {
      for (let index = 0; index < 27; index += 1) await createTestUser(tenant, `zoe${String(index).padStart(2, '0')}@x.example`);
      const first = await show('/users?search=ZOE');
      assert.equal((first.match(/zoe\d\d@x\.example<\/a>/g) ?? []).length, 25);
      const next = /id="next" href="([^"]+)"/.exec(first)?.[1] ?? '';
      assert.match(next, /search=ZOE&#38;cursor=/);
      const second = await show(next.replaceAll('&#38;', '&').replace(/^.*\/console/, ''));
      assert.equal((second.match(/zoe\d\d@x\.example<\/a>/g) ?? []).length, 2);
      assert.match(second, /id="previous"/);
      assert.match(first, /id="total">27 people</);
      assert.doesNotMatch(first, /id="previous"/);
      assert.match(await show('/users?search=Y%40X.EX'), /Nothing found/);
      for (const part of ['oe01', 'E13@x', 'zoe26@x.example'])
        assert.match(await show(`/users?search=${encodeURIComponent(part)}`), /id="total">1 person</, part);
      assert.match(await show('/users?search=zoe&state=suspended'), /Nothing found/);
      assert.match(await show('/users?search=zoe&from=2000-01-01&to=2001-01-01'), /Nothing found[\s\S]*Show all/);
      assert.match(await show('/users?search=zoe&from=2000-01-01'), /id="total">27 people</);
      assert.doesNotMatch(second, /id="next"/);
      assert.match(await show('/users?search=zzzz'), /Nothing found/);
      assert.match(await show('/users?search=zoe01'), /value="zoe01"/);
      assert.match(await show('/groups'), /No groups yet[\s\S]*New group/);
      for (const name of ['West', 'north-east', 'Émigrés']) await tenant.make('POST', '/groups', { display_name: name });
      const groups = [...(await show('/groups')).matchAll(/<a class="strong"[^>]*>([^<]+)</g)].map(([, name]) => name);
      assert.deepEqual(groups, ['Émigrés', 'north-east', 'West']);
      assert.match(await show('/groups?search=H-EA'), /id="total">1 group</);
    });

    it('an enrolment link is shown for ten minutes, as a QR code and a link that a phone reads', async () => {
      const { user } = await fill();
      const text = await visitor.act(`/users/${user}/enrollments`, {});
      assert.match(text, /<svg class="qr"[^>]*role="img"/);
      const link = /id="enrolment-link">([^<]+)</.exec(text)?.[1]?.replaceAll('&#38;', '&') ?? '';
      assert.equal(parseEnrollmentLink(link)?.baseUrl, tenant.baseUrl);
      assert.match(await show(`/users/${user}/devices`), /enrolment-link/);
      await server.clock.advance(600_000);
      assert.doesNotMatch(await show(`/users/${user}/devices`), /enrolment-link/);
    });

    it('a device: its details, one key revoked, then the device', async () => {
      const { user, device, key } = await fill();
      const text = await show(`/users/${user}/devices`);
      for (const part of [device, key, 'ES256', 'ios', 'as the phone says, without evidence']) assert.ok(text.includes(part), part);
      assert.match(await confirm(`/users/${user}/devices/${device}/keys/${key}/revoke`), /The key was revoked/);
      const keys = (await tenant.make('GET', `/devices/${device}`))['keys'] as readonly Json[]; // the API's shape
      assert.deepEqual(keys.map((entry) => [entry['key_id'] === key, entry['state']]).toSorted(), [
        [false, 'active'],
        [true, 'revoked'],
      ]);
      assert.match(await confirm(`/users/${user}/devices/${device}/revoke`), /The phone was revoked/);
      assert.equal((await tenant.make('GET', `/devices/${device}`))['state'], 'revoked');
      assert.equal((await visitor.submit(`/users/${user}/devices/${device}/revoke`, { sure: 'yes' })).status, 404);
    });

    it('a passkey is revoked', async () => {
      const { user, passkey } = await fill();
      assert.ok((await show(`/users/${user}/passkeys`)).includes(passkey));
      assert.match(await confirm(`/users/${user}/passkeys/${passkey}/revoke`), /The passkey was revoked/);
      assert.deepEqual(await list(`/users/${user}/passkeys`), []);
      assert.match(await show(`/users/${user}/passkeys`), /No passkey yet/);
    });

    it('sessions: one ended, and all', async () => {
      const { user, session } = await fill();
      assert.match(await show(`/users/${user}/sessions`), /openid offline_access/);
      assert.match(await confirm(`/users/${user}/sessions/${session}/end`), /The session was ended/);
      assert.deepEqual(await list(`/users/${user}/sessions`), []);
      const other = await fill();
      assert.match(await confirm(`/users/${other.user}/sessions/end`), /Every session was ended/);
      assert.deepEqual(await list(`/users/${other.user}/sessions`), []);
    });

    it('members: found by name, added once, removed', async () => {
      const { group } = await fill();
      const { id } = await createTestUser(tenant, 'member@x.example', { display_name: 'Mary Member' });
      const found = await show(`/groups/${group}/members?find=member`);
      assert.match(found, /Mary Member/);
      assert.ok(found.includes(`name="user_id" value="${id}"`));
      const added = await visitor.submit(`/groups/${group}/members`, { user_id: id, find: 'member' });
      assert.equal(added.status, 303);
      assert.match(await show(belowConsole(added)), /Added\./);
      assert.ok((await list(`/groups/${group}/members`)).some((entry) => entry['user_id'] === id));
      const again = await visitor.submit(`/groups/${group}/members`, { user_id: id, find: 'member' });
      assert.equal(again.status, 400);
      const text = await again.text();
      assert.match(noticeOf(text), /The user is a member already/);
      assert.match(text, /name="find" value="member"/);
      assert.match(await confirm(`/groups/${group}/members/${id}/remove`), /Removed from /);
      assert.ok((await list(`/groups/${group}/members`)).every((entry) => entry['user_id'] !== id));
      assert.match(await show(`/groups/${group}/members?find=nobodyatall`), /No user has that in its name/);
    });

    it('members of a group of an identity provider are shown, and nobody is added or removed there', async () => {
      const { upstream } = await fill();
      const { services } = server.gatehouse;
      const id = uuidV7(server.clock.nowMs()) as GroupId; // made here
      const group = { id, display_name: 'Of elsewhere', external_id: null, origin: 'identity_provider', identity_provider_id: upstream };
      const person = await createTestUser(tenant, 'elsewhere@x.example', { display_name: 'Elsa Where' });
      const tenantId = tenant.id as TenantId; // of the API
      await services.database.write(tenantId, async (queries) => {
        await insertGroups(queries, tenantId, [group]);
        await insertGroupMember(queries, tenantId, id, person.id as UserId);
      });
      assert.match(await show('/groups?search=Of+elsewhere'), /Of elsewhere[\s\S]*identity provider/);
      const page = await show(`/groups/${id}/members`);
      assert.match(page, /Elsa Where/);
      assert.match(page, new RegExp(`/identity-providers/${upstream}">identity provider</a>: its rules say`));
      assert.doesNotMatch(page, /Remove…|Add a member/);
      const added = await visitor.submit(`/groups/${id}/members`, { user_id: person.id });
      assert.match(noticeOf(await added.text()), /An identity provider manages this group/);
      const removed = await visitor.submit(`/groups/${id}/members/${person.id}/remove`, { sure: 'yes' });
      assert.match(await removed.text(), /An identity provider manages this group/);
      const renamed = await visitor.submit(`/groups/${id}`, { display_name: 'Mine' });
      assert.match(await renamed.text(), /An identity provider manages this group/);
      assert.equal((await list(`/groups/${id}/members`)).length, 1);
      assert.doesNotMatch(
        await show('/users'),
        new RegExp(`id="bulk-group-id".*<option value="${id}"`, 's'),
        'not offered to add many people to',
      );
    });

    for (const [path, name] of [
      ['/clients', 'client'],
      ['/service-providers', 'provider'],
    ] as const)
      it(`access to ${path}: users and groups assigned and taken away`, async () => {
        const ids = await fill();
        const target = `${path}/${ids[name]}`;
        const { id } = await createTestUser(tenant, `guest-${name}@x.example`, { display_name: 'Guest' });
        const group = String((await tenant.make('POST', '/groups', { display_name: `Guests of ${name}` }))['id']);
        const before = (await list(`${target}/assignments`)).length;
        for (const fields of [{ user_id: id }, { group_id: group }])
          assert.equal((await visitor.submit(`${target}/access`, { ...fields, find: 'g' })).status, 303);
        const text = await show(`${target}/access?find=guests&kind=group`);
        for (const part of ['Guest</a>', `Guests of ${name}</a>`, `name="group_id" value="${group}"`]) assert.ok(text.includes(part), part);
        const assignments = await list(`${target}/assignments`);
        assert.equal(assignments.length, before + 2);
        const own = assignments.find((entry) => entry['user_id'] === id);
        assert.match(await confirm(`${target}/access/${String(own?.['id'])}/remove`), /Removed from /);
        assert.equal((await list(`${target}/assignments`)).length, before + 1);
        assert.equal((await visitor.submit(`${target}/access`, { user_id: 'nobody' })).status, 400);
      });

    it('a deletion is asked, done and said', async () => {
      const ids = await fill();
      for (const path of [
        `/users/${ids.user}`,
        `/groups/${ids.group}`,
        `/resources/${ids.resource}`,
        `/service-providers/${ids.provider}`,
      ]) {
        assert.match(await confirm(`${path}/delete`), /was deleted\./, path);
        assert.equal((await tenant.call('GET', path)).status, 404, path);
        await show(path, 404);
      }
    });
  });
}

const noticeOf = (text: string): string => /id="notice">([^<]*)/.exec(text)?.[1] ?? '';
