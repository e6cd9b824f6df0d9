// A client may hold capabilities of the Management API for the people who use it. Only administrators may use them: a token
// that somebody else signed in for opens neither the Management API nor SCIM.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { Services } from '../../src/http/services.ts';
import { changeUser } from '../../src/storage/people/user-writer.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { exchange, issueCode, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`capabilities of people on ${database}`, () => {
    let server: TestServer;
    let services: Services;
    let tenant: Tenant;
    let portal: TestClient;
    before(async () => {
      server = await startTestServer(database);
      services = server.gatehouse.services;
      tenant = await rootTenant(services);
      portal = await createClient(services, tenant, {
        scopes: ['openid', 'users:read', 'scim:read'],
        resources: [tenant.managementApi],
      });
    });
    after(() => server.close());

    const tokenOf = async (user: TestUser): Promise<string> => {
      const options = { scope: 'openid users:read scim:read', resource: tenant.managementApi };
      return (await tokensOf(await exchange(tenant, portal, await issueCode(server, tenant, portal, user, options)))).access_token;
    };
    const setRoles = (user: TestUser, roles: readonly string[]): Promise<unknown> =>
      services.database.write(tenant.id, (queries) => changeUser(queries, tenant.id, user.id, { roles }));
    const setUser = (user: TestUser, values: { readonly state?: string }): Promise<unknown> =>
      services.database.write(tenant.id, (queries) =>
        queries.updateTable('users').set(values).where('tenant_id', '=', tenant.id).where('id', '=', user.id).execute(),
      );
    const get = (path: string, token: string): Promise<Response> =>
      fetch(`${tenant.baseUrl}${path}`, { headers: { authorization: `Bearer ${token}` } });

    it('an ordinary person is refused, although the client has the capabilities', async () => {
      const token = await tokenOf(await createUser(services, tenant));
      await assertRefusal(await get('/v1/management/users', token), 'management.unauthorized');
      await assertRefusal(await get('/scim/v2/Users', token), 'scim.unauthorized', {
        text: 'The user of the access token is not an administrator.',
      });
    });
    it('an administrator is let in, until the role or the person is gone', async () => {
      const user = await createUser(services, tenant);
      await setRoles(user, ['auditor']);
      const token = await tokenOf(user);
      for (const path of ['/v1/management/users', '/scim/v2/Users']) assert.equal((await get(path, token)).status, 200, path);
      await setUser(user, { state: 'suspended' });
      await assertRefusal(await get('/v1/management/users', token), 'management.unauthorized');
      await setUser(user, { state: 'active' });
      await setRoles(user, []);
      await assertRefusal(await get('/v1/management/users', token), 'management.unauthorized');
    });
  });
}
