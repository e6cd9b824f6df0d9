// openid-client and oauth4webapi, unpatched, with signed requests (JAR), signed answers (JARM), form_post and client certificates.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import type { Client } from '../../src/domain/client/client.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { certificateFetch, type Identity, makeIdentity, writeTlsFiles } from '../support/certificates.ts';
import { makeKeyPair } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, type TestClient } from '../support/fixtures.ts';
import { openLogin, signInByPin } from '../support/login.ts';
import { decodeJwt, redirectUri } from '../support/oidc.ts';
import { visit } from '../support/relying-party.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const insecure = { [oauth.allowInsecureRequests]: true } as const;

for (const database of databases) {
  describe(`strict clients of high security on ${database}`, async () => {
    const authority = await makeIdentity({ subject: 'CN=Authority', isAuthority: true });
    const site = await makeIdentity({ subject: 'CN=localhost', names: [{ type: 'ip', value: '127.0.0.1' }], issuer: authority });
    const own = await makeIdentity({ subject: 'C=SE, O=Example, CN=payments', issuer: authority });
    const files = writeTlsFiles(site, authority);
    const key = makeKeyPair('ES256');
    let server: TestServer;
    let tenant: Tenant;
    before(async () => {
      const flags = { mtls_listen: '127.0.0.1:0', mtls_tls: files.setting, mtls_url: 'https://mtls.id.example' };
      server = await startTestServer(database, { flags });
      const settings = { login_methods: ['email_pin'], rate_limits: { login_starts_per_ip: roomyRate } };
      tenant = await createOtherTenant(server.gatehouse.services, `high-${database}`, settings);
    });
    after(async () => {
      await server.close();
      files.remove();
    });

    const register = (changes: Partial<Client> = {}): Promise<TestClient> =>
      createClient(server.gatehouse.services, tenant, { jwks: { keys: [key.publicJwk] }, ...changes });
    const signingKey = { key: key.key.toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']), kid: key.kid };
    const configure = async (
      client: TestClient,
      auth: openid.ClientAuth,
      metadata: Partial<openid.ClientMetadata> = {},
    ): Promise<openid.Configuration> =>
      openid.discovery(new URL(tenant.baseUrl), client.clientId, { id_token_signed_response_alg: 'RS256', ...metadata }, auth, {
        execute: [openid.allowInsecureRequests],
      });
    const prepare = async () => {
      const pkceCodeVerifier = openid.randomPKCECodeVerifier();
      const expectedState = openid.randomState();
      const parameters = {
        redirect_uri: redirectUri,
        scope: 'openid email',
        state: expectedState,
        code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      };
      return { parameters, checks: { pkceCodeVerifier, expectedState } };
    };
    const land = async (address: URL): Promise<URL> => visit(server, address, (await createUser(server.gatehouse.services, tenant)).email);

    it('openid-client: a signed request straight to authorize, and by PAR, with a signed answer', async () => {
      const client = await register({ requireSignedRequestObject: true });
      const config = await configure(client, openid.ClientSecretBasic(client.secret), { authorization_signed_response_alg: 'RS256' });
      openid.useJwtResponseMode(config);
      for (const isPushed of [false, true]) {
        const { parameters, checks } = await prepare();
        const signed = await openid.buildAuthorizationUrlWithJAR(config, parameters, signingKey);
        const address = isPushed ? await openid.buildAuthorizationUrlWithPAR(config, signed.searchParams) : signed;
        const landed = await land(address);
        assert.deepEqual([...landed.searchParams.keys()], ['response']);
        const tokens = await openid.authorizationCodeGrant(config, landed, checks);
        assert.ok(tokens.claims()?.sub);
      }
    });
    it('openid-client: form_post, read as the request that the browser posts', async () => {
      const client = await register();
      const config = await configure(client, openid.ClientSecretBasic(client.secret));
      const { parameters, checks } = await prepare();
      const address = openid.buildAuthorizationUrl(config, { ...parameters, response_mode: 'form_post' });
      const user = await createUser(server.gatehouse.services, tenant);
      const login = openLogin(await fetch(address, { redirect: 'manual' }));
      const finished = await finishAsForm(login, user.email);
      const posted = new Request(finished.redirect_to, { method: 'POST', body: new URLSearchParams(finished.form) });
      const tokens = await openid.authorizationCodeGrant(config, posted, checks);
      assert.equal(tokens.claims()?.sub, user.id);
    });
    /** Signs in by the mailed PIN; gives the fields the browser would post. */
    const finishAsForm = async (login: ReturnType<typeof openLogin>, email: string) => {
      let answer: { redirect_to: string; form: Record<string, string> } | undefined;
      const watched = {
        ...login,
        post: async (...args: Parameters<typeof login.post>) => {
          const response = await login.post(...args);
          if (args[0] === 'finish') answer = JSON.parse(await response.clone().text());
          return response;
        },
      };
      await signInByPin(server, watched, email);
      assert.ok(answer !== undefined);
      return answer;
    };

    /** The mTLS aliases as they are reached here: by address, under the name discovery gives. */
    const reach = (identity: Identity | undefined) => certificateFetch(server, 'mtls.id.example', identity);
    const certified: Partial<Client> = {
      ...{ tokenEndpointAuthMethod: 'tls_client_auth', tlsClientAuthSubjectDn: 'CN=payments,O=Example,C=SE' },
      ...{ secretHash: undefined, tlsClientCertificateBoundAccessTokens: true },
    };
    it('openid-client: a client with a certificate finds the aliases and gets bound tokens', async () => {
      const client = await register(certified);
      const config = await configure(client, openid.TlsClientAuth(), { use_mtls_endpoint_aliases: true });
      config[openid.customFetch] = reach(own) as openid.CustomFetch;
      const { parameters, checks } = await prepare();
      const address = await openid.buildAuthorizationUrlWithPAR(config, parameters);
      const tokens = await openid.authorizationCodeGrant(config, await land(address), checks);
      assert.deepEqual(decodeJwt(tokens.access_token).claims['cnf'], { 'x5t#S256': own.thumbprint });
      const info = await openid.fetchUserInfo(config, tokens.access_token, tokens.claims()?.sub ?? '');
      assert.ok(info.email);
      const seen = await openid.tokenIntrospection(config, tokens.access_token);
      assert.deepEqual([seen.active, seen.cnf], [true, { 'x5t#S256': own.thumbprint }]);
      config[openid.customFetch] = reach(undefined) as openid.CustomFetch;
      await assert.rejects(openid.fetchUserInfo(config, tokens.access_token, tokens.claims()?.sub ?? ''));
      await assert.rejects(openid.tokenIntrospection(config, tokens.access_token), { error: 'invalid_client' });
    });
    it('oauth4webapi: a signed request by PAR with a certificate, a signed answer, bound tokens', async () => {
      const registered = await register(certified);
      const issuer = new URL(tenant.baseUrl);
      const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }));
      const client: oauth.Client = { client_id: registered.clientId, use_mtls_endpoint_aliases: true };
      const auth = oauth.TlsClientAuth();
      const options = { ...insecure, [oauth.customFetch]: reach(own) as never };
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const asked = {
        ...{ response_type: 'code', response_mode: 'jwt', redirect_uri: redirectUri, scope: 'openid', state },
        ...{ code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
      };
      const request = await oauth.issueRequestObject(as, client, asked, signingKey);
      const pushed = await oauth.pushedAuthorizationRequest(as, client, auth, { request }, options);
      const { request_uri: requestUri } = await oauth.processPushedAuthorizationResponse(as, client, pushed);
      const address = new URL(as.authorization_endpoint ?? '');
      address.search = new URLSearchParams({ client_id: client.client_id, request_uri: requestUri }).toString();
      const answer = await oauth.validateJwtAuthResponse(as, client, await land(address), state, insecure);
      const exchanged = await oauth.authorizationCodeGrantRequest(as, client, auth, answer, redirectUri, verifier, options);
      const tokens = await oauth.processAuthorizationCodeResponse(as, client, exchanged);
      assert.deepEqual(decodeJwt(tokens.access_token).claims['cnf'], { 'x5t#S256': own.thumbprint });
    });
  });
}
