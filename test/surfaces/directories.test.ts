// Directories of LDAP over HTTP (design 20, 1): what one is made of, where its password goes, what its maker must hold, and what it is asked
// for beside: runs, plans, tests, approvals, links.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { openSession } from '../../src/administration/declaration/reconcile.ts';
import type { Queries } from '../../src/storage/engine/database.ts';
import { holdEntries, listEnding, writeLinks } from '../../src/storage/records/directory-links.ts';
import { endRun, failRun, findDirectoryState, findLdapDirectory, holdRun } from '../../src/storage/registry/extending/ldap-directories.ts';
import { databases } from '../support/databases.ts';
import { answerInstead, directoryBody, entry, figures, takeRun, whoseOf } from '../support/directories.ts';
import { leaveUnread } from '../support/directory-runs.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith } from '../support/roles.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const movedText = 'This field must be given again, because the address, bind_dn or ca is another.';

for (const database of databases) {
  describe(`directories on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      leaveUnread(server);
    });
    beforeEach(async () => {
      tenant = await createTestTenant(server);
    });
    after(() => server?.close());

    const make = (fields: Json = {}): Promise<Json> => tenant.make('POST', '/directories', directoryBody(fields));
    const refused = async (fields: Json, field: string, text = /./): Promise<void> => {
      const response = await tenant.call('POST', '/directories', directoryBody(fields));
      await assertRefusal(response, 'management.invalid_request', { kind: field, text });
    };
    const write = <T>(work: (queries: Queries) => Promise<T>): Promise<T> =>
      server.gatehouse.services.database.write(whoseOf(tenant, '').tenant, work);
    const typesOf = async (id: unknown): Promise<readonly unknown[]> => {
      const { items } = await tenant.make<{ readonly items: readonly Json[] }>('GET', `/events?target=directory:${id}`);
      return items.map(({ type }) => type);
    };

    it('one is made, shown without its password, changed and deleted', async () => {
      const { id, created_at: _made, updated_at: _changed, ...shown } = await make();
      assert.deepEqual(shown, {
        ...{ name: 'Corp', enabled: true, kind: 'openldap', url: 'ldaps://ldap.corp.example', starttls: false, ca: null },
        ...{ bind_dn: 'cn=reader,dc=corp,dc=example', base_dn: 'ou=people,dc=corp,dc=example', user_filter: null, id_attribute: null },
        ...{ groups: 'none', group_base_dn: null, group_filter: null, mappings: [], match: 'none', deprovision: 'suspend' },
        ...{ every_minutes: 15, full_every_hours: 24 },
      });
      const whose = whoseOf(tenant, id);
      const stored = await write((queries) => findLdapDirectory(queries, whose.tenant, whose.directory));
      assert.ok(stored?.bindPassword !== undefined && !stored.bindPassword.includes('a-kept-password'), 'sealed');
      const changed = await tenant.make('PATCH', `/directories/${id}`, { every_minutes: 30, groups: 'all', user_filter: '(uid=*)' });
      assert.deepEqual([changed['every_minutes'], changed['groups'], changed['user_filter']], [30, 'all', '(uid=*)']);
      assert.equal((await tenant.call('POST', '/directories', directoryBody())).status, 409, 'the name is taken');
      await tenant.make('DELETE', `/directories/${id}`);
      await assertRefusal(await tenant.call('GET', `/directories/${id}`), 'management.not_found');
      assert.deepEqual(await typesOf(id), ['directory.deleted', 'directory.updated', 'directory.created']);
      assert.equal(await write((queries) => findDirectoryState(queries, whose.tenant, whose.directory)), undefined);
    });

    it('what its fields are not', async () => {
      await refused({ url: 'https://ldap.example' }, 'url');
      await refused({ url: 'ldap://ldap.example' }, 'starttls', /in the clear/);
      await refused({ starttls: true }, 'starttls', /ldap:\/\/ only/);
      await make({ name: 'Upgraded', url: 'ldap://ldap.example', starttls: true });
      await refused({ bind_password: undefined }, 'bind_password');
      await refused({ base_dn: 'people' }, 'base_dn');
      await refused({ user_filter: '(uid=*' }, 'user_filter');
      await refused({ groups: 'listed' }, 'group_filter', /required/);
      await refused({ groups: 'all', group_filter: '(cn=a)' }, 'group_filter', /listed groups only/);
      await refused({ group_base_dn: 'dc=a' }, 'group_base_dn');
      await make({ name: 'Listed', groups: 'listed', group_filter: '(cn=staff*)', group_base_dn: 'ou=groups,dc=corp' });
      await refused({ ca: 'a certificate' }, 'ca', /PEM/);
      const pem = await certificatePem(rsaKeys());
      await refused({ ca: pem.replace(/\n[A-Za-z0-9+/]{64}\n/, '\n') }, 'ca', /cannot be read/);
      await make({ name: 'Own authority', ca: pem + pem });
      for (const change of [{ kind: 'freeipa' }, { id_attribute: 'ipaUniqueID' }])
        await assertRefusal(
          await tenant.call('PATCH', `/directories/${(await make({ name: Object.keys(change)[0]! }))['id']}`, change),
          'management.invalid_request',
          { kind: Object.keys(change)[0]!, text: /./ },
        );
    });

    it('rules write names, addresses and attributes, never groups or roles, and hold at every run', async () => {
      const rule = (to: string, more: Json = {}): Json => ({ mappings: [{ to, from: 'upstream.x', ...more }] });
      await tenant.make('POST', '/custom-attributes', { name: 'badge', type: 'string' });
      for (const to of ['user_name', 'emails.primary', 'name.given_name', 'enterprise.department', 'custom.badge'])
        await make({ name: to, ...rule(to) });
      await refused(rule('groups'), 'mappings', /groups are its own/);
      await refused(rule('org.roles'), 'mappings');
      await refused(rule('custom.size'), 'mappings');
      await refused(rule('emails'), 'mappings');
      await refused(rule('user_name', { from: 'user_name' }), 'mappings', /upstream/);
      await refused(rule('title', { apply: 'create' }), 'mappings', /every run/);
    });

    it('its password goes nowhere else: another scheme, host, port or name wants it again; the rest changes without it', async () => {
      const { id } = await make({ url: 'ldaps://ldap.corp.example:1636' });
      const patch = (change: Json): Promise<Response> => tenant.call('PATCH', `/directories/${id}`, change);
      const moved = [
        { url: 'ldaps://other.example:1636' },
        { url: 'ldaps://ldap.corp.example' },
        { url: 'ldap://ldap.corp.example:1636', starttls: true },
        { bind_dn: 'cn=other,dc=corp,dc=example' },
        { ca: await certificatePem(rsaKeys()) },
      ];
      for (const change of moved) {
        await assertRefusal(await patch(change), 'management.invalid_request', { kind: 'bind_password', text: movedText });
        await assertRefusal(await patch({ ...change, bind_password: null }), 'management.invalid_request', {
          kind: 'bind_password',
          text: /./,
        });
      }
      await tenant.make('PATCH', `/directories/${id}`, { url: 'ldaps://LDAP.corp.example:1636/', base_dn: 'dc=corp', name: 'Same server' });
      for (const change of moved.slice(0, 2)) await tenant.make('PATCH', `/directories/${id}`, { ...change, bind_password: 'another' });
    });

    it('documents have it without its password, apply it, and want the password again where it would go elsewhere', async () => {
      await make({ groups: 'all', enabled: false });
      const { services } = server.gatehouse;
      const stored = (await services.tenants.bySlug(tenant.slug))!;
      let document = '';
      for await (const part of exportDocument(await openSession(services, stored, { actor: 'operator' }), {
        withSecrets: false,
        asJson: false,
      }))
        document += part;
      assert.match(document, /^directories:\n {2}- id: .*\n {4}name: Corp\n/m);
      assert.doesNotMatch(document, /a-kept-password/);
      await applyDocument(services, tenant.slug, document.split('\n'));
      const item = (url: string): readonly string[] => [
        ...['gatehouse: 1', 'directories:', `  - {name: Corp, kind: openldap, url: "${url}", base_dn: "dc=corp", enabled: false,`],
        ...['     bind_dn: "cn=reader,dc=corp,dc=example"}'],
      ];
      await assert.rejects(applyDocument(services, tenant.slug, item('ldaps://evil.example')), /would be told somewhere else/);
      await applyDocument(services, tenant.slug, item('ldaps://ldap.corp.example:636'));
      const { items } = await tenant.make<{ readonly items: readonly Json[] }>('GET', '/directories?search=corp');
      assert.deepEqual([items[0]?.['base_dn'], items[0]?.['groups']], ['dc=corp', 'none']);
    });

    it('its maker holds what it does: people, and groups where it copies them, before and after', async () => {
      const lacks = async (caller: Managed, capability: string, method: string, path: string, body?: Json): Promise<void> => {
        const text = `The token lacks the capability ${capability}.`;
        await assertRefusal(await caller.call(method, path, body), 'management.forbidden', { text });
      };
      const alone = await machineWith(tenant, ['connectors:read', 'connectors:write', 'users:read']);
      await lacks(alone, 'users:write', 'POST', '/directories', directoryBody());
      const { id } = await make();
      const path = `/directories/${id}`;
      await lacks(alone, 'users:write', 'PATCH', path, { every_minutes: 20 });
      for (const [method, below, body] of [
        ['POST', '/plan', undefined],
        ['POST', '/test', undefined],
        ['POST', '/approve', undefined],
        ['GET', '/links', undefined],
        ['POST', '/links/x/resolve', { action: 'create' }],
      ] as const)
        await lacks(alone, 'users:write', method, `${path}${below}`, body);
      await alone.make('GET', `${path}/status`);
      await alone.make('POST', `${path}/sync`, {});
      const people = await machineWith(tenant, ['connectors:read', 'connectors:write', 'users:read', 'users:write']);
      await people.make('PATCH', path, { every_minutes: 20 });
      await lacks(people, 'groups:read', 'PATCH', path, { groups: 'all' });
      await tenant.make('PATCH', path, { groups: 'all' });
      await lacks(people, 'groups:read', 'PATCH', path, { groups: 'none' });
      await alone.make('DELETE', path);
    });

    it('a run is asked for, and its figures and failures are told', async () => {
      const { id } = await make();
      const path = `/directories/${id}`;
      const whose = whoseOf(tenant, id);
      const status = (): Promise<Json> => tenant.make('GET', `${path}/status`);
      const fresh = await status();
      assert.deepEqual([fresh['state'], fresh['last_run'], fresh['read_whole_at'], fresh['failure']], ['idle', null, null, null]);
      assert.notEqual(fresh['next_run_at'], null, 'it begins at once');
      const run = (await takeRun(server, whose))!;
      assert.deepEqual([run.run_full, (await status())['state'], (await status())['next_run_at']], [1, 'running', null]);
      await write((queries) => endRun(queries, run, { figures, everyMinutes: 15, mark: '7', server: 'dc1' }));
      const done = await status();
      assert.deepEqual([done['state'], done['last_run'], done['running_since']], ['idle', figures, null]);
      assert.notEqual(done['read_whole_at'], null);
      assert.equal(await takeRun(server, whose), undefined, 'nothing is due');
      assert.deepEqual(await tenant.make('POST', `${path}/sync`, {}), { started: true });
      const changes = (await takeRun(server, whose))!;
      assert.deepEqual([changes.run_full, changes.change_mark, changes.change_server], [0, '7', 'dc1']);
      await write((queries) => failRun(queries, changes, { reason: 'refused', detail: 'invalidCredentials (49)' }, 60_000));
      const failed = await status();
      assert.deepEqual(
        [failed['state'], failed['failure'], failed['failures'], failed['last_run']],
        ['failing', { reason: 'refused', detail: 'invalidCredentials (49)' }, 1, figures],
      );
      await tenant.make('POST', `${path}/sync`, { full: true });
      assert.equal((await takeRun(server, whose))?.run_full, 1);
      await tenant.make('PATCH', path, { enabled: false });
      assert.deepEqual([(await status())['state'], (await status())['next_run_at']], ['disabled', null]);
      await assertRefusal(await tenant.call('POST', `${path}/sync`, {}), 'management.conflict', { kind: 'enabled', text: /./ });
      assert.deepEqual((await typesOf(id)).slice(0, 3), ['directory.updated', 'directory.sync_started', 'directory.sync_started']);
    });

    it('a plan and a test are answered by whoever reads directories', async () => {
      const { id } = await make({ enabled: false });
      const differences = [{ remote_id: 'a', dn: 'uid=ada,dc=corp', user_name: 'ada', action: 'create' }] as const;
      const people = [{ remote_id: 'a', dn: 'uid=ada,dc=corp', active: true, values: { user_name: ['ada'] } }];
      answerInstead(server, { plan: { differences }, test: { people, failure: { reason: 'partial', detail: null } } });
      const plan = await tenant.make('POST', `/directories/${id}/plan`);
      assert.deepEqual([plan['differences'], plan['complete'], plan['failure']], [differences, true, null]);
      assert.deepEqual(await tenant.make('POST', `/directories/${id}/test`), { failure: { reason: 'partial', detail: null }, people });
    });

    it('people who wait are approved once, and end in the next run', async () => {
      const { id } = await make();
      const path = `/directories/${id}`;
      const whose = whoseOf(tenant, id);
      const [ada, bob] = await Promise.all(['ada@corp.example', 'bob@corp.example'].map((email) => createTestUser(tenant, email)));
      const run = (await takeRun(server, whose))!;
      await assertRefusal(await tenant.call('POST', `${path}/approve`), 'management.conflict', { kind: 'approval', text: /./ });
      await write(async (queries) => {
        await writeLinks(queries, whose, run.run, [entry('ada', { local_id: ada!.id }), entry('bob', { local_id: bob!.id })]);
        await holdEntries(queries, whose, ['id-of-ada']);
        await holdRun(queries, run);
      });
      const waiting = await tenant.make('GET', `${path}/status`);
      assert.deepEqual([waiting['state'], waiting['waiting_for_approval'], waiting['users']], ['waiting_for_approval', 1, 2]);
      const { items } = await tenant.make<{ readonly items: readonly Json[] }>('GET', `${path}/links?state=linked`);
      assert.deepEqual(
        items.map((link) => [link['id'], link['local_id'], link['dn'], link['waits_for_approval']]),
        [
          ['id-of-ada', ada!.id, 'uid=ada,dc=corp', true],
          ['id-of-bob', bob!.id, 'uid=bob,dc=corp', false],
        ],
      );
      assert.deepEqual(await tenant.make('POST', `${path}/approve`), { approved: 1 });
      assert.deepEqual(
        (await write((queries) => listEnding(queries, whose, 10))).map((link) => link.remote_id),
        ['id-of-ada'],
      );
      await assertRefusal(await tenant.call('POST', `${path}/approve`), 'management.conflict', { kind: 'approval', text: /./ });
    });

    it('a conflict is settled: somebody is taken over, made, or left alone', async () => {
      const { id } = await make();
      const path = `/directories/${id}/links`;
      const whose = whoseOf(tenant, id);
      const ada = await createTestUser(tenant, 'ada@corp.example');
      const group = await tenant.make('POST', '/groups', { display_name: 'Staff' });
      const conflicts = ['ada', 'eve', 'bob'].map((name) => entry(name, { state: 'conflict', reason: 'user_name_taken', hash: null }));
      await write((queries) =>
        writeLinks(queries, whose, 1, [
          ...conflicts,
          entry('staff', { kind: 'group', state: 'conflict' }),
          entry('carl', { state: 'skipped' }),
        ]),
      );
      const resolve = (name: string, body: Json): Promise<Response> => tenant.call('POST', `${path}/id-of-${name}/resolve`, body);
      const settled = async (name: string, body: Json): Promise<readonly unknown[]> => {
        const link = await tenant.make('POST', `${path}/id-of-${name}/resolve`, body);
        return [link['state'], link['local_id'], link['reason']];
      };
      for (const body of [{ action: 'adopt' }, { action: 'create', local_id: ada.id }])
        await assertRefusal(await resolve('ada', body), 'management.invalid_request', { kind: 'local_id', text: /./ });
      await assertRefusal(await resolve('ada', { action: 'adopt', local_id: String(group['id']) }), 'management.not_found');
      await assertRefusal(await resolve('nobody', { action: 'create' }), 'management.not_found');
      assert.deepEqual(await settled('ada', { action: 'adopt', local_id: ada.id }), ['pending', ada.id, null]);
      await assertRefusal(await resolve('ada', { action: 'ignore' }), 'management.conflict', { kind: 'state', text: /./ });
      await assertRefusal(await resolve('eve', { action: 'adopt', local_id: ada.id }), 'management.conflict', {
        kind: 'local_id',
        text: /./,
      });
      assert.deepEqual(await settled('eve', { action: 'create' }), ['pending', null, null]);
      assert.deepEqual(await settled('staff', { action: 'adopt', local_id: group['id'] }), ['pending', group['id'], null]);
      assert.deepEqual(await settled('bob', { action: 'ignore' }), ['ignored', null, null]);
      await write((queries) => writeLinks(queries, whose, 2, [entry('bob'), entry('ada', { local_id: ada.id })]));
      const links = (await tenant.make('GET', `/directories/${id}/status`))['links'] as Json;
      assert.deepEqual(links, { pending: 2, linked: 1, conflict: 0, skipped: 1, ignored: 1, off: 0 }, 'who is ignored stays so');
      assert.deepEqual(await settled('bob', { action: 'create' }), ['pending', null, null]);
    });

    it('nobody takes over, or has end, who holds more than they do', async () => {
      const { id } = await make();
      const whose = whoseOf(tenant, id);
      const owner = await createTestUser(tenant, 'owner@corp.example');
      await tenant.make('PUT', `/users/${owner.id}/roles`, { roles: ['owner'] });
      const weak = await machineWith(tenant, ['connectors:read', 'connectors:write', 'users:read', 'users:write']);
      await write((queries) => writeLinks(queries, whose, 1, [entry('owner', { state: 'conflict' })]));
      const adopt = { action: 'adopt', local_id: owner.id };
      await assertRefusal(await weak.call('POST', `/directories/${id}/links/id-of-owner/resolve`, adopt), 'management.forbidden', {
        text: /lacks the capability/,
      });
      await weak.make('PATCH', `/directories/${id}`, { every_minutes: 20 });
      await tenant.make('POST', `/directories/${id}/links/id-of-owner/resolve`, adopt);
      await assertRefusal(await weak.call('PATCH', `/directories/${id}`, { every_minutes: 25 }), 'management.forbidden', {
        text: /lacks the capability/,
      });
      await tenant.make('PATCH', `/directories/${id}`, { every_minutes: 25 });
    });

    it('nobody takes over a group with somebody who holds more than they do: the directory would put them out', async () => {
      const { id } = await make({ groups: 'all' });
      const owner = await createTestUser(tenant, 'owner@corp.example', { admin_roles: ['owner'] });
      const group = await tenant.make('POST', '/groups', { display_name: 'Keepers' });
      await tenant.make('POST', `/groups/${group['id']}/members`, { user_id: owner.id });
      await write((queries) => writeLinks(queries, whoseOf(tenant, id), 1, [entry('keepers', { kind: 'group', state: 'conflict' })]));
      const people = ['users:read', 'users:write', 'groups:read', 'groups:write'] as const;
      const weak = await machineWith(tenant, ['connectors:read', 'connectors:write', ...people]);
      const adopt = { action: 'adopt', local_id: group['id'] };
      await assertRefusal(await weak.call('POST', `/directories/${id}/links/id-of-keepers/resolve`, adopt), 'management.forbidden', {
        text: /lacks the capability/,
      });
      await tenant.make('POST', `/directories/${id}/links/id-of-keepers/resolve`, adopt);
    });
  });
}
