// Rotation of the SAML key waits for those who read metadata (design 15, "Keys").
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { databases } from '../support/databases.ts';
import { clientCredentialsToken, createTestTenant, type Json, jsonOf, type Managed, managedWith } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Key {
  readonly kid: string;
  readonly use: string;
  readonly state: string;
  readonly created_at: string;
  readonly rotatable_at: string | null;
  readonly stale: readonly { readonly id: string; readonly name: string }[];
}
const dayMs = 86_400_000;

for (const database of databases) {
  suite(`rotation of SAML keys on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    /** The tenant with a new token: time has passed. */
    const again = async (tenant: Managed): Promise<Managed> =>
      managedWith(await clientCredentialsToken(tenant.baseUrl, tenant.adminClientId, tenant.adminClientSecret), tenant);
    const keysOf = async (tenant: Managed): Promise<Readonly<Record<string, Key>>> => {
      const { items } = await tenant.make<{ items: readonly Key[] }>('GET', '/signing-keys');
      return Object.fromEntries(items.filter(({ use }) => use === 'saml').map((key) => [key.state, key]));
    };
    const rotate = (tenant: Managed, fields: Json = {}): Promise<Response> =>
      tenant.call('POST', '/signing-keys', { use: 'saml', ...fields });
    const readMetadata = async (tenant: Managed, id: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      fetch(`${tenant.baseUrl}/v1/idp/saml/metadata/${id}`, { headers });

    test('a key born with the tenant signs at any time, one made by a rotation after 30 days or by force', async () => {
      let tenant = await createTestTenant(server);
      const born = await keysOf(tenant);
      assert.equal(born['next']?.rotatable_at, born['next']?.created_at);
      assert.deepEqual([born['current']?.rotatable_at, born['current']?.stale], [null, []]);
      const first = await jsonOf<Key>(await rotate(tenant), 201);
      assert.equal(first.kid, born['next']?.kid);
      const { next } = await keysOf(tenant);
      assert.equal(Date.parse(next?.rotatable_at ?? ''), Date.parse(next?.created_at ?? '') + 30 * dayMs);
      const day = next?.rotatable_at?.slice(0, 10);
      const tooYoung = { kind: 'next_key_too_young', text: new RegExp(`^The next certificate may sign from ${day},`) };
      await assertRefusal(await rotate(tenant), 'management.conflict', tooYoung);
      await assertRefusal(await rotate(tenant, { force: false }), 'management.conflict', tooYoung);
      assert.equal((await keysOf(tenant))['current']?.kid, first.kid, 'a refused rotation changes nothing');
      await server.clock.advance(30 * dayMs - 60_000);
      tenant = await again(tenant);
      await assertRefusal(await rotate(tenant), 'management.conflict', tooYoung);
      await server.clock.advance(120_000);
      assert.equal((await jsonOf<Key>(await rotate(tenant), 201)).kid, next?.kid);
      const second = await jsonOf<Key>(await rotate(tenant, { force: true }), 201);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=signing_key.rotated');
      const data = items.find((event) => event['target'] === `signing_key:${second.kid}`)?.['data'] as Json;
      assert.equal(data['force'], true);
    });
    test('10 rotations at once: one', async () => {
      const tenant = await createTestTenant(server);
      await keysOf(tenant);
      const answers = await Promise.all(Array.from({ length: 10 }, () => rotate(tenant)));
      assert.equal(answers.filter(({ status }) => status === 201).length, 1);
      for (const answer of answers)
        if (answer.status !== 201) {
          const { kind } = await jsonOf(answer, 409);
          assert.ok(['use', 'next_key_too_young'].includes(String(kind)), String(kind));
        }
    });
    test('stale: enabled providers whose address was not fetched since the next key appeared', async () => {
      let tenant = await createTestTenant(server);
      const stale = async (): Promise<readonly string[]> => ((await keysOf(tenant))['next']?.stale ?? []).map(({ name }) => name);
      const make = (name: string, fields: Json = {}): Promise<Json> =>
        tenant.make('POST', '/service-providers', {
          entity_id: `https://${name}.example`,
          name,
          acs: [{ url: 'https://sp.example' }],
          ...fields,
        });
      assert.deepEqual(await stale(), []);
      const [b, a] = [await make('b'), await make('a')];
      await make('off', { enabled: false });
      assert.deepEqual(await stale(), ['a', 'b']);
      assert.equal((await readMetadata(tenant, a['id'])).status, 200);
      assert.deepEqual(await stale(), ['b']);
      await jsonOf(await rotate(tenant), 201);
      assert.deepEqual(await stale(), ['a', 'b'], 'a new next key appeared');
      const etag = (await readMetadata(tenant, b['id'])).headers.get('etag') ?? assert.fail();
      assert.deepEqual(await stale(), ['a']);
      await jsonOf(await rotate(tenant, { force: true }), 201);
      assert.equal((await readMetadata(tenant, b['id'], { 'if-none-match': etag })).status, 200);
      await server.clock.advance(2 * 3_600_000);
      tenant = await again(tenant);
      const now = (await readMetadata(tenant, a['id'])).headers.get('etag') ?? assert.fail();
      assert.equal((await readMetadata(tenant, b['id'], { 'if-none-match': now })).status, 304);
      assert.deepEqual(await stale(), []);
      await tenant.call('DELETE', `/service-providers/${a['id']}`);
      assert.deepEqual(await stale(), []);
    });
    test('the fields of a rotation: force is for saml, and true or false', async () => {
      const tenant = await createTestTenant(server);
      const oidc = await tenant.call('POST', '/signing-keys', { use: 'oidc', alg: 'ES256', force: true });
      await assertRefusal(oidc, 'management.invalid_request', { kind: 'force', text: /.+/ });
      await assertRefusal(await rotate(tenant, { force: 'yes' }), 'management.invalid_request', { kind: 'force', text: /.+/ });
      await assertRefusal(await rotate(tenant, { alg: 'ES256' }), 'management.invalid_request', { kind: 'alg', text: /.+/ });
    });
  });
}
