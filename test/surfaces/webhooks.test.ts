// Webhooks over HTTP (design 16, section 2): registered by the Management API, signed, delivered in any order at least once, retried by the
// schedule, ended as dead letters, replayed, disabled when they are gone. The receiver is a real server.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { Compile } from 'typebox/schema';
import { eventSchema } from '../../src/contract/event-schema.ts';
import { webhookAnswerBytesMax, webhooksPerTenantMax } from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import {
  callSystem,
  clientCredentialsToken,
  createTestTenant,
  createTestUser,
  type Json,
  jsonOf,
  type Managed,
  managedWith,
} from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith } from '../support/roles.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import {
  answerWith,
  deliveriesOf,
  deliverNow,
  loopbackAllowed,
  makeHook,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhooks.ts';

const schema = Compile(eventSchema);
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

for (const database of databases) {
  describe(`webhooks on ${database}`, () => {
    let receiver: WebhookReceiver;
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      receiver = await startWebhookReceiver();
      server = await startTestServer(database, { flags: loopbackAllowed });
      tenant = await createTestTenant(server);
    });
    after(async () => {
      await server?.close();
      await receiver?.close();
    });
    const deliver = (): Promise<void> => deliverNow(server);
    /** Tokens end meanwhile. */
    const advance = async (ms: number): Promise<void> => {
      await server.clock.advance(ms);
      tenant = managedWith(await clientCredentialsToken(tenant.baseUrl, tenant.adminClientId, tenant.adminClientSecret), tenant);
    };
    const makeGroup = (name: string): Promise<Json> => tenant.make('POST', '/groups', { display_name: name });
    const eventsAt = (path: string): readonly string[] => receiver.at(path).map(({ type }) => type);

    it('a registered webhook gets each event once, signed, and says how it went', async () => {
      const before = await makeGroup('Before');
      const made = await jsonOf(
        await tenant.call('POST', '/webhooks', { url: receiver.url('/one'), types: ['group.*', 'user.created'] }),
        201,
      );
      assert.match(String(made['secret']), /^whsec_[A-Za-z0-9+/]{43}=$/);
      const { secret, id, created_at: _created, updated_at: _updated, ...shown } = made;
      assert.deepEqual(shown, {
        url: receiver.url('/one'),
        types: ['group.*', 'user.created'],
        enabled: true,
        disabled_reason: null,
        failing_since: null,
        previous_secret_until: null,
      });
      const { secret: none, ...read } = await tenant.make('GET', `/webhooks/${id}`);
      assert.deepEqual([none, read], [undefined, { ...shown, id, created_at: _created, updated_at: _updated }]);
      assert.ok(before['id'] !== undefined);
      const group = await makeGroup('Staff');
      const user = await createTestUser(tenant, 'hooked@example.com');
      await tenant.make('PATCH', `/users/${user.id}`, { display_name: 'Not asked for' });
      await deliver();
      await deliver();
      const arrived = receiver.received.filter(({ path }) => path === '/one');
      assert.deepEqual(eventsAt('/one').toSorted(), ['group.created', 'user.created'], 'only what it asks for, and nothing of before');
      for (const { headers, body } of arrived) {
        assert.equal(headers['content-type'], 'application/json');
        assert.deepEqual(new Webhook(String(secret)).verify(body, headers), JSON.parse(body));
        assert.throws(() => new Webhook(String(secret)).verify(body.replace('created', 'deleted'), headers), /No matching signature/);
      }
      const { items } = await tenant.make<{ readonly items: readonly Json[] }>('GET', '/events/feed?types=group.created&limit=200');
      const { id: eventId, ...event } = items.find(({ data }) => (data as Json)['target'] === `group:${group['id']}`)!;
      const ofGroup = arrived.find(({ headers }) => headers['webhook-id'] === eventId);
      assert.deepEqual(JSON.parse(ofGroup!.body), event, 'the event as the feed shows it, its id in the header');
      assert.ok(schema.Check(JSON.parse(ofGroup!.body)));
      const [last] = (await deliveriesOf(tenant, String(id))).filter(({ event_id: one }) => one === eventId);
      const { id: _id, attempted_at: at, created_at: createdAt, duration_ms: ms, ...told } = last!;
      assert.ok(Number(ms) >= 0 && Date.parse(String(at)) >= Date.parse(String(createdAt)) - 1000);
      assert.deepEqual(told, {
        ...{ event_id: eventId, seq: event['seq'], type: 'group.created', state: 'delivered', attempts: 1 },
        ...{ status: 204, reason: null, answer: '', next_attempt_at: null },
      });
    });

    it('what was answered to an event, which may repeat it, is read by whoever may read that event', async () => {
      receiver.answer('/echo', (response) => void response.writeHead(200).end(receiver.received.at(-1)?.body));
      const { id } = await makeHook(tenant, receiver.url('/echo'), { types: ['group.created', 'user.created'] });
      const group = await makeGroup('Echoed');
      const user = await createTestUser(tenant, 'echoed@example.com');
      await deliver();
      await deliver();
      const told = { 'group.created': `group:${String(group['id'])}`, 'user.created': `user:${user.id}` };
      for (const [scopes, types] of [
        [[], []],
        [['users:read'], []],
        [['events:read'], ['group.created']],
        [
          ['events:read', 'users:read'],
          ['group.created', 'user.created'],
        ],
      ] as const) {
        const reader = await machineWith(tenant, ['webhooks:read', 'webhooks:write', ...scopes]);
        const shown = await deliveriesOf(reader, id);
        assert.equal(shown.length, 2);
        for (const { type, answer, status } of shown) {
          assert.equal(status, 200);
          const isRead = (types as readonly unknown[]).includes(type);
          assert.equal(String(answer).includes(told[type as keyof typeof told]), isRead, `${scopes.join(' ')}: ${String(answer)}`);
          assert.equal(answer === null, !isRead);
        }
        const again = await reader.make('POST', `/webhooks/${id}/deliveries/${shown[0]!.id}/replay`);
        assert.equal(again['answer'] === null, !(types as readonly unknown[]).includes(shown[0]!['type']));
        await deliver();
      }
      await tenant.make('DELETE', `/webhooks/${id}`);
    });

    it('management.invalid_request, conflict, not_found, forbidden: what is refused of a webhook', async () => {
      const { id } = await makeHook(tenant, receiver.url('/strict'));
      const post = (body: Json): Promise<Response> => tenant.call('POST', '/webhooks', body);
      const url = 'https://hooks.example/';
      const refuse = (body: Json, text: string, kind: string) =>
        post(body).then((response) => assertRefusal(response, 'management.invalid_request', { text, kind }));
      await refuse({ url: 'http://hooks.example/' }, 'This field must be an https URL.', 'url');
      await refuse({ url: 'https://a:b@hooks.example/' }, 'This field must be an https URL without fragment and credentials.', 'url');
      const types = (one: string) => `This field must hold types of events such as user.created or user.*; ${one} is none.`;
      await refuse({ url, types: ['user.forgotten'] }, types('user.forgotten'), 'types');
      await refuse({ url, types: ['user*'] }, types('user*'), 'types');
      await refuse({ url, types: ['*'] }, types('*'), 'types');
      assert.equal((await post({ url, secret: 'whsec_AAAA' })).status, 400, 'secrets are ours to make');
      assert.equal((await tenant.call('PATCH', `/webhooks/${id}`, { types: ['nothing.*'] })).status, 400);
      await assertRefusal(await post({ url: receiver.url('/strict') }), 'management.conflict', {
        ...{ text: 'Another webhook has this address.', kind: 'url' },
      });
      const other = await makeHook(tenant, receiver.url('/other'));
      await assertRefusal(await tenant.call('PATCH', `/webhooks/${other.id}`, { url: receiver.url('/strict') }), 'management.conflict', {
        ...{ text: 'Another webhook has this address.', kind: 'url' },
      });
      for (const [method, path] of [
        ['GET', '/webhooks/none'],
        ['GET', '/webhooks/none/deliveries'],
        ['POST', '/webhooks/none/test'],
        ['POST', '/webhooks/none/secret'],
        ['POST', `/webhooks/${id}/deliveries/none/replay`],
        ['DELETE', '/webhooks/none'],
      ] as const)
        await assertRefusal(await tenant.call(method, path), 'management.not_found');
      for (const body of [
        {},
        { from: '2026-01-01T00:00:00Z' },
        { state: 'dead', from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
      ])
        assert.equal((await tenant.call('POST', `/webhooks/${id}/replay`, body)).status, 400);
      await assertRefusal(
        await tenant.call('POST', `/webhooks/${id}/replay`, { from: 'yesterday', to: 'today' }),
        'management.invalid_request',
        {
          ...{ text: 'This field must be a time such as 2026-01-31T12:00:00Z.', kind: 'from' },
        },
      );
      await tenant.make('DELETE', `/webhooks/${id}`);
      await tenant.make('DELETE', `/webhooks/${other.id}`);
    });

    it('a tenant has so many webhooks and no more', async () => {
      const full = await createTestTenant(server);
      for (let made = 0; made < webhooksPerTenantMax; made += 1) await makeHook(full, `https://hooks.example/${made}`);
      await assertRefusal(await full.call('POST', '/webhooks', { url: 'https://hooks.example/more' }), 'management.invalid_request', {
        ...{ text: `A tenant has at most ${webhooksPerTenantMax} webhooks.`, kind: 'url' },
      });
      const listed = await full.make<{ readonly items: readonly Json[] }>('GET', '/webhooks?search=example/1&limit=200');
      assert.equal(listed.items.length, 11);
    });

    it('after a rotation both secrets sign for a day, then the new one alone', async () => {
      const { id, secret: old } = await makeHook(tenant, receiver.url('/rotated'));
      const { secret: fresh, previous_secret_until: until } = await tenant.make('POST', `/webhooks/${id}/secret`);
      assert.notEqual(fresh, old);
      assert.ok(Math.abs(Date.parse(String(until)) - server.clock.nowMs() - dayMs) < minuteMs);
      await makeGroup('Rotated');
      await deliver();
      // Another webhook of the tenant gets the event too, before or after this one.
      const { headers, body } = receiver.received.find(({ path }) => path === '/rotated')!;
      assert.equal(headers['webhook-signature']!.split(' ').length, 2);
      for (const secret of [old, String(fresh)]) new Webhook(secret).verify(body, headers);
      await advance(dayMs + minuteMs);
      const before = receiver.received.filter(({ path }) => path === '/rotated').length;
      await makeGroup('A day later');
      const later = (await eventually(async () => {
        await deliver();
        return receiver.received.filter(({ path }) => path === '/rotated')[before];
      }, 'the event of a day later'))!; // it waits for one
      assert.equal(later.headers['webhook-signature']!.split(' ').length, 1);
      const sent = new Date(Number(later.headers['webhook-timestamp']) * 1000);
      const eventId = later.headers['webhook-id']!;
      assert.equal(new Webhook(String(fresh)).sign(eventId, sent, later.body), later.headers['webhook-signature']);
      await tenant.make('DELETE', `/webhooks/${id}`);
    });

    it('what fails is tried again by the schedule under the same webhook-id, then is a dead letter; replays begin anew', async () => {
      const text = `<p>\0${'é'.repeat(webhookAnswerBytesMax)}`;
      receiver.answer('/down', answerWith(500, {}, text));
      const { id } = await makeHook(tenant, receiver.url('/down'));
      await makeGroup('Down');
      await deliver();
      const [first] = await deliveriesOf(tenant, id);
      assert.deepEqual([first!.state, first!.status, first!['attempts'], first!['reason']], ['waiting', 500, 1, 'status_500']);
      assert.ok(
        Buffer.byteLength(String(first!['answer'])) <= webhookAnswerBytesMax + 2 && String(first!['answer']).startsWith('<p>\u{fffd}é'),
      );
      const pausesMs = [5000, 5 * minuteMs, 30 * minuteMs, ...[2, 5, 10, 14, 20, 24].map((count) => count * hourMs)];
      for (const [index, pauseMs] of pausesMs.entries()) {
        const [waiting] = await deliveriesOf(tenant, id, '?state=waiting');
        const inMs = Date.parse(String(waiting!['next_attempt_at'])) - server.clock.nowMs();
        assert.ok(inMs > pauseMs - minuteMs && inMs <= pauseMs * 1.2 + minuteMs, `pause ${index}: ${inMs}`);
        if (pauseMs > minuteMs) {
          await advance(pauseMs - minuteMs);
          await deliver();
          assert.equal(eventsAt('/down').length, index + 1, 'not before its time');
        }
        await advance(pauseMs * 0.2 + 2 * minuteMs);
        await deliver();
        assert.equal(eventsAt('/down').length, index + 2);
      }
      const [dead] = await deliveriesOf(tenant, id, '?state=dead');
      assert.deepEqual([dead!['attempts'], dead!['next_attempt_at']], [10, null]);
      assert.equal(new Set(receiver.received.filter(({ path }) => path === '/down').map(({ headers }) => headers['webhook-id'])).size, 1);
      receiver.answer('/down', answerWith(200));
      const again = await tenant.make('POST', `/webhooks/${id}/deliveries/${dead!.id}/replay`);
      assert.deepEqual([again['state'], again['attempts']], ['waiting', 0]);
      await deliver();
      const [replayed] = await deliveriesOf(tenant, id);
      assert.deepEqual([replayed!.state, replayed!['attempts'], replayed!.event_id], ['delivered', 1, dead!.event_id]);
      assert.equal((await tenant.make('GET', `/webhooks/${id}`))['failing_since'], null);
      await tenant.make('DELETE', `/webhooks/${id}`);
    });

    it('Retry-After is obeyed where it asks for more than the pause', async () => {
      receiver.answer('/busy', answerWith(503, { 'retry-after': '3600' }));
      const { id } = await makeHook(tenant, receiver.url('/busy'));
      await makeGroup('Busy');
      await deliver();
      const [waiting] = await deliveriesOf(tenant, id);
      const inMs = Date.parse(String(waiting!['next_attempt_at'])) - server.clock.nowMs();
      assert.ok(Math.abs(inMs - hourMs) < minuteMs, String(inMs));
      await tenant.make('DELETE', `/webhooks/${id}`);
    });

    it('replays: dead ones together, and the events of a time, those of before the webhook too', async () => {
      const fromMs = server.clock.nowMs();
      await makeGroup('Early 1');
      await makeGroup('Early 2');
      await createTestUser(tenant, 'early@example.com');
      receiver.answer('/replayed', answerWith(204));
      const { id } = await makeHook(tenant, receiver.url('/replayed'));
      const time = { from: new Date(fromMs).toISOString(), to: new Date(server.clock.nowMs() + 60_000).toISOString() };
      assert.deepEqual(await tenant.make('POST', `/webhooks/${id}/replay`, time), { replayed: 2 });
      await deliver();
      assert.deepEqual(eventsAt('/replayed'), ['group.created', 'group.created']);
      const first = await deliveriesOf(tenant, id);
      assert.deepEqual(await tenant.make('POST', `/webhooks/${id}/replay`, time), { replayed: 2 });
      await deliver();
      assert.equal(eventsAt('/replayed').length, 4);
      assert.deepEqual(new Set((await deliveriesOf(tenant, id)).map((one) => one.event_id)), new Set(first.map((one) => one.event_id)));
      assert.deepEqual(await tenant.make('POST', `/webhooks/${id}/replay`, { state: 'dead' }), { replayed: 0 });
      // A time does not choose among the dead: whoever gives both would have all of them posted again.
      for (const body of [
        { state: 'dead', from: time.from },
        { state: 'dead', to: time.to },
        { state: 'dead', ...time },
        { from: time.from },
        {},
      ])
        await assertRefusal(await tenant.call('POST', `/webhooks/${id}/replay`, body), 'management.invalid_request', {
          ...{ kind: 'state', text: 'The body must hold either state, or from and to.' },
        });
      await tenant.make('DELETE', `/webhooks/${id}`);
    });

    it('410 disables, mails the administrators and keeps what waits until the webhook is enabled', async () => {
      const admin = await createTestUser(tenant, 'boss@example.com', { role: 'admin', preferred_language: 'de' });
      assert.ok(admin.id);
      receiver.answer('/gone', answerWith(410));
      const { id } = await makeHook(tenant, receiver.url('/gone'));
      await makeGroup('Gone 1');
      await deliver();
      const disabled = await tenant.make('GET', `/webhooks/${id}`);
      assert.deepEqual([disabled['enabled'], disabled['disabled_reason']], [false, 'gone']);
      assert.deepEqual(
        (await deliveriesOf(tenant, id)).map(({ state, status }) => [state, status]),
        [['dead', 410]],
      );
      const { messages } = await jsonOf<{ readonly messages: readonly Json[] }>(
        await callSystem(server, 'GET', '/outbox?to=boss@example.com'),
        200,
      );
      assert.equal(messages.length, 1);
      assert.match(String(messages[0]!['text']), /wurde abgeschaltet, weil er mit 410 Gone geantwortet hat/);
      const audited = await tenant.make<{ readonly items: readonly Json[] }>('GET', '/events?type=webhook.disabled');
      assert.deepEqual(
        audited.items.map(({ target, reason }) => [target, reason]),
        [[`webhook:${id}`, 'gone']],
      );
      await assertRefusal(await tenant.call('POST', `/webhooks/${id}/test`), 'management.conflict', {
        ...{ text: 'The webhook is disabled. Enable it first.', kind: 'enabled' },
      });
      await makeGroup('Gone 2');
      await deliver();
      assert.equal(eventsAt('/gone').length, 1);
      receiver.answer('/gone', answerWith(204));
      await tenant.make('PATCH', `/webhooks/${id}`, { enabled: true });
      await makeGroup('Gone 3');
      await deliver();
      const [, ...rest] = receiver.at('/gone');
      assert.equal(rest.length, 2, 'what happened meanwhile comes too');
      await tenant.make('DELETE', `/webhooks/${id}`);
    });

    it('five days without a success disable it', async () => {
      receiver.answer('/failing', answerWith(404));
      const { id } = await makeHook(tenant, receiver.url('/failing'));
      await makeGroup('Failing 1');
      await deliver();
      await advance(4 * dayMs);
      await makeGroup('Failing 2');
      await deliver();
      assert.equal((await tenant.make('GET', `/webhooks/${id}`))['enabled'], true);
      await tenant.make('PATCH', `/webhooks/${id}`, { types: ['group.created', 'user.deleted'] });
      await advance(dayMs);
      await makeGroup('Failing 3');
      await deliver();
      const disabled = await tenant.make('GET', `/webhooks/${id}`);
      assert.deepEqual([disabled['enabled'], disabled['disabled_reason']], [false, 'failing']);
      await tenant.make('DELETE', `/webhooks/${id}`);
    });

    it('a test goes to that webhook alone, whatever its types', async () => {
      const all = await makeHook(tenant, receiver.url('/all'), { types: [] });
      const { id } = await makeHook(tenant, receiver.url('/tested'), { types: ['user.deleted'] });
      const { event_id: eventId } = await tenant.make('POST', `/webhooks/${id}/test`);
      await deliver();
      assert.deepEqual(eventsAt('/tested'), ['webhook.tested']);
      assert.equal(receiver.received.find(({ path }) => path === '/tested')!.headers['webhook-id'], eventId);
      assert.ok(!eventsAt('/all').includes('webhook.tested') && eventsAt('/all').includes('webhook.created'));
      await tenant.make('DELETE', `/webhooks/${id}`);
      await tenant.make('DELETE', `/webhooks/${all.id}`);
    });

    it('deliveries leave after their time: delivered ones after a day, dead ones after thirty', async () => {
      receiver.answer('/kept', answerWith(410));
      const { id } = await makeHook(tenant, receiver.url('/kept'));
      await makeGroup('Kept');
      await deliver();
      receiver.answer('/kept', answerWith(204));
      await tenant.make('PATCH', `/webhooks/${id}`, { enabled: true });
      await makeGroup('Kept too');
      await deliver();
      const states = async (): Promise<readonly string[]> => (await deliveriesOf(tenant, id)).map(({ state }) => state);
      assert.deepEqual(await states(), ['delivered', 'dead']);
      await advance(dayMs + minuteMs);
      await server.gatehouse.services.jobs.runNow('purge');
      assert.deepEqual(await states(), ['dead']);
      await advance(29 * dayMs);
      await server.gatehouse.services.jobs.runNow('purge');
      assert.deepEqual(await states(), []);
      await tenant.make('DELETE', `/webhooks/${id}`);
    });
  });
}
