// OpenTelemetry traces, as a collector receives them over OTLP/HTTP: which requests are taken, how spans hang together, and that
// nothing a request said is among their attributes.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { spanQueueMax } from '../../src/contract/limits.ts';
import { tracedPush } from '../../src/platform/tracing/traced.ts';
import { createTracing } from '../../src/platform/tracing/tracing.ts';
import { assertionForm, basic, makeKeyPair, postForm, signAssertion } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, rootTenant } from '../support/fixtures.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { type CollectedSpan, type Collector, startCollector } from '../support/otlp-collector.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let made = 0;
/** A trace begun elsewhere, taken or not. */
const parent = (isSampled: boolean) => {
  made += 1;
  const traceId = `${made}`.padStart(32, 'a');
  return { traceId, spanId: 'b'.repeat(16), traceparent: `00-${traceId}-${'b'.repeat(16)}-0${Number(isSampled)}` };
};

for (const database of databases) {
  describe(`traces on ${database}`, () => {
    let collector: Collector;
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      collector = await startCollector();
      const flags = { otlp_url: collector.url, trusted_proxies: '127.0.0.1/32', egress_allow: '127.0.0.0/8' };
      server = await startTestServer(database, { flags });
      tenant = await createTestTenant(server);
    });
    after(async () => {
      await server.close();
      await collector.close();
    });
    const spansOf = async (traceId: string): Promise<{ readonly root: CollectedSpan; readonly children: readonly CollectedSpan[] }> => {
      const root = await collector.waitFor((span) => span.traceId === traceId && span.parentSpanId === 'b'.repeat(16));
      return { root, children: collector.spans.filter((span) => span.traceId === traceId && span !== root) };
    };

    it('a token request: the span of its route, with tenant and request id, and its signature below', async () => {
      const { traceId, traceparent } = parent(true);
      const form = { grant_type: 'client_credentials' };
      const response = await postForm(`${tenant.baseUrl}/v1/idp/oidc/token`, form, {
        ...basic(tenant.adminClientId, tenant.adminClientSecret),
        traceparent,
      });
      assert.equal(response.status, 200);
      const { root, children } = await spansOf(traceId);
      assert.equal(root.name, 'POST /v1/idp/oidc/token');
      assert.deepEqual(root.attributes, {
        'http.request.method': 'POST',
        'http.route': '/v1/idp/oidc/token',
        'http.response.status_code': 200,
        'gatehouse.request_id': response.headers.get('x-request-id'),
        'gatehouse.tenant': tenant.slug,
      });
      const signature = children.find(({ name }) => name === 'signature')!;
      assert.equal(signature.parentSpanId, root.spanId);
      assert.deepEqual([...collector.paths], ['POST /v1/traces application/json']);
    });
    it('a refusal has its contract row, a transaction is a child, and no query, body or address is anywhere', async () => {
      const { traceId, traceparent } = parent(true);
      const form = { grant_type: 'refresh_token', refresh_token: 'canary-token' };
      await postForm(`${tenant.baseUrl}/v1/idp/oidc/token?canary=query`, form, {
        ...basic(tenant.adminClientId, tenant.adminClientSecret),
        traceparent,
        'x-forwarded-for': '192.0.2.99',
      });
      const { root, children } = await spansOf(traceId);
      assert.equal(root.attributes['http.response.status_code'], 400);
      assert.match(String(root.attributes['gatehouse.contract_row']), /^token\./);
      const text = JSON.stringify([root, children]);
      for (const canary of ['canary', '192.0.2.99', tenant.adminClientId]) assert.ok(!text.includes(canary), canary);
    });
    it('a write of the management API has a transaction below it', async () => {
      const { traceId, traceparent } = parent(true);
      const response = await fetch(`${tenant.managementApi}/users`, {
        method: 'POST',
        headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/json', traceparent },
        body: JSON.stringify({ user_name: `traced-${made}` }),
      });
      assert.equal(response.status, 201);
      const { root, children } = await spansOf(traceId);
      assert.equal(root.name, 'POST /v1/management/*');
      const transactions = children.filter(({ name }) => name === 'transaction');
      assert.ok(transactions.length > 0 && transactions.every(({ parentSpanId }) => parentSpanId === root.spanId));
    });
    it('an outbound call is a child and carries the trace on', async () => {
      const key = makeKeyPair('ES256');
      const seen: (string | undefined)[] = [];
      const host = createServer((request, response) => {
        seen.push(request.headers['traceparent'] as string | undefined); // one header, so a text
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [key.publicJwk] }));
      });
      await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
      try {
        const root = await rootTenant(server.gatehouse.services);
        const client = await createClient(server.gatehouse.services, root, {
          tokenEndpointAuthMethod: 'private_key_jwt',
          secretHash: undefined,
          grantTypes: ['client_credentials'],
          jwksUri: `http://127.0.0.1:${(host.address() as AddressInfo).port}/jwks`,
        });
        const { traceId, traceparent } = parent(true);
        const assertion = await signAssertion(key, client.clientId, root.baseUrl, server.clock.nowMs());
        const form = { grant_type: 'client_credentials', ...assertionForm(assertion) };
        await postForm(`${root.baseUrl}/v1/idp/oidc/token`, form, { traceparent });
        const { root: span, children } = await spansOf(traceId);
        const call = children.find(({ name }) => name === 'outbound call')!;
        assert.equal(call.parentSpanId, span.spanId);
        assert.deepEqual(seen, [`00-${traceId}-${call.spanId}-01`]);
      } finally {
        host.closeAllConnections();
        host.close();
      }
    });
    it('a trace that was not taken elsewhere, and one that nobody could have begun, are none here', async () => {
      const unsampled = parent(false);
      const malformed = parent(true);
      const jwks = (traceparent: string): Promise<Response> => fetch(`${tenant.baseUrl}/v1/idp/oidc/jwks`, { headers: { traceparent } });
      await jwks(unsampled.traceparent);
      await jwks(malformed.traceparent.toUpperCase());
      await jwks(malformed.traceparent.replace(/^00/, '01'));
      const taken = parent(true);
      await jwks(taken.traceparent);
      await spansOf(taken.traceId); // sent after those before it
      assert.ok(collector.spans.every(({ traceId }) => traceId !== unsampled.traceId && traceId !== malformed.traceId));
    });
    it('from a caller that is no trusted proxy the header means nothing', async () => {
      const stranger = await startTestServer(database, { flags: { otlp_url: collector.url } });
      const theirs = parent(true);
      await fetch(`${stranger.url}/v1/idp/oidc/jwks`, { headers: { traceparent: theirs.traceparent } });
      await stranger.close(); // sends what waits
      assert.ok(collector.spans.every(({ traceId }) => traceId !== theirs.traceId));
    });
  });
}

