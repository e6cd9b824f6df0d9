// How many things a tenant may have holds in documents as in the Management API: with n applied, n + 1 is refused where it stands, in the
// same document and in a later one; what is there may be said again.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import {
  connectorsPerTenantMax,
  customAttributesPerTenantMax,
  organizationRolesMax,
  providersPerTenantMax,
  webhooksPerTenantMax,
  workloadIssuersMax,
} from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Json } from '../support/management.ts';
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
  });
