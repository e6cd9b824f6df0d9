// Limits of recorded refusals at n and n+1: over HTTP where a stranger meets them, else on the recorder with a clock that stands.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { createRefusalSummaries, type SummedRefusal } from '../../src/audit/refusal-summaries.ts';
import { createRefusalRecorder, type Refusal } from '../../src/audit/refusals.ts';
import { reject } from '../../src/contract/contract-error.ts';
import {
  refusalQueueBytesMax,
  refusalQueueRowsMax,
  refusalRowsPerTenantMax,
  refusalSummaryKeysMax,
  refusalsOfKindBurst,
  refusalsOfKindRefillMs,
  refusalsPerTenantPerSecond,
  refusalValueCharsMax,
} from '../../src/contract/limits.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import { createLog } from '../../src/platform/log.ts';
import { requestIdAt } from '../../src/platform/random.ts';
import { createPurgeJob } from '../../src/storage/purge.ts';
import { insertAuditEvents } from '../../src/storage/records/audit-events.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { startTestServer, type TestClock, type TestServer } from '../support/server.ts';

interface Explained {
  readonly items: readonly { readonly type: string; readonly received: string | null; readonly data: Readonly<Record<string, unknown>> }[];
}

for (const database of databases) {
  describe(`limits of refusals on ${database}`, () => {
    let nowMs = Date.now();
    const clock: TestClock = {
      nowMs: () => nowMs,
      advance: async (ms) => {
        nowMs += ms;
      },
    };
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database, { clock, flags: { metrics_listen: '127.0.0.1:0' } });
      tenant = await createTestTenant(server);
    });
    after(() => server.close());
    afterEach(() => clock.advance(refusalsOfKindBurst * refusalsOfKindRefillMs)); // every share is whole again

    /** Asks for something that is not there and gives the request id. */
    const refuse = async (path = 'nothing', by = tenant): Promise<string> => {
      const response = await fetch(`${by.baseUrl}/v1/idp/oidc/${path}`);
      assert.equal(response.status, 404);
      return response.headers.get('x-request-id')!;
    };
    const explain = (requestId: string, by = tenant): Promise<Explained> => by.make<Explained>('GET', `/events/${requestId}`);
    const typesOf = async (ids: readonly string[], by = tenant): Promise<readonly string[]> => {
      const found = await Promise.all(ids.map((id) => explain(id, by)));
      return [...new Set(found.flatMap(({ items }) => items.map(({ type }) => type)))];
    };
    const refuseTimes = async (times: number): Promise<readonly string[]> => {
      const ids: string[] = [];
      for (let turn = 0; turn < times; turn += 1) ids.push(await refuse());
      return ids;
    };

    it('refusalsOfKindBurst: so many of a kind are stored, one more is summed up with its minute', async () => {
      const stored = await refuseTimes(refusalsOfKindBurst);
      const summed = await refuse();
      assert.deepEqual(await typesOf(stored), ['refusal']);
      assert.deepEqual(
        (await explain(summed)).items.map(({ type, data }) => [type, data]),
        [['refusal_summary', { count: 1, first_request_id: summed, last_request_id: summed, address_block: '127.0.0.1' }]],
      );
    });
    it('refusalsOfKindRefillMs: then one each three seconds', async () => {
      await refuseTimes(refusalsOfKindBurst);
      await clock.advance(refusalsOfKindRefillMs - 1);
      assert.deepEqual(await typesOf([await refuse()]), ['refusal_summary']);
      await clock.advance(1);
      assert.deepEqual(await typesOf([await refuse()]), ['refusal']);
      assert.deepEqual(await typesOf([await refuse()]), ['refusal_summary']);
    });
    it('refusalValueCharsMax: what was received and the path are cut', async () => {
      const pathOf = async (chars: number): Promise<string> => {
        const { items } = await explain(await refuse('p'.repeat(chars - '/v1/idp/oidc/'.length)));
        return String(items[0]!.data['path']);
      };
      for (const chars of [refusalValueCharsMax, refusalValueCharsMax + 1])
        assert.equal((await pathOf(chars)).length, refusalValueCharsMax);
    });
    it('a kind is a tenant, a row and an address block: each has its own share, and metrics count all', async () => {
      await refuseTimes(refusalsOfKindBurst + 1);
      const other = await createTestTenant(server);
      assert.deepEqual(await typesOf([await refuse('nothing', other)], other), ['refusal']);
      await clock.advance(1000);
      const unauthorized = await fetch(`${tenant.baseUrl}/scim/v2/Users`);
      assert.equal(unauthorized.status, 401);
      assert.deepEqual(await typesOf([unauthorized.headers.get('x-request-id')!]), ['refusal']);
      const text = await (await fetch(server.gatehouse.metricsUrl!)).text();
      const total = Number(/^gatehouse_refusals_total\{row="oauth\.not_found"\} (\d+)$/m.exec(text)?.[1]);
      const summed = Number(/^gatehouse_refusals_summarised_total (\d+)$/m.exec(text)?.[1]);
      assert.ok(summed >= 4 && total > summed + refusalsOfKindBurst, `${summed} of ${total}`);
    });

    it('refusalsPerTenantPerSecond, refusalQueueRowsMax, refusalQueueBytesMax: of all kinds together, and of all tenants', async () => {
      const { database: store } = server.gatehouse.services;
      const recorderOf = () => createRefusalRecorder(store, clock, createLog('silent'));
      const error = reject('oauth.not_found', { reason: 'no_such_path', received: 'r'.repeat(300), expected: 'e'.repeat(300) });
      const refusal = (changes: Partial<Refusal>): Refusal => ({
        tenant: tenant.id as TenantId,
        requestId: requestIdAt(nowMs),
        error,
        method: 'GET',
        path: '/',
        ip: '192.0.2.1',
        addressBlock: '192.0.2.1',
        ...changes,
      });
      const storedOf = (count: number, changesOf: (index: number) => Partial<Refusal>): number => {
        const recorder = recorderOf();
        return Array.from({ length: count }, (_none, index) => recorder.record(refusal(changesOf(index)))).filter((how) => how === 'stored')
          .length;
      };
      const tenantOf = (index: number): TenantId => `tenant-${index}` as TenantId; // never written
      assert.equal(
        storedOf(refusalsPerTenantPerSecond, (index) => ({ addressBlock: `a${index}` })),
        refusalsPerTenantPerSecond,
      );
      assert.equal(
        storedOf(refusalsPerTenantPerSecond + 1, (index) => ({ addressBlock: `a${index}` })),
        refusalsPerTenantPerSecond,
      );
      const small = { error: reject('oauth.not_found', 'no_such_path') };
      assert.equal(
        storedOf(refusalQueueRowsMax, (index) => ({ ...small, tenant: tenantOf(index) })),
        refusalQueueRowsMax,
      );
      assert.equal(
        storedOf(refusalQueueRowsMax + 1, (index) => ({ ...small, tenant: tenantOf(index) })),
        refusalQueueRowsMax,
      );
      const large = storedOf(refusalQueueRowsMax, (index) => ({ tenant: tenantOf(index), path: `/${'p'.repeat(300)}` }));
      assert.ok(large < refusalQueueRowsMax && large * 1200 < refusalQueueBytesMax && large * 3000 > refusalQueueBytesMax, String(large));
    });

    it('refusalRowsPerTenantMax: the newest are kept, and audit records of other types are no refusals', async () => {
      assert.equal(refusalRowsPerTenantMax, 500_000);
      const full = await createTestTenant(server);
      const id = full.id as TenantId;
      const { database: store } = server.gatehouse.services;
      const types = async (): Promise<readonly string[]> => {
        const rows = await store.read(id, (queries) =>
          queries
            .selectFrom('audit_events')
            .select(['type', 'reason'])
            .where('tenant_id', '=', id)
            .where('created_at', '>=', nowMs)
            .where('reason', 'is not', null)
            .orderBy('created_at')
            .execute(),
        );
        return rows.map(({ type, reason }) => `${type} ${reason}`);
      };
      const refusalsMax = 4;
      for (const [offset, type] of (['refusal', 'user.created', 'refusal', 'refusal_summary', 'refusal'] as const).entries())
        await store.write(id, (queries) => insertAuditEvents(queries, id, nowMs + offset, [{ type, reason: `r${offset}` }]));
      const purge = async (): Promise<void> => {
        await store.system((queries) => queries.deleteFrom('instance').where('key', '=', 'lease:purge').execute()); // of the server's own
        await createPurgeJob(store, refusalsMax).run(new AbortController().signal);
      };
      await purge();
      const all = ['refusal r0', 'user.created r1', 'refusal r2', 'refusal_summary r3', 'refusal r4'];
      assert.deepEqual(await types(), all);
      await store.write(id, (queries) => insertAuditEvents(queries, id, nowMs + 5, [{ type: 'refusal', reason: 'r5' }]));
      await purge();
      assert.deepEqual(await types(), [...all.slice(1), 'refusal r5']);
    });
  });
}

