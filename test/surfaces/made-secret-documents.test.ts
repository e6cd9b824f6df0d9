// Secrets in documents: one made here that a document repeats, or says null of, is as it was; no mistake shows one.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { registered } from '../../src/administration/registered.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const { rows } = registered.webhook;
const url = 'https://receiver.example/in';

for (const database of databases) {
  describe(`secrets made here in documents, on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server?.close());

    const apply = (tenant: Managed, members: Json) =>
      applyDocument(server.gatehouse.services, tenant.slug, [`{"gatehouse": 1, "webhooks": [${JSON.stringify({ url, ...members })}]}`]);

    const rotated = async () => {
      const tenant = await createTestTenant(server);
      const { id } = await tenant.make('POST', '/webhooks', { url });
      const { secret } = await tenant.make('POST', `/webhooks/${id}/secret`);
      const previousUntil = async () => (await tenant.make('GET', `/webhooks/${id}`))['previous_secret_until'];
      return { tenant, id: String(id), secret, previousUntil };
    };

    it('the secret that is known leaves a rotation alone; another ends it', async () => {
      const { tenant, secret, previousUntil } = await rotated();
      const until = await previousUntil();
      assert.ok(until);
      await apply(tenant, { secret, types: ['user.*'] });
      assert.equal(await previousUntil(), until);
      await apply(tenant, { secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` });
      assert.equal(await previousUntil(), null);
    });

    it('null is as if nothing were said of it: it is not taken away, and one that is new gets its own', async () => {
      const { tenant, id, previousUntil } = await rotated();
      const until = await previousUntil();
      await apply(tenant, { secret: null, types: ['user.*'] });
      assert.equal(await previousUntil(), until);
      const secretOf = async (one: Managed) => {
        const { services } = server.gatehouse;
        const { id: tenantId } = (await services.tenants.bySlug(one.slug))!;
        const page = await services.database.read(tenantId, (queries) => rows.page(queries, tenantId, { after: '', limit: 2 }));
        return page.map(({ id: of, secret }) => [of, typeof secret]);
      };
      assert.deepEqual(await secretOf(tenant), [[id, 'string']]);
      const other = await createTestTenant(server);
      const { secrets } = await apply(other, { secret: null });
      assert.deepEqual(secrets, []);
      assert.deepEqual(
        (await secretOf(other)).map(([, type]) => type),
        ['string'],
      );
    });

    it('a mistake in the shape of a secret, of any section, names its place and shows nothing of it', async () => {
      const { slug } = await createTestTenant(server);
      const hidden = 'known to us';
      const connector = { name: 'Payroll', base_url: 'https://payroll.example' };
      const control = `${hidden}\u0001`;
      for (const [at, section] of [
        ['clients[0].client_secret', { clients: [{ client_id: 'robot', name: 'Robot', client_secret: hidden }] }],
        ['clients[0].client_secret_sha256', { clients: [{ client_id: 'robot', name: 'Robot', client_secret_sha256: [hidden] }] }],
        ['connectors[0].auth.token', { connectors: [{ ...connector, auth: { type: 'bearer', token: control } }] }],
        ['connectors[0].auth.client_secret', { connectors: [{ ...connector, auth: { type: 'basic', client_secret: [hidden] } }] }],
        ['connectors[0].auth', { connectors: [{ ...connector, auth: hidden }] }],
        ['webhooks[0].secret', { webhooks: [{ url, secret: hidden.repeat(100) }] }],
        ['identity_providers[0].client_secret', { identity_providers: [{ alias: 'o', kind: 'oidc', name: 'O', client_secret: [hidden] }] }],
        [
          'settings.smtp.server.password',
          {
            settings: {
              smtp: { server: { host: 'mail.example', port: 587, security: 'starttls', from: 'a@mail.example', password: [hidden] } },
            },
          },
        ],
      ] as const)
        await assert.rejects(
          applyDocument(server.gatehouse.services, slug, [JSON.stringify({ gatehouse: 1, ...section })]),
          (error: Error) => {
            assert.ok(error.message.startsWith(`${at}: expected `), error.message);
            assert.ok(!error.message.includes(hidden), error.message);
            assert.match(error.message, /found "a secret"/);
            return true;
          },
        );
      const wrong = { connectors: [{ ...connector, auth: { type: 'carrier pigeon' } }] };
      await assert.rejects(applyDocument(server.gatehouse.services, slug, [JSON.stringify({ gatehouse: 1, ...wrong })]), /carrier pigeon/);
    });
  });
}
