// What every surface does with requests that reach no endpoint.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`HTTP on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    it('oauth.not_found: unknown path below a surface', async () => {
      await assertRefusal(await fetch(`${server.url}/v1/idp/oidc/nowhere`), 'oauth.not_found');
    });
    it('oauth.not_found: unknown tenant', async () => {
      await assertRefusal(await fetch(`${server.url}/t/nobody/v1/idp/oidc/jwks`), 'oauth.not_found');
    });
    it('oauth.method_not_allowed: DELETE of the key set', async () => {
      const response = await fetch(`${server.url}/v1/idp/oidc/jwks`, { method: 'DELETE' });
      assert.equal(response.headers.get('allow'), 'GET, OPTIONS, HEAD');
      await assertRefusal(response, 'oauth.method_not_allowed');
    });
    it('management.not_found: a path of no surface', async () => {
      await assertRefusal(await fetch(`${server.url}/nowhere`), 'management.not_found');
    });
    it('GET /health/ready and the key set answer', async () => {
      for (const path of ['/health/ready', '/health'])
        assert.deepEqual(await (await fetch(`${server.url}${path}`)).json(), { status: 'ok' });
      const { keys } = (await (await fetch(`${server.url}/v1/idp/oidc/jwks`)).json()) as {
        keys: { alg: string; use: string; d?: string }[];
      };
      assert.deepEqual(keys.map((key) => key.alg).sort(), ['ES256', 'ES256', 'RS256', 'RS256']);
      assert.ok(keys.every((key) => key.use === 'sig' && key.d === undefined));
    });
  });
}
