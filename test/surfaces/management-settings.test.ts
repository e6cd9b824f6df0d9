// Settings, signing keys, resources, groups and events of the management API (design 02).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { defaultSettings } from '../../src/domain/tenant/settings.ts';
import { databases } from '../support/databases.ts';
import { clientCredentialsToken, createTestTenant, createTestUser, type Json, jsonOf, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const tenYears = 315_360_000;

for (const database of databases) {
  describe(`management settings on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());
    const refused = async (method: string, path: string, body: Json, kind: string, text: string | RegExp = /./): Promise<void> => {
      await assertRefusal(await tenant.call(method, path, body), 'management.invalid_request', { kind, text });
    };

    it('GET gives every setting with its default', async () => {
      assert.deepEqual(await tenant.make('GET', '/settings'), JSON.parse(JSON.stringify(defaultSettings)));
    });

    it('PATCH merges object by object; null switches a limit of the server off, and one number of a limit may change', async () => {
      const own = await createTestTenant(server);
      const change = {
        pin: { length: 8 },
        rate_limits: { par_requests_per_ip: null, pin_attempts_per_ip: { limit: 7 } },
        branding: { accent_color: '#123456' },
      };
      const expected = JSON.parse(JSON.stringify(defaultSettings));
      expected.pin.length = 8;
      expected.rate_limits.par_requests_per_ip = null;
      expected.rate_limits.pin_attempts_per_ip.limit = 7;
      expected.branding = { accent_color: '#123456' };
      assert.deepEqual(await own.make('PATCH', '/settings', change), expected);
      assert.deepEqual(await own.make('GET', '/settings'), expected);
      const back = await own.make('PATCH', '/settings', { rate_limits: { par_requests_per_ip: { limit: 60, period_seconds: 60 } } });
      expected.rate_limits.par_requests_per_ip = { limit: 60, period_seconds: 60 };
      assert.deepEqual(back, expected);
      await assertRefusal(
        await own.call('PATCH', '/settings', { rate_limits: { scim_requests_per_client: { limit: 5 } } }),
        'management.invalid_request',
        {
          kind: 'rate_limits.scim_requests_per_client.period_seconds',
          text: 'This field is required.',
        },
      );
      assert.deepEqual((await own.make('PATCH', '/settings', {}))['pin'], expected.pin);
    });

    it('bounds: n passes, one beyond does not, and nothing of a refused change stays', async () => {
      const own = await createTestTenant(server);
      const bounds = [
        ['access_token_lifetime_seconds', 1, tenYears],
        ['saml_session_lifetime_seconds', 1, tenYears],
        ['pin.length', 6, 10],
        ['pin.attempts_max', 1, 10],
        ['pin.failures_per_day_max', 1, 100],
        ['pin.lifetime_seconds', 1, 3600],
        ['pin.sends_per_hour_max', 1, 1_000_000],
        ['pin.resend_cooldown_seconds', 1, tenYears],
        ['device.clock_skew_seconds', 0, 3600],
        ['rate_limits.login_starts_per_ip.limit', 1, 1_000_000],
        ['rate_limits.login_starts_per_ip.period_seconds', 1, tenYears],
      ] as const;
      const nested = (path: string, value: unknown): Json =>
        path.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as Json;
      for (const [path, min, max] of bounds) {
        for (const value of [min, max]) await own.make('PATCH', '/settings', nested(path, value));
        for (const value of [min - 1, max + 1, min + 0.5, String(min), null])
          await assertRefusal(await own.call('PATCH', '/settings', nested(path, value)), 'management.invalid_request', {
            kind: path,
            text: /./,
          });
      }
    });

    it('management.invalid_request: names, choices and settings that do not go together', async () => {
      await refused('PATCH', '/settings', { colour: 1 }, 'colour', 'This field is not known here.');
      await refused('PATCH', '/settings', { pin: { colour: 1 } }, 'pin.colour', 'This field is not known here.');
      await refused(
        'PATCH',
        '/settings',
        { access_token_alg: 'HS256' },
        'access_token_alg',
        'This field must be one of ES256, RS256, EdDSA.',
      );
      await refused('PATCH', '/settings', { login_methods: [] }, 'login_methods');
      await refused('PATCH', '/settings', { login_methods: ['password'] }, 'login_methods');
      await refused('PATCH', '/settings', { device: { allowed_algs: ['none'] } }, 'device.allowed_algs');
      await refused('PATCH', '/settings', { attestation: { mode: 'maybe' } }, 'attestation.mode');
      await refused('PATCH', '/settings', { device: { protocol_version_min: 2 } }, 'device.protocol_version_min');
      await refused('PATCH', '/settings', { refresh_token_idle_seconds: 7_776_001 }, 'refresh_token_idle_seconds');
      await refused('PATCH', '/settings', { pin: null }, 'pin');
    });

    it('secrets are write-only and in no audit record', async () => {
      const own = await createTestTenant(server);
      const play = { decryption_key: 'very-secret-key', verification_key: 'public-key' };
      const changed = await own.make('PATCH', '/settings', { attestation: { play_integrity: play } });
      assert.ok(!JSON.stringify(changed).includes('very-secret-key'));
      assert.ok(!JSON.stringify(await own.make('GET', '/events')).includes('very-secret-key'));
      assert.ok(JSON.stringify(await own.make('GET', '/settings')).includes('public-key'));
    });

    it('a shorter access token lifetime acts at once', async () => {
      const own = await createTestTenant(server, { settings: { access_token_lifetime_seconds: 30 } });
      const token = await clientCredentialsToken(own.baseUrl, own.adminClientId, own.adminClientSecret);
      const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { iat: number; exp: number };
      assert.equal(exp - iat, 30);
    });

    it('management.rate_limited: management_requests_per_client, counted by client', async () => {
      const own = await createTestTenant(server);
      await own.make('PATCH', '/settings', { rate_limits: { management_requests_per_client: { limit: 2, period_seconds: 60 } } });
      assert.deepEqual([(await own.call('GET', '/users')).status, (await own.call('GET', '/users')).status], [200, 200]);
      const limited = await own.call('GET', '/users');
      const seconds = Number(limited.headers.get('retry-after'));
      assert.ok(seconds >= 1 && seconds <= 60);
      await assertRefusal(limited, 'management.rate_limited', { fields: { retry_after_seconds: seconds } });
    });

    it('signing keys: the next one is published before it signs, retired ones verify on', async () => {
      const own = await createTestTenant(server);
      interface Key {
        readonly kid: string;
        readonly alg: string;
        readonly state: string;
      }
      const keysOf = async (): Promise<readonly Key[]> =>
        (await own.make<{ items: readonly Key[] }>('GET', '/signing-keys')).items.filter((key) => key.alg === 'ES256');
      const published = async (): Promise<readonly string[]> =>
        ((await (await fetch(`${own.baseUrl}/v1/idp/oidc/jwks`)).json()) as { keys: readonly Key[] }).keys.map((key) => key.kid);
      const before = await keysOf();
      assert.deepEqual(before.map((key) => key.state).sort(), ['current', 'next']);
      const next = before.find((key) => key.state === 'next')!;
      assert.ok((await published()).includes(next.kid));
      const rotated = await jsonOf(await own.call('POST', '/signing-keys', { use: 'oidc', alg: 'ES256' }), 201);
      assert.deepEqual([rotated['kid'], rotated['state'], rotated['use']], [next.kid, 'current', 'oidc']);
      assert.ok(!JSON.stringify(rotated).includes('"d"'));
      const after = await keysOf();
      assert.deepEqual(after.map((key) => key.state).sort(), ['current', 'next', 'retired']);
      for (const key of after) assert.ok((await published()).includes(key.kid), key.state);
      assert.equal((await own.call('GET', '/users')).status, 200, 'a token of the retired key');
      const token = await clientCredentialsToken(own.baseUrl, own.adminClientId, own.adminClientSecret);
      assert.equal(JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid, next.kid);
      const added = await jsonOf(await own.call('POST', '/signing-keys', { use: 'oidc', alg: 'EdDSA' }), 201);
      assert.equal(added['alg'], 'EdDSA');
      await own.make('PATCH', '/settings', { access_token_alg: 'EdDSA' });
      await clientCredentialsToken(own.baseUrl, own.adminClientId, own.adminClientSecret);
    });

    it('signing keys: a retired one goes when no token of it can be alive', async () => {
      const short = {
        access_token_lifetime_seconds: 60,
        id_token_lifetime_seconds: 60,
        refresh_token_idle_seconds: 60,
        refresh_token_absolute_seconds: 60,
      };
      const own = await createTestTenant(server, { settings: short });
      const retired = async (token: string): Promise<number> => {
        const response = await fetch(`${own.managementApi}/signing-keys`, { headers: { authorization: `Bearer ${token}` } });
        return (await jsonOf<{ items: readonly Json[] }>(response, 200)).items.filter((key) => key['state'] === 'retired').length;
      };
      const rotate = async (token: string): Promise<void> => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        await jsonOf(
          await fetch(`${own.managementApi}/signing-keys`, { method: 'POST', headers, body: '{"use":"oidc","alg":"ES256"}' }),
          201,
        );
      };
      const token = (): Promise<string> => clientCredentialsToken(own.baseUrl, own.adminClientId, own.adminClientSecret);
      await rotate(own.token);
      assert.equal(await retired(own.token), 1);
      await server.clock.advance(120_000);
      await rotate(await token());
      assert.equal(await retired(await token()), 1);
    });

    it('signing keys: SAML keys rotate too; wrong words are named', async () => {
      const own = await createTestTenant(server);
      const rotated = await jsonOf(await own.call('POST', '/signing-keys', { use: 'saml' }), 201);
      assert.equal(rotated['use'], 'saml');
      assert.match(String(rotated['certificate']), /BEGIN CERTIFICATE/);
      await refused('POST', '/signing-keys', { use: 'tls' }, 'use', 'This field must be one of oidc, saml.');
      await refused('POST', '/signing-keys', { use: 'saml', alg: 'ES256' }, 'alg', 'This field must be RS256 for saml.');
      await refused('POST', '/signing-keys', { use: 'oidc', alg: 'none' }, 'alg');
      await refused('POST', '/signing-keys', {}, 'use', 'This field is required.');
    });

    it('resources: made, changed, listed, deleted', async () => {
      const fields = {
        identifier: 'https://api.example/v1',
        name: 'API',
        scopes: [{ name: 'orders:read', description: 'Read orders' }, { name: 'orders:write' }],
        access_token_lifetime_seconds: 60,
      };
      const created = await jsonOf(await tenant.call('POST', '/resources', fields), 201);
      const { id, created_at: _created, updated_at: _updated, ...rest } = created;
      const byDefault = { clients: 'listed', refresh: true, unknown_access_policy: 'everyone', documentation_uri: null };
      assert.deepEqual(rest, { ...fields, ...byDefault });
      assert.deepEqual(await tenant.make('GET', `/resources/${id}`), created);
      assert.deepEqual(await tenant.make('GET', '/resources'), { items: [created] });
      const changed = await tenant.make('PATCH', `/resources/${id}`, { name: 'Other', access_token_lifetime_seconds: null });
      assert.deepEqual([changed['name'], changed['access_token_lifetime_seconds'], changed['scopes']], ['Other', null, fields.scopes]);
      await assertRefusal(await tenant.call('POST', '/resources', fields), 'management.conflict', {
        kind: 'identifier',
        text: 'The identifier is in use.',
      });
      for (const identifier of [tenant.baseUrl, tenant.managementApi])
        await assertRefusal(await tenant.call('POST', '/resources', { identifier, name: 'x' }), 'management.conflict', {
          kind: 'identifier',
          text: 'The identifier is in use.',
        });
      await refused('POST', '/resources', { identifier: 'no-uri', name: 'x' }, 'identifier');
      await refused('POST', '/resources', { name: 'x' }, 'identifier', 'This field is required.');
      await refused('POST', '/resources', { identifier: 'urn:x:y', name: 'x', scopes: [{ name: 'a' }, { name: 'a' }] }, 'scopes');
      await refused(
        'POST',
        '/resources',
        { identifier: 'urn:x:y', name: 'x', access_token_lifetime_seconds: 0 },
        'access_token_lifetime_seconds',
      );
      assert.equal((await tenant.call('DELETE', `/resources/${id}`)).status, 204);
      await assertRefusal(await tenant.call('GET', `/resources/${id}`), 'management.not_found');
      await assertRefusal(await tenant.call('PATCH', `/resources/${id}`, {}), 'management.not_found');
    });

    it('groups and members', async () => {
      const created = await jsonOf(await tenant.call('POST', '/groups', { display_name: 'Staff' }), 201);
      const { id, created_at: _created, updated_at: _updated, ...rest } = created;
      assert.deepEqual(rest, { display_name: 'Staff', external_id: null, identity_provider_id: null, origin: 'console', version: 1 });
      await assertRefusal(await tenant.call('POST', '/groups', { display_name: 'STAFF' }), 'management.conflict', {
        kind: 'display_name',
        text: 'The display name is in use.',
      });
      const user = await createTestUser(tenant, 'member@example.com', { display_name: 'Member' });
      const member = await jsonOf(await tenant.call('POST', `/groups/${id}/members`, { user_id: user.id }), 201);
      assert.deepEqual(
        { ...member, created_at: 0 },
        { user_id: user.id, user_name: 'member@example.com', display_name: 'Member', created_at: 0 },
      );
      assert.deepEqual(await tenant.make('GET', `/groups/${id}/members`), { items: [member] });
      await assertRefusal(await tenant.call('POST', `/groups/${id}/members`, { user_id: user.id }), 'management.conflict', {
        kind: 'user_id',
        text: 'The user is a member already.',
      });
      await refused('POST', `/groups/${id}/members`, { user_id: 'unknown' }, 'user_id', 'No such user.');
      assert.equal((await tenant.make('GET', `/groups/${id}`))['version'], 2);
      assert.equal((await tenant.make('PATCH', `/groups/${id}`, { display_name: 'Team' }))['display_name'], 'Team');
      assert.equal((await tenant.make<{ items: readonly Json[] }>('GET', '/groups?search=tea')).items.length, 1);
      await tenant.make('POST', '/groups', { display_name: 'Other' });
      await assertRefusal(await tenant.call('PATCH', `/groups/${id}`, { display_name: 'other' }), 'management.conflict', {
        kind: 'display_name',
        text: 'The display name is in use.',
      });
      assert.equal((await tenant.call('DELETE', `/groups/${id}/members/${user.id}`)).status, 204);
      await assertRefusal(await tenant.call('DELETE', `/groups/${id}/members/${user.id}`), 'management.not_found');
      assert.equal((await tenant.call('DELETE', `/groups/${id}`)).status, 204);
      await assertRefusal(await tenant.call('GET', `/groups/${id}/members`), 'management.not_found');
    });
  });
}