describe('tracing', () => {
  it('one in a hundred is taken, and deliveries are traces of their own', async () => {
    const collector = await startCollector();
    const tracing = await createTracing(`${collector.url}/elsewhere`);
    const send = async () => ({ outcome: 'sent' }) as const;
    const ways = { operator: { apns: undefined, fcm: undefined }, senders: { apns: send, fcm: send, web: send } };
    const { web } = tracedPush(ways, tracing).senders;
    const notice = { type: 'test', id: 'id', sentence: 'text', expiresAtMs: 0 } as const;
    const { signal } = new AbortController();
    const sent = 20_000;
    for (let turn = 0; turn < sent; turn += 1)
      assert.deepEqual(await web({ share: 'tenant', subject: '', publicKey: '', privateKey: '' }, 'token', notice, signal), {
        outcome: 'sent',
      });
    await tracing.close();
    const { spans, paths } = collector;
    assert.ok(spans.length > sent / 200 && spans.length < sent / 50, String(spans.length));
    assert.ok(spans.every(({ name, parentSpanId }) => name === 'delivery' && parentSpanId === undefined));
    assert.deepEqual([...paths], ['POST /elsewhere application/json']);
    await collector.close();
  });
  it('spanQueueMax: what is beyond is dropped, and a collector that is away holds nobody up', async () => {
    const sendAtOnce = async (count: number): Promise<number> => {
      const collector = await startCollector();
      const tracing = await createTracing(collector.url);
      for (let turn = 0; turn < count; turn += 1) tracing.begin('flood', {}, parent(true).traceparent)!.end('ok');
      await tracing.close();
      await collector.close();
      return collector.spans.length;
    };
    assert.equal(await sendAtOnce(spanQueueMax), spanQueueMax);
    const kept = await sendAtOnce(3 * spanQueueMax);
    assert.ok(kept >= spanQueueMax && kept < 1.5 * spanQueueMax, String(kept));
    const away = await createTracing('http://127.0.0.1:1');
    away.begin('nowhere', {}, parent(true).traceparent)!.end('ok');
    await away.close();
  });
});
