// Where things are in the console (design 13, section 2): the groups and pages of the navigation, what is marked, and the way back from
// pages below. Nothing leads to a page that is not there.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { capabilities } from '../../src/domain/people/capabilities.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { fillTenant } from '../support/console-pages.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestUser } from '../support/management.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const menuOf = (page: string): string => /<nav id="menu".*?<\/nav>/s.exec(page)?.[0] ?? '';
const linksOf = (markup: string): readonly (readonly [path: string, name: string])[] =>
  [...markup.matchAll(/<a href="([^"]+)"[^>]*>(?:<svg.*?<\/svg>)?([^<]+)<\/a>/g)].map(([, path, name]) => [path!, name!] as const);

for (const database of databases) {
  describe(`console navigation on ${database}`, () => {
    let server: TestServer;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const { tenant, email } = await createConsoleTenant(server);
      ({ visitor } = await openConsole(server, tenant, email));
    });
    after(() => server.close());
    const show = async (path: string): Promise<string> => (await visitor.page(path)).text();

    it('every link of the navigation leads to a page that marks it', async () => {
      const links = linksOf(menuOf(await show('')));
      const names = links.map(([, name]) => name);
      for (const name of ['Overview', 'Applications', 'SAML applications', 'APIs', 'People', 'Groups', 'Directories', 'Events', 'Explain'])
        assert.ok(names.includes(name), name);
      assert.ok(!names.includes('Tenants'));
      for (const [path, name] of links) {
        const response = await visitor.page(path.replace(/^.*\/console/, ''));
        assert.equal(response.status, 200, path);
        const marked = linksOf(menuOf(await response.text()).replace(/<a (?![^>]*aria-current="page")[^>]*>.*?<\/a>/gs, ''));
        assert.deepEqual(marked, [[path, name]]);
      }
    });

    it('whoever may read one thing alone comes in, and whatever the menu names opens', async () => {
      const often = { limit: 1000, period_seconds: 60 };
      await visitor.tenant.make('PATCH', '/settings', { rate_limits: { login_starts_per_ip: often, pin_attempts_per_ip: often } });
      const closed: string[] = [];
      for (const capability of capabilities.filter((one) => /^(?!tenants)[a-z-]+:(read|recover)$/.test(one))) {
        const name = capability.replace(':', '-');
        const email = `${name}@people.example`;
        await visitor.tenant.make('POST', '/roles', { name, capabilities: [capability] });
        const { id } = await createTestUser(visitor.tenant, email);
        await visitor.tenant.make('PUT', `/users/${id}/roles`, { roles: [name] });
        const { visitor: alone, first } = await openConsole(server, visitor.tenant, email);
        assert.equal(first.status, 200, capability);
        for (const [path] of linksOf(menuOf(first.text))) {
          const { status } = await alone.page(path.replace(/^.*\/console/, ''));
          if (status !== 200) closed.push(`${status} ${path.replace(/^.*\/console/, '')} with ${capability}`);
        }
      }
      assert.deepEqual(closed, []);
    });

    it('groups are headed and name their lists', async () => {
      const menu = menuOf(await show(''));
      for (const group of ['Applications', 'People', 'Sign-in', 'Activity', 'Settings']) {
        const id = `group-${group.toLowerCase()}`;
        assert.match(menu, new RegExp(`id="${id}">${group}</p><ul aria-labelledby="${id}">`));
      }
    });

    it('a page below another leads back to it, and marks it', async () => {
      const ids = await fillTenant(server, visitor.tenant, 'Somebody');
      const base = `${new URL(visitor.tenant.baseUrl).pathname}/console`;
      for (const [path, parent, name] of [
        [`/users/${ids.user}/devices`, '/users', 'People'],
        [`/clients/${ids.client}`, '/clients', 'Applications'],
        ['/service-providers/import', '/service-providers', 'SAML applications'],
        ['/initial-access-tokens', '/clients', 'Applications'],
      ] as const) {
        const page = await show(path);
        assert.deepEqual(
          linksOf(/<nav class="crumbs".*?<\/nav>/s.exec(page)?.[0] ?? ''),
          [
            [base, 'Overview'],
            [`${base}${parent}`, name],
          ],
          path,
        );
        assert.match(menuOf(page), new RegExp(`href="${base}${parent}" aria-current="true"`), path);
      }
      assert.doesNotMatch(await show('/users'), /class="crumbs"/);
    });

    it('the menu of phones is a link to the navigation, without script; documents are one link away', async () => {
      const page = await show('');
      assert.match(page, /<a class="button quiet menu" href="#menu">Menu<\/a>/);
      assert.match(page, /href="#content">Close menu</);
      assert.match(page, /href="\/docs">Docs</);
      assert.equal((await fetch(`${server.url}/docs`)).status, 200);
    });

    it('cells carry the name of their column, for rows shown as cards', async () => {
      assert.match(await show('/users'), /<td data-label="Email">/);
    });

    it('operators see their tenants', async () => {
      const root = await manageRootTenant(server);
      await root.make('PATCH', '/settings', { login_methods: ['email_pin'] });
      await createTestUser(root, 'operator@main.example', { role: 'admin' });
      const { first } = await openConsole(server, root, 'operator@main.example');
      assert.deepEqual(linksOf(menuOf(first.text)).at(-1)?.[1], 'Tenants');
    });
  });
}
