// CIBA as openid-client does it, unpatched: start, poll with slow_down obeyed, tokens validated; every client authentication.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as openid from 'openid-client';
import { tokenEndpointAuthMethods } from '../../src/domain/client/client.ts';
import { isCertificateMethod } from '../../src/domain/client/tls-client-auth.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { cibaGrantType, decide } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { createUser, rootTenant } from '../support/fixtures.ts';
import { createRelyingParty } from '../support/relying-party.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const ciba = { grantTypes: [cibaGrantType, 'refresh_token'], backchannelTokenDeliveryMode: 'poll' } as const;

for (const database of databases) {
  describe(`CIBA with openid-client on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    before(async () => {
      server = await startTestServer(database);
      tenant = await rootTenant(server.gatehouse.services);
      const settings = JSON.stringify({ login_methods: ['email_pin'], ciba_interval_seconds: 1 });
      await server.gatehouse.services.cache.write(tenant.id, (queries) => queries.updateTable('tenants').set({ settings }).execute());
      tenant = await rootTenant(server.gatehouse.services);
    });
    after(() => server.close());

    for (const method of tokenEndpointAuthMethods.filter((name) => name !== 'none' && !isCertificateMethod(name))) {
      it(`${method}: start, poll, tokens, refresh, introspection, revocation`, async () => {
        const user = await createUser(server.gatehouse.services, tenant);
        const { config } = await createRelyingParty(server, tenant, method, ciba);
        const started = await openid.initiateBackchannelAuthentication(config, {
          scope: 'openid offline_access',
          login_hint: user.email,
          binding_message: 'W4SCT',
        });
        assert.equal(started.interval, 1);
        await decide(server, tenant, user, 'approve');
        const tokens = await openid.pollBackchannelAuthenticationGrant(config, started);
        assert.equal(tokens.claims()?.sub, user.id);
        const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
        assert.equal((await openid.tokenIntrospection(config, refreshed.access_token)).active, true);
        await openid.tokenRevocation(config, refreshed.refresh_token ?? '');
        assert.equal((await openid.tokenIntrospection(config, refreshed.access_token)).active, false);
      });
    }
    it('denied, and unknown users, come out as errors of the library', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const { config } = await createRelyingParty(server, tenant, 'client_secret_basic', ciba);
      const started = await openid.initiateBackchannelAuthentication(config, { scope: 'openid', login_hint: user.email });
      await decide(server, tenant, user, 'deny');
      await assert.rejects(openid.pollBackchannelAuthenticationGrant(config, started), { error: 'access_denied' });
      const unknown = openid.initiateBackchannelAuthentication(config, { scope: 'openid', login_hint: 'nobody@people.example' });
      await assert.rejects(unknown, { error: 'unknown_user_id' });
    });
    it('discovery names the endpoint and its modes', async () => {
      const { config } = await createRelyingParty(server, tenant, 'client_secret_basic', ciba);
      const metadata = config.serverMetadata();
      assert.equal(metadata['backchannel_authentication_endpoint'], `${tenant.baseUrl}/v1/idp/oidc/bc-authorize`);
      assert.deepEqual(metadata['backchannel_token_delivery_modes_supported'], ['poll', 'ping', 'push']);
      assert.equal(metadata['backchannel_user_code_parameter_supported'], false);
      assert.ok(metadata.grant_types_supported?.includes(cibaGrantType));
    });
  });
}
