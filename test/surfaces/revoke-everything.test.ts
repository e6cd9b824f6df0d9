// `restore --revoke-all`: what was issued before the backup, and may have been ended or used up after it, works nowhere (administration/revoke-everything.ts).
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { revokeEverything } from '../../src/administration/revoke-everything.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { clientCredentialsToken, createTestTenant, jsonOf, managedWith } from '../support/management.ts';
import { byPasskey, makeCodes } from '../support/recovery.ts';
import { assertRefusal } from '../support/refusal.ts';
import { openSsoWorld } from '../support/sso.ts';

for (const database of databases) {
  describe(`Everything revoked on ${database}`, async () => {
    const { server, tenant, signedIn, authorize, locationOf, asksToSignIn } = await openSsoWorld(database);
    const { services } = server.gatehouse;
    const revokeAll = (): Promise<number> => revokeEverything(services, { actor: 'operator' });
    after(() => server.close());

    it('a browser with a session signs in again', async () => {
      const browser = await signedIn(await createUser(services, tenant));
      assert.ok(locationOf(await authorize(browser)).searchParams.has('code'));
      await revokeAll();
      asksToSignIn(await authorize(browser));
    });

    it('the token of a registration opens it no more; the client stays', async () => {
      const managed = await createTestTenant(server, { settings: { extra_grants: ['registration'] } });
      const policy = { hosts: ['rp.example'], grant_types: ['authorization_code'], scopes: ['openid'] };
      const { token } = await managed.make<{ readonly token: string }>('POST', '/initial-access-tokens', {
        count: 1,
        expires_in_seconds: 600,
        policy,
      });
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ redirect_uris: ['https://rp.example/callback'] });
      const made = await jsonOf(await fetch(`${managed.baseUrl}/v1/idp/oidc/register`, { method: 'POST', headers, body }), 201);
      const read = (): Promise<Response> =>
        fetch(String(made['registration_client_uri']), { headers: { authorization: `Bearer ${made['registration_access_token']}` } });
      assert.equal((await read()).status, 200);
      await revokeAll();
      await assertRefusal(await read(), 'register.invalid_token');
      const fresh = await clientCredentialsToken(managed.baseUrl, managed.adminClientId, managed.adminClientSecret);
      assert.equal((await managedWith(fresh, managed).call('GET', `/clients/${made['client_id']}`)).status, 200);
    });

    it('a recovery code opens nothing, as it may have been used after the backup', async () => {
      const managed = await createTestTenant(server, { settings: { login_methods: ['passkey', 'email_pin'] } });
      const of = (await services.tenants.bySlug(managed.slug))!;
      const person = await byPasskey(server, managed, of);
      const [code] = await makeCodes(person);
      await revokeAll();
      const login = await beginLogin(server, of, await createClient(services, of));
      await jsonOf(await login.post('identify', { identifier: person.email }), 200);
      await assertRefusal(await login.post('recovery', { code: code! }), 'pin.invalid', { fields: { attempts_left: 4 } });
    });
  });
}
