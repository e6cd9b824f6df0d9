// One owner remains however many requests take owners away at the same moment: each of two owners is demoted, suspended or deleted by
// parallel requests, and exactly one active owner is left.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Json } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const ways: readonly ((id: string) => readonly [method: string, path: string, body?: Json])[] = [
  (id: string) => ['PUT', `/users/${id}/roles`, { roles: [] }],
  (id: string) => ['PATCH', `/users/${id}`, { role: 'user' }],
  (id: string) => ['POST', `/users/${id}/suspend`],
  (id: string) => ['DELETE', `/users/${id}`],
];

for (const database of databases)
  describe(`the last owner on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    it('parallel requests leave one', async () => {
      for (let round = 0; round < 8; round += 1) {
        const tenant = await createTestTenant(server);
        const owners = await Promise.all([0, 1, 2].map((at) => createTestUser(tenant, `owner${at}@x.example`, { admin_roles: ['owner'] })));
        const answers = await Promise.all(
          owners.map(({ id }, at) => {
            const [method, path, body] = ways[(round + at) % ways.length]!(id);
            return tenant.call(method, path, body);
          }),
        );
        const refused = answers.filter(({ status }) => status === 409);
        assert.deepEqual([answers.filter(({ ok }) => ok).length, refused.length], [2, 1], answers.map(({ status }) => status).join(' '));
        const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/administrators?role=owner');
        assert.deepEqual(items.filter(({ state }) => state === 'active').length, 1);
      }
    });

    it('a role that is deleted while it is given is held by nobody, or stays', async () => {
      const tenant = await createTestTenant(server);
      const { id } = await createTestUser(tenant, 'given@x.example');
      for (let round = 0; round < 8; round += 1) {
        await tenant.make('POST', '/roles', { name: `raced-${round}`, capabilities: ['users:read'] });
        const [given, deleted] = await Promise.all([
          tenant.call('PUT', `/users/${id}/roles`, { roles: [`raced-${round}`] }),
          tenant.call('DELETE', `/roles/raced-${round}`),
        ]);
        const { roles } = await tenant.make<{ roles: readonly string[] }>('GET', `/users/${id}/roles`);
        assert.equal(given.ok, !deleted.ok, `${given.status} ${deleted.status}`);
        assert.equal(roles.includes(`raced-${round}`), given.ok);
      }
    });
  });
