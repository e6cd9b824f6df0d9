// Many people at once in the console (design 13, section 2): on those ticked and on all found, asked first by name and number; whoever
// does it is left out; and lists as CSV, in which nothing is a formula.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestUser, type Json } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const noticeOf = (page: string): string => /id="notice">([^<]*)</.exec(page)?.[1] ?? '';
/** The fields of a question, without its token. */
const answerTo = (page: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...(/<form class="card ask".*?<\/form>/s.exec(page)?.[0] ?? '').matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)]
      .map(([, name, value]) => [name!, value!] as const)
      .filter(([name]) => name !== 'csrf'),
  );

for (const database of databases) {
  describe(`console bulk on ${database}`, () => {
    let server: TestServer;
    let visitor: AppVisitor;
    let ids: readonly string[];
    before(async () => {
      server = await startTestServer(database);
      const { tenant, email } = await createConsoleTenant(server);
      ({ visitor } = await openConsole(server, tenant, email));
      const made: string[] = [];
      for (let index = 0; index < 30; index += 1)
        made.push(
          (await createTestUser(tenant, `member${index}@crew.example`, { display_name: `Crew ${String(index).padStart(2, '0')}` })).id,
        );
      ids = made;
    });
    after(() => server.close());

    const statesOf = async (): Promise<readonly string[]> => {
      const { items } = await visitor.tenant.make<{ items: readonly Json[] }>('GET', '/users?sort=name&contains=crew&limit=200');
      return items.map((user) => String(user['state']));
    };
    const ask = async (fields: Readonly<Record<string, string>>): Promise<string> => {
      const response = await visitor.submit('/users/bulk', fields);
      assert.equal(response.status, 200);
      return response.text();
    };

    it('all found: asked by number and names, done to every one, and undone', async () => {
      const list = await (await visitor.page('/users?search=crew')).text();
      assert.match(list, /All 30 found/);
      assert.equal(list.match(/form="bulk" name="id"/g)?.length, 25);
      const question = await ask({ action: 'suspend', all: 'yes', search: 'crew' });
      assert.match(question, /<h1>Suspend 30 people\?<\/h1>/);
      assert.match(question, /Crew 00, Crew 01, Crew 02, Crew 03, Crew 04 and 25 more\. No session is open\./);
      assert.ok((await statesOf()).every((state) => state === 'active'));
      assert.equal(noticeOf(await visitor.act('/users/bulk', answerTo(question))), '30 people are suspended.');
      assert.ok((await statesOf()).every((state) => state === 'suspended'));
      const back = await ask({ action: 'activate', all: 'yes', search: 'crew', state: 'suspended' });
      assert.equal(noticeOf(await visitor.act('/users/bulk', answerTo(back))), '30 people are active.');
    });

    it('those ticked; somebody gone meanwhile is asked about again', async () => {
      const question = await ask({ action: 'end-sessions', ids: `${ids[0]} ${ids[1]}` });
      assert.match(question, /<h1>End every session of 2 people\?<\/h1>/);
      assert.equal(noticeOf(await visitor.act('/users/bulk', answerTo(question))), '2 people are signed out.');
      const one = await ask({ action: 'suspend', id: ids[2]! });
      assert.match(one, /<h1>Suspend Crew 02\?<\/h1>/);
      assert.equal(noticeOf(await visitor.act('/users/bulk', answerTo(one))), 'Crew 02 is suspended.');
      const deletion = await ask({ action: 'delete', ids: `${ids[28]} ${ids[29]}` });
      await visitor.tenant.make('DELETE', `/users/${ids[29]}`);
      const again = await ask(answerTo(deletion));
      assert.match(again, /<h1>Delete Crew 28\?<\/h1>/);
      assert.equal(noticeOf(await visitor.act('/users/bulk', answerTo(again))), 'Crew 28 is deleted.');
    });

    it('a group takes many; who is in it already stays', async () => {
      const group = String((await visitor.tenant.make('POST', '/groups', { display_name: 'Deck' }))['id']);
      await visitor.tenant.make('POST', `/groups/${group}/members`, { user_id: ids[3] });
      const question = await ask({ action: 'group', group, ids: `${ids[3]} ${ids[4]}` });
      assert.equal(noticeOf(await visitor.act('/users/bulk', answerTo(question))), '2 people are in the group.');
      const { items } = await visitor.tenant.make<{ items: readonly unknown[] }>('GET', `/groups/${group}/members`);
      assert.equal(items.length, 2);
    });

    it('invitations are mailed', async () => {
      const question = await ask({ action: 'invite', id: ids[5]! });
      assert.equal(noticeOf(await visitor.act('/users/bulk', answerTo(question))), 'Crew 05 is invited.');
      const { items } = await visitor.tenant.make<{ items: readonly Json[] }>('GET', `/users/${ids[5]}/invitations`);
      assert.equal(items[0]?.['mailed_to'], 'member5@crew.example');
    });

    it('whoever does it is left out of what would lock them out', async () => {
      const question = await ask({ action: 'suspend', all: 'yes' });
      assert.match(question, /You are left out\./);
      assert.equal((await visitor.submit('/users/bulk', { action: 'suspend', all: 'yes', search: 'admin@' })).status, 400);
    });

    it('nobody ticked, nothing chosen, no such group: refused, and nothing happens', async () => {
      for (const fields of [
        { action: 'suspend' },
        { action: 'explode', all: 'yes' },
        { all: 'yes' },
        { action: 'group', all: 'yes' },
        { action: 'suspend', ids: 'nobody' },
      ]) {
        const response = await visitor.submit('/users/bulk', fields as never);
        assert.equal(response.status, 400, JSON.stringify(fields));
      }
      const question = await ask({ action: 'group', group: 'none', id: ids[6]! });
      assert.match(
        noticeOf(await visitor.act('/users/bulk', answerTo(question))),
        /^0 people are in the group\.\n1 person could not be, Crew 06 first: /,
      );
    });

    it('CSV holds the filtered list, quoted, and nothing a spreadsheet would run', async () => {
      await createTestUser(visitor.tenant, 'evil@csv.example', { display_name: '=HYPERLINK("http://evil.example","x"),"quoted"' });
      const response = await visitor.page('/users/export?search=csv.example');
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8');
      assert.equal(response.headers.get('content-disposition'), 'attachment; filename="people.csv"');
      const lines = (await response.text()).trimEnd().split('\r\n');
      assert.equal(lines.length, 2);
      const [head, row] = lines;
      for (const column of ['id', 'user_name', 'display_name', 'emails', 'state', 'role'])
        assert.ok(head?.split(',').includes(column), column);
      assert.ok(row?.includes(`"'=HYPERLINK(""http://evil.example"",""x""),""quoted"""`), row);
      const groups = await (await visitor.page('/groups/export')).text();
      assert.match(groups, /Deck/);
      assert.equal((await visitor.page('/tenants/export')).status, 404);
    });
  });
}
