// Bounds on organisations of a tenant together: memberships, and providers of their own, which take no room from the tenant's.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { providersPerTenantMax } from '../../src/contract/limits.ts';
import { membershipsMax, organizationProvidersMax } from '../../src/contract/organization-limits.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import { textOf } from '../support/account.ts';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { nameProviders } from '../support/organization-world.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`bounds on organisations together on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let made = 0;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());
    const fresh = async (): Promise<void> => {
      tenant = await createTestTenant(server);
    };
    const organization = async (fields: Json = {}): Promise<string> => {
      made += 1;
      return String((await tenant.make('POST', '/organizations', { name: `org-${made}`, ...fields }))['id']);
    };
    const provider = (): Json => {
      made += 1;
      return { alias: `p-${made}`, kind: 'oidc', name: 'One', issuer: `https://p${made}.example`, client_id: 'shop' };
    };
    const messageOf = async (answer: Response): Promise<string> => String(((await answer.json()) as Json)['message']);

    it(`a tenant has at most ${membershipsMax} memberships, whoever adds them at once, and room again once one ends`, async () => {
      await fresh();
      const id = await organization();
      const users = await Promise.all(Array.from({ length: 4 }, async (_, at) => (await createTestUser(tenant, `m${at}@x.example`)).id));
      const at = (user: unknown): string => `/organizations/${id}/members/${String(user)}`;
      assert.equal((await tenant.call('PUT', at(users[0]), {})).status, 201);
      // As many others as there may be, less one, counted in another row.
      await server.gatehouse.services.database.write(tenant.id as TenantId, (queries) =>
        queries
          .insertInto('directory_counts')
          .values({ tenant_id: tenant.id as TenantId, kind: 'memberships', shard: 99, n: membershipsMax - 2 })
          .execute(),
      );
      const answers = await Promise.all(users.slice(1).map((user) => tenant.call('PUT', at(user), {})));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409]);
      assert.match(await messageOf(answers.find(({ status }) => status === 409)!), /at most 1000000 memberships/);
      // The organisation's own directory brings nobody in either.
      const { token } = await tenant.make('POST', `/organizations/${id}/scim-tokens`, { name: 'Directory', expires_in_days: 30 });
      const provision = async (name: string): Promise<string> => {
        const answered = await fetch(`${tenant.baseUrl}/v1/scim/organizations/${id}/Users`, {
          method: 'POST',
          headers: { authorization: `Bearer ${String(token)}`, 'content-type': 'application/scim+json' },
          body: JSON.stringify({
            schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
            userName: name,
            emails: [{ value: name, primary: true }],
          }),
        });
        const { detail = '' } = (await answered.json()) as { readonly detail?: string };
        return `${answered.status} ${detail}`;
      };
      assert.match(await provision('over@x.example'), /^400 .*as many members as it may have/);
      assert.equal((await tenant.call('PUT', at(users[0]), { roles: [] })).status, 200);
      assert.equal((await tenant.call('DELETE', at(users[0]))).status, 204);
      assert.match(await provision('within@x.example'), /^201 /);
      assert.match(await provision('over@x.example'), /^400 .*as many members as it may have/);
      // Who is deleted, and what goes with an organisation, is counted no more.
      assert.equal((await tenant.call('DELETE', `/organizations/${id}`)).status, 204);
      const left = await server.gatehouse.services.database.read(tenant.id as TenantId, (queries) =>
        queries
          .selectFrom('directory_counts')
          .select('n')
          .where('tenant_id', '=', tenant.id as TenantId)
          .where('kind', '=', 'memberships')
          .execute(),
      );
      assert.equal(
        left.reduce((sum, { n }) => sum + Number(n), 0),
        membershipsMax - 2,
      );
    });

    const opened = async (id: string): Promise<TestBrowser> => {
      const { setup_url: url } = await tenant.make('POST', `/organizations/${id}/setup-links`, {});
      const [page, token] = String(url).split('#');
      const browser = openBrowser();
      assert.equal((await browser.send(page!, { method: 'POST', body: new URLSearchParams({ token: token! }) })).status, 303);
      return browser;
    };
    const connect = async (browser: TestBrowser): Promise<Response> => {
      const at = `${tenant.baseUrl}/organization-setup/steps`;
      const csrf = /name="csrf" value="([^"]+)"/.exec(await textOf(await browser.send(at), 200))?.[1] ?? '';
      const body = new URLSearchParams({ csrf, kind: 'oidc', issuer: 'https://login.acme.example', client_id: 'shop' });
      return browser.send(`${at}/provider`, { method: 'POST', body });
    };
    const own = async (): Promise<number> => {
      let n = 0;
      for (let answer: Response; ; n += 1) {
        answer = await tenant.call('POST', '/identity-providers', provider());
        if (answer.status !== 201) return n;
      }
    };

    it('customers who connect their own take no room from the tenant, nor the tenant from them', async () => {
      await fresh();
      const named = provider();
      await tenant.make('POST', '/identity-providers', named);
      await organization({ identity_providers: [named['alias']] });
      assert.equal(await own(), providersPerTenantMax);
      const id = await organization();
      assert.equal((await connect(await opened(id))).status, 303);
      const [alias] = (await tenant.make('GET', `/organizations/${id}`))['identity_providers'] as readonly string[];
      assert.match(alias ?? '', /^org-/);
      assert.equal((await tenant.call('POST', '/identity-providers', provider())).status, 400);
    });

    it(`all of them name at most ${organizationProvidersMax}; who opened a set-up link is told plainly`, async () => {
      await fresh();
      const full = await organization();
      await nameProviders(server, tenant, { organization: full, count: organizationProvidersMax - 1 });
      const [first, second] = [provider(), provider()];
      for (const one of [first, second]) await tenant.make('POST', '/identity-providers', one);
      const [one, other] = [await organization(), await organization()];
      assert.equal((await tenant.call('PATCH', `/organizations/${one}`, { identity_providers: [first['alias']] })).status, 200);
      const refused = await tenant.call('PATCH', `/organizations/${other}`, { identity_providers: [second['alias']] });
      assert.equal(refused.status, 400);
      assert.match(await messageOf(refused), /at most 200000 providers of organisations/);
      const told = await connect(await opened(other));
      assert.equal(told.status, 400);
      assert.match(await told.text(), /role="alert"|class="notice bad"/);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/identity-providers?limit=200');
      assert.deepEqual(items.map(({ alias }) => alias).sort(), [first['alias'], second['alias']].sort());
    });
  });
