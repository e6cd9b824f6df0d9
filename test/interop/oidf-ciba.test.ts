// The modules of the OpenID Foundation's plan FAPI-CIBA (plain FAPI, private_key_jwt, poll and ping), in our own words: signed
// requests, tokens bound to a certificate, oauth4webapi where something must work. Clients come through the TLS port as theirs would.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import * as oauth from 'oauth4webapi';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { certificateFetch, type Identity, makeIdentity, sendHttps, writeTlsFiles } from '../support/certificates.ts';
import { cibaGrantType, decide, type Receiver, reachesLoopback, runDeliveries, startReceiver } from '../support/ciba.ts';
import { assembleJwt, assertionForm, type KeyPair, makeKeyPair, secretKey, signAssertion } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createUser, type TestUser } from '../support/fixtures.ts';
import { mailsTo } from '../support/mailbox.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { decodeJwt, formBody, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

type Fields = Readonly<Record<string, string | undefined>>;
/** How a request is sent when it is not as it should be. */
interface How {
  /** Signs the client's assertion; null for none. */
  readonly by?: KeyPair | null;
  readonly audience?: string | readonly string[];
  /** The certificate of the connection; null for none. */
  readonly identity?: Identity | null;
  readonly as?: string;
}

const insecure = { [oauth.allowInsecureRequests]: true } as const;
const notificationToken = 'notification-token-of-the-tests';
const intervalMs = 5000;

