// Hooks for some clients, in documents: an export leaves those out that have gone, and another tenant takes it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { openSession } from '../../src/administration/declaration/reconcile.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`hooks for some clients in documents, on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server?.close());

    const exported = async ({ slug }: Managed): Promise<string> => {
      const { services } = server.gatehouse;
      const session = await openSession(services, (await services.tenants.bySlug(slug))!, { actor: 'operator' });
      let text = '';
      for await (const part of exportDocument(session, { withSecrets: false, asJson: true })) text += part;
      return text;
    };
    const namedIn = async (tenant: Managed): Promise<unknown> =>
      (await tenant.make<{ items: readonly Json[] }>('GET', '/hooks')).items[0]?.['clients'];

    it('one that has gone is left out while another remains; where none does, no hook for a few becomes one for all', async () => {
      const tenant = await createTestTenant(server);
      const makeClient = async (name: string): Promise<unknown> => (await tenant.make('POST', '/clients', { name }))['client_id'];
      const [kept, gone] = [await makeClient('Kept'), await makeClient('Gone')];
      const entityId = 'https://sp.example';
      const acs = [{ url: `${entityId}/acs` }];
      const { id: provider } = await tenant.make('POST', '/service-providers', { entity_id: entityId, acs });
      const clients = [gone, kept, entityId];
      await tenant.make('POST', '/hooks', { point: 'token', url: 'https://hooks.example', on_failure: 'refuse', clients });
      await tenant.make('DELETE', `/clients/${gone}`);

      const other = await createTestTenant(server);
      await applyDocument(server.gatehouse.services, other.slug, [await exported(tenant)]);
      assert.deepEqual(await namedIn(other), [kept, entityId]);
      assert.deepEqual(await namedIn(tenant), clients, 'an export changes nothing');

      await tenant.make('DELETE', `/clients/${kept}`);
      await tenant.make('DELETE', `/service-providers/${provider}`);
      const none = await exported(tenant);
      assert.deepEqual((JSON.parse(none) as { hooks: readonly Json[] }).hooks[0]!['clients'], clients);
      const third = await createTestTenant(server);
      await assert.rejects(applyDocument(server.gatehouse.services, third.slug, [none]), /hooks\[0\]\.clients\[0\]/);
      assert.equal(await namedIn(third), undefined);
    });
  });
}
