// The clients that our own pages are: everybody may look at them, nobody changes them, whatever they hold.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, jsonOf, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`clients of our own pages on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
      for (const page of ['console', 'account'])
        assert.equal((await fetch(`${tenant.baseUrl}/${page}`, { redirect: 'manual' })).status, 303);
    });
    after(() => server?.close());

    it('they are shown; change, deletion, a secret and assignments are refused to whoever holds every capability', async () => {
      const user = await createTestUser(tenant, 'ann@example.com');
      for (const id of ['gatehouse-console', 'gatehouse-account']) {
        const shown = await tenant.make('GET', `/clients/${id}`);
        const writes: readonly (readonly [string, string, unknown?])[] = [
          ['PATCH', '', { require_par: true }],
          ['PATCH', '', { access_policy: 'assigned' }],
          ['PATCH', '', { grant_types: ['authorization_code'] }],
          ['PATCH', '', { require_consent: true }],
          ['PATCH', '', {}],
          ['DELETE', ''],
          ['POST', '/secret'],
          ['POST', '/assignments', { user_id: user.id }],
          ['DELETE', '/assignments/00000000-0000-7000-8000-000000000000'],
        ];
        for (const [method, path, body] of writes)
          await assertRefusal(await tenant.call(method, `/clients/${id}${path}`, body), 'management.forbidden', {
            text: `The client ${id} is Gatehouse’s own: it is shown, never changed or deleted.`,
          });
        assert.deepEqual(await tenant.make('GET', `/clients/${id}`), shown);
        assert.deepEqual((await jsonOf(await tenant.call('GET', `/clients/${id}/assignments`), 200))['items'], []);
      }
    });

    it('one that an earlier release let somebody change is put right by the next visit', async () => {
      await server.gatehouse.services.database.write(tenant.id as never, (queries) =>
        queries
          .updateTable('clients')
          .set({ access_policy: 'assigned', require_par: 1 })
          .where('client_id', '=', 'gatehouse-account' as never)
          .execute(),
      );
      const { cache } = server.gatehouse.services;
      cache.forget(tenant.id as never);
      const visit = await fetch(`${tenant.baseUrl}/account`, { redirect: 'manual' });
      assert.equal(visit.status, 303);
      const healed = await tenant.make('GET', '/clients/gatehouse-account');
      assert.deepEqual([healed['access_policy'], healed['require_par']], ['everyone', false]);
    });

    it('other clients are changed, assigned and deleted as ever', async () => {
      const user = await createTestUser(tenant, 'ben@example.com');
      const { client_id: id } = await tenant.make('POST', '/clients', { name: 'Shop' });
      await tenant.make('PATCH', `/clients/${id}`, { require_par: true });
      await tenant.make('POST', `/clients/${id}/assignments`, { user_id: user.id });
      await tenant.make('DELETE', `/clients/${id}`);
    });
  });
}
