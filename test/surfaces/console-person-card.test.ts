// A person as a card (design 23, 2): how they stand in words, ways in, groups, roles, applications, the last tries, and the actions at the top.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createClient } from '../support/fixtures.ts';
import { beginLogin, signInByPin } from '../support/login.ts';
import { createTestUser, type Managed } from '../support/management.ts';
import { exchange, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`the card of a person on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const created = await createConsoleTenant(server);
      managed = created.tenant;
      ({ visitor } = await openConsole(server, managed, created.email));
    });
    after(() => server.close());

    const show = async (path: string, by = visitor): Promise<string> => {
      const response = await by.page(path);
      const page = await response.text();
      assert.equal(response.status, 200, path);
      return page;
    };
    const wordsOf = (page: string): string =>
      (/<main.*<\/main>/s.exec(page)?.[0] ?? '').replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

    it('says the state in words: no sign-in yet, invited, signed in, suspended, and that a directory may bring them back', async () => {
      const { id } = await createTestUser(managed, 'states@x.example');
      assert.match(wordsOf(await show(`/users/${id}`)), /active May sign in\. No sign-in is known yet\./);
      await managed.make('POST', `/users/${id}/invitations`, { mail: false });
      assert.match(wordsOf(await show(`/users/${id}`)), /invited Invited \d{4}-\d\d-\d\d \d\d:\d\d UTC , and has not come yet\./);
      await managed.make('POST', `/users/${id}/suspend`);
      const page = await show(`/users/${id}`);
      assert.match(wordsOf(page), /suspended They cannot sign in\. Activate/);
      assert.ok(page.includes('id="act-activate"') && !page.includes('id="invite-again"'));
      const scim = await fetch(`${managed.baseUrl}/scim/v2/Users`, {
        method: 'POST',
        headers: { authorization: `Bearer ${managed.token}`, 'content-type': 'application/scim+json' },
        body: JSON.stringify({
          schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
          userName: 'directory@x.example',
          emails: [{ value: 'directory@x.example', primary: true }],
        }),
      });
      const { id: fromDirectory } = (await scim.json()) as { id: string };
      assert.match(wordsOf(await show(`/users/${fromDirectory}/edit`)), /From a directory, which may change what you change here/);
      const asked = await (await visitor.submit(`/users/${fromDirectory}/suspend`, {})).text();
      assert.match(asked, /comes from a directory, which may bring them back/);
      await managed.make('POST', `/users/${fromDirectory}/suspend`);
      assert.match(
        wordsOf(await show(`/users/${fromDirectory}`)),
        /They cannot sign in\. They come from a directory, which may bring them back\./,
      );
    });

    it('shows groups, roles, applications and the last tries; the form is behind Edit', async () => {
      const { id } = await createTestUser(managed, 'grace@x.example', { display_name: 'Grace Hopper' });
      for (const name of ['Writers', 'Compilers']) {
        const group = await managed.make('POST', '/groups', { display_name: name });
        await managed.make('POST', `/groups/${String(group['id'])}/members`, { user_id: id });
      }
      await managed.make('PUT', `/users/${id}/roles`, { roles: ['support'] });
      const tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      const client = await createClient(server.gatehouse.services, tenant, { name: 'Payroll' });
      const callback = await signInByPin(server, await beginLogin(server, tenant, client), 'grace@x.example');
      await tokensOf(await exchange(tenant, client, callback.searchParams.get('code')!));
      const page = await show(`/users/${id}`);
      const words = wordsOf(page);
      assert.match(words, /active Last signed in/);
      assert.match(words, /Mailed codes grace@x\.example Passkeys none Phones none Other providers none/);
      assert.match(words, /Groups Compilers , Writers Roles support From made here/);
      assert.match(words, /Signed in to Applications Payroll/);
      assert.match(words, /Last sign-ins .*Grace Hopper Payroll signed in/);
      for (const action of ['invite-again', 'recover', 'end-sessions', 'act-suspend']) assert.ok(page.includes(`id="${action}"`), action);
      assert.ok(!page.includes('name="user_name"') && page.includes(`/console/users/${id}/edit">Edit</a>`));
      const edit = await show(`/users/${id}/edit`);
      assert.ok(edit.includes('name="user_name"') && edit.includes('id="delete"') && !edit.includes('name="role"'));
    });

    it('leaves out what the reader may not see or do', async () => {
      const { id } = await createTestUser(managed, 'seen@x.example');
      const { id: reader } = await createTestUser(managed, 'reads@x.example');
      await managed.make('POST', '/roles', { name: 'reader', capabilities: ['users:read'] });
      await managed.make('PUT', `/users/${reader}/roles`, { roles: ['reader'] });
      const { visitor: other } = await openConsole(server, managed, 'reads@x.example');
      const page = await show(`/users/${id}`, other);
      for (const shown of [
        'Last sign-ins',
        'id="act-suspend"',
        'id="recover"',
        'id="end-sessions"',
        '<dt>Groups',
        '<dt>Roles',
        '<dt>Passkeys',
        '<dt>Phones',
      ])
        assert.ok(!page.includes(shown), shown);
      assert.ok(page.includes('Details</a>'));
    });

    it('GET /users/{id}/groups is of this tenant alone', async () => {
      const other = await createConsoleTenant(server);
      const { id } = await createTestUser(managed, 'alone@x.example');
      assert.deepEqual(await managed.make('GET', `/users/${id}/groups`), { items: [] });
      await assertRefusal(await other.tenant.call('GET', `/users/${id}/groups`), 'management.not_found');
    });
  });
