// The people a receiver of security events does not want to be told of (SSF 1.0, 8.1.3): removed and added again by iss_sub or email, told
// of no more and again; and that no answer says whether somebody exists.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { securityEvents } from '../../src/domain/extending/ssf-stream.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { makeReceiver, type Receiver, type Stream, tellNow, toldBy } from '../support/ssf.ts';

const unknown = '018f0000-0000-7000-8000-000000000000';

for (const database of databases) {
  describe(`subjects of security events on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server?.close());
    const byId = (id: string): Json => ({ format: 'iss_sub', iss: tenant.baseUrl, sub: id });
    const byEmail = (email: string): Json => ({ format: 'email', email });
    const ask = (receiver: Receiver, act: 'add' | 'remove', { stream_id }: Pick<Stream, 'stream_id'>, subject: Json, more: Json = {}) =>
      receiver.call('POST', `/subjects/${act}`, { stream_id, subject, ...more });
    const done = async (answer: Promise<Response>): Promise<readonly unknown[]> => {
      const response = await answer;
      return [response.status, response.headers.get('cache-control'), await response.text()];
    };
    const removed = [204, 'no-store', ''];
    const added = [200, 'no-store', ''];
    /** What comes now, by the last word of its type, of whom; acknowledged. */
    const told = async (receiver: Receiver, stream: Stream): Promise<readonly string[]> => {
      await tellNow(server);
      const { sets } = await receiver.poll(stream);
      await receiver.poll(stream, { ack: Object.keys(sets) });
      const all = await Promise.all(Object.values(sets).map((token) => toldBy(tenant, receiver, token)));
      return all.map(([subject, type]) => `${type.split('/').at(-1)} ${(subject as Json)['sub'] ?? (subject as Json)['email']}`);
    };
    const flip = async (id: string): Promise<void> => {
      await tenant.make('POST', `/users/${id}/suspend`);
      await tenant.make('POST', `/users/${id}/activate`);
    };
    const stored = async (): Promise<number> =>
      server.gatehouse.services.database.read(
        tenant.id as never, // the server's id
        async (queries) => (await queries.selectFrom('ssf_removed_subjects').select('user_id').execute()).length,
      );

    it('a person who is removed is told of no more by that stream alone, and again once added; by either name', async () => {
      const [receiver, other] = [await makeReceiver(tenant), await makeReceiver(tenant)];
      const asked = { events_requested: [securityEvents.accountDisabled] };
      const [stream, theirs] = [await receiver.makeStream(asked), await other.makeStream(asked)];
      const ada = await createTestUser(tenant, 'Ada@example.com');
      const alan = await createTestUser(tenant, 'alan@example.com');
      const both = [`account-disabled ${ada.id}`, `account-disabled ${alan.id}`];
      const everybody = async (): Promise<void> => {
        for (const { id } of [ada, alan]) await flip(id);
      };
      assert.deepEqual(await done(ask(receiver, 'remove', stream, byId(ada.id))), removed);
      assert.deepEqual(await done(ask(receiver, 'remove', stream, byId(ada.id))), removed, 'twice is once');
      await everybody();
      assert.deepEqual(await told(receiver, stream), both.slice(1));
      assert.deepEqual(await told(other, theirs), both);
      assert.deepEqual(await done(ask(receiver, 'add', stream, byEmail('ADA@EXAMPLE.COM'), { verified: true })), added);
      assert.deepEqual(await done(ask(receiver, 'add', stream, byId(ada.id), { verified: false })), added, 'twice is once');
      await everybody();
      assert.deepEqual(await told(receiver, stream), both);
      assert.deepEqual(await done(ask(receiver, 'remove', stream, byEmail('ada@example.com'))), removed);
      await everybody();
      assert.deepEqual(await told(receiver, stream), both.slice(1));
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/events?user=${ada.id}&type=ssf_stream.*`);
      assert.deepEqual(
        items.map(({ type, actor, target, data }) => [type, actor, target, data]),
        [false, true, false].map((isTold) => [
          'ssf_stream.subject_changed',
          `client:${receiver.clientId}`,
          `ssf_stream:${stream.stream_id}`,
          { client: receiver.clientId, user: ada.id, told: isTold },
        ]),
      );
    });

    it('a deletion is not told of whom it is not to tell of, and nothing of them stays', async () => {
      const receiver = await makeReceiver(tenant);
      const stream = await receiver.makeStream({ events_requested: [securityEvents.accountPurged] });
      const [kept, left] = [await createTestUser(tenant, 'kept@example.com'), await createTestUser(tenant, 'left@example.com')];
      const before = await stored();
      assert.deepEqual(await done(ask(receiver, 'remove', stream, byEmail('left@example.com'))), removed);
      assert.equal(await stored(), before + 1);
      for (const { id } of [left, kept]) await tenant.make('DELETE', `/users/${id}`);
      assert.equal(await stored(), before);
      assert.deepEqual(await told(receiver, stream), [`account-purged ${kept.id}`]);
      assert.deepEqual(await done(ask(receiver, 'remove', stream, byId(left.id))), removed, 'as of nobody');
      assert.equal(await stored(), before);
    });

    it('a stream that is deleted takes them along', async () => {
      const receiver = await makeReceiver(tenant);
      const stream = await receiver.makeStream();
      const before = await stored();
      const { id } = await createTestUser(tenant, 'forgotten@example.com');
      await ask(receiver, 'remove', stream, byId(id));
      assert.equal((await receiver.call('DELETE', `/streams?stream_id=${stream.stream_id}`)).status, 204);
      assert.equal(await stored(), before);
    });

    it('nobody, a person outside the gate and one of another tenant are answered like anybody, and nothing is kept', async () => {
      const receiver = await makeReceiver(tenant, { access_policy: 'assigned' });
      const stream = await receiver.makeStream();
      const outside = await createTestUser(tenant, 'outside@example.com');
      const inside = await createTestUser(tenant, 'inside@example.com');
      await tenant.make('POST', `/clients/${receiver.clientId}/assignments`, { user_id: inside.id });
      const elsewhere = { ...byId(inside.id), iss: 'https://elsewhere.example' };
      const before = await stored();
      for (const subject of [
        byId(unknown),
        byId('nobody'),
        byEmail('nobody@example.com'),
        byId(outside.id),
        byEmail('outside@example.com'),
        elsewhere,
      ]) {
        assert.deepEqual(await done(ask(receiver, 'remove', stream, subject)), removed);
        assert.deepEqual(await done(ask(receiver, 'add', stream, subject)), added);
      }
      assert.equal(await stored(), before);
      assert.deepEqual(await done(ask(receiver, 'remove', stream, byId(inside.id))), removed);
      assert.equal(await stored(), before + 1);
    });

    it('management.not_found, management.invalid_request, management.forbidden: the stream of another, subjects that are none, tokens that read', async () => {
      const [receiver, other] = [await makeReceiver(tenant), await makeReceiver(tenant)];
      const [stream, theirs] = [await receiver.makeStream(), await other.makeStream()];
      const reader = await makeReceiver(tenant, {}, 'ssf.read');
      for (const act of ['add', 'remove'] as const) {
        for (const id of [theirs.stream_id, unknown, 'nothing'])
          await assertRefusal(await ask(receiver, act, { stream_id: id }, byId(unknown)), 'management.not_found');
        const refuse = async (subject: unknown, kind: string, text: string | RegExp): Promise<void> =>
          void (await assertRefusal(await ask(receiver, act, stream, subject as Json), 'management.invalid_request', { kind, text }));
        const formats = 'This field must be one of iss_sub, email.';
        await refuse({ format: 'opaque', id: stream.stream_id }, 'subject.format', formats); // the stream itself stays
        await refuse({ format: 'phone_number', phone_number: '+12065550100' }, 'subject.format', formats);
        await refuse({ format: 'iss_sub', iss: tenant.baseUrl }, 'subject.sub', 'This field is required.');
        await refuse({ format: 'iss_sub', sub: unknown }, 'subject.iss', 'This field is required.');
        await refuse({ format: 'email' }, 'subject.email', 'This field is required.');
        await refuse('ada@example.com', 'subject', /./);
        await assertRefusal(
          await receiver.call('POST', `/subjects/${act}`, { stream_id: stream.stream_id }),
          'management.invalid_request',
          {
            kind: 'subject',
            text: 'This field is required.',
          },
        );
        await assertRefusal(await ask(reader, act, stream, byId(unknown)), 'management.forbidden', {
          text: 'The token lacks the capability ssf.manage.',
        });
      }
    });
  });
}
