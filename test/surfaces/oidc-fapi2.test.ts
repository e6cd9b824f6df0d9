// Tokens that need a proof (RFC 9449) and the profile fapi2 (design 14, 5): what registration sets and refuses, what the token
// endpoint, PAR and authorize then ask for, and refresh tokens that stay.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { findClient } from '../../src/storage/registry/clients/clients.ts';
import { assertionForm, type KeyPair, makeKeyPair, signAssertion } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { createProofKey, type ProofKey } from '../support/dpop.ts';
import { createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { challenge, decodeJwt, formBody, issueCode, redirectUri, type Tokens, tokensOf, verifier } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const ciba = 'urn:openid:params:grant-type:ciba';
const scopes = ['openid', 'email', 'offline_access'];

for (const database of databases) {
  describe(`FAPI 2 on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    let user: TestUser;
    let key: ProofKey;
    let pair: KeyPair;
    before(async () => {
      server = await startTestServer(database);
      managed = await createTestTenant(server);
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      user = await createUser(server.gatehouse.services, tenant);
      key = await createProofKey();
      pair = makeKeyPair('ES256');
    });
    after(() => server.close());

    const profiled = (changes: Json = {}): Json => ({
      name: 'Bank',
      profile: 'fapi2',
      jwks: { keys: [pair.publicJwk] },
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      scopes,
      ...changes,
    });
    const refused = async (body: Json, kind: string, text: string | RegExp = /./): Promise<void> => {
      await assertRefusal(await managed.call('POST', '/clients', body), 'management.invalid_request', { kind, text });
    };
    const register = async (body: Json): Promise<TestClient> => {
      const made = await managed.make('POST', '/clients', body);
      const { services } = server.gatehouse;
      const client = await services.database.read(tenant.id, (queries) => findClient(queries, tenant.id, String(made['client_id'])));
      return { ...client!, secret: String(made['client_secret']) };
    };
    const endpoint = (name: string): string => `${tenant.baseUrl}/v1/idp/oidc/${name}`;
    /** The answer of an endpoint to the client, which signs its assertion for `audience`. */
    const post = async (
      client: TestClient,
      name: string,
      form: Readonly<Record<string, string | undefined>>,
      {
        dpop,
        audience = tenant.baseUrl,
        by = pair,
      }: { readonly dpop?: string; readonly audience?: string | readonly string[]; readonly by?: KeyPair } = {},
    ): Promise<Response> => {
      const auth =
        client.tokenEndpointAuthMethod === 'private_key_jwt'
          ? assertionForm(await signAssertion(by, client.clientId, audience, server.clock.nowMs()))
          : client.type === 'public'
            ? { client_id: client.clientId }
            : { client_id: client.clientId, client_secret: client.secret };
      return fetch(endpoint(name), { method: 'POST', body: formBody({ ...form, ...auth }), headers: dpop === undefined ? {} : { dpop } });
    };
    /** A proof with a nonce as a client gets one: from the refusal of a request without. */
    const prove = async (client: TestClient, by = key, name = 'token'): Promise<string> => {
      const first = await post(client, 'token', { grant_type: 'refresh_token' }, { dpop: await by.prove(endpoint('token')) });
      return by.prove(endpoint(name), { claims: { nonce: first.headers.get('dpop-nonce') } });
    };
    const codeForm = async (client: TestClient): Promise<Record<string, string>> => ({
      grant_type: 'authorization_code',
      code: await issueCode(server, tenant, client, user, { scope: scopes.join(' ') }),
      redirect_uri: redirectUri,
      code_verifier: verifier,
    });
    const signIn = async (client: TestClient, by = key): Promise<Tokens> =>
      tokensOf(await post(client, 'token', await codeForm(client), { dpop: await prove(client, by) }));
    const refreshForm = ({ refresh_token: token }: Tokens) => ({ grant_type: 'refresh_token', refresh_token: token });

    it('the profile sets what it implies where the request is silent', async () => {
      const made = await jsonOf(await managed.call('POST', '/clients', profiled()), 201);
      const { token_endpoint_auth_method, require_par, require_pkce, authorize_error_delivery, id_token_signed_response_alg } = made;
      assert.deepEqual(
        { token_endpoint_auth_method, require_par, require_pkce, authorize_error_delivery, id_token_signed_response_alg },
        {
          token_endpoint_auth_method: 'private_key_jwt',
          require_par: true,
          require_pkce: true,
          authorize_error_delivery: 'redirect',
          id_token_signed_response_alg: 'ES256',
        },
      );
      assert.deepEqual([made['profile'], made['dpop_bound_access_tokens'], made['client_secret']], ['fapi2', true, undefined]);
      // The same by a change of a client that was registered without it.
      const plain = await managed.make('POST', '/clients', { name: 'Plain', redirect_uris: [redirectUri] });
      const { jwks } = profiled();
      const changed = await managed.make('PATCH', `/clients/${plain['client_id']}`, { profile: 'fapi2', jwks });
      assert.deepEqual([changed['require_par'], changed['token_endpoint_auth_method']], [true, 'private_key_jwt']);
      const off = await managed.make('PATCH', `/clients/${plain['client_id']}`, { profile: null, require_par: false });
      assert.deepEqual([off['profile'], off['require_par'], off['dpop_bound_access_tokens']], [null, false, true]);
    });
    const contradictions: readonly (readonly [Json, string])[] = [
      [{ type: 'public', token_endpoint_auth_method: 'none' }, 'type'],
      [{ token_endpoint_auth_method: 'client_secret_basic' }, 'token_endpoint_auth_method'],
      [{ token_endpoint_auth_method: 'client_secret_jwt' }, 'token_endpoint_auth_method'],
      [{ require_par: false }, 'require_par'],
      [{ require_pkce: false }, 'require_pkce'],
      [{ authorize_error_delivery: 'direct' }, 'authorize_error_delivery'],
      [{ id_token_signed_response_alg: 'RS256' }, 'id_token_signed_response_alg'],
      [{ dpop_bound_access_tokens: false }, 'dpop_bound_access_tokens'],
      [{ redirect_uris: ['http://127.0.0.1/callback'] }, 'redirect_uris'],
      [{ jwks: null }, 'jwks'],
      [{ profile: 'fapi3' }, 'profile'],
    ];
    for (const [change, kind] of contradictions)
      it(`registration refuses ${JSON.stringify(change)}`, async () => {
        await refused(profiled(change), kind);
      });
    it('a client of the profile cannot leave a part of it by a change', async () => {
      const client = await register(profiled());
      const answer = await managed.call('PATCH', `/clients/${client.clientId}`, { require_par: false });
      await assertRefusal(answer, 'management.invalid_request', { kind: 'require_par', text: /profile fapi2/ });
    });
    it('tokens pushed by CIBA cannot be bound to a key; polled and pinged ones can', async () => {
      const of = (mode: string): Json => ({
        name: 'Push',
        dpop_bound_access_tokens: true,
        grant_types: [ciba],
        backchannel_token_delivery_mode: mode,
        ...(mode === 'poll' ? {} : { backchannel_client_notification_endpoint: 'https://rp.example/ciba' }),
      });
      await refused(of('push'), 'backchannel_token_delivery_mode', /nobody proves one/);
      for (const mode of ['poll', 'ping']) await jsonOf(await managed.call('POST', '/clients', of(mode)), 201);
    });

    it('dpop.invalid_proof: a poll of CIBA without a proof too', async () => {
      const client = await register({
        name: 'Poll',
        dpop_bound_access_tokens: true,
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: [ciba, 'refresh_token'],
      });
      const form = { grant_type: ciba, auth_req_id: 'x'.repeat(43) };
      await assertRefusal(await post(client, 'token', form), 'dpop.invalid_proof');
      await assertRefusal(await post(client, 'token', form, { dpop: await prove(client) }), 'ciba.auth_req_id_invalid');
    });
    it('dpop.invalid_proof: a token request without a proof, after client authentication; the code is not burnt', async () => {
      const client = await register({
        name: 'Bound',
        dpop_bound_access_tokens: true,
        token_endpoint_auth_method: 'client_secret_post',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
        scopes,
      });
      const form = await codeForm(client);
      await assertRefusal(await post({ ...client, secret: 'wrong' }, 'token', form), 'client.invalid_client');
      const answer = await post(client, 'token', form);
      assert.ok(answer.headers.get('dpop-nonce'));
      await assertRefusal(answer, 'dpop.invalid_proof');
      const tokens = await tokensOf(await post(client, 'token', form, { dpop: await prove(client) }));
      assert.equal(tokens.token_type, 'DPoP');
      await assertRefusal(await post(client, 'token', refreshForm(tokens)), 'dpop.invalid_proof');
      await assertRefusal(await post(client, 'token', { grant_type: 'client_credentials' }), 'dpop.invalid_proof');
      // A confidential client authenticates: its refresh tokens take any key of its (RFC 9449 5).
      const other = await createProofKey();
      const next = await tokensOf(await post(client, 'token', refreshForm(tokens), { dpop: await prove(client, other) }));
      assert.deepEqual(decodeJwt(next.access_token).claims['cnf'], { jkt: other.thumbprint });
    });
    it('token.refresh_invalid: a public client refreshes with the same key, and within 60 s a retry gets the same successor', async () => {
      const client = await register({
        name: 'App',
        type: 'public',
        dpop_bound_access_tokens: true,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        scopes,
      });
      const tokens = await signIn(client);
      const other = await createProofKey();
      await assertRefusal(await post(client, 'token', refreshForm(tokens)), 'dpop.invalid_proof');
      await assertRefusal(await post(client, 'token', refreshForm(tokens), { dpop: await prove(client, other) }), 'token.refresh_invalid');
      const next = await tokensOf(await post(client, 'token', refreshForm(tokens), { dpop: await prove(client) }));
      const again = await tokensOf(await post(client, 'token', refreshForm(tokens), { dpop: await prove(client) }));
      assert.equal(again.refresh_token, next.refresh_token);
      await server.clock.advance(60_000);
      await assertRefusal(await post(client, 'token', refreshForm(tokens), { dpop: await prove(client) }), 'token.refresh_invalid');
      await assertRefusal(await post(client, 'token', refreshForm(next), { dpop: await prove(client) }), 'token.refresh_invalid');
    });

    it('client.invalid_client: the audience of an assertion is the issuer as a string', async () => {
      const client = await register(profiled());
      for (const audience of [endpoint('par'), endpoint('token'), [tenant.baseUrl], [tenant.baseUrl, endpoint('par')]])
        await assertRefusal(await post(client, 'par', pushed(client), { audience }), 'client.invalid_client');
      assert.equal((await post(client, 'par', pushed(client))).status, 201);
    });
    it('client.invalid_client: assertions are signed with PS256, ES256 or EdDSA', async () => {
      const pairs = (['PS256', 'ES256', 'EdDSA', 'RS256', 'ES384'] as const).map((alg) => makeKeyPair(alg));
      const client = await register(profiled({ jwks: { keys: pairs.map(({ publicJwk }) => publicJwk) } }));
      const answers = await Promise.all(pairs.map((by) => post(client, 'par', pushed(client), { by })));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [201, 201, 201, 401, 401],
      );
      await assertRefusal(answers[3]!, 'client.invalid_client');
    });
    it('dpop.invalid_proof: proofs of the profile are signed with PS256, ES256 or EdDSA, at PAR too', async () => {
      const client = await register(profiled());
      for (const alg of ['PS256', 'EdDSA']) assert.equal((await signIn(client, await createProofKey(alg))).token_type, 'DPoP');
      const rsa = await createProofKey('RS256');
      const dpop = (name: string): Promise<string> => rsa.prove(endpoint(name), { claims: { nonce: 'x' } });
      await assertRefusal(await post(client, 'token', await codeForm(client), { dpop: await dpop('token') }), 'dpop.invalid_proof');
      await assertRefusal(await post(client, 'par', pushed(client), { dpop: await dpop('par') }), 'dpop.invalid_proof');
    });
    const pushed = ({ clientId }: TestClient, changes: Readonly<Record<string, string | undefined>> = {}) => ({
      client_id: clientId,
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid',
      state: 'state-1',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...changes,
    });
    const authorize = (parameters: Readonly<Record<string, string | undefined>>): Promise<Response> =>
      fetch(`${endpoint('authorize')}?${formBody(parameters)}`, { redirect: 'manual' });
    it('PAR and PKCE are required; what is wrong at authorize goes to the client', async () => {
      const client = await register(profiled());
      await assertRefusal(await post(client, 'par', pushed(client, { code_challenge: undefined })), 'par.pkce', {
        text: 'code_challenge is required.',
      });
      await assertRefusal(await post(client, 'par', pushed(client, { code_challenge_method: 'plain' })), 'par.pkce', { text: /S256/ });
      const answer = await authorize(pushed(client));
      const location = new URL(answer.headers.get('location') ?? '');
      assert.deepEqual(
        [
          answer.status,
          `${location.origin}${location.pathname}`,
          location.searchParams.get('error'),
          location.searchParams.get('state'),
          location.searchParams.get('iss'),
        ],
        [303, redirectUri, 'invalid_request', 'state-1', tenant.baseUrl],
      );
    });
    it('codes of the profile live a minute, its request_uris less than ten, whatever the tenant allows', async () => {
      await managed.make('PATCH', '/settings', {
        authorization_code_lifetime_seconds: 300,
        par_lifetime_seconds: 3600,
        access_token_alg: 'RS256',
      });
      const expiresIn = async (client: TestClient): Promise<unknown> =>
        (await jsonOf(await post(client, 'par', pushed(client)), 201))['expires_in'];
      const client = await register(profiled());
      const plain = await register(profiled({ profile: undefined, token_endpoint_auth_method: 'private_key_jwt' }));
      assert.deepEqual([await expiresIn(client), await expiresIn(plain)], [599, 3600]);
      const { access_token: token } = await signIn(client);
      assert.equal(decodeJwt(token).header['alg'], 'ES256');
      const tokens = await tokensOf(await post(plain, 'token', await codeForm(plain)));
      assert.equal(decodeJwt(tokens.access_token).header['alg'], 'RS256');
      await managed.make('PATCH', '/settings', {
        authorization_code_lifetime_seconds: 60,
        par_lifetime_seconds: 60,
        access_token_alg: 'ES256',
      });
    });

    it('token.refresh_invalid: a refresh token that stays still ends with its grant', async () => {
      const client = await register(profiled());
      const tokens = await signIn(client);
      assert.equal((await post(client, 'revoke', { token: tokens.refresh_token })).status, 200);
      await assertRefusal(await post(client, 'token', refreshForm(tokens), { dpop: await prove(client) }), 'token.refresh_invalid');
    });
    /** The proof of a client whose clock is the test's. */
    const proofNow = async (client: TestClient): Promise<string> => {
      const claims = { iat: Math.floor(server.clock.nowMs() / 1000) };
      const first = await post(client, 'token', { grant_type: 'refresh_token' }, { dpop: await key.prove(endpoint('token'), { claims }) });
      return key.prove(endpoint('token'), { claims: { ...claims, nonce: first.headers.get('dpop-nonce') } });
    };
    it('refresh tokens of the profile stay: used many times, also at once; each use moves the idle expiry, not the absolute one', async () => {
      const client = await register(profiled());
      const [tokens, idle] = [await signIn(client), await signIn(client)];
      const proofs = await Promise.all(Array.from({ length: 20 }, () => prove(client)));
      const answers = await Promise.all(proofs.map(async (dpop) => tokensOf(await post(client, 'token', refreshForm(tokens), { dpop }))));
      assert.deepEqual([...new Set(answers.map(({ refresh_token: token }) => token))], [tokens.refresh_token]);
      const { refresh_token_idle_seconds: idleSeconds, refresh_token_absolute_seconds: absoluteSeconds } = tenant.settings;
      for (let times = 0; times < Math.floor(absoluteSeconds / idleSeconds); times += 1) {
        await server.clock.advance(1000 * (idleSeconds - 60));
        await tokensOf(await post(client, 'token', refreshForm(tokens), { dpop: await proofNow(client) }));
      }
      await assertRefusal(await post(client, 'token', refreshForm(idle), { dpop: await proofNow(client) }), 'token.refresh_invalid');
      await server.clock.advance(1000 * (absoluteSeconds % idleSeconds) + 600_000);
      await assertRefusal(await post(client, 'token', refreshForm(tokens), { dpop: await proofNow(client) }), 'token.refresh_invalid');
    });
  });
}
