// Passkeys in the management API and what becomes of them with their user: list, revoke with mail and audit record, deletion by
// an administrator and by SCIM, suspension.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, type TestClient } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { mailsTo } from '../support/mailbox.ts';
import { callJson, clientCredentialsToken, createTestTenant, type Json, jsonOf, type Managed, managedWith } from '../support/management.ts';
import { askForPasskey, givePasskey } from '../support/passkeys.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`passkeys in the management API, ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database);
      managed = await createTestTenant(server);
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      client = await createClient(server.gatehouse.services, tenant);
    });
    after(() => server.close());

    const list = async (userId: string): Promise<readonly Json[]> =>
      (await managed.make<{ items: readonly Json[] }>('GET', `/users/${userId}/passkeys`)).items;
    const rowsOf = (userId: string): Promise<readonly object[]> =>
      server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries
          .selectFrom('passkeys')
          .select('id')
          .where('tenant_id', '=', tenant.id)
          .where('user_id', '=', userId as never)
          .execute(),
      );

    it('listed oldest first with its last use, and neither key nor credential id', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      assert.deepEqual(await list(user.id), []);
      const first = await givePasskey(server, tenant, user);
      await server.clock.advance(1000);
      const second = await givePasskey(server, tenant, user);
      const [older, newer] = await list(user.id);
      const { created_at: created, ...rest } = older!;
      assert.ok(Date.parse(String(created)) > 0);
      assert.deepEqual(rest, {
        id: first.id,
        user_id: user.id,
        name: 'Laptop',
        transports: ['internal'],
        backup_eligible: false,
        backed_up: false,
        aaguid: '00000000-0000-0000-0000-000000000000',
        last_used_at: null,
      });
      assert.equal(newer!['id'], second.id);
      const login = await beginLogin(server, tenant, client);
      const response = second.sign(await askForPasskey(login, user.email));
      await jsonOf(await login.post('passkey', { response }), 200);
      assert.ok(Date.parse(String((await list(user.id))[1]!['last_used_at'])) >= Date.parse(String(newer!['created_at'])));
    });

    it('revoked: gone, refused at sign-in, mailed, in the audit trail, once', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const stranger = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      const login = await beginLogin(server, tenant, client);
      const response = passkey.sign(await askForPasskey(login, user.email));
      await assertRefusal(await managed.call('DELETE', `/users/${stranger.id}/passkeys/${passkey.id}`), 'management.not_found');
      assert.equal((await managed.call('DELETE', `/users/${user.id}/passkeys/${passkey.id}`)).status, 204);
      await assertRefusal(await managed.call('DELETE', `/users/${user.id}/passkeys/${passkey.id}`), 'management.not_found');
      await assertRefusal(await managed.call('DELETE', `/users/nobody/passkeys/${passkey.id}`), 'management.not_found');
      assert.deepEqual(await list(user.id), []);
      await assertRefusal(await login.post('passkey', { response }), 'login.passkey_refused');
      const mails = await mailsTo(server, user.email);
      assert.deepEqual(
        mails.map((mail) => mail.subject),
        [`A passkey was removed from your ${tenant.name} account`],
      );
      assert.match(mails[0]!.text, /“Laptop”/);
      const events = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries.selectFrom('audit_events').select(['type', 'actor']).where('target', '=', `passkey:${passkey.id}`).execute(),
      );
      assert.deepEqual(
        events.map(({ type, actor }) => [type, actor]),
        [['passkey.revoked', `client:${managed.adminClientId}`]],
      );
    });

    it('revoked after it approved a sign-in that nobody has finished: that is not finished any more', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      const login = await beginLogin(server, tenant, client);
      await jsonOf(await login.post('passkey', { response: passkey.sign(await askForPasskey(login, user.email)) }), 200);
      assert.equal((await managed.call('DELETE', `/users/${user.id}/passkeys/${passkey.id}`)).status, 204);
      await assertRefusal(await login.post('finish'), 'login.conflict');
    });

    it('management.forbidden: without devices:read and devices:write; management.not_found: no such user', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      const token = await clientCredentialsToken(managed.baseUrl, managed.adminClientId, managed.adminClientSecret, 'devices:read');
      const reader = managedWith(token, managed);
      assert.equal((await reader.call('GET', `/users/${user.id}/passkeys`)).status, 200);
      const text = 'The token lacks the capability devices:write.';
      await assertRefusal(await reader.call('DELETE', `/users/${user.id}/passkeys/${passkey.id}`), 'management.forbidden', { text });
      const writerToken = await clientCredentialsToken(managed.baseUrl, managed.adminClientId, managed.adminClientSecret, 'users:read');
      const blind = managedWith(writerToken, managed);
      const blindText = 'The token lacks the capability devices:read.';
      await assertRefusal(await blind.call('GET', `/users/${user.id}/passkeys`), 'management.forbidden', { text: blindText });
      await assertRefusal(await managed.call('GET', '/users/nobody/passkeys'), 'management.not_found');
    });

    it('a deleted user has none any more, by the management API and by SCIM', async () => {
      const byHand = await createUser(server.gatehouse.services, tenant);
      const byScim = await createUser(server.gatehouse.services, tenant);
      for (const user of [byHand, byScim]) await givePasskey(server, tenant, user);
      assert.equal((await managed.call('DELETE', `/users/${byHand.id}`)).status, 204);
      const scim = await callJson(`${managed.baseUrl}/scim/v2/Users/${byScim.id}`, managed.token, 'DELETE');
      assert.equal(scim.status, 204, await scim.text());
      for (const user of [byHand, byScim]) assert.deepEqual(await rowsOf(user.id), []);
      await assertRefusal(await managed.call('GET', `/users/${byHand.id}/passkeys`), 'management.not_found');
    });

    it('a suspended user keeps them and cannot use them; reactivated, they work again', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      await managed.make('PATCH', `/users/${user.id}`, { state: 'suspended' });
      const refused = await beginLogin(server, tenant, client);
      const response = passkey.sign(await askForPasskey(refused, user.email));
      await assertRefusal(await refused.post('passkey', { response }), 'login.passkey_refused');
      assert.equal((await list(user.id)).length, 1);
      await managed.make('PATCH', `/users/${user.id}`, { state: 'active' });
      const login = await beginLogin(server, tenant, client);
      await jsonOf(await login.post('passkey', { response: passkey.sign(await askForPasskey(login, user.email)) }), 200);
    });
  });
}
