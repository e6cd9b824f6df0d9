// Bulk beside sign-in (design 21, 3): of the bulk requests that many tenants send at once two are at work in a process and one of a tenant;
// a few wait, the others are told when to come back, and whoever signs in beside them is served. On both databases.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import {
  longWorkPerProcessMax,
  longWorkPerTenantMax,
  longWorkRetrySeconds,
  longWorkWaitingPerTenantMax,
  longWorkWaitMsMax,
} from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { clientCredentialsToken, createTestTenant, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`bulk requests beside others on ${database}`, () => {
    let server: TestServer;
    let tenants: readonly Managed[];
    const tokens = new Map<Managed, string>();
    /** Tenants whose writes wait, and those of which one does. */
    const held = new Set<string>();
    const waiting: string[] = [];
    let gate = Promise.withResolvers<void>();
    let broken = 0;
    /** Requests that have asked for a turn. */
    let asking = 0;
    before(async () => {
      server = await startTestServer(database);
      server.gatehouse.app.server.on('connection', (socket: Socket) => socket.once('close', () => (broken += 1)));
      tenants = await Promise.all(Array.from({ length: 4 }, () => createTestTenant(server)));
      for (const tenant of tenants)
        tokens.set(tenant, await clientCredentialsToken(tenant.baseUrl, tenant.adminClientId, tenant.adminClientSecret, 'scim:write'));
      const { database: store } = server.gatehouse.services;
      const write = store.write.bind(store);
      const heldWrite: typeof write = async (tenant, work) => {
        const isOfBulk = new Error('who writes').stack?.includes('/scim/users.ts') === true; // records of refusals are written beside it
        if (held.has(tenant) && isOfBulk) {
          waiting.push(tenant);
          await gate.promise;
        }
        return write(tenant, work);
      };
      Object.assign(store, { write: heldWrite });
      const { longWork } = server.gatehouse.services;
      const take = longWork.take.bind(longWork);
      const countedTake: typeof take = (tenant, isGone, work) => {
        asking += 1;
        return take(tenant, isGone, work);
      };
      Object.assign(longWork, { take: countedTake });
    });
    after(() => server.close());
    let names = 0;
    const bulk = (tenant: Managed, signal: AbortSignal | null = null): Promise<Response> => {
      names += 1;
      const data = {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        userName: `person${names}`,
        emails: [{ value: `person${names}@x.example`, primary: true }],
      };
      return fetch(`${tenant.baseUrl}/scim/v2/Bulk`, {
        method: 'POST',
        signal,
        headers: { authorization: `Bearer ${tokens.get(tenant)}`, 'content-type': 'application/scim+json' },
        body: JSON.stringify({
          schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
          failOnErrors: 1, // one after another
          Operations: [{ method: 'POST', path: '/Users', bulkId: 'a', data }],
        }),
      });
    };
    const statusesOf = async (asked: readonly Promise<Response>[]): Promise<readonly number[]> =>
      (await Promise.all(asked)).map(({ status }) => status);
    const assertBusy = async (response: Response): Promise<void> => {
      assert.equal(response.headers.get('retry-after'), String(longWorkRetrySeconds));
      await assertRefusal(response, 'scim.unavailable');
    };
    const release = (): void => {
      held.clear();
      waiting.length = 0;
      gate.resolve();
      gate = Promise.withResolvers();
    };

    it('longWorkPerTenantMax at work, longWorkWaitingPerTenantMax wait, one more is refused and explained; others are served', async () => {
      const [greedy, victim] = [tenants[0]!, tenants[3]!];
      held.add(greedy.id);
      const asked = [bulk(greedy)];
      await eventually(() => waiting.length === longWorkPerTenantMax);
      for (let count = 0; count < longWorkWaitingPerTenantMax; count += 1) asked.push(bulk(greedy));
      await eventually(() => asking === longWorkPerTenantMax + longWorkWaitingPerTenantMax);
      const refused = await bulk(greedy);
      const id = refused.headers.get('x-request-id');
      await assertBusy(refused);
      assert.equal(waiting.length, longWorkPerTenantMax);
      assert.equal((await bulk(victim)).status, 200);
      release();
      assert.deepEqual(await statusesOf(asked), Array(longWorkPerTenantMax + longWorkWaitingPerTenantMax).fill(200));
      const reason = await eventually(async () => {
        const response = await greedy.call('GET', `/events/${id}`); // 404 until it is written
        return ((await response.json()) as { readonly items?: readonly { readonly reason: string }[] }).items?.[0]?.reason;
      });
      assert.equal(reason, 'long_work_busy');
    });

    it('who has gone while waiting is not worked off', async () => {
      const tenant = tenants[0]!;
      const [brokenBefore, askingBefore] = [broken, asking];
      const leaving = new AbortController();
      held.add(tenant.id);
      const asked = [bulk(tenant)];
      await eventually(() => waiting.length === longWorkPerTenantMax);
      const left = bulk(tenant, leaving.signal);
      const name = `person${names}`;
      await eventually(() => asking === askingBefore + 2);
      asked.push(bulk(tenant));
      await eventually(() => asking === askingBefore + 3);
      leaving.abort();
      await assert.rejects(left, { name: 'AbortError' });
      await eventually(() => broken > brokenBefore);
      release();
      assert.deepEqual(await statusesOf(asked), [200, 200]); // the second stood behind who left
      const found = await tenant.call('GET', `/users?search=${name}`);
      assert.deepEqual(((await found.json()) as { readonly items: readonly unknown[] }).items, []);
    });

    it('longWorkPerProcessMax at work; who finds no turn within longWorkWaitMsMax is refused, and signing in goes on', async () => {
      for (const { id } of tenants.slice(0, 3)) held.add(id);
      const asked = tenants.slice(0, longWorkPerProcessMax).map((tenant) => bulk(tenant));
      await eventually(() => waiting.length === longWorkPerProcessMax);
      const beganMs = performance.now();
      const late = bulk(tenants[2]!);
      const { baseUrl, adminClientId, adminClientSecret } = tenants[3]!;
      await clientCredentialsToken(baseUrl, adminClientId, adminClientSecret, 'users:read');
      await assertBusy(await late);
      assert.ok(performance.now() - beganMs >= longWorkWaitMsMax - 100);
      assert.equal(waiting.length, longWorkPerProcessMax);
      release();
      assert.deepEqual(await statusesOf(asked), [200, 200]);
      assert.equal((await bulk(tenants[2]!)).status, 200);
    });
  });
