// People and groups of a directory of LDAP in the console: conflicts settled with people who are found, approval, rules; and what somebody
// without the power for it does not see.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { holdEntries, writeLinks } from '../../src/storage/records/directory-links.ts';
import { endRun, holdRun } from '../../src/storage/registry/extending/ldap-directories.ts';
import { type DirectoriesConsole, ends, openDirectoriesConsole } from '../support/console-directories.ts';
import { databases } from '../support/databases.ts';
import { answerInstead, entry, figures, whoseOf } from '../support/directories.ts';
import { createTestUser, type Json } from '../support/management.ts';

for (const database of databases) {
  describe(`console, people of directories of LDAP, on ${database}`, () => {
    let desk: DirectoriesConsole;
    before(async () => {
      desk = await openDirectoriesConsole(database);
    });
    afterEach(() => desk.clear());
    after(() => desk?.close());

    it('conflicts are settled: somebody is found, made, or left out; who is here is named', async () => {
      const { id, path } = await desk.make({ enabled: false });
      const whose = whoseOf(desk.tenant, id);
      const [ada, eve] = await Promise.all(['ada@corp.example', 'eve@corp.example'].map((email) => createTestUser(desk.tenant, email)));
      const { id: staff } = await desk.tenant.make('POST', '/groups', { display_name: 'Staff' });
      const conflict = { state: 'conflict', reason: 'Somebody else here has this user name.' } as const;
      await desk.write((queries) =>
        writeLinks(queries, whose, 1, [
          ...['ada', 'bob', 'carl'].map((name) => entry(name, conflict)),
          entry('eve', { local_id: eve!.id }),
          entry('staff', { ...conflict, kind: 'group', dn: 'cn=Staff,dc=corp', dnKey: 'cn=staff,dc=corp' }),
        ]),
      );
      const all = await desk.show(`${path}/links`);
      assert.ok(all.includes(`/users/${eve!.id}">eve@corp.example</a>`));
      assert.match(
        all,
        /<bdi>uid=ada,dc=corp<\/bdi>.*<span class="badge bad">conflict<\/span><br><bdi>Somebody else here has this user name/s,
      );
      assert.doesNotMatch(await desk.show(`${path}/links?state=linked`), /uid=ada|>Settle</);
      assert.equal((await desk.visitor.page(`${path}/links?state=odd`)).status, 400);
      assert.doesNotMatch(await desk.show(`${path}/links?entry=id-of-eve`), /id="find"/, 'nothing is to be settled');

      const list = `${path}/links?state=conflict`;
      assert.match(await desk.show(list), /state=conflict&#38;entry=id-of-ada">Find person<\/a>/);
      const finding = await desk.show(`${list}&entry=id-of-ada`);
      assert.match(
        finding,
        /Who is <bdi>uid=ada,dc=corp<\/bdi>\?.*name="state" value="conflict".*name="entry" value="id-of-ada".*id="find" name="find" value="ada"/s,
      );
      assert.match(finding, /ada@corp\.example.*name="user_id" value="[^"]+".*name="action" value="adopt".*It is this one/s);
      assert.match(await desk.show(`${list}&entry=id-of-ada&find=nobody-there`), /id="none-found"/);
      const group = await desk.show(`${list}&entry=id-of-staff`);
      assert.match(group, /Find group/);
      assert.ok(group.includes(`name="group_id" value="${staff}"`));

      const settle = (name: string, fields: Readonly<Record<string, string>>): Promise<Response> =>
        desk.visitor.submit(`${path}/links/id-of-${name}/resolve?state=conflict`, fields);
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
      const { items } = await desk.tenant.make<{ items: readonly Json[] }>('GET', `${path}/links`);
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
      assert.match(await desk.show(list), /No entries/);
      const settled = await desk.show(`${path}/links?state=ignored`);
      assert.match(settled, /Find person.*Add as new/s);
      assert.doesNotMatch(settled, /value="ignore"/);
    });

    it('links have pages, which keep the state and lead to the next', async () => {
      const { id, path } = await desk.make({ enabled: false });
      const names = Array.from({ length: 26 }, (_, at) => `p${String(at).padStart(2, '0')}`);
      await desk.write((queries) =>
        writeLinks(
          queries,
          whoseOf(desk.tenant, id),
          1,
          names.map((name) => entry(name, { state: 'skipped', reason: 'It has no name.' })),
        ),
      );
      const first = await desk.show(`${path}/links?state=skipped`);
      assert.ok(first.includes('uid=p24,') && !first.includes('uid=p25,'));
      const [, next = ''] = /id="next" href="[^"]*\/links(\?[^"]+)"/.exec(first) ?? [];
      assert.match(next, /state=skipped/);
      const second = await desk.show(`${path}/links${next.replaceAll('&#38;', '&')}`);
      assert.ok(second.includes('uid=p25,') && !second.includes('uid=p24,'));
      assert.match(second, /id="previous"/);
    });

    it('people who would end wait for approval, for which the number is typed', async () => {
      const { id, path } = await desk.make({ deprovision: 'delete' });
      const whose = whoseOf(desk.tenant, id);
      const people = await Promise.all(Array.from({ length: 21 }, (_, at) => createTestUser(desk.tenant, `staff${at}@corp.example`)));
      const refused = await desk.visitor.submit(`${path}/status/approve`, { sure: 'yes' });
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /Nothing waits for approval/);
      await desk.run(id, async (queries, taken) => {
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
      const waiting = await desk.show(`${path}/status`);
      assert.match(
        waiting,
        /<b>21 people would be deleted\.<\/b>.*waits for approval<\/span>.*<dt>Waits for approval<\/dt><dd><time.*id="act-approve">Approve…/s,
      );
      assert.match(await desk.show(`${path}/links`), /<span class="badge bad">waits for approval<\/span>/);
      assert.match(await (await desk.visitor.submit(`${path}/status/approve`, {})).text(), /The people who wait are deleted/);
      assert.match(
        await (await desk.visitor.submit(`${path}/status/approve`, { sure: 'yes', typed: 'end 20' })).text(),
        /That is not end 21/,
      );
      assert.equal((await desk.tenant.make('GET', `${path}/status`))['waiting_for_approval'], 21);
      assert.match(await desk.visitor.act(`${path}/status/approve`, { sure: 'yes', typed: 'end 21' }), /The people end with the next run/);
      assert.equal((await desk.tenant.make('GET', `${path}/status`))['waiting_for_approval'], 0);
    });

    it('rules are added and removed; what is usual for the kind is shown until a rule replaces it', async () => {
      const { path } = await desk.make({ enabled: false, kind: 'active_directory' });
      const fresh = await desk.show(`${path}/rules`);
      assert.match(fresh, /Usual for Active Directory.*User name<\/dt><dd><code>upstream\.sAMAccountName<\/code>.*No rules yet/s);
      assert.doesNotMatch(fresh, /name="apply"|value="org\.roles"/);
      const added = await desk.visitor.act(`${path}/rules`, { to: 'user_name', from: 'upstream.userPrincipalName', case: 'lower' });
      assert.match(added, /The rule for user_name was added/);
      assert.doesNotMatch(added, /sAMAccountName/);
      assert.match(
        added,
        /<code>upstream\.userPrincipalName<\/code><\/td><td data-label="How">in lower case<\/td><td data-label="When">at every run/,
      );
      const wrong = await desk.visitor.submit(`${path}/rules`, { to: 'groups', from: 'upstream.memberOf' });
      assert.equal(wrong.status, 400);
      assert.match(await wrong.text(), /groups are its own.*value="upstream\.memberOf"/s);
      assert.deepEqual((await desk.only())['mappings'], [{ to: 'user_name', from: 'upstream.userPrincipalName', case: 'lower' }]);
      assert.match(await desk.visitor.act(`${path}/rules/remove`, { at: '0', to: 'user_name' }), /The rule for user_name was removed/);
      assert.deepEqual((await desk.only())['mappings'], []);
    });

    it('who may read directories alone sees no button, nor who is in them; others see no page', async () => {
      const { path } = await desk.make({ enabled: false, groups: 'all' });
      answerInstead(desk.server, {});
      const watcher = await desk.openAs('watcher', ['connectors:read', 'users:read']);
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
      assert.deepEqual([(await desk.only())['enabled'], (await desk.only())['mappings']], [false, []]);

      const reader = await desk.openAs('reader', ['connectors:read', 'users:read', 'users:write', 'groups:read', 'groups:write']);
      assert.match(await (await reader.page(`${path}/plan`)).text(), /id="ask"/);
      assert.equal((await reader.submit(`${path}/plan`, {})).status, 200);
      assert.equal((await reader.page(`${path}/links`)).status, 200);
      assert.doesNotMatch(await (await reader.page(`${path}/status`)).text(), /id="act-/);
      const keeper = await desk.openAs('keeper', ['connectors:read', 'connectors:write', 'users:read']);
      assert.doesNotMatch(await (await keeper.page(`${path}/status`)).text(), /id="act-(?:go-on|approve|pause)/);
      assert.equal((await keeper.submit(`${path}/plan`, {})).status, 403);

      const other = await desk.openAs('others', ['users:read']);
      assert.doesNotMatch(await (await other.page('')).text(), /\/directories"/);
      for (const below of ['', '/status', '/links', '/plan', '/test', '/rules'])
        assert.equal((await other.page(`${path}${below}`)).status, 403, below);
    });
  });
}
