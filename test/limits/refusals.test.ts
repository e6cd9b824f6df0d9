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
import { type Database, StorageUnavailable } from '../../src/storage/engine/database.ts';
import { createPurgeJob } from '../../src/storage/purge.ts';
import { insertAuditEvents } from '../../src/storage/records/audit-events.ts';
import { assembleJwt, assertionForm, makeKeyPair } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { startTestServer, type TestClock, type TestServer } from '../support/server.ts';

const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

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

    it('U+0000 in what was sent stops no audit: it is kept as U+FFFD, and so are later refusals', async () => {
      const extra = await createTestTenant(server, { settings: { extra_grants: [jwtBearer] } });
      const { client_id: known } = await extra.make<{ client_id: string }>('POST', '/clients', {
        name: 'Keys',
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [makeKeyPair('ES256').publicJwk] },
        redirect_uris: ['https://app.example/cb'],
      });
      const hostile = (header: object, sub: string): string => assembleJwt(header, { sub }, Buffer.alloc(64));
      const forms: readonly Readonly<Record<string, string>>[] = [
        { grant_type: jwtBearer, client_id: 'x', assertion: hostile({ alg: 'ES256' }, 'a\u0000') },
        assertionForm(hostile({ alg: '\u0000' }, known)),
        assertionForm(hostile({ alg: 'ES256', typ: 'b\u0000' }, known)),
      ];
      for (const form of forms) {
        const body = new URLSearchParams({ grant_type: 'authorization_code', code: 'x', ...form });
        const response = await fetch(`${extra.baseUrl}/v1/idp/oidc/token`, { method: 'POST', body });
        const id = response.headers.get('x-request-id')!;
        assert.ok([400, 401].includes(response.status), await response.text());
        assert.equal((await extra.call('GET', '/events')).status, 200);
        if ('client_assertion' in form) assert.match((await explain(id, extra)).items[0]!.received!, /^b?\u{fffd}$/u);
        assert.deepEqual(await typesOf([id], extra), ['refusal']);
        assert.deepEqual(await typesOf([await refuse('nothing', extra)], extra), ['refusal']);
      }
    });
    it('what the database refuses is lost alone, what it cannot take now waits', async () => {
      const { database: store } = server.gatehouse.services;
      const [first, second] = [await createTestTenant(server), await createTestTenant(server)];
      let failure: Error = new StorageUnavailable('away');
      const failing: Database = {
        ...store,
        write: (id, work) => (id === first.id ? Promise.reject(failure) : store.write(id, work)),
      };
      const lines: string[] = [];
      const recorder = createRefusalRecorder(failing, clock, createLog('error', { write: (line) => void lines.push(line) }));
      const error = reject('oauth.not_found', 'no_such_path');
      const at = { error, method: 'GET', path: '/', ip: '192.0.2.1', addressBlock: '192.0.2.1' };
      const [lost, kept] = [requestIdAt(nowMs), requestIdAt(nowMs)];
      recorder.record({ ...at, tenant: first.id as TenantId, requestId: lost });
      recorder.record({ ...at, tenant: second.id as TenantId, requestId: kept });
      await assert.rejects(recorder.flush(), StorageUnavailable);
      assert.deepEqual([(await second.call('GET', `/events/${kept}`)).status, lines.length], [404, 0]);
      failure = new Error('refused');
      await recorder.flush();
      assert.deepEqual(await typesOf([kept], second), ['refusal']);
      assert.match(lines.join(''), new RegExp(`"tenant":"${first.id}","lost":1`));
      await recorder.flush();
      assert.equal(lines.length, 1);
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
