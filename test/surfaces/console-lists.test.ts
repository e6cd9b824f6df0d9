// Lists of the console (design 23, 5): sorted by what has an order, chosen by what people are, so many on a page; all of it in the address,
// kept from page to page and by the export.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestUser, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`lists of the console on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const created = await createConsoleTenant(server);
      tenant = created.tenant;
      ({ visitor } = await openConsole(server, tenant, created.email));
      for (let index = 0; index < 30; index += 1)
        await createTestUser(tenant, `crew${String(29 - index).padStart(2, '0')}@list.example`, {
          display_name: `Crew ${String(index).padStart(2, '0')}`,
        });
    });
    after(() => server.close());

    const show = async (path: string): Promise<string> => {
      const response = await visitor.page(path);
      assert.equal(response.status, 200, path);
      return response.text();
    };
    const named = (page: string): readonly string[] =>
      [...page.matchAll(/class="strong" href="[^"]*">(Crew \d\d)</g)].map(([, name]) => name!);
    /** The address of a link, below the console. */
    const linkIn = (page: string, pattern: RegExp): string =>
      (pattern.exec(page)?.[1] ?? assert.fail(String(pattern))).replaceAll('&#38;', '&').replace(/^.*\/console/, '');

    it('heads sort, one way and the other, and say so', async () => {
      const first = await show('/users?search=crew');
      assert.equal(named(first)[0], 'Crew 00');
      const byUserName = await show(linkIn(first, /<th scope="col"><a href="([^"]*)">User name</));
      assert.match(byUserName, /<th scope="col" aria-sort="ascending"><a href="[^"]*">User name</);
      assert.equal(named(byUserName)[0], 'Crew 29');
      const back = await show(linkIn(byUserName, /aria-sort="ascending"><a href="([^"]*)">User name</));
      assert.match(back, /aria-sort="descending"/);
      assert.equal(named(back)[0], 'Crew 00');
      assert.match(back, /name="search" value="crew"/);
      const next = await show(linkIn(back, /id="next" href="([^"]*)"/));
      assert.match(next, /aria-sort="descending"/);
      assert.equal(named(next)[0], 'Crew 25');
      assert.doesNotMatch(first, /<a href="[^"]*">State</, 'without an index');
    });

    it('so many on a page as the address says, of those there are', async () => {
      const page = await show('/users?search=crew&size=50&sort=-created_at');
      assert.equal(named(page).length, 30);
      assert.equal(named(page)[0], 'Crew 29');
      for (const size of ['7', '-1', 'x', '1000']) assert.equal(named(await show(`/users?search=crew&size=${size}`)).length, 25, size);
      const unknown = await show('/users?search=crew&sort=password&size=50');
      assert.deepEqual(named(unknown), named(unknown).toSorted());
    });

    it('people are chosen by group, role, origin, invitation and sign-in; the export has those', async () => {
      const group = String((await tenant.make('POST', '/groups', { display_name: 'Bridge' }))['id']);
      const { items } = await tenant.make<{ items: readonly { id: string }[] }>('GET', '/users?sort=name&contains=crew%2007');
      await tenant.make('POST', `/groups/${group}/members`, { user_id: items[0]!.id });
      const page = await show(`/users?group=${group}`);
      assert.deepEqual(named(page), ['Crew 07']);
      assert.match(page, /<details class="more" open>/);
      assert.match(page, new RegExp(`<option value="${group}" selected>Bridge<`));
      assert.match(page, /id="total">1 person</);
      assert.equal((await (await visitor.page(`/users/export?group=${group}`)).text()).trimEnd().split('\r\n').length, 2);
      assert.match(await show('/users?origin=scim'), /Nothing found/);
      assert.match(await show('/users?invited=open'), /Nothing found/);
      assert.match(await show('/users?role=admin'), /id="total">1 person</);
      assert.match(await show('/users?not_signed_in_since=2020-01-01&search=crew'), /id="total">30 people</);
      assert.match(await show('/users?signed_in_since=2020-01-01&search=crew'), /Nothing found/);
      assert.equal((await visitor.page('/users?origin=nowhere')).status, 400);
    });

    it('what hangs on more than twenty is deleted for a typed word', async () => {
      const group = String((await tenant.make('POST', '/groups', { display_name: 'Many' }))['id']);
      const { items } = await tenant.make<{ items: readonly { id: string }[] }>('GET', '/users?sort=name&contains=crew');
      const add = (user: { id: string }): Promise<unknown> => tenant.make('POST', `/groups/${group}/members`, { user_id: user.id });
      for (const user of items.slice(0, 20)) await add(user);
      assert.doesNotMatch(await (await visitor.submit(`/groups/${group}/delete`, {})).text(), /id="typed"/);
      await add(items[20]!);
      assert.match(await (await visitor.submit(`/groups/${group}/delete`, {})).text(), /Type <code>delete<\/code> to confirm/);
      assert.match(await (await visitor.submit(`/groups/${group}/delete`, { sure: 'yes', typed: 'no' })).text(), /That is not delete/);
      assert.match(await visitor.act(`/groups/${group}/delete`, { sure: 'yes', typed: 'delete' }), /Many was deleted/);
    });

    it('lists of a few things sort too', async () => {
      for (const name of ['Beta', 'Alpha']) await tenant.make('POST', '/groups', { display_name: name });
      const order = (page: string): boolean => page.indexOf('>Alpha<') < page.indexOf('>Beta<');
      assert.equal(order((await show('/groups?sort=name')).replace(/<select.*?<\/select>/gs, '')), true);
      assert.equal(order((await show('/groups?sort=-name')).replace(/<select.*?<\/select>/gs, '')), false);
      assert.match(await show('/groups?sort=-created_at'), /aria-sort="descending"><a href="[^"]*">Made</);
    });
  });
}
