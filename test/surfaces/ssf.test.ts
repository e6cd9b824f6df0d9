// The transmitter of security events over HTTP (design 16, section 2; SSF 1.0): metadata, the stream of a receiver and what is refused of
// it, verification, status, polling (RFC 8936), and who is told of whom.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import { createClient } from '../support/fixtures.ts';
import { issueTokens } from '../support/issued-tokens.ts';
import { callJson, createTestTenant, createTestUser, type Json, jsonOf, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { makeReceiver, pollMethod, pushMethod, type Receiver, type Stream, tellNow, toldBy, verifySet } from '../support/ssf.ts';

const schemas = 'https://schemas.openid.net/secevent/';
const supported = [
  ...['caep/event-type/session-revoked', 'caep/event-type/credential-change', 'risc/event-type/account-disabled'],
  ...['risc/event-type/account-enabled', 'risc/event-type/account-purged', 'risc/event-type/identifier-changed'],
].map((name) => schemas + name);
const unknown = '018f0000-0000-7000-8000-000000000000';

for (const database of databases) {
  describe(`security events on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server?.close());
    const told = async (receiver: Receiver, stream: Stream, fields: Json = {}): Promise<readonly (readonly unknown[])[]> => {
      await tellNow(server);
      const { sets } = await receiver.poll(stream, fields);
      return Promise.all(Object.values(sets).map((token) => toldBy(tenant, receiver, token)));
    };
    const of = (user: { readonly id: string }): Json => ({ format: 'iss_sub', iss: tenant.baseUrl, sub: user.id });
    const jtis = async (receiver: Receiver, stream: Stream): Promise<readonly string[]> => Object.keys((await receiver.poll(stream)).sets);

    it('the metadata of the transmitter, at both addresses; a tenant that is not there has none', async () => {
      const metadata = {
        spec_version: '1_0',
        issuer: tenant.baseUrl,
        jwks_uri: `${tenant.baseUrl}/v1/idp/oidc/jwks`,
        delivery_methods_supported: [pushMethod, pollMethod],
        configuration_endpoint: `${tenant.baseUrl}/v1/ssf/streams`,
        status_endpoint: `${tenant.baseUrl}/v1/ssf/status`,
        add_subject_endpoint: `${tenant.baseUrl}/v1/ssf/subjects/add`,
        remove_subject_endpoint: `${tenant.baseUrl}/v1/ssf/subjects/remove`,
        verification_endpoint: `${tenant.baseUrl}/v1/ssf/verify`,
        authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
        default_subjects: 'ALL',
      };
      for (const url of [
        `${tenant.baseUrl}/.well-known/ssf-configuration`,
        `${server.url}/.well-known/ssf-configuration/t/${tenant.slug}`,
      ]) {
        const response = await fetch(url);
        assert.deepEqual(
          [response.headers.get('cache-control'), response.headers.get('content-type')],
          ['public, max-age=300', 'application/json; charset=utf-8'],
        );
        assert.deepEqual(await jsonOf(response, 200), metadata);
      }
      await assertRefusal(await fetch(`${server.url}/.well-known/ssf-configuration/t/nobody`), 'oauth.not_found');
      await assertRefusal(await fetch(`${server.url}/.well-known/ssf-configuration/t/main`), 'oauth.not_found');
    });

    it('a stream is made, read, changed, replaced and deleted', async () => {
      const receiver = await makeReceiver(tenant);
      assert.deepEqual(await jsonOf(await receiver.call('GET', '/streams'), 200), []);
      const made = await receiver.makeStream({ events_requested: [supported[0], `${schemas}unheard-of`], description: 'Shop' });
      const { stream_id: id } = made;
      const url = `${tenant.baseUrl}/v1/ssf/poll/${id}`;
      const first = {
        stream_id: id,
        iss: tenant.baseUrl,
        aud: receiver.clientId,
        events_supported: supported,
        events_requested: [supported[0], `${schemas}unheard-of`],
        events_delivered: [supported[0]],
        delivery: { method: pollMethod, endpoint_url: url },
        description: 'Shop',
      };
      assert.deepEqual(made, first);
      assert.deepEqual(await jsonOf(await receiver.call('GET', `/streams?stream_id=${id}`), 200), first);
      assert.deepEqual(await jsonOf(await receiver.call('GET', '/streams'), 200), [first]);
      const push = { method: pushMethod, endpoint_url: 'https://receiver.example/sets' };
      const patched = { ...first, delivery: push };
      const withHeader = { ...push, authorization_header: 'Bearer of-the-receiver' };
      assert.deepEqual(
        await jsonOf(await receiver.call('PATCH', '/streams', { stream_id: id, delivery: withHeader }), 200),
        patched,
        'the header is never shown',
      );
      const body = { stream_id: id, iss: tenant.baseUrl, aud: receiver.clientId, events_supported: supported, delivery: push };
      const { events_requested: _requested, description: _description, ...replaced } = { ...patched, events_delivered: supported };
      assert.deepEqual(await jsonOf(await receiver.call('PUT', '/streams', body), 200), replaced);
      assert.deepEqual(
        await jsonOf(await receiver.call('PUT', '/streams', { stream_id: id, delivery: { method: pollMethod, endpoint_url: url } }), 200),
        {
          ...replaced,
          delivery: { method: pollMethod, endpoint_url: url },
        },
      );
      assert.equal((await receiver.call('DELETE', `/streams?stream_id=${id}`)).status, 204);
      await assertRefusal(await receiver.call('DELETE', `/streams?stream_id=${id}`), 'management.not_found');
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/events?type=ssf_stream.updated`);
      assert.deepEqual(
        items.map(({ data, target }) => [target, (data as Json)['fields']]),
        [
          [`ssf_stream:${id}`, ['delivery', 'events_requested', 'description']],
          [`ssf_stream:${id}`, ['delivery', 'events_requested', 'description']],
          [`ssf_stream:${id}`, ['delivery']],
        ],
      );
      assert.ok(!JSON.stringify(items).includes('of-the-receiver'));
    });

    it('management.conflict: a receiver has one stream, asked twice at once too', async () => {
      const receiver = await makeReceiver(tenant);
      const answers = await Promise.all(Array.from({ length: 4 }, () => receiver.call('POST', '/streams', {})));
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409, 409]);
      await assertRefusal(await receiver.call('POST', '/streams', {}), 'management.conflict', {
        text: 'This receiver has a stream already: change or delete it.',
        kind: 'stream_id',
      });
    });

    it('management.unauthorized, forbidden: no token, one of the wrong scope, one of a person', async () => {
      const reader = await makeReceiver(tenant, {}, 'ssf.read');
      await assertRefusal(await callJson(`${tenant.baseUrl}/v1/ssf/streams`, undefined, 'GET'), 'management.unauthorized');
      assert.equal((await reader.call('GET', '/streams')).status, 200);
      const lacks = { text: 'The token lacks the capability ssf.manage.' };
      for (const [method, path, body] of [
        ['POST', '/streams', {}],
        ['PATCH', '/streams', { stream_id: unknown }],
        ['PUT', '/streams', { stream_id: unknown }],
        ['DELETE', `/streams?stream_id=${unknown}`, undefined],
        ['POST', '/status', { stream_id: unknown, status: 'paused' }],
        ['POST', '/verify', { stream_id: unknown }],
      ] as const)
        await assertRefusal(await reader.call(method, path, body), 'management.forbidden', lacks);
      const nobody = await makeReceiver(tenant, { scopes: ['users:read'] }, 'users:read');
      for (const path of ['/streams', `/status?stream_id=${unknown}`])
        await assertRefusal(await nobody.call('GET', path), 'management.forbidden', { text: 'The token lacks the capability ssf.read.' });
      await assertRefusal(await nobody.call('POST', `/poll/${unknown}`, {}), 'management.forbidden', {
        text: 'The token lacks the capability ssf.read.',
      });
      const { services } = server.gatehouse;
      const stored = (await services.tenants.bySlug(tenant.slug))!;
      const admin = await createTestUser(tenant, 'ssf-admin@example.com', { role: 'admin' });
      const { accessToken } = await issueTokens(services, stored, await createClient(services, stored), admin.id as UserId, {
        audience: tenant.managementApi,
        scope: 'ssf.read ssf.manage',
      });
      await assertRefusal(await callJson(`${tenant.baseUrl}/v1/ssf/streams`, accessToken, 'GET'), 'management.forbidden', {
        text: 'Streams belong to clients that authenticate themselves.',
      });
      const other = await createTestTenant(server);
      await assertRefusal(await callJson(`${tenant.baseUrl}/v1/ssf/streams`, other.token, 'GET'), 'management.unauthorized');
    });

    it('management.not_found: the stream of another receiver, or of none, is the same nothing', async () => {
      const [mine, theirs] = [await makeReceiver(tenant), await makeReceiver(tenant)];
      const [stream, foreign] = [await mine.makeStream(), await theirs.makeStream()];
      for (const id of [foreign.stream_id, unknown, 'nothing'])
        for (const [method, path, body] of [
          ['GET', `/streams?stream_id=${id}`, undefined],
          ['PATCH', '/streams', { stream_id: id, description: 'Mine' }],
          ['PUT', '/streams', { stream_id: id }],
          ['DELETE', `/streams?stream_id=${id}`, undefined],
          ['GET', `/status?stream_id=${id}`, undefined],
          ['POST', '/status', { stream_id: id, status: 'disabled' }],
          ['POST', `/status?stream_id=${id}`, { stream_id: id, status: 'disabled' }],
          ['POST', '/verify', { stream_id: id }],
          ['POST', `/poll/${id}`, { returnImmediately: true }],
          ['POST', `/poll/${id}`, { returnImmediately: true, ack: [unknown] }],
        ] as const)
          await assertRefusal(await mine.call(method, path, body), 'management.not_found');
      assert.equal((await jsonOf(await theirs.call('GET', `/status?stream_id=${foreign.stream_id}`), 200))['status'], 'enabled');
      await mine.call('PATCH', '/streams', {
        stream_id: stream.stream_id,
        delivery: { method: pushMethod, endpoint_url: 'https://receiver.example/' },
      });
      await assertRefusal(await mine.call('POST', `/poll/${stream.stream_id}`, { returnImmediately: true }), 'management.not_found');
      await assertRefusal(await mine.call('GET', '/subjects'), 'management.not_found');
    });

    it('management.invalid_request: bodies are refused by their field', async () => {
      const receiver = await makeReceiver(tenant);
      const refuse = async (method: string, path: string, body: unknown, kind: string, text: string | RegExp): Promise<void> =>
        void (await assertRefusal(await receiver.call(method, path, body), 'management.invalid_request', { kind, text }));
      const made = (delivery: Json) => ({ delivery });
      const url = 'delivery.endpoint_url';
      await refuse('POST', '/streams', made({ method: 'urn:ietf:rfc:1149' }), 'delivery.method', /must be one of urn:ietf:rfc:8935/);
      await refuse('POST', '/streams', made({ method: pushMethod }), url, 'This field is required.');
      await refuse(
        'POST',
        '/streams',
        made({ method: pushMethod, endpoint_url: 'http://receiver.example/' }),
        url,
        'This field must be an https URL.',
      );
      await refuse(
        'POST',
        '/streams',
        made({ method: pollMethod, endpoint_url: 'https://receiver.example/' }),
        url,
        'This field is not yours to choose when you poll.',
      );
      await refuse(
        'POST',
        '/streams',
        made({ method: pollMethod, authorization_header: 'Bearer a' }),
        'delivery.authorization_header',
        'This field is for push alone.',
      );
      const split = { method: pushMethod, endpoint_url: 'https://receiver.example/', authorization_header: 'Bearer a\r\nHost: b' };
      await refuse('POST', '/streams', made(split), 'delivery.authorization_header', /./);
      await refuse('POST', '/streams', { events_requested: 'all' }, 'events_requested', /./);
      await refuse('PATCH', '/streams', { description: 'No id' }, 'stream_id', 'This field is required.');
      const { stream_id: id } = await receiver.makeStream();
      for (const [name, value] of Object.entries({
        iss: 'https://elsewhere.example',
        aud: 'somebody',
        events_supported: [],
        events_delivered: [],
        min_verification_interval: 60,
        inactivity_timeout: 60,
      }))
        await refuse('PATCH', '/streams', { stream_id: id, [name]: value }, name, 'This field is ours to set.');
      await refuse(
        'POST',
        '/status',
        { stream_id: id, status: 'asleep' },
        'status',
        'This field must be one of enabled, paused, disabled.',
      );
      await refuse('POST', '/status', { stream_id: id, status: 'paused', subject: {} }, 'subject', 'This field is not known here.');
      await refuse('GET', '/status', undefined, 'stream_id', 'This field is required.');
      await refuse('POST', `/poll/${id}`, { maxEvents: -1 }, 'maxEvents', /./);
      await refuse('POST', `/poll/${id}`, { ack: 'all' }, 'ack', /./);
      await refuse('POST', `/poll/${id}`, { setErrs: { one: 'wrong' } }, 'setErrs.one', /./);
      assert.equal((await receiver.call('POST', '/streams', 'text')).status, 400);
    });

    it('what happens to people is polled, acknowledged and refused, and comes again until it is', async () => {
      const receiver = await makeReceiver(tenant);
      const stream = await receiver.makeStream();
      const user = await createTestUser(tenant, 'polled@example.com');
      await tenant.make('POST', `/users/${user.id}/suspend`);
      await tenant.make('POST', `/users/${user.id}/activate`);
      const disabled = [of(user), 'risc/event-type/account-disabled', {}];
      const enabled = [of(user), 'risc/event-type/account-enabled', {}];
      assert.deepEqual(await told(receiver, stream), [disabled, enabled]);
      const again = await receiver.poll(stream, { maxEvents: 1 });
      assert.deepEqual([Object.keys(again.sets).length, again.moreAvailable], [1, true]);
      const [first, second] = await jtis(receiver, stream);
      assert.deepEqual(Object.keys(again.sets), [first]);
      assert.equal((await verifySet(tenant, receiver, again.sets[first!]!)).jti, first);
      assert.deepEqual(await receiver.poll(stream, { ack: [first, unknown], maxEvents: 0 }), { sets: {}, moreAvailable: true });
      assert.deepEqual(await jtis(receiver, stream), [second]);
      const setErrs = { [second!]: { err: 'invalid_audience', description: 'Not us' }, [unknown]: { err: 'invalid_key' } };
      assert.deepEqual(await receiver.poll(stream, { setErrs }), { sets: {} });
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=ssf_stream.set_refused');
      assert.deepEqual(
        items.map(({ reason, target, actor, data }) => [reason, target, actor, data]),
        [
          [
            'invalid_audience',
            `ssf_stream:${stream.stream_id}`,
            `client:${receiver.clientId}`,
            { client: receiver.clientId, jti: second, description: 'Not us' },
          ],
        ],
      );
    });

    it('a poll waits for the next token, and ends when its stream does', async () => {
      const receiver = await makeReceiver(tenant);
      const stream = await receiver.makeStream();
      const waiting = receiver.poll(stream, { returnImmediately: false });
      const state = 'to be told again';
      assert.equal((await receiver.call('POST', '/verify', { stream_id: stream.stream_id, state })).status, 204);
      const { sets } = await waiting;
      const [token] = Object.values(sets);
      const self = { format: 'opaque', id: stream.stream_id };
      assert.deepEqual(await toldBy(tenant, receiver, token!), [self, 'ssf/event-type/verification', { state }]);
      await receiver.poll(stream, { ack: Object.keys(sets) });
      const cut = receiver.call('POST', `/poll/${stream.stream_id}`, {});
      assert.equal((await receiver.call('DELETE', `/streams?stream_id=${stream.stream_id}`)).status, 204);
      await assertRefusal(await cut, 'management.not_found');
    });

    it('only the types asked for are told, of people inside the gate alone, and of those who were when they are gone', async () => {
      const receiver = await makeReceiver(tenant, { access_policy: 'assigned' });
      const stream = await receiver.makeStream({ events_requested: supported.slice(2, 5) });
      const [inside, member, outside] = [
        await createTestUser(tenant, 'inside@example.com'),
        await createTestUser(tenant, 'member@example.com'),
        await createTestUser(tenant, 'outside@example.com'),
      ];
      const group = await tenant.make('POST', '/groups', { display_name: 'Inside' });
      await tenant.make('POST', `/groups/${group['id']}/members`, { user_id: member.id });
      await tenant.make('POST', `/clients/${receiver.clientId}/assignments`, { user_id: inside.id });
      await tenant.make('POST', `/clients/${receiver.clientId}/assignments`, { group_id: group['id'] });
      for (const { id } of [inside, member, outside]) {
        await tenant.make('DELETE', `/users/${id}/sessions`); // not asked for
        await tenant.make('POST', `/users/${id}/suspend`);
      }
      assert.deepEqual(
        await told(receiver, stream),
        [inside, member].map((user) => [of(user), 'risc/event-type/account-disabled', {}]),
      );
      await receiver.poll(stream, { ack: await jtis(receiver, stream) });
      for (const { id } of [outside, member, inside]) await tenant.make('DELETE', `/users/${id}`);
      assert.deepEqual(
        await told(receiver, stream),
        [member, inside].map((user) => [of(user), 'risc/event-type/account-purged', {}]),
      );
    });

    it('a paused stream holds what happens and goes on; a disabled one never tells of it', async () => {
      const receiver = await makeReceiver(tenant);
      const stream = await receiver.makeStream({ events_requested: supported.slice(2, 4) });
      const user = await createTestUser(tenant, 'paused@example.com');
      const { stream_id: id } = stream;
      const set = (status: string, reason?: string) =>
        receiver
          .call('POST', '/status', { stream_id: id, status, ...(reason !== undefined && { reason }) })
          .then((answer) => jsonOf(answer, 200));
      await tenant.make('POST', `/users/${user.id}/suspend`);
      await tellNow(server);
      const paused = { stream_id: id, status: 'paused', reason: 'We are moving' };
      assert.deepEqual(await set('paused', 'We are moving'), paused);
      assert.deepEqual(await jsonOf(await receiver.call('GET', `/status?stream_id=${id}`), 200), paused);
      await tenant.make('POST', `/users/${user.id}/activate`);
      assert.deepEqual(await told(receiver, stream), [], 'nothing while it is paused, not even what waited');
      assert.deepEqual(await set('enabled'), { stream_id: id, status: 'enabled' });
      const [disabled, enabled] = [`account-disabled`, `account-enabled`].map((name) => [of(user), `risc/event-type/${name}`, {}]);
      assert.deepEqual(await told(receiver, stream), [disabled, enabled]);
      await set('disabled');
      assert.equal((await receiver.call('POST', '/verify', { stream_id: id })).status, 204, 'taken, and never told');
      await tenant.make('POST', `/users/${user.id}/suspend`);
      await tellNow(server);
      await set('enabled');
      assert.deepEqual(await told(receiver, stream), []);
      await tenant.make('POST', `/users/${user.id}/activate`);
      assert.deepEqual(await told(receiver, stream), [enabled]);
    });

    it('what is unacknowledged for seven days pauses the stream, which says so; enabled, it has seven days more', async () => {
      const receiver = await makeReceiver(tenant);
      const stream = await receiver.makeStream({ events_requested: [supported[2]] });
      const user = await createTestUser(tenant, 'silent@example.com');
      await tenant.make('POST', `/users/${user.id}/suspend`);
      await tellNow(server);
      const dayMs = 24 * 3_600_000;
      await server.clock.advance(7 * dayMs - 60_000);
      await tellNow(server);
      assert.equal((await jsonOf(await receiver.call('GET', `/status?stream_id=${stream.stream_id}`), 200))['status'], 'enabled');
      await server.clock.advance(120_000);
      const reason = 'Nothing was acknowledged for seven days.';
      const self = { format: 'opaque', id: stream.stream_id };
      assert.deepEqual(await told(receiver, stream), [[self, 'ssf/event-type/stream-updated', { status: 'paused', reason }]]);
      assert.deepEqual(await jsonOf(await receiver.call('GET', `/status?stream_id=${stream.stream_id}`), 200), {
        stream_id: stream.stream_id,
        status: 'paused',
        reason,
      });
      await receiver.setStatus(stream, 'enabled');
      assert.deepEqual(await told(receiver, stream), [[of(user), 'risc/event-type/account-disabled', {}]]);
      await server.clock.advance(7 * dayMs + 60_000);
      await tellNow(server);
      assert.equal((await jsonOf(await receiver.call('GET', `/status?stream_id=${stream.stream_id}`), 200))['status'], 'paused');
    });

    it('SSF 1.0 8.1.2.2: a stream named in the address of its status, and in the body; two names are none', async () => {
      const receiver = await makeReceiver(tenant);
      const { stream_id: id } = await receiver.makeStream();
      for (const status of ['paused', 'enabled'])
        assert.deepEqual(await jsonOf(await receiver.call('POST', `/status?stream_id=${id}`, { stream_id: id, status }), 200), {
          ...{ stream_id: id, status },
        });
      const other = await receiver.call('POST', `/status?stream_id=${unknown}`, { stream_id: id, status: 'paused' });
      assert.equal(other.status, 404);
      assert.equal((await jsonOf(await receiver.call('GET', `/status?stream_id=${id}`), 200))['status'], 'enabled');
    });
  });
}
