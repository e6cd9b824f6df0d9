// The feed of a tenant's audit records (design 16, section 2): numbered without holes, never past what commits late, readable page by
// page, by type, as JSON lines and as they come.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Compile } from 'typebox/schema';
import { eventSchema } from '../../src/contract/event-schema.ts';
import { feedTypesMax, feedWaitSecondsMax, feedWaitsMax } from '../../src/contract/limits.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import { type AuditEvent, insertAuditEvent } from '../../src/storage/records/audit-events.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, jsonOf, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Event {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}
interface Page {
  readonly items: readonly Event[];
  readonly next: number;
}

const schema = Compile(eventSchema);

for (const database of databases) {
  describe(`event feed on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());
    const feed = (query: string): Promise<Page> => tenant.make<Page & Record<string, unknown>>('GET', `/events/feed?${query}`);
    /** Everything after a number, by small pages. */
    const readAll = async (from = 0, limit = 3): Promise<readonly Event[]> => {
      const all: Event[] = [];
      for (let next = from; ; ) {
        const page = await feed(`after=${next}&limit=${limit}`);
        if (page.items.length === 0) return all;
        all.push(...page.items);
        next = page.next;
      }
    };
    const lastSeq = async (): Promise<number> => (await readAll(0, 200)).at(-1)?.seq ?? 0;
    const write = (type: string, atMs = server.clock.nowMs()): Promise<void> =>
      server.gatehouse.services.database.write(tenant.id as TenantId, (queries) =>
        insertAuditEvent(queries, tenant.id as TenantId, atMs, { type, actor: 'system' } as AuditEvent),
      );

    it('each record has the next number, and says what, when and who', async () => {
      const made = await tenant.call('POST', '/users', { user_name: 'fed' });
      const { id } = await jsonOf(made.clone(), 201);
      const all = await readAll();
      assert.deepEqual(
        all.map(({ seq }) => seq),
        all.map((_, index) => index + 1),
      );
      const { timestamp, id: eventId, seq, ...event } = all.find(({ type }) => type === 'user.created')!;
      assert.ok(!Number.isNaN(Date.parse(timestamp)) && eventId.length === 36 && seq > 0);
      assert.deepEqual(event, {
        type: 'user.created',
        data: {
          request_id: made.headers.get('x-request-id'),
          actor: `client:${tenant.adminClientId}`,
          target: `user:${id}`,
          row: null,
          reason: null,
          received: null,
          expected: null,
          details: { role: 'user' },
        },
      });
      for (const one of all) assert.ok(schema.Check(one), `${one.type} ${JSON.stringify(one.data)}`);
      assert.deepEqual(await readAll(), all, 'numbers stay');
    });

    it('what commits late comes late, and is not passed over', async () => {
      const from = await lastSeq();
      await write('test.second');
      assert.deepEqual(
        (await readAll(from)).map(({ type }) => type),
        ['test.second'],
      );
      await write('test.first', server.clock.nowMs() - 60_000);
      assert.deepEqual(
        (await readAll(from)).map(({ type, seq }) => `${seq - from} ${type}`),
        ['1 test.second', '2 test.first'],
      );
    });

    if (database === 'postgres')
      it('a transaction that is open while others are read gets a later number', async () => {
        const from = await lastSeq();
        const isWritten = Promise.withResolvers<void>();
        const mayEnd = Promise.withResolvers<void>();
        const slow = server.gatehouse.services.database.write(tenant.id as TenantId, async (queries) => {
          await insertAuditEvent(queries, tenant.id as TenantId, server.clock.nowMs(), { type: 'test.slow' as string } as AuditEvent);
          isWritten.resolve();
          await mayEnd.promise;
        });
        await isWritten.promise;
        await write('test.quick');
        assert.deepEqual(
          (await readAll(from)).map(({ type }) => type),
          ['test.quick'],
        );
        mayEnd.resolve();
        await slow;
        assert.deepEqual(
          (await readAll(from)).map(({ type }) => type),
          ['test.quick', 'test.slow'],
        );
      });

    it('writers and readers at the same time: no number twice, none left out', async () => {
      const from = await lastSeq();
      const writers = Array.from({ length: 40 }, (_, index) => write(`test.many_${index}`));
      const readers = Array.from({ length: 10 }, () => feed(`after=${from}&limit=200`));
      await Promise.all([...writers, ...readers]);
      const all = await readAll(from, 7);
      assert.deepEqual(
        all.map(({ seq }) => seq),
        Array.from({ length: 40 }, (_, index) => from + index + 1),
      );
      assert.equal(new Set(all.map(({ type }) => type)).size, 40);
    });

    it('by types and beginnings of types; `next` goes on also where none was of them', async () => {
      const from = await lastSeq();
      for (const type of ['user_x.made', 'user.created', 'user.deleted', 'client.created']) await write(type);
      const typesOf = async (types: string): Promise<readonly string[]> =>
        (await feed(`after=${from}&types=${types}`)).items.map(({ type }) => type);
      assert.deepEqual(await typesOf('user.*'), ['user.created', 'user.deleted']);
      assert.deepEqual(await typesOf('user.created,client.created'), ['user.created', 'client.created']);
      assert.deepEqual(await feed(`after=${from}&types=branding.*`), { items: [], next: from + 4 });
    });

    it('as JSON lines to who accepts them, with the place to go on at', async () => {
      const from = await lastSeq();
      await write('test.line');
      await write('test.line');
      const headers = { authorization: `Bearer ${tenant.token}`, accept: 'application/x-ndjson' };
      const answer = await fetch(`${tenant.managementApi}/events/feed?after=${from}`, { headers });
      assert.equal(answer.headers.get('content-type'), 'application/x-ndjson; charset=utf-8');
      assert.equal(answer.headers.get('link'), `<?after=${from + 2}>; rel="next"`);
      const lines = (await answer.text()).split('\n');
      assert.equal(lines.pop(), '');
      assert.deepEqual(
        lines.map((line) => JSON.parse(line)),
        (await feed(`after=${from}`)).items,
      );
    });

    it('refusals are in it, once; their summaries when their minute is over', async () => {
      const from = await lastSeq();
      assert.equal((await tenant.call('GET', '/users/nobody')).status, 404);
      assert.deepEqual(
        (await readAll(from)).map(({ type, data }) => [type, data['row']]),
        [['refusal', 'management.not_found']],
      );
      await write('refusal_summary');
      assert.deepEqual((await readAll(from)).length, 1);
      await server.clock.advance(121_000);
      assert.deepEqual(
        (await readAll(from)).map(({ type }) => type),
        ['refusal', 'refusal_summary'],
      );
    });

    it('waits for the next one and answers when it is there; without one when the time is over', async () => {
      const from = await lastSeq();
      const asked = feed(`after=${from}&wait=${feedWaitSecondsMax}&types=user.created`);
      await write('test.other');
      await createTestUser(tenant, 'awaited@example.com');
      assert.deepEqual(
        (await asked).items.map(({ type }) => type),
        ['user.created'],
      );
      const last = await lastSeq();
      assert.deepEqual(await feed(`after=${last}&wait=1`), { items: [], next: last });
    });

    it('feedWaitsMax asks wait; one more is answered at once', { timeout: 60_000 }, async () => {
      const from = await lastSeq();
      let answered = 0;
      const asks = Array.from({ length: feedWaitsMax + 1 }, () =>
        feed(`after=${from}&wait=${feedWaitSecondsMax}`).then((page) => {
          answered += 1;
          return page.items.length;
        }),
      );
      assert.equal(await Promise.race(asks), 0);
      assert.equal(answered, 1);
      await write('test.everybody');
      assert.deepEqual((await Promise.all(asks)).toSorted(), [0, ...Array(feedWaitsMax).fill(1)]);
    });

    it('management.invalid_request: a place beyond the end, a time, types or a page that are none or too many', async () => {
      const last = await lastSeq();
      const types = (count: number): string => Array(count).fill('user.created').join(',');
      await feed(`after=${last}&types=${types(feedTypesMax)}&wait=0&limit=200`);
      for (const [kind, query] of [
        ['after', `after=${last + 1}`],
        ['after', 'after=-1'],
        ['wait', `wait=${feedWaitSecondsMax + 1}`],
        ['wait', 'wait=-1'],
        ['types', `types=${types(feedTypesMax + 1)}`],
        ['types', 'types=User'],
        ['types', 'types=user.forgotten'],
        ['types', 'types=user.created,nothing.*'],
        ['types', 'types=*'],
        ['limit', 'limit=201'],
      ] as const)
        await assertRefusal(await tenant.call('GET', `/events/feed?${query}`), 'management.invalid_request', { kind, text: /./ });
    });

    it('a tenant reads its own alone', async () => {
      const other = await createTestTenant(server);
      await createTestUser(other, 'elsewhere@example.com');
      const theirs = await other.make<Page & Record<string, unknown>>('GET', '/events/feed?types=user.created');
      const ours = await readAll(0, 200);
      assert.equal(theirs.items.length, 1);
      assert.ok(ours.every(({ id }) => theirs.items.every((event) => event.id !== id)));
    });
  });
}
