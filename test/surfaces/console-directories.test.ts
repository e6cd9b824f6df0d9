// The console's page "LDAP directories": made and changed by fields, where one stands and what its last run did, why it cannot be read, plans
// and tests; and that what a directory says is text.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { directoryFailures } from '../../src/domain/extending/directory-runs.ts';
import { withoutDirectionControls } from '../../src/platform/html.ts';
import { writeLinks } from '../../src/storage/records/directory-links.ts';
import { endRun, failRun } from '../../src/storage/registry/extending/ldap-directories.ts';
import { type DirectoriesConsole, ends, openDirectoriesConsole } from '../support/console-directories.ts';
import { withoutOwnScript } from '../support/console-pages.ts';
import { databases } from '../support/databases.ts';
import { answerInstead, entry, figures, takeRun, whoseOf } from '../support/directories.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

const pageBytesMax = 60_000;

for (const database of databases) {
  describe(`console, directories of LDAP, on ${database}`, () => {
    let desk: DirectoriesConsole;
    before(async () => {
      desk = await openDirectoriesConsole(database);
    });
    afterEach(() => desk.clear());
    after(() => desk?.close());

    it('one is made by fields, changed, moved with its password alone, and deleted; its password is never shown', async () => {
      assert.match(await desk.show('/directories'), /No LDAP directories yet/);
      assert.match(await desk.show(''), /\/console\/directories">(?:<svg.*?<\/svg>)?LDAP directories</);
      assert.match(await desk.show('/scim'), /What speaks LDAP.*\/console\/directories">LDAP directories</s);
      const form = await desk.show('/directories/new');
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
      const plain = await desk.visitor.submit('/directories', { ...fields, url: 'ldap://ldap.corp.example' });
      assert.equal(plain.status, 400);
      assert.match(await plain.text(), /id="field-starttls-wrong">.*in the clear/);
      assert.match(await desk.visitor.act('/directories', fields), /The LDAP directory Corp was created/);
      const path = `/directories/${(await desk.only())['id']}`;
      const page = await desk.show(path);
      assert.doesNotMatch(page, /a kept password/);
      assert.match(page, /<dt>Kind<\/dt><dd><span title="openldap">OpenLDAP<\/span>/);
      assert.match(await desk.show('/directories'), /OpenLDAP.*ldaps:\/\/ldap\.corp\.example.*<span class="badge good">enabled<\/span>/s);
      const { kind: _kind, ...same } = { ...fields, bind_password: '' };
      assert.equal((await desk.visitor.submit(path, { ...same, name: 'Headquarters', groups: 'all' })).status, 303);
      assert.deepEqual([(await desk.only())['name'], (await desk.only())['groups']], ['Headquarters', 'all']);
      const moved = await desk.visitor.submit(path, { ...same, url: 'ldaps://elsewhere.example' });
      assert.equal(moved.status, 400);
      assert.match(
        await moved.text(),
        /id="field-bind_password-wrong">.*must be given again.*value="ldaps:\/\/elsewhere.example"|value="ldaps:\/\/elsewhere.example".*id="field-bind_password-wrong">.*must be given again/s,
      );
      assert.equal((await desk.visitor.submit(path, { ...same, url: 'ldaps://elsewhere.example', bind_password: 'another' })).status, 303);
      assert.match(await (await desk.visitor.submit(`${path}/delete`, {})).text(), /People and groups that came from it stay as they are/);
      assert.equal((await desk.visitor.submit(`${path}/delete`, { sure: 'yes' })).status, 303);
      assert.equal((await desk.tenant.call('GET', path)).status, 404);
    });

    it('it says where it stands: the first run, the last one, one under way, paused', async () => {
      const { id, path } = await desk.make();
      assert.match(
        await desk.show(`${path}/status`),
        /<span class="badge plain">waits for its first run<\/span>.*<dt>Everything was read<\/dt><dd>not yet/s,
      );
      const counts = { ...figures, read: 1203, created: 1200, ended: 2, skipped: 1, ended_at: '2026-01-01T00:00:42.000Z' };
      await desk.run(id, async (queries, taken) => {
        await writeLinks(queries, whoseOf(desk.tenant, id), taken.run, [entry('eve', { state: 'conflict', reason: 'Somebody has it.' })]);
        assert.equal(await endRun(queries, taken, { ...ends, figures: counts }), 0);
      });
      const done = await desk.show(`${path}/status`);
      assert.match(done, /<span class="badge good">up to date<\/span>.*<dt>Next run<\/dt><dd><time/s);
      assert.match(
        done,
        /<dt>Took<\/dt><dd>42 seconds<\/dd><dt>Read<\/dt><dd>everything<\/dd><dt>Entries read<\/dt><dd>1203<\/dd><dt>Made here<\/dt><dd>1200<\/dd>/,
      );
      assert.match(done, /<dt>Ended here<\/dt><dd>2<\/dd>.*<dt>Cannot be taken<\/dt><dd>1<\/dd>/s);
      assert.match(done, /links\?state=conflict">conflict<\/a><\/dt><dd>1<\/dd>/);
      assert.match(await desk.visitor.act(`${path}/status/sync`, {}), /What has changed is read now/);
      await desk.run(id, async (queries, taken) => {
        assert.equal(taken.run_full, 0);
        await endRun(queries, taken, { ...ends, figures });
      });
      assert.match(await desk.visitor.act(`${path}/status/sync-full`, {}), /Everything is read now/);
      const under = await takeRun(desk.server, whoseOf(desk.tenant, id));
      assert.equal(under?.run_full, 1);
      assert.match(
        await desk.show(`${path}/status`),
        /<span class="badge good">at work<\/span>.*<dt>This run began<\/dt><dd><time.*<dt>Next run<\/dt><dd>when this one is done/s,
      );
      assert.match(await desk.visitor.act(`${path}/status/pause`, {}), /It is paused: nothing is read/);
      const paused = await desk.show(`${path}/status`);
      assert.match(paused, /<span class="badge plain">paused<\/span>.*id="act-go-on"/s);
      assert.doesNotMatch(paused, /id="act-(?:sync|pause|approve)/);
      const refused = await desk.visitor.submit(`${path}/status/sync`, {});
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /The directory is not enabled/);
      assert.match(await desk.visitor.act(`${path}/status/go-on`, {}), /It goes on\./);
      assert.equal((await desk.visitor.submit(`${path}/status/constructor`, {})).status, 303);
    });

    it('why it cannot be read is said in words, each with what to do; what the server said is text, and not endless', async () => {
      const { id, path } = await desk.make();
      const told = new Set<string>();
      for (const reason of directoryFailures) {
        await desk.tenant.make('POST', `${path}/sync`, {});
        const detail = `<b>${reason}</b>\u202e\u0007${'x'.repeat(5_000)}`;
        await desk.run(id, (queries, taken) => failRun(queries, taken, { reason, detail }, 60_000));
        const page = await desk.show(`${path}/status`);
        const [, said = ''] = /id="failure"><p>(.*?)<\/p>/s.exec(page) ?? [];
        assert.match(said, /^<b>[A-Z][^<]+\.<\/b> [A-Z][^<]+\.$/, reason);
        told.add(said);
        assert.match(page, /<summary>What was said<\/summary><p><bdi>&#60;b&#62;[a-z_]+&#60;\/b&#62;\u2407x+…<\/bdi>/);
        assert.ok(page.length < pageBytesMax);
        assert.match(page, /<span class="badge bad">cannot be read<\/span>/);
      }
      assert.equal(told.size, directoryFailures.length);
      assert.match(
        await desk.show(`${path}/status`),
        new RegExp(`<dt>Failed</dt><dd>${directoryFailures.length} times in a row, last <time`),
      );
      await desk.tenant.make('POST', `${path}/sync`, {});
      await desk.run(id, (queries, taken) => endRun(queries, taken, { ...ends, figures }));
      assert.doesNotMatch(await desk.show(`${path}/status`), /id="failure"|<dt>Failed/);
    });

    it('a plan and a test are made when somebody presses, not by opening the page; they may be pressed again', async () => {
      const { path } = await desk.make({ enabled: false });
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
      answerInstead(desk.server, { plan: { differences, complete: false }, test: { people } });
      const { directories } = desk.server.gatehouse.services;
      for (const name of ['plan', 'test'] as const) {
        const answer = directories[name] as (...given: readonly unknown[]) => Promise<unknown>;
        Object.assign(directories, {
          [name]: (...given: readonly unknown[]) => {
            calls.push(name);
            return answer(...given);
          },
        });
      }
      for (const tab of ['/plan', '/test']) assert.match(await desk.show(`${path}${tab}`), /id="ask"/);
      assert.deepEqual(calls, []);
      const post = async (tab: string, id?: string): Promise<string> => {
        const response = await desk.visitor.submit(`${path}${tab}`, {}, id === undefined ? {} : { id });
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
      answerInstead(desk.server, {
        plan: { failure: { reason: 'partial', detail: null } },
        test: { failure: { reason: 'refused', detail: '49' } },
      });
      assert.match(await post('/plan'), /id="failure"><p><b>It gave less than there is/);
      const wrong = await post('/test');
      assert.match(wrong, /id="failure"><p><b>The directory refuses the name or the password/);
      assert.doesNotMatch(wrong, /works<\/span>/);
      answerInstead(desk.server, { test: {} });
      assert.match(await post('/test'), /It has nobody/);
      for (const tab of ['/plan', '/test'])
        for (const changes of [{ csrf: 'wrong' }, { origin: 'https://evil.example' }])
          assert.equal((await desk.visitor.submit(`${path}${tab}`, {}, changes)).status, 403);
    });

    it('what a directory says is text on every page, however long and whichever way it runs', async () => {
      const { id, path } = await desk.make({ enabled: false });
      const whose = whoseOf(desk.tenant, id);
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
        answerInstead(desk.server, { plan: { differences }, test: { people } });
        for (const tab of ['/plan', '/test']) {
          const page = await (await desk.visitor.submit(`${path}${tab}`, {})).text();
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
      answerInstead(desk.server, { plan: { differences: many } });
      seen(await (await desk.visitor.submit(`${path}/plan`, {})).text(), 'a long plan');
      const kept = texts.map((text) => text.replaceAll('\u0000', '')); // which no database stores
      const links = kept.map((text, index) => entry(`${index}`, { dn: text, dnKey: `${index}`, reason: text, state: 'conflict' }));
      await desk.write((queries) => writeLinks(queries, whose, 1, links));
      seen(await desk.show(`${path}/links`), '/links');
      seen(await desk.show(`${path}/links?entry=id-of-0&find=${encodeURIComponent(texts[1]!)}`), 'finding');
    });
  });
}