describe('summaries of refusals', () => {
  const nowMs = Date.UTC(2026, 0, 1);
  const refusal = (changes: Partial<SummedRefusal>): SummedRefusal => ({
    tenant: 'tenant' as TenantId,
    requestId: requestIdAt(nowMs),
    row: 'oauth.not_found',
    reason: 'no_such_path',
    addressBlock: '192.0.2.1',
    ...changes,
  });
  const dataOf = (summaries: ReturnType<typeof createRefusalSummaries>, atMs: number) =>
    summaries.take(atMs, 'all').map(({ data }) => JSON.parse(data!) as { readonly count: number; readonly address_block?: string });

  it('refusalSummaryKeysMax: beyond it new ones have no address, and beyond as many again none is made', () => {
    const summaries = createRefusalSummaries();
    for (let index = 0; index < refusalSummaryKeysMax; index += 1) assert.ok(summaries.add(refusal({ addressBlock: `a${index}` }), nowMs));
    for (let index = 0; index < 3; index += 1) assert.ok(summaries.add(refusal({ addressBlock: `b${index}` }), nowMs));
    assert.ok(summaries.add(refusal({ addressBlock: 'a0' }), nowMs));
    const data = dataOf(summaries, nowMs);
    assert.equal(data.length, refusalSummaryKeysMax + 1);
    assert.deepEqual(
      data.filter(({ address_block: block }) => block === undefined).map(({ count }) => count),
      [3],
    );
    assert.equal(data.find(({ address_block: block }) => block === 'a0')!.count, 2);
    for (let index = 1; index < refusalSummaryKeysMax; index += 1) assert.ok(summaries.add(refusal({ row: `row-${index}` }), nowMs));
    assert.equal(summaries.add(refusal({ row: 'one more' }), nowMs), false);
    assert.ok(summaries.add(refusal({ row: 'row-1' }), nowMs), 'those that are there still count');
  });
  it('one record a minute, by the minute the request began in, written when it is over', () => {
    const summaries = createRefusalSummaries();
    summaries.add(refusal({}), nowMs);
    summaries.add(refusal({ requestId: requestIdAt(nowMs + 59_999) }), nowMs + 60_001);
    summaries.add(refusal({ requestId: requestIdAt(nowMs + 60_000) }), nowMs + 60_001);
    assert.deepEqual(summaries.take(nowMs + 64_999, 'over'), []);
    const first = summaries.take(nowMs + 65_000, 'over');
    assert.deepEqual(
      first.map(({ created_at: at, data }) => [at, JSON.parse(data!).count]),
      [[nowMs, 2]],
    );
    assert.deepEqual(
      summaries.take(nowMs + 125_000, 'over').map(({ created_at: at }) => at),
      [nowMs + 60_000],
    );
    assert.deepEqual(summaries.take(nowMs + 200_000, 'all'), []);
  });
  it('taken early it is written again under the same id, and what could not be written is taken again', () => {
    const summaries = createRefusalSummaries();
    summaries.add(refusal({}), nowMs);
    const early = summaries.take(nowMs, 'all');
    assert.deepEqual(summaries.take(nowMs, 'all'), []);
    summaries.retry(early);
    assert.equal(summaries.take(nowMs, 'all')[0]!.id, early[0]!.id);
    summaries.add(refusal({}), nowMs);
    const late = summaries.take(nowMs + 65_000, 'over');
    assert.deepEqual(
      late.map(({ id, data }) => [id, JSON.parse(data!).count]),
      [[early[0]!.id, 2]],
    );
  });
});
