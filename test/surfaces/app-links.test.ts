// The files that let apps open our links (design 12, 4): at the root of a host only, empty lists are not there.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { updateTenantSettings } from '../../src/storage/registry/tenants.ts';
import { databases } from '../support/databases.ts';
import { rootTenant } from '../support/fixtures.ts';
import { callSystem, createTestTenant, type Json, jsonOf } from '../support/management.ts';
import { sendRaw } from '../support/raw-http.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const fingerprint = Array.from({ length: 32 }, () => 'AB').join(':');
const apps = {
  apple: ['ABCDE12345.com.example.app'],
  android: [{ package: 'com.example.app', sha256_cert_fingerprints: [fingerprint] }],
};
const files = ['apple-app-site-association', 'assetlinks.json'] as const;
const links = [
  {
    relation: ['delegate_permission/common.handle_all_urls'],
    target: { namespace: 'android_app', package_name: 'com.example.app', sha256_cert_fingerprints: [fingerprint] },
  },
];

for (const database of databases) {
  describe(`app links on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    const read = async (file: string, host = new URL(server.url).host): Promise<unknown> => {
      const response = await sendRaw(server.url, `GET /.well-known/${file} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
      return jsonOf<unknown>(response, 200);
    };
    const association = (paths: readonly string[]): unknown => ({
      applinks: { details: [{ appIDs: apps.apple, components: paths.map((path) => ({ '/': path })) }] },
    });

    it('the root tenant names its apps for every link of the shared host; without apps there is no file', async () => {
      for (const file of files) await assertRefusal(await fetch(`${server.url}/.well-known/${file}`), 'oauth.not_found');
      const { services } = server.gatehouse;
      const root = await rootTenant(services);
      await services.database.write(root.id, (queries) => updateTenantSettings(queries, root.id, JSON.stringify({ app_links: apps })));
      services.cache.forget(root.id);
      assert.deepEqual(await read(files[0]), association(['/enroll', '/scan', '/t/*/enroll', '/t/*/scan']));
      assert.deepEqual(await read(files[1]), links);
    });

    it('a tenant below the shared host has none, whatever it names', async () => {
      const tenant = await createTestTenant(server, { settings: { app_links: apps } });
      for (const file of files) await assertRefusal(await fetch(`${tenant.baseUrl}/.well-known/${file}`), 'oauth.not_found');
    });

    it('a tenant with its own host names its own apps for its own links', async () => {
      const domain = `https://apps-${database}.example`;
      const tenant = await createTestTenant(server, { settings: { app_links: apps } });
      await jsonOf(await callSystem(server, 'PATCH', `/tenants/${tenant.id}`, { domain }), 200);
      assert.deepEqual(await read(files[0], new URL(domain).host), association(['/enroll', '/scan']));
      assert.deepEqual(await read(files[1], new URL(domain).host), links);
    });

    it('what is no app id, package or fingerprint is refused and nothing is stored', async () => {
      const tenant = await createTestTenant(server);
      const wrong: readonly (readonly [kind: string, links: Json])[] = [
        ['app_links.apple', { apple: ['com.example.app'] }],
        ['app_links.apple', { apple: ['ABCDE12345.*'] }],
        ['app_links.android', { android: [{ package: 'com.example.app' }] }],
        ['app_links.android', { android: [{ package: 'app', sha256_cert_fingerprints: [fingerprint] }] }],
        ['app_links.android', { android: [{ package: 'com.example.app', sha256_cert_fingerprints: [fingerprint.toLowerCase()] }] }],
        ['app_links.android', { android: [{ package: 'com.example.app', sha256_cert_fingerprints: [] }] }],
      ];
      for (const [kind, given] of wrong)
        await assertRefusal(await tenant.call('PATCH', '/settings', { app_links: given }), 'management.invalid_request', {
          kind,
          text: /./,
        });
      assert.deepEqual((await tenant.make('GET', '/settings'))['app_links'], { apple: [], android: [] });
    });
  });
}
