// People from a spreadsheet in the console (design 23, part 2): each line checked before anything is done, what is wrong mended beside its
// line, nothing lost; done in steps that can be stopped; and who has not come, reminded and withdrawn.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { consoleUploadBytesMax, spreadsheetLinesMax } from '../../src/contract/limits.ts';
import { tasksPerPersonMax } from '../../src/storage/records/console-tasks.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { mailsTo } from '../support/mailbox.ts';
import { createTestUser, type Json } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

const noticeOf = (page: string): string => /id="notice">([^<]*)</.exec(page)?.[1] ?? '';
const belowConsole = (response: Response): string => (response.headers.get('location') ?? '').replace(/^.*\/console/, '');

for (const database of databases)
  describe(`people from a spreadsheet on ${database}`, () => {
    let server: TestServer;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const { tenant, email } = await createConsoleTenant(server);
      ({ visitor } = await openConsole(server, tenant, email));
      await tenant.make('POST', '/groups', { display_name: 'Crew' });
      await tenant.make('POST', '/custom-attributes', { name: 'badge', label: 'Badge number', type: 'number' });
    });
    after(() => server.close());

    const upload = async (lines: string, file?: string | Buffer, csrf = visitor.csrf): Promise<Response> => {
      const body = new FormData();
      body.set('csrf', `${csrf}.${randomUUID()}`);
      body.set('lines', lines);
      if (file !== undefined) body.set('file', new Blob([file]), 'people.csv');
      const headers = { accept: 'text/html', cookie: visitor.cookie(), origin: new URL(visitor.tenant.baseUrl).origin };
      return visitor.keep(
        await fetch(`${visitor.tenant.baseUrl}/console/users/spreadsheet`, { method: 'POST', redirect: 'manual', headers, body }),
      );
    };
    /** Follows a task until nothing waits, as the script of the page does. */
    const finish = async (response: Response): Promise<{ readonly at: string; readonly page: string; readonly posts: number }> => {
      assert.equal(response.status, 303, noticeOf(await response.clone().text()));
      for (let at = belowConsole(response), posts = 0; ; posts += 1) {
        const page = await (await visitor.page(at)).text();
        const below = /action="[^"]*\/console([^"]*)" data-goes/.exec(page)?.[1];
        if (below === undefined) return { at: at.split('?')[0]!, page, posts };
        const next = await visitor.submit(below, {});
        assert.equal(next.status, 303);
        at = belowConsole(next);
      }
    };
    const find = async (email: string): Promise<Json | undefined> =>
      (await visitor.tenant.make<{ items: readonly Json[] }>('GET', `/users?search=${encodeURIComponent(email)}`)).items[0];
    const faultsIn = (page: string): readonly string[] =>
      [...page.matchAll(/class="wrong" id="line-\d+-wrong">([^<]*)</g)].map(([, text]) => text!);

    it('tasksPerPersonMax are kept of a person; the oldest goes', async () => {
      const begun: string[] = [];
      for (let made = 0; made < tasksPerPersonMax; made += 1) begun.push((await finish(await upload('kept@sheet.example'))).at);
      assert.equal((await visitor.page(begun[0]!)).status, 200);
      begun.push((await finish(await upload('kept@sheet.example'))).at);
      assert.deepEqual(
        await Promise.all([0, 1, tasksPerPersonMax].map(async (at) => (await visitor.page(begun[at]!)).status)),
        [404, 200, 200],
      );
    });

    it('three faults among many: told beside their lines, the others invited, the faults mended and invited after', async () => {
      const people = Array.from({ length: 30 }, (_one, index) => `p${index}@sheet.example,Given ${index},Family,Crew,${index}`);
      people[4] = 'no address,Given 4,Family,Crew,4';
      people[9] = 'p9@sheet.example,Given 9,Family,Nowhere,9';
      people[14] = 'p0@sheet.example,Twice,Family,Crew,1';
      const checked = await finish(await upload('', `email,given name,family name,groups,Badge number\r\n${people.join('\r\n')}\r\n`));
      assert.match(checked.page, /27 lines are ready/);
      assert.deepEqual(faultsIn(checked.page).length, 3);
      assert.match(checked.page, /Line 6<.*?email: expected an address such as ada@example\.com/s);
      assert.match(checked.page, /Line 11<.*?groups: No group is called Nowhere\./s);
      assert.match(checked.page, /Line 16<.*?Line 2 has the same address\./s);
      assert.equal(await find('p1@sheet.example'), undefined);
      const done = await finish(await visitor.submit(`${checked.at}/start`, { invite: 'mail' }));
      assert.match(noticeOf(done.page), /^27 people were invited\. 3 lines have a fault/);
      const person = await find('p1@sheet.example');
      assert.deepEqual([person?.['name'], person?.['custom']], [{ given_name: 'Given 1', family_name: 'Family' }, { badge: 1 }]);
      assert.equal((await mailsTo(server, 'p1@sheet.example')).length, 1);
      const csv = await (await visitor.page(`${checked.at}/wrong`)).text();
      assert.match(csv, /^email,given name,family name,groups,Badge number,fault\r\n"?no address/);
      // One mended, one dropped, one left as it is.
      const ids = [...done.page.matchAll(/name="(line-\d+)"/g)].map(([, name]) => name!);
      const mended = { [ids[0]!]: 'p4@sheet.example,Given 4,Family,Crew,4', [ids[1]!]: people[9], [ids[2]!]: '' };
      const again = await finish(await visitor.submit(`${checked.at}/lines`, mended));
      assert.equal(faultsIn(again.page).length, 1);
      const rest = await finish(await visitor.submit(`${checked.at}/run`, {}));
      assert.match(noticeOf(rest.page), /^28 people were invited\. 1 line has a fault/);
      assert.ok(await find('p4@sheet.example'));
      assert.equal((await mailsTo(server, 'p1@sheet.example')).length, 1, 'nobody is invited twice');
    });

    it('pasted with tabs, without heads, with somebody who is here already', async () => {
      await createTestUser(visitor.tenant, 'here@sheet.example');
      const tabs = await finish(await upload('Email\tLast name\tShoe size\nhere@sheet.example\tHopper\t38\nnew@sheet.example\tKay\t40'));
      assert.match(tabs.page, /Left out: &#8220;Shoe size&#8221;|Left out: “Shoe size”/);
      assert.match(tabs.page, /is here already/);
      const bare = await finish(await upload('bare1@sheet.example\nbare2@sheet.example'));
      assert.match(bare.page, /2 lines are ready/);
      const added = await finish(await visitor.submit(`${bare.at}/start`, { invite: 'none' }));
      assert.match(noticeOf(added.page), /^2 people were added\./);
      assert.ok(await find('bare2@sheet.example'));
      assert.equal((await mailsTo(server, 'bare2@sheet.example')).length, 0);
    });

    it('what is no spreadsheet of people is told, and what was pasted stays', async () => {
      for (const [lines, file, told] of [
        ['', undefined, 'No line of people is here'],
        ['given name,groups\nAda,Crew', undefined, 'No column is called email'],
        ['', Buffer.from([0x65, 0xff, 0xfe]), 'not in UTF-8'],
        [`email\n${'a@b.example\n'.repeat(spreadsheetLinesMax + 1)}`, undefined, '10,000 lines at most'],
      ] as const) {
        const response = await upload(lines, file);
        const page = await response.text();
        assert.equal(response.status, 400, told);
        assert.match(noticeOf(page), new RegExp(told));
        if (lines.length < 100) assert.ok(page.includes(lines.replaceAll('\n', '\r\n'))); // as browsers send it
      }
      const most = Array.from({ length: spreadsheetLinesMax }, (_one, index) => `n${index}@x.example`).join('\n');
      assert.equal((await upload('', `email\n${most}\n`)).status, 303);
      assert.equal((await upload('', 'x'.repeat(consoleUploadBytesMax + 1))).status, 400);
      assert.equal((await upload('a@b.example', undefined, 'forged')).status, 403);
    });

    it('hostile cells are texts, on every page and in the CSV', async () => {
      for (const text of xssCorpus) {
        const quoted = `"${text.replaceAll('"', '""')}"`;
        const checked = await finish(await upload(`email,given name,${quoted}\n${quoted},Ada,x\nok${randomUUID()}@x.example,${quoted},y`));
        assertEscaped(checked.page, text);
      }
    });

    it('a task is of whoever made it; a stranger to it finds none', async () => {
      const { at } = await finish(await upload('mine@sheet.example'));
      const other = await createTestUser(visitor.tenant, 'other@sheet.example', { role: 'admin' });
      const { visitor: second } = await openConsole(server, visitor.tenant, 'other@sheet.example');
      assert.ok(other.id);
      assert.equal((await second.page(at)).status, 404);
      assert.equal((await second.submit(`${at}/start`, { invite: 'none' })).status, 404);
      assert.equal((await visitor.page(`${at}x`)).status, 404);
      assert.equal((await visitor.submit(`${at}/nothing`, {})).status, 404);
      assert.equal(await find('mine@sheet.example'), undefined);
    });

    it('sent twice at the same moment everybody is made and mailed once', async () => {
      const { at } = await finish(await upload(Array.from({ length: 60 }, (_one, index) => `twice${index}@sheet.example`).join('\n')));
      await visitor.submit(`${at}/start`, { invite: 'none' });
      const all = await Promise.all([1, 2, 3].map(() => visitor.submit(`${at}/run`, {})));
      for (const response of all) await finish(response);
      const { total } = await visitor.tenant.make<{ total: number }>('GET', '/users?sort=name&contains=twice');
      assert.equal(total, 60);
    });

    it('who has not come is listed, reminded and withdrawn, those ticked or all', async () => {
      await finish(
        await visitor.submit(`${(await finish(await upload('late1@sheet.example\nlate2@sheet.example'))).at}/start`, { invite: 'mail' }),
      );
      const page = await (await visitor.page('/users/invited')).text();
      assert.match(page, /late1@sheet\.example/);
      const ids = [(await find('late1@sheet.example'))?.['id'], (await find('late2@sheet.example'))?.['id']].map(String);
      const sure = { sure: 'yes', back: 'invited' };
      assert.equal(
        noticeOf(await visitor.act('/users/bulk', { ...sure, action: 'invite', ids: ids[0]!, count: '1' })),
        'late1@sheet.example is invited.',
      );
      assert.equal((await mailsTo(server, 'late1@sheet.example')).length, 2);
      const withdrawn = await visitor.act('/users/bulk', { ...sure, action: 'withdraw', ids: ids.join(' '), count: '2' });
      assert.equal(noticeOf(withdrawn), '2 people are not invited any more.');
      assert.doesNotMatch(withdrawn, /late1@sheet\.example/);
      const question = await (await visitor.submit('/users/bulk', { action: 'withdraw', all: 'open', back: 'invited' })).text();
      assert.match(question, /<h1>Withdraw the invitation of \d+ people\?<\/h1>/);
    });

    it('deleting more than twenty asks for a typed word', async () => {
      const made = await Promise.all(
        Array.from({ length: 21 }, (_one, index) => createTestUser(visitor.tenant, `doomed${index}@sheet.example`)),
      );
      const ids = made.map(({ id }) => id).join(' ');
      const asked = { action: 'delete', ids, count: '21', sure: 'yes' };
      const question = await visitor.submit('/users/bulk', asked);
      assert.match(await question.text(), /Type <code>delete 21<\/code>/);
      assert.ok(await find('doomed0@sheet.example'));
      const end = await finish(await visitor.submit('/users/bulk', { ...asked, typed: 'delete 21' }));
      assert.match(noticeOf(end.page), /^21 people are deleted\./);
      assert.equal(await find('doomed0@sheet.example'), undefined);
    });
  });