for (const database of databases) {
  describe(`FAPI-CIBA on ${database}`, async () => {
    const authority = await makeIdentity({ subject: 'CN=Authority', isAuthority: true });
    const site = await makeIdentity({ subject: 'CN=localhost', names: [{ type: 'ip', value: '127.0.0.1' }], issuer: authority });
    const own = await makeIdentity({ subject: 'CN=bank', issuer: authority });
    const files = writeTlsFiles(site, authority);
    const keys = makeKeyPair('ES256');
    const otherKeys = makeKeyPair('ES256');
    const rsa = makeKeyPair('RS256');
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    let receiver: Receiver;
    let as: oauth.AuthorizationServer;
    before(async () => {
      const flags = { ...reachesLoopback, mtls_listen: '127.0.0.1:0', mtls_tls: files.setting, mtls_url: 'https://mtls.id.example' };
      server = await startTestServer(database, { flags });
      receiver = await startReceiver();
      const rate_limits = { approvals_pending_per_user: roomyRate, approvals_per_user: roomyRate, ciba_starts_per_client: roomyRate };
      managed = await createTestTenant(server, { settings: { login_methods: ['email_pin'], rate_limits } });
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      const issuer = new URL(tenant.baseUrl);
      as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
    });
    after(async () => {
      await server.close();
      await receiver.close();
      files.remove();
    });

    it('fapi-ciba-id1-discovery-end-point-verification', () => {
      assert.equal(as.issuer, tenant.baseUrl);
      const lists: Readonly<Record<string, readonly string[]>> = {
        backchannel_token_delivery_modes_supported: ['poll', 'ping'],
        backchannel_authentication_request_signing_alg_values_supported: ['PS256', 'ES256'],
        grant_types_supported: [cibaGrantType],
        token_endpoint_auth_methods_supported: ['private_key_jwt', 'tls_client_auth'],
        scopes_supported: ['openid'],
      };
      for (const [name, values] of Object.entries(lists))
        for (const value of values) assert.ok((as[name] as readonly string[]).includes(value), `${name}: ${value}`);
      assert.equal(as.tls_client_certificate_bound_access_tokens, true);
      assert.equal(as['backchannel_user_code_parameter_supported'], false);
      for (const name of ['backchannel_authentication_endpoint', 'token_endpoint'] as const) assert.ok(as.mtls_endpoint_aliases?.[name]);
    });

    for (const mode of ['poll', 'ping'] as const)
      describe(mode, () => {
        let first: string;
        let second: string;
        let client: oauth.Client;
        let auth: oauth.ClientAuth;
        let ada: TestUser;
        /** As an operator registers it: the profile, and what FAPI-CIBA asks for beyond it. */
        const register = async (pairs: readonly KeyPair[]): Promise<string> => {
          const made = await managed.make<{ client_id: string }>('POST', '/clients', {
            ...{ name: 'Bank', profile: 'fapi2', tls_client_certificate_bound_access_tokens: true, require_signed_request_object: true },
            jwks: { keys: pairs.map(({ publicJwk }) => publicJwk) },
            grant_types: [cibaGrantType, 'refresh_token'],
            scopes: ['openid', 'email', 'offline_access'],
            backchannel_token_delivery_mode: mode,
            ...(mode === 'ping' ? { backchannel_client_notification_endpoint: receiver.url } : {}),
          });
          return made.client_id;
        };
        before(async () => {
          first = await register([keys, rsa]);
          second = await register([otherKeys]);
          client = {
            client_id: first,
            use_mtls_endpoint_aliases: true,
            id_token_signed_response_alg: 'ES256',
            get [oauth.clockSkew]() {
              return Math.round((server.clock.nowMs() - Date.now()) / 1000);
            },
          };
          const signing = keys.key.toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']);
          auth = oauth.PrivateKeyJwt({ key: signing, kid: keys.kid });
        });
        beforeEach(async () => {
          ada = await createUser(server.gatehouse.services, tenant);
          receiver.received.length = 0;
          receiver.answers.length = 0;
        });

        const options = (identity = own) => ({ [oauth.customFetch]: certificateFetch(server, 'mtls.id.example', identity) as never });
        const now = (): number => Math.floor(server.clock.nowMs() / 1000);
        const claimsOf = (changes: Json = {}, as = first): Json => ({
          ...{ iss: as, aud: tenant.baseUrl, sub: undefined, nbf: now(), scope: 'openid', login_hint: ada.email },
          ...(mode === 'ping' ? { client_notification_token: notificationToken } : {}),
          ...changes,
        });
        const sign = (changes: Json = {}, by: Parameters<typeof signAssertion>[0] = keys, as = first): Promise<string> =>
          signAssertion(by, as, tenant.baseUrl, server.clock.nowMs(), claimsOf(changes, as));
        const send = async (endpoint: string, form: Fields, how: How = {}): Promise<Response> => {
          const { as: caller = first, audience = tenant.baseUrl, identity = own } = how;
          const by = how.by === undefined ? (caller === second ? otherKeys : keys) : how.by;
          const assertion =
            by === null ? { client_id: caller } : assertionForm(await signAssertion(by, caller, audience, server.clock.nowMs()));
          const { pathname } = new URL(`${tenant.baseUrl}/v1/idp/oidc/${endpoint}`);
          return sendHttps(`https://127.0.0.1:${server.gatehouse.mtlsPort}${pathname}`, {
            body: formBody({ ...assertion, ...form }),
            headers: { host: 'mtls.id.example' },
            identity: identity ?? undefined,
          });
        };
        const start = async (changes: Json = {}): Promise<oauth.BackchannelAuthenticationResponse> => {
          const request = await sign(changes);
          const response = await oauth.backchannelAuthenticationRequest(as, client, auth, { request }, options());
          return oauth.processBackchannelAuthenticationResponse(as, client, response);
        };
        const startRaw = async (request: string | Promise<string>, how: How = {}): Promise<Response> =>
          send('bc-authorize', { request: await request }, how);
        const redeem = async (id: string): Promise<oauth.TokenEndpointResponse> =>
          oauth.processBackchannelAuthenticationGrantResponse(
            as,
            client,
            await oauth.backchannelAuthenticationGrantRequest(as, client, auth, id, options()),
          );
        const poll = (id: string, how: How = {}): Promise<Response> => send('token', { grant_type: cibaGrantType, auth_req_id: id }, how);
        /** The person decides; a client of the mode ping is told so, with its token and nothing else. */
        const decided = async (id: string, verdict: 'approve' | 'deny'): Promise<void> => {
          await decide(server, tenant, ada, verdict);
          await runDeliveries(server);
          assert.deepEqual(
            receiver.received.map(({ method, headers, body }) => [
              method,
              headers.authorization,
              headers['content-type'],
              JSON.parse(body),
            ]),
            mode === 'poll' ? [] : [['POST', `Bearer ${notificationToken}`, 'application/json', { auth_req_id: id }]],
          );
        };
        const approved = async (changes: Json = {}): Promise<string> => {
          const { auth_req_id: id } = await start(changes);
          await decided(id, 'approve');
          return id;
        };
        const userInfo = (token: string, identity = own): Promise<Response> => oauth.userInfoRequest(as, client, token, options(identity));

        it('fapi-ciba-id1: pending until the person decides, then tokens for this person, client and certificate, once', async () => {
          const started = await start();
          assert.deepEqual([started.expires_in, started.interval], [300, 5]);
          assert.ok(started.auth_req_id.length >= 22, 'at least 128 bits');
          await assert.rejects(redeem(started.auth_req_id), { error: 'authorization_pending', status: 400 });
          await server.clock.advance(intervalMs);
          await decided(started.auth_req_id, 'approve');
          const tokens = await redeem(started.auth_req_id);
          assert.deepEqual([tokens.token_type, tokens.scope, tokens.refresh_token], ['bearer', 'openid', undefined]);
          const claims = oauth.getValidatedIdTokenClaims(tokens)!;
          assert.deepEqual([claims.sub, claims.aud, claims['acr']], [ada.id, first, 'phone']);
          assert.equal(decodeJwt(tokens.id_token!).header['alg'], 'ES256');
          assert.deepEqual(decodeJwt(tokens.access_token).claims['cnf'], { 'x5t#S256': own.thumbprint });
          const info = await oauth.processUserInfoResponse(as, client, ada.id, await userInfo(tokens.access_token));
          assert.equal(info.sub, ada.id);
          await assert.rejects(redeem(started.auth_req_id), { error: 'invalid_grant', status: 400 });
        });
        it('fapi-ciba-id1-user-rejects-authentication', async () => {
          const { auth_req_id: id } = await start();
          await decided(id, 'deny');
          await assert.rejects(redeem(id), { error: 'access_denied', status: 400 });
        });
        it('fapi-ciba-id1-multiple-call-to-token-endpoint: pending at the interval, slow_down before it, and 5 s longer then', async () => {
          const { auth_req_id: id } = await start();
          await assertRefusal(await poll(id), 'ciba.authorization_pending');
          await server.clock.advance(intervalMs);
          await assertRefusal(await poll(id), 'ciba.authorization_pending');
          await assertRefusal(await poll(id), 'ciba.slow_down', { text: /5 seconds longer/ });
          await server.clock.advance(intervalMs + 1000);
          await assertRefusal(await poll(id), 'ciba.slow_down', { text: /5 seconds longer/ });
          await server.clock.advance(4 * intervalMs);
          await assertRefusal(await poll(id), 'ciba.authorization_pending');
          await decided(id, 'approve');
          assert.ok((await redeem(id)).id_token);
        });
        it('fapi-ciba-id1-auth-req-id-expired', async () => {
          const started = await start({ requested_expiry: 30 });
          assert.equal(started.expires_in, 30);
          await server.clock.advance(25_000);
          await assertRefusal(await poll(started.auth_req_id), 'ciba.authorization_pending');
          await server.clock.advance(6_000 + intervalMs);
          await assertRefusal(await poll(started.auth_req_id), 'ciba.expired_token', { text: 'auth_req_id has expired.' });
        });
        it('fapi-ciba-id1-ensure-authorization-request-with-binding-message-succeeds: and the person sees it', async () => {
          const id = await approved({ binding_message: '1234' });
          assert.match((await mailsTo(server, ada.email))[0]?.text ?? '', /1234/);
          assert.ok((await redeem(id)).id_token);
        });
        it('fapi-ciba-id1-ensure-other-scope-order-succeeds', async () => {
          const { scope } = await redeem(await approved({ scope: 'email openid' }));
          assert.deepEqual(new Set(scope?.split(' ')), new Set(['openid', 'email']));
        });
        it('fapi-ciba-id1-ensure-requested-expiry-as-string-succeeds', async () => {
          assert.equal((await start({ requested_expiry: '30' })).expires_in, 30);
        });
        it('fapi-ciba-id1-ensure-authorization-request-with-potentially-bad-binding-message: shown, or too long', async () => {
          const odd = '1234 👍🏿 𠜎 ۞ "<b>&'.padEnd(500, '…');
          assert.ok((await redeem(await approved({ binding_message: odd }))).id_token);
          const long = await startRaw(sign({ binding_message: 'x'.repeat(513) }));
          await assertRefusal(long, 'ciba.invalid_request', { text: 'binding_message is over 512 characters.' });
        });

        const minutes = (count: number): number => now() + 60 * count;
        const wrong: readonly (readonly [string, () => Json])[] = [
          ['missing-aud', () => ({ aud: undefined })],
          ['bad-aud', () => ({ aud: 'https://other.example' })],
          ['missing-iss', () => ({ iss: undefined })],
          ['bad-iss', () => ({ iss: second })],
          ['missing-exp', () => ({ exp: undefined })],
          ['expired-exp', () => ({ exp: minutes(-5) })],
          ['exp-is-70-minutes-in-future', () => ({ exp: minutes(70) })],
          ['missing-iat', () => ({ iat: undefined })],
          ['missing-nbf', () => ({ nbf: undefined })],
          ['nbf-is-10-minutes-in-future', () => ({ nbf: minutes(10), exp: minutes(15) })],
          ['nbf-is-70-minutes-in-past', () => ({ nbf: minutes(-70) })],
          ['missing-jti', () => ({ jti: undefined })],
        ];
        const refused = async (response: Response): Promise<void> => {
          await assertRefusal(response, 'ciba.invalid_request', { text: 'The request object is not valid.' });
          assert.deepEqual(await mailsTo(server, ada.email), [], 'nobody is asked');
        };
        for (const [name, changes] of wrong)
          it(`fapi-ciba-id1-ensure-request-object-${name}-fails`, async () => {
            await refused(await startRaw(sign(changes())));
          });
        it('fapi-ciba-id1-ensure-request-object-signature-algorithm-is-none-fails', async () => {
          const unsigned = assembleJwt({ alg: 'none' }, { ...claimsOf(), iat: now(), exp: minutes(1), jti: 'none' }, Buffer.alloc(0));
          await assertRefusal(await startRaw(unsigned), 'ciba.invalid_request', { text: /./ });
          assert.deepEqual(await mailsTo(server, ada.email), []);
        });
        it('fapi-ciba-id1-ensure-request-object-signature-algorithm-is-bad-fails', async () => {
          await refused(await startRaw(sign({}, secretKey('a-secret-of-at-least-thirty-two-bytes'))));
          const [header, claims] = (await sign()).split('.');
          await refused(await startRaw(`${header}.${claims}.${Buffer.alloc(64, 1).toString('base64url')}`));
        });
        it('fapi-ciba-id1-ensure-request-object-signature-algorithm-is-RS256-fails', async () => {
          await refused(await startRaw(sign({}, rsa)));
        });
        it('fapi-ciba-id1-ensure-request-object-signed-by-other-client-fails', async () => {
          await refused(await startRaw(sign({}, otherKeys)));
        });
        it('fapi-ciba-id1-ensure-authorization-request-with-multiple-hints-fails', async () => {
          const { id_token: idToken } = await redeem(await approved());
          const both = await startRaw(sign({ id_token_hint: idToken }));
          await assertRefusal(both, 'ciba.invalid_request', { text: /Exactly one/ });
          assert.equal((await startRaw(sign({ id_token_hint: idToken, login_hint: undefined }))).status, 200);
        });
        it('fapi-ciba-id1-ensure-wrong-auth-req-id-in-token-endpoint-request: unknown, and of another client', async () => {
          const id = await approved();
          await assertRefusal(await poll(`${id}x`), 'ciba.auth_req_id_invalid');
          await assertRefusal(await poll(id, { as: second }), 'ciba.auth_req_id_invalid');
          assert.ok((await redeem(id)).id_token, 'it is not used up');
        });

        for (const [name, how] of [
          ['ensure-without-client-assertion', { by: null }],
          ['ensure-client-assertion-signature-algorithm-is-RS256-fails', { by: rsa }],
        ] as const) {
          it(`fapi-ciba-id1-${name} (token endpoint)`, async () => {
            const id = await approved();
            await assertRefusal(await poll(id, how), 'client.invalid_client');
            assert.ok((await redeem(id)).id_token);
          });
          it(`fapi-ciba-id1-${name} (backchannel authorization request)`, async () => {
            await assertRefusal(await startRaw(sign(), how), 'client.invalid_client');
            assert.deepEqual(await mailsTo(server, ada.email), []);
          });
        }
        it('fapi-ciba-id1-ensure-client-assertion-with-iss-aud-to-token-endpoint-succeeds: and no other audience', async () => {
          const id = await approved();
          await assertRefusal(await poll(id, { audience: 'https://other.example' }), 'client.invalid_client');
          assert.ok((await tokensOf(await poll(id, { audience: tenant.baseUrl }))).id_token);
        });
        it('fapi-ciba-id1-ensure-backchannel-authorization-request-without-request-fails', async () => {
          const { iss: _iss, aud: _aud, nbf: _nbf, sub: _sub, ...plain } = claimsOf();
          const answer = await send('bc-authorize', plain as Fields);
          await assertRefusal(answer, 'ciba.invalid_request', { text: 'This client must sign its requests.' });
          assert.deepEqual(await mailsTo(server, ada.email), []);
        });
        it('fapi-ciba-id1-refresh-token: the same person, bound to the client and its certificate', async () => {
          const tokens = await redeem(await approved({ scope: 'openid offline_access' }));
          const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
          await assertRefusal(await send('token', form, { as: second }), 'token.refresh_invalid');
          await assertRefusal(await send('token', form, { identity: null }), 'client.invalid_client');
          const byEndpoint = await send('token', form, { audience: `${tenant.baseUrl}/v1/idp/oidc/token` });
          const renewed = await tokensOf(byEndpoint);
          const other = { ...form, refresh_token: renewed.refresh_token };
          await assertRefusal(await send('token', other, { audience: 'https://other.example' }), 'client.invalid_client');
          const response = await oauth.refreshTokenGrantRequest(as, client, auth, renewed.refresh_token!, options());
          const next = await oauth.processRefreshTokenResponse(as, client, response);
          assert.equal(oauth.getValidatedIdTokenClaims(next)?.sub, ada.id);
          assert.notEqual(next.access_token, tokens.access_token);
          assert.equal((await userInfo(next.access_token)).status, 200);
        });
        it('fapi-ciba-id1-ensure-mtls-holder-of-key-required: no certificate, no token; another one opens nothing', async () => {
          const id = await approved();
          await assertRefusal(await poll(id, { identity: null }), 'client.invalid_client');
          const { access_token: token } = await redeem(id);
          const stolen = await userInfo(token, await makeIdentity({ subject: 'CN=thief', issuer: authority }));
          await assertRefusal(stolen, 'userinfo.unauthorized', { fields: { reason: 'invalid_token' } });
          assert.equal((await userInfo(token)).status, 200);
        });

        if (mode === 'ping')
          for (const [name, status] of [
            ['returns-a-body', 200],
            ['returns-401', 401],
            ['returns-403', 403],
            ['returns-401-and-require-server-does-not-retry', 401],
            ['returns-redirect-request', 307],
          ] as const)
            it(`fapi-ciba-id1-ping-notification-endpoint-${name}: told once, not sent elsewhere, tokens all the same`, async () => {
              receiver.answers.push(status);
              const id = await approved();
              await server.clock.advance(60_000);
              await runDeliveries(server);
              assert.deepEqual(
                receiver.received.map(({ path }) => path),
                [new URL(receiver.url).pathname],
              );
              assert.ok((await redeem(id)).id_token);
            });
      });
  });
}
