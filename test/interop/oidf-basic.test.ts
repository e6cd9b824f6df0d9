// The modules of the OpenID Foundation's plans Basic OP, Form Post Basic OP and Config OP (static clients, discovery), in our own
// words: openid-client reads every answer under its strict checks, ID tokens' signatures included. The tenant has browser sessions.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import * as openid from 'openid-client';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { assembleJwt, makeKeyPair } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createUser, type TestUser } from '../support/fixtures.ts';
import { formOf } from '../support/form-post.ts';
import { decodeJwt, redirectUri } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { createRelyingParty, type RelyingParty } from '../support/relying-party.ts';
import { openSsoWorld } from '../support/sso.ts';

type Changes = Readonly<Record<string, string | undefined>>;
type Tokens = Awaited<ReturnType<typeof openid.authorizationCodeGrant>>;
/** An authorization request, and what its client will hold the answer to. */
interface Asked {
  readonly url: URL;
  readonly checks: openid.AuthorizationCodeGrantChecks;
}
/** The answer as the client's web server gets it; it may be read again. */
type Answer = () => URL | Request;

const timesAt = (nowMs: number) => ({ iat: Math.floor(nowMs / 1000), nbf: Math.floor(nowMs / 1000), exp: Math.floor(nowMs / 1000) + 60 });
const page = { headers: { accept: 'text/html' } };
/** Before the same person is mailed another PIN. */
const mailboxWaitMs = 61_000;
const elsewhere = 'https://rp.example/not-registered';
const grace = {
  name: { given_name: 'Grace', family_name: 'Hopper', middle_name: 'Brewster' },
  nick_name: 'Amazing Grace',
  profile_url: 'https://people.example/grace',
  photos: [{ value: 'https://people.example/grace.png', type: 'photo', primary: true }],
  locale: 'en-US',
  timezone: 'America/New_York',
  phone_numbers: [{ value: '+1 202 555 0100', type: 'work', primary: true }],
  addresses: [{ formatted: '1 Main St', street_address: '1 Main St', locality: 'Arlington', country: 'US', primary: true }],
};

