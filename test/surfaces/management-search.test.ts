// `search` in the lists of the management API: a part of a name for what a tenant has few of, the start for users and groups;
// pages of a search continue each other; limits at n and n+1.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { nameCharsMax } from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

type Items = readonly Readonly<Record<string, unknown>>[];

for (const database of databases) {
  describe(`search in lists on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
      for (const [index, name] of ['Harbour Analytics', 'Ångström Shop', 'Old harbour', '100% Shop'].entries()) {
        await tenant.make('POST', '/clients', { name, type: 'confidential', token_endpoint_auth_method: 'client_secret_basic' });
        await tenant.make('POST', '/resources', { name, identifier: `https://${index}.api.example` });
        await tenant.make('POST', '/service-providers', {
          name,
          entity_id: `https://${index}.sp.example`,
          acs: [{ url: 'https://sp.example/acs' }],
        });
        await tenant.make('POST', '/groups', { display_name: name });
        await createTestUser(tenant, `${name.replace(/[^a-zA-Z0-9]/g, '.')}@x.example`, { display_name: name });
      }
    });
    after(() => server.close());

    const names = async (path: string, search: string): Promise<readonly string[]> => {
      const { items } = await tenant.make<{ items: Items }>('GET', `${path}?search=${encodeURIComponent(search)}`);
      return items.map((item) => String(item['name'] ?? item['display_name'])).toSorted();
    };

    for (const path of ['/clients', '/resources', '/service-providers'])
      it(`${path}: a part of a name, any case, and nothing is a wildcard`, async () => {
        assert.deepEqual(await names(path, 'HARBOUR'), ['Harbour Analytics', 'Old harbour']);
        assert.deepEqual(await names(path, 'ångström'), ['Ångström Shop']);
        assert.deepEqual(await names(path, '%'), ['100% Shop']);
        assert.deepEqual(await names(path, '_'), []);
        assert.deepEqual(await names(path, 'nowhere'), []);
      });

    for (const path of ['/groups', '/users'])
      it(`${path}: the start of a name, any case`, async () => {
        assert.deepEqual(await names(path, 'harbour'), ['Harbour Analytics']);
        assert.deepEqual(await names(path, 'OLD'), ['Old harbour']);
        assert.deepEqual(await names(path, 'analytics'), []);
      });

    it('identifiers are found too', async () => {
      const { items } = await tenant.make<{ items: Items }>('GET', '/clients?search=Harbour');
      const id = String(items[0]!['client_id']);
      assert.equal((await names('/clients', id)).length, 1);
      assert.ok((await names('/resources', '.api.example')).length === 4);
      assert.ok((await names('/service-providers', 'SP.EXAMPLE')).length === 4);
    });

    it('pages of a search continue each other', async () => {
      const found: unknown[] = [];
      let cursor = '';
      for (let page = 0; page < 3; page += 1) {
        const answer = await tenant.make<{ items: Items; next_cursor?: string }>('GET', `/clients?search=shop&limit=1${cursor}`);
        found.push(...answer.items.map((item) => item['name']));
        if (answer.next_cursor === undefined) break;
        cursor = `&cursor=${answer.next_cursor}`;
      }
      assert.deepEqual(found.toSorted(), ['100% Shop', 'Ångström Shop']);
    });

    it('limits: at most as long as a name', async () => {
      for (const path of ['/clients', '/resources', '/service-providers']) {
        assert.deepEqual(await names(path, 'x'.repeat(nameCharsMax)), []);
        await assertRefusal(await tenant.call('GET', `${path}?search=${'x'.repeat(nameCharsMax + 1)}`), 'management.invalid_request', {
          kind: 'search',
          text: /./,
        });
      }
    });

    it('the OpenAPI document names the parameter', async () => {
      const document = await tenant.make<{ paths: Record<string, { get: { parameters: Items } }> }>('GET', '/openapi.json');
      for (const path of ['/clients', '/resources', '/service-providers', '/groups', '/users', '/tenants'])
        assert.ok(
          document.paths[path]?.get.parameters.some((parameter) => parameter['name'] === 'search'),
          path,
        );
    });
  });
}
