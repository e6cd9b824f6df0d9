// Groups of identity providers in documents: exported with the provider they are of, made again elsewhere, named by alias before anybody
// came; what names no provider there is, or says two things of one group, is refused.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { readDeclarations } from '../../src/administration/declaration/reader.ts';
import { openSession, reconcile } from '../../src/administration/declaration/reconcile.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const acme = `identity_providers:
  - alias: acme
    kind: oidc
    name: Acme
    issuer: https://acme.example
    client_id: gatehouse`;
const groupsOf = (...lines: readonly string[]): string => ['groups:', ...lines.map((line) => `  - ${line}`)].join('\n');

for (const database of databases) {
  describe(`groups of identity providers in documents (${database})`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());
    const apply = ({ slug }: Managed, ...sections: readonly string[]) =>
      applyDocument(server.gatehouse.services, slug, ['gatehouse: 1', ...sections.join('\n').split('\n')]);
    const sessionOf = async ({ slug }: Managed) => {
      const { services } = server.gatehouse;
      return openSession(services, (await services.tenants.bySlug(slug))!, { actor: 'operator' });
    };
    const exported = async (tenant: Managed): Promise<string> => {
      const parts: string[] = [];
      for await (const part of exportDocument(await sessionOf(tenant), { withSecrets: false, asJson: false })) parts.push(part);
      return parts.join('');
    };
    const sectionOf = (document: string, section: string): string =>
      new RegExp(`^${section}:\\n(?: .*\\n)*`, 'm').exec(document)?.[0].trimEnd() ?? '';
    const groups = async (tenant: Managed): Promise<readonly Json[]> =>
      (await tenant.make<{ items: readonly Json[] }>('GET', '/groups')).items.map(
        ({ created_at: _c, updated_at: _u, version: _v, ...group }) => group,
      );

    it('a group is declared by the alias of its provider, exported, and the same elsewhere', async () => {
      const tenant = await createTestTenant(server);
      await apply(tenant, acme, groupsOf('{ display_name: dev, identity_provider_id: acme }', '{ display_name: Staff }'));
      const [provider] = (await tenant.make<{ items: readonly Json[] }>('GET', '/identity-providers')).items;
      const here = await groups(tenant);
      assert.deepEqual(
        here.map(({ display_name: name, origin, identity_provider_id: of }) => [name, origin, of]),
        [
          ['dev', 'identity_provider', provider!['id']],
          ['Staff', 'console', null],
        ],
      );
      const whole = await exported(tenant);
      const elsewhere = await createTestTenant(server);
      await apply(elsewhere, sectionOf(whole, 'identity_providers'), sectionOf(whole, 'groups'));
      assert.deepEqual(await groups(elsewhere), here);
      const again = await reconcile(await sessionOf(tenant), readDeclarations(whole.trimEnd().split('\n')), { write: false, prune: false });
      assert.deepEqual([again.created, again.updated, again.conflicts], [0, 0, []]);
    });

    it('a group is given to a provider, and back', async () => {
      const tenant = await createTestTenant(server);
      await apply(tenant, acme, groupsOf('{ display_name: dev }'));
      const owner = async (): Promise<unknown> => (await groups(tenant))[0]!['origin'];
      await apply(tenant, groupsOf('{ display_name: dev, identity_provider_id: acme, origin: identity_provider }'));
      assert.equal(await owner(), 'identity_provider');
      await apply(tenant, groupsOf('{ display_name: dev }'));
      assert.equal(await owner(), 'console');
    });

    for (const [line, text] of [
      ['{ display_name: x, identity_provider_id: nobody }', /expected the id or alias of an identity provider of this document or tenant/],
      ['{ display_name: x, identity_provider_id: acme, origin: scim }', /expected identity_provider beside identity_provider_id/],
      ['{ display_name: x, origin: identity_provider }', /expected identity_provider beside identity_provider_id/],
    ] as const)
      it(`refused: ${line}`, async () => {
        const tenant = await createTestTenant(server);
        await assert.rejects(apply(tenant, acme, groupsOf(line)), text);
        assert.deepEqual(await groups(tenant), []);
      });
  });
}
