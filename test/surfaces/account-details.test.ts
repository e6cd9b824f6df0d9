// The account page "Details": people write the attributes whose `edit` is person, their own and no others (design 16, section 1).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createAccountTenant, openAccount, textOf } from '../support/account.ts';
import { databases } from '../support/databases.ts';
import { createTestUser, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`account, details, on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let account: Awaited<ReturnType<typeof openAccount>>;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createAccountTenant(server);
      account = await openAccount(server, tenant);
    });
    after(() => server.close());
    const custom = async (): Promise<unknown> => (await tenant.make<Json>('GET', `/users/${account.person.id}`))['custom'];

    it('without such an attribute there is no such page', async () => {
      await tenant.make('POST', '/custom-attributes', { name: 'salary', type: 'number', edit: 'admin' });
      assert.doesNotMatch(await textOf(await account.visitor.page(''), 200), /\/account\/details/);
      assert.equal((await account.visitor.page('/details')).status, 303);
    });

    it('what people write is stored, audited, shown again; nothing else of theirs can be written', async () => {
      for (const definition of [
        { name: 'motto', label: 'Motto <b>', edit: 'person' },
        { name: 'vegan', type: 'boolean', edit: 'person' },
        { name: 'handle', unique: true, edit: 'person' },
      ])
        await tenant.make('POST', '/custom-attributes', definition);
      await tenant.make('PATCH', `/users/${account.person.id}`, { custom: { salary: 1 } });
      assert.match(await textOf(await account.visitor.page(''), 200), /\/account\/details/);
      const typed = { 'custom.motto': 'On & on', 'custom.vegan': 'true', 'custom.handle': 'ada', 'custom.salary': '1000000' };
      assert.equal((await account.visitor.submit('/details', typed)).status, 303);
      assert.deepEqual(await custom(), { salary: 1, motto: 'On & on', vegan: true, handle: 'ada' });
      const page = await textOf(await account.visitor.page('/details'), 200);
      assert.match(page, /Motto &#60;b>|Motto &lt;b&gt;|Motto &#60;b&#62;/);
      assert.match(page, /value="On &(?:amp|#38); on"/);
      assert.match(page, /<option value="true" selected>Yes<\/option>/);
      assert.doesNotMatch(page, /salary/);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=user.updated');
      const event = items.find(({ actor }) => actor === `user:${account.person.id}`);
      assert.deepEqual((event!['data'] as Json)['fields'], ['custom.handle', 'custom.motto', 'custom.vegan']);
    });

    it('a value that does not fit, or that somebody has, is refused with the page as it was typed; nothing is stored', async () => {
      await createTestUser(tenant, 'eve@example.com', { custom: { handle: 'Eve' } });
      const before = await custom();
      for (const [typed, told] of [
        [{ 'custom.motto': 'x'.repeat(1025) }, /This value does not fit\./],
        [{ 'custom.motto': 'Kept', 'custom.handle': 'EVE' }, /handle: Somebody else has this value\./],
      ] as const) {
        const page = await textOf(await account.visitor.submit('/details', typed), 400);
        assert.match(page, told);
        assert.match(page, new RegExp(`value="${typed['custom.motto']}"`));
        assert.deepEqual(await custom(), before);
      }
    });

    it('in each language', async () => {
      for (const [language, title] of [
        ['de', 'Angaben'],
        ['fr', 'Informations'],
        ['ja', 'プロフィール'],
      ] as const)
        assert.match(
          await textOf(await account.visitor.page('/details', { 'accept-language': language }), 200),
          new RegExp(`<h1[^>]*>${title}`),
        );
    });
  });
}
