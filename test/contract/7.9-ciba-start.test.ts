// Contract 7.9: the start of a CIBA request; its checks in their order and their limits.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JWTPayload } from 'jose';
import { bindingMessageCharsMax, notificationTokenCharsMax } from '../../src/contract/limits.ts';
import type { Client } from '../../src/domain/client/client.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { nowSeconds } from '../../src/platform/clock.ts';
import { mintIdToken } from '../../src/tokens/id-token.ts';
import { cibaGrantType } from '../support/ciba.ts';
import { assertionForm, basic, makeKeyPair, postForm, signAssertion } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const api = 'https://api.example/';
const keys = makeKeyPair('ES256');
type Form = Readonly<Record<string, string | undefined>>;

for (const database of databases) {
  describe(`7.9 CIBA start on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let poll: TestClient;
    let ping: TestClient;
    let push: TestClient;
    let keyClient: TestClient;
    let user: TestUser;

    const makeClient = (changes: Partial<Client> = {}): Promise<TestClient> =>
      createClient(server.gatehouse.services, tenant, {
        grantTypes: [cibaGrantType],
        backchannelTokenDeliveryMode: 'poll',
        backchannelClientNotificationEndpoint: 'https://rp.example/ciba',
        resources: [api],
        ...changes,
      });

    before(async () => {
      server = await startTestServer(database);
      tenant = await rootTenant(server.gatehouse.services);
      const rate_limits = { approvals_pending_per_user: roomyRate, approvals_per_user: roomyRate, ciba_starts_per_client: roomyRate };
      const settings = JSON.stringify({ login_methods: ['email_pin'], rate_limits });
      await server.gatehouse.services.cache.write(tenant.id, (queries) =>
        queries.updateTable('tenants').set({ settings }).where('tenant_id', '=', tenant.id).execute(),
      );
      tenant = await rootTenant(server.gatehouse.services);
      poll = await makeClient();
      ping = await makeClient({ backchannelTokenDeliveryMode: 'ping' });
      push = await makeClient({ backchannelTokenDeliveryMode: 'push' });
      keyClient = await makeClient({ tokenEndpointAuthMethod: 'private_key_jwt', secretHash: undefined, jwks: { keys: [keys.publicJwk] } });
      user = await createUser(server.gatehouse.services, tenant);
    });
    after(() => server.close());

    const post = (form: Form | string, client = poll): Promise<Response> => {
      const whole = typeof form === 'string' ? form : { scope: 'openid', login_hint: user.email, ...form };
      const given =
        typeof whole === 'string' ? whole : Object.entries(whole).filter((entry): entry is [string, string] => entry[1] !== undefined);
      return postForm(`${server.url}/v1/idp/oidc/bc-authorize`, given, basic(client.clientId, client.secret));
    };
    const started = async (response: Response): Promise<Record<string, unknown>> => {
      const text = await response.text();
      assert.equal(response.status, 200, text);
      assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
      assert.equal(response.headers.get('cache-control'), 'no-store');
      return JSON.parse(text);
    };
    const notification = { client_notification_token: 'notify-me.123' };

    it('poll: auth_req_id, expires_in, interval; 256 bits, never twice', async () => {
      const first = await started(await post({}));
      assert.deepEqual(first, { auth_req_id: first['auth_req_id'], expires_in: 300, interval: 5 });
      assert.match(String(first['auth_req_id']), /^[A-Za-z0-9_-]{43}$/);
      assert.notEqual((await started(await post({})))['auth_req_id'], first['auth_req_id']);
    });
    it('ping has an interval, push has none', async () => {
      assert.deepEqual(Object.keys(await started(await post(notification, ping))), ['auth_req_id', 'expires_in', 'interval']);
      assert.deepEqual(Object.keys(await started(await post(notification, push))), ['auth_req_id', 'expires_in']);
    });
    it('requested_expiry shortens, never lengthens', async () => {
      assert.equal((await started(await post({ requested_expiry: '60' })))['expires_in'], 60);
      assert.equal((await started(await post({ requested_expiry: '100000' })))['expires_in'], 300);
    });
    it('user_code, acr_values and unknown parameters are ignored', async () => {
      await started(await post({ user_code: '1234', acr_values: 'x', anything: 'else', resource: api }));
    });
    it('login_hint: email or user name, folded', async () => {
      await started(await post({ login_hint: user.email.toUpperCase() }));
    });
    it('id_token_hint: an ID token of ours for this client, expired ones too', async () => {
      await started(await post({ login_hint: undefined, id_token_hint: await idToken(poll) }));
    });
    it('login_hint_token: signed by the client, naming the user by sub_id', async () => {
      for (const sub_id of [
        { format: 'email', email: user.email },
        { format: 'iss_sub', iss: tenant.baseUrl, sub: user.id },
        { format: 'opaque', id: user.id },
      ])
        await started(await postWithKey(await hintToken({ sub_id })));
    });
    it('the notification token is not readable in the database', async () => {
      await started(await post({ client_notification_token: 'very-secret-token' }, ping));
      const rows = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries.selectFrom('ciba_requests').selectAll().execute(),
      );
      assert.ok(rows.some((row) => row.notification_encrypted !== null));
      assert.ok(!JSON.stringify(rows).includes('very-secret-token'));
    });

    async function idToken(client: TestClient, changes: { readonly sub?: string; readonly of?: Tenant } = {}): Promise<string> {
      const { services } = server.gatehouse;
      const of = changes.of ?? tenant;
      return mintIdToken(
        of,
        await services.keyRings.of(of.id),
        { nowMs: () => services.clock.nowMs() - 86_400_000 },
        {
          alg: 'RS256',
          clientId: client.clientId,
          sub: changes.sub ?? user.id,
          sid: 'sid',
          authTimeSeconds: nowSeconds(services.clock),
          acr: undefined,
          amr: [],
          nonce: undefined,
          accessToken: 'x',
        },
      );
    }
    const hintToken = (claims: JWTPayload, key: Parameters<typeof signAssertion>[0] = keys): Promise<string> =>
      signAssertion(key, keyClient.clientId, tenant.baseUrl, server.clock.nowMs(), claims);
    const postWithKey = async (login_hint_token: string): Promise<Response> => {
      const assertion = await signAssertion(keys, keyClient.clientId, tenant.baseUrl, server.clock.nowMs());
      return postForm(`${server.url}/v1/idp/oidc/bc-authorize`, { scope: 'openid', login_hint_token, ...assertionForm(assertion) });
    };

    it('7.9 client.invalid_client: unknown client, and one of another tenant', async () => {
      const foreign = await createClient(server.gatehouse.services, await createOtherTenant(server.gatehouse.services, 'foreign'));
      for (const [id, secret] of [
        ['nobody', 'x'],
        [foreign.clientId, foreign.secret],
      ] as const) {
        const response = await postForm(
          `${server.url}/v1/idp/oidc/bc-authorize`,
          { scope: 'openid', login_hint: user.email },
          basic(id, secret),
        );
        assert.equal(await assertRefusal(response, 'client.invalid_client'), '{"error":"invalid_client"}');
      }
    });
    it('7.9 ciba.unauthorized_client: grant missing, mode missing, public', async () => {
      const text = 'This client is not registered for CIBA.';
      const clients = [
        await makeClient({ grantTypes: ['authorization_code'] }),
        await makeClient({ backchannelTokenDeliveryMode: undefined }),
      ];
      for (const client of clients) await assertRefusal(await post({}, client), 'ciba.unauthorized_client', { text });
      const { clientId } = await makeClient({ type: 'public', tokenEndpointAuthMethod: 'none', secretHash: undefined });
      const form = { client_id: clientId, scope: 'openid', login_hint: user.email };
      await assertRefusal(await postForm(`${server.url}/v1/idp/oidc/bc-authorize`, form), 'ciba.unauthorized_client', { text });
    });
    it('7.9 ciba.invalid_request: scope lacks openid', async () => {
      const text = 'scope must include openid.';
      for (const scope of [undefined, '', 'email', 'OPENID', 'openidx'])
        await assertRefusal(await post({ scope }), 'ciba.invalid_request', { text });
    });
    it('7.9 ciba.invalid_request: no hint, two hints, three hints, an empty one', async () => {
      const text = 'Exactly one of login_hint, login_hint_token and id_token_hint is required.';
      const forms = [
        { login_hint: undefined },
        { login_hint: '' },
        { id_token_hint: 'x' },
        { login_hint_token: 'x' },
        { login_hint: undefined, id_token_hint: 'x', login_hint_token: 'y' },
        { id_token_hint: 'x', login_hint_token: 'y' },
      ];
      for (const form of forms) await assertRefusal(await post(form), 'ciba.invalid_request', { text });
    });
    it('7.9 ciba.invalid_request: binding_message over 512 code points; 512 of any Unicode pass', async () => {
      for (const char of ['a', 'é', '✓', '😀', '\n', '<']) {
        await started(await post({ binding_message: char.repeat(bindingMessageCharsMax) }));
        const over = await post({ binding_message: char.repeat(bindingMessageCharsMax + 1) });
        await assertRefusal(over, 'ciba.invalid_request', { text: 'binding_message is over 512 characters.' });
      }
    });
    it('7.9 ciba.invalid_request: client_notification_token missing for ping and push, malformed, too long', async () => {
      const missing = { text: 'client_notification_token is required.' };
      const malformed = { text: 'client_notification_token is malformed.' };
      for (const client of [ping, push]) {
        await assertRefusal(await post({}, client), 'ciba.invalid_request', missing);
        await assertRefusal(await post({ client_notification_token: '' }, client), 'ciba.invalid_request', missing);
        for (const token of ['a b', 'a\r\nX: y', 'é', '=', 'a=b'])
          await assertRefusal(await post({ client_notification_token: token }, client), 'ciba.invalid_request', malformed);
        await started(await post({ client_notification_token: 'a'.repeat(notificationTokenCharsMax) }, client));
        const over = await post({ client_notification_token: 'a'.repeat(notificationTokenCharsMax + 1) }, client);
        await assertRefusal(over, 'ciba.invalid_request', malformed);
      }
    });
    it('7.9 ciba.invalid_request: requested_expiry, request objects, repeated and malformed parameters', async () => {
      for (const expiry of ['0', '-1', '1.5', 'soon', '1e3', '1000000000'])
        await assertRefusal(await post({ requested_expiry: expiry }), 'ciba.invalid_request', {
          text: 'requested_expiry is not a positive number of seconds.',
        });
      await assertRefusal(await post({ request: 'x' }), 'ciba.invalid_request', { text: 'Request objects are not supported.' });
      await assertRefusal(await post({ authorization_details: '[]' }), 'ciba.invalid_request', {
        text: 'authorization_details are not supported.',
      });
      await assertRefusal(await post('scope=openid&scope=openid'), 'ciba.invalid_request', { text: 'A parameter is repeated.' });
      await assertRefusal(await post('scope=%zz'), 'ciba.invalid_request', { text: 'A parameter is not correctly encoded.' });
    });
    it('7.9 ciba.invalid_target: an audience the client may not request, or two', async () => {
      const text = 'The requested audience is not available to this client.';
      await assertRefusal(await post({ resource: 'https://other.example/' }), 'ciba.invalid_target', { text });
      await assertRefusal(await post({ audience: 'https://other.example/' }), 'ciba.invalid_target', { text });
      const two = new URLSearchParams([
        ['scope', 'openid'],
        ['login_hint', user.email],
        ['resource', api],
        ['resource', 'https://b.example/'],
      ]);
      await assertRefusal(await post(two.toString()), 'ciba.invalid_target', { text });
    });
    it('7.9 ciba.invalid_scope: a scope that is not bound, a malformed list', async () => {
      const text = /^(A scope is not bound to this client|scope is malformed)\.$/;
      await assertRefusal(await post({ scope: 'openid admin' }), 'ciba.invalid_scope', { text });
      await assertRefusal(await post({ scope: 'openid  email' }), 'ciba.invalid_scope', { text });
      await assertRefusal(await post({ scope: 'openid "' }), 'ciba.invalid_scope', { text });
    });

    it('7.9 ciba.unknown_user_id: every trigger, byte for byte', async () => {
      const { services } = server.gatehouse;
      const change = (id: string, values: { state: string }): Promise<unknown> =>
        services.database.write(tenant.id, (queries) =>
          queries
            .updateTable('users')
            .set(values)
            .where('id', '=', id as never)
            .execute(),
        );
      const suspended = await createUser(services, tenant);
      await change(suspended.id, { state: 'suspended' });
      const deleted = await createUser(services, tenant);
      await change(deleted.id, { state: 'deleted' });
      const mute = await createUser(services, tenant);
      await services.database.write(tenant.id, (queries) => queries.deleteFrom('user_emails').where('user_id', '=', mute.id).execute());
      const gated = await makeClient({ accessPolicy: 'assigned' });
      const other = await createOtherTenant(services, 'elsewhere');
      const foreign = await createUser(services, other);
      const token = await idToken(poll);
      const ofHint = (id_token_hint: string): Promise<Response> => post({ login_hint: undefined, id_token_hint });
      const stranger = makeKeyPair('ES256', keys.kid);
      const past = nowSeconds(server.clock) - 1;
      const triggers: readonly Promise<Response>[] = [
        post({ login_hint: 'nobody@people.example' }),
        post({ login_hint: 'a'.repeat(5000) }),
        post({ login_hint: suspended.email }),
        post({ login_hint: deleted.email }),
        post({ login_hint: mute.email }),
        post({ login_hint: foreign.email }),
        post({}, gated),
        ofHint('nonsense'),
        ofHint(token.slice(0, -4)),
        ofHint(await idToken(ping)),
        ofHint(await idToken(poll, { sub: suspended.id })),
        ofHint(await idToken(poll, { sub: 'nobody' })),
        ofHint(await idToken(poll, { of: other, sub: foreign.id })),
        post({ login_hint: undefined, login_hint_token: 'nonsense' }),
        postWithKey(await hintToken({})),
        postWithKey(await hintToken({ sub_id: { format: 'email', email: 'nobody@people.example' } })),
        postWithKey(await hintToken({ sub_id: { format: 'opaque', id: '\u0000' } })),
        postWithKey(await hintToken({ sub_id: { format: 'iss_sub', iss: 'https://other.example', sub: user.id } })),
        postWithKey(await hintToken({ sub_id: { format: 'email', email: user.email }, exp: past })),
        postWithKey(await hintToken({ sub_id: { format: 'email', email: user.email }, aud: 'https://other.example' })),
        postWithKey(await hintToken({ sub_id: { format: 'email', email: user.email }, iss: poll.clientId })),
        postWithKey(await hintToken({ sub_id: { format: 'email', email: user.email } }, stranger)),
      ];
      const answers = new Set<string>();
      for (const response of await Promise.all(triggers)) answers.add(await assertRefusal(response, 'ciba.unknown_user_id'));
      assert.deepEqual([...answers], ['{"error":"unknown_user_id"}']);
    });
    it('a user nobody can reach becomes eligible by a mailbox the tenant allows, and by assignment', async () => {
      const { services } = server.gatehouse;
      const gated = await makeClient({ accessPolicy: 'assigned' });
      await services.database.write(tenant.id, (queries) =>
        queries
          .insertInto('access_assignments')
          .values({
            tenant_id: tenant.id,
            id: gated.clientId,
            target_kind: 'client',
            target_id: gated.clientId,
            user_id: user.id,
            group_id: null,
            created_at: 1,
          })
          .execute(),
      );
      await started(await post({}, gated));
    });
    it('the order: client, registration, parameters, target, scope, user', async () => {
      const wrong = { scope: 'openid admin', resource: 'https://other.example/', login_hint: 'nobody', requested_expiry: '0' };
      const unregistered = await makeClient({ grantTypes: [] });
      await assertRefusal(await post(wrong, unregistered), 'ciba.unauthorized_client', { text: /./ });
      await assertRefusal(await post(wrong), 'ciba.invalid_request', { text: /./ });
      await assertRefusal(await post({ ...wrong, requested_expiry: undefined }), 'ciba.invalid_target', { text: /./ });
      await assertRefusal(await post({ ...wrong, requested_expiry: undefined, resource: undefined }), 'ciba.invalid_scope', { text: /./ });
      await assertRefusal(await post({ login_hint: 'nobody' }), 'ciba.unknown_user_id');
    });
  });
}
