// `/clients` of the management API: registration, what fields mean together, secrets, assignments (design 02).
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import type { ClientId, TenantId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import {
  clientCredentialsToken,
  createTestClient,
  createTestTenant,
  createTestUser,
  type Json,
  jsonOf,
  type Managed,
  managedWith,
} from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const ciba = 'urn:openid:params:grant-type:ciba';
const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const publicJwk = { ...ecKey.publicKey.export({ format: 'jwk' }), kid: 'k1' };

for (const database of databases) {
  describe(`management clients on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());
    const refused = async (body: Json, kind: string, text: string | RegExp = /./): Promise<void> => {
      await assertRefusal(await tenant.call('POST', '/clients', { name: 'x', ...body }), 'management.invalid_request', { kind, text });
    };

    it('what it may exchange tokens for: an absolute URI, scopes, never openid', async () => {
      const row = { resource: 'https://stock.example', scopes: ['stock:read'], needs: ['orders:read'] };
      const made = await createTestClient(tenant, { name: 'API', serves: ['https://orders.example'], exchange: [row] });
      const read = await tenant.make('GET', `/clients/${made.client_id}`);
      assert.deepEqual([read['serves'], read['exchange']], [['https://orders.example'], [row]]);
      await refused({ serves: ['orders'] }, 'serves', /absolute URI/);
      await refused({ exchange: [{ ...row, resource: 'stock' }] }, 'exchange', /absolute URI/);
      await refused({ exchange: [{ ...row, scopes: ['openid'] }] }, 'exchange', /openid/);
      await refused({ exchange: [{ ...row, scopes: ['a b'] }] }, 'exchange', /spaces/);
      await refused({ exchange: [{ ...row, scopes: [] }] }, 'exchange');
      await refused({ exchange: [{ resource: row.resource }] }, 'exchange');
      const grant = 'urn:ietf:params:oauth:grant-type:token-exchange';
      await refused({ type: 'public', token_endpoint_auth_method: 'none', grant_types: [grant] }, 'grant_types', /confidential/);
    });
    it('scopes that no grant of the client reaches are refused, not given and never answered', async () => {
      const text = /opens no other API/;
      await refused({ grant_types: ['client_credentials'], scopes: ['users:read', 'orders:read'] }, 'scopes', text);
      await refused({ grant_types: ['client_credentials', 'refresh_token'], scopes: ['orders:read'] }, 'scopes', text);
      const machine = await createTestClient(tenant, { name: 'M', grant_types: ['client_credentials'], scopes: ['users:read', 'openid'] });
      const change = (body: Json): Promise<Response> => tenant.call('PATCH', `/clients/${machine.client_id}`, body);
      await assertRefusal(await change({ scopes: ['orders:read'] }), 'management.invalid_request', { kind: 'scopes', text });
      const both = await jsonOf(await change({ grant_types: ['client_credentials', 'authorization_code'], scopes: ['orders:read'] }), 200);
      assert.deepEqual(both['scopes'], ['orders:read']);
      await assertRefusal(await change({ grant_types: ['client_credentials'] }), 'management.invalid_request', { kind: 'scopes', text });
      // One of an earlier release stays and may be changed in everything else.
      await server.gatehouse.services.cache.write(tenant.id as TenantId, (queries) =>
        queries
          .updateTable('clients')
          .set({ grant_types: '["client_credentials"]' })
          .where('client_id', '=', machine.client_id as ClientId)
          .execute(),
      );
      assert.equal((await jsonOf(await change({ name: 'Renamed', scopes: ['orders:read'] }), 200))['name'], 'Renamed');
      const apply = (client: Json): Promise<unknown> => {
        const whole = {
          grant_types: ['client_credentials'],
          token_endpoint_auth_method: 'client_secret_post',
          name: 'By a document',
          ...client,
        };
        return applyDocument(server.gatehouse.services, tenant.slug, [JSON.stringify({ gatehouse: 1, clients: [whole] })]);
      };
      const inDocument = /clients\[0\]\.scopes: expected .*opens no other API/;
      await apply({ client_id: machine.client_id, scopes: ['orders:read'] });
      await assert.rejects(apply({ client_id: machine.client_id, scopes: ['orders:read', 'more:read'] }), inDocument);
      await assert.rejects(apply({ client_id: 'by-document', scopes: ['orders:read'] }), inDocument);
      assert.equal((await tenant.make<Json>('GET', `/clients/${machine.client_id}`))['name'], 'By a document');
      assert.equal((await tenant.call('GET', '/clients/by-document')).status, 404);
    });
    it('a name is enough; everything else has its default', async () => {
      const created = await jsonOf(await tenant.call('POST', '/clients', { name: 'Plain' }), 201);
      const { client_id: clientId, client_secret: secret, created_at: createdAt, updated_at: updatedAt, ...others } = created;
      const { created_by: maker, secret_by: secretBy, secret_at: secretAt, ...rest } = others;
      assert.match(String(maker), /^client:/);
      assert.equal(secretBy, maker);
      assert.match(String(secretAt), /^\d{4}-/);
      assert.match(String(clientId), /^[A-Za-z0-9_-]{22}$/);
      assert.match(String(secret), /^[A-Za-z0-9_-]{43}$/);
      assert.equal(createdAt, updatedAt);
      assert.deepEqual(rest, {
        name: 'Plain',
        type: 'confidential',
        token_endpoint_auth_method: 'client_secret_basic',
        jwks: null,
        jwks_uri: null,
        tls_client_auth_subject_dn: null,
        tls_client_auth_san_dns: null,
        tls_client_auth_san_uri: null,
        tls_client_auth_san_ip: null,
        tls_client_auth_san_email: null,
        workloads: [],
        redirect_uris: [],
        origin: null,
        post_logout_redirect_uris: [],
        grant_types: ['authorization_code'],
        scopes: [],
        resources: [],
        profile: null,
        require_pkce: true,
        require_par: false,
        require_signed_request_object: false,
        require_consent: false,
        dpop_bound_access_tokens: false,
        tls_client_certificate_bound_access_tokens: false,
        authorize_error_delivery: 'direct',
        id_token_signed_response_alg: 'RS256',
        backchannel_token_delivery_mode: null,
        backchannel_client_notification_endpoint: null,
        backchannel_logout_uri: null,
        access_policy: 'everyone',
        refresh_reuse_leeway_seconds: 0,
        serves: [],
        exchange: [],
        cross_app_access: [],
        logo_uri: null,
        mappings: [],
        enabled: true,
      });
      const { client_secret: _once, ...readable } = created;
      assert.deepEqual(await tenant.make('GET', `/clients/${clientId}`), readable);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/clients?limit=200');
      assert.deepEqual(
        items.filter((item) => item['client_id'] === clientId),
        [readable],
      );
      assert.ok(!JSON.stringify(items).includes(String(secret)));
    });

    it('every kind of client registers: public native, private_key_jwt, CIBA push', async () => {
      const native = await createTestClient(tenant, {
        type: 'public',
        token_endpoint_auth_method: 'none',
        redirect_uris: ['com.example.app:/callback', 'http://127.0.0.1/cb', 'http://localhost:3000/cb', 'http://[::1]/cb'],
      });
      assert.equal(native.client_secret, undefined);
      const keyed = await createTestClient(tenant, { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [publicJwk] } });
      assert.equal(keyed.client_secret, undefined);
      assert.deepEqual(keyed['jwks'], { keys: [publicJwk] });
      const push = await createTestClient(tenant, {
        grant_types: [ciba],
        backchannel_token_delivery_mode: 'push',
        backchannel_client_notification_endpoint: 'https://client.example/cb',
      });
      assert.equal(push['backchannel_token_delivery_mode'], 'push');
      const poll = await createTestClient(tenant, { grant_types: [ciba] });
      assert.equal(poll['backchannel_token_delivery_mode'], 'poll');
    });

    it('management.invalid_request: redirect URIs', async () => {
      for (const uri of [
        'https://client.example/cb#fragment',
        '/relative',
        'javascript:alert(1)',
        'data:text/html,x',
        'http://client.example/cb',
        'http://127.0.0.1.evil.example/cb',
        'https://user:password@client.example/cb',
        'https://client.example/sp ace',
        'com.example.app:/callback',
        'myapp:/callback',
        `https://client.example/${'u'.repeat(2049)}`,
      ]) {
        await refused({ redirect_uris: [uri] }, 'redirect_uris');
        await refused({ post_logout_redirect_uris: [uri] }, 'post_logout_redirect_uris');
      }
    });

    it('management.invalid_request: fields that do not go together', async () => {
      const pem = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
      await refused({ name: ' ' }, 'name', 'This field is required.');
      await refused({ type: 'public', token_endpoint_auth_method: 'client_secret_basic' }, 'token_endpoint_auth_method');
      await refused({ token_endpoint_auth_method: 'none' }, 'token_endpoint_auth_method');
      await refused({ token_endpoint_auth_method: 'client_secret_basic_or_post' }, 'token_endpoint_auth_method');
      await refused({ token_endpoint_auth_method: 'private_key_jwt' }, 'jwks');
      await refused({ jwks: { keys: [publicJwk] }, jwks_uri: 'https://client.example/jwks' }, 'jwks_uri');
      await refused({ jwks: { keys: [ecKey.privateKey.export({ format: 'jwk' })] } }, 'jwks', 'This field must hold public keys only.');
      await refused({ jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } }, 'jwks', 'This field must hold public keys only.');
      await refused({ jwks: { keys: [{ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }] } }, 'jwks');
      await refused({ jwks: { keys: [pem] } }, 'jwks', 'This field must hold RSA keys of 2048 bits or more.');
      await refused({ jwks: { keys: [] } }, 'jwks.keys');
      await refused({ jwks_uri: 'http://client.example/jwks' }, 'jwks_uri', 'This field must be an https URL.');
      await refused({ jwks_uri: 'ftp://client.example/jwks' }, 'jwks_uri');
      await refused({ logo_uri: 'nothing' }, 'logo_uri');
      await refused({ type: 'public', require_pkce: false }, 'require_pkce');
      await refused({ type: 'public', grant_types: [ciba] }, 'grant_types');
      await refused({ type: 'public', grant_types: ['client_credentials'] }, 'grant_types');
      await refused({ grant_types: ['password'] }, 'grant_types');
      await refused({ backchannel_token_delivery_mode: 'poll' }, 'backchannel_token_delivery_mode');
      await refused({ grant_types: [ciba], backchannel_token_delivery_mode: 'ping' }, 'backchannel_client_notification_endpoint');
      await refused({ scopes: ['two words'] }, 'scopes');
      await refused({ resources: ['no-uri'] }, 'resources');
      await refused({ resources: ['https://api.example/#x'] }, 'resources');
      await refused({ client_id: 'mine' }, 'client_id', 'This field is not known here.');
      await refused({ enabled: 'yes' }, 'enabled', 'This field must be boolean.');
      await refused({ authorize_error_delivery: 'fragment' }, 'authorize_error_delivery', 'This field must be one of direct, redirect.');
    });

    it('bounds: n passes, n + 1 does not', async () => {
      const uris = (count: number): string[] => Array.from({ length: count }, (_unused, index) => `https://client.example/${index}`);
      const scopes = (count: number): string[] => Array.from({ length: count }, (_unused, index) => `scope${index}`);
      const longest = `https://client.example/${'u'.repeat(2048 - 23)}`;
      const whole = {
        redirect_uris: [...uris(99), longest],
        scopes: scopes(199).concat('s'.repeat(128)),
        refresh_reuse_leeway_seconds: 3600,
      };
      await createTestClient(tenant, { ...whole, name: 'n'.repeat(200), jwks: { keys: Array.from({ length: 100 }, () => publicJwk) } });
      await refused({ name: 'n'.repeat(201) }, 'name');
      await refused({ redirect_uris: uris(101) }, 'redirect_uris');
      await refused({ redirect_uris: [`${longest}u`] }, 'redirect_uris');
      await refused({ scopes: scopes(201) }, 'scopes');
      await refused({ scopes: ['s'.repeat(129)] }, 'scopes');
      await refused({ refresh_reuse_leeway_seconds: 3601 }, 'refresh_reuse_leeway_seconds');
      await refused({ refresh_reuse_leeway_seconds: -1 }, 'refresh_reuse_leeway_seconds');
      await refused({ jwks: { keys: Array.from({ length: 101 }, () => publicJwk) } }, 'jwks.keys');
    });

    it('PATCH changes what is named; null clears; the rules hold for the whole', async () => {
      const client = await createTestClient(tenant, { logo_uri: 'https://client.example/logo.svg' });
      const changed = await tenant.make('PATCH', `/clients/${client.client_id}`, { name: 'After', logo_uri: null, require_par: true });
      assert.deepEqual([changed['name'], changed['logo_uri'], changed['require_par']], ['After', null, true]);
      assert.deepEqual(changed['redirect_uris'], client['redirect_uris']);
      assert.equal(changed['client_secret'], undefined);
      const wrong = await tenant.call('PATCH', `/clients/${client.client_id}`, {
        type: 'public',
        token_endpoint_auth_method: 'private_key_jwt',
      });
      await assertRefusal(wrong, 'management.invalid_request', { kind: 'token_endpoint_auth_method', text: /./ });
      await assertRefusal(await tenant.call('PATCH', '/clients/unknown', { name: 'x' }), 'management.not_found');
    });

    it('secrets: rotation ends the old one at once, a new auth method brings one when it needs it', async () => {
      const client = await createTestClient(tenant, {
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['client_credentials'],
        scopes: ['users:read'],
      });
      await clientCredentialsToken(tenant.baseUrl, client.client_id, client.client_secret);
      const rotated = await jsonOf(await tenant.call('POST', `/clients/${client.client_id}/secret`), 201);
      assert.deepEqual(Object.keys(rotated).sort(), ['client_id', 'client_secret']);
      assert.notEqual(rotated['client_secret'], client.client_secret);
      await assert.rejects(clientCredentialsToken(tenant.baseUrl, client.client_id, client.client_secret), /invalid_client/);
      await clientCredentialsToken(tenant.baseUrl, client.client_id, String(rotated['client_secret']));
      const path = `/clients/${client.client_id}`;
      const jwt = await tenant.make('PATCH', path, { token_endpoint_auth_method: 'client_secret_jwt' });
      assert.match(String(jwt['client_secret']), /^[A-Za-z0-9_-]{43}$/);
      const keyed = await tenant.make('PATCH', path, { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [publicJwk] } });
      assert.equal(keyed['client_secret'], undefined);
      await assertRefusal(await tenant.call('POST', `${path}/secret`), 'management.conflict', {
        kind: 'token_endpoint_auth_method',
        text: 'The client has no secret.',
      });
      const back = await tenant.make('PATCH', path, { token_endpoint_auth_method: 'client_secret_post' });
      await clientCredentialsToken(tenant.baseUrl, client.client_id, String(back['client_secret']));
    });

    it('a disabled client gets no token and its tokens stop at once; DELETE makes it unknown', async () => {
      const client = await createTestClient(tenant, {
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['client_credentials'],
        scopes: ['users:read'],
      });
      const token = await clientCredentialsToken(tenant.baseUrl, client.client_id, client.client_secret);
      const asClient = managedWith(token, tenant);
      assert.equal((await asClient.call('GET', '/users')).status, 200);
      await tenant.make('PATCH', `/clients/${client.client_id}`, { enabled: false });
      await assertRefusal(await asClient.call('GET', '/users'), 'management.unauthorized');
      await assert.rejects(clientCredentialsToken(tenant.baseUrl, client.client_id, client.client_secret), /invalid_client/);
      assert.equal((await tenant.call('DELETE', `/clients/${client.client_id}`)).status, 204);
      await assertRefusal(await tenant.call('GET', `/clients/${client.client_id}`), 'management.not_found');
      await assertRefusal(await tenant.call('DELETE', `/clients/${client.client_id}`), 'management.not_found');
      await assertRefusal(await tenant.call('POST', `/clients/${client.client_id}/secret`), 'management.not_found');
    });

    it('an EdDSA ID token algorithm brings its keys', async () => {
      await createTestClient(tenant, { id_token_signed_response_alg: 'EdDSA' });
      const { keys } = (await (await fetch(`${tenant.baseUrl}/v1/idp/oidc/jwks`)).json()) as { keys: readonly { alg: string }[] };
      assert.equal(keys.filter((key) => key.alg === 'EdDSA').length, 2);
    });

    it('management.forbidden: each capability is needed, and nobody hands out what they do not have', async () => {
      const client = await createTestClient(tenant, {
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['client_credentials'],
        scopes: ['clients:write', 'users:read'],
      });
      const weak = managedWith(await clientCredentialsToken(tenant.baseUrl, client.client_id, client.client_secret), tenant);
      const lacks = async (response: Response, capability: string): Promise<void> => {
        await assertRefusal(response, 'management.forbidden', { text: `The token lacks the capability ${capability}.` });
      };
      await lacks(await weak.call('GET', '/clients'), 'clients:read');
      await lacks(await weak.call('POST', '/users', {}), 'users:write');
      await lacks(await weak.call('GET', '/settings'), 'settings:read');
      await lacks(await weak.call('POST', '/clients', { name: 'x', scopes: ['openid', 'settings:write'] }), 'settings:write');
      await lacks(await weak.call('POST', `/clients/${tenant.adminClientId}/secret`), 'clients:read');
      await lacks(await weak.call('PATCH', `/clients/${tenant.adminClientId}`, { name: 'x' }), 'clients:read');
      assert.equal((await weak.call('POST', '/clients', { name: 'x', scopes: ['openid', 'users:read'] })).status, 201);
    });

    it('assignments of users and groups', async () => {
      const client = await createTestClient(tenant, { access_policy: 'assigned' });
      const user = await createTestUser(tenant, 'assigned@example.com');
      const group = await tenant.make('POST', '/groups', { display_name: 'Assigned' });
      const path = `/clients/${client.client_id}/assignments`;
      const byUser = await jsonOf(await tenant.call('POST', path, { user_id: user.id }), 201);
      assert.deepEqual({ ...byUser, id: 0, created_at: 0 }, { id: 0, user_id: user.id, group_id: null, created_at: 0 });
      const byGroup = await jsonOf(await tenant.call('POST', path, { group_id: group['id'] }), 201);
      assert.deepEqual(await tenant.make('GET', path), { items: [byUser, byGroup] });
      await assertRefusal(await tenant.call('POST', path, { user_id: user.id }), 'management.conflict', {
        kind: 'user_id',
        text: 'This is assigned already.',
      });
      const wrong = async (body: Json, kind: string): Promise<void> => {
        await assertRefusal(await tenant.call('POST', path, body), 'management.invalid_request', { kind, text: /./ });
      };
      await wrong({}, 'user_id');
      await wrong({ user_id: user.id, group_id: group['id'] }, 'group_id');
      await wrong({ user_id: 'unknown' }, 'user_id');
      await wrong({ group_id: 'unknown' }, 'group_id');
      assert.equal((await tenant.call('DELETE', `${path}/${byUser['id']}`)).status, 204);
      await assertRefusal(await tenant.call('DELETE', `${path}/${byUser['id']}`), 'management.not_found');
      await assertRefusal(await tenant.call('GET', '/clients/unknown/assignments'), 'management.not_found');
      await tenant.make('DELETE', `/groups/${group['id']}`);
      assert.deepEqual(await tenant.make('GET', path), { items: [] });
    });
  });
}
