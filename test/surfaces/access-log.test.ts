// GATEHOUSE_ACCESS_LOG=1: one line of JSON a request, with what an operator looks for and nothing a request carried in secret.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { accessLineBytesMax } from '../../src/contract/limits.ts';
import { type Access, accessLine } from '../../src/http/operations/access-log.ts';
import { databases } from '../support/databases.ts';
import { createDataFolder, serveEmbedded } from '../support/gatehouse-process.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`access log on ${database}`, () => {
    const lines: string[] = [];
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      const flags = { access_log: '1', trusted_proxies: '127.0.0.1/32' };
      server = await startTestServer(database, { flags, accessLog: (line) => void lines.push(line) });
      tenant = await createTestTenant(server);
    });
    after(() => server.close());
    const lineOf = (response: Response): Readonly<Record<string, unknown>> => {
      const id = response.headers.get('x-request-id')!;
      const own = lines.filter((line) => line.includes(id));
      assert.equal(own.length, 1);
      assert.ok(own[0]!.endsWith('}\n') && Buffer.byteLength(own[0]!) <= accessLineBytesMax);
      return JSON.parse(own[0]!);
    };

    it('a line a request, by route template, with the address of the caller', async () => {
      const response = await fetch(`${tenant.baseUrl}/v1/idp/oidc/jwks?canary=secret`, { headers: { 'x-forwarded-for': '2001:db8::7' } });
      const body = await response.text();
      const { time, ms, ...line } = lineOf(response);
      assert.deepEqual(line, {
        message: 'access',
        id: response.headers.get('x-request-id'),
        tenant: tenant.slug,
        route: '/v1/idp/oidc/jwks',
        method: 'GET',
        status: 200,
        bytes: Buffer.byteLength(body),
        address: '2001:db8::7',
      });
      assert.ok(typeof ms === 'number' && ms >= 0 && !Number.isNaN(Date.parse(String(time))));
      assert.ok(!lines.join('').includes('canary'));
    });
    it('paths of no surface and unknown tenants too, without what they were', async () => {
      const nowhere = await fetch(`${server.url}/canary`);
      assert.deepEqual([lineOf(nowhere)['route'], lineOf(nowhere)['status'], lineOf(nowhere)['tenant']], ['none', 404, undefined]);
      const unknown = await fetch(`${server.url}/t/canary/v1/idp/oidc/jwks`);
      assert.deepEqual([lineOf(unknown)['route'], lineOf(unknown)['tenant']], ['/v1/idp/oidc/jwks', undefined]);
      assert.ok(!lines.join('').includes('canary'));
    });
  });
}

describe('access log', () => {
  const access: Access = { id: 'i', route: '', method: 'GET', status: 200, ms: 1, bytes: 2, address: '192.0.2.1' };
  it('accessLineBytesMax: a route that makes it longer is left out', () => {
    const room = accessLineBytesMax - Buffer.byteLength(accessLine(0, access));
    const routeOf = (chars: number): string => JSON.parse(accessLine(0, { ...access, route: 'r'.repeat(chars) })).route;
    assert.equal(accessLine(0, { ...access, route: 'r'.repeat(room) }).length, accessLineBytesMax);
    assert.deepEqual([routeOf(room).length, routeOf(room + 1)], [room, '']);
  });
  it('goes to standard error, whatever the level of the logs, and only when asked for', async () => {
    for (const [wanted, count] of [
      ['1', 1],
      ['0', 0],
    ] as const) {
      const folder = createDataFolder();
      const served = serveEmbedded(folder.path, { environment: { GATEHOUSE_ACCESS_LOG: wanted, GATEHOUSE_LOG_LEVEL: 'silent' } });
      const url = await served.ready;
      await fetch(`${url}/v1/idp/oidc/jwks`);
      served.signal('SIGTERM');
      const { stdout, stderr } = await served.ended;
      assert.equal([...stderr.matchAll(/"message":"access".*"route":"\/v1\/idp\/oidc\/jwks"/g)].length, count);
      assert.ok(!stdout.includes('access'));
      folder.remove();
    }
  });
});
