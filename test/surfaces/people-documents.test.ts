// What a document changes of a person who is there is told as when anybody else does it: receivers of security events, webhooks and connectors
// know a suspension, a role and a membership by events of their own (design 16).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { runConnectors } from '../support/connectors.ts';
import { databases } from '../support/databases.ts';
import { type LaxScimService, startLaxScimService } from '../support/lax-scim-service.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

for (const database of databases)
  describe(`people in documents on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database, { flags: loopbackAllowed });
      tenant = await createTestTenant(server);
    });
    after(() => server?.close());

    const apply = (...lines: readonly string[]) =>
      applyDocument(server.gatehouse.services, tenant.slug, ['gatehouse: 1', 'users:', ...lines]);
    const person = (name: string, ...more: readonly string[]): readonly string[] => [
      `  - user_name: ${name}`,
      `    emails: [{ value: ${name}, primary: true }]`,
      ...more.map((line) => `    ${line}`),
    ];
    const eventsOf = async (target: string): Promise<readonly (readonly unknown[])[]> => {
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/events?target=${target}&limit=100`);
      return items.map(({ type, data }) => [type, data]).toReversed();
    };

    it('a suspension, an activation, roles and memberships are events of their own', async () => {
      const { id } = await createTestUser(tenant, 'ada@example.com');
      const { id: staff } = await tenant.make('POST', '/groups', { display_name: 'Staff' });
      const { id: owners } = await tenant.make('POST', '/groups', { display_name: 'Owners' });
      const from = (await eventsOf(`user:${id}`)).length;
      await apply(...person('ada@example.com', 'state: suspended', 'groups: [Staff, Owners]'));
      await apply(...person('ada@example.com', 'groups: [Staff]', 'admin_roles: [auditor]'));
      const told = (await eventsOf(`user:${id}`)).slice(from).filter(([type]) => type !== 'user.updated');
      assert.deepEqual(told, [
        ['user.suspended', null],
        ['user.roles_changed', { roles: ['auditor'], before: [] }],
        ['user.activated', null],
      ]);
      assert.deepEqual((await eventsOf(`group:${staff}`)).slice(1), [['group.member_added', { user: id }]]);
      assert.deepEqual((await eventsOf(`group:${owners}`)).slice(1), [
        ['group.member_added', { user: id }],
        ['group.member_removed', { user: id }],
      ]);
    });

    it('a connector takes out of its group there whom a document took out here', async () => {
      const target: LaxScimService = await startLaxScimService();
      after(() => target.close());
      await apply(...person('eve@example.com'));
      await tenant.make('POST', '/groups', { display_name: 'Vault' });
      await apply(...person('eve@example.com', 'groups: [Vault]'));
      const auth = { type: 'bearer', token: 'x' };
      await tenant.make('POST', '/connectors', { name: 'There', base_url: target.url, auth, users: 'all', groups: ['Vault'], rate: 200 });
      await runConnectors(server);
      const members = (): unknown => [...target.groups.values()].map((group) => (group['members'] as readonly Json[]).length);
      assert.deepEqual(members(), [1]);
      await apply(...person('eve@example.com', 'groups: []'));
      await runConnectors(server);
      assert.deepEqual(members(), [0]);
    });

    it('a hundred people come into fifty groups each, leave them, and come again', async () => {
      const { slug } = await createTestTenant(server);
      const names = Array.from({ length: 50 }, (_, at) => `Group ${at}`);
      const document = (groups: readonly string[]): readonly string[] => [
        ...['gatehouse: 1', 'groups:', ...names.map((name) => `  - display_name: ${name}`), 'users:'],
        ...Array.from({ length: 100 }, (_, at) => person(`p${at}@example.com`, `groups: [${groups.join(', ')}]`)).flat(),
      ];
      for (const groups of [names, [], names]) await applyDocument(server.gatehouse.services, slug, document(groups));
    });
  });
