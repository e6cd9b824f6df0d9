// People on the management API: tokens of administrators, what ends them, and that nobody else's are accepted; keys that
// cannot be opened stop the start.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import { capabilities } from '../../src/domain/people/capabilities.ts';
import { createTestDatabase, databases } from '../support/databases.ts';
import { createClient } from '../support/fixtures.ts';
import { issueTokens } from '../support/issued-tokens.ts';
import {
  callJson,
  clientCredentialsToken,
  createTestClient,
  createTestTenant,
  createTestUser,
  type Managed,
  managedWith,
} from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`administrators on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server.close());

    const tokenOf = async (userId: string, scope = 'users:read'): Promise<Managed> => {
      const { services } = server.gatehouse;
      const stored = (await services.tenants.bySlug(tenant.slug))!;
      const client = await createClient(services, stored);
      const { accessToken } = await issueTokens(services, stored, client, userId as UserId, { audience: tenant.managementApi, scope });
      return managedWith(accessToken, tenant);
    };

    it('management.unauthorized: a user who is no administrator, whatever the scope; an administrator is let in', async () => {
      const user = await createTestUser(tenant, 'plain@example.com');
      await assertRefusal(await (await tokenOf(user.id, 'users:read users:write')).call('GET', '/users'), 'management.unauthorized');
      const admin = await createTestUser(tenant, 'admin@example.com', { role: 'admin' });
      const asAdmin = await tokenOf(admin.id);
      assert.equal((await asAdmin.call('GET', '/users')).status, 200);
      await assertRefusal(await asAdmin.call('POST', '/users', {}), 'management.forbidden', {
        text: 'The token lacks the capability users:write.',
      });
      await tenant.make('PATCH', `/users/${admin.id}`, { role: 'user' });
      await assertRefusal(await asAdmin.call('GET', '/users'), 'management.unauthorized');
    });

    it('sessions: listed, ended one by one and all at once; suspending and deleting end them', async () => {
      const admin = await createTestUser(tenant, 'sessions@example.com', { role: 'admin' });
      const [first, second] = [await tokenOf(admin.id), await tokenOf(admin.id)];
      const { items } = await tenant.make<{ items: readonly { id: string; scope: string; amr: readonly string[] }[] }>(
        'GET',
        `/users/${admin.id}/sessions`,
      );
      assert.deepEqual(
        items.map((item) => [item.scope, item.amr]),
        [
          ['openid offline_access', ['otp']],
          ['openid offline_access', ['otp']],
        ],
      );
      const sidOf = (managed: Managed): string => JSON.parse(Buffer.from(managed.token.split('.')[1]!, 'base64url').toString()).sid;
      assert.equal((await tenant.call('DELETE', `/users/${admin.id}/sessions/${sidOf(first)}`)).status, 204);
      await assertRefusal(await tenant.call('DELETE', `/users/${admin.id}/sessions/${sidOf(first)}`), 'management.not_found');
      await assertRefusal(await first.call('GET', '/users'), 'management.unauthorized');
      assert.equal((await second.call('GET', '/users')).status, 200);
      assert.equal((await tenant.call('DELETE', `/users/${admin.id}/sessions`)).status, 204);
      await assertRefusal(await second.call('GET', '/users'), 'management.unauthorized');
      assert.deepEqual(await tenant.make('GET', `/users/${admin.id}/sessions`), { items: [] });
      for (const end of ['suspend', 'delete'] as const) {
        const session = await tokenOf(admin.id);
        assert.equal((await session.call('GET', '/users')).status, 200);
        await tenant.make(end === 'suspend' ? 'POST' : 'DELETE', end === 'suspend' ? `/users/${admin.id}/suspend` : `/users/${admin.id}`);
        await assertRefusal(await session.call('GET', '/users'), 'management.unauthorized');
        if (end === 'suspend') await tenant.make('POST', `/users/${admin.id}/activate`);
        await assertRefusal(await session.call('GET', '/users'), 'management.unauthorized');
      }
    });

    it('management.forbidden: whoever lacks a capability cannot make an administrator', async () => {
      const client = await createTestClient(tenant, {
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['client_credentials'],
        scopes: capabilities.filter((capability) => capability !== 'settings:write'),
      });
      const weaker = managedWith(await clientCredentialsToken(tenant.baseUrl, client.client_id, client.client_secret), tenant);
      const text = 'The token lacks the capability settings:write.';
      await assertRefusal(await weaker.call('POST', '/users', { role: 'admin' }), 'management.forbidden', { text });
      const user = await createTestUser(tenant, 'promoted@example.com');
      await assertRefusal(await weaker.call('PATCH', `/users/${user.id}`, { role: 'admin' }), 'management.forbidden', { text });
      assert.equal((await weaker.call('PATCH', `/users/${user.id}`, { title: 'x' })).status, 200);
    });

    it('management.unauthorized: an expired token, one for another audience and a forged one are one answer', async () => {
      const admin = await createTestUser(tenant, 'expired@example.com', { role: 'admin' });
      const { services } = server.gatehouse;
      const stored = (await services.tenants.bySlug(tenant.slug))!;
      const client = await createClient(services, stored);
      const issuerOnly = await issueTokens(services, stored, client, admin.id as UserId, { scope: 'users:read' });
      const [header, claims] = tenant.token.split('.') as [string, string];
      const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
      const forged = [`${none}.${claims}.`, `${header}.${claims}.${'A'.repeat(86)}`, issuerOnly.accessToken, 'opaque', ''];
      const bodies: string[] = [];
      for (const token of forged)
        bodies.push(await assertRefusal(await callJson(`${tenant.managementApi}/users`, token, 'GET'), 'management.unauthorized'));
      await server.clock.advance(901_000);
      bodies.push(await assertRefusal(await callJson(`${tenant.managementApi}/users`, tenant.token, 'GET'), 'management.unauthorized'));
      assert.equal(new Set(bodies).size, 1);
    });
  });

  describe(`start on ${database} with a corrupted signing key`, () => {
    it('does not start, and names the key and the tenant', async () => {
      const store = await createTestDatabase(database);
      try {
        const first = await startTestServer(database, { database: store });
        const { id } = await createTestTenant(first, { slug: 'broken' });
        await first.gatehouse.services.database.write(id as never, (queries) =>
          queries
            .updateTable('signing_keys')
            .set({ private_key_encrypted: 'v1.AAAA.AAAA' })
            .where('tenant_id', '=', id as never)
            .where('use', '=', 'oidc')
            .where('state', '=', 'next')
            .execute(),
        );
        await first.close();
        await assert.rejects(
          startTestServer(database, { database: store }),
          new RegExp(`signing key \\S+ of tenant ${id} cannot be opened`),
        );
      } finally {
        await store.drop();
      }
    });
  });
}
