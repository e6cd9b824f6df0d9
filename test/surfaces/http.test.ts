// What every surface does with requests that reach no endpoint.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { sendRaw } from '../support/raw-http.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`HTTP on ${database}`, () => {
    let server: TestServer;
    const accessed: string[] = [];
    before(async () => {
      server = await startTestServer(database, { flags: { access_log: '1' }, accessLog: (line) => void accessed.push(line) });
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
    it('a path that is not there has no route for operators, and an id that is longer than any is not there', async () => {
      for (const path of ['/v1/idp/oidc/nowhere', `/assets/${'a'.repeat(200)}`, '/nowhere']) {
        const response = await fetch(`${server.url}${path}`, { method: 'POST' });
        assert.deepEqual([response.status, response.headers.get('x-content-type-options')], [404, 'nosniff']);
        await response.body?.cancel();
      }
      const posts = (): readonly string[] =>
        accessed
          .map((line) => JSON.parse(line) as { readonly method: string; readonly route: string })
          .filter(({ method }) => method === 'POST')
          .map(({ route }) => route);
      await eventually(() => posts().length === 3);
      assert.deepEqual(posts(), ['none', 'none', 'none']);
    });
    it('not_found of each surface, whatever the method and the body: no body is read for a path that is not there', async () => {
      // Those with operations ask for a token first; documents have every path below theirs.
      const surfaces = server.gatehouse.app.surfacePrefixes.filter(
        ({ prefix }) => !/^\/(?:docs|v1\/(?:management|system|ssf))/.test(prefix),
      );
      assert.ok(surfaces.length > 20);
      const unread = { 'content-type': 'application/json', 'content-length': '99999999' };
      for (const { prefix, envelope } of surfaces)
        for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'])
          for (const headers of [{}, { 'content-type': 'text/nothing' }, method === 'GET' || method === 'HEAD' ? {} : unread]) {
            const path = `${prefix}/no/such/path`;
            const lines = Object.entries({ host: 'localhost', connection: 'close', ...headers }).map((line) => line.join(': '));
            const response = await sendRaw(server.url, `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
            assert.equal(response.headers.get('x-content-type-options'), 'nosniff', `${method} ${path}`);
            if (method !== 'HEAD') await assertRefusal(response, `${envelope}.not_found`);
            else assert.equal(response.status, 404);
          }
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
