// E19: random requests over every route. No 5xx, no crash, and every refusal is a row of the contract.
// GATEHOUSE_TEST_FUZZ_REQUESTS sets how many; GATEHOUSE_TEST_FUZZ_SEED repeats a failure.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { catalogue } from '../../src/contract/catalogue.ts';
import { databases } from '../support/databases.ts';
import { createRandom, type FuzzedRequest, type FuzzGround, fuzzRequest, routesOf } from '../support/fuzzed-request.ts';
import { createTestClient, createTestTenant, createTestUser } from '../support/management.ts';
import { operatorToken, startTestServer, type TestServer } from '../support/server.ts';

const requests = Number(process.env['GATEHOUSE_TEST_FUZZ_REQUESTS'] ?? 800);
const seed = Number(process.env['GATEHOUSE_TEST_FUZZ_SEED'] ?? 20_260_101);
const parallel = 8;

/** `status envelope code` of every row. */
const documented = new Set(
  Object.values(catalogue).map((row) => `${row.status} ${row.envelope} ${row.envelope === 'scim' ? (row.scimType ?? '') : row.code}`),
);

for (const database of databases) {
  describe(`fuzzed HTTP on ${database}`, () => {
    let server: TestServer;
    let base: string;
    let ground: FuzzGround;
    before(async () => {
      server = await startTestServer(database);
      const tenant = await createTestTenant(server, { settings: { login_methods: ['email_pin'], signup_enabled: true } });
      const client = await createTestClient(tenant, { access_policy: 'everyone' });
      const user = await createTestUser(tenant, 'known@example.com');
      base = tenant.baseUrl;
      ground = {
        routes: routesOf(server.gatehouse.app.printRoutes({ commonPrefix: false })),
        tokens: [tenant.token, tenant.token, tenant.token, operatorToken],
        known: [
          client.client_id,
          client.client_secret,
          user.id,
          'known@example.com',
          'https://client.example/callback',
          tenant.managementApi,
          tenant.id,
        ],
      };
    });
    after(() => server.close());

    it(`seed ${seed}: ${requests} requests, every answer documented`, { timeout: 3_600_000 }, async () => {
      assert.ok(ground.routes.length > 60, `${ground.routes.length} routes`);
      const random = createRandom(seed);
      let sent = 0;
      const statuses = new Map<number, number>();
      const worker = async (): Promise<void> => {
        while (sent < requests) {
          sent += 1;
          const request = fuzzRequest(random, ground);
          const status = await check(
            `${request.path.startsWith('/t/') || request.path.startsWith('/v1/system') ? server.url : base}${request.path}`,
            request,
          );
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: parallel }, worker));
      assert.ok((statuses.get(200) ?? 0) > requests / 100, JSON.stringify([...statuses]));
      assert.deepEqual(
        server.logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50),
        [],
      );
      assert.equal((await fetch(`${server.url}/health/ready`)).status, 200);
    });
  });
}

async function check(url: string, request: FuzzedRequest): Promise<number> {
  const abort = new AbortController();
  const { body } = request;
  const response = await fetch(url, {
    method: request.method,
    headers: request.headers,
    redirect: 'manual',
    signal: abort.signal,
    ...(body === undefined ? {} : { body: body as string }),
  });
  const { status } = response;
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) abort.abort();
  const text = type.startsWith('text/event-stream') ? '' : await response.text();
  const told = `${request.method} ${url} ${JSON.stringify(request.headers)} ${String(body).slice(0, 500)} -> ${status} ${text.slice(0, 300)}`;
  assert.ok(status < 500, told);
  assert.match(response.headers.get('x-request-id') ?? '', /^[A-Za-z0-9_-]{22}$/, told);
  if (status < 400 || request.method === 'HEAD' || type.startsWith('text/html')) return status;
  const answer = JSON.parse(text) as Record<string, unknown>;
  const envelope = 'schemas' in answer ? 'scim' : 'message' in answer ? 'management' : 'oauth';
  const code = envelope === 'scim' ? String(answer['scimType'] ?? '') : String(answer['error']);
  assert.ok(documented.has(`${status} ${envelope} ${code}`), told);
  assert.doesNotMatch(text, /FST_|SQLITE|syntax error|Unexpected token|at .*\.ts:|node_modules|ECONN|undefined/, told);
  return status;
}
