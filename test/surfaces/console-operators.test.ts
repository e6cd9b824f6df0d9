// The operator view: administrators of the root tenant, as people, manage the tenants of the deployment in their console and in
// the Management API of the root tenant. Nobody else: other tenants have no such path, clients and users are refused.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import { capabilities } from '../../src/domain/people/capabilities.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createClient, rootTenant } from '../support/fixtures.ts';
import { issueTokens } from '../support/issued-tokens.ts';
import {
  callSystem,
  clientCredentialsToken,
  createTestTenant,
  createTestUser,
  type Json,
  jsonOf,
  type Managed,
  managedWith,
} from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`operators on ${database}`, () => {
    let server: TestServer;
    let root: Managed;
    let visitor: AppVisitor;
    before(async () => {
      server = await startTestServer(database);
      root = await manageRootTenant(server);
      await root.make('PATCH', '/settings', { login_methods: ['email_pin'] });
      await createTestUser(root, 'operator@main.example', { role: 'admin', display_name: 'Olga Operator' });
      ({ visitor } = await openConsole(server, root, 'operator@main.example'));
    });
    after(() => server.close());

    const show = async (path: string, status = 200): Promise<string> => {
      const response = await visitor.page(path);
      const text = await response.text();
      assert.equal(response.status, status, `${path}: ${noticeOf(text)}`);
      return text;
    };
    const system = async (path: string): Promise<Json> => jsonOf(await callSystem(server, 'GET', path), 200);

    it('Server says how the deployment stands, in the root tenant alone', async () => {
      assert.match(await show('/settings'), /href="[^"]*\/settings\/server"/);
      const page = await show('/settings/server');
      for (const name of ['Database', 'Clock of the database', 'Public address', 'Mail server']) assert.ok(page.includes(name), name);
      assert.match(page, /<span class="strong">Public address<\/span><\/td><td data-label="State"><span class="badge good">fine/);
      const { tenant, email } = await createConsoleTenant(server);
      const { visitor: elsewhere } = await openConsole(server, tenant, email);
      assert.equal((await elsewhere.page('/settings/server')).status, 404);
      assert.doesNotMatch(await (await elsewhere.page('/settings')).text(), /settings\/server/);
    });

    it('a tenant is created with its secret shown once, found, changed, disabled, enabled, invited to, deleted', async () => {
      assert.match(await show(''), /manage its tenants/);
      const made = await visitor.act('/tenants', { slug: 'harbour', name: 'Harbour', domain: '' });
      assert.match(made, /id="secret-client_id">[^<]+<.*id="secret-client_secret">[A-Za-z0-9_-]{43}</);
      const id = /<dt>Id<\/dt><dd><code>([^<]+)/.exec(made)?.[1] ?? '';
      assert.match(await show('/tenants?search=HARB'), /Harbour/);
      assert.match(await show('/tenants?search=xyz'), /Nothing found/);
      assert.equal((await visitor.submit(`/tenants/${id}`, { name: 'Harbour & Sons', domain: 'login.harbour.example' })).status, 303);
      assert.deepEqual(
        [(await system(`/tenants/${id}`))['name'], (await system(`/tenants/${id}`))['domain']],
        ['Harbour & Sons', 'https://login.harbour.example'],
      );
      assert.match(await (await visitor.submit(`/tenants/${id}/disable`, {})).text(), /id="sure"/);
      assert.equal((await system(`/tenants/${id}`))['enabled'], true);
      assert.match(noticeOf(await visitor.act(`/tenants/${id}/disable`, { sure: 'yes' })), /Harbour &#38; Sons is disabled/);
      assert.equal((await system(`/tenants/${id}`))['enabled'], false);
      await visitor.submit(`/tenants/${id}/enable`, {});
      assert.equal((await system(`/tenants/${id}`))['enabled'], true);
      const invited = await visitor.act(`/tenants/${id}/invitations`, {});
      assert.match(invited, /id="secret-setup_url">https:\/\/login\.harbour\.example\/setup#[A-Za-z0-9_-]{43}</);
      for (const typed of [{ sure: 'yes' }, { sure: 'yes', typed: 'harbor' }]) {
        const asked = await (await visitor.submit(`/tenants/${id}/delete`, typed)).text();
        assert.match(noticeOf(asked), /That is not harbour/);
      }
      assert.equal((await system(`/tenants/${id}`))['slug'], 'harbour');
      assert.equal((await visitor.submit(`/tenants/${id}/delete`, { sure: 'yes', typed: 'harbour' })).status, 303);
      assert.equal((await callSystem(server, 'GET', `/tenants/${id}`)).status, 404);
    });

    it('the root tenant cannot be disabled by a button or deleted', async () => {
      const main = (await rootTenant(server.gatehouse.services)).id;
      assert.doesNotMatch(await show(`/tenants/${main}`), /id="delete"|id="act-disable"/);
      const refused = await visitor.submit(`/tenants/${main}/delete`, { sure: 'yes', typed: 'main' });
      assert.equal(refused.status, 400);
      assert.match(noticeOf(await refused.text()), /The root tenant cannot be deleted/);
    });

    it('a refused form keeps what was typed', async () => {
      await createTestTenant(server, { slug: 'taken' });
      for (const fields of [{ slug: 'taken' }, { slug: 'Not A Slug' }, { slug: 'fine', domain: 'ftp://x' }]) {
        const response = await visitor.submit('/tenants', { name: 'Typed name', ...fields });
        const text = await response.text();
        assert.equal(response.status, 400);
        assert.match(text, /value="Typed name"/);
        assert.ok(text.includes(`value="${fields.slug}"`));
      }
    });

    it('acts are recorded with who did them', async () => {
      const made = await visitor.act('/tenants', { slug: 'recorded', name: 'Recorded' });
      const id = /<dt>Id<\/dt><dd><code>([^<]+)/.exec(made)?.[1] ?? '';
      const events = await server.gatehouse.services.database.read(id as never, (queries) =>
        queries
          .selectFrom('audit_events')
          .select(['type', 'actor'])
          .where('type', '=', 'tenant.created')
          .where('target', '=', `tenant:${id}`)
          .execute(),
      );
      assert.equal(events.length, 1);
      assert.match(events[0]?.actor ?? '', /^operator:user:[0-9a-f-]{36}$/);
    });

    it('an administrator of another tenant: no page, no path, with any method', async () => {
      const { tenant, email } = await createConsoleTenant(server);
      const { visitor: guest, first } = await openConsole(server, tenant, email);
      assert.doesNotMatch(first.text, /Tenants<\/a>/);
      for (const path of ['/tenants', '/tenants/new', `/tenants/${tenant.id}`]) assert.equal((await guest.page(path)).status, 404, path);
      const before = await system(`/tenants/${tenant.id}`);
      for (const [method, path, body] of [
        ['GET', '/tenants', undefined],
        ['POST', '/tenants', { slug: 'stolen', name: 'x' }],
        ['GET', `/tenants/${tenant.id}`, undefined],
        ['PATCH', `/tenants/${tenant.id}`, { enabled: false }],
        ['DELETE', `/tenants/${tenant.id}`, undefined],
        ['POST', `/tenants/${tenant.id}/invitations`, {}],
      ] as const)
        await assertRefusal(await tenant.call(method, path, body), 'management.not_found');
      assert.deepEqual(await system(`/tenants/${tenant.id}`), before);
    });

    it('a client of the root tenant is refused, whatever its capabilities; without a token 401', async () => {
      const text = 'Only administrators of the root tenant, signed in as people, manage tenants.';
      for (const [method, path, body] of [
        ['GET', '/tenants', undefined],
        ['POST', '/tenants', { slug: 'stolen', name: 'x' }],
      ] as const)
        await assertRefusal(await root.call(method, path, body), 'management.forbidden', { text });
      const token = await clientCredentialsToken(root.baseUrl, root.adminClientId, root.adminClientSecret);
      await assertRefusal(await managedWith(token, root).call('DELETE', `/tenants/${root.id}`), 'management.forbidden', { text });
      await assertRefusal(await fetch(`${root.managementApi}/tenants`), 'management.unauthorized');
    });

    it('an administrator of the root tenant needs tenants:read in the token: one without is refused, one with it is not', async () => {
      const { services } = server.gatehouse;
      const tenant = await rootTenant(services);
      const client = await createClient(services, tenant, { scopes: capabilities, resources: [tenant.managementApi] });
      const person = await createTestUser(root, 'narrow@main.example', { role: 'admin' });
      const ask = async (scope: string): Promise<Response> => {
        const changes = { audience: tenant.managementApi, scope };
        const { accessToken } = await issueTokens(services, tenant, client, person.id as UserId, changes); // the server's id
        return managedWith(accessToken, root).call('GET', '/tenants');
      };
      const narrowed = capabilities.filter((capability) => capability !== 'tenants:read').join(' ');
      await assertRefusal(await ask(narrowed), 'management.forbidden', { text: 'The token lacks the capability tenants:read.' });
      assert.equal((await ask('tenants:read')).status, 200);
    });

    it('a person of the root tenant who is no administrator is refused', async () => {
      await createTestUser(root, 'person@main.example', { role: 'user' });
      const { first } = await openConsole(server, root, 'person@main.example');
      assert.equal(first.status, 403);
    });
  });
}

const noticeOf = (text: string): string => /id="notice">([^<]*)/.exec(text)?.[1] ?? '';
