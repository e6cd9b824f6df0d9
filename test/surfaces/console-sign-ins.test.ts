// Find a sign-in in the console (design 23, 1): the reason of each try in words, by a part of a name, and on the page of the person.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createClient, type TestClient } from '../support/fixtures.ts';
import { beginLogin, signInByPin } from '../support/login.ts';
import { createTestUser, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`find a sign-in on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    let client: TestClient;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      const created = await createConsoleTenant(server);
      managed = created.tenant;
      ({ visitor } = await openConsole(server, managed, created.email));
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      client = await createClient(server.gatehouse.services, tenant, { name: 'Payroll' });
    });
    after(() => server.close());

    const show = async (path: string): Promise<string> => {
      const response = await visitor.page(path);
      const text = await response.text();
      assert.equal(response.status, 200, path);
      return text;
    };
    /** The page's table, as text. */
    const tableOf = (page: string): string =>
      (/<tbody>(.*)<\/tbody>/s.exec(page)?.[1] ?? '').replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
    const identify = async (name: string): Promise<string> => {
      const answer = await (await beginLogin(server, tenant, client)).post('identify', { identifier: name });
      assert.equal(answer.status, 200);
      return answer.headers.get('x-request-id')!;
    };

    it('by a part of a name: the person, else what was typed, with the reason and what to do', async () => {
      const { id } = await createTestUser(managed, 'sam@x.example', { display_name: 'Samantha Lee' });
      await managed.make('POST', `/users/${id}/suspend`);
      await identify('sam@x.example');
      const requestId = await identify('samanhta@x.example');
      const found = tableOf(await show('/sign-ins?name=samantha'));
      assert.match(
        found,
        /Samantha Lee Payroll not signed in A code was asked for, and none was mailed: This person is suspended\. Activate the person/,
      );
      assert.ok(!found.includes('samanhta'), found);
      assert.match(
        tableOf(await show('/sign-ins?name=samanhta')),
        /“samanhta@x\.example” Payroll not signed in .*No person has this name or email\. Look for a typing error/,
      );
      const tab = await show(`/users/${id}/sign-ins`);
      assert.match(tableOf(tab), /This person is suspended/);
      assert.ok(tab.includes('aria-current="page">Sign-ins</a>'));
      assert.match(
        (await show(`/explain?request_id=${requestId}`)).replaceAll(/<[^>]+>/g, ''),
        /The sign-in it belongs to.*No person has this name or email/,
      );
      assert.match(tableOf(await show(`/sign-ins?id=${requestId}`)), /samanhta/);
    });

    it('asks who is meant where several are, and shows who got in', async () => {
      const made = await Promise.all(
        ['ann', 'anna'].map((name) => createTestUser(managed, `${name}@y.example`, { display_name: `${name} Smith` })),
      );
      await signInByPin(server, await beginLogin(server, tenant, client), 'anna@y.example');
      const choices = await show('/sign-ins?name=smith');
      for (const { id } of made) assert.ok(choices.includes(`/console/sign-ins?user=${id}`));
      assert.match(
        tableOf(await show(`/sign-ins?user=${made[1]!.id}`)),
        /anna Smith Payroll signed in All that happened .*Said who they are\..*Signed in\./,
      );
      assert.match(await show(`/sign-ins?user=${made[0]!.id}`), /No sign-in was found/);
    });

    it('shows ten at once, so that a page of tries with all that happened stays small, and leads to older ones', async () => {
      const { id } = await createTestUser(managed, 'often@v.example', { display_name: 'Olive Often' });
      for (let index = 0; index < 11; index += 1) {
        const login = await beginLogin(server, tenant, client);
        await login.post('identify', { identifier: 'often@v.example' });
        await login.post('pin', { pin: '000000' });
      }
      const rowsOf = (page: string): number => page.split('<summary>All that happened').length - 1;
      const first = await show(`/sign-ins?user=${id}`);
      assert.equal(rowsOf(first), 10);
      const [, older = ''] = /href="[^"]*\/console(\/sign-ins\?[^"]*cursor=[^"]*)"/.exec(first) ?? [];
      assert.equal(rowsOf(await show(older.replaceAll('&#38;', '&'))), 1);
      assert.equal(rowsOf(await show(`/users/${id}/sign-ins`)), 10);
    });

    it('is not shown to whoever may not read events', async () => {
      const support = 'support@z.example';
      const { id } = await createTestUser(managed, support);
      await managed.make('POST', '/roles', { name: 'people-only', capabilities: ['users:read'] });
      await managed.make('PUT', `/users/${id}/roles`, { roles: ['people-only'] });
      const { visitor: other } = await openConsole(server, managed, support);
      const page = await (await other.page('/users')).text();
      assert.ok(!page.includes('/console/sign-ins"'));
      const refused = await (await other.page('/sign-ins?name=sam')).text();
      assert.ok(!refused.includes('samanhta') && !refused.includes('suspended'));
    });
  });
