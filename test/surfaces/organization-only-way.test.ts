// Where people sign in for an organisation by its own providers alone, the last one that is on is neither turned off nor deleted, whoever
// tries it, and however many at once: nobody could sign in for it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readDeclarations } from '../../src/administration/declaration/reader.ts';
import { openSession, reconcile } from '../../src/administration/declaration/reconcile.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`the only way into an organisation on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let made = 0;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());
    const slug = (): string => {
      made += 1;
      return `way-${made}`;
    };
    const provider = async (): Promise<Json> => {
      const alias = slug();
      const said = { alias, kind: 'oidc', name: alias, issuer: `https://${alias}.example`, client_id: 'x' };
      return tenant.make('POST', '/identity-providers', said);
    };
    const organization = async (providers: readonly Json[], fields: Json = {}): Promise<Json> =>
      tenant.make('POST', '/organizations', {
        name: slug(),
        identity_providers: providers.map(({ alias }) => alias),
        sign_in: 'own_providers',
        ...fields,
      });
    const change = (one: Json, fields: Json): Promise<Response> => tenant.call('PATCH', `/identity-providers/${String(one['id'])}`, fields);
    const remove = (one: Json): Promise<Response> => tenant.call('DELETE', `/identity-providers/${String(one['id'])}`);
    const isOn = async ({ id }: Json): Promise<unknown> => {
      const response = await tenant.call('GET', `/identity-providers/${String(id)}`);
      return response.status === 200 && (await jsonOf(response, 200))['enabled'];
    };

    it('it is refused, says why, and leaves no record; with another way it is done', async () => {
      const only = await provider();
      const acme = await organization([only]);
      const refusals = [await jsonOf(await change(only, { enabled: false, name: 'Other' }), 409), await jsonOf(await remove(only), 409)];
      assert.deepEqual(
        refusals.map(({ kind, message }) => [kind, String(message).includes(`${String(acme['name'])} by its own providers alone`)]),
        [
          ['enabled', true],
          ['alias', true],
        ],
      );
      assert.equal(await isOn(only), true);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/events?target=identity_provider:${String(only['id'])}`);
      assert.deepEqual(
        items.map(({ type }) => type),
        ['identity_provider.created'],
      );
      assert.equal((await change(only, { name: 'Still on' })).status, 200);
      await tenant.make('PATCH', `/organizations/${String(acme['id'])}`, { sign_in: 'any' });
      assert.equal((await change(only, { enabled: false })).status, 200);
      await tenant.make('PATCH', `/organizations/${String(acme['id'])}`, { sign_in: 'own_providers' });
      assert.equal((await remove(only)).status, 204, 'nobody comes by one that is off');
    });

    it('one of several may go, until the last; another organisation’s and the tenant’s own are no way in', async () => {
      const [one, two, three] = [await provider(), await provider(), await provider()];
      await provider();
      await organization([await provider()]);
      await organization([one, two, three]);
      assert.equal((await change(one, { enabled: false })).status, 200);
      assert.equal((await remove(two)).status, 204);
      assert.equal((await change(three, { enabled: false })).status, 409);
      assert.equal((await remove(three)).status, 409);
      assert.equal((await change(one, { enabled: true })).status, 200);
      assert.equal((await change(three, { enabled: false })).status, 200);
      assert.equal((await remove(three)).status, 204);
    });

    it('of all that are turned off or deleted at once one stays, also while the organisation is changed', async () => {
      for (let round = 0; round < 4; round += 1) {
        const all = [await provider(), await provider(), await provider()];
        const acme = await organization(all);
        const answers = await Promise.all([
          ...all.map((one, at) => (at === round % 3 ? remove(one) : change(one, { enabled: false }))),
          tenant.call('PATCH', `/organizations/${String(acme['id'])}`, { display_name: 'Acme' }),
        ]);
        const statuses = answers.map(({ status }) => status);
        assert.deepEqual(statuses.filter((status) => status === 409).length, 1, statuses.join(' '));
        assert.ok(
          statuses.every((status) => [200, 204, 409].includes(status)),
          statuses.join(' '),
        );
        const on = await Promise.all(all.map(isOn));
        assert.equal(on.filter((state) => state === true).length, 1);
      }
    });

    it('turned off and dropped by its organisation at once, neither waits for the other in a circle', async () => {
      for (let round = 0; round < 4; round += 1) {
        const [one, two] = [await provider(), await provider()];
        const acme = await organization([one, two]);
        const answers = await Promise.all([
          change(one, { enabled: false }),
          tenant.call('PATCH', `/organizations/${String(acme['id'])}`, { identity_providers: [two['alias']] }),
          tenant.call('PATCH', `/organizations/${String(acme['id'])}`, { identity_providers: [two['alias'], one['alias']] }),
        ]);
        for (const { status } of answers) assert.ok([200, 409].includes(status), String(status));
        assert.equal(await isOn(two), true);
      }
    });

    it('an organisation that goes turns its providers off; a document that leaves the only one out is refused', async () => {
      const of = tenant;
      tenant = await createTestTenant(server);
      try {
        const only = await provider();
        const { alias } = await provider();
        const acme = await organization([only]);
        const { services } = server.gatehouse;
        const session = await openSession(services, (await services.tenants.bySlug(tenant.slug))!, { actor: 'operator' });
        const document = [
          'gatehouse: 1',
          'identity_providers:',
          `  - { alias: ${String(alias)}, kind: oidc, name: A, issuer: 'https://a.example', client_id: x }`,
        ];
        const pruned = reconcile(session, readDeclarations(document), { write: true, prune: true });
        await assert.rejects(pruned, /that is on, or sign_in any/);
        assert.equal(await isOn(only), true);
        assert.equal((await tenant.call('DELETE', `/organizations/${String(acme['id'])}`)).status, 204);
        assert.equal(await isOn(only), false);
      } finally {
        tenant = of;
      }
    });
  });
