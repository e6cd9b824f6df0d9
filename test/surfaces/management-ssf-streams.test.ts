// Streams of security events as administrators see them (`/ssf-streams`): how each does, paused, enabled, disabled, tried and removed, and
// what the receiver is told of that (SSF 1.0, 8.1.5).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { securityEvents } from '../../src/domain/extending/ssf-stream.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { makeReceiver, pushMethod, type Receiver, type Stream, tellNow, toldBy } from '../support/ssf.ts';
import { answerWith, loopbackAllowed, startWebhookReceiver, type WebhookReceiver } from '../support/webhooks.ts';

for (const database of databases) {
  describe(`streams of security events for administrators on ${database}`, () => {
    let server: TestServer;
    let endpoint: WebhookReceiver;
    let tenant: Managed;
    before(async () => {
      endpoint = await startWebhookReceiver();
      server = await startTestServer(database, { flags: loopbackAllowed });
      tenant = await createTestTenant(server);
    });
    after(async () => {
      await server?.close();
      await endpoint?.close();
    });
    const pathOf = ({ stream_id: id }: Stream): string => `/ssf-streams/${id}`;
    const events = async (receiver: Receiver, stream: Stream): Promise<readonly (readonly unknown[])[]> => {
      await tellNow(server);
      const { sets } = await receiver.poll(stream);
      await receiver.poll(stream, { ack: Object.keys(sets) });
      const told = await Promise.all(Object.values(sets).map((token) => toldBy(tenant, receiver, token)));
      return told.map(([, type, event]) => [type.split('/').at(-1), event]);
    };

    it('how a stream does: what waits, since when, what was delivered, who is left out', async () => {
      const receiver = await makeReceiver(tenant, { name: 'Shop' });
      const stream = await receiver.makeStream({ events_requested: [securityEvents.accountDisabled], description: 'Of the shop' });
      const { created_at: made, updated_at: _updated, status_at: _at, ...shown } = await tenant.make('GET', pathOf(stream));
      assert.deepEqual(shown, {
        id: stream.stream_id,
        client_id: receiver.clientId,
        client_name: 'Shop',
        method: 'poll',
        url: null,
        description: 'Of the shop',
        events_delivered: [securityEvents.accountDisabled],
        status: 'enabled',
        status_reason: null,
        waiting: 0,
        waiting_since: null,
        delivered_at: null,
        removed_subjects: 0,
      });
      const users = [await createTestUser(tenant, 'one@example.com'), await createTestUser(tenant, 'two@example.com')];
      for (const { id } of users) await tenant.make('POST', `/users/${id}/suspend`);
      const subject = { format: 'email', email: 'two@example.com' };
      await tellNow(server);
      assert.equal((await receiver.call('POST', '/subjects/remove', { stream_id: stream.stream_id, subject })).status, 204);
      const waits = await tenant.make('GET', pathOf(stream));
      assert.deepEqual([waits['waiting'], waits['delivered_at'], waits['removed_subjects']], [2, null, 1]);
      assert.ok(Date.parse(String(waits['waiting_since'])) >= Date.parse(String(made)) - 1000);
      await receiver.poll(stream, { ack: ['nothing-of-ours'] });
      assert.equal((await tenant.make('GET', pathOf(stream)))['delivered_at'], null);
      assert.equal((await events(receiver, stream)).length, 2);
      const taken = await tenant.make('GET', pathOf(stream));
      assert.deepEqual([taken['waiting'], taken['waiting_since']], [0, null]);
      assert.ok(Date.parse(String(taken['delivered_at'])) > 0);
      const found = await tenant.make<{ items: readonly Json[] }>('GET', '/ssf-streams?search=shop');
      assert.deepEqual(found.items, [taken]);
      assert.deepEqual(await tenant.make('GET', '/ssf-streams?search=nobody'), { items: [] });
    });

    it('paused and enabled by an administrator: the receiver is told, and what happened meanwhile comes then', async () => {
      const receiver = await makeReceiver(tenant);
      const stream = await receiver.makeStream({ events_requested: [securityEvents.accountDisabled] });
      const user = await createTestUser(tenant, 'meanwhile@example.com');
      const reason = 'The application moves.';
      const paused = await tenant.make('POST', `${pathOf(stream)}/status`, { status: 'paused', reason });
      assert.deepEqual([paused['status'], paused['status_reason'], paused['waiting']], ['paused', reason, 1]);
      await tenant.make('POST', `/users/${user.id}/suspend`);
      assert.deepEqual(await events(receiver, stream), [['stream-updated', { status: 'paused', reason }]]);
      assert.deepEqual(await events(receiver, stream), []);
      assert.equal((await tenant.make('POST', `${pathOf(stream)}/status`, { status: 'enabled' }))['status'], 'enabled');
      assert.deepEqual(await events(receiver, stream), [
        ['stream-updated', { status: 'enabled' }],
        ['account-disabled', {}],
      ]);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=ssf_stream.updated');
      assert.deepEqual(
        items.slice(0, 2).map(({ actor, data }) => [actor, (data as Json)['status'], (data as Json)['client']]),
        ['enabled', 'paused'].map((status) => [`client:${tenant.adminClientId}`, status, receiver.clientId]),
      );
    });

    it('disabled by an administrator: pushed, with what waited forgotten; then verified and removed', async () => {
      const receiver = await makeReceiver(tenant);
      endpoint.answer('/admin', answerWith(503));
      const delivery = { method: pushMethod, endpoint_url: endpoint.url('/admin') };
      const stream = await receiver.makeStream({ delivery, events_requested: [securityEvents.accountDisabled] });
      const user = await createTestUser(tenant, 'forgotten@example.com');
      await tenant.make('POST', `/users/${user.id}/suspend`);
      await tellNow(server);
      const arrived = async (): Promise<readonly unknown[]> => {
        const from = endpoint.received.length;
        for (let turn = 0; turn < 3; turn += 1) await tellNow(server);
        const fresh = endpoint.received.slice(from).filter(({ path }) => path === '/admin');
        const told = await Promise.all(fresh.map(({ body }) => toldBy(tenant, receiver, body)));
        return told.map(([, type, event]) => [type.split('/').at(-1), event]);
      };
      endpoint.answer('/admin', answerWith(202));
      await tenant.make('POST', `${pathOf(stream)}/status`, { status: 'disabled' });
      assert.deepEqual(await arrived(), [['stream-updated', { status: 'disabled' }]]);
      assert.equal((await tenant.call('POST', `${pathOf(stream)}/verify`)).status, 204);
      assert.deepEqual(await arrived(), []);
      await tenant.make('POST', `${pathOf(stream)}/status`, { status: 'enabled' });
      assert.deepEqual(await arrived(), [['stream-updated', { status: 'enabled' }]]);
      assert.equal((await tenant.call('POST', `${pathOf(stream)}/verify`)).status, 204);
      assert.deepEqual(await arrived(), [['verification', {}]]);
      assert.ok((await tenant.make('GET', pathOf(stream)))['delivered_at'] !== null);
      assert.equal((await tenant.call('DELETE', pathOf(stream))).status, 204);
      await assertRefusal(await receiver.call('GET', `/status?stream_id=${stream.stream_id}`), 'management.not_found');
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['DELETE', '', undefined],
        ['POST', '/verify', undefined],
        ['POST', '/status', { status: 'paused' }],
      ] as const)
        await assertRefusal(await tenant.call(method, `${pathOf(stream)}${path}`, body), 'management.not_found');
      await receiver.makeStream();
    });

    it('management.rate_limited: verification events nobody takes', async () => {
      const stream = await (await makeReceiver(tenant)).makeStream();
      for (let asked = 0; asked < 10; asked += 1) assert.equal((await tenant.call('POST', `${pathOf(stream)}/verify`)).status, 204);
      await assertRefusal(await tenant.call('POST', `${pathOf(stream)}/verify`), 'management.rate_limited', {
        fields: { retry_after_seconds: 60 },
      });
    });
  });
}
