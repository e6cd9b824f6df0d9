import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Json, jsonOf, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const keys = rsaKeys();
const pem = keys.publicPem;
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const email = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const transient = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
/** What a provider is told whose map was never given. */
const released = {
  emails: 'urn:oid:0.9.2342.19200300.100.1.3',
  'name.given_name': 'urn:oid:2.5.4.42',
  'name.family_name': 'urn:oid:2.5.4.4',
  display_name: 'urn:oid:2.16.840.1.113730.3.1.241',
  user_name: 'urn:oid:0.9.2342.19200300.100.1.1',
};
const acs = [{ url: 'https://sp.example/acs' }];
const privatePem = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const ecPem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' }).toString();

for (const database of databases) {
  suite(`service providers on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());

    let made = 0;
    const entity = (): string => `https://sp-${++made}.example/metadata`;
    const create = (fields: Json = {}): Promise<Json> => tenant.make('POST', '/service-providers', { entity_id: entity(), acs, ...fields });

    test('created with defaults, read, listed, changed, deleted', async () => {
      const created = await jsonOf(await tenant.call('POST', '/service-providers', { entity_id: 'https://first.example', acs }), 201);
      const { id, created_at, updated_at, ...fields } = created;
      assert.deepEqual(fields, {
        entity_id: 'https://first.example',
        name: 'https://first.example',
        acs: [{ url: 'https://sp.example/acs', index: 0, default: true }],
        signing_keys: [],
        encryption_key: null,
        require_signed_requests: false,
        signing: 'both',
        signing_key: 'tenant',
        encrypt_assertions: false,
        encryption: { algorithm: 'aes256-gcm', key_transport: 'rsa-oaep-mgf1p' },
        name_id_formats: [persistent, email, transient],
        name_id_sources: {},
        organization: null,
        idp_initiated_allowed: false,
        mappings: [],
        relay_states: [],
        attribute_map: released,
        metadata_url: null,
        metadata_certificate: null,
        access_policy: 'everyone',
        enabled: true,
      });
      assert.ok(!Number.isNaN(Date.parse(String(created_at))) && created_at === updated_at);
      assert.deepEqual(await tenant.make('GET', `/service-providers/${id}`), created);
      const changed = await tenant.make('PATCH', `/service-providers/${id}`, { enabled: false, attribute_map: { emails: 'mail' } });
      assert.deepEqual({ ...changed, updated_at }, { ...created, enabled: false, attribute_map: { emails: 'mail' } });
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/service-providers?limit=1');
      assert.deepEqual(items, [changed]);
      assert.equal((await tenant.call('DELETE', `/service-providers/${id}`)).status, 204);
      await assertRefusal(await tenant.call('GET', `/service-providers/${id}`), 'management.not_found');
      await assertRefusal(await tenant.call('PATCH', `/service-providers/${id}`, {}), 'management.not_found');
      await assertRefusal(await tenant.call('DELETE', `/service-providers/${id}`), 'management.not_found');
    });
    test('a key that appears turns its use on; a key that goes must be let go by name', async () => {
      const created = await create({ signing_keys: [pem], encryption_key: pem });
      assert.equal(created['require_signed_requests'], true);
      assert.equal(created['encrypt_assertions'], true);
      const optional = await create({
        signing_keys: [pem],
        require_signed_requests: false,
        encryption_key: pem,
        encrypt_assertions: false,
      });
      assert.deepEqual([optional['require_signed_requests'], optional['encrypt_assertions']], [false, false]);
      const path = `/service-providers/${created['id']}`;
      await assertRefusal(await tenant.call('PATCH', path, { signing_keys: [] }), 'management.invalid_request', {
        kind: 'require_signed_requests',
        text: /.+/,
      });
      await assertRefusal(await tenant.call('PATCH', path, { encryption_key: null }), 'management.invalid_request', {
        kind: 'encrypt_assertions',
        text: /.+/,
      });
      const gone = await tenant.make('PATCH', path, {
        signing_keys: [],
        require_signed_requests: false,
        encryption_key: null,
        encrypt_assertions: false,
      });
      assert.deepEqual([gone['signing_keys'], gone['encryption_key']], [[], null]);
      const back = await tenant.make('PATCH', path, { signing_keys: [pem, await certificatePem(keys)], encryption_key: pem });
      assert.deepEqual([back['require_signed_requests'], back['encrypt_assertions']], [true, true]);
    });
    test('a PATCH of one member of encryption keeps the other, and one of none keeps both', async () => {
      const { id } = await create({ encryption: { algorithm: 'aes256-cbc', key_transport: 'rsa-oaep-sha256' } });
      const patched = async (encryption: Json): Promise<unknown> =>
        (await tenant.make('PATCH', `/service-providers/${id}`, { encryption }))['encryption'];
      assert.deepEqual(await patched({ algorithm: 'aes128-gcm' }), { algorithm: 'aes128-gcm', key_transport: 'rsa-oaep-sha256' });
      assert.deepEqual(await patched({ key_transport: 'rsa-oaep-mgf1p' }), { algorithm: 'aes128-gcm', key_transport: 'rsa-oaep-mgf1p' });
      assert.deepEqual(await patched({}), { algorithm: 'aes128-gcm', key_transport: 'rsa-oaep-mgf1p' });
      const { encryption } = await tenant.make('PATCH', `/service-providers/${id}`, { name: 'Other' });
      assert.deepEqual(encryption, { algorithm: 'aes128-gcm', key_transport: 'rsa-oaep-mgf1p' });
    });
    test('20 changes of different fields at once: none is lost', async () => {
      const { id } = await create();
      const changes: readonly Json[] = [
        { name: 'Parallel' },
        { signing: 'response' },
        { idp_initiated_allowed: true },
        { relay_states: ['/home'] },
        { access_policy: 'assigned' },
      ];
      for (let round = 0; round < 4; round += 1) {
        await tenant.make('PATCH', `/service-providers/${id}`, {
          name: 'x',
          signing: 'both',
          idp_initiated_allowed: false,
          relay_states: [],
          access_policy: 'everyone',
        });
        await Promise.all(changes.map((change) => tenant.make('PATCH', `/service-providers/${id}`, change)));
        const now = await tenant.make('GET', `/service-providers/${id}`);
        for (const change of changes) for (const [name, value] of Object.entries(change)) assert.deepEqual(now[name], value, name);
      }
    });
    test('one entityID names one provider, 20 at once too', async () => {
      const [entity_id, other] = [entity(), entity()];
      const answers = await Promise.all(Array.from({ length: 20 }, () => tenant.call('POST', '/service-providers', { entity_id, acs })));
      assert.equal(answers.filter((answer) => answer.status === 201).length, 1);
      for (const answer of answers)
        if (answer.status !== 201) await assertRefusal(answer, 'management.conflict', { kind: 'entity_id', text: /.+/ });
      const { id } = await create({ entity_id: other });
      const taken = await tenant.call('PATCH', `/service-providers/${id}`, { entity_id });
      await assertRefusal(taken, 'management.conflict', { kind: 'entity_id', text: /.+/ });
    });

    const many = (count: number, make: (at: number) => unknown): unknown[] => Array.from({ length: count }, (_, at) => make(at));
    const url = (value: unknown): object => ({ acs: [{ url: value }] });
    const wrong: readonly (readonly [string, string, object])[] = [
      ['entity_id', 'of 1025 characters', { entity_id: `u:${'x'.repeat(1023)}` }],
      ['entity_id', 'empty', { entity_id: '' }],
      ['entity_id', 'with a control character', { entity_id: 'urn:\u0001' }],
      ['entity_id', 'with white space at its end', { entity_id: 'urn:x ' }],
      ['entity_id', 'a number', { entity_id: 5 }],
      ['acs', 'empty', { acs: [] }],
      ['acs', '51 entries', { acs: many(51, (at) => ({ url: `https://sp.example/${at}` })) }],
      ['acs', 'http off loopback', url('http://sp.example/acs')],
      ['acs', 'javascript:', url('javascript:alert(1)')],
      ['acs', 'relative', url('/acs')],
      ['acs', 'with a fragment', url('https://sp.example/acs#x')],
      ['acs', 'with a user', url('https://u:p@sp.example/acs')],
      ['acs', 'with white space', url('https://sp.example/a b')],
      [
        'acs',
        'two defaults',
        {
          acs: [
            { url: 'https://a.example', default: true },
            { url: 'https://b.example', default: true },
          ],
        },
      ],
      [
        'acs',
        'an index twice',
        {
          acs: [
            { url: 'https://a.example', index: 1 },
            { url: 'https://b.example', index: 1 },
          ],
        },
      ],
      ['acs', 'index 65536', { acs: [{ url: 'https://a.example', index: 65_536 }] }],
      ['acs', 'an unknown member', { acs: [{ url: 'https://a.example', binding: 'x' }] }],
      ['signing_keys', 'EC', { signing_keys: [ecPem] }],
      ['signing_keys', 'RSA of 1024 bits', { signing_keys: [rsaKeys('tiny', 1024).publicPem] }],
      ['signing_keys', 'RSA with exponent 3', { signing_keys: [rsaKeys('three', 2048, 3).publicPem] }],
      ['signing_keys', 'five', { signing_keys: [pem, pem, pem, pem, pem] }],
      ['signing_keys', 'a private key', { signing_keys: [privatePem] }],
      ['encryption_key', 'EC', { encryption_key: ecPem }],
      ['encryption_key', 'not PEM', { encryption_key: 'x' }],
      ['require_signed_requests', 'without a key', { require_signed_requests: true }],
      ['encrypt_assertions', 'without a key', { encrypt_assertions: true }],
      ['signing', 'neither', { signing: 'none' }],
      ['encryption', 'RSA 1.5', { encryption: { key_transport: 'rsa-1_5' } }],
      ['encryption', 'an unknown member', { encryption: { mode: 'x' } }],
      ['name_id_formats', 'unknown', { name_id_formats: ['urn:x'] }],
      ['name_id_formats', 'empty', { name_id_formats: [] }],
      ['name_id_formats', 'twice', { name_id_formats: [persistent, persistent] }],
      ['relay_states', 'of 1025 bytes', { relay_states: ['é'.repeat(513)] }],
      ['relay_states', '21', { relay_states: many(21, (at) => `/${at}`) }],
      ['attribute_map', 'an unknown field', { attribute_map: { password: 'x' } }],
      ['attribute_map', 'a property of objects', { attribute_map: { constructor: 'x' } }],
      ['attribute_map', 'one name twice', { attribute_map: { emails: 'x', user_name: 'x' } }],
      ['attribute_map', 'a name of 513 characters', { attribute_map: { emails: 'x'.repeat(513) } }],
      ['access_policy', 'unknown', { access_policy: 'nobody' }],
      ['enabled', 'a text', { enabled: 'yes' }],
      ['bogus', 'unknown', { bogus: 1 }],
    ];
    for (const [kind, what, fields] of wrong) {
      test(`400 kind ${kind}: ${what}`, async () => {
        const response = await tenant.call('POST', '/service-providers', { entity_id: entity(), acs, ...fields });
        await assertRefusal(response, 'management.invalid_request', { kind, text: /.+/ });
      });
    }
    test('400 for required fields that are missing', async () => {
      const noEntity = await tenant.call('POST', '/service-providers', { acs });
      await assertRefusal(noEntity, 'management.invalid_request', { kind: 'entity_id', text: /.+/ });
      const noAcs = await tenant.call('POST', '/service-providers', { entity_id: entity() });
      await assertRefusal(noAcs, 'management.invalid_request', { kind: 'acs', text: /.+/ });
    });
    test('the longest values fit', async () => {
      const entity_id = `u:${'\u{10FFFF}'.repeat(1022)}`;
      const created = await create({ entity_id, relay_states: ['é'.repeat(512)], attribute_map: { emails: 'x'.repeat(512) } });
      assert.equal(created['entity_id'], entity_id);
      const loopback = [{ url: 'http://127.0.0.1:3000/acs' }, { url: 'http://localhost/acs', index: 65_535, default: true }];
      assert.deepEqual((await create({ acs: loopback }))['acs'], [
        { url: 'http://127.0.0.1:3000/acs', index: 0, default: false },
        { url: 'http://localhost/acs', index: 65_535, default: true },
      ]);
    });

    test('attributes that were never decided on are the usual five; {} releases none, transient names neither; a stored map stays', async () => {
      assert.deepEqual((await create({ attribute_map: {} }))['attribute_map'], {});
      assert.deepEqual((await create({ name_id_formats: [transient, persistent] }))['attribute_map'], {});
      const created = await create({ name_id_formats: [persistent, transient] });
      assert.deepEqual(created['attribute_map'], released);
      const path = `/service-providers/${created['id']}`;
      assert.deepEqual((await tenant.make('PATCH', path, { attribute_map: {} }))['attribute_map'], {});
      assert.deepEqual((await tenant.make('PATCH', path, { enabled: false }))['attribute_map'], {});
    });
    test('one URL may have several indexes', async () => {
      const twice = [
        { url: 'https://a.example', index: 1, default: true },
        { url: 'https://a.example', index: 2, default: false },
      ];
      assert.deepEqual((await create({ acs: twice }))['acs'], twice);
    });
    test('assignments: users and groups pass the gate of an `assigned` provider', async () => {
      const { id } = await create({ access_policy: 'assigned' });
      const user = await createTestUser(tenant, 'assigned@example.com');
      const path = `/service-providers/${id}/assignments`;
      const assigned = await jsonOf(await tenant.call('POST', path, { user_id: user.id }), 201);
      assert.deepEqual((await tenant.make<{ items: readonly Json[] }>('GET', path)).items, [assigned]);
      assert.equal((await tenant.call('DELETE', `${path}/${assigned['id']}`)).status, 204);
      await assertRefusal(await tenant.call('DELETE', `${path}/${assigned['id']}`), 'management.not_found');
      await assertRefusal(await tenant.call('GET', '/service-providers/x/assignments'), 'management.not_found');
    });
    test('characters an assertion cannot carry are refused when a user or group is written', async () => {
      for (const value of ['\u0001', '\uFFFF', '\uD800']) {
        const user = await tenant.call('POST', '/users', { user_name: 'u', name: { given_name: value } });
        await assertRefusal(user, 'management.invalid_request', { kind: 'name.given_name', text: /.+/ });
        const group = await tenant.call('POST', '/groups', { display_name: value });
        await assertRefusal(group, 'management.invalid_request', { kind: 'display_name', text: /.+/ });
        const body = {
          schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
          userName: 'u',
          displayName: value,
          emails: [{ value: 'u@example.com', primary: true }],
        };
        const scim = await fetch(`${tenant.baseUrl}/scim/v2/Users`, {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/scim+json' },
        });
        assert.equal(scim.status, 400, await scim.text());
      }
    });
    test("another tenant's provider is unknown, and its entityID is free", async () => {
      const other = await createTestTenant(server);
      const { id, entity_id } = await create();
      await assertRefusal(await other.call('GET', `/service-providers/${id}`), 'management.not_found');
      await jsonOf(await other.call('POST', '/service-providers', { entity_id, acs }), 201);
    });
  });
}
