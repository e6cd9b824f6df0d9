// The requests of AppAuth for iOS and Android, as their sources build them. AppAuth itself runs on a phone alone, so its sequences
// are written out here: from discovery, as a public client, with the checks it makes of what it gets.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { createUser, type TestUser } from '../support/fixtures.ts';
import { createTestClient, createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { type Form, formBody, type Tokens, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { visit } from '../support/relying-party.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const scheme = 'com.example.app';
const ownScheme = `${scheme}:/oauth2redirect`;
const loopback = 'http://127.0.0.1/oauth2redirect';
const signedOut = `${scheme}:/signed-out`;
const scope = 'openid profile email offline_access';

/** What differs between the two: how many random bytes they take. */
const platforms = {
  iOS: { stateBytes: 32, verifierBytes: 32 },
  Android: { stateBytes: 16, verifierBytes: 64 },
} as const;
type Platform = keyof typeof platforms;

interface Discovery extends Json {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly end_session_endpoint: string;
  readonly registration_endpoint: string;
  readonly jwks_uri: string;
}

/** What the app keeps between the request and the way back. */
interface Pending {
  readonly url: URL;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

for (const database of databases) {
  describe(`AppAuth's requests on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    let found: Discovery;
    let clientId: string;
    before(async () => {
      server = await startTestServer(database);
      managed = await createTestTenant(server, { settings: { login_methods: ['email_pin'], extra_grants: ['registration'] } });
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!; // made above
      found = await jsonOf<Discovery>(await fetch(`${managed.baseUrl}/.well-known/openid-configuration`), 200);
      ({ client_id: clientId } = await createTestClient(managed, {
        name: 'App',
        type: 'public',
        token_endpoint_auth_method: 'none',
        redirect_uris: [ownScheme, loopback, 'http://[::1]/oauth2redirect'],
        post_logout_redirect_uris: [signedOut],
      }));
    });
    after(() => server.close());

    const newUser = (): Promise<TestUser> => createUser(server.gatehouse.services, tenant);
    const ask = (platform: Platform, redirectUri: string, client = clientId): Pending => {
      const { stateBytes, verifierBytes } = platforms[platform];
      const [state, nonce, verifier] = [random(stateBytes), random(stateBytes), random(verifierBytes)];
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      const base = { redirect_uri: redirectUri, client_id: client, response_type: 'code', state, nonce, scope };
      const parameters = { ...base, code_challenge: challenge, code_challenge_method: 'S256' };
      const url = new URL(`${found.authorization_endpoint}?${new URLSearchParams(parameters)}`);
      return { url, clientId: client, redirectUri, state, nonce, verifier };
    };
    /** Signs in by the system's browser; gives the address that opens the app again. */
    const comeBack = async ({ url, redirectUri }: Pending, user: TestUser): Promise<URL> => {
      const back = await visit(server, url, user.email);
      assert.ok(back.href.startsWith(`${redirectUri}?`), back.href);
      return back;
    };
    const codeOf = ({ state }: Pending, back: URL): string => {
      assert.deepEqual([...back.searchParams.keys()].sort(), ['code', 'iss', 'state']);
      assert.deepEqual([back.searchParams.get('state'), back.searchParams.get('iss')], [state, found.issuer]);
      return back.searchParams.get('code') ?? '';
    };
    const askForTokens = (form: Form): Promise<Response> =>
      fetch(found.token_endpoint, {
        method: 'POST',
        headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' },
        body: formBody(form).toString(),
      });
    const exchange = ({ clientId: client, redirectUri, verifier }: Pending, code: string, changes: Form = {}): Promise<Response> =>
      askForTokens({
        grant_type: 'authorization_code',
        redirect_uri: redirectUri,
        code,
        code_verifier: verifier,
        client_id: client,
        ...changes,
      });
    const refresh = (token: string | undefined, client = clientId): Promise<Response> =>
      askForTokens({ grant_type: 'refresh_token', refresh_token: token, client_id: client });
    const signIn = async (pending: Pending, user: TestUser): Promise<Tokens> =>
      tokensOf(await exchange(pending, codeOf(pending, await comeBack(pending, user))));
    /** AppAuth's checks of an ID token: issuer, audience, expiry, at most ten minutes old, the nonce; its signature besides. */
    const claimsOf = async ({ id_token: token = '' }: Tokens, { clientId: client, nonce }: Pending): Promise<JWTPayload> => {
      const keys = createRemoteJWKSet(new URL(found.jwks_uri));
      const { payload } = await jwtVerify(token, keys, { issuer: found.issuer, audience: client, maxTokenAge: '10m' });
      assert.equal(payload['nonce'], nonce);
      assert.ok(payload['azp'] === undefined || payload['azp'] === client);
      return payload;
    };

    it('discovery has what AppAuth demands', () => {
      const demanded = ['issuer', 'authorization_endpoint', 'token_endpoint', 'jwks_uri', 'response_types_supported'];
      for (const name of [...demanded, 'subject_types_supported', 'id_token_signing_alg_values_supported']) assert.ok(found[name], name);
      assert.equal(found.issuer, managed.baseUrl);
      assert.deepEqual([new URL(found.issuer).search, new URL(found.issuer).hash], ['', '']);
    });
    for (const platform of ['iOS', 'Android'] as const)
      for (const redirectUri of [ownScheme, 'http://127.0.0.1:49152/oauth2redirect', 'http://[::1]:65535/oauth2redirect'])
        it(`${platform} at ${redirectUri}: code, tokens, refresh with rotation`, async () => {
          const [pending, user] = [ask(platform, redirectUri), await newUser()];
          const tokens = await signIn(pending, user);
          assert.equal((await claimsOf(tokens, pending)).sub, user.id);
          const next = await tokensOf(await refresh(tokens.refresh_token));
          assert.ok(next.refresh_token !== undefined && next.refresh_token !== tokens.refresh_token);
          assert.ok(next.access_token !== tokens.access_token);
          assert.equal((await tokensOf(await refresh(next.refresh_token))).scope, scope);
        });
    it('a refresh token that was replaced twice over ends the family', async () => {
      const tokens = await signIn(ask('iOS', ownScheme), await newUser());
      const second = await tokensOf(await refresh(tokens.refresh_token));
      const third = await tokensOf(await refresh(second.refresh_token));
      await assertRefusal(await refresh(tokens.refresh_token), 'token.refresh_invalid');
      await assertRefusal(await refresh(third.refresh_token), 'token.refresh_invalid');
    });
    it('ends the session and comes back to the app, with its state', async () => {
      for (const platform of ['iOS', 'Android'] as const) {
        const tokens = await signIn(ask(platform, ownScheme), await newUser());
        const state = random(platforms[platform].stateBytes);
        const end = (uri: string): Promise<Response> => {
          const query = formBody({ id_token_hint: tokens.id_token, post_logout_redirect_uri: uri, state });
          return fetch(`${found.end_session_endpoint}?${query}`, { redirect: 'manual' });
        };
        await assertRefusal(await end(`${scheme}:/elsewhere`), 'logout.invalid_request');
        const ended = await end(signedOut);
        assert.deepEqual([ended.status, ended.headers.get('location')], [303, `${signedOut}?state=${state}`]);
        await assertRefusal(await refresh(tokens.refresh_token), 'token.refresh_invalid');
      }
    });
    it('an app on iOS registers itself and signs a person in', async () => {
      const made = await register({
        redirect_uris: [ownScheme],
        application_type: 'native',
        response_types: ['code'],
        grant_types: ['authorization_code', 'refresh_token'],
        subject_type: 'public',
        token_endpoint_auth_method: 'none',
      });
      // AppAuth wants an address to change a registration together with the token for it, and no secret that runs out.
      assert.equal(typeof made['registration_client_uri'], typeof made['registration_access_token']);
      assert.equal(made['client_secret'], undefined);
      const user = await newUser();
      const pending = ask('iOS', ownScheme, String(made['client_id']));
      const tokens = await signIn(pending, user);
      assert.equal((await claimsOf(tokens, pending)).sub, user.id);
      await tokensOf(await refresh(tokens.refresh_token, pending.clientId));
    });
    /** With an initial access token, which iOS can send; Android has no place for one. */
    const register = async (body: Json): Promise<Json> => {
      const policy = { hosts: [`${scheme}:`], grant_types: ['authorization_code', 'refresh_token'], scopes: scope.split(' ') };
      const { token } = await managed.make<{ token: string }>('POST', '/initial-access-tokens', {
        count: 1,
        expires_in_seconds: 60,
        policy,
      });
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
      return jsonOf(await fetch(found.registration_endpoint, { method: 'POST', headers, body: JSON.stringify(body) }), 201);
    };

    it('redirects that differ in more than the port are refused, before anything is sent there', async () => {
      const others = [
        `${scheme}:/other`,
        `${scheme}://oauth2redirect`,
        'com.example.evil:/oauth2redirect',
        'http://localhost:49152/oauth2redirect',
      ];
      for (const other of [...others, 'http://127.0.0.1:49152/other', 'http://127.0.0.2:49152/oauth2redirect'])
        await assertRefusal(await fetch(ask('iOS', other).url, { redirect: 'manual' }), 'authorize.unauthorized');
    });
    it('another app with the same scheme has the code and not the verifier; ports are those of the request', async () => {
      const pending = ask('Android', 'http://127.0.0.1:49152/oauth2redirect');
      const code = codeOf(pending, await comeBack(pending, await newUser()));
      await assertRefusal(await exchange(pending, code, { code_verifier: random(64) }), 'token.pkce_failed');
      await assertRefusal(await exchange(pending, code, { code_verifier: undefined }), 'token.pkce_failed');
      await assertRefusal(await exchange(pending, code, { redirect_uri: 'http://127.0.0.1:49153/oauth2redirect' }), 'token.code_invalid');
      await tokensOf(await exchange(pending, code));
    });
    it('without PKCE, or with a plain challenge, there is no sign-in', async () => {
      const bare = ask('iOS', ownScheme).url;
      bare.searchParams.delete('code_challenge');
      bare.searchParams.delete('code_challenge_method');
      await assertRefusal(await fetch(bare, { redirect: 'manual' }), 'authorize.pkce', { text: 'code_challenge is required.' });
      const plain = ask('iOS', ownScheme).url;
      plain.searchParams.set('code_challenge_method', 'plain');
      const text = 'The only code_challenge_method is S256.';
      await assertRefusal(await fetch(plain, { redirect: 'manual' }), 'authorize.pkce', { text });
    });
  });
}

const random = (bytes: number): string => randomBytes(bytes).toString('base64url');
