// The modules of the OpenID Foundation's plan for FAPI 2.0 Security Profile providers (plain OAuth parts with OpenID Connect,
// private_key_jwt, DPoP, unsigned requests), in our own words and under the strict checks of oauth4webapi where something must
// work. Each test asks the server; none passes without an answer compared.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import * as oauth from 'oauth4webapi';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { makeKeyPair } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { athOf, createProofKey } from '../support/dpop.ts';
import { createFapiClient, type FapiClient, fapiRedirectUri, insecure } from '../support/fapi2.ts';
import { createUser } from '../support/fixtures.ts';
import { openLogin } from '../support/login.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { decodeJwt, type Tokens, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { visit } from '../support/relying-party.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`FAPI 2.0 Security Profile on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    let first: FapiClient;
    let second: FapiClient;
    before(async () => {
      server = await startTestServer(database);
      managed = await createTestTenant(server, {
        settings: { login_methods: ['email_pin'], rate_limits: { login_starts_per_ip: roomyRate } },
      });
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      first = await createFapiClient(server, managed, tenant);
      second = await createFapiClient(server, managed, tenant);
    });
    after(() => server.close());

    const exchange = async (changes?: Parameters<FapiClient['code']>[0]): Promise<Tokens> => {
      const { code, verifier } = await first.code(changes);
      return tokensOf(await first.send('token', first.tokenForm(code, verifier)));
    };
    const refresh = (token: string | undefined): Record<string, string | undefined> => ({
      grant_type: 'refresh_token',
      refresh_token: token,
    });
    const userInfo = async (
      token: string,
      how: { scheme?: string; by?: typeof first.proofKey | null; claims?: object } = {},
    ): Promise<Response> => {
      const { scheme = 'DPoP', by = first.proofKey, claims = {} } = how;
      const url = `${tenant.baseUrl}/v1/idp/oidc/userinfo`;
      const dpop =
        by === null
          ? undefined
          : await by.prove(url, { claims: { htm: 'GET', ath: athOf(token), iat: Math.floor(server.clock.nowMs() / 1000), ...claims } });
      return fetch(url, { headers: { authorization: `${scheme} ${token}`, ...(dpop === undefined ? {} : { dpop }) } });
    };

    it('discovery-end-point-verification', async () => {
      const { as } = first;
      assert.equal(as.issuer, tenant.baseUrl);
      assert.ok(as.pushed_authorization_request_endpoint);
      assert.deepEqual(as.code_challenge_methods_supported, ['S256']);
      assert.equal(as.authorization_response_iss_parameter_supported, true);
      assert.ok(as.token_endpoint_auth_methods_supported?.includes('private_key_jwt'));
      for (const list of [as.dpop_signing_alg_values_supported, as.token_endpoint_auth_signing_alg_values_supported])
        for (const alg of ['PS256', 'ES256', 'EdDSA']) assert.ok(list?.includes(alg), alg);
    });
    it('happy-flow, refresh-token: oauth4webapi by PAR, DPoP with nonces, private_key_jwt for the issuer; the refresh token stays', async () => {
      const { as, client, auth } = first;
      const DPoP = await first.dpop();
      const verifier = oauth.generateRandomCodeVerifier();
      const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
      const parameters = {
        response_type: 'code',
        redirect_uri: fapiRedirectUri,
        scope: 'openid email offline_access',
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      };
      const again = async <T>(work: () => Promise<T>): Promise<T> => {
        try {
          return await work();
        } catch (error) {
          if (!oauth.isDPoPNonceError(error)) throw error;
          return work();
        }
      };
      const { request_uri: requestUri } = await again(async () =>
        oauth.processPushedAuthorizationResponse(
          as,
          client,
          await oauth.pushedAuthorizationRequest(as, client, auth, parameters, { DPoP, ...insecure }),
        ),
      );
      const user = await createUser(server.gatehouse.services, tenant);
      const landed = await visit(server, first.authorizeUrl(requestUri), user.email);
      const response = oauth.validateAuthResponse(as, client, landed, state);
      const tokens = await again(async () =>
        oauth.processAuthorizationCodeResponse(
          as,
          client,
          await oauth.authorizationCodeGrantRequest(as, client, auth, response, fapiRedirectUri, verifier, { DPoP, ...insecure }),
          { expectedNonce: nonce, requireIdToken: true },
        ),
      );
      assert.equal(tokens.token_type, 'dpop');
      const { sub } = oauth.getValidatedIdTokenClaims(tokens)!;
      const info = async (token: string): Promise<oauth.UserInfoResponse> =>
        oauth.processUserInfoResponse(as, client, sub, await oauth.userInfoRequest(as, client, token, { DPoP, ...insecure }));
      assert.equal((await again(() => info(tokens.access_token))).email, user.email);
      for (let times = 0; times < 2; times += 1) {
        const next = await again(async () =>
          oauth.processRefreshTokenResponse(
            as,
            client,
            await oauth.refreshTokenGrantRequest(as, client, auth, tokens.refresh_token!, { DPoP, ...insecure }),
          ),
        );
        assert.equal(next.refresh_token, tokens.refresh_token);
        assert.notEqual(next.access_token, tokens.access_token);
        assert.equal((await again(() => info(next.access_token))).sub, sub);
      }
    });
    it('user-rejects-authentication: access_denied with state and iss', async () => {
      const { requestUri } = await first.pushed({ state: 'a-state' });
      const login = openLogin(await fetch(first.authorizeUrl(requestUri), { redirect: 'manual' }));
      const { redirect_to: location } = (await (await login.post('cancel')).json()) as { redirect_to: string };
      const { searchParams } = new URL(location);
      assert.deepEqual(
        ['error', 'state', 'iss', 'code'].map((name) => searchParams.get(name)),
        ['access_denied', 'a-state', tenant.baseUrl, null],
      );
    });
    it('state: a long one comes back as it was, and none where none was sent', async () => {
      const long = 's'.repeat(1000);
      assert.equal((await first.code({ state: long })).landed.searchParams.get('state'), long);
      assert.equal((await first.code({ state: undefined })).landed.searchParams.get('state'), null);
    });
    it('ensure-request-object-without-…: a direct request is refused by redirect', async () => {
      const url = new URL(`${tenant.baseUrl}/v1/idp/oidc/authorize`);
      const direct = { client_id: first.id, response_type: 'code', redirect_uri: fapiRedirectUri, scope: 'openid', state: 's' };
      url.search = new URLSearchParams(direct).toString();
      const answer = await fetch(url, { redirect: 'manual' });
      assert.equal(answer.status, 303);
      assert.equal(new URL(answer.headers.get('location')!).searchParams.get('error'), 'invalid_request');
    });
    it('par-attempt-reuse-request_uri: after the answer, and by another browser before it', async () => {
      const { requestUri } = await first.pushed();
      const login = openLogin(await fetch(first.authorizeUrl(requestUri), { redirect: 'manual' }));
      const reload = await fetch(first.authorizeUrl(requestUri), { redirect: 'manual', headers: { cookie: login.cookie } });
      assert.deepEqual([reload.status, reload.headers.get('location')], [303, login.location]);
      const foreign = await fetch(first.authorizeUrl(requestUri), { redirect: 'manual', headers: { accept: 'application/json' } });
      await assertRefusal(foreign, 'authorize.invalid_request_uri');
      await login.post('cancel');
      const late = await fetch(first.authorizeUrl(requestUri), { redirect: 'manual', headers: { cookie: login.cookie } });
      await assertRefusal(late, 'authorize.invalid_request_uri');
    });
    it('par-attempt-to-use-expired-request_uri', async () => {
      const { requestUri } = await first.pushed();
      await server.clock.advance(1000 * tenant.settings.par_lifetime_seconds);
      await assertRefusal(await fetch(first.authorizeUrl(requestUri), { redirect: 'manual' }), 'authorize.invalid_request_uri');
    });
    it('par-attempt-to-use-request_uri-for-different-client', async () => {
      const { requestUri } = await first.pushed();
      const answer = await fetch(second.authorizeUrl(requestUri), { redirect: 'manual' });
      await assertRefusal(answer, 'authorize.invalid_request_uri');
      assert.equal((await fetch(first.authorizeUrl(requestUri), { redirect: 'manual' })).status, 303, 'it is not consumed');
    });
    it('par-authorization-request-containing-request_uri', async () => {
      const { requestUri } = await first.pushed();
      await assertRefusal(await first.push({ request_uri: requestUri }), 'par.invalid_request', { text: /request_uri/ });
    });
    it('parameters beside the request_uri do not count', async () => {
      const { requestUri } = await first.pushed({ scope: 'openid', state: 'pushed' });
      const user = await createUser(server.gatehouse.services, tenant);
      const landed = await visit(server, first.authorizeUrl(requestUri, { state: 'beside', scope: 'openid email' }), user.email);
      assert.equal(landed.searchParams.get('state'), 'pushed');
    });
    it('ensure-registered-redirect-uri, par without one', async () => {
      await assertRefusal(await first.push({ redirect_uri: `${fapiRedirectUri}/other` }), 'par.invalid_request', { text: /redirect_uri/ });
      await assertRefusal(await first.push({ redirect_uri: undefined }), 'par.invalid_request', { text: /redirect_uri/ });
    });
    it('par-pkce-required, plain-pkce-rejected, ensure-pkce-code-verifier-required', async () => {
      await assertRefusal(await first.push({ code_challenge: undefined }), 'par.pkce', { text: /code_challenge/ });
      await assertRefusal(await first.push({ code_challenge_method: 'plain' }), 'par.pkce', { text: /S256/ });
      const { code, verifier } = await first.code();
      await assertRefusal(await first.send('token', first.tokenForm(code, 'x'.repeat(43))), 'token.pkce_failed');
      await assertRefusal(await first.send('token', { ...first.tokenForm(code, verifier), code_verifier: undefined }), 'token.pkce_failed');
      await tokensOf(await first.send('token', first.tokenForm(code, verifier)));
    });
    it('ensure-response-type-code, other response types and modes', async () => {
      for (const type of ['code id_token', 'token', 'none'])
        await assertRefusal(await first.push({ response_type: type }), 'par.unsupported_response_type', { text: /./ });
      await assertRefusal(await first.push({ response_mode: 'fragment' }), 'par.invalid_request', { text: /response_mode/ });
    });
    it('ensure-authorization-code-is-bound-to-client', async () => {
      const { code, verifier } = await first.code();
      await assertRefusal(await second.send('token', second.tokenForm(code, verifier)), 'token.code_invalid');
      await tokensOf(await first.send('token', first.tokenForm(code, verifier)));
    });
    it('attempt-reuse-authorization-code-after-one-second: refused, and its tokens end', async () => {
      const { code, verifier } = await first.code();
      const tokens = await tokensOf(await first.send('token', first.tokenForm(code, verifier)));
      assert.equal((await userInfo(tokens.access_token)).status, 200);
      await server.clock.advance(1000);
      await assertRefusal(await first.send('token', first.tokenForm(code, verifier)), 'token.code_invalid');
      assert.equal((await userInfo(tokens.access_token)).status, 401);
      await assertRefusal(await first.send('token', refresh(tokens.refresh_token)), 'token.refresh_invalid');
    });
    it('a code lives a minute at most', async () => {
      const { code, verifier } = await first.code();
      await server.clock.advance(60_000);
      await assertRefusal(await first.send('token', first.tokenForm(code, verifier)), 'token.code_invalid');
    });
    const assertions: readonly (readonly [string, Parameters<FapiClient['push']>[1] & object])[] = [
      ['par-endpoint-as-audience', { audience: 'par' }],
      ['token-endpoint-as-audience', { audience: 'token' }],
      ['array-as-audience', { audience: ['issuer'] }],
      ['ensure-client-assertion-with-wrong-aud', { audience: 'https://other.example' }],
      ['ensure-client-assertion-with-exp-in-the-past', { claims: { exp: 1 } }],
      ['ensure-client-assertion-with-no-exp', { claims: { exp: undefined } }],
      ['ensure-client-assertion-with-iat-in-the-future', { claims: { iat: Math.floor(Date.now() / 1000) + 3600 } }],
      ['ensure-client-assertion-with-nbf-in-the-future', { claims: { nbf: Math.floor(Date.now() / 1000) + 3600 } }],
      ['ensure-client-assertion-with-no-sub', { claims: { sub: undefined } }],
      ['ensure-client-assertion-with-wrong-iss', { claims: { iss: 'https://other.example' } }],
      ['ensure-client-assertion-with-no-jti', { claims: { jti: undefined } }],
      ['ensure-client-assertion-of-a-foreign-key', { by: makeKeyPair('ES256') }],
      ['ensure-signed-client-assertion-with-RS256-fails', { by: makeKeyPair('RS256') }],
    ];
    for (const [name, how] of assertions)
      it(name, async () => {
        const named = (one: string): string =>
          ({ issuer: tenant.baseUrl, par: `${tenant.baseUrl}/v1/idp/oidc/par`, token: `${tenant.baseUrl}/v1/idp/oidc/token` })[one] ?? one;
        const { audience = 'issuer' } = how;
        const own = { ...how, audience: typeof audience === 'string' ? named(audience) : audience.map(named), proofKey: null };
        const answer = await first.push({}, own);
        await assertRefusal(answer, 'client.invalid_client');
      });
    it('ensure-client-assertion-in-token-endpoint: without one, and used twice', async () => {
      const { code, verifier } = await first.code();
      const bare = await first.send('token', {
        ...first.tokenForm(code, verifier),
        client_id: first.id,
        client_assertion: undefined,
        client_assertion_type: undefined,
      });
      await assertRefusal(bare, 'client.invalid_client');
      const claims = { jti: 'the-same' };
      await tokensOf(await first.send('token', first.tokenForm(code, verifier), { claims }));
      await assertRefusal(await first.send('token', first.tokenForm(code, verifier), { claims }), 'client.invalid_client');
    });
    it('ensure-client-id-in-…: a client_id that is not the assertion’s', async () => {
      await assertRefusal(await first.push({ client_id: second.id }), 'client.invalid_client');
    });
    it('ensure-holder-of-key-required: no token without a proof, at the code and at the refresh', async () => {
      const { code, verifier } = await first.code();
      await assertRefusal(await first.send('token', first.tokenForm(code, verifier), { proofKey: null }), 'dpop.invalid_proof');
      const tokens = await tokensOf(await first.send('token', first.tokenForm(code, verifier)));
      await assertRefusal(await first.send('token', refresh(tokens.refresh_token), { proofKey: null }), 'dpop.invalid_proof');
      assert.deepEqual(decodeJwt(tokens.access_token).claims['cnf'], { jkt: first.proofKey.thumbprint });
    });
    it('ensure-dpop-proof-with-…: iat, htu, htm, jti, ath, another key, the Bearer scheme', async () => {
      const { code, verifier } = await first.code();
      const form = first.tokenForm(code, verifier);
      const now = Math.floor(server.clock.nowMs() / 1000);
      const wrong = [{ iat: now - 7200 }, { iat: now + 7200 }, { htm: 'GET' }, { htu: `${tenant.baseUrl}/other` }, { jti: undefined }];
      for (const proof of wrong) await assertRefusal(await first.send('token', form, { proof }), 'dpop.invalid_proof');
      await assertRefusal(await first.send('token', form, { proof: { nonce: undefined } }), 'dpop.use_nonce');
      const { access_token: token } = await tokensOf(await first.send('token', form));
      const answers = await Promise.all([
        userInfo(token, { by: await createProofKey() }),
        userInfo(token, { claims: { ath: athOf('other') } }),
        userInfo(token, { claims: { htm: 'POST' } }),
        userInfo(token, { scheme: 'Bearer' }),
        userInfo(token, { by: null }),
        userInfo(token),
      ]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [401, 401, 401, 401, 401, 200],
      );
    });
    it('access-token-type-header-case-sensitivity: DPoP, dpop and DPOP', async () => {
      const { access_token: token } = await exchange();
      for (const scheme of ['DPoP', 'dpop', 'DPOP']) assert.equal((await userInfo(token, { scheme })).status, 200, scheme);
    });
    it('ensure-dpop-auth-code-binding, ensure-dpop-proof-at-par-endpoint-binding', async () => {
      const other = await createProofKey();
      const { proofKey } = first;
      const ways: readonly Parameters<FapiClient['code']>[] = [
        [{ dpop_jkt: proofKey.thumbprint }],
        [{}, {}],
        [{ dpop_jkt: proofKey.thumbprint }, {}],
      ];
      for (const [changes, how] of ways) {
        const { code, verifier } = await first.code(changes, how);
        await assertRefusal(await first.send('token', first.tokenForm(code, verifier), { proofKey: other }), 'token.code_invalid');
        await tokensOf(await first.send('token', first.tokenForm(code, verifier)));
      }
      await assertRefusal(await first.push({ dpop_jkt: other.thumbprint }, {}), 'par.invalid_request', { text: /dpop_jkt/ });
    });
    it('refresh-token: bound to the client, not to be used by another, narrowed, ended by revocation', async () => {
      const tokens = await exchange();
      await assertRefusal(await second.send('token', refresh(tokens.refresh_token)), 'token.refresh_invalid');
      const narrowed = await tokensOf(await first.send('token', { ...refresh(tokens.refresh_token), scope: 'openid' }));
      assert.deepEqual([narrowed.scope, narrowed.refresh_token], ['openid', tokens.refresh_token]);
      assert.equal((await first.send('revoke', { token: tokens.refresh_token }, { proofKey: null })).status, 200);
      await assertRefusal(await first.send('token', refresh(tokens.refresh_token)), 'token.refresh_invalid');
      assert.equal((await userInfo(narrowed.access_token)).status, 401);
    });
    it('the ID token is signed with ES256 and says nonce, auth_time and iss', async () => {
      const { id_token: idToken } = await exchange({ nonce: 'a-nonce' });
      const { header, claims } = decodeJwt(idToken!);
      assert.deepEqual(
        [header['alg'], claims['nonce'], claims['iss'], typeof claims['auth_time']],
        ['ES256', 'a-nonce', tenant.baseUrl, 'number'],
      );
    });
  });
}
