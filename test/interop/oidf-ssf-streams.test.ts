// The modules of the OpenID Foundation's plans for transmitters of security events (SSF 1.0 and its CAEP Interoperability Profile), in our
// own words: metadata, the control of streams and of subjects, and what must be refused. What goes over a stream: oidf-ssf-events.test.ts.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, beforeEach, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { type Json, jsonOf } from '../support/management.ts';
import { type Endpoint, eventTypes, type Judge, openJudge, pushPath, type Sent } from '../support/oidf-ssf.ts';
import { startTestServer } from '../support/server.ts';
import { pollMethod, pushMethod, type Stream } from '../support/ssf.ts';

const broken = '{"stream_id": ';
const wrongToken = 'not-a-token-of-anybody';
const read = (judge: Judge, stream: Stream): Promise<Stream> =>
  judge.send('GET', 'configuration', { query: { stream_id: stream.stream_id } }).then((answer) => jsonOf<Stream>(answer, 200));

/** RFC 6750 3: the scheme, and the error once there were credentials. */
function assertChallenge(response: Response, status: number, challenge: string): void {
  assert.deepEqual([response.status, response.headers.get('www-authenticate')], [status, challenge]);
}

for (const database of databases) {
  describe(`SSF transmitter plans, streams, on ${database}`, () => {
    let judge: Judge;
    before(async () => {
      judge = await openJudge(database);
    });
    after(() => judge?.close());
    beforeEach(() => judge.clean());

    it('openid-ssf-transmitter-metadata', async () => {
      const { metadata, tenant } = judge;
      assert.equal(metadata['issuer'], tenant.baseUrl);
      assert.equal(metadata['spec_version'], '1_0');
      assert.deepEqual(metadata['authorization_schemes'], [{ spec_urn: 'urn:ietf:rfc:6749' }]);
      assert.deepEqual(metadata['delivery_methods_supported'], [pushMethod, pollMethod]);
      assert.equal(metadata['default_subjects'], 'ALL');
      for (const name of ['jwks_uri', 'configuration_endpoint', 'status_endpoint', 'verification_endpoint'])
        assert.ok(URL.canParse(String(metadata[name])), name);
      for (const [name, value] of Object.entries(metadata)) assert.ok(!Array.isArray(value) || value.length > 0, `${name} has members`);
      const { keys } = await jsonOf<{ keys: readonly Json[] }>(await fetch(String(metadata['jwks_uri'])), 200);
      assert.ok(keys.length > 0 && keys.every(({ d, p, q }) => d === undefined && p === undefined && q === undefined));
      const kids = keys.map(({ kid }) => kid);
      assert.equal(new Set(kids).size, kids.length);
      const { hostname, protocol } = new URL(String(metadata['issuer']));
      assert.ok(protocol === 'https:' || ['localhost', '127.0.0.1'].includes(hostname), 'http on loopback alone');
    });

    it('openid-ssf-transmitter-metadata: at a public address every URL is https, and the issuer leads to the document', async () => {
      const server = await startTestServer(database, { flags: { public_url: 'https://id.example' } });
      try {
        const { port } = server.gatehouse.app.server.address() as { readonly port: number };
        const body = await new Promise<string>((resolve, reject) => {
          const options = { port, host: '127.0.0.1', path: '/.well-known/ssf-configuration', headers: { host: 'id.example' } };
          request(options, async (response) => resolve((await response.toArray()).join('')))
            .on('error', reject)
            .end();
        });
        const metadata: Json = JSON.parse(body);
        if (metadata['error'] !== undefined) assert.fail(body);
        for (const [name, value] of Object.entries(metadata))
          if (name === 'issuer' || /_(endpoint|uri)$/.test(name)) assert.ok(String(value).startsWith(`${metadata['issuer']}`), name);
        assert.match(String(metadata['issuer']), /^https:\/\/id\.example/);
      } finally {
        await server.close();
      }
    });

    for (const mode of ['push', 'poll'] as const)
      it(`openid-ssf-stream-control-happy-path, ${mode}: create, read, update, replace, status, delete`, async () => {
        const { metadata } = judge;
        const made = await judge.create(mode);
        for (const name of ['stream_id', 'iss', 'aud', 'events_delivered', 'delivery']) assert.ok(name in made, name);
        assert.deepEqual([made['iss'], made['aud']], [metadata['issuer'], judge.clientId]);
        assert.equal(made.delivery.method, mode === 'push' ? pushMethod : pollMethod);
        if (mode === 'push') assert.equal(made.delivery.endpoint_url, judge.receiver.url(pushPath));
        const supported = made['events_supported'] as readonly string[];
        assert.ok(supported.includes(eventTypes.sessionRevoked) && supported.includes(eventTypes.credentialChange));
        assert.deepEqual(made['events_delivered'], [eventTypes.sessionRevoked, eventTypes.credentialChange]);
        assert.deepEqual(await read(judge, made), made);
        assert.deepEqual(await jsonOf(await judge.send('GET', 'configuration'), 200), [made]);
        const id = { stream_id: made.stream_id };
        const wanted = [eventTypes.sessionRevoked, eventTypes.credentialChange, eventTypes.deviceCompliance];
        const update = { ...id, events_requested: wanted, description: 'Updated stream' };
        const updated = await jsonOf<Stream>(await judge.send('PATCH', 'configuration', { body: update }), 200);
        assert.deepEqual(updated, { ...made, events_requested: wanted, description: 'Updated stream' });
        assert.deepEqual(await read(judge, made), updated);
        const delivery = { method: pushMethod, endpoint_url: 'https://receiver.example.com/events' };
        const replace = { ...id, events_requested: wanted.slice(0, 1), delivery, audience: 'https://suite.example' };
        const replaced = await jsonOf<Stream>(await judge.send('PUT', 'configuration', { body: replace }), 200);
        const { description: _gone, ...rest } = updated;
        assert.deepEqual(replaced, { ...rest, events_requested: wanted.slice(0, 1), events_delivered: wanted.slice(0, 1), delivery });
        assert.deepEqual(await read(judge, made), replaced);
        const bare = await jsonOf<Stream>(await judge.send('PUT', 'configuration', { body: id }), 200);
        assert.deepEqual([bare.delivery.method, 'events_requested' in bare], [pollMethod, false], 'what is not given is deleted');
        assert.deepEqual(await jsonOf(await judge.send('GET', 'status', { query: id }), 200), { ...id, status: 'enabled' });
        for (const status of ['paused', 'disabled', 'enabled'])
          for (const reason of [{ reason: 'MAINTENANCE' }, {}]) {
            const shown = { ...id, status, ...reason };
            assert.deepEqual(await jsonOf(await judge.send('POST', 'status', { body: shown }), 200), shown);
            assert.deepEqual(await jsonOf(await judge.send('GET', 'status', { query: id }), 200), shown);
          }
        const deleted = await judge.send('DELETE', 'configuration', { query: id });
        assert.deepEqual([deleted.status, await deleted.text()], [204, '']);
        assert.equal((await judge.send('GET', 'configuration', { query: id })).status, 404);
        assert.deepEqual(await jsonOf(await judge.send('GET', 'configuration'), 200), []);
      });

    it('openid-ssf-stream-control-create-stream-without-delivery: polled', async () => {
      for (const sent of [{ body: { description: 'No delivery' } }, { body: {} }, { text: '' }] satisfies Sent[]) {
        const made = await jsonOf<Stream>(await judge.send('POST', 'configuration', sent), 201);
        assert.equal(made.delivery.method, pollMethod);
        assert.equal((await judge.poll(made, { returnImmediately: true, maxEvents: 1 })).status, 200);
        await judge.clean();
      }
    });
    it('openid-ssf-stream-control: types nobody knows, and members of drafts, are passed over', async () => {
      const asked = [eventTypes.sessionRevoked, 'https://schemas.example/unheard-of'];
      const made = await judge.create('poll', { events_requested: asked, format: 'iss_sub', audience: 'https://suite.example' });
      assert.deepEqual([made['events_requested'], made['events_delivered']], [asked, [eventTypes.sessionRevoked]]);
      assert.ok(!('format' in made) && !('audience' in made));
    });
    it('openid-ssf-stream-control-error-create-stream-with-broken-input', async () => {
      const answer = await judge.send('POST', 'configuration', { text: '{"delivery": "broken' });
      assert.equal(answer.status, 400);
      assert.deepEqual(await jsonOf(await judge.send('GET', 'configuration'), 200), []);
    });
    it('openid-ssf-stream-control-error-create-stream-with-duplicate-config', async () => {
      await judge.create('poll');
      assert.equal((await judge.send('POST', 'configuration', { body: {} })).status, 409);
    });
    it('openid-ssf-transmitter-poll-endpoint-url-unique-per-stream: skipped by the suite, a receiver has one stream', async () => {
      const first = await judge.create('poll');
      await judge.clean();
      assert.notEqual((await judge.create('poll')).delivery.endpoint_url, first.delivery.endpoint_url);
    });
    it('openid-ssf-stream-control-error-create-stream-with-read-only-token', async () => {
      const token = await judge.tokenOf('ssf.read');
      assertChallenge(
        await judge.send('POST', 'configuration', { body: {}, token }),
        403,
        'Bearer error="insufficient_scope", scope="ssf.manage"',
      );
      assert.deepEqual(await jsonOf(await judge.send('GET', 'configuration', { token }), 200), []);
    });

    const everyCall = (id: string): readonly (readonly [string, Endpoint, Sent])[] => [
      ['GET', 'configuration', { query: { stream_id: id } }],
      ['PATCH', 'configuration', { body: { stream_id: id, description: 'Other' } }],
      ['PUT', 'configuration', { body: { stream_id: id } }],
      ['DELETE', 'configuration', { query: { stream_id: id } }],
      ['GET', 'status', { query: { stream_id: id } }],
      ['POST', 'status', { body: { stream_id: id, status: 'paused' } }],
      ['POST', 'verification', { body: { stream_id: id, state: 'asked' } }],
      ['POST', 'add_subject', { body: { stream_id: id, subject: { format: 'email', email: 'a@example.com' } } }],
      ['POST', 'remove_subject', { body: { stream_id: id, subject: { format: 'email', email: 'a@example.com' } } }],
    ];
    it('openid-ssf-stream-control-error-*-with-invalid-token, -without-token, -token-in-uri-query: create, read, update, replace, delete, status, verify', async () => {
      const { stream_id: id } = await judge.create('poll');
      const token = await judge.tokenOf('ssf.read ssf.manage');
      for (const [method, endpoint, sent] of [['POST', 'configuration', { body: {} }] as const, ...everyCall(id)]) {
        assertChallenge(await judge.send(method, endpoint, { ...sent, token: wrongToken }), 401, 'Bearer error="invalid_token"');
        assertChallenge(await judge.send(method, endpoint, { ...sent, token: null }), 401, 'Bearer');
        const inQuery = { ...sent, token: null, query: { ...sent.query, access_token: token } };
        assertChallenge(await judge.send(method, endpoint, inQuery), 401, 'Bearer');
      }
      assert.equal((await judge.send('GET', 'configuration', { query: { stream_id: id } })).status, 200, 'it is still there');
    });
    it('openid-ssf-stream-control-error-*-unknown-stream: read, update, replace, delete, status, verify', async () => {
      await judge.create('poll');
      for (const unknown of ['dummy', '018f0000-0000-7000-8000-000000000000'])
        for (const [method, endpoint, sent] of everyCall(unknown)) assert.equal((await judge.send(method, endpoint, sent)).status, 404);
    });
    it('openid-ssf-stream-control-error-*-with-invalid-body: update, replace, status, verify', async () => {
      const made = await judge.create('poll');
      for (const [method, endpoint] of [
        ['PATCH', 'configuration'],
        ['PUT', 'configuration'],
        ['POST', 'status'],
        ['POST', 'verification'],
        ['POST', 'add_subject'],
        ['POST', 'remove_subject'],
      ] as const)
        for (const text of [broken, '[]', '"text"', '']) assert.equal((await judge.send(method, endpoint, { text })).status, 400);
      for (const [name, value] of Object.entries({ iss: 'https://elsewhere.example', aud: 'somebody', events_supported: [] }))
        for (const method of ['PATCH', 'PUT']) {
          const body = { stream_id: made.stream_id, [name]: value };
          assert.equal((await judge.send(method, 'configuration', { body })).status, 400, `${method} ${name}`);
        }
      assert.deepEqual(await read(judge, made), made);
    });
    it('openid-ssf-stream-subject-control: add and remove, of an address nobody here has too', async () => {
      const { stream_id: id } = await judge.create('poll');
      const subject = { format: 'email', email: 'example.user@example.com' };
      const added = await judge.send('POST', 'add_subject', { body: { stream_id: id, subject, verified: true } });
      assert.deepEqual([added.status, await added.text()], [200, '']);
      const removed = await judge.send('POST', 'remove_subject', { body: { stream_id: id, subject } });
      assert.deepEqual([removed.status, await removed.text()], [204, '']);
    });
    it('openid-ssf-transmitter-poll-endpoint-authorization', async () => {
      const stream = await judge.create('poll');
      const asked = { maxEvents: 10, returnImmediately: true };
      assertChallenge(await judge.poll(stream, asked, { token: null }), 401, 'Bearer');
      assertChallenge(await judge.poll(stream, asked, { token: wrongToken }), 401, 'Bearer error="invalid_token"');
      assert.equal((await judge.poll(stream, asked, { token: await judge.tokenOf('ssf.read') })).status, 200);
    });
  });
}
