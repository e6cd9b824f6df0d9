// Webhooks that somebody mends while an attempt is under way: what it comes to is said of where it went.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TenantId, WebhookId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import {
  answerWith,
  deliverNow,
  type Hook,
  loopbackAllowed,
  makeHook,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhooks.ts';

for (const database of databases) {
  describe(`webhooks that are mended meanwhile on ${database}`, () => {
    let receiver: WebhookReceiver;
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      receiver = await startWebhookReceiver();
      server = await startTestServer(database, { flags: loopbackAllowed });
    });
    after(async () => {
      await server?.close();
      await receiver?.close();
    });
    const hookAt = async (path: string): Promise<Hook> => {
      tenant = await createTestTenant(server);
      return makeHook(tenant, receiver.url(path));
    };
    const change = (id: string, fields: Json): Promise<Json> => tenant.make('PATCH', `/webhooks/${id}`, fields);
    const deliver = async (): Promise<void> => {
      await tenant.make('POST', '/groups', { display_name: 'Told' });
      await deliverNow(server);
    };
    const shown = async (id: string): Promise<Json> => {
      const { url, enabled, failing_since, disabled_reason } = await tenant.make('GET', `/webhooks/${id}`);
      return { url, enabled, failing_since, disabled_reason };
    };
    const unfailing = (path: string): Json => ({ url: receiver.url(path), enabled: true, failing_since: null, disabled_reason: null });

    for (const status of [410, 500])
      it(`another address is not judged by what the one before answers late: ${status}`, async () => {
        const { id } = await hookAt(`/left-${status}`);
        receiver.answer(`/left-${status}`, async (response) => {
          await change(id, { url: receiver.url(`/right-${status}`) });
          answerWith(status)(response);
        });
        await deliver();
        assert.deepEqual(await shown(id), unfailing(`/right-${status}`));
      });

    it('five days of failing end nothing that goes elsewhere, or is enabled again, just before it is disabled', async () => {
      const { cache, database: storage } = server.gatehouse.services;
      const { write } = cache;
      const mended: readonly (readonly [string, readonly Json[]])[] = [
        ['/elsewhere', [{ url: receiver.url('/elsewhere') }]],
        ['/failing', [{ enabled: false }, { enabled: true }]],
      ];
      receiver.answer('/failing', answerWith(500));
      for (const [path, changes] of mended) {
        const { id } = await hookAt('/failing');
        let isReached = false;
        Object.assign(cache, {
          write: async (...given: Parameters<typeof write>) => {
            Object.assign(cache, { write });
            for (const fields of changes) await change(id, fields);
            try {
              return await write(...given);
            } finally {
              isReached = true;
            }
          },
        });
        await storage.write(tenant.id as TenantId, (queries) =>
          queries
            .updateTable('webhooks')
            .set({ failing_since: 1 })
            .where('id', '=', id as WebhookId)
            .execute(),
        );
        await deliver();
        await eventually(() => isReached, 'the webhook to be disabled'); // whoever delivers first
        await deliverNow(server);
        const { url, enabled, disabled_reason: reason } = await shown(id); // what waited may have failed anew
        assert.deepEqual([url, enabled, reason], [receiver.url(path), true, null]);
      }
    });
  });
}
