// What is read before it is written, while another writes it: members who are being deleted, fields of one stream, and counts that have a
// limit. PostgreSQL alone, as the embedded database has one writer at a time.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type pg from 'pg';
import { imagesPerTenantMax, streamsPerTenantMax, streamVerificationsMax } from '../../src/contract/limits.ts';
import { securityEvents, streamEvents } from '../../src/domain/extending/ssf-stream.ts';
import { databases, overtaken } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Json, jsonOf, type Managed } from '../support/management.ts';
import { pngOf } from '../support/pictures.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { makeReceiver } from '../support/ssf.ts';

if (databases.includes('postgres'))
  describe('rows that another holds', () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer('postgres');
      tenant = await createTestTenant(server);
    });
    after(() => server?.close());

    /** What is answered to somebody who asks while a transaction has written `first` and goes on to write `then`. */
    const whileHeld = (first: Parameters<pg.Client['query']>[0], ask: () => Promise<Response>, then?: string): Promise<Response> =>
      overtaken(
        server.database,
        async (session) => {
          await session.query('SET LOCAL session_replication_role = replica'); // what it writes refers to nothing
          await session.query(first);
        },
        ask,
        async (session) => then !== undefined && session.query(then),
      );

    it('somebody who is deleted while they are added is no member', async () => {
      const { id: user } = await createTestUser(tenant, 'ann@example.com');
      const { id: group } = await tenant.make<Json>('POST', '/groups', { display_name: 'Staff' });
      const added = await whileHeld(`UPDATE users SET state = 'deleted' WHERE id = '${user}'`, () =>
        tenant.call('POST', `/groups/${group}/members`, { user_id: user }),
      );
      await assertRefusal(added, 'management.invalid_request', { kind: 'user_id', text: 'No such user.' });
    });

    it('two changes of a stream at once are both kept', async () => {
      const receiver = await makeReceiver(tenant);
      const { stream_id: id } = await receiver.makeStream();
      const [type] = Object.values(securityEvents);
      const changed = await whileHeld(`UPDATE ssf_streams SET description = 'Theirs' WHERE id = '${id}'`, () =>
        receiver.call('PATCH', '/streams', { stream_id: id, events_requested: [type] }),
      );
      const stream = await jsonOf<Json>(changed, 200);
      assert.deepEqual([stream['description'], stream['events_requested']], ['Theirs', [type]]);
    });

    it('verification events that are asked for at once are no more than may wait', async () => {
      const receiver = await makeReceiver(tenant);
      const { stream_id: id } = await receiver.makeStream();
      const answer = await whileHeld(
        `SELECT FROM ssf_streams WHERE id = '${id}' FOR UPDATE`,
        () => receiver.call('POST', '/verify', { stream_id: id }),
        `INSERT INTO ssf_events (tenant_id, id, stream_id, type, seq, claims, created_at)
         SELECT '${tenant.id}', 'event-' || n, '${id}', '${streamEvents.verification}', 0, '{}', 0 FROM generate_series(1, ${streamVerificationsMax}) n`,
      );
      await assertRefusal(answer, 'management.rate_limited', { fields: { retry_after_seconds: 60 } });
    });

    it('streams that are made at once are no more than a tenant may have', async () => {
      const receiver = await makeReceiver(tenant);
      await receiver.call('GET', '/streams'); // it has its token
      const answer = await whileHeld(
        `SELECT FROM tenants WHERE tenant_id = '${tenant.id}' FOR UPDATE`,
        () => receiver.call('POST', '/streams', {}),
        `INSERT INTO ssf_streams (tenant_id, id, client_id, method, status, status_at, position, created_at, updated_at)
         SELECT '${tenant.id}', 'stream-' || n, 'client-' || n, 'poll', 'enabled', 0, 0, 0, 0 FROM generate_series(1, ${streamsPerTenantMax}) n`,
      );
      const text = `A tenant has at most ${streamsPerTenantMax} streams.`;
      await assertRefusal(answer, 'management.conflict', { kind: 'stream_id', text });
    });

    it('pictures that are added at once are no more than a tenant may have', async () => {
      const answer = await whileHeld(
        `SELECT FROM tenants WHERE tenant_id = '${tenant.id}' FOR UPDATE`,
        () =>
          fetch(`${tenant.managementApi}/images`, {
            method: 'POST',
            headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'image/png' },
            body: new Uint8Array(pngOf(1, 1)),
          }),
        `INSERT INTO images (tenant_id, sha256, type, width, height, size_bytes, content, created_at)
         SELECT '${tenant.id}', 'picture-' || n, 'image/png', 1, 1, 1, '', 0 FROM generate_series(1, ${imagesPerTenantMax}) n`,
      );
      await assertRefusal(answer, 'management.conflict', { kind: 'images', text: /at most/ });
    });
  });
