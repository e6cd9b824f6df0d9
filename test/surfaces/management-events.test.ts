// Audit records and their explanation, and the OpenAPI document (design 02).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Json, jsonOf, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Event {
  readonly id: string;
  readonly type: string;
  readonly actor: string | null;
  readonly request_id: string | null;
  readonly row: string | null;
  readonly [name: string]: unknown;
}

for (const database of databases) {
  describe(`management events on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());
    const events = async (query: string): Promise<readonly Event[]> =>
      (await tenant.make<{ items: readonly Event[] }>('GET', `/events?${query}`)).items;

    it('a write is recorded with its actor and request id, a refusal with what was wrong', async () => {
      const made = await tenant.call('POST', '/users', { user_name: 'audited' });
      const { id } = await jsonOf(made.clone(), 201);
      const requestId = made.headers.get('x-request-id')!;
      const explained = await tenant.make<{ request_id: string; items: readonly Event[] }>('GET', `/events/${requestId}`);
      assert.equal(explained.request_id, requestId);
      const [event] = explained.items;
      assert.deepEqual(
        { ...event, id: 0, created_at: 0 },
        {
          id: 0,
          created_at: 0,
          type: 'user.created',
          request_id: requestId,
          actor: `client:${tenant.adminClientId}`,
          target: `user:${id}`,
          row: null,
          reason: null,
          received: null,
          expected: null,
          data: { role: 'user' },
        },
      );
      const refusal = await tenant.call('PATCH', '/settings', { pin: { length: 3 } });
      const refused = await tenant.make<{ items: readonly Event[] }>('GET', `/events/${refusal.headers.get('x-request-id')}`);
      assert.equal(refused.items.length, 1);
      const { row, reason, expected, actor, data } = refused.items[0]!;
      assert.deepEqual([row, reason, actor], ['management.invalid_request', 'invalid_field', `client:${tenant.adminClientId}`]);
      assert.match(String(expected), /^pin\.length: /);
      assert.deepEqual({ ...(data as Json), ip: 0 }, { method: 'PATCH', path: '/v1/management/settings', ip: 0 });
    });

    it('lists newest first, by page, and by each filter', async () => {
      for (let index = 0; index < 5; index += 1) await createTestUser(tenant, `event${index}@example.com`);
      const all = await events('limit=200');
      assert.deepEqual(
        all.map((event) => event.id),
        all
          .map((event) => event.id)
          .sort()
          .reverse(),
      );
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await tenant.make<{ items: readonly Event[]; next_cursor?: string }>(
          'GET',
          `/events?type=user.created&limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}`,
        );
        seen.push(...page.items.map((event) => event.id));
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      assert.deepEqual(
        seen,
        all.filter((event) => event.type === 'user.created').map((event) => event.id),
      );
      const [newest] = all;
      assert.deepEqual(
        (await events(`request_id=${newest!.request_id}`)).map((event) => event.id),
        [newest!.id],
      );
      assert.equal((await events('actor=nobody')).length, 0);
      assert.ok((await events(`actor=client%3A${tenant.adminClientId}`)).length >= 5);
      assert.ok((await events('row=management.invalid_request')).every((event) => event.row === 'management.invalid_request'));
      const now = server.clock.nowMs();
      const at = (offsetMs: number): string => new Date(now + offsetMs).toISOString();
      assert.ok((await events(`from=${at(-60_000)}&to=${at(60_000)}`)).length >= 5);
      assert.equal((await events(`from=${at(60_000)}`)).length, 0);
      assert.equal((await events(`to=${at(-60_000)}`)).length, 0);
    });

    it('management.invalid_request: times; management.not_found: an unknown request id', async () => {
      for (const field of ['from', 'to'])
        await assertRefusal(await tenant.call('GET', `/events?${field}=yesterday`), 'management.invalid_request', {
          kind: field,
          text: /./,
        });
      await assertRefusal(await tenant.call('GET', '/events/unknown'), 'management.not_found');
      await assertRefusal(await tenant.call('GET', `/events/${'x'.repeat(65)}`), 'management.not_found');
    });

    it('refusals of the system API are in the root tenant’s trail', async () => {
      const refusal = await fetch(`${server.url}/v1/system/tenants`);
      assert.equal(refusal.status, 401);
      await server.gatehouse.services.refusals.flush();
      const root = await server.gatehouse.services.tenants.bySlug('main');
      const rows = await server.gatehouse.services.database.read(root!.id, (queries) =>
        queries.selectFrom('audit_events').selectAll().where('request_id', '=', refusal.headers.get('x-request-id')).execute(),
      );
      assert.deepEqual(
        rows.map((row) => [row.row_id, row.reason]),
        [['management.unauthorized', 'missing_token']],
      );
    });

    it('OpenAPI 3.1 describes every path with its capability, and is served without a token', async () => {
      const response = await fetch(`${tenant.managementApi}/openapi.json`);
      assert.equal(response.status, 200);
      const document = (await response.json()) as {
        openapi: string;
        servers: unknown;
        paths: Record<string, Record<string, { description?: string }>>;
      };
      assert.equal(document.openapi, '3.1.0');
      assert.deepEqual(document.servers, [{ url: tenant.managementApi }]);
      for (const path of [
        '/clients',
        '/clients/{id}',
        '/clients/{id}/secret',
        '/resources',
        '/users/{id}/suspend',
        '/groups/{id}/members',
        '/signing-keys',
        '/settings',
        '/events/{request_id}',
        '/service-providers/{id}/assignments',
      ])
        assert.ok(Object.hasOwn(document.paths, path), path);
      assert.match(document.paths['/clients']!['post']!.description!, /clients:write/);
    });
  });
}
