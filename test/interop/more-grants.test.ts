// The device grant, dynamic registration and key-bound clients as openid-client and oauth4webapi (both unpatched) use them, each under
// its own strict checks.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { createAccountTenant, openAccount, textOf } from '../support/account.ts';
import { makeKeyPair, signAssertion } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import type { TestUser } from '../support/enrolled-phone.ts';
import { fapiRedirectUri, insecure } from '../support/fapi2.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createClient, createUser } from '../support/fixtures.ts';
import { createTestClient, type Managed } from '../support/management.ts';
import { exchange, issueCode, tokensOf } from '../support/oidc.ts';
import { visit } from '../support/relying-party.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const jwtBearerGrant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';
const openidInsecure = { execute: [openid.allowInsecureRequests] };

for (const database of databases) {
  describe(`more grants with openid-client and oauth4webapi on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    let issuer: URL;
    let visitor: AppVisitor;
    let person: TestUser;
    before(async () => {
      server = await startTestServer(database);
      const rate_limits = { login_starts_per_ip: roomyRate };
      managed = await createAccountTenant(server, {
        extra_grants: [deviceGrant, exchangeGrant, jwtBearerGrant, 'registration'],
        rate_limits,
      });
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      issuer = new URL(tenant.baseUrl);
      ({ visitor, person } = await openAccount(server, managed));
    });
    after(() => server.close());

    const registerDevice = async (): Promise<string> => {
      const { client_id: id } = await createTestClient(managed, {
        name: 'Terminal',
        type: 'public',
        token_endpoint_auth_method: 'none',
        redirect_uris: [],
        grant_types: [deviceGrant, 'refresh_token'],
        scopes: ['openid', 'email', 'offline_access'],
      });
      return id;
    };
    const decide = async (userCode: string, decision: 'allow' | 'deny'): Promise<void> => {
      await textOf(await visitor.submit('/device/decision', { user_code: userCode, decision }), 200);
    };
    const initialToken = async (): Promise<string> => {
      const policy = {
        hosts: ['rp.example'],
        grant_types: ['authorization_code', 'refresh_token'],
        scopes: ['openid', 'email', 'offline_access'],
      };
      return (await managed.make<{ token: string }>('POST', '/initial-access-tokens', { count: 1, expires_in_seconds: 60, policy })).token;
    };

    it('openid-client: device grant, DPoP, ID token, refresh', async () => {
      const config = await openid.discovery(issuer, await registerDevice(), undefined, openid.None(), openidInsecure);
      const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
      const started = await openid.initiateDeviceAuthorization(config, { scope: 'openid email offline_access' });
      await decide(started.user_code, 'allow');
      // The person has decided: the program need not wait for its first poll.
      const tokens = await openid.pollDeviceAuthorizationGrant(config, { ...started, interval: 0 }, undefined, { DPoP });
      assert.equal(tokens.token_type, 'dpop');
      assert.equal(tokens.claims()?.sub, person.id);
      const info = await openid.fetchUserInfo(config, tokens.access_token, person.id, { DPoP });
      assert.equal(info.email, person.email);
      const next = await openid.refreshTokenGrant(config, tokens.refresh_token!, undefined, { DPoP });
      assert.notEqual(next.refresh_token, tokens.refresh_token);
    });
    it('oauth4webapi: device grant by steps: pending, allowed, used up; denied', async () => {
      const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }));
      const client: oauth.Client = { client_id: await registerDevice() };
      const begin = async (): Promise<oauth.DeviceAuthorizationResponse> =>
        oauth.processDeviceAuthorizationResponse(
          as,
          client,
          await oauth.deviceAuthorizationRequest(as, client, oauth.None(), { scope: 'openid' }, insecure),
        );
      const poll = async ({ device_code: code }: oauth.DeviceAuthorizationResponse): Promise<oauth.TokenEndpointResponse> =>
        oauth.processDeviceCodeResponse(as, client, await oauth.deviceCodeGrantRequest(as, client, oauth.None(), code, insecure));
      const started = await begin();
      assert.deepEqual([started.expires_in, started.interval], [600, 5]);
      await assert.rejects(poll(started), { error: 'authorization_pending', status: 400 });
      await assert.rejects(poll(started), { error: 'slow_down' });
      await decide(started.user_code, 'allow');
      assert.equal((await poll(started)).scope, 'openid');
      await assert.rejects(poll(started), { error: 'invalid_grant' });
      const denied = await begin();
      await decide(denied.user_code, 'deny');
      await assert.rejects(poll(denied), { error: 'access_denied' });
    });
    it('openid-client and oauth4webapi: token exchange of an API that was called, and of a program of its own', async () => {
      const [orders, stock] = ['https://orders.example', 'https://stock.example'];
      const shop = await createClient(server.gatehouse.services, tenant, { resources: [orders], scopes: ['orders:read'] });
      const code = await issueCode(server, tenant, shop, person, { scope: 'orders:read', resource: orders });
      const { access_token: subject } = await tokensOf(await exchange(tenant, shop, code));
      const made = await createTestClient(managed, {
        ...{ name: 'Orders', grant_types: [exchangeGrant, 'client_credentials'], serves: [orders] },
        exchange: [{ resource: stock, scopes: ['stock:read'] }],
      });
      const [id, secret] = [made.client_id, String(made['client_secret'])];
      const config = await openid.discovery(issuer, id, undefined, openid.ClientSecretBasic(secret), openidInsecure);
      const of = (token: string) => ({ subject_token: token, subject_token_type: accessTokenType, resource: stock });
      const delegated = await openid.genericGrantRequest(config, exchangeGrant, of(subject));
      assert.deepEqual([delegated.scope, delegated['issued_token_type']], ['stock:read', accessTokenType]);
      const own = await openid.genericGrantRequest(config, exchangeGrant, of((await openid.clientCredentialsGrant(config)).access_token));
      assert.equal(own.refresh_token, undefined);
      await assert.rejects(openid.genericGrantRequest(config, exchangeGrant, of('x')), { error: 'invalid_request' });

      const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
      const client: oauth.Client = { client_id: id };
      const auth = oauth.ClientSecretBasic(secret);
      const answer = await oauth.genericTokenEndpointRequest(as, client, auth, exchangeGrant, of(subject), insecure);
      const { access_token: token } = await oauth.processGenericTokenEndpointResponse(as, client, answer);
      const request = new Request(stock, { headers: { authorization: `Bearer ${token}` } });
      const checked = await oauth.validateJwtAccessToken(as, request, stock, insecure);
      assert.deepEqual([checked.sub, checked['act']], [person.id, { sub: id }]);
    });
    it('openid-client and oauth4webapi: a program speaks for itself by its key, without other authentication', async () => {
      const key = makeKeyPair('ES256');
      const { client_id: id } = await createTestClient(managed, {
        ...{ name: 'Job', grant_types: [jwtBearerGrant], token_endpoint_auth_method: 'private_key_jwt', redirect_uris: [] },
        ...{ resources: ['https://stock.example'], scopes: ['stock:read'], jwks: { keys: [key.publicJwk] } },
      });
      const assertion = (): Promise<string> => signAssertion(key, id, tenant.baseUrl, server.clock.nowMs());
      const config = await openid.discovery(issuer, id, undefined, openid.None(), openidInsecure);
      assert.equal((await openid.genericGrantRequest(config, jwtBearerGrant, { assertion: await assertion() })).scope, 'stock:read');
      await assert.rejects(openid.genericGrantRequest(config, jwtBearerGrant, { assertion: 'x' }), { error: 'invalid_grant' });
      const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
      const client: oauth.Client = { client_id: id };
      const form = { assertion: await assertion() };
      const answer = await oauth.genericTokenEndpointRequest(as, client, oauth.None(), jwtBearerGrant, form, insecure);
      const tokens = await oauth.processGenericTokenEndpointResponse(as, client, answer);
      assert.equal(tokens.token_type, 'bearer');
    });
    it('openid-client: registers itself, and signs a person in with what it was given', async () => {
      // The library sends the secret in the body unless told otherwise.
      const metadata = { client_name: 'Shop', redirect_uris: [fapiRedirectUri], token_endpoint_auth_method: 'client_secret_post' };
      const config = await openid.dynamicClientRegistration(issuer, metadata, undefined, {
        initialAccessToken: await initialToken(),
        ...openidInsecure,
      });
      const verifier = openid.randomPKCECodeVerifier();
      const address = openid.buildAuthorizationUrl(config, {
        redirect_uri: fapiRedirectUri,
        scope: 'openid email',
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      const user = await createUser(server.gatehouse.services, tenant);
      const landed = await visit(server, address, user.email);
      const tokens = await openid.authorizationCodeGrant(config, landed, { pkceCodeVerifier: verifier });
      assert.equal(tokens.claims()?.sub, user.id);
    });
    it('oauth4webapi: registers itself; without a token it is refused', async () => {
      const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
      const metadata = { redirect_uris: [fapiRedirectUri], token_endpoint_auth_method: 'client_secret_post', scope: 'openid' };
      const ask = async (initialAccessToken: string): Promise<Partial<oauth.Client>> =>
        oauth.processDynamicClientRegistrationResponse(
          await oauth.dynamicClientRegistrationRequest(as, metadata, { initialAccessToken, ...insecure }),
        );
      const made = await ask(await initialToken());
      assert.deepEqual([made.redirect_uris, made['scope'], typeof made.client_secret], [[fapiRedirectUri], 'openid', 'string']);
      await assert.rejects(ask('nothing'));
    });
  });
}
