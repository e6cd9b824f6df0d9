// Administrators in the console (design 13, 4): who holds roles, a new one by mail or link, the roles of a person, roles of the tenant's
// own; and that the console leaves out what somebody may not.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { textOf } from '../support/account.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import type { Json, Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

for (const database of databases)
  describe(`administrators in the console on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let owner: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const made = await createConsoleTenant(server, { role: 'user', admin_roles: ['owner'] });
      tenant = made.tenant;
      owner = (await openConsole(server, tenant, made.email)).visitor;
    });
    after(() => server.close());

    const personOf = async (email: string): Promise<Json> => {
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/users?search=${email}`);
      return items[0]!;
    };
    const rolesOf = async (email: string): Promise<unknown> =>
      (await tenant.make('GET', `/users/${(await personOf(email))['id']}/roles`))['roles'];
    const signIn = async (email: string, roles: readonly string[]): Promise<AppVisitor> => {
      await tenant.make('POST', '/users', { user_name: email, emails: [{ value: email, primary: true }], admin_roles: roles });
      return (await openConsole(server, tenant, email)).visitor;
    };

    it('an administrator is added by a link to copy and by mail; somebody who is there keeps their roles', async () => {
      assert.match(await textOf(await owner.page('/administrators'), 200), /Add administrator[\s\S]*admin@[\s\S]*owner/);
      assert.match(await textOf(await owner.page('/administrators/new'), 200), /Invite by mail[\s\S]*Make a link to copy/);
      const made = await owner.submit('/administrators', { email: 'new@x.example', role: 'auditor', by: 'link' });
      assert.equal(made.status, 303);
      const shown = await textOf(await owner.page(`/users/${(await personOf('new@x.example'))['id']}/invitations`), 200);
      assert.match(shown, /id="invitation-link">[^<]*\/welcome#/);
      assert.deepEqual(await rolesOf('new@x.example'), ['auditor']);
      assert.equal((await owner.submit('/administrators', { email: 'NEW@x.example', role: 'support', by: 'mail' })).status, 303);
      assert.deepEqual(await rolesOf('new@x.example'), ['auditor', 'support']);
      const refused = await textOf(await owner.submit('/administrators', { email: xssCorpus[0]!, by: 'link' }), 400);
      assert.match(refused, /Tick a role/);
      assertEscaped(refused, xssCorpus[0]!);
    });

    it('the roles of a person are ticked; what the API refuses is told', async () => {
      const person = await personOf('new@x.example');
      const path = `/users/${person['id']}/roles`;
      assert.match(await textOf(await owner.page(path), 200), /value="auditor" checked/);
      assert.equal((await owner.submit(path, { role: 'admin' })).status, 303);
      assert.deepEqual(await rolesOf('new@x.example'), ['admin']);
      const own = `/users/${(await personOf('admin@'))['id']}/roles`;
      assert.match(await textOf(await owner.submit(own, { role: 'support' }), 400), /One owner must remain/);
    });

    it('roles of the tenant are made, changed and deleted; those of every tenant are shown', async () => {
      const list = await textOf(await owner.page('/roles'), 200);
      assert.match(list, /owner[\s\S]*support[\s\S]*every tenant/);
      const builtIn = await textOf(await owner.page('/roles/support'), 200);
      assert.ok(builtIn.includes('users:write') && !builtIn.includes('id="save"') && !builtIn.includes('id="delete"'));
      assert.equal((await owner.submit('/roles', { name: 'help-desk', description: 'Phones', capabilities: 'users:read' })).status, 303);
      assert.match(await textOf(await owner.page('/roles?search=phon'), 200), /help-desk/);
      assert.equal((await owner.submit('/roles/help-desk', { description: 'Phones', capabilities: 'groups:read' })).status, 303);
      assert.deepEqual((await tenant.make('GET', '/roles/help-desk'))['capabilities'], ['groups:read']);
      assert.equal((await owner.submit('/roles/help-desk/delete', { sure: 'yes' })).status, 303);
      assert.equal((await tenant.call('GET', '/roles/help-desk')).status, 404);
    });

    it('the console leaves out what somebody may not: pages of the navigation, and buttons', async () => {
      const support = await signIn('support@x.example', ['support']);
      const people = await textOf(await support.page('/users'), 200);
      for (const path of ['/clients', '/users', '/groups', '/events', '/explain']) assert.ok(people.includes(`/console${path}"`), path);
      for (const path of ['/settings', '/signing-keys', '/administrators', '/resources', '/service-providers'])
        assert.ok(!people.includes(`/console${path}"`), path);
      assert.ok(people.includes('id="new"'));
      assert.ok(!(await textOf(await support.page('/clients'), 200)).includes('id="new"'));
      const auditor = await signIn('auditor@x.example', ['auditor']);
      const settings = await textOf(await auditor.page('/administrators'), 200);
      assert.ok(settings.includes('/console/signing-keys"') && !settings.includes('Add administrator'));
      const detail = await textOf(await auditor.page(`/users/${(await personOf('new@x.example'))['id']}`), 200);
      assert.ok(!detail.includes('id="save"') && !detail.includes('id="delete"'));
      const refused = await auditor.submit('/administrators', { email: 'evil@x.example', role: 'owner', by: 'link' });
      assert.match(await textOf(refused, 400), /lacks the capability/);
    });
  });
