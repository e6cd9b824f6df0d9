// openid-client, unpatched, with its strict validation on: every flow with every client authentication method.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as openid from 'openid-client';
import { tokenEndpointAuthMethods } from '../../src/domain/client/client.ts';
import { isCertificateMethod } from '../../src/domain/client/tls-client-auth.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { createOtherTenant, createUser, rootTenant } from '../support/fixtures.ts';
import { redirectUri } from '../support/oidc.ts';
import { createRelyingParty, type RelyingParty, visit } from '../support/relying-party.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`openid-client on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    before(async () => {
      server = await startTestServer(database);
      tenant = await rootTenant(server.gatehouse.services);
    });
    after(() => server.close());

    interface Secrets {
      readonly pkceCodeVerifier: string;
      readonly expectedState: string;
      readonly expectedNonce: string;
      readonly idTokenExpected: true;
    }
    const prepare = async (
      extra: Readonly<Record<string, string>> = {},
    ): Promise<{ checks: Secrets; parameters: Record<string, string> }> => {
      const checks = {
        pkceCodeVerifier: openid.randomPKCECodeVerifier(),
        expectedState: openid.randomState(),
        expectedNonce: openid.randomNonce(),
        idTokenExpected: true,
      } as const;
      const parameters = {
        redirect_uri: redirectUri,
        scope: 'openid profile email offline_access',
        code_challenge: await openid.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
        code_challenge_method: 'S256',
        state: checks.expectedState,
        nonce: checks.expectedNonce,
        ...extra,
      };
      return { checks, parameters };
    };

    const wholeStory = async (
      { config, client }: RelyingParty,
      at: Tenant,
      email: string,
      userId: string,
      pushed: boolean,
    ): Promise<void> => {
      const { checks, parameters } = await prepare();
      const address = pushed
        ? await openid.buildAuthorizationUrlWithPAR(config, parameters)
        : openid.buildAuthorizationUrl(config, parameters);
      const landed = await visit(server, address, email);
      const tokens = await openid.authorizationCodeGrant(config, landed, checks);
      assert.equal(tokens.claims()?.sub, userId);
      assert.equal(tokens.claims()?.iss, at.baseUrl);
      const claims = await openid.fetchUserInfo(config, tokens.access_token, userId);
      assert.equal(claims.email, email);
      const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
      assert.equal(refreshed.claims()?.sub, userId);
      assert.notEqual(refreshed.refresh_token, tokens.refresh_token);
      if (client.type === 'confidential') {
        assert.equal((await openid.tokenIntrospection(config, refreshed.access_token)).active, true);
        await openid.tokenRevocation(config, refreshed.refresh_token ?? '');
        assert.deepEqual({ ...(await openid.tokenIntrospection(config, refreshed.access_token)) }, { active: false });
      } else await openid.tokenRevocation(config, refreshed.refresh_token ?? '');
      await assert.rejects(openid.refreshTokenGrant(config, refreshed.refresh_token ?? ''), { error: 'invalid_grant' });
      const end = openid.buildEndSessionUrl(config, {
        id_token_hint: tokens.id_token ?? '',
        post_logout_redirect_uri: 'https://rp.example/signed-out',
      });
      assert.equal((await fetch(end, { redirect: 'manual' })).headers.get('location'), 'https://rp.example/signed-out');
    };

    for (const method of tokenEndpointAuthMethods.filter((name) => !isCertificateMethod(name)))
      for (const pushed of [false, true])
        it(`${method}${pushed ? ' with PAR' : ''}: code flow, UserInfo, refresh, introspection, revocation, logout`, async () => {
          const user = await createUser(server.gatehouse.services, tenant);
          const rp = await createRelyingParty(server, tenant, method, { requirePar: pushed });
          await wholeStory(rp, tenant, user.email, user.id, pushed);
        });
    for (const alg of ['ES256', 'EdDSA'] as const)
      it(`ID tokens signed ${alg}`, async () => {
        const user = await createUser(server.gatehouse.services, tenant);
        const rp = await createRelyingParty(server, tenant, 'client_secret_basic', { idTokenSignedResponseAlg: alg });
        openid.enableNonRepudiationChecks(rp.config);
        await wholeStory(rp, tenant, user.email, user.id, false);
      });
    it('a tenant at /t/<slug>', async () => {
      const other = await createOtherTenant(server.gatehouse.services, 'acme', { login_methods: ['email_pin'] });
      const user = await createUser(server.gatehouse.services, other);
      const rp = await createRelyingParty(server, other, 'client_secret_post');
      openid.enableNonRepudiationChecks(rp.config);
      await wholeStory(rp, other, user.email, user.id, true);
    });
    for (const method of ['client_secret_basic', 'private_key_jwt', 'none'] as const)
      it(`${method} with PAR and DPoP: code flow, UserInfo, refresh`, async () => {
        const user = await createUser(server.gatehouse.services, tenant);
        const { config } = await createRelyingParty(server, tenant, method);
        const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
        const { checks, parameters } = await prepare();
        const landed = await visit(server, await openid.buildAuthorizationUrlWithPAR(config, parameters, { DPoP }), user.email);
        const tokens = await openid.authorizationCodeGrant(config, landed, checks, undefined, { DPoP });
        assert.equal(tokens.token_type, 'dpop');
        assert.equal((await openid.fetchUserInfo(config, tokens.access_token, user.id, { DPoP })).email, user.email);
        const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', undefined, { DPoP });
        assert.equal((await openid.fetchUserInfo(config, refreshed.access_token, user.id, { DPoP })).sub, user.id);
      });
    it('client_credentials, with every confidential method', async () => {
      for (const method of tokenEndpointAuthMethods.filter((name) => name !== 'none' && !isCertificateMethod(name))) {
        const { config } = await createRelyingParty(server, tenant, method, {
          grantTypes: ['client_credentials'],
          scopes: ['users:read', 'scim:read'],
        });
        const tokens = await openid.clientCredentialsGrant(config, { scope: 'users:read', resource: tenant.managementApi });
        assert.equal(tokens.scope, 'users:read');
        assert.equal(tokens.token_type, 'bearer');
      }
    });
    it('max_age is asked for and its auth_time comes back', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const { config } = await createRelyingParty(server, tenant, 'client_secret_basic');
      const { checks, parameters } = await prepare({ max_age: '30' });
      const landed = await visit(server, openid.buildAuthorizationUrl(config, parameters), user.email);
      const tokens = await openid.authorizationCodeGrant(config, landed, { ...checks, maxAge: 30 });
      assert.equal(typeof tokens.claims()?.auth_time, 'number');
    });
    it('an error by redirect is read as one, with its issuer', async () => {
      const { config } = await createRelyingParty(server, tenant, 'client_secret_basic');
      const { checks, parameters } = await prepare({ prompt: 'none' });
      const refused = await fetch(openid.buildAuthorizationUrl(config, parameters), { redirect: 'manual' });
      const landed = new URL(refused.headers.get('location') ?? '');
      await assert.rejects(openid.authorizationCodeGrant(config, landed, checks), { error: 'login_required' });
    });
  });
}
