// How many things a tenant may have holds in documents as in the Management API: with n applied, n + 1 is refused where it stands, in the
// same document and in a later one; what is there may be said again.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { declarationsIn } from '../../src/administration/declaration/reader.ts';
import { openSession, reconcile } from '../../src/administration/declaration/reconcile.ts';
import { directoriesPerTenantMax } from '../../src/contract/directory-limits.ts';
import {
  connectorsPerTenantMax,
  customAttributesPerTenantMax,
  organizationRolesMax,
  providersPerTenantMax,
  webhooksPerTenantMax,
  workloadIssuersMax,
} from '../../src/contract/limits.ts';
import { organizationProvidersMax } from '../../src/contract/organization-limits.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Json } from '../support/management.ts';
import { nameProviders } from '../support/organization-world.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Bounded {
  readonly section: string;
  readonly many: string;
  readonly most: number;
  readonly item: (at: number) => Json;
}

const bounded: readonly Bounded[] = [
  {
    section: 'connectors',
    many: 'connectors',
    most: connectorsPerTenantMax,
    item: (at) => ({ name: `C${at}`, base_url: 'https://c.example/scim', auth: { type: 'bearer' }, enabled: false }),
  },
  {
    section: 'directories',
    many: 'directories',
    most: directoriesPerTenantMax,
    item: (at) => ({ name: `D${at}`, kind: 'other', url: 'ldaps://d.example', bind_dn: 'cn=r', base_dn: 'dc=d', enabled: false }),
  },
  {
    section: 'webhooks',
    many: 'webhooks',
    most: webhooksPerTenantMax,
    item: (at) => ({ url: `https://w.example/${at}`, enabled: false }),
  },
  {
    section: 'identity_providers',
    many: 'providers',
    most: providersPerTenantMax,
    item: (at) => ({ alias: `p${at}`, kind: 'oidc', name: 'P', issuer: `https://p${at}.example`, client_id: 'us' }),
  },
  {
    section: 'workload_issuers',
    many: 'workload issuers',
    most: workloadIssuersMax,
    item: (at) => ({ name: `W${at}`, issuer: `https://w${at}.example` }),
  },
  { section: 'organization_roles', many: 'organisation roles', most: organizationRolesMax, item: (at) => ({ name: `r${at}` }) },
  { section: 'custom_attributes', many: 'attributes', most: customAttributesPerTenantMax, item: (at) => ({ name: `a${at}` }) },
];

for (const database of databases)
  describe(`limits in documents on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    for (const { section, many, most, item } of bounded)
      it(section, async () => {
        const { slug } = await createTestTenant(server);
        const apply = (items: readonly Json[]) =>
          applyDocument(server.gatehouse.services, slug, [
            'gatehouse: 1',
            `${section}:`,
            ...items.map((one) => `  - ${JSON.stringify(one)}`),
          ]);
        const all = Array.from({ length: most }, (_, at) => item(at));
        const refused = new RegExp(`${section}\\[\\d+\\]: expected at most ${most} ${many} in the tenant`);
        await assert.rejects(apply([...all, item(most)]), refused);
        await apply(all);
        await assert.rejects(apply([item(most)]), refused);
        assert.equal((await apply(all)).unchanged, most);
      });

    it('providers that organisations name are counted apart, wherever the document names them', async () => {
      const tenant = await createTestTenant(server);
      const apply = (document: Json) =>
        applyDocument(server.gatehouse.services, tenant.slug, [JSON.stringify({ gatehouse: 1, ...document })]);
      const provider = (alias: string): Json => ({ alias, kind: 'oidc', name: 'P', issuer: `https://${alias}.example`, client_id: 'us' });
      const named = (from: number, to: number): readonly string[] => Array.from({ length: to - from }, (_, at) => `c${from + at}`);
      const own = Array.from({ length: providersPerTenantMax }, (_, at) => provider(`o${at}`));
      const organizations = [
        { name: 'one', identity_providers: named(0, 40), sign_in: 'own_providers' },
        { name: 'two', identity_providers: named(40, 80) },
      ];
      const whole = { identity_providers: [...named(0, 80).map(provider), ...own], organizations };
      const full = /identity_providers\[\d+\]: expected at most 50 providers in the tenant/;
      await assert.rejects(apply({ ...whole, identity_providers: [...whole.identity_providers, provider('more')] }), full);
      await assert.rejects(apply({ identity_providers: whole.identity_providers }), full, 'nobody names them');
      const { services } = server.gatehouse;
      const before = (await tenant.make<{ items: readonly Json[] }>('GET', '/identity-providers?limit=200')).items.length;
      assert.ok(before <= providersPerTenantMax + 80);
      await apply(whole);
      assert.equal((await apply(whole)).created, 0);
      assert.equal((await tenant.call('POST', '/identity-providers', provider('more'))).status, 400);
      const { conflicts } = await apply({
        identity_providers: [provider('c80')],
        organizations: [{ name: 'two', identity_providers: named(40, 81) }],
      });
      assert.deepEqual(conflicts, []);
      // One that came in for an organisation that stays out takes no room that is not there.
      const session = await openSession(services, (await services.tenants.bySlug(tenant.slug))!, { actor: 'operator' }, new Set(['c81']));
      const said = {
        gatehouse: 1,
        identity_providers: [provider('c81')],
        organizations: [{ id: randomUUID(), name: 'two', identity_providers: ['c81'] }],
      };
      const done = await reconcile(session, declarationsIn(said), { write: true, prune: false });
      assert.deepEqual(
        done.conflicts.map(({ path, title }) => [path, title]),
        [
          ['organizations[0]', 'two'],
          ['identity_providers[0]', 'c81'],
        ],
      );
      assert.equal(done.created, 0);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/identity-providers?search=c81');
      assert.deepEqual(items, []);
    });

    it(`organisations name at most ${organizationProvidersMax} together`, async () => {
      const tenant = await createTestTenant(server);
      const apply = (document: Json) =>
        applyDocument(server.gatehouse.services, tenant.slug, [JSON.stringify({ gatehouse: 1, ...document })]);
      const { id } = await tenant.make('POST', '/organizations', { name: 'full' });
      await nameProviders(server, tenant, { organization: String(id), count: organizationProvidersMax - 1 });
      const provider = (alias: string): Json => ({ alias, kind: 'oidc', name: 'P', issuer: `https://${alias}.example`, client_id: 'us' });
      const one = { identity_providers: [provider('a')], organizations: [{ name: 'one', identity_providers: ['a'] }] };
      assert.equal((await apply(one)).created, 2);
      const two = { identity_providers: [provider('b')], organizations: [{ name: 'two', identity_providers: ['b'] }] };
      await assert.rejects(apply(two), /organizations\[0\]\.identity_providers: expected at most 200000 providers of organisations/);
      assert.equal((await apply(one)).unchanged, 2);
    });
  });
