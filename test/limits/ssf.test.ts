// Limits of security events at n and n + 1: streams of a tenant, what one asks for and says, what waits for one, and what a poll takes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  acknowledgedSetsMax,
  emailCharsMax,
  polledSetsMax,
  pollWaitSecondsMax,
  pollWaitsMax,
  removedSubjectsMax,
  setErrorCharsMax,
  streamBacklogMax,
  streamDescriptionCharsMax,
  streamEventsRequestedMax,
  streamHeaderCharsMax,
  streamReasonCharsMax,
  streamStateCharsMax,
  streamsPerTenantMax,
  streamVerificationsMax,
  subjectCharsMax,
} from '../../src/contract/limits.ts';
import { securityEvents } from '../../src/domain/extending/ssf-stream.ts';
import type { ClientId, SsfStreamId, TenantId, UserId } from '../../src/domain/ids.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import { addSsfEvents, countWaitingSets } from '../../src/storage/records/ssf-events.ts';
import { insertStream } from '../../src/storage/registry/extending/ssf-streams.ts';
import { databases } from '../support/databases.ts';
import { createClient } from '../support/fixtures.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { makeReceiver, pushMethod, type Receiver, type Stream, tellNow } from '../support/ssf.ts';

for (const database of databases) {
  describe(`limits of security events on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let receiver: Receiver;
    let stream: Stream;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server, { settings: { rate_limits: { management_requests_per_client: null } } });
      receiver = await makeReceiver(tenant);
      stream = await receiver.makeStream({ events_requested: [securityEvents.accountDisabled] });
    });
    after(() => server?.close());
    const tenantId = (): TenantId => tenant.id as TenantId;
    const id = (): SsfStreamId => stream.stream_id as SsfStreamId;
    /** The last is taken and one more is not. */
    const atMost = async (count: number, kind: string, call: (count: number) => Promise<Response>): Promise<void> => {
      const taken = await call(count);
      assert.ok(taken.ok, await taken.clone().text());
      const refused = await call(count + 1);
      assert.equal(refused.status, 400);
      assert.equal(((await refused.json()) as Json)['kind'], kind);
    };
    const patch = (fields: Json): Promise<Response> => receiver.call('PATCH', '/streams', { stream_id: id(), ...fields });
    const poll = (fields: Json): Promise<Response> => receiver.call('POST', `/poll/${id()}`, { returnImmediately: true, ...fields });
    const push = (header: string): Json => ({
      delivery: { method: pushMethod, endpoint_url: 'https://receiver.example/', authorization_header: header },
    });
    const waitingSets = (): Promise<number> =>
      server.gatehouse.services.database.read(tenantId(), (queries) =>
        countWaitingSets(queries, tenantId(), id(), { limit: streamBacklogMax + 10 }),
      );

    it('texts and lists of a stream', async () => {
      await atMost(streamDescriptionCharsMax, 'description', (count) => patch({ description: 'd'.repeat(count) }));
      await atMost(streamEventsRequestedMax, 'events_requested', (count) =>
        patch({ events_requested: Array.from({ length: count }, () => securityEvents.accountDisabled) }),
      );
      await atMost(streamHeaderCharsMax, 'delivery.authorization_header', (count) => patch(push('h'.repeat(count))));
      const back = { stream_id: id(), events_requested: [securityEvents.accountDisabled] };
      assert.equal((await receiver.call('PUT', '/streams', back)).status, 200);
      await atMost(streamReasonCharsMax, 'reason', (count) =>
        receiver.call('POST', '/status', { stream_id: id(), status: 'enabled', reason: 'r'.repeat(count) }),
      );
      await atMost(streamStateCharsMax, 'state', (count) =>
        receiver.call('POST', '/verify', { stream_id: id(), state: 's'.repeat(count) }),
      );
      assert.equal((await poll({ ack: Object.keys((await receiver.poll(stream)).sets) })).status, 200);
    });

    it('what a poll acknowledges and refuses', async () => {
      const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `jti-${at}`);
      await atMost(acknowledgedSetsMax, 'ack', (count) => poll({ ack: names(count) }));
      const refusals = (count: number): Json => Object.fromEntries(names(count).map((name) => [name, { err: 'invalid_key' }]));
      await atMost(acknowledgedSetsMax, 'setErrs', (count) => poll({ setErrs: refusals(count) }));
      await atMost(setErrorCharsMax, 'ack', (count) => poll({ ack: ['a'.repeat(count)] }));
      await atMost(setErrorCharsMax, 'setErrs', (count) => poll({ setErrs: { ['a'.repeat(count)]: { err: 'invalid_key' } } }));
      await atMost(setErrorCharsMax, 'setErrs.one.err', (count) => poll({ setErrs: { one: { err: 'e'.repeat(count) } } }));
    });

    it('management.rate_limited: verification events that wait', async () => {
      const verify = (): Promise<Response> => receiver.call('POST', '/verify', { stream_id: id() });
      for (let asked = 0; asked < streamVerificationsMax; asked += 1) assert.equal((await verify()).status, 204);
      await assertRefusal(await verify(), 'management.rate_limited', { fields: { retry_after_seconds: 60 } });
      const { sets } = await receiver.poll(stream);
      assert.equal((await poll({ ack: Object.keys(sets) })).status, 200);
      assert.equal((await verify()).status, 204);
      await poll({ ack: Object.keys((await receiver.poll(stream)).sets) });
    });

    it('a stream for which as many events wait as may reads no further; a poll gives so many of them at once', async () => {
      const { services } = server.gatehouse;
      const atOnce = 500;
      for (let from = 0; from < streamBacklogMax - 1; from += atOnce)
        await services.database.write(tenantId(), (queries) =>
          addSsfEvents(
            queries,
            tenantId(),
            id(),
            Array.from({ length: Math.min(atOnce, streamBacklogMax - 1 - from) }, (_, at) => ({
              ...{ id: uuidV7(server.clock.nowMs()), type: securityEvents.accountDisabled, seq: from + at, claims: '{}' },
            })),
          ),
        );
      for (const name of ['last', 'beyond']) {
        const user = await createTestUser(tenant, `${name}@example.com`);
        await tenant.make('POST', `/users/${user.id}/suspend`);
      }
      for (let turn = 0; turn < 2; turn += 1) await tellNow(server);
      assert.equal(await waitingSets(), streamBacklogMax);
      for (const maxEvents of [polledSetsMax, polledSetsMax + 1]) {
        const { sets, moreAvailable } = await receiver.poll(stream, { maxEvents });
        assert.deepEqual([Object.keys(sets).length, moreAvailable], [polledSetsMax, true]);
      }
      await receiver.setStatus(stream, 'disabled');
      await receiver.setStatus(stream, 'enabled');
    });

    it('people a stream is not to tell of, and how they are named', async () => {
      const ask = (act: string, subject: Json): Promise<Response> =>
        receiver.call('POST', `/subjects/${act}`, { stream_id: id(), subject });
      await atMost(subjectCharsMax, 'subject.sub', (count) =>
        ask('add', { format: 'iss_sub', iss: tenant.baseUrl, sub: 's'.repeat(count) }),
      );
      await atMost(emailCharsMax, 'subject.email', (count) => ask('add', { format: 'email', email: `e@${'x'.repeat(count - 2)}` }));
      const { services } = server.gatehouse;
      const ids = Array.from({ length: removedSubjectsMax - 1 }, () => uuidV7(server.clock.nowMs()));
      await services.database.write(tenantId(), async (queries) => {
        for (let from = 0; from < ids.length; from += 1000) {
          const some = ids.slice(from, from + 1000);
          const user = {
            tenant_id: tenantId(),
            state: 'active',
            origin: 'console',
            role: 'user',
            version: 1,
            created_at: 0,
            updated_at: 0,
          };
          const users = some.map((one) => ({ ...user, id: one, user_name: one, user_name_key: one }));
          await queries
            .insertInto('users')
            .values(users as never)
            .execute(); // nullable columns left out
          const removed = some.map((one) => ({ tenant_id: tenantId(), stream_id: id(), user_id: one as UserId, created_at: 0 }));
          await queries.insertInto('ssf_removed_subjects').values(removed).execute();
        }
      });
      const [last, beyond] = [
        await createTestUser(tenant, 'last-removed@example.com'),
        await createTestUser(tenant, 'beyond-removed@example.com'),
      ];
      const remove = (sub: string): Promise<Response> => ask('remove', { format: 'iss_sub', iss: tenant.baseUrl, sub });
      assert.equal((await remove(last.id)).status, 204);
      assert.equal((await remove(last.id)).status, 204, 'one of them');
      const text = `A stream is not to tell of ${removedSubjectsMax} people at most: add some again.`;
      for (const one of [beyond.id, 'nobody'])
        await assertRefusal(await remove(one), 'management.invalid_request', { kind: 'subject', text });
      assert.equal((await ask('add', { format: 'email', email: 'last-removed@example.com' })).status, 200);
      assert.equal((await remove(beyond.id)).status, 204);
    });

    it('polls that wait: of one more than may one is answered at once; the others go on until their stream ends', async () => {
      assert.equal(pollWaitSecondsMax, 30);
      const polls = Array.from({ length: pollWaitsMax + 1 }, () => receiver.call('POST', `/poll/${id()}`, {}));
      const early = await Promise.race(polls);
      assert.deepEqual(await early.clone().json(), { sets: {} });
      assert.equal((await receiver.call('DELETE', `/streams?stream_id=${id()}`)).status, 204);
      const statuses = (await Promise.all(polls)).map(({ status }) => status);
      assert.deepEqual(statuses.toSorted(), [200, ...Array.from({ length: pollWaitsMax }, () => 404)]);
    });

    it('management.conflict: streams of a tenant', async () => {
      const { services } = server.gatehouse;
      const stored = (await services.tenants.bySlug(tenant.slug))!;
      for (let made = 0; made < streamsPerTenantMax - 1; made += 1) {
        const { clientId } = await createClient(services, stored);
        const values = {
          method: 'poll',
          url: undefined,
          authorizationHeader: undefined,
          eventsRequested: [],
          description: undefined,
        } as const;
        await services.cache.write(tenantId(), (queries) =>
          insertStream(queries, tenantId(), { ...values, id: uuidV7(server.clock.nowMs()) as SsfStreamId, clientId: clientId as ClientId }),
        );
      }
      await receiver.makeStream();
      const text = `A tenant has at most ${streamsPerTenantMax} streams.`;
      await assertRefusal(await (await makeReceiver(tenant)).call('POST', '/streams', {}), 'management.conflict', {
        text,
        kind: 'stream_id',
      });
    });
  });
}
