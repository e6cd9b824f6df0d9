// Tokens for SCIM alone (design 23, part 3): long-lived, shown once, listed with their last use, ended at once; nothing else opens by one,
// and no lifetime of the tenant is touched.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { scimTokenDaysMax, scimTokensMax } from '../../src/contract/limits.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import {
  clientCredentialsToken,
  createTestClient,
  createTestTenant,
  createTestUser,
  type Json,
  type Managed,
  managedWith,
} from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const dayMs = 24 * 3600 * 1000;

interface Made extends Json {
  readonly id: string;
  readonly token: string;
}

for (const database of databases)
  describe(`tokens for SCIM on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());

    const make = (body: Json = { name: 'Okta', expires_in_days: 365 }, by = tenant): Promise<Made> =>
      by.make<Made>('POST', '/scim-tokens', body);
    const scim = (token: string, path = '/Users?count=1', init: RequestInit = {}, at = tenant): Promise<Response> =>
      fetch(`${at.baseUrl}/scim/v2${path}`, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
    const list = async (): Promise<readonly Json[]> =>
      (await tenant.make<{ readonly items: readonly Json[] }>('GET', '/scim-tokens')).items;

    it('one reads and writes people by SCIM for as long as it was made, is in no list, and says when it was used', async () => {
      const made = await make();
      assert.match(made.token, /^ghscim_[A-Za-z0-9_-]{43}$/);
      assert.equal((await list())[0]?.['last_used_at'], null);
      assert.equal((await scim(made.token)).status, 200);
      const [listed] = await list();
      assert.ok(listed?.['last_used_at']);
      assert.ok(!JSON.stringify(await list()).includes(made.token));
      const body = JSON.stringify({
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        userName: 'ada@dir.example',
        emails: [{ value: 'ada@dir.example', primary: true }],
      });
      const written = await scim(made.token, '/Users', { method: 'POST', body, headers: { 'content-type': 'application/scim+json' } });
      assert.equal(written.status, 201);
      const { items } = await tenant.make<{ readonly items: readonly Json[] }>('GET', '/events?type=user.created');
      assert.equal(items[0]?.['actor'], `scim_token:${made.id}`);
    });

    it('it opens nothing else, and nothing of another tenant', async () => {
      const { token } = await make();
      const other = await createTestTenant(server);
      assert.equal((await scim(token, '/Users', {}, other)).status, 401);
      const bearer = { headers: { authorization: `Bearer ${token}` } };
      assert.equal((await fetch(`${tenant.managementApi}/users`, bearer)).status, 401);
      assert.equal((await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, bearer)).status, 401);
      assert.equal(
        (await scim(token, '/Me')).status,
        (await scim(await clientCredentialsToken(tenant.baseUrl, tenant.adminClientId, tenant.adminClientSecret), '/Me')).status,
      );
      assert.equal((await scim(`${token}x`)).status, 401);
      assert.equal((await scim('ghscim_')).status, 401);
    });

    it('revoked, it is refused from its next request on, as one that never was', async () => {
      const { id, token } = await make();
      assert.equal((await scim(token)).status, 200);
      assert.equal((await tenant.call('DELETE', `/scim-tokens/${id}`)).status, 204);
      const [gone, never] = await Promise.all([scim(token), scim(`ghscim_${'x'.repeat(43)}`)]);
      assert.deepEqual([gone.status, await gone.text()], [401, await never.text()]);
      assert.equal(gone.headers.get('www-authenticate'), 'Bearer realm="scim", error="invalid_token"');
      assert.equal((await tenant.call('DELETE', `/scim-tokens/${id}`)).status, 404);
    });

    it('it takes SCIM of whoever makes it, and a lifetime that is said', async () => {
      const scopes = ['clients:write', 'scim:read'];
      const client = await createTestClient(tenant, {
        redirect_uris: [],
        grant_types: ['client_credentials'],
        token_endpoint_auth_method: 'client_secret_post',
        scopes,
      });
      const weak = managedWith(await clientCredentialsToken(tenant.baseUrl, client.client_id, client.client_secret), tenant);
      assert.equal((await weak.call('POST', '/scim-tokens', { name: 'x', expires_in_days: null })).status, 403);
      for (const days of [1, scimTokenDaysMax, null]) assert.ok((await make({ name: 'x', expires_in_days: days })).token);
      for (const body of [
        {},
        { name: 'x' },
        { name: '', expires_in_days: 1 },
        { name: 'x', expires_in_days: 0 },
        { name: 'x', expires_in_days: scimTokenDaysMax + 1 },
        { name: 'x', expires_in_days: '30' },
        { name: 'x', expires_in_days: 1.5 },
        { name: 'x', expires_in_days: 1, surplus: true },
        { name: 'a\u0001', expires_in_days: 1 },
      ])
        assert.equal((await tenant.call('POST', '/scim-tokens', body)).status, 400, JSON.stringify(body));
    });

    it('a tenant has scimTokensMax, also of those made at the same moment', async () => {
      const own = await createTestTenant(server);
      const ask = async (name: string): Promise<number> => (await own.call('POST', '/scim-tokens', { name, expires_in_days: 1 })).status;
      for (let made = 0; made < scimTokensMax - 1; made += 1) assert.equal(await ask(`t${made}`), 201);
      const statuses = await Promise.all(Array.from({ length: 10 }, (_, at) => ask(`at once ${at}`)));
      assert.deepEqual(statuses.toSorted(), [201, ...Array.from({ length: 9 }, () => 409)]);
    });

    it('what a person made is among the secrets they know', async () => {
      const { tenant: at, email } = await createConsoleTenant(server, { role: 'admin' });
      const { visitor } = await openConsole(server, at, email);
      await visitor.act('/scim/tokens', { token_name: 'Okta', days: 'none' });
      const { items } = await at.make<{ readonly items: readonly Json[] }>('GET', `/users?search=${encodeURIComponent(email)}`);
      const known = await at.make<{ readonly items: readonly Json[] }>('GET', `/users/${items[0]!['id']}/known-secrets`);
      assert.deepEqual(
        known.items.map(({ kind, name }) => [kind, name]),
        [['scim_token', 'Okta']],
      );
      const page = await (await visitor.page(`/users/${items[0]!['id']}/known-secrets`)).text();
      assert.match(page, /Token of a directory/);
    });

    it('in the console: a button makes and tries one, shows it for ten minutes, and revokes it after a question', async () => {
      const { tenant: at, email } = await createConsoleTenant(server);
      const { visitor } = await openConsole(server, at, email);
      const page = await visitor.act('/scim/tokens', { token_name: 'Okta', days: '90' });
      assert.match(page, /The token was made, and it works\./);
      const token = /id="scim-token">([^<]+)</.exec(page)?.[1] ?? '';
      const lastUse = async (): Promise<unknown> =>
        (await at.make<{ readonly items: readonly Json[] }>('GET', '/scim-tokens')).items[0]?.['last_used_at'];
      assert.match(page, /data-label="Last used">never</, 'trying it is no use of it');
      assert.equal(await lastUse(), null);
      assert.equal((await scim(token, '/Users', { headers: { 'gatehouse-own-trial': 'guessed' } }, at)).status, 200);
      assert.ok(await lastUse(), 'nobody outside can say that a use is a trial');
      const { items } = await at.make<{ readonly items: readonly Json[] }>('GET', '/scim-tokens');
      const [{ id, expires_at: ends, created_at: made }] = items as readonly [Json & { readonly id: string }];
      assert.equal(Date.parse(String(ends)) - Date.parse(String(made)), 90 * dayMs);
      assert.match(await (await visitor.submit(`/scim/tokens/${id}/revoke`, {})).text(), /Revoke this token\?/);
      assert.match(await visitor.act(`/scim/tokens/${id}/revoke`, { sure: 'yes' }), /The token was revoked\./);
      assert.equal((await scim(token, '/Users', {}, at)).status, 401);
      assert.equal((await visitor.submit('/scim/tokens', { token_name: '', days: '90' })).status, 400);
      await createTestUser(at, 'auditor@dir.example', { admin_roles: ['auditor'] });
      const { visitor: reader } = await openConsole(server, at, 'auditor@dir.example');
      assert.doesNotMatch(await (await reader.page('/scim')).text(), /id="new-token"|Revoke|id="make"/);
    });

    it('in the console of an organisation: as for the tenant, at its own address', async () => {
      const { tenant: at, email } = await createConsoleTenant(server);
      const { id: organization } = await at.make<{ readonly id: string }>('POST', '/organizations', {
        name: 'acme',
        display_name: 'Acme Ltd',
      });
      const { visitor } = await openConsole(server, at, email);
      const path = `/organizations/${organization}/directory`;
      const page = await visitor.act(`${path}/tokens`, { token_name: 'Entra', days: 'none' });
      assert.match(page, /The token was made, and it works\./);
      assert.ok(page.includes(`${at.baseUrl}/v1/scim/organizations/${organization}`));
      const token = /id="scim-token">([^<]+)</.exec(page)?.[1] ?? '';
      assert.equal((await scim(token, '/Users', {}, at)).status, 401);
      const { items } = await at.make<{ readonly items: readonly Json[] }>('GET', `/organizations/${organization}/scim-tokens`);
      const revoke = `${path}/tokens/${String(items[0]?.['id'])}/revoke`;
      assert.match(await (await visitor.submit(revoke, {})).text(), /Revoke this token\?/);
      assert.match(await visitor.act(revoke, { sure: 'yes' }), /The token was revoked\./);
      await createTestUser(at, 'reader@dir.example', { admin_roles: ['auditor'] });
      const { visitor: reader } = await openConsole(server, at, 'reader@dir.example');
      assert.doesNotMatch(await (await reader.page(path)).text(), /id="new-token"|Revoke/);
      assert.equal((await visitor.page(`/organizations/${crypto.randomUUID()}/directory`)).status, 404);
    });

    it('it ends when its time is over, and one without end does not', async () => {
      const [year, ever] = [await make(), await make({ name: 'ever', expires_in_days: null })];
      await server.clock.advance(366 * dayMs);
      assert.equal((await scim(ever.token)).status, 200);
      const ended = await scim(year.token);
      assert.equal(ended.status, 401);
      assert.match(await ended.text(), /The access token has expired\./);
    });
  });
