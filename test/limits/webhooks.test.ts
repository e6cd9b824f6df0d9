// Limits of webhooks at n and n + 1: what waits for one, what one replay begins, who is mailed.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { administratorsMailedMax, webhookBacklogMax, webhookReplayMax } from '../../src/contract/limits.ts';
import type { TenantId, WebhookId } from '../../src/domain/ids.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import { insertAuditEvents } from '../../src/storage/records/audit-events.ts';
import { countWaiting, queueDeliveries } from '../../src/storage/records/webhook-deliveries.ts';
import { databases } from '../support/databases.ts';
import { callSystem, createTestTenant, createTestUser, type Json, jsonOf, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { answerWith, deliverNow, loopbackAllowed, makeHook, startWebhookReceiver, type WebhookReceiver } from '../support/webhooks.ts';

const atOnce = 500;

for (const database of databases) {
  describe(`limits of webhooks on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let receiver: WebhookReceiver;
    before(async () => {
      receiver = await startWebhookReceiver();
      receiver.answer('/silent', () => undefined);
      server = await startTestServer(database, { flags: loopbackAllowed });
      tenant = await createTestTenant(server);
    });
    after(async () => {
      await receiver?.close();
      await server?.close();
    });
    const tenantId = (): TenantId => tenant.id as TenantId;
    const makeGroup = (name: string): Promise<Json> => tenant.make('POST', '/groups', { display_name: name });

    it('a webhook for which as many events wait as may reads no further; one fewer, and it reads one', async () => {
      const { services } = server.gatehouse;
      const hook = await makeHook(tenant, receiver.url('/silent'));
      const id = hook.id as WebhookId;
      for (let from = 0; from < webhookBacklogMax - 1; from += atOnce)
        await services.database.write(tenantId(), (queries) =>
          queueDeliveries(
            queries,
            tenantId(),
            id,
            Array.from({ length: Math.min(atOnce, webhookBacklogMax - 1 - from) }, (_, at) => ({
              ...{ id: uuidV7(server.clock.nowMs()), eventId: `waits-${from + at}`, seq: from + at, type: 'group.created', body: '{}' },
            })),
          ),
        );
      for (const name of ['One more', 'One too many']) await makeGroup(name);
      for (let turn = 0; turn < 2; turn += 1) await services.jobs.runNow('webhook-feed');
      const waiting = await services.database.read(tenantId(), (queries) => countWaiting(queries, tenantId(), id, webhookBacklogMax + 10));
      assert.equal(waiting, webhookBacklogMax);
      await tenant.make('DELETE', `/webhooks/${id}`);
    });

    it('a replay of a time begins as many deliveries as it may, and is refused with one more', async () => {
      const { services } = server.gatehouse;
      const atMs = server.clock.nowMs() - 3_600_000;
      const insert = (count: number): Promise<void> =>
        services.database.write(tenantId(), (queries) =>
          insertAuditEvents(
            queries,
            tenantId(),
            atMs,
            Array.from({ length: count }, () => ({ type: 'group.deleted' as const, actor: 'system', target: 'group:of-a-test', data: {} })),
          ),
        );
      for (let made = 0; made < webhookReplayMax; made += atOnce) await insert(Math.min(atOnce, webhookReplayMax - made));
      const hook = await makeHook(tenant, receiver.url('/silent'), { types: ['group.deleted'] }); // begins behind all of them
      const time = { from: new Date(atMs - 1).toISOString(), to: new Date(atMs + 1).toISOString() };
      const replay = (): Promise<Response> => tenant.call('POST', `/webhooks/${hook.id}/replay`, time);
      const begun = await replay();
      assert.ok(begun.ok, await begun.clone().text());
      assert.equal(((await begun.json()) as Json)['replayed'], webhookReplayMax);
      await insert(1);
      await makeHook(tenant, receiver.url('/after'), { types: ['group.deleted'] }); // the feed has everything now
      await assertRefusal(await replay(), 'management.invalid_request', {
        ...{ text: `The time holds more than ${webhookReplayMax} events. Replay a shorter one.`, kind: 'to' },
      });
      await tenant.make('DELETE', `/webhooks/${hook.id}`);
    });

    it('as many administrators as may are mailed that a webhook was disabled', async () => {
      const other = await createTestTenant(server);
      for (let number = 0; number <= administratorsMailedMax; number += 1)
        await createTestUser(other, `boss-${number}@many.example`, { role: 'admin' });
      receiver.answer('/gone', answerWith(410));
      await makeHook(other, receiver.url('/gone'));
      await other.make('POST', '/groups', { display_name: 'Gone' });
      await deliverNow(server);
      const mailed = await Promise.all(
        Array.from({ length: administratorsMailedMax + 1 }, async (_, number) => {
          const answer = await callSystem(server, 'GET', `/outbox?to=boss-${number}@many.example`);
          return (await jsonOf<{ readonly messages: readonly Json[] }>(answer, 200)).messages.length;
        }),
      );
      assert.equal(
        mailed.reduce((sum, count) => sum + count, 0),
        administratorsMailedMax,
      );
    });
  });
}
