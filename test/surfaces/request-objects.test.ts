// Signed request objects (JAR, RFC 9101; CIBA Core 7.1.1) at authorize, PAR and bc-authorize: only what the client signed counts.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { parameterCharsMax, parametersMax, requestObjectJtiCharsMax, requestObjectSecondsMax } from '../../src/contract/limits.ts';
import type { Client } from '../../src/domain/client/client.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { cibaGrantType } from '../support/ciba.ts';
import { assembleJwt, assertionForm, type KeyPair, makeKeyPair, secretKey, signAssertion } from '../support/client-credentials.ts';
import { databases } from '../support/databases.ts';
import { changeSettings } from '../support/enrolled-phone.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { challenge, type Form, formBody, postAs, redirectUri } from '../support/oidc.ts';
import { assertRedirectRefusal, assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

type Claims = Readonly<Record<string, unknown>>;
/** What is signed: the parameters of a request, and changes of the JWT. */
type Change = { readonly claims?: Claims; readonly header?: Claims; readonly key?: KeyPair; readonly as?: TestClient };

for (const database of databases) {
  describe(`Request objects on ${database}`, () => {
    const key = makeKeyPair('ES256');
    const keys: readonly KeyPair[] = [key, makeKeyPair('RS256'), makeKeyPair('PS256'), makeKeyPair('ES384'), makeKeyPair('EdDSA')];
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    let plain: TestClient;
    let ciba: TestClient;
    let strict: TestClient;
    let user: TestUser;
    const jwks = { keys: keys.map(({ publicJwk }) => publicJwk) };
    const make = (changes: Partial<Client>): Promise<TestClient> => createClient(server.gatehouse.services, tenant, { jwks, ...changes });
    before(async () => {
      server = await startTestServer(database);
      tenant = await rootTenant(server.gatehouse.services);
      const limits = {
        login_starts_per_ip: roomyRate,
        approvals_pending_per_user: roomyRate,
        approvals_per_user: roomyRate,
        ciba_starts_per_client: roomyRate,
      };
      await changeSettings(server, { login_methods: ['email_pin'], rate_limits: limits }, tenant.id);
      tenant = await rootTenant(server.gatehouse.services);
      client = await make({});
      plain = await make({ jwks: undefined });
      ciba = await make({ grantTypes: [cibaGrantType], backchannelTokenDeliveryMode: 'poll' });
      const auth = { tokenEndpointAuthMethod: 'private_key_jwt', secretHash: undefined } as const;
      strict = await make({ ...auth, profile: 'fapi2', requirePar: true, dpopBoundAccessTokens: true, authorizeErrorDelivery: 'redirect' });
      user = await createUser(server.gatehouse.services, tenant);
    });
    after(() => server.close());

    const asked = {
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid',
      state: 'signed-state',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    };
    const nowSeconds = (): number => Math.floor(server.clock.nowMs() / 1000);
    const sign = ({ claims = {}, header = {}, key: by = key, as = client }: Change = {}): Promise<string> => {
      const payload = { sub: undefined, iat: undefined, exp: undefined, jti: undefined, client_id: as.clientId, ...asked, ...claims };
      return signAssertion(by, as.clientId, tenant.baseUrl, server.clock.nowMs(), payload, { typ: 'oauth-authz-req+jwt', ...header });
    };
    const authorize = async (request: string | Promise<string>, outside: Form = {}, as = client): Promise<Response> => {
      const query = formBody({ client_id: as.clientId, request: await request, ...outside });
      return fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' });
    };
    const starts = async (response: Response): Promise<void> => {
      assert.equal(response.status, 303, await response.text());
      assert.match(response.headers.get('location') ?? '', new RegExp(`^${tenant.baseUrl}/login/[A-Za-z0-9_-]{22}$`));
    };
    const refused = async (response: Response, state: string | undefined = 'signed-state'): Promise<void> =>
      assertRedirectRefusal(response, 'authorize.invalid_request_object', {
        redirectUri,
        iss: tenant.baseUrl,
        ...(state === undefined ? {} : { state }),
      });
    const push = async (request: string | Promise<string>, as = client): Promise<Response> => {
      const form = formBody({ request: await request });
      if (as.tokenEndpointAuthMethod !== 'private_key_jwt') return postAs(tenant, as, 'par', form);
      const assertion = await signAssertion(key, as.clientId, tenant.baseUrl, server.clock.nowMs());
      for (const [name, value] of Object.entries(assertionForm(assertion))) form.append(name, value);
      return postAs(tenant, as, 'par', form);
    };

    it('authorize: with every algorithm, and with claims, numbers and lists as they are in JSON', async () => {
      for (const by of keys) await starts(await authorize(sign({ key: by })));
      for (const typ of ['JWT', undefined]) await starts(await authorize(sign({ header: { typ } })));
      const times = {
        iat: nowSeconds(),
        nbf: nowSeconds(),
        exp: nowSeconds() + 60,
        jti: 'once',
        aud: [tenant.baseUrl, 'https://other.example'],
      };
      const again = sign({ claims: { ...times, max_age: 60, claims: { id_token: { email: null } }, resource: [], dpop_jkt: null } });
      await starts(await authorize(again));
      await starts(await authorize(again)); // a page may be loaded again
    });
    it('authorize: parameters outside do not count, nor do they fill gaps', async () => {
      await starts(await authorize(sign(), { scope: 'openid admin', redirect_uri: 'https://evil.example/', response_type: 'token' }));
      const gap = await authorize(sign({ claims: { state: undefined, scope: 'openid admin' } }), { state: 'outside', scope: 'openid' });
      await assertRefusal(gap, 'authorize.invalid_scope', { text: 'A scope is not bound to this client.' });
      const silent = await authorize(sign({ claims: { state: undefined, prompt: 'none' } }), { state: 'outside' });
      await assertRedirectRefusal(silent, 'authorize.login_required', { redirectUri, iss: tenant.baseUrl });
      const details = await authorize(sign({ claims: { authorization_details: [{ type: 'payment' }] } }));
      await assertRefusal(details, 'authorize.invalid_request', { text: 'authorization_details are not supported.' });
    });

    const wrong: readonly (readonly [string, () => Change])[] = [
      ['a key that is not registered', () => ({ key: { ...makeKeyPair('ES256'), kid: key.kid } })],
      ['an algorithm that is not the key’s', () => ({ header: { alg: 'ES256', kid: keys[3]?.kid } })],
      ['iss another client', () => ({ claims: { iss: plain.clientId } })],
      ['iss missing', () => ({ claims: { iss: undefined } })],
      ['aud the token endpoint', () => ({ claims: { aud: `${tenant.baseUrl}/v1/idp/oidc/token` } })],
      ['aud missing', () => ({ claims: { aud: undefined } })],
      ['client_id another client', () => ({ claims: { client_id: plain.clientId } })],
      ['sub the client, as in an assertion', () => ({ claims: { sub: client.clientId } })],
      ['an object within', () => ({ claims: { request: 'x.y.z' } })],
      ['a request_uri within', () => ({ claims: { request_uri: 'https://rp.example/request.jwt' } })],
      ['exp now', () => ({ claims: { exp: nowSeconds() } })],
      ['exp a text', () => ({ claims: { exp: 'tomorrow' } })],
      ['nbf to come', () => ({ claims: { nbf: nowSeconds() + 60 } })],
      ['typ of a client assertion', () => ({ header: { typ: 'client-authentication+jwt' } })],
      ['typ of an access token', () => ({ header: { typ: 'at+jwt' } })],
      ['a key it brings itself', () => ({ header: { jwk: key.publicJwk } })],
      ['a critical header', () => ({ header: { crit: ['urn:example:critical'], 'urn:example:critical': true } })],
    ];
    for (const [name, change] of wrong)
      it(`invalid_request_object: ${name}`, async () => {
        await refused(await authorize(sign(change())));
        await assertRefusal(await push(sign(change())), 'par.invalid_request_object');
      });
    it('invalid_request_object: HMAC with the secret, a changed claim, another client’s object, and what is no JWT', async () => {
      const bySecret = await signAssertion(secretKey(client.secret), client.clientId, tenant.baseUrl, server.clock.nowMs(), asked);
      const [header = '', , signature = ''] = (await sign()).split('.');
      const changed = Buffer.from(JSON.stringify({ iss: client.clientId, aud: tenant.baseUrl, ...asked })).toString('base64url');
      for (const request of [bySecret, `${header}.${changed}.${signature}`]) await refused(await authorize(request));
      for (const request of ['nonsense', 'x.y.z', 'a.b.c.d.e'])
        await refused(await authorize(request, { redirect_uri: redirectUri, state: 'outside' }), 'outside');
      const other = await make({});
      await refused(await authorize(sign({ as: other }), {}, client));
      const machine = assembleJwt({ alg: 'HS256' }, asked, Buffer.alloc(32, 1));
      await assertRefusal(await push(machine), 'par.invalid_request_object');
    });
    it('a refused object sends nobody to an address that is not registered', async () => {
      const elsewhere = { claims: { iss: 'x', redirect_uri: 'https://evil.example/' } };
      await assertRefusal(await authorize(sign(elsewhere), { redirect_uri: redirectUri }), 'authorize.unauthorized');
      await assertRefusal(await authorize('nonsense'), 'authorize.invalid_request', { text: 'redirect_uri is required.' });
    });
    it('objects of clients without keys are answered as before, signed or not', async () => {
      const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`;
      const outside = { ...asked, state: 'outside' };
      for (const [request, as] of [
        [unsigned, plain],
        ['e30.e30.', plain],
        [await sign({ as: plain }), plain],
      ] as const) {
        await assertRedirectRefusal(await authorize(request, outside, as), 'authorize.request_not_supported', {
          redirectUri,
          iss: tenant.baseUrl,
          state: 'outside',
        });
        const pushed = await postAs(tenant, as, 'par', { ...outside, request });
        await assertRefusal(pushed, 'par.invalid_request', { text: 'Request objects are not supported.' });
      }
    });
    it('a request_uri of elsewhere is never fetched', async () => {
      const query = formBody({ client_id: client.clientId, request_uri: 'https://rp.example/request.jwt' });
      const response = await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' });
      await assertRefusal(response, 'authorize.invalid_request_uri');
    });
    it('as many parameters as the limit are read, one more is refused', async () => {
      const signedWith = (count: number): Promise<string> => {
        const more = count - Object.keys(asked).length - 1; // client_id
        return sign({ claims: Object.fromEntries(Array.from({ length: more }, (_, at) => [`x${at}`, '1'])) });
      };
      await starts(await authorize(signedWith(parametersMax)));
      await refused(await authorize(signedWith(parametersMax + 1), { redirect_uri: redirectUri, state: 'outside' }), 'outside');
    });
    it('an object of the longest parameter is read, a longer one is refused as a parameter', async () => {
      const room = parameterCharsMax - (await sign({ claims: { pad: '' } })).length;
      const longest = await sign({ claims: { pad: 'x'.repeat(Math.floor((room * 3) / 4) - 2) } });
      assert.ok(longest.length <= parameterCharsMax && longest.length > parameterCharsMax - 8);
      await starts(await authorize(longest));
      await assertRefusal(await authorize(longest.padEnd(parameterCharsMax + 1, 'x')), 'authorize.invalid_request', {
        text: 'A parameter is too long.',
      });
    });

    it('PAR keeps what was signed', async () => {
      const pushed = await push(sign());
      assert.equal(pushed.status, 201, await pushed.clone().text());
      const { request_uri: requestUri } = (await pushed.json()) as { request_uri: string };
      const query = formBody({ client_id: client.clientId, request_uri: requestUri });
      await starts(await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' }));
      const wide = await push(sign({ claims: { scope: 'openid admin' } }));
      await assertRefusal(wide, 'par.invalid_scope', { text: 'A scope is not bound to this client.' });
    });
    it('require_signed_request_object: every endpoint refuses what is not signed', async () => {
      const signing = await make({ requireSignedRequestObject: true });
      const text = 'This client must sign its requests.';
      const query = formBody({ client_id: signing.clientId, ...asked });
      const direct = await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' });
      await assertRefusal(direct, 'authorize.invalid_request', { text });
      await assertRefusal(await postAs(tenant, signing, 'par', asked), 'par.invalid_request', { text });
      await starts(await authorize(sign({ as: signing }), {}, signing));
      const pushed = (await (await push(sign({ as: signing }), signing)).json()) as { request_uri: string };
      const use = formBody({ client_id: signing.clientId, request_uri: pushed.request_uri });
      await starts(await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${use}`, { redirect: 'manual' }));
    });

    const hour = requestObjectSecondsMax;
    const times = (nbf: number | undefined, exp: number | undefined): Claims => ({
      nbf: nbf === undefined ? undefined : nowSeconds() + nbf,
      exp: exp === undefined ? undefined : nowSeconds() + exp,
    });
    it('fapi2: exp and nbf are needed, an hour apart at most, and nbf at most an hour ago', async () => {
      const pushedAt = async (nbf: number | undefined, exp: number | undefined): Promise<Response> =>
        push(sign({ as: strict, claims: times(nbf, exp) }), strict);
      for (const [nbf, exp] of [
        [0, 60],
        [0, hour],
        [5 - hour, 4],
      ] as const)
        assert.equal((await pushedAt(nbf, exp)).status, 201, `${nbf} ${exp}`);
      for (const [nbf, exp] of [
        [undefined, 60],
        [0, undefined],
        [0, hour + 1],
        [-1 - hour, -1],
        [-2 - hour, 1],
        [60, 120],
      ] as const)
        await assertRefusal(await pushedAt(nbf, exp), 'par.invalid_request_object');
      const rsa = await push(sign({ as: strict, claims: times(0, 60), key: keys[1] as KeyPair }), strict);
      await assertRefusal(rsa, 'par.invalid_request_object'); // RS256 is not of the profile
    });

    const cibaClaims = (changes: Claims = {}): Claims => ({
      ...Object.fromEntries(Object.keys(asked).map((name) => [name, undefined])),
      ...{ client_id: undefined, scope: 'openid', login_hint: user.email },
      ...{ iat: nowSeconds(), jti: randomUUID() },
      ...times(0, 60),
      ...changes,
    });
    const ask = async (request: string | Promise<string>, outside: Form = {}): Promise<Response> =>
      postAs(tenant, ciba, 'bc-authorize', { request: await request, ...outside });
    it('CIBA: the object starts the request; what is outside does not count', async () => {
      const response = await ask(sign({ as: ciba, claims: cibaClaims({ requested_expiry: 120 }) }), { login_hint: 'nobody', scope: 'x' });
      assert.equal(response.status, 200, await response.clone().text());
      assert.equal(((await response.json()) as { expires_in: number }).expires_in, 120);
      const unknown = await ask(sign({ as: ciba, claims: cibaClaims({ login_hint: 'nobody' }) }), { login_hint: user.email });
      await assertRefusal(unknown, 'ciba.unknown_user_id');
    });
    it('CIBA: iat, jti, nbf and exp are needed, within their bounds', async () => {
      const longest = cibaClaims({ jti: 'j'.repeat(requestObjectJtiCharsMax) });
      assert.equal((await ask(sign({ as: ciba, claims: longest }))).status, 200);
      for (const change of [
        ...[{ iat: undefined }, { iat: nowSeconds() + 60 }, { jti: undefined }, { jti: '' }, { jti: 1 }],
        ...[{ jti: 'j'.repeat(requestObjectJtiCharsMax + 1) }, { nbf: undefined }, { exp: undefined }, times(0, hour + 1)],
        ...[{ aud: 'https://other.example' }, { iss: client.clientId }],
      ])
        await assertRefusal(await ask(sign({ as: ciba, claims: cibaClaims(change) })), 'ciba.invalid_request', {
          text: 'The request object is not valid.',
        });
      await assertRefusal(
        await postAs(tenant, ciba, 'bc-authorize', { request: 'e30.e30.', scope: 'openid', login_hint: user.email }),
        'ciba.invalid_request',
        {
          text: 'The request object is not valid.',
        },
      );
    });
    it('CIBA: one object raced by twenty starts one request, and its jti is no assertion’s', async () => {
      const jti = randomUUID();
      const request = await sign({ as: ciba, claims: cibaClaims({ jti }) });
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask(request)));
      assert.equal(answers.filter(({ status }) => status === 200).length, 1);
      for (const answer of answers.filter(({ status }) => status !== 200))
        await assertRefusal(answer, 'ciba.invalid_request', { text: 'The request object is not valid.' });
      const asserted = await make({
        grantTypes: ['client_credentials'],
        tokenEndpointAuthMethod: 'private_key_jwt',
        secretHash: undefined,
      });
      const own = await signAssertion(key, asserted.clientId, tenant.baseUrl, server.clock.nowMs(), { jti });
      assert.equal((await postAs(tenant, asserted, 'introspect', { token: 'x', ...assertionForm(own) })).status, 200);
    });
  });
}