for (const database of databases) {
  describe(`OpenID Connect OP plans on ${database}`, async () => {
    const world = await openSsoWorld(database);
    const { server, tenant } = world;
    let first: RelyingParty;
    let second: RelyingParty;
    let signing: RelyingParty;
    let ada: TestUser;
    const key = makeKeyPair('ES256');
    before(async () => {
      const create = async (...how: Parameters<typeof createRelyingParty> extends [unknown, unknown, ...infer Rest] ? Rest : never) => {
        const made = await createRelyingParty(server, tenant, ...how);
        openid.enableNonRepudiationChecks(made.config);
        return made;
      };
      first = await create('client_secret_basic', { requirePkce: false });
      second = await create('client_secret_post', { requirePkce: false });
      signing = await create('client_secret_basic', { requirePkce: false, jwks: { keys: [key.publicJwk] } });
    });
    after(() => server.close());
    beforeEach(async () => {
      ada = await createUser(server.gatehouse.services, tenant);
    });

    it('oidcc-discovery-endpoint-verification (Config OP)', async () => {
      const answer = await fetch(`${tenant.baseUrl}/.well-known/openid-configuration`);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
      const metadata = (await answer.json()) as Record<string, unknown>;
      assert.equal(metadata['issuer'], tenant.baseUrl);
      const endpoints = ['authorization', 'token', 'userinfo', 'end_session', 'introspection', 'revocation'].map(
        (one) => `${one}_endpoint`,
      );
      for (const name of [...endpoints, 'jwks_uri']) {
        const url = new URL(String(metadata[name]));
        assert.ok(url.href.startsWith(`${tenant.baseUrl}/`) && url.hash === '', name);
      }
      const has = (name: string, ...values: string[]): void => {
        for (const value of values) assert.ok((metadata[name] as string[]).includes(value), `${name}: ${value}`);
      };
      has('scopes_supported', 'openid', 'profile', 'email', 'address', 'phone', 'offline_access');
      has('response_types_supported', 'code');
      has('response_modes_supported', 'query', 'form_post');
      has('grant_types_supported', 'authorization_code', 'refresh_token');
      has('subject_types_supported', 'public');
      has('id_token_signing_alg_values_supported', 'RS256');
      has('token_endpoint_auth_methods_supported', 'client_secret_basic', 'client_secret_post');
      has('claims_supported', 'sub', 'name', 'email', 'phone_number', 'address');
      assert.equal((metadata['id_token_signing_alg_values_supported'] as string[]).includes('none'), false);
      assert.equal(metadata['claims_parameter_supported'], true);
      assert.equal(metadata['request_uri_parameter_supported'], false, 'absent means true');
      const { keys } = (await (await fetch(String(metadata['jwks_uri']))).json()) as { keys: Record<string, string>[] };
      assert.ok(keys.some(({ kty, alg, use }) => kty === 'RSA' && alg === 'RS256' && use === 'sig'));
      assert.equal(new Set(keys.map(({ kid }) => kid)).size, keys.length);
      for (const { kid, kty, n = '', ...members } of keys) {
        assert.ok(kid);
        for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) assert.equal(secret in members, false, secret);
        if (kty === 'RSA') assert.ok(Buffer.from(n, 'base64url').length >= 256);
      }
    });

    for (const mode of ['query', 'form_post'] as const)
      describe(mode === 'query' ? 'Basic OP' : 'Form Post Basic OP', () => {
        const ask = (changes: Changes = {}, { config } = first): Asked => {
          const state = openid.randomState();
          const nonce = openid.randomNonce();
          const asked = { redirect_uri: redirectUri, scope: 'openid', state, nonce, ...(mode === 'query' ? {} : { response_mode: mode }) };
          const given = Object.entries(changes).filter((pair): pair is [string, string] => pair[1] !== undefined);
          const url = openid.buildAuthorizationUrl(config, { ...asked, ...Object.fromEntries(given) });
          for (const [name, value] of Object.entries(changes)) if (value === undefined) url.searchParams.delete(name);
          const { max_age: maxAge } = changes;
          const checks = {
            expectedState: state,
            idTokenExpected: true,
            ...(url.searchParams.has('nonce') ? { expectedNonce: nonce } : {}),
          };
          return { url, checks: maxAge === undefined ? checks : { ...checks, maxAge: Number(maxAge) } };
        };
        const answerOf = async (response: Response): Promise<Answer> => {
          if (mode === 'query') {
            const location = world.locationOf(response);
            assert.equal(`${location.origin}${location.pathname}`, redirectUri);
            return () => location;
          }
          const { action, fields } = await formOf(response);
          assert.equal(action, redirectUri);
          return () => new Request(action, { method: 'POST', body: new URLSearchParams(fields) });
        };
        /** Must be answered without asking the person for anything. */
        const silently = async ({ url }: Asked, browser: TestBrowser): Promise<Answer> => answerOf(await browser.send(url.href));
        /** Must be answered by the sign-in page, at which the person signs in. */
        const signingIn = async (response: Response, browser: TestBrowser, user = ada, thenMs = 0): Promise<Answer> => {
          const login = world.asksToSignIn(response);
          await world.approveAt(browser, login, user);
          await server.clock.advance(thenMs);
          return answerOf(await browser.send(`${login}/finish`, { method: 'POST', ...page }));
        };
        const redeem = (asked: Asked, answer: Answer, { config } = first): Promise<Tokens> =>
          openid.authorizationCodeGrant(config, answer(), asked.checks);
        const signIn = async (changes: Changes = {}, browser = openBrowser(), user = ada): Promise<Tokens> => {
          const asked = ask(changes);
          return redeem(asked, await signingIn(await browser.send(asked.url.href), browser, user));
        };
        const again = async (browser: TestBrowser, changes: Changes): Promise<Tokens> => {
          const asked = ask(changes);
          return redeem(asked, await silently(asked, browser));
        };
        const claimsOf = (tokens: Tokens): openid.IDToken => {
          const claims = tokens.claims();
          assert.ok(claims !== undefined);
          return claims;
        };
        const userInfo = (tokens: Tokens): Promise<openid.UserInfoResponse> =>
          openid.fetchUserInfo(first.config, tokens.access_token, claimsOf(tokens).sub);
        const endpoint = (): URL => new URL(first.config.serverMetadata().userinfo_endpoint ?? '');
        const sameSession = (one: Tokens, other: Tokens): void => {
          assert.equal(claimsOf(other).sub, claimsOf(one).sub);
          assert.equal(claimsOf(other).auth_time, claimsOf(one).auth_time);
        };

        it('oidcc-server', async () => {
          const browser = openBrowser();
          const asked = ask();
          const answer = await signingIn(await browser.send(asked.url.href), browser);
          const seen: Response[] = [];
          first.config[openid.customFetch] = async (url, options) => {
            const response = await fetch(url, options as RequestInit);
            seen.push(response.clone());
            return response;
          };
          const tokens = await redeem(asked, answer);
          delete (first.config as { [openid.customFetch]?: unknown })[openid.customFetch];
          const response = seen.find(({ url }) => url.endsWith('/token'));
          assert.equal(response?.headers.get('cache-control'), 'no-store');
          assert.match(response?.headers.get('content-type') ?? '', /^application\/json/);
          assert.deepEqual([tokens.token_type, tokens.scope, tokens.refresh_token], ['bearer', 'openid', undefined]);
          assert.ok(Number(tokens.expires_in) > 0);
          const { header, claims } = decodeJwt(tokens.id_token ?? '');
          assert.deepEqual([header['alg'], typeof header['kid']], ['RS256', 'string']);
          const { iss, sub, aud, nonce } = claims;
          assert.deepEqual([iss, sub, aud, nonce], [tenant.baseUrl, ada.id, first.client.clientId, asked.checks.expectedNonce]);
          for (const name of ['iat', 'exp', 'auth_time']) assert.equal(typeof claims[name], 'number', name);
        });
        it('oidcc-response-type-missing', async () => {
          const answer = await openBrowser().send(ask({ response_type: undefined }).url.href);
          await assertRefusal(answer, 'authorize.invalid_request', { text: 'response_type is required.' });
        });
        it('oidcc-userinfo-get', async () => {
          assert.deepEqual(await userInfo(await signIn()), { sub: ada.id });
        });
        it('oidcc-userinfo-post-header', async () => {
          const { access_token: token } = await signIn();
          const answer = await openid.fetchProtectedResource(first.config, token, endpoint(), 'POST');
          assert.deepEqual([answer.status, await answer.json()], [200, { sub: ada.id }]);
        });
        it('oidcc-userinfo-post-body', async () => {
          const { access_token: token } = await signIn();
          const answer = await fetch(endpoint(), { method: 'POST', body: new URLSearchParams({ access_token: token }) });
          assert.deepEqual([answer.status, await answer.json()], [200, { sub: ada.id }]);
        });
        it('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
          assert.equal('nonce' in claimsOf(await signIn({ nonce: undefined })), false);
        });

        const profile = {
          ...{
            name: 'Grace Hopper',
            given_name: 'Grace',
            family_name: 'Hopper',
            middle_name: 'Brewster',
            nickname: 'Amazing Grace',
          },
          ...{ profile: 'https://people.example/grace', picture: 'https://people.example/grace.png' },
          ...{ zoneinfo: 'America/New_York', locale: 'en-US' },
        };
        const address = { address: { formatted: '1 Main St', street_address: '1 Main St', locality: 'Arlington', country: 'US' } };
        const phone = { phone_number: '+1 202 555 0100' };
        const scoped: readonly (readonly [string, string, object])[] = [
          ['oidcc-scope-profile', 'openid profile', profile],
          ['oidcc-scope-email', 'openid email', {}],
          ['oidcc-scope-address', 'openid address', address],
          ['oidcc-scope-phone', 'openid phone', phone],
          ['oidcc-scope-all', 'openid profile email address phone', { ...profile, ...address, ...phone }],
          ['oidcc-ensure-other-scope-order-succeeds', 'email openid', {}],
        ];
        for (const [name, scope, shown] of scoped)
          it(name, async () => {
            const email = `grace.${name}.${mode}@people.example`;
            const made = await (await world.manager()).make<{ id: TestUser['id'] }>('POST', '/users', {
              ...{ ...grace, user_name: email, emails: [{ value: email, primary: true }] },
            });
            const tokens = await signIn({ scope }, openBrowser(), { id: made.id, email });
            assert.deepEqual(new Set(tokens.scope?.split(' ')), new Set(scope.split(' ')));
            const { updated_at: updatedAt, ...claims } = await userInfo(tokens);
            const asked = scope.split(' ');
            assert.equal(typeof updatedAt, asked.includes('profile') ? 'number' : 'undefined');
            assert.deepEqual(claims, {
              sub: made.id,
              ...shown,
              ...(asked.includes('profile') ? { preferred_username: email } : {}),
              ...(asked.includes('email') ? { email, email_verified: true } : {}),
            });
          });

        for (const display of ['page', 'popup'])
          it(`oidcc-display-${display}`, async () => {
            const browser = openBrowser();
            const asked = ask({ display });
            const response = await browser.send(asked.url.href);
            const shown = await browser.send(world.asksToSignIn(response), page);
            assert.deepEqual([shown.status, shown.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
            assert.equal(claimsOf(await redeem(asked, await signingIn(response, browser))).sub, ada.id);
          });
        it('oidcc-prompt-login', async () => {
          const browser = openBrowser();
          const before = await signIn({}, browser);
          await server.clock.advance(mailboxWaitMs);
          const after = await signIn({ prompt: 'login' }, browser);
          assert.equal(claimsOf(after).sub, claimsOf(before).sub);
          assert.ok(Number(claimsOf(after).auth_time) > Number(claimsOf(before).auth_time));
        });
        it('oidcc-prompt-none-not-logged-in', async () => {
          const asked = ask({ prompt: 'none' });
          await assert.rejects(redeem(asked, await silently(asked, openBrowser())), { error: 'login_required' });
        });
        it('oidcc-prompt-none-logged-in', async () => {
          const browser = openBrowser();
          sameSession(await signIn({}, browser), await again(browser, { prompt: 'none' }));
        });
        it('oidcc-max-age-1', async () => {
          const browser = openBrowser();
          const before = await signIn({}, browser);
          await server.clock.advance(mailboxWaitMs);
          const asked = ask({ max_age: '1' });
          // The clock goes back, so that a busy machine's pause before the exchange is no age.
          const after = await redeem(asked, await signingIn(await browser.send(asked.url.href), browser, ada, -10_000));
          assert.equal(claimsOf(after).sub, claimsOf(before).sub);
          assert.ok(Number(claimsOf(after).auth_time) > Number(claimsOf(before).auth_time));
        });
        it('oidcc-max-age-10000', async () => {
          const browser = openBrowser();
          sameSession(await signIn({}, browser), await again(browser, { max_age: '10000' }));
        });
        it('oidcc-ensure-request-with-unknown-parameter-succeeds', async () => {
          assert.equal(claimsOf(await signIn({ extra: 'foobar' })).sub, ada.id);
        });
        it('oidcc-id-token-hint', async () => {
          const browser = openBrowser();
          const before = await signIn({}, browser);
          sameSession(before, await again(browser, { prompt: 'none', id_token_hint: before.id_token }));
        });
        it('oidcc-login-hint', async () => {
          const browser = openBrowser();
          const asked = ask({ login_hint: ada.email });
          const response = await browser.send(asked.url.href);
          const shown = await (await browser.send(world.asksToSignIn(response), page)).text();
          assert.ok(shown.includes(`value="${ada.email}"`));
          assert.equal(claimsOf(await redeem(asked, await signingIn(response, browser))).sub, ada.id);
        });
        it('oidcc-ui-locales', async () => {
          const browser = openBrowser();
          const asked = ask({ ui_locales: 'se fr' });
          const response = await browser.send(asked.url.href);
          assert.match(await (await browser.send(world.asksToSignIn(response), page)).text(), /<html lang="fr"/);
          assert.equal(claimsOf(await redeem(asked, await signingIn(response, browser))).sub, ada.id);
        });
        it('oidcc-claims-locales', async () => {
          assert.equal((await userInfo(await signIn({ claims_locales: 'se', scope: 'openid profile' }))).name, 'Ada Lovelace');
        });
        it('oidcc-ensure-request-with-acr-values-succeeds', async () => {
          assert.equal(claimsOf(await signIn({ acr_values: '1 2' }))['acr'], 'otp');
        });

        for (const [name, waitMs] of [
          ['oidcc-codereuse', 0],
          ['oidcc-codereuse-30seconds', 30_000],
        ] as const)
          it(`${name}: refused, and the tokens of the code end`, async () => {
            const browser = openBrowser();
            const asked = ask();
            const answer = await signingIn(await browser.send(asked.url.href), browser);
            const tokens = await redeem(asked, answer);
            assert.equal((await userInfo(tokens)).sub, ada.id);
            await server.clock.advance(waitMs);
            await assert.rejects(redeem(asked, answer), { error: 'invalid_grant', status: 400 });
            const { access_token: token } = tokens;
            const spent = await fetch(endpoint(), { headers: { authorization: `Bearer ${token}` } });
            await assertRefusal(spent, 'userinfo.unauthorized', { fields: { reason: 'token_revoked' } });
          });
        it('oidcc-ensure-registered-redirect-uri: shown to the person, who is sent nowhere', async () => {
          const { url } = ask({ redirect_uri: elsewhere });
          const shown = await openBrowser().send(url.href, page);
          assert.deepEqual([shown.status, shown.headers.get('location')], [401, null]);
          assert.match(await shown.text(), /id="error">unauthorized</);
          await assertRefusal(await openBrowser().send(url.href), 'authorize.unauthorized');
        });
        it('oidcc-ensure-post-request-succeeds', async () => {
          const browser = openBrowser();
          const asked = ask();
          const { origin, pathname, searchParams } = asked.url;
          const response = await browser.send(origin + pathname, { method: 'POST', body: searchParams });
          assert.equal(claimsOf(await redeem(asked, await signingIn(response, browser))).sub, ada.id);
        });
        it('oidcc-server-client-secret-post', async () => {
          const browser = openBrowser();
          const asked = ask({}, second);
          const answer = await signingIn(await browser.send(asked.url.href), browser);
          assert.equal(claimsOf(await redeem(asked, answer, second)).aud, second.client.clientId);
        });

        const unsigned = ({ url }: Asked, changes: object = {}): string =>
          assembleJwt({ alg: 'none' }, { ...Object.fromEntries(url.searchParams), ...changes }, Buffer.alloc(0));
        it('oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported', async () => {
          const asked = ask();
          asked.url.searchParams.set('request', unsigned(asked));
          await assert.rejects(redeem(asked, await silently(asked, openBrowser())), { error: 'request_not_supported' });
        });
        it('oidcc-claims-essential', async () => {
          const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
          assert.deepEqual(await userInfo(await signIn({ claims })), { sub: ada.id, name: 'Ada Lovelace' });
        });
        it('oidcc-ensure-request-object-with-redirect-uri: an unsigned object moves nothing, a signed one counts', async () => {
          const refused = ask({ redirect_uri: elsewhere });
          refused.url.searchParams.set('request', unsigned(refused, { redirect_uri: redirectUri }));
          await assertRefusal(await openBrowser().send(refused.url.href), 'authorize.unauthorized');
          const asked = ask({}, signing);
          const cryptoKey = key.key.toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']);
          const inside = Object.fromEntries(asked.url.searchParams);
          const url = await openid.buildAuthorizationUrlWithJAR(...([signing.config, inside, { key: cryptoKey, kid: key.kid }] as const), {
            [openid.modifyAssertion]: (_header, payload) => Object.assign(payload, timesAt(server.clock.nowMs())),
          });
          url.searchParams.set('redirect_uri', elsewhere);
          const browser = openBrowser();
          const answer = await signingIn(await browser.send(url.href), browser);
          assert.equal(claimsOf(await redeem(asked, answer, signing)).sub, ada.id);
        });
        it('oidcc-refresh-token: the same person and sign-in, and nothing for another client', async () => {
          const tokens = await signIn({ scope: 'openid offline_access', prompt: 'consent' });
          const refreshToken = tokens.refresh_token ?? '';
          await assert.rejects(openid.refreshTokenGrant(second.config, refreshToken), { error: 'invalid_grant', status: 400 });
          const next = await openid.refreshTokenGrant(first.config, refreshToken);
          sameSession(tokens, next);
          assert.deepEqual([claimsOf(next).iss, claimsOf(next).aud], [claimsOf(tokens).iss, claimsOf(tokens).aud]);
          assert.notEqual(next.access_token, tokens.access_token);
          assert.equal((await userInfo(next)).sub, ada.id);
        });
        it('oidcc-ensure-request-with-valid-pkce-succeeds', async () => {
          const verifier = openid.randomPKCECodeVerifier();
          const challenge = { code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' };
          const browser = openBrowser();
          const asked = ask(challenge);
          const answer = await signingIn(await browser.send(asked.url.href), browser);
          await assert.rejects(redeem(asked, answer), { error: 'invalid_grant' });
          const right = { ...asked, checks: { ...asked.checks, pkceCodeVerifier: verifier } };
          assert.equal(claimsOf(await redeem(right, answer)).sub, ada.id);
        });
      });
  });
}
