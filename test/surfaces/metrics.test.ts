// Metrics: on their own address only, with labels from fixed lists, and without anything a request said.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { catalogue } from '../../src/contract/catalogue.ts';
import { routeSeriesMax } from '../../src/contract/limits.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`metrics on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database, { flags: { metrics_listen: '127.0.0.1:0' } });
    });
    after(() => server.close());
    const read = async (): Promise<string> => {
      const response = await fetch(server.gatehouse.metricsUrl!);
      assert.equal(response.status, 200);
      assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
      return response.text();
    };

    it('counts requests, refusals and tokens', async () => {
      await createTestTenant(server);
      await assertRefusal(await fetch(`${server.url}/v1/idp/oidc/nowhere`), 'oauth.not_found');
      const text = await read();
      assert.match(text, /^gatehouse_token_answers_total\{grant="client_credentials"\} 1$/m);
      assert.match(text, /^gatehouse_refusals_total\{row="oauth\.not_found"\} 1$/m);
      assert.match(text, /^gatehouse_requests_total\{surface="oidc",status="200"\} 1$/m);
      assert.match(text, /^gatehouse_request_seconds_bucket\{le="0\.001",surface="oidc"\} \d+$/m);
      assert.match(text, /^process_resident_memory_bytes \d+$/m);
    });
    it('labels do not grow with what requests say', async () => {
      const seriesOf = (text: string): readonly string[] =>
        text
          .split('\n')
          .filter((line) => line.startsWith('gatehouse_'))
          .map((line) => line.replace(/ [^ ]+$/, ''));
      const hit = async (turn: number): Promise<void> => {
        const name = `canary-${turn}`;
        await fetch(`${server.url}/t/${name}/v1/idp/oidc/jwks`);
        await fetch(`${server.url}/v1/idp/oidc/${name}?${name}=1`, {
          method: turn % 2 === 0 ? 'POST' : 'GET',
          headers: { 'user-agent': name },
        });
        await fetch(`${server.url}/v1/idp/oidc/token`, {
          method: 'POST',
          body: new URLSearchParams({ grant_type: name, client_id: name, client_secret: name }),
        });
      };
      for (let turn = 0; turn < 4; turn += 1) await hit(turn);
      const before = seriesOf(await read());
      for (let turn = 4; turn < 20; turn += 1) await hit(turn); // as many unknown names as an address may ask for
      const text = await read();
      assert.deepEqual(seriesOf(text), before);
      assert.ok(!text.includes('canary'));
      for (const [, row] of text.matchAll(/row="([^"]+)"/g)) assert.ok(Object.hasOwn(catalogue, row!), row);
    });
    it('times to answer by route template, method and status class; state of the database', async () => {
      const text = await read();
      assert.match(text, /^gatehouse_http_request_duration_seconds_count\{route="\/v1\/idp\/oidc\/token",method="POST",status="2xx"\} 1$/m);
      assert.match(text, /^gatehouse_ready 1$/m);
      assert.match(text, /^gatehouse_database_read_only 0$/m);
      assert.match(text, /^gatehouse_configuration_age_seconds \d/m);
      assert.match(text, /^gatehouse_oldest_delivery_seconds 0$/m);
      for (const kind of ['mail', 'ciba', 'logout', 'push'])
        assert.match(text, new RegExp(`^gatehouse_deliveries_overdue\\{kind="${kind}"\\} 0$`, 'm'));
      const open = Number(/^gatehouse_database_connections\{state="open"\} (\d+)$/m.exec(text)?.[1]);
      assert.equal(open > 0, database === 'postgres');
    });
    it('nothing but GET /metrics there, and no /metrics on the public address', async () => {
      await assertRefusal(await fetch(`${server.url}/metrics`), 'management.not_found');
      assert.equal((await fetch(new URL('/', server.gatehouse.metricsUrl))).status, 404);
      assert.equal((await fetch(server.gatehouse.metricsUrl!, { method: 'POST' })).status, 404);
    });
  });
}

describe('series of metrics', () => {
  it('routeSeriesMax routes, methods and classes are told apart, and all series together stay below 5,000', async () => {
    const metrics = await createMetrics({
      connections: () => ({ open: 1, idle: 1, waiting: 0 }),
      configurationAgeMs: async () => 0,
      isReadOnly: () => false,
      deliveries: async () => [],
    });
    const surfaces = 20;
    for (let index = 0; index < routeSeriesMax + 50; index += 1)
      metrics.countRequest({
        surface: `s${index % surfaces}`,
        route: `/r${index}`,
        method: 'GET',
        status: 200 + (index % 15),
        seconds: 0.01,
      });
    for (const row of Object.keys(catalogue)) metrics.countRefusal(row);
    const { text } = await metrics.read();
    const routes = new Set([...text.matchAll(/route="([^"]+)"/g)].map(([, route]) => route));
    assert.equal(routes.size, routeSeriesMax + 1);
    assert.ok(routes.has(`/r${routeSeriesMax - 1}`) && !routes.has(`/r${routeSeriesMax}`) && routes.has('other'));
    const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
    assert.ok(series < 5000, String(series));
  });
});
