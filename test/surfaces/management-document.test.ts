// `POST /document` (design 18, 3): a tenant follows a document by the Management API, as by `gatehouse apply` beside its database. Whoever
// sends one holds every capability: a document may say anything.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { managementBodyBytesMax } from '../../src/contract/limits.ts';
import { capabilitiesOfTenant } from '../../src/domain/people/capabilities.ts';
import { databases } from '../support/databases.ts';
import { clientCredentialsToken, createTestTenant, type Json, type Managed, managedWith } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Followed {
  readonly changes: readonly Json[];
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly unchanged: number;
  readonly conflicts: readonly Json[];
  readonly secrets: readonly { readonly client_id: string; readonly client_secret: string }[];
}

const resource = { identifier: 'https://orders.example', name: 'Orders', scopes: [{ name: 'orders:read' }] };
const client = { client_id: 'portal', name: 'Portal', redirect_uris: ['https://portal.example/callback'] };
const document = { gatehouse: 1, settings: { access_token_lifetime_seconds: 600 }, resources: [resource], clients: [client] };

for (const database of databases)
  describe(`a document by the Management API on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());
    const follow = (tenant: Managed, body: Json): Promise<Followed> => tenant.make<Followed>('POST', '/document', body);

    it('makes the tenant follow; again it changes nothing; a plan writes nothing', async () => {
      const tenant = await createTestTenant(server);
      const planned = await follow(tenant, { document, plan: true });
      assert.deepEqual([planned.created, planned.updated, planned.secrets], [2, 1, []]);
      assert.equal((await tenant.call('GET', '/clients/portal')).status, 404);
      const done = await follow(tenant, { document });
      assert.deepEqual(
        done.changes.map(({ action, noun, title }) => [action, noun, title]),
        [
          ['update', 'settings', tenant.slug],
          ['create', 'resource', resource.identifier],
          ['create', 'client', 'Portal'],
        ],
      );
      assert.deepEqual(
        done.secrets.map(({ client_id: id }) => id),
        ['portal'],
      );
      assert.equal((await tenant.make('GET', '/settings'))['access_token_lifetime_seconds'], 600);
      const again = await follow(tenant, { document });
      assert.deepEqual([again.created, again.updated, again.deleted, again.unchanged, again.secrets], [0, 0, 0, 3, []]);
    });

    it('sections stand in any order; what is not in them goes when asked, and stays otherwise', async () => {
      const tenant = await createTestTenant(server);
      await follow(tenant, { document: { clients: [client], resources: [resource], gatehouse: 1, tenant: 'other' } });
      const fewer = { gatehouse: 1, resources: [{ identifier: 'https://stock.example', name: 'Stock' }] };
      assert.equal((await follow(tenant, { document: fewer })).deleted, 0);
      const pruned = await follow(tenant, { document: fewer, prune: true });
      assert.deepEqual([pruned.deleted, pruned.changes.map(({ title }) => title)], [1, [resource.identifier]]);
      assert.equal((await tenant.call('GET', '/clients/portal')).status, 200);
    });

    it('what is wrong is told with its place, and nothing is written; secrets are not shown', async () => {
      const tenant = await createTestTenant(server);
      const secret = 'too-short-a-secret';
      for (const [wrong, text] of [
        [{}, /^gatehouse: expected 1/],
        [{ gatehouse: 2 }, /^gatehouse: expected 1, the version of the format, found 2/],
        [{ gatehouse: 1, widgets: [] }, /^widgets: expected one of gatehouse, tenant, images/],
        [{ ...document, clients: [client, { ...client, name: 7 }] }, /^clients\[1\]\.name: expected/],
        [{ ...document, clients: [client, client] }, /^clients\[1\]\.client_id: expected an id that is not that of clients\[0\]/],
        [{ ...document, clients: [{ ...client, client_secret: secret }] }, /^clients\[0\]\.client_secret/],
        [{ ...document, clients: 'portal' }, /^clients: expected a list/],
      ] as const) {
        const answer = await tenant.call('POST', '/document', { document: wrong });
        assert.equal(answer.status, 400);
        const { kind, message } = (await answer.json()) as { kind: string; message: string };
        assert.equal(kind, 'document');
        assert.match(message, text);
        assert.ok(!message.includes(secret));
      }
      for (const body of [
        {},
        { document: [] },
        { document: 'gatehouse: 1' },
        { document: null },
        { document, prune: 'yes' },
        { document, more: 1 },
      ])
        assert.equal((await tenant.call('POST', '/document', body)).status, 400, JSON.stringify(body));
      assert.equal((await tenant.call('GET', '/clients/portal')).status, 404);
    });

    it('a name that is in use keeps its item out and is told; everything else is done', async () => {
      const tenant = await createTestTenant(server);
      await tenant.make('POST', '/groups', { display_name: 'Staff' });
      const groups = [{ id: '0199a2b4-5c6d-7e8f-9a0b-1c2d3e4f5a6b', display_name: 'Staff' }, { display_name: 'Others' }];
      const done = await follow(tenant, { document: { gatehouse: 1, groups } });
      assert.deepEqual([done.created, done.conflicts.map(({ path }) => path)], [1, ['groups[0]']]);
    });

    it('whoever lacks one capability of the tenant is refused, whatever the document says; who acted is recorded', async () => {
      const tenant = await createTestTenant(server);
      const all = capabilitiesOfTenant(tenant);
      for (const missing of all) {
        const scope = all.filter((one) => one !== missing).join(' ');
        const token = await clientCredentialsToken(tenant.baseUrl, tenant.adminClientId, tenant.adminClientSecret, scope);
        const answer = await managedWith(token, tenant).call('POST', '/document', { document: { gatehouse: 1 }, plan: true });
        assert.equal(answer.status, 403, missing);
      }
      await follow(tenant, { document });
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=client.created');
      const made = items.find(({ target }) => target === 'client:portal')!;
      assert.match(String(made['actor']), /^client:/);
      assert.ok(made['request_id']);
    });

    it('a body at the limit is taken, one beyond is not', async () => {
      const tenant = await createTestTenant(server);
      const bodyOf = (bytes: number): Json => {
        const empty = JSON.stringify({ document: { gatehouse: 1, tenant: '' } }).length;
        return { document: { gatehouse: 1, tenant: 'x'.repeat(bytes - empty) } };
      };
      assert.equal((await tenant.call('POST', '/document', bodyOf(managementBodyBytesMax))).status, 200);
      assert.equal((await tenant.call('POST', '/document', bodyOf(managementBodyBytesMax + 1))).status, 413);
    });
  });
