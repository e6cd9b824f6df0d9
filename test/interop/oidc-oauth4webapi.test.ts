// oauth4webapi, unpatched: the parts of the flow one by one, each under its own strict checks.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as oauth from 'oauth4webapi';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { redirectUri } from '../support/oidc.ts';
import { visit } from '../support/relying-party.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const insecure = { [oauth.allowInsecureRequests]: true } as const;

for (const database of databases) {
  describe(`oauth4webapi on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let registered: TestClient;
    let user: TestUser;
    let as: oauth.AuthorizationServer;
    let client: oauth.Client;
    let auth: oauth.ClientAuth;
    const api = 'https://api.example/orders';
    before(async () => {
      server = await startTestServer(database);
      const { services } = server.gatehouse;
      tenant = await createOtherTenant(services, 'strict', {
        login_methods: ['email_pin'],
        userinfo_with_resource: true,
        rate_limits: { login_starts_per_ip: roomyRate },
      });
      registered = await createClient(services, tenant, { resources: [api] });
      user = await createUser(services, tenant);
      const issuer = new URL(tenant.baseUrl);
      const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
      as = await oauth.processDiscoveryResponse(issuer, found);
      client = { client_id: registered.clientId, id_token_signed_response_alg: 'RS256', require_auth_time: true, default_max_age: 300 };
      auth = oauth.ClientSecretBasic(registered.secret);
    });
    after(() => server.close());

    /** PAR, sign-in, and the checked authorization response. */
    const authorize = async (
      extra: Readonly<Record<string, string>> = {},
      pushOptions: oauth.PushedAuthorizationRequestOptions = {},
    ): Promise<{ readonly response: URLSearchParams; readonly verifier: string; readonly nonce: string }> => {
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const nonce = oauth.generateRandomNonce();
      const parameters = {
        response_type: 'code',
        redirect_uri: redirectUri,
        scope: 'openid email offline_access',
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        max_age: '300',
        ...extra,
      };
      const push = (): Promise<Response> => oauth.pushedAuthorizationRequest(as, client, auth, parameters, { ...insecure, ...pushOptions });
      const { request_uri: requestUri } = await oauth
        .processPushedAuthorizationResponse(as, client, await push())
        .catch(async (error: unknown) => {
          if (!oauth.isDPoPNonceError(error)) throw error;
          return oauth.processPushedAuthorizationResponse(as, client, await push());
        });
      const address = new URL(as.authorization_endpoint!);
      address.searchParams.set('client_id', client.client_id);
      address.searchParams.set('request_uri', requestUri);
      const landed = await visit(server, address, (await createSignedInUser()).email);
      return { response: oauth.validateAuthResponse(as, client, landed, state), verifier, nonce };
    };
    /** A new person each time: a mailbox may get a PIN once a minute. */
    const createSignedInUser = async (): Promise<TestUser> => {
      user = await createUser(server.gatehouse.services, tenant);
      return user;
    };

    it('PAR, iss in the response, code, ID token with auth_time and nonce, signature by the key set, UserInfo', async () => {
      const { response, verifier, nonce } = await authorize();
      const answer = await oauth.authorizationCodeGrantRequest(as, client, auth, response, redirectUri, verifier, insecure);
      const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, {
        expectedNonce: nonce,
        requireIdToken: true,
      });
      await oauth.validateApplicationLevelSignature(as, answer, insecure);
      const claims = oauth.getValidatedIdTokenClaims(tokens)!;
      assert.equal(claims.sub, user.id);
      const info = await oauth.userInfoRequest(as, client, tokens.access_token, insecure);
      assert.equal((await oauth.processUserInfoResponse(as, client, claims.sub, info)).email, user.email);
      const renewed = await oauth.refreshTokenGrantRequest(as, client, auth, tokens.refresh_token!, insecure);
      const fresh = await oauth.processRefreshTokenResponse(as, client, renewed);
      assert.equal(oauth.getValidatedIdTokenClaims(fresh)?.sub, user.id);
    });
    it('an access token for a resource is an RFC 9068 token its resource server can check', async () => {
      const { response, verifier, nonce } = await authorize({ resource: api });
      const answer = await oauth.authorizationCodeGrantRequest(as, client, auth, response, redirectUri, verifier, insecure);
      const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, { expectedNonce: nonce });
      const request = new Request(api, { headers: { authorization: `Bearer ${tokens.access_token}` } });
      const checked = await oauth.validateJwtAccessToken(as, request, api, insecure);
      assert.deepEqual([checked.sub, checked.client_id, checked.aud], [user.id, client.client_id, [api, tenant.baseUrl]]);
      await assert.rejects(oauth.validateJwtAccessToken(as, request, 'https://other.example', insecure));
    });
    it('DPoP from PAR to the resource: a bound RFC 9068 token', async () => {
      const DPoP = oauth.DPoP(client, await oauth.generateKeyPair('ES256'));
      const { response, verifier, nonce } = await authorize({ resource: api }, { DPoP });
      const exchange = (): Promise<Response> =>
        oauth.authorizationCodeGrantRequest(as, client, auth, response, redirectUri, verifier, { ...insecure, DPoP });
      const tokens = await oauth.processAuthorizationCodeResponse(as, client, await exchange(), { expectedNonce: nonce });
      assert.equal(tokens.token_type, 'dpop');
      const info = await oauth.userInfoRequest(as, client, tokens.access_token, { ...insecure, DPoP });
      assert.equal((await oauth.processUserInfoResponse(as, client, user.id, info)).sub, user.id);
    });
    it('RFC 9701: a signed introspection answer', async () => {
      const { response, verifier, nonce } = await authorize();
      const answer = await oauth.authorizationCodeGrantRequest(as, client, auth, response, redirectUri, verifier, insecure);
      const tokens = await oauth.processAuthorizationCodeResponse(as, client, answer, { expectedNonce: nonce });
      const signed: oauth.Client = { ...client, introspection_signed_response_alg: 'RS256' };
      const asked = await oauth.introspectionRequest(as, signed, auth, tokens.access_token, { ...insecure, requestJwtResponse: true });
      const result = await oauth.processIntrospectionResponse(as, signed, asked);
      await oauth.validateApplicationLevelSignature(as, asked, insecure);
      assert.equal(result.active, true);
      const revoked = await oauth.revocationRequest(as, client, auth, tokens.access_token, insecure);
      await oauth.processRevocationResponse(revoked);
      const again = await oauth.introspectionRequest(as, client, auth, tokens.access_token, insecure);
      assert.deepEqual({ ...(await oauth.processIntrospectionResponse(as, client, again)) }, { active: false });
    });
    it('a refused exchange is read as the error it is', async () => {
      const { response, verifier } = await authorize();
      const wrong = oauth.generateRandomCodeVerifier();
      const refused = await oauth.authorizationCodeGrantRequest(as, client, auth, response, redirectUri, wrong, insecure);
      await assert.rejects(oauth.processAuthorizationCodeResponse(as, client, refused), { error: 'invalid_grant' });
      const answer = await oauth.authorizationCodeGrantRequest(as, client, auth, response, redirectUri, verifier, insecure);
      assert.equal(answer.status, 200, 'the wrong verifier did not burn the code');
    });
  });
}
