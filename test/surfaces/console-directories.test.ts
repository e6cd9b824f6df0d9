// The console's page "LDAP directories": made and changed by fields, where one stands and what its last run did, why it cannot be read, plans
// and tests, conflicts settled with people who are found, approval, rules; and what somebody without the power for it does not see.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { directoryFailures } from '../../src/domain/extending/directory-runs.ts';
import { withoutDirectionControls } from '../../src/platform/html.ts';
import type { Queries } from '../../src/storage/engine/database.ts';
import { holdEntries, writeLinks } from '../../src/storage/records/directory-links.ts';
import { type DirectoryState, endRun, failRun, holdRun } from '../../src/storage/registry/extending/ldap-directories.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { withoutOwnScript } from '../support/console-pages.ts';
import { databases } from '../support/databases.ts';
import { answerInstead, directoryBody, entry, figures, takeRun, whoseOf } from '../support/directories.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestUser, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

const pageBytesMax = 60_000;

for (const database of databases) {
  describe(`console, directories of LDAP, on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const made = await createConsoleTenant(server);
      tenant = made.tenant;
      ({ visitor } = await openConsole(server, tenant, made.email));
    });
    afterEach(async () => {
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/directories');
      for (const { id } of items) await tenant.make('DELETE', `/directories/${id}`);
    });
    after(() => server?.close());
    const show = async (path: string, status = 200): Promise<string> => {
      const response = await visitor.page(path);
      assert.equal(response.status, status, path);
      return response.text();
    };
    const only = async (): Promise<Json> => (await tenant.make<{ items: readonly Json[] }>('GET', '/directories')).items[0]!;
    const make = async (fields: Json = {}): Promise<{ readonly id: string; readonly path: string }> => {
      const { id } = await tenant.make('POST', '/directories', directoryBody(fields));
      return { id: String(id), path: `/directories/${id}` };
    };
    const write = <T>(work: (queries: Queries) => Promise<T>): Promise<T> =>
      server.gatehouse.services.database.write(whoseOf(tenant, '').tenant, work);
    const run = async (id: string, work: (queries: Queries, run: DirectoryState) => Promise<unknown>): Promise<void> => {
      const taken = await takeRun(server, whoseOf(tenant, id));
      assert.ok(taken !== undefined, 'a run is due');
      await write((queries) => work(queries, taken));
    };
    const ends = { everyMinutes: 15, mark: null, server: null } as const;
    const openAs = async (role: string, capabilities: readonly string[]): Promise<AppVisitor> => {
      const email = `${role}@x.example`;
      await tenant.make('POST', '/roles', { name: role, capabilities });
      const { id } = await createTestUser(tenant, email);
      await tenant.make('PUT', `/users/${id}/roles`, { roles: [role] });
      return (await openConsole(server, tenant, email)).visitor;
    };

    it('one is made by fields, changed, moved with its password alone, and deleted; its password is never shown', async () => {
      assert.match(await show('/directories'), /No LDAP directories yet/);
      assert.match(await show(''), /\/console\/directories">(?:<svg.*?<\/svg>)?LDAP directories</);
      const form = await show('/directories/new');
      for (const name of ['kind', 'url', 'starttls', 'ca', 'bind_dn', 'base_dn', 'user_filter', 'groups', 'match', 'every_minutes'])
        assert.ok(form.includes(`name="${name}"`), name);
      assert.match(form, /<input type="password"[^>]* name="bind_password"/);
      assert.doesNotMatch(form, /name="mappings"|JSON/);
      const fields = {
        ...{
          name: 'Corp',
          kind: 'openldap',
          url: 'ldaps://ldap.corp.example',
          bind_dn: 'cn=reader,dc=corp',
          bind_password: 'a kept password',
        },
        ...{ base_dn: 'ou=people,dc=corp', groups: 'none', match: 'none', deprovision: 'suspend', enabled: 'on' },
        ...{ every_minutes: '15', 'every_minutes.unit': '60', full_every_hours: '24', 'full_every_hours.unit': '3600' },
      };
      const plain = await visitor.submit('/directories', { ...fields, url: 'ldap://ldap.corp.example' });
      assert.equal(plain.status, 400);
      assert.match(await plain.text(), /id="field-starttls-wrong">.*in the clear/);
      assert.match(await visitor.act('/directories', fields), /The LDAP directory Corp was created/);
      const path = `/directories/${(await only())['id']}`;
      const page = await show(path);
      assert.doesNotMatch(page, /a kept password/);
      assert.match(page, /<dt>Kind<\/dt><dd><span title="openldap">OpenLDAP<\/span>/);
      assert.match(await show('/directories'), /OpenLDAP.*ldaps:\/\/ldap\.corp\.example.*<span class="badge good">enabled<\/span>/s);
      const { kind: _kind, ...same } = { ...fields, bind_password: '' };
      assert.equal((await visitor.submit(path, { ...same, name: 'Headquarters', groups: 'all' })).status, 303);
      assert.deepEqual([(await only())['name'], (await only())['groups']], ['Headquarters', 'all']);
      const moved = await visitor.submit(path, { ...same, url: 'ldaps://elsewhere.example' });
      assert.equal(moved.status, 400);
      assert.match(
        await moved.text(),
        /id="field-bind_password-wrong">.*must be given again.*value="ldaps:\/\/elsewhere.example"|value="ldaps:\/\/elsewhere.example".*id="field-bind_password-wrong">.*must be given again/s,
      );
      assert.equal((await visitor.submit(path, { ...same, url: 'ldaps://elsewhere.example', bind_password: 'another' })).status, 303);
      assert.match(await (await visitor.submit(`${path}/delete`, {})).text(), /People and groups that came from it stay as they are/);
      assert.equal((await visitor.submit(`${path}/delete`, { sure: 'yes' })).status, 303);
      assert.equal((await tenant.call('GET', path)).status, 404);
    });

    it('it says where it stands: the first run, the last one, one under way, paused', async () => {
      const { id, path } = await make();
      assert.match(
        await show(`${path}/status`),
        /<span class="badge plain">waits for its first run<\/span>.*<dt>Everything was read<\/dt><dd>not yet/s,
      );
      const counts = { ...figures, read: 1203, created: 1200, ended: 2, skipped: 1, ended_at: '2026-01-01T00:00:42.000Z' };
      await run(id, async (queries, taken) => {
        await writeLinks(queries, whoseOf(tenant, id), taken.run, [entry('eve', { state: 'conflict', reason: 'Somebody has it.' })]);
        assert.equal(await endRun(queries, taken, { ...ends, figures: counts }), 0);
      });
      const done = await show(`${path}/status`);
      assert.match(done, /<span class="badge good">up to date<\/span>.*<dt>Next run<\/dt><dd><time/s);
      assert.match(
        done,
        /<dt>Took<\/dt><dd>42 seconds<\/dd><dt>Read<\/dt><dd>everything<\/dd><dt>Entries read<\/dt><dd>1203<\/dd><dt>Made here<\/dt><dd>1200<\/dd>/,
      );
      assert.match(done, /<dt>Ended here<\/dt><dd>2<\/dd>.*<dt>Cannot be taken<\/dt><dd>1<\/dd>/s);
      assert.match(done, /links\?state=conflict">conflict<\/a><\/dt><dd>1<\/dd>/);
      assert.match(await visitor.act(`${path}/status/sync`, {}), /What has changed is read now/);
      await run(id, async (queries, taken) => {
        assert.equal(taken.run_full, 0);
        await endRun(queries, taken, { ...ends, figures });
      });
      assert.match(await visitor.act(`${path}/status/sync-full`, {}), /Everything is read now/);
      const under = await takeRun(server, whoseOf(tenant, id));
      assert.equal(under?.run_full, 1);
      assert.match(
        await show(`${path}/status`),
        /<span class="badge good">at work<\/span> since <time.*<dt>Next run<\/dt><dd>when this one is done/s,
      );
      assert.match(await visitor.act(`${path}/status/pause`, {}), /It is paused: nothing is read/);
      const paused = await show(`${path}/status`);
      assert.match(paused, /<span class="badge plain">paused<\/span>.*id="act-go-on"/s);
      assert.doesNotMatch(paused, /id="act-(?:sync|pause|approve)/);
      const refused = await visitor.submit(`${path}/status/sync`, {});
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /The directory is not enabled/);
      assert.match(await visitor.act(`${path}/status/go-on`, {}), /It goes on\./);
      assert.equal((await visitor.submit(`${path}/status/constructor`, {})).status, 303);
    });

    it('why it cannot be read is said in words, each with what to do; what the server said is text, and not endless', async () => {
      const { id, path } = await make();
      const told = new Set<string>();
      for (const reason of directoryFailures) {
        await tenant.make('POST', `${path}/sync`, {});
        const detail = `<b>${reason}</b>\u202e\u0007${'x'.repeat(5_000)}`;
        await run(id, (queries, taken) => failRun(queries, taken, { reason, detail }, 60_000));
        const page = await show(`${path}/status`);
        const [, said = ''] = /id="failure"><p>(.*?)<\/p>/s.exec(page) ?? [];
        assert.match(said, /^<b>[A-Z][^<]+\.<\/b> [A-Z][^<]+\.$/, reason);
        told.add(said);
        assert.match(page, /<summary>What was said<\/summary><p><bdi>&#60;b&#62;[a-z_]+&#60;\/b&#62;\u2407x+…<\/bdi>/);
        assert.ok(page.length < pageBytesMax);
        assert.match(page, /<span class="badge bad">cannot be read<\/span>/);
      }
      assert.equal(told.size, directoryFailures.length);
      assert.match(await show(`${path}/status`), new RegExp(`<dt>Failed</dt><dd>${directoryFailures.length} times in a row, last <time`));
      await tenant.make('POST', `${path}/sync`, {});
      await run(id, (queries, taken) => endRun(queries, taken, { ...ends, figures }));
      assert.doesNotMatch(await show(`${path}/status`), /id="failure"|<dt>Failed/);
    });

    it('a plan and a test are made when somebody presses, not by opening the page; they may be pressed again', async () => {
      const { path } = await make({ enabled: false });
      const calls: string[] = [];
      const people = [
        {
          remote_id: 'a',
          dn: 'uid=ada,dc=corp',
          active: true,
          values: { user_name: ['ada'], 'name.given_name': ['Ada'], 'custom.badge': [7, true] },
        },
        { remote_id: 'b', dn: 'uid=bob,dc=corp', active: false, values: {} },
      ];
      const differences = [{ remote_id: 'a', dn: 'uid=ada,dc=corp', user_name: 'ada', action: 'create' }] as const;
      answerInstead(server, { plan: { differences, complete: false }, test: { people } });
      const { directories } = server.gatehouse.services;
      for (const name of ['plan', 'test'] as const) {
        const answer = directories[name] as (...given: readonly unknown[]) => Promise<unknown>;
        Object.assign(directories, {
          [name]: (...given: readonly unknown[]) => {
            calls.push(name);
            return answer(...given);
          },
        });
      }
      for (const tab of ['/plan', '/test']) assert.match(await show(`${path}${tab}`), /id="ask"/);
      assert.deepEqual(calls, []);
      const post = async (tab: string, id?: string): Promise<string> => {
        const response = await visitor.submit(`${path}${tab}`, {}, id === undefined ? {} : { id });
        assert.equal(response.status, 200);
        return response.text();
      };
      for (const _again of [1, 2]) {
        const plan = await post('/plan', 'the same form');
        assert.match(plan, /Nothing was written.*<dt>Made<\/dt><dd>0<\/dd>.*There are more people than a plan looks at/s);
        assert.match(
          plan,
          /<span class="strong"><bdi>ada<\/bdi><\/span><br><code><bdi>uid=ada,dc=corp<\/bdi><\/code><\/td><td data-label="What">Made</,
        );
      }
      const tested = await post('/test');
      assert.match(tested, /<span class="badge good">works<\/span>.*The first 2 people.*<bdi>uid=ada,dc=corp<\/bdi>/s);
      assert.match(tested, /title="user_name">User name<\/span> <bdi>ada<\/bdi>.*<bdi>7<\/bdi>, <bdi>true<\/bdi>.*disabled there/s);
      assert.deepEqual(calls, ['plan', 'plan', 'test']);
      answerInstead(server, {
        plan: { failure: { reason: 'partial', detail: null } },
        test: { failure: { reason: 'refused', detail: '49' } },
      });
      assert.match(await post('/plan'), /id="failure"><p><b>It gave less than there is/);
      const wrong = await post('/test');
      assert.match(wrong, /id="failure"><p><b>The directory refuses the name or the password/);
      assert.doesNotMatch(wrong, /works<\/span>/);
      answerInstead(server, { test: {} });
      assert.match(await post('/test'), /It has nobody/);
      for (const tab of ['/plan', '/test'])
        for (const changes of [{ csrf: 'wrong' }, { origin: 'https://evil.example' }])
          assert.equal((await visitor.submit(`${path}${tab}`, {}, changes)).status, 403);
    });

    it('what a directory says is text on every page, however long and whichever way it runs', async () => {
      const { id, path } = await make({ enabled: false });
      const whose = whoseOf(tenant, id);
      const texts = [...xssCorpus, `\u202eevil\u2066\u0000\n\u001b[31m`, 'עברית', 'x'.repeat(1_024), '😀'.repeat(200)];
      const seen = (page: string, what: string): void => {
        assert.equal(withoutDirectionControls(page), page, what);
        assert.ok(!page.includes('\u0000') && !page.includes('\u001b'), what);
        assert.doesNotMatch(page, /\ufffd/, 'no half of a character');
        assert.ok(Buffer.byteLength(page) < pageBytesMax, `${what}: ${Buffer.byteLength(page)} bytes`);
        assert.doesNotMatch(withoutOwnScript(page), /<(?:script|img|iframe|base|math)|<svg onload|<meta http-equiv/, what);
      };
      for (let at = 0; at < texts.length; at += 10) {
        const some = texts.slice(at, at + 10);
        const people = some.map((text, index) => ({
          remote_id: `${index}`,
          dn: text,
          active: true,
          values: { user_name: [text, text, text, text] },
        }));
        const differences = some.map((text, index) => ({ remote_id: `${index}`, dn: text, user_name: text, action: 'create' as const }));
        answerInstead(server, { plan: { differences }, test: { people } });
        for (const tab of ['/plan', '/test']) {
          const page = await (await visitor.submit(`${path}${tab}`, {})).text();
          seen(page, tab);
          for (const text of some.filter((one) => xssCorpus.includes(one) && !one.startsWith('\u202e')))
            if (tab === '/plan') assertEscaped(page, text);
        }
      }
      const many = Array.from({ length: 1_000 }, (_, index) => ({
        remote_id: `${index}`,
        dn: 'd'.repeat(1_024),
        user_name: 'é'.repeat(1_024),
        action: 'delete' as const,
      }));
      answerInstead(server, { plan: { differences: many } });
      seen(await (await visitor.submit(`${path}/plan`, {})).text(), 'a long plan');
      const links = texts.map((text, index) => entry(`${index}`, { dn: text, dnKey: `${index}`, reason: text, state: 'conflict' }));
      await write((queries) => writeLinks(queries, whose, 1, links));
      seen(await show(`${path}/links`), '/links');
      seen(await show(`${path}/links?entry=id-of-0&find=${encodeURIComponent(texts[1]!)}`), 'finding');
    });

    it('conflicts are settled: somebody is found, made, or left out; who is here is named', async () => {
      const { id, path } = await make({ enabled: false });
      const whose = whoseOf(tenant, id);
      const [ada, eve] = await Promise.all(['ada@corp.example', 'eve@corp.example'].map((email) => createTestUser(tenant, email)));
      const { id: staff } = await tenant.make('POST', '/groups', { display_name: 'Staff' });
      const conflict = { state: 'conflict', reason: 'Somebody else here has this user name.' } as const;
      await write((queries) =>
        writeLinks(queries, whose, 1, [
          ...['ada', 'bob', 'carl'].map((name) => entry(name, conflict)),
          entry('eve', { local_id: eve!.id }),
          entry('staff', { ...conflict, kind: 'group', dn: 'cn=Staff,dc=corp', dnKey: 'cn=staff,dc=corp' }),
        ]),
      );
      const all = await show(`${path}/links`);
      assert.ok(all.includes(`/users/${eve!.id}">eve@corp.example</a>`));
      assert.match(
        all,
        /<bdi>uid=ada,dc=corp<\/bdi>.*<span class="badge bad">conflict<\/span><br><bdi>Somebody else here has this user name/s,
      );
      assert.doesNotMatch(await show(`${path}/links?state=linked`), /uid=ada|>Settle</);
      assert.equal((await visitor.page(`${path}/links?state=odd`)).status, 400);
      assert.doesNotMatch(await show(`${path}/links?entry=id-of-eve`), /id="find"/, 'nothing is to be settled');

      const list = `${path}/links?state=conflict`;
      assert.match(await show(list), /state=conflict&#38;entry=id-of-ada">Find the person<\/a>/);
      const finding = await show(`${list}&entry=id-of-ada`);
      assert.match(
        finding,
        /Who is <bdi>uid=ada,dc=corp<\/bdi>\?.*name="state" value="conflict".*name="entry" value="id-of-ada".*id="find" name="find" value="ada"/s,
      );
      assert.match(finding, /ada@corp\.example.*name="user_id" value="[^"]+".*name="action" value="adopt".*It is this one/s);
      assert.match(await show(`${list}&entry=id-of-ada&find=nobody-there`), /id="none-found"/);
      const group = await show(`${list}&entry=id-of-staff`);
      assert.match(group, /Find the group/);
      assert.ok(group.includes(`name="group_id" value="${staff}"`));

      const settle = (name: string, fields: Readonly<Record<string, string>>): Promise<Response> =>
        visitor.submit(`${path}/links/id-of-${name}/resolve?state=conflict`, fields);
      const taken = await settle('ada', { action: 'adopt', user_id: eve!.id });
      assert.equal(taken.status, 400);
      assert.match(await taken.text(), /Another entry is this person or group/);
      assert.equal((await settle('ada', { action: 'adopt' })).status, 400);
      assert.equal((await settle('nobody', { action: 'create' })).status, 400);
      const adopted = await settle('ada', { action: 'adopt', user_id: ada!.id });
      assert.match(adopted.headers.get('location') ?? '', /\/links\?state=conflict$/);
      assert.equal((await settle('bob', { action: 'create' })).status, 303);
      assert.equal((await settle('carl', { action: 'ignore' })).status, 303);
      assert.equal((await settle('staff', { action: 'adopt', group_id: String(staff) })).status, 303);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `${path}/links`);
      assert.deepEqual(
        items.map((link) => [link['id'], link['state'], link['local_id']]),
        [
          ['id-of-ada', 'pending', ada!.id],
          ['id-of-bob', 'pending', null],
          ['id-of-carl', 'ignored', null],
          ['id-of-eve', 'linked', eve!.id],
          ['id-of-staff', 'pending', staff],
        ],
      );
      assert.match(await show(list), /No entries/);
      const settled = await show(`${path}/links?state=ignored`);
      assert.match(settled, /Find the person.*Make a new person/s);
      assert.doesNotMatch(settled, /value="ignore"/);
    });

    it('links have pages, which keep the state and lead to the next', async () => {
      const { id, path } = await make({ enabled: false });
      const names = Array.from({ length: 26 }, (_, at) => `p${String(at).padStart(2, '0')}`);
      await write((queries) =>
        writeLinks(
          queries,
          whoseOf(tenant, id),
          1,
          names.map((name) => entry(name, { state: 'skipped', reason: 'It has no name.' })),
        ),
      );
      const first = await show(`${path}/links?state=skipped`);
      assert.ok(first.includes('uid=p24,') && !first.includes('uid=p25,'));
      const [, next = ''] = /id="next" href="[^"]*\/links(\?[^"]+)"/.exec(first) ?? [];
      assert.match(next, /state=skipped/);
      const second = await show(`${path}/links${next.replaceAll('&#38;', '&')}`);
      assert.ok(second.includes('uid=p25,') && !second.includes('uid=p24,'));
      assert.match(second, /id="previous"/);
    });

    it('people who would end wait for approval, for which the number is typed', async () => {
      const { id, path } = await make({ deprovision: 'delete' });
      const whose = whoseOf(tenant, id);
      const people = await Promise.all(Array.from({ length: 21 }, (_, at) => createTestUser(tenant, `staff${at}@corp.example`)));
      const refused = await visitor.submit(`${path}/status/approve`, { sure: 'yes' });
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /Nothing waits for approval/);
      await run(id, async (queries, taken) => {
        await writeLinks(
          queries,
          whose,
          taken.run,
          people.map((person, at) => entry(`staff${at}`, { local_id: person.id })),
        );
        await holdEntries(
          queries,
          whose,
          people.map((_, at) => `id-of-staff${at}`),
        );
        await holdRun(queries, taken);
        await endRun(queries, taken, { ...ends, figures });
      });
      const waiting = await show(`${path}/status`);
      assert.match(waiting, /<b>21 people would be deleted\.<\/b>.*waits for approval<\/span>.*id="act-approve">Approve…/s);
      assert.match(await show(`${path}/links`), /<span class="badge bad">waits for approval<\/span>/);
      assert.match(await (await visitor.submit(`${path}/status/approve`, {})).text(), /The people who wait are deleted/);
      assert.match(await (await visitor.submit(`${path}/status/approve`, { sure: 'yes', typed: 'end 20' })).text(), /That is not end 21/);
      assert.equal((await tenant.make('GET', `${path}/status`))['waiting_for_approval'], 21);
      assert.match(await visitor.act(`${path}/status/approve`, { sure: 'yes', typed: 'end 21' }), /The people end with the next run/);
      assert.equal((await tenant.make('GET', `${path}/status`))['waiting_for_approval'], 0);
    });

    it('rules are added and removed; what is usual for the kind is shown until a rule replaces it', async () => {
      const { path } = await make({ enabled: false, kind: 'active_directory' });
      const fresh = await show(`${path}/rules`);
      assert.match(fresh, /Usual for Active Directory.*User name<\/dt><dd><code>upstream\.sAMAccountName<\/code>.*No rules yet/s);
      assert.doesNotMatch(fresh, /name="apply"|value="org\.roles"/);
      const added = await visitor.act(`${path}/rules`, { to: 'user_name', from: 'upstream.userPrincipalName', case: 'lower' });
      assert.match(added, /The rule for user_name was added/);
      assert.doesNotMatch(added, /sAMAccountName/);
      assert.match(
        added,
        /<code>upstream\.userPrincipalName<\/code><\/td><td data-label="How">in lower case<\/td><td data-label="When">at every run/,
      );
      const wrong = await visitor.submit(`${path}/rules`, { to: 'groups', from: 'upstream.memberOf' });
      assert.equal(wrong.status, 400);
      assert.match(await wrong.text(), /groups are its own.*value="upstream\.memberOf"/s);
      assert.deepEqual((await only())['mappings'], [{ to: 'user_name', from: 'upstream.userPrincipalName', case: 'lower' }]);
      assert.match(await visitor.act(`${path}/rules/remove`, { at: '0', to: 'user_name' }), /The rule for user_name was removed/);
      assert.deepEqual((await only())['mappings'], []);
    });

    it('who may read directories alone sees no button, nor who is in them; others see no page', async () => {
      const { path } = await make({ enabled: false, groups: 'all' });
      answerInstead(server, {});
      const watcher = await openAs('watcher', ['connectors:read', 'users:read']);
      assert.doesNotMatch(await (await watcher.page('/directories')).text(), /id="new"/);
      assert.doesNotMatch(await (await watcher.page(path)).text(), /id="(save|delete|act-)/);
      for (const tab of ['/status', '/plan', '/test', '/rules']) {
        const response = await watcher.page(`${path}${tab}`);
        assert.equal(response.status, 200, tab);
        assert.doesNotMatch(await response.text(), /id="(?:act-|ask|add)/, tab);
      }
      assert.equal((await watcher.page(`${path}/links`)).status, 403);
      for (const below of ['/plan', '/test', '/status/sync', '/status/go-on', '/rules', '/links/x/resolve', '/delete'])
        assert.notEqual(
          (await watcher.submit(`${path}${below}`, { sure: 'yes', to: 'title', from: 'upstream.title', action: 'create' })).status,
          303,
          below,
        );
      assert.deepEqual([(await only())['enabled'], (await only())['mappings']], [false, []]);

      const reader = await openAs('reader', ['connectors:read', 'users:read', 'users:write', 'groups:read', 'groups:write']);
      assert.match(await (await reader.page(`${path}/plan`)).text(), /id="ask"/);
      assert.equal((await reader.submit(`${path}/plan`, {})).status, 200);
      assert.equal((await reader.page(`${path}/links`)).status, 200);
      assert.doesNotMatch(await (await reader.page(`${path}/status`)).text(), /id="act-/);
      const keeper = await openAs('keeper', ['connectors:read', 'connectors:write', 'users:read']);
      assert.doesNotMatch(await (await keeper.page(`${path}/status`)).text(), /id="act-(?:go-on|approve|pause)/);
      assert.equal((await keeper.submit(`${path}/plan`, {})).status, 403);

      const other = await openAs('others', ['users:read']);
      assert.doesNotMatch(await (await other.page('')).text(), /\/directories"/);
      for (const below of ['', '/status', '/links', '/plan', '/test', '/rules'])
        assert.equal((await other.page(`${path}${below}`)).status, 403, below);
    });
  });
}
